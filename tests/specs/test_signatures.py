"""Where a function of a plug-in is that does not take what it is called with."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import pytest

from npu_conformance.specs.diagnostics import signatures


def _nothing() -> None:
    raise TypeError("of its own")


class _Made:
    def __init__(self) -> None:
        pass

    def of_one(self, one: int) -> None:
        _nothing()


def told(function: Callable[..., Any], *arguments: object) -> str:
    try:
        function(*arguments)
    except TypeError as error:
        signatures.explain(error, function, "it is called with three words")
        return str(error)
    raise AssertionError("expected a TypeError")


@pytest.mark.parametrize(
    ("function", "arguments", "where"),
    [
        (_nothing, (1,), "(test_signatures.py:14)"),
        (_Made, (1,), "(test_signatures.py:19)"),
        (_Made().of_one, (), "(test_signatures.py:22)"),
        (functools.partial(_Made().of_one, 2), (1,), "(test_signatures.py:22)"),
        (int, (1, 2, 3), "int() takes at most 2 arguments (3 given)"),
    ],
)
def test_a_call_that_does_not_fit(function: Callable[..., Any], arguments: tuple[object, ...], where: str) -> None:
    said = told(function, *arguments)
    assert where in said
    assert said.endswith(": it is called with three words")


def test_an_error_of_the_function_itself_stays_as_it_is() -> None:
    assert told(3) == "'int' object is not callable"  # type: ignore[arg-type]
    assert told(_nothing) == told(_Made().of_one, 1) == "of its own"
