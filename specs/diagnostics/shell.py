"""Words of a command line that a reader can copy, in text that any document can hold."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterable


def quoted(word: str) -> str:
    """The word as a shell reads it. Bytes of a path that are no UTF-8 become escapes (`$'ber\\xe4'`): JSON has no place
    for what Python makes of them.
    """
    raw = _bytes(word)
    try:
        return shlex.quote(raw.decode())
    except UnicodeDecodeError:
        return f"$'{''.join(map(_escaped, raw.decode(errors='surrogateescape')))}'"


def joined(words: Iterable[str]) -> str:
    """The words as one command line."""
    return " ".join(map(quoted, words))


def _bytes(word: str) -> bytes:
    """What a system call would get of it, whatever the encoding of the locale is."""
    try:
        return os.fsencode(word)
    except UnicodeEncodeError:  # it did not come from this system: from a document, say
        return word.encode(errors="backslashreplace")


def _escaped(character: str) -> str:
    if character.isprintable() and character not in "'\\":
        return character
    return "".join(f"\\x{byte:02x}" for byte in character.encode(errors="surrogateescape"))
