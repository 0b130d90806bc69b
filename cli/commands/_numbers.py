"""What numbers of the command line have to be."""

from __future__ import annotations

from npu_conformance.cli.errors import UsageError


def require_positive(flag: str, number: float | None) -> None:
    """Raise UsageError for a number that is given and is not positive."""
    if number is not None and not number > 0:
        raise UsageError(f"{flag}: expected a positive number, found {number:g}")


def require_not_negative(flag: str, number: int) -> None:
    """Raise UsageError for a number below 0."""
    if number < 0:
        raise UsageError(f"{flag}: expected a number from 0 up, found {number}")
