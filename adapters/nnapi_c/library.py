"""A shared library that exports functions of the NNAPI: which it has, and how they are called."""

from __future__ import annotations

import os
from collections.abc import Callable
from types import FunctionType
from typing import Any

from npu_conformance.adapters.nnapi_c.arguments import Structure, Written
from npu_conformance.adapters.nnapi_c.declarations import ffi
from npu_conformance.harness.subject.plugin_loading import LoadError
from npu_conformance.specs.errors import Unsupported
from npu_conformance.specs.interfaces import describe
from npu_conformance.specs.neuralnetworks.runtime import Runtime
from npu_conformance.specs.neuralnetworks.runtime.c_names import WITHOUT_C, c_name


class Library:
    """A library that has been loaded into this process."""

    def __init__(self, path: str) -> None:
        """path: absolute. Raises LoadError where there is no such library, or nothing of the NNAPI in it."""
        if not os.path.isfile(path):
            raise LoadError(f"plug-in {path}: there is no such file")
        try:
            self._library = ffi.dlopen(path)
        except OSError as error:
            raise LoadError(f"plug-in {path}: it cannot be loaded: {_said_by_dlopen(error, path)}") from None
        known = [name for name in describe(Runtime) if name not in WITHOUT_C]
        self._functions = {name: found for name in known if (found := self._find(name)) is not None}
        self._frames = {name: _frame(c_name(name), path) for name in self._functions}
        if not self._functions:
            raise LoadError(f"plug-in {path}: it exports no ANeuralNetworks functions")

    def _find(self, method: str) -> Callable[..., Any] | None:
        found: Callable[..., Any] | None = getattr(self._library, c_name(method), None)
        return found

    def methods(self) -> tuple[str, ...]:
        """The methods of Runtime whose functions it exports."""
        return tuple(self._functions)

    def call(self, method: str, *arguments: Any) -> Any:
        """Call the function of a method. Raises Unsupported where the library does not export it.

        Integers become what C makes of them.
        """
        function = self._functions.get(method)
        if function is None:
            raise Unsupported(f"the library does not export {c_name(method)}")
        kinds = ffi.typeof(function).args
        converted = [_converted(kind, given) for kind, given in zip(kinds, arguments, strict=True)]
        return self._frames[method](function, converted)


def _called(function: Callable[..., Any], arguments: list[Any]) -> Any:
    return function(*arguments)


def _frame(name: str, path: str) -> Callable[[Callable[..., Any], list[Any]], Any]:
    """Calls a C function from a frame that has its name: the stack of a process that dies in it has no frames of C."""
    return FunctionType(_called.__code__.replace(co_name=name, co_qualname=name, co_filename=path), globals(), name)


def _said_by_dlopen(error: OSError, path: str) -> str:
    """dlopen's own words out of what cffi makes of them."""
    return str(error).partition("  Additionally, ")[0].removeprefix(f"cannot load library '{path}': ").rstrip(".")


def _converted(kind: Any, argument: Any) -> Any:
    if isinstance(argument, Written | Structure):
        return argument.pointer
    if isinstance(argument, int) and not isinstance(argument, bool) and kind.kind == "primitive":
        return ffi.cast(kind, argument)
    return argument
