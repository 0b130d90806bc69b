"""Whose bug an exception is where plug-in and suite share a process."""

from __future__ import annotations

import types
from collections.abc import Callable

from npu_conformance.harness.judge.origin import is_of_plugin
from npu_conformance.specs.neuralnetworks.hal import Device


def of_module(name: str, source: str) -> types.ModuleType:
    """A module of this name, made of text."""
    module = types.ModuleType(name)
    exec(source, module.__dict__)
    return module


SUITE = of_module(
    "npu_conformance.vts.some_area",
    """
def case(device, listener=None):
    device.get_type(listener) if listener else device.get_type()

def callback():
    raise KeyError("of the suite")
""",
)


class Raising(Device):
    def get_type(self, listener: Callable[[], None] | None = None) -> int:
        if listener is not None:
            listener()
        return int("three")


def error_of(call: Callable[[], object]) -> Exception:
    try:
        call()
    except Exception as error:
        return error
    raise AssertionError


def test_what_a_method_of_the_plugin_raises_is_the_plugins() -> None:
    assert is_of_plugin(error_of(lambda: SUITE.case(Raising())))


def test_what_a_callback_of_the_suite_raises_is_the_suites() -> None:
    assert not is_of_plugin(error_of(lambda: SUITE.case(Raising(), SUITE.callback)))


def test_what_no_plugin_has_to_do_with_is_the_suites() -> None:
    assert not is_of_plugin(error_of(SUITE.callback))
