"""What numbers of the command line have to be."""

from __future__ import annotations

import argparse

from npu_conformance.cli.errors import UsageError


def time_in_seconds(text: str) -> float:
    """Read 90s, 10m or 8h; argparse's way to refuse what is none of these."""
    from npu_conformance.harness.run.budget import parse_time

    try:
        return parse_time(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def require_positive(flag: str, number: float | None) -> None:
    """Raise UsageError for a number that is given and is not positive."""
    if number is not None and not number > 0:
        raise UsageError(f"{flag}: expected a positive number, found {number:g}")


def require_not_negative(flag: str, number: int) -> None:
    """Raise UsageError for a number below 0."""
    if number < 0:
        raise UsageError(f"{flag}: expected a number from 0 up, found {number}")
