"""What would have been right where msgspec names only what is wrong: the values of an enumeration, a field's name."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Iterator
from typing import Any

from msgspec import inspect

from npu_conformance.specs.suggestions import did_you_mean

_MOST_VALUES = 16
"""Values that are listed; of more only those of a similar spelling are."""
_SHORTEST, _LONGEST = 3, 100
"""Characters of a name that somebody may have misspelt."""
_STEP = re.compile(r"\.([^.\[]+)|\[[^\]]*\]")
_VALUE = re.compile(r"Invalid enum value '?(?P<name>.*?)'?", re.DOTALL)
_REGEX = "Expected `str` matching regex"
_IN_WORDS = {
    r"^[a-z0-9][a-z0-9_.-]*$(?!\n)": "small letters and digits, and after the first of them also _ . and -",
    r"^[^\x00-\x1f\x7f-\x9f]+$(?!\n)": "one line of text, with at least one character",
    r"^[A-Z][A-Z0-9_]+$(?!\n)": "capital letters, digits and _, of which a letter stands first",
    r"^[a-z0-9_]+$(?!\n)": "small letters, digits and _",
    r"^[a-z0-9_]+(\.[a-z0-9_]+)+$(?!\n)": "words of small letters, digits and _, with dots between them",
}
"""Patterns of texts that people write."""
_DATE = "Invalid RFC3339 encoded date"
_LONE = re.compile(r"Expected `(object \| )?array( \| null)?`, got `(int|float|str|bool)`")
_FIELD = re.compile(r"Object contains unknown field `(?P<name>.*)`", re.DOTALL)


def with_allowed(rule: str, path: str, kind: Any) -> str:
    """msgspec's rule at the path of a document of this kind, with what is allowed there, where that is known."""
    if value := _VALUE.fullmatch(rule):
        allowed = dict.fromkeys(str(one) for found in _at(path, kind) for one in _values(found))
        listed = f"; expected one of {', '.join(allowed)}" if 0 < len(allowed) <= _MOST_VALUES else ""
        return rule + listed + _meant(value["name"], allowed)
    if field := _FIELD.fullmatch(rule):
        known = dict.fromkeys(name for found in _at(path, kind) for name in _fields(found))
        return rule + _meant(field["name"], known)
    if rule.startswith(_REGEX):
        found = next((words for pattern, words in _IN_WORDS.items() if rule == f"{_REGEX} {pattern!r}"), "")
        return f"expected {found}" if found else rule
    if _LONE.fullmatch(rule):
        return f"{rule}; a single value is a list, too: [1]"
    return f"{rule}; expected YYYY-MM-DD" if rule == _DATE else rule


def _meant(name: str, known: Iterable[str]) -> str:
    return did_you_mean(name, known) if name[:1].isalpha() and _SHORTEST <= len(name) <= _LONGEST else ""


def _at(path: str, kind: Any) -> list[inspect.Type]:
    """The types that a value at a path may have."""
    found = list(_branches(_described(kind)))
    for step in _STEP.finditer(path):
        found = [branch for outer in found for inner in _inside(outer, step[1]) for branch in _branches(inner)]
    return found


@functools.cache
def _described(kind: Any) -> inspect.Type:
    """What msgspec says of a type, which takes it milliseconds: a run may explain many mistakes in one kind."""
    return inspect.type_info(kind)


def _branches(found: inspect.Type) -> Iterator[inspect.Type]:
    if isinstance(found, inspect.UnionType):
        yield from found.types
    else:
        yield found


def _inside(found: inspect.Type, name: str | None) -> Iterator[inspect.Type]:
    """The types of a field, or of the elements where no field is named."""
    if name is not None:
        if isinstance(found, inspect.StructType):
            yield from (field.type for field in found.fields if field.encode_name == name)
    elif isinstance(found, inspect.CollectionType):
        yield found.item_type
    elif isinstance(found, inspect.TupleType):
        yield from found.item_types
    elif isinstance(found, inspect.DictType):
        yield found.value_type


def _values(found: inspect.Type) -> Iterator[object]:
    if isinstance(found, inspect.LiteralType):
        yield from found.values
    elif isinstance(found, inspect.EnumType):
        yield from (member.value for member in found.cls)


def _fields(found: inspect.Type) -> Iterator[str]:
    if isinstance(found, inspect.StructType):
        yield from (field.encode_name for field in found.fields)
