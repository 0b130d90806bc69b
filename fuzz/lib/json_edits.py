"""Edits of a JSON value in place: boundary values, and elements that vanish, multiply or change places."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import msgspec

from npu_conformance.fuzz.lib.choices import Choices

INTEGERS = (
    -1, 127, 128, 255, 256, -128, -129, 32767, 32768, 65535, 65536, 1 << 24, 2**31 - 1, 2**31, -(2**31), -(2**31) - 1,
    2**32 - 1, 2**32, 2**53, 2**63 - 1, -(2**63), 2**64 - 1,
)  # fmt: skip
"""Where integers of some width end; none between 2^24 and 2^31, which would only cost memory."""

ALIASES = (1 << 8, 1 << 16, 1 << 32)
"""What makes a number another one that is the same in fewer bits."""
FLOATS = ("NaN", "Infinity", "-Infinity", 0.0, -0.0, 1e-45, 1e-38, 3.5e38, 1e308, -1.0, 0.5)
_SMALL = 32
_CONTAINERS = (dict, list)
_LONGEST_LIST = 64
_WRONG: tuple[Any, ...] = (None, True, 0, 0.5, "x", [], {}, [[[[]]]], {"main": {}}, -1)


@dataclass(frozen=True)
class Grammar:
    """What the edits know of a document besides its being JSON.

    integers: other good values of an integer by the name of its field. templates: values by the name of a field.
    encoded: fields that hold bytes as base64. wild: values of the wrong type may be put anywhere.
    """

    integers: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    templates: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)
    encoded: frozenset[str] = frozenset()
    wild: bool = False


class Place(NamedTuple):
    """One value inside a document: its container, its key there, and the name of the nearest field."""

    container: Any
    key: Any
    name: str

    @property
    def value(self) -> Any:
        """What stands there."""
        return self.container[self.key]

    def put(self, new: Any) -> None:
        """Put something else there."""
        self.container[self.key] = new


def places(document: Any) -> list[Place]:
    """Every value inside an object or array, outer ones first."""
    return [
        _place(container, key, name)
        for container, name in _containers(document)
        for key in (container if type(container) is dict else range(len(container)))
    ]


def edit(document: Any, choices: Choices, grammar: Grammar) -> None:
    """Change one value somewhere in the document; nothing in an empty one."""
    place = _chosen(document, choices)
    if place is None:
        return
    if place.name in grammar.templates and not isinstance(place.container, list):
        place.put(_copy(choices.pick(grammar.templates[place.name])))
    elif grammar.wild and choices.below(8) == 7:
        place.put(_copy(choices.pick(_WRONG)))
    else:
        place.put(_changed(place, choices, grammar))


def edited(line: bytes, choices: Choices, grammar: Grammar) -> bytes:
    """A line edited as JSON, and as bytes where it is none or becomes none."""
    try:
        document = msgspec.json.decode(line)
        if isinstance(document, dict | list):
            edit(document, choices, grammar)
        return msgspec.json.encode(document)
    except (msgspec.DecodeError, UnicodeError, RecursionError, OverflowError):
        return bytes_edit(bytearray(line), choices)


def _chosen(document: Any, choices: Choices) -> Place | None:
    """One of the places, each as likely as another; counted by their containers, which is most of an edit's cost."""
    containers = _containers(document)
    count = sum([len(container) for container, _ in containers])
    if not count:
        return None
    index = choices.below(count)
    for container, name in containers:
        if index < len(container):
            return _place(container, list(container)[index] if type(container) is dict else index, name)
        index -= len(container)
    raise AssertionError("a place after the last one")


def _place(container: Any, key: Any, name: str) -> Place:
    return Place(container, key, key if type(container) is dict else name)


def _containers(document: Any) -> list[tuple[Any, str]]:
    """Every object and array with the name of the nearest field, outer ones first."""
    found: list[tuple[Any, str]] = [(document, "")]
    for container, name in found:  # which grows meanwhile
        if type(container) is dict:
            found += [(value, key) for key, value in container.items() if type(value) in _CONTAINERS]
        elif container and type(container[-1]) in _CONTAINERS:  # elements are mostly of one kind, and mostly numbers
            found += [(value, name) for value in container if type(value) in _CONTAINERS]
    return found


def _changed(place: Place, choices: Choices, grammar: Grammar) -> Any:
    value = place.value
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return _integer(value, choices, grammar.integers.get(place.name, ()))
    if isinstance(value, float) or value in FLOATS[:3]:
        return choices.pick(FLOATS) if choices.below(2) else _scaled(value, choices)
    if isinstance(value, str):
        return _encoded(value, choices) if place.name in grammar.encoded else _text(value, choices)
    if isinstance(value, list):
        return _list(value, choices)
    if isinstance(value, dict):
        return _without_a_field(value, choices) if grammar.wild else value
    return value


def _integer(value: int, choices: Choices, known: tuple[int, ...]) -> int:
    kind = choices.below(5)
    if kind == 0:
        return choices.below(_SMALL)
    if kind == 1 and known:
        return choices.pick(known)
    if kind == 2:
        return value + choices.pick((1, -1))
    if kind == 3:
        return choices.pick((-value, value * 2, value ^ (1 << choices.below(8)), value + choices.pick(ALIASES)))
    return choices.pick(INTEGERS)


def _scaled(value: float | str, choices: Choices) -> float | str:
    factor = choices.pick((2.0, 0.5, -1.0, 1.0000001))
    return value if isinstance(value, str) else value * factor if abs(value) < 1e300 else 0.0


def _text(value: str, choices: Choices) -> str:
    return choices.pick(("", value + "x", value[:-1], value.upper(), "\0", "\u2028\U0001f600", "y" * 300))


def _encoded(value: str, choices: Choices) -> str:
    try:
        data = bytearray(base64.b64decode(value))
    except ValueError:
        data = bytearray()
    return base64.b64encode(bytes_edit(data, choices)).decode()


def bytes_edit(data: bytearray, choices: Choices) -> bytes:
    """Bytes with one byte changed, dropped or added, or without their end."""
    position = choices.below(min(len(data), 65535) + 1)
    kind = choices.below(4)
    if kind == 0 and position < len(data):
        data[position] = choices.pick((0, 1, 0x7F, 0x80, 0xFF, choices.below(256)))
    elif kind == 1:
        del data[position : position + 1]
    elif kind == 2:
        data.insert(position, choices.below(256))
    else:
        del data[position:]
    return bytes(data)


def _list(value: list[Any], choices: Choices) -> list[Any]:
    if not value:
        return [choices.below(_SMALL)]
    position, other = choices.below(len(value)), choices.below(len(value))
    element = _copy(value[position])
    kind = choices.below(5)
    if kind == 0:
        return value[:position] + value[position + 1 :]
    if kind == 1 and len(value) < _LONGEST_LIST:
        return [*value[:position], element, *value[position:]]
    if kind == 2:
        return [*value[:position], _copy(value[other]), *value[position + 1 :]]
    if kind == 3:
        return value[::-1]
    return value[:position]


def _without_a_field(value: dict[str, Any], choices: Choices) -> dict[str, Any]:
    if not value:
        return {"x": 0}
    dropped = choices.pick(list(value))
    return {name: content for name, content in value.items() if name != dropped}


def _copy(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _copy(content) for name, content in value.items()}
    return [_copy(content) for content in value] if isinstance(value, list) else value
