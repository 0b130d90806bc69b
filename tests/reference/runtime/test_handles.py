"""Handles of the reference runtime, and which functions each feature level has."""

from __future__ import annotations

import pytest
from nnapi_app import VECTOR, App, made

from npu_conformance.specs.errors import Unsupported
from npu_conformance.specs.interfaces import describe
from npu_conformance.specs.neuralnetworks.runtime import Runtime
from npu_conformance.specs.neuralnetworks.runtime.result_codes import ResultCode
from npu_conformance.specs.neuralnetworks.runtime.types import NULL, UNTOUCHED, Handle, Number
from npu_conformance.specs.versions import Version

BAD_DATA, UNEXPECTED_NULL = ResultCode.BAD_DATA, ResultCode.UNEXPECTED_NULL


def test_freed_and_foreign_handles_are_bad_data() -> None:
    app = App()
    model = app.model()
    app.runtime.model_free(model)
    assert app.runtime.model_add_operand(model, VECTOR) == BAD_DATA
    assert app.runtime.model_add_operand(made(app.runtime.memory_desc_create(True)), VECTOR) == BAD_DATA
    assert app.runtime.model_add_operand(-5, VECTOR) == BAD_DATA
    assert app.runtime.model_add_operand(NULL, VECTOR) == UNEXPECTED_NULL
    assert app.model() > model, "handles are never used again"


def test_frees_ignore_null_freed_and_foreign_handles() -> None:
    app = App()
    model = app.model()
    for name in describe(Runtime):
        if name.endswith("_free"):
            for handle in (NULL, 9999, *(() if name == "model_free" else (model,))):
                getattr(app.runtime, name)(handle)
    assert app.runtime.handles.count() == 1


def test_out_parameters_after_an_error() -> None:
    app = App()
    runtime, unfinished = app.runtime, app.model()
    assert runtime.model_create(False) == Handle(UNEXPECTED_NULL, UNTOUCHED)
    assert runtime.compilation_create(unfinished, True) == Handle(ResultCode.BAD_STATE, NULL)
    assert runtime.compilation_create(NULL, True) == Handle(UNEXPECTED_NULL, UNTOUCHED)
    assert runtime.execution_start_compute(NULL, True) == Handle(UNEXPECTED_NULL, NULL)
    assert runtime.execution_start_compute(NULL, False) == Handle(UNEXPECTED_NULL, UNTOUCHED)
    assert runtime.get_device(2, True) == Handle(BAD_DATA, UNTOUCHED)
    execution = app.execution()
    assert runtime.execution_get_duration(execution, 0, True) == Number(ResultCode.BAD_STATE, 2**64 - 1)
    assert runtime.execution_get_duration(execution, 4, True) == Number(BAD_DATA, UNTOUCHED)
    assert runtime.event_create_from_sync_fence_fd(None, 0, True) == Handle(BAD_DATA, NULL)


def test_devices() -> None:
    app = App()
    runtime = app.runtime
    first = made(runtime.get_device(0, True))
    assert runtime.get_device_count(True).value == 2
    assert made(runtime.get_device(0, True)) == first
    assert runtime.device_get_name(first, True).value == "a"
    assert runtime.device_get_name(app.model(), True).result == BAD_DATA
    runtime.model_free(first)
    assert runtime.device_get_feature_level(first, True).value == 1_000_008


def test_lists_of_devices() -> None:
    app = App()
    model, create = app.addition(), app.runtime.compilation_create_for_devices
    one, two = (made(app.runtime.get_device(index, True)) for index in (0, 1))
    for devices, result in (
        (None, UNEXPECTED_NULL),
        ((), BAD_DATA),
        ((one, NULL), UNEXPECTED_NULL),
        ((one, two, one), BAD_DATA),
        ((one, model), BAD_DATA),
    ):
        assert create(model, devices, True).result == result
        if devices != (one, model):
            assert app.runtime.model_get_supported_operations_for_devices(model, devices, True).result == result
    assert create(app.model(), (one, one), True).result == BAD_DATA, "the list is looked at before the model"


@pytest.mark.parametrize("level", list(Version), ids=str)
def test_each_feature_level_has_its_functions(level: Version) -> None:
    runtime = App(level).runtime
    there = runtime.functions()
    assert set(there) == {name for name, method in describe(Runtime).items() if method.mark.since <= level}
    for name in set(describe(Runtime)) - set(there):
        with pytest.raises(Unsupported, match=name):
            getattr(runtime, name)()
