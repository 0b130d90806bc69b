"""What a call raises, as a value: a test that expects no exception has something to compare."""

from __future__ import annotations

from collections.abc import Callable
from typing import ParamSpec

P = ParamSpec("P")


def raised(call: Callable[P, object], *arguments: P.args, **named: P.kwargs) -> Exception | None:
    """The exception of a call; None where it returns."""
    try:
        call(*arguments, **named)
    except Exception as error:
        return error
    return None
