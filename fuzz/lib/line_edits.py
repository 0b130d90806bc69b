"""Changes of a line: of its values and of how they are spelled, of its fields, its bytes, and of what it answers."""

from __future__ import annotations

import re

from npu_conformance.fuzz.lib.choices import Choices
from npu_conformance.fuzz.lib.json_edits import ALIASES, INTEGERS, Grammar, bytes_edit, edited
from npu_conformance.fuzz.lib.line_seeds import ERRORS

_GRAMMAR = Grammar(encoded=frozenset({"data", "operandValues", "token"}), wild=True)
_BEFORE = rb"(?<=[:,\[])"
_WORD = re.compile(_BEFORE + rb'"[^"\\]*"(?!:)')
_FLOAT = re.compile(_BEFORE + rb"-?\d+\.\d+")
_NUMBER = re.compile(_BEFORE + rb"-?\d+(?![\d.])")
_LITERAL = re.compile(_BEFORE + rb"(?:true|false|null)")
_NAME = re.compile(rb'(?<=[,{])"[^"\\]*":')
_ANY = (b"null", b"true", b"0", b"0.5", b'"x"', b"[]", b"{}", b"[[[[]]]]", b"-1")
"""In the place of a value of any type."""
_SPELLINGS = (
    b"NaN", b"Infinity", b"-Infinity", b"-0", b"1.0", b"2.5", b"1e2", b"1E400", b"01", b"0x10", b"+1", b".5", b"1.",
    b"9" * 30, b"9" * 400, b"-9223372036854775809", b"9007199254740993.0", b'"NaN"', b'"3"',
)  # fmt: skip
"""How numbers are spelled, and how not."""
_NUMBERS = tuple(
    str(number).encode()
    for number in (*INTEGERS, *range(-4, 12), 40, -40, 1 << 40, 1 << 64, (3 << 64) + 5, -32009, -32010)
)
_FLOATS = (
    b"0.0", b"-0.0", b"1e-45", b"1e-38", b"3.5e38", b"1e308", b"-1.5", b"0.1", b'"NaN"', b'"Infinity"', b'"-Infinity"',
    b"16777217", b"NaN", b"-0",
)  # fmt: skip
_WORDS = (
    b'""', b'"\\ud800"', b'"\\u0000"', b'"\\ud83d\\ude00"', b'"\xff"', b'"\xc0\x80"', b'"\n"', b'"\\x"', b'"', b"'a'",
    b'"AA=="', b'"AB=="', b'"AA"', b'"A A="', b'"AA?=="', b'"AAECAw=="', b'"\xe2\x80\xa8"', b'"message"', b'"path"',
    b'"-Infinity"', b'"NaN"', b'"nan"', b'"' + b"y" * 300 + b'"',
)  # fmt: skip
"""Text of every kind, base64 that is none, and text that stands for numbers."""
_LITERALS = (b"true", b"false", b"null", b"0", b"1", b"True")
_NAMES = (b'"x":', b'"object":1,"object":', b'"id":1,"id":', b'"params":', b'"result":null,"result":', b'"\xff":')
_TEXT = (b",", b"{}", b"[]", b"}", b"]", b" ", b"\t", b"\0", b"/**/", b'"x":1,', b"\xef\xbb\xbf")
_DEPTHS = (2, 400, 600, 800, 900, 1100)


def mutated(line: bytes, choices: Choices) -> bytes:
    """The line with one thing changed."""
    kind = choices.below(16)
    if kind < 8:
        return _with_another_value(line, choices)
    if kind < 10:
        return edited(line, choices, _GRAMMAR)
    if kind < 12:
        return _nested(line, choices)
    if kind == 12:
        return _put(line, _place(_NAME, line, choices), choices.pick(_NAMES))
    if kind == 13:
        return b'{"jsonrpc":"2.0","id":1,"error":' + choices.pick(ERRORS) + b"}"
    if kind == 14:
        place = choices.below(len(line) + 1)
        return line[:place] + choices.pick(_TEXT) + line[place:]
    return bytes_edit(bytearray(line), choices)


def _with_another_value(line: bytes, choices: Choices) -> bytes:
    """Another value of the same kind, or of any kind. Rare kinds of values are changed as often as others."""
    what = choices.pick(_KINDS)
    span = _place(what, line, choices)
    if span is None:
        what, span = _NUMBER, _place(_NUMBER, line, choices)
    kind = choices.below(8)
    if kind < 6:
        new = choices.pick(_OTHERS[what])
    elif kind == 6:
        new = choices.pick(choices.pick((_ANY, _SPELLINGS)))
    else:
        new = _changed(line[slice(*span)] if span else b"", choices)
    return _put(line, span, new)


def _changed(value: bytes, choices: Choices) -> bytes:
    """A number near another one, with another sign, or the same in fewer bits; half of a word."""
    if value.isdigit() and len(value) < 20:
        number = int(value)
        return str(choices.pick((number + 1, number - 1, -number, number * 2, number + choices.pick(ALIASES)))).encode()
    return value[: len(value) // 2] + value[-1:]


def _nested(line: bytes, choices: Choices) -> bytes:
    """Deep JSON in the place of a value, mostly closed."""
    depth, (opening, closing) = choices.pick(_DEPTHS), choices.pick(((b"[", b"]"), (b'{"x":', b"}")))
    deep = opening * depth + b"1" + (b"" if choices.below(8) == 7 else closing * depth)
    return _put(line, _place(choices.pick(_KINDS), line, choices), deep)


def _place(what: re.Pattern[bytes], line: bytes, choices: Choices) -> tuple[int, int] | None:
    """Where one such thing stands, behind a place in the line: to list all of them takes longer than to read it."""
    found = what.search(line, choices.below(len(line) + 1)) or what.search(line)
    return found.span() if found else None


def _put(line: bytes, span: tuple[int, int] | None, new: bytes) -> bytes:
    """Something else in a place, where there is one."""
    return line if span is None else line[: span[0]] + new + line[span[1] :]


_OTHERS = {_WORD: _WORDS, _FLOAT: _FLOATS, _NUMBER: _NUMBERS, _LITERAL: _LITERALS}
_KINDS = (_NUMBER, _NUMBER, *_OTHERS)
