"""What a fuzzer needs of the thing it attacks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from npu_conformance.fuzz.choices import Choices
from npu_conformance.harness.verdicts import CaseEnded

LARGEST_INPUT = 65535
"""Bytes of one input."""


class Target(Protocol):
    """Inputs are bytes. Whatever `run` raises as a CaseEnded is a finding."""

    name: str
    seeds: Sequence[bytes]

    def mutate(self, data: bytes, choices: Choices, max_size: int) -> bytes:
        """A changed input of at most max_size bytes."""
        ...

    def run(self, data: bytes) -> None:
        """Attack once. Raises Failed, Crashed or Hung for a finding; anything else is a bug of the fuzzer."""
        ...

    def pieces(self, data: bytes) -> list[bytes]:
        """Smaller inputs of the same kind, to be tried in turn to make a finding small."""
        ...

    def readable(self, data: bytes) -> bytes:
        """The same input as text for people, where it is text at all."""
        ...


def minimised(target: Target, data: bytes, attempts: int = 400) -> bytes:
    """The smallest input found, in so many attempts, that still makes the target fail (FUZ-009)."""
    smallest, is_smaller = data, True
    while is_smaller and attempts > 0:
        is_smaller = False
        for piece in target.pieces(smallest):
            attempts -= 1
            if attempts < 0:
                break
            if len(piece) < len(smallest) and _fails(target, piece):
                smallest, is_smaller = piece, True
                break
    return smallest


def _fails(target: Target, data: bytes) -> bool:
    try:
        target.run(data)
    except CaseEnded:
        return True
    return False
