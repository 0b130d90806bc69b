"""Changes functions in place: a function keeps its identity and gets the code of edited source.

Everybody who imported the function sees the change, and undoing it gives the old code back.
"""

from __future__ import annotations

import builtins
import dis
import gc
import importlib
import inspect
from collections.abc import Callable, Iterable, Iterator
from types import CodeType, FunctionType, ModuleType


class SwapError(Exception):
    """A function cannot get the new code."""


Swap = tuple[FunctionType, CodeType]
"""A function, and the code that it is to have or had."""


def source_of(module: ModuleType) -> str:
    """The module's source as its file has it."""
    return inspect.getsource(module)


def file_of(module: ModuleType) -> str:
    """The path under which the module's code was compiled."""
    return str(inspect.getsourcefile(module))


def function(module_name: str, qualified_name: str) -> FunctionType:
    """Find a function or method by module and qualified name, below caches and properties. Raises SwapError."""
    found: object = importlib.import_module(module_name)
    for part in qualified_name.split("."):
        if part not in vars(found):
            raise SwapError(f"{module_name} has no {qualified_name}")
        found = vars(found)[part]
    found = found.fget if isinstance(found, property) else inspect.unwrap(found)  # type: ignore[arg-type]
    if not isinstance(found, FunctionType):
        raise SwapError(f"{module_name}.{qualified_name} is not a function")
    return found


def code_in(module_code: CodeType, qualified_name: str) -> CodeType:
    """The code of a function by its qualified name inside a compiled module. Raises SwapError."""
    for code in nested(module_code):
        if code.co_qualname == qualified_name:
            return code
    raise SwapError(f"the edited source has no {qualified_name}")


def require_names(found: FunctionType, code: CodeType) -> None:
    """Raise SwapError where the code reads a global name that there is not: NameError would be all that is wrong."""
    known = {*found.__globals__, *dir(builtins)}
    for each in (code, *nested(code)):
        for step in dis.get_instructions(each):
            if step.opname in ("LOAD_GLOBAL", "LOAD_NAME") and step.argval not in known:
                raise SwapError(f"{found.__qualname__}: there is no name {step.argval}")


def nested(code: CodeType) -> Iterator[CodeType]:
    """All code objects inside a code object, outer ones first."""
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield constant
            yield from nested(constant)


def swap(swaps: Iterable[Swap]) -> list[Swap]:
    """Give each function its new code; return what undoes it. Raises SwapError where closures do not fit."""
    undo: list[Swap] = []
    for target, code in swaps:
        before = target.__code__
        try:
            target.__code__ = code
        except ValueError as error:
            swap(undo)
            raise SwapError(f"{target.__qualname__}: {error}") from None
        undo.append((target, before))
    return undo


def live_functions(file: str) -> dict[tuple[str, int], list[FunctionType]]:
    """Every living function that was compiled from a file, closures included, by qualified name and first line."""
    found: dict[tuple[str, int], list[FunctionType]] = {}
    for candidate in gc.get_objects():
        if type(candidate) is FunctionType and candidate.__code__.co_filename == file:
            code = candidate.__code__
            found.setdefault((code.co_qualname, code.co_firstlineno), []).append(candidate)
    return found


def clear_caches(module: ModuleType) -> None:
    """Forget what cached functions of the module remember: it may have been computed by other code."""
    for clear in clearing(module):
        clear()


def clearing(module: ModuleType) -> list[Callable[[], None]]:
    """What makes each cached function of the module forget."""
    return [value.cache_clear for value in vars(module).values() if hasattr(value, "cache_clear")]
