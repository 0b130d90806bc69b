"""Compilations of the reference runtime."""

from __future__ import annotations

import pytest
from nnapi_app import App, made, succeed

from npu_conformance.reference.runtime.backend import RuntimeFailure
from npu_conformance.specs.neuralnetworks.runtime.result_codes import ResultCode, RuntimePriority
from npu_conformance.specs.neuralnetworks.types import ExtensionNameAndPrefix, TokenValuePair

BAD_DATA, BAD_STATE, NULL = ResultCode.BAD_DATA, ResultCode.BAD_STATE, ResultCode.UNEXPECTED_NULL


def test_settings_reach_the_compiler() -> None:
    app = App()
    runtime, compilation = app.runtime, app.compilation(devices=1, finish=False)
    succeed(runtime.compilation_set_preference(compilation, 0))
    succeed(runtime.compilation_set_priority(compilation, 110))
    succeed(runtime.compilation_set_timeout(compilation, 2**64 - 1))
    succeed(runtime.compilation_set_caching(compilation, "/data/cache", bytes(range(32))))
    succeed(runtime.compilation_add_extension_attribute(compilation, "com.vendor.hints", 7, app.at(0, b"abc"), 3))
    succeed(runtime.compilation_finish(compilation))
    options = app.plan.options
    assert (options.explicit, options.preference, options.priority) == (True, 0, RuntimePriority.HIGH)
    assert options.timeout_ns == 2**64 - 1
    assert (options.cache_dir, options.cache_token) == ("/data/cache/", bytes(range(32)))
    assert options.hints == (TokenValuePair(1 << 16 | 7, b"abc"),)
    assert options.extensions == (ExtensionNameAndPrefix("com.vendor.hints", 1),)


def test_wrong_settings() -> None:
    app = App()
    runtime, compilation = app.runtime, app.compilation(finish=False)
    for preference in (3, 40):
        assert runtime.compilation_set_preference(compilation, preference) == BAD_DATA
    for priority in (0, 99, 999):
        assert runtime.compilation_set_priority(compilation, priority) == BAD_DATA
    assert runtime.compilation_set_caching(compilation, None, bytes(32)) == NULL
    assert runtime.compilation_set_caching(compilation, "/", None) == NULL
    two = app.compilation(devices=2, finish=False)
    for several in (compilation, two):
        assert runtime.compilation_set_timeout(several, 1) == BAD_DATA
        assert runtime.compilation_add_extension_attribute(several, "a.b", 1, app.at(0), 1) == BAD_DATA
    one = app.compilation(devices=1, finish=False)
    assert runtime.compilation_add_extension_attribute(one, "a.b", 1, None, 1) == NULL
    succeed(runtime.compilation_add_extension_attribute(one, "a.b", 1, None, 0))
    assert runtime.compilation_add_extension_attribute(one, "a.b", 1, app.at(0), 1) == BAD_DATA


def test_a_finished_compilation_cannot_be_changed() -> None:
    app = App()
    runtime, compilation = app.runtime, app.compilation()
    assert runtime.compilation_finish(compilation) == BAD_STATE
    assert runtime.compilation_set_preference(compilation, 1) == BAD_STATE
    assert runtime.compilation_set_priority(compilation, 90) == BAD_STATE
    assert runtime.compilation_set_caching(compilation, "/", bytes(32)) == BAD_STATE
    assert runtime.compilation_set_timeout(compilation, 0) == BAD_STATE, "the state is looked at before the devices"


def test_a_compilation_that_failed_is_finished_and_cannot_be_used() -> None:
    app = App()
    app.backend.compile_failure = RuntimeFailure(ResultCode.DEAD_OBJECT, "the driver has died")
    compilation = app.compilation(finish=False)
    assert app.runtime.compilation_finish(compilation) == ResultCode.DEAD_OBJECT
    assert app.runtime.compilation_finish(compilation) == BAD_STATE
    assert app.runtime.execution_create(compilation, True).result == BAD_STATE
    assert app.runtime.burst_create(compilation, True).result == BAD_STATE
    desc = made(app.runtime.memory_desc_create(True))
    assert app.runtime.memory_desc_add_input_role(desc, compilation, 0, 1.0) == BAD_DATA


def test_a_negative_preference_is_refused_at_finish() -> None:
    app = App()
    compilation = app.compilation(finish=False)
    succeed(app.runtime.compilation_set_preference(compilation, -1))
    assert app.runtime.compilation_finish(compilation) == BAD_DATA


@pytest.mark.parametrize("role", ["input", "output"])
def test_memory_preferences(role: str) -> None:
    app = App()
    alignment = getattr(app.runtime, f"compilation_get_preferred_memory_alignment_for_{role}")
    padding = getattr(app.runtime, f"compilation_get_preferred_memory_padding_for_{role}")
    unfinished, compilation = app.compilation(finish=False), app.compilation()
    assert alignment(unfinished, 99, True).result == BAD_STATE
    assert alignment(compilation, 2, True).result == padding(compilation, -1, True).result == BAD_DATA
    assert alignment(compilation, 0, False).result == NULL
    assert (alignment(compilation, 0, True).value, padding(compilation, 0, True).value) == (64, 32)
