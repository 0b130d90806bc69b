"""Text of strangers in messages: one line that a terminal only shows, however long and whatever it was."""

from __future__ import annotations

LONGEST = 600
"""Characters that are shown of one text."""


def one_line(text: str, longest: int = LONGEST) -> str:
    """The beginning of a text, with all escaped that a terminal would obey or hide, and a note of what is missing."""
    shown = text[:longest]
    if not shown.isprintable():
        shown = "".join(one if one.isprintable() else repr(one)[1:-1] for one in shown)
    return shown if len(text) <= longest else f"{shown[:longest]}... ({len(text) - longest:,} characters more)"
