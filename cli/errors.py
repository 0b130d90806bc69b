"""The exception that a command raises for bad input from its user."""

from __future__ import annotations


class UsageError(Exception):
    """Bad input from the user: printed as one line, exit 2."""
