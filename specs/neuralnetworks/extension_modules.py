"""Executes the Python files of an extension's folder: each once, whatever sys.path has of the same name."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any, ParamSpec, TypeVar

from npu_conformance.specs.documents import DocumentError
from npu_conformance.specs.neuralnetworks.registered_extensions import RegisteredExtension

_Arguments = ParamSpec("_Arguments")
_Result = TypeVar("_Result")


def attribute(extension: RegisteredExtension, part: str, operation: str, name: str) -> Any:
    """The object that the file of an operation calls `name`. Raises DocumentError."""
    path = extension.file(part, operation)
    if path not in extension.modules:
        extension.modules[path] = _execute(path, f"{extension.name}.{part}")
    if not hasattr(extension.modules[path], name):
        raise DocumentError(str(path), name, "there is no such name in the file")
    return getattr(extension.modules[path], name)


def guarded(function: Callable[_Arguments, _Result], path: Path) -> Callable[_Arguments, _Result]:
    """A function of an extension's file, which is named, with the line, where it raises: DocumentError."""

    @functools.wraps(function)
    def call(*arguments: _Arguments.args, **named: _Arguments.kwargs) -> _Result:
        try:
            return function(*arguments, **named)
        except DocumentError:
            raise
        except Exception as error:
            raise DocumentError(str(path), _line(error, path), f"{type(error).__name__}: {error}") from error

    return call


def _execute(path: Path, package: str) -> ModuleType:
    """Execute a file as a module of its own name, which no other module has."""
    name = f"npu_conformance_catalogue.{package}.{path.stem}"
    module = ModuleType(name)
    module.__file__ = str(path)
    sys.modules[name] = module  # dataclasses look up the module of a class there
    try:
        exec(compile(path.read_bytes(), str(path), "exec"), module.__dict__)
    except (Exception, SystemExit) as error:
        del sys.modules[name]
        raise DocumentError(str(path), _line(error, path), f"{type(error).__name__}: {error}") from None
    return module


def _line(error: BaseException, path: Path) -> str:
    if isinstance(error, SyntaxError):
        return f"line {error.lineno}"
    import traceback

    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == str(path)]
    return f"line {lines[-1]}" if lines else ""
