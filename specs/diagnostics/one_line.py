"""Text of documents in messages: one line that a terminal only shows, however long and whatever it was."""

from __future__ import annotations

LONGEST = 600
"""Characters that are shown of one text."""


def one_line(text: str) -> str:
    """The beginning of a text, with all escaped that a terminal would obey or hide, and a note of what is missing."""
    shown = text[:LONGEST]
    if not shown.isprintable():
        shown = "".join(one if one.isprintable() else repr(one)[1:-1] for one in shown)
    return shown if len(text) <= LONGEST else f"{shown[:LONGEST]}... ({len(text) - LONGEST:,} characters more)"
