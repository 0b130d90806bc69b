"""What a fuzzer needs of the thing it attacks."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Protocol

from npu_conformance.fuzz.lib.choices import Choices
from npu_conformance.harness.judge.verdicts import CaseEnded

_KIND = re.compile(r".*?breaks [A-Z0-9_.]+|[^:]*(?:: raised \w+)?")

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
    """The smallest input found, in so many attempts, that still makes the target fail in the same way (FUZ-009)."""
    wanted = kind(failure(target, data))
    smallest, is_smaller = data, True
    while is_smaller and attempts > 0:
        is_smaller = False
        for piece in target.pieces(smallest)[:attempts]:
            attempts -= 1
            if len(piece) < len(smallest) and kind(failure(target, piece)) == wanted:
                smallest, is_smaller = piece, True
                break
    return smallest


def failure(target: Target, data: bytes) -> str:
    """How the target fails with an input; empty where it does not."""
    try:
        target.run(data)
    except CaseEnded as ended:
        return str(ended)
    return ""


def kind(message: str) -> str:
    """What is the same in messages of one finding: the method with the rule or the exception."""
    match = _KIND.match(message)
    return match.group() if match else message
