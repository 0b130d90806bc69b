"""Whose bug an exception is, where plug-in and suite share a process: the plug-in's, or the suite's."""

from __future__ import annotations

from collections.abc import Iterator
from types import FrameType

from npu_conformance.specs.interfaces import is_interface

_OURS = ("harness", "vts", "cts", "fuzz", "mlts", "corpus", "cli")
_SUITE = tuple(f"npu_conformance.{package}." for package in _OURS)
_NOT_THE_PLUGIN = (*_SUITE, "npu_conformance.specs.")


def is_of_plugin(error: BaseException) -> bool:
    """True where the exception comes from a method of the plug-in's objects, or from what that has called.

    A callback of the suite that a plug-in has called is the suite's again.
    """
    is_plugin = False
    for frame in _frames(error):
        if f"{frame.f_globals.get('__name__', '')}.".startswith(_SUITE):
            is_plugin = False
        elif is_interface(found := type(frame.f_locals.get("self"))):
            is_plugin = is_plugin or not f"{found.__module__}.".startswith(_NOT_THE_PLUGIN)
    return is_plugin


def _frames(error: BaseException) -> Iterator[FrameType]:
    """The frames from the outermost to where the exception was raised."""
    found = error.__traceback__
    while found is not None:
        yield found.tb_frame
        found = found.tb_next
