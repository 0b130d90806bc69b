"""What the cases of queries make of answers of any length."""

from __future__ import annotations

import tracemalloc

import pytest

from npu_conformance.vts import queries


@pytest.mark.parametrize(
    ("name", "is_one"),
    [
        ("com.example", True),
        ("com.example_2.npu", True),
        ("a.1", True),
        ("example", False),
        ("", False),
        (".", False),
        (".com.example", False),
        ("com.example.", False),
        ("com..example", False),
        ("com.Example", False),
        ("com.example\n", False),
        ("com.exámple", False),
    ],
)
def test_extension_names_have_parts_of_small_letters_digits_and_underscores(name: str, is_one: bool) -> None:
    assert queries._is_extension_name(name) is is_one


@pytest.mark.parametrize("end", ["a", "!"])
def test_the_name_of_an_extension_is_looked_at_in_no_memory_of_its_length(end: str) -> None:
    name = "a." * 500_000 + end
    tracemalloc.start()
    try:
        assert queries._is_extension_name(name) is (end == "a")
        assert tracemalloc.get_traced_memory()[1] < len(name)
    finally:
        tracemalloc.stop()
