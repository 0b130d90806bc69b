"""What the files of caches hold, as far as somebody can know: which saving each content may have come from."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

_LARGEST_PADDING = 4096
"""Zeros behind a content: files may grow to whole blocks."""


@dataclass(frozen=True)
class Saving:
    """One preparation with cache files. is_right: its arguments were as they should be, and nobody wrote meanwhile."""

    number: int
    model: str
    token: bytes
    is_right: bool


@dataclass(frozen=True)
class Meaning:
    """What the files of a restoration may stand for.

    whole: savings all of whose files these are. parts: savings under the token that some of the model-cache files are
    of; empty where one of these files is of none, which has to be noticed (NNHAL-CACHE-015 to -018).
    """

    whole: tuple[Saving, ...]
    parts: tuple[Saving, ...]


def models_of(savings: Sequence[Saving]) -> tuple[str, ...]:
    """The models of savings, each once."""
    return tuple(dict.fromkeys(saving.model for saving in savings))


@dataclass(frozen=True)
class Contents:
    """What is in the files of a cache, in order."""

    model: tuple[bytes, ...]
    data: tuple[bytes, ...]


@dataclass
class Ledger:
    """What preparations have left."""

    _savings: list[tuple[Saving, Contents]] = field(default_factory=list)

    def note(self, before: Contents, after: Contents, model: str, token: bytes, *, is_right: bool) -> None:
        """Note what a preparation has left. Where it changed nothing it has saved nothing."""
        if before != after:
            self._savings.append((Saving(len(self._savings), model, token, is_right), after))

    def meaning(self, contents: Contents, token: bytes) -> Meaning:
        """What these contents may stand for under a token."""
        own = [(saving, left) for saving, left in self._savings if saving.token == token]
        known = {content for _, left in own for content in left.model}
        if not set(contents.model) <= known:
            return Meaning((), ())
        parts = tuple(saving for saving, left in own if set(left.model) & set(contents.model))
        return Meaning(tuple(saving for saving, left in own if left == contents), parts)


def edited(content: bytes, edit: str, at: int, value: int) -> bytes:
    """A content after an edit of `cache_steps.EDITS`; an unknown one leaves it."""
    place = at % len(content) if content else 0
    if edit == "pad":
        return content + bytes(1 + at % _LARGEST_PADDING)
    return dict(_edits(content, place, value % 256)).get(edit, content)


def _edits(content: bytes, place: int, value: int) -> Iterator[tuple[str, bytes]]:
    flipped = bytes([content[place] ^ (1 << value % 8)]) if content else b""
    yield "flip", content[:place] + flipped + content[place + 1 :]
    yield "cut", content[:place]
    yield "append", content + bytes([value]) * (1 + value)
    yield "insert", content[:place] + bytes([value]) + content[place:]
    yield "zero", content[:place] + bytes(len(content) - place)
    yield "clear", b""
