"""What tests of the command line are given: see tests/cli/conftest.py."""

from __future__ import annotations

from collections.abc import Callable

Command = Callable[..., tuple[int, str, str]]
"""Gives a command in an empty folder; returns its exit code and what it printed on both streams."""
