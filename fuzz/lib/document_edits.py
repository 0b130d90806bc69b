"""Changes of documents: of the values in JSON, and of the text itself, where readers face more than values."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec

from npu_conformance.fuzz.lib.choices import Choices
from npu_conformance.fuzz.lib.json_edits import Grammar, Place, bytes_edit, edit, places

_HOLE = "@hole@"
"""Stands where a text is put in."""
_DEEP = (20, 300, 900, 1500, 5000, 15000)
_DEEPEST = 100
_NUMBERS = (
    b"1e400", b"-1e400", b"1e-400", b"9" * 25, b"9" * 400, b"-" + b"9" * 5000, b"0." + b"3" * 400, b"-0", b"1E+2",
    b"1.0", b"18446744073709551615", b"-9223372036854775808", b"9223372036854775807",
    b"340282356779733661637539395458142568448",
    b"01", b"NaN", b"Infinity", b"1e308", b"2147483648",
)  # fmt: skip
_TEXTS = (
    b'"\\ud800"', b'"\\udfff\\ud800"', b'"\xed\xa0\x80"', b'"\xff"', b'"\\u0000"', b'"\\u001b[31m"', b'"a\\nb\\nc"',
    b'"\\u2028\\u2029\\u0085\\r"', b'"' + b"y" * 3000 + b'"', b'"\\ud83d\\ude00"', b'"' + b"a*" * 200 + b'"',
    b'"%s{}{0}"', b'"../../x"', b'"\\u202e"', b'""',
)  # fmt: skip
_WORDS = (
    b"(", b")", b"not ", b" and ", b" or ", b"'", b'"', b"\\", b"\n", b"9" * 400, b"9" * 5000, b"/", b"e400",
    b"\xff", b"\xe2\x80\xa8", "²".encode(), "٣".encode(), b"{uid}", b"\0", b"-", b"inf", b"nan", b"_",
)  # fmt: skip


def decoded(data: bytes) -> Any:
    """The object or list that a text is; None where it is none, or is more than edits can take."""
    try:
        document = msgspec.json.decode(data)
    except (msgspec.DecodeError, UnicodeError, RecursionError, ValueError):
        return None
    return document if isinstance(document, dict | list) and _is_shallow(document) else None


def _is_shallow(document: Any) -> bool:
    """False for what edits, which follow the nesting, cannot follow."""
    level = [document]
    for _ in range(_DEEPEST):
        inside = (value.values() if isinstance(value, dict) else value for value in level)
        level = [value for values in inside for value in values if isinstance(value, dict | list)]
    return not level


def encoded(document: Any) -> bytes | None:
    """The text; None for what msgspec cannot spell, such as the numbers that it reads but does not write."""
    try:
        return msgspec.json.encode(document)
    except (UnicodeError, RecursionError, OverflowError, ValueError):
        return None


def grammar(documents: Sequence[bytes]) -> Grammar:
    """What documents of one kind have in their fields, to be put in each other's place."""
    known: dict[str, list[Any]] = {}
    for document in map(decoded, documents):
        for place in places(document) if document is not None else ():
            if isinstance(place.container, dict) and place.value not in known.setdefault(place.name, []):
                known[place.name].append(place.value)
    return Grammar(templates={name: tuple(found) for name, found in known.items() if len(found) > 1}, wild=True)


def mutated(data: bytes, choices: Choices, known: Grammar, others: Sequence[bytes]) -> bytes:
    """A changed document, JSON or not."""
    lines = data.split(b"\n")
    document = decoded(data)
    if document is None and len(lines) > 1:
        chosen = choices.below(len(lines))
        return b"\n".join(_line_changed(lines, chosen, choices, known, others))
    if document is None or choices.below(8) == 7:
        return _text_changed(data, choices)
    return _changed(document, choices, known, others) or _text_changed(data, choices)


def _line_changed(
    lines: list[bytes], chosen: int, choices: Choices, known: Grammar, others: Sequence[bytes]
) -> list[bytes]:
    kind = choices.below(8)
    if kind == 0:
        return lines[:chosen] + lines[chosen + 1 :]
    if kind == 1:
        return [*lines[:chosen], lines[choices.below(len(lines))], *lines[chosen:]]
    document = decoded(lines[chosen])
    changed = _changed(document, choices, known, others) if document is not None else None
    return [*lines[:chosen], changed or _text_changed(lines[chosen], choices), *lines[chosen + 1 :]]


def _changed(document: Any, choices: Choices, known: Grammar, others: Sequence[bytes]) -> bytes | None:
    kind = choices.below(10)
    if kind >= 3:
        for _ in range(1 + choices.below(3)):
            edit(document, choices, known)
        return encoded(document)
    found = places(document)
    if not found:
        return None
    place = choices.pick(found)
    if kind == 2:
        return _doubled(document, place) if choices.below(2) else _borrowed(document, place, choices, others)
    return _with(document, place, choices.pick(_NUMBERS if _is_number(place, choices) else _TEXTS), choices)


def _is_number(place: Place, choices: Choices) -> bool:
    return (type(place.value) in (int, float)) != (choices.below(4) == 3)


def _with(document: Any, place: Place, text: bytes, choices: Choices) -> bytes | None:
    """The document with another text for one value, now and then a nest."""
    if choices.below(8) == 7:
        depth = choices.pick(_DEEP)
        begin, end = choices.pick(((b"[", b"]"), (b'{"x":', b"}"), (b"[[],", b"]")))
        text = begin * depth + b"0" + end * depth
    place.put(_HOLE)
    whole = encoded(document)
    return None if whole is None else whole.replace(f'"{_HOLE}"'.encode(), text, 1)


def _doubled(document: Any, place: Place) -> bytes | None:
    """The document with a key of an object twice, or an element of a list many times."""
    if isinstance(place.container, list):
        place.container[place.key : place.key] = [place.value] * 40
        return encoded(document)
    place.container[_HOLE] = place.value
    whole, key = encoded(document), msgspec.json.encode(place.key)
    return None if whole is None else whole.replace(f'"{_HOLE}"'.encode(), key, 1)


def _borrowed(document: Any, place: Place, choices: Choices, others: Sequence[bytes]) -> bytes | None:
    """The document with a part of another one."""
    other = decoded(choices.pick(others).partition(b"\n")[2])
    found = places(other) if other is not None else []
    place.put(choices.pick(found).value if found else other)
    return encoded(document)


def _text_changed(data: bytes, choices: Choices) -> bytes:
    kind = choices.below(6)
    if kind == 0:
        return data[: choices.below(min(len(data), 65535) + 1)]
    if kind <= 2:
        position = choices.below(min(len(data), 65535) + 1)
        return data[:position] + choices.pick(_WORDS) * choices.pick((1, 1, 1, 2, 30, 2000)) + data[position:]
    changed = data
    for _ in range(1 + choices.below(4)):
        changed = bytes_edit(bytearray(changed), choices)
    return changed


def words_changed(data: bytes, choices: Choices) -> bytes:
    """A flatbuffer, or another binary file, with some of its aligned words changed, or bytes of it."""
    if len(data) < 16 or choices.below(4) == 3:
        return _text_changed(data, choices)
    changed = bytearray(data)
    for _ in range(1 + choices.below(3)):
        at = 4 * choices.below(min(len(data) // 4, 65535))
        word = int.from_bytes(changed[at : at + 4], "little")
        wrong = (choices.below(64), word + choices.below(13) - 4, -1, 2**31 - 1, word ^ (1 << choices.below(32)))
        changed[at : at + 4] = (choices.pick(wrong) & 0xFFFFFFFF).to_bytes(4, "little")
    return bytes(changed)


def smaller(data: bytes) -> Iterator[bytes]:
    """Documents with less in them: without a value, with a plainer one; of what is no JSON, without some bytes."""
    document = decoded(data)
    if document is None:
        yield from _shorter(data)
        return
    for number in range(len(places(document))):
        for change in (_left_out, _plain):
            copy = decoded(data)
            change(places(copy)[number])
            made = encoded(copy)
            if made is not None:
                yield made


def _left_out(place: Place) -> None:
    del place.container[place.key]


def _plain(place: Place) -> None:
    plain: Mapping[type, Any] = {int: 0, float: 0.5, str: "", list: [], dict: {}}
    place.put(plain.get(type(place.value)))


def _shorter(data: bytes) -> Iterator[bytes]:
    size = len(data) // 2
    while size:
        for start in range(0, len(data), size):
            yield data[:start] + data[start + size :]
        size //= 2
