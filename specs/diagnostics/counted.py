"""Numbers with their nouns, in lines for people."""

from __future__ import annotations


def counted(number: int, noun: str) -> str:
    """A number with its noun, such as 1 case and 2,000 cases."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"
