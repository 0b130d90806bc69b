"""Functions of a plug-in that do not take what they are called with: Python says so, but not where they are."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def explain(error: TypeError, function: Callable[..., Any], called_with: str) -> bool:
    """Add to an error where the function is and what it is called with, if the call failed before anything ran in it.

    To be called where the error was caught that the call raised. Returns false where something ran.
    """
    trace = error.__traceback__
    if trace is None or trace.tb_next is not None:
        return False
    if not callable(function):
        return True
    place = _place(function)
    error.args = (f"{error}{f' ({place})' if place else ''}: {called_with}",)
    return True


def _place(function: Any) -> str:
    """Where a function, a method or a class begins, such as `driver.py:41`; empty where it is not of Python."""
    for found in (function, getattr(function, "func", None), getattr(function, "__init__", None)):
        code = getattr(found, "__code__", None)
        if code is not None:
            return f"{code.co_filename.rpartition('/')[2]}:{code.co_firstlineno}"
    return ""
