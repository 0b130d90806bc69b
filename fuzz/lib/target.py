"""What a campaign needs of the thing it attacks."""

from __future__ import annotations

import importlib
import itertools
import math
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from npu_conformance.fuzz.lib.choices import Choices
from npu_conformance.fuzz.lib.findings import signature
from npu_conformance.harness.judge.verdicts import NotApplicable, NotSupported
from npu_conformance.harness.subject.handle import SubjectHandle
from npu_conformance.specs.manifest import InterfaceName

LARGEST_INPUT = 65535
"""Bytes of one input."""


class Target(Protocol):
    """Inputs are bytes."""

    name: str
    seeds: Sequence[bytes]
    """What the search starts from; an engine may put what it keeps there, so that inputs are joined with it."""

    def mutate(self, data: bytes, choices: Choices, max_size: int) -> bytes:
        """A changed input of at most max_size bytes. The subject is not asked: it may die only of inputs."""
        ...

    def run(self, data: bytes) -> Iterable[str]:
        """Attack once; returns what was seen: statuses, shapes, clauses. An input with something new is kept.

        Raises Found, Failed, Crashed or Hung for a finding, NotApplicable where the subject cannot be attacked so;
        anything else is a mistake of the fuzzer.
        """
        ...

    def pieces(self, data: bytes) -> Iterable[bytes]:
        """Smaller inputs of the same kind, to be tried in turn: first without parts, then with plainer values."""
        ...

    def readable(self, data: bytes) -> bytes:
        """The same input as text for people, where it is text at all. The subject is not asked."""
        ...

    def forget(self) -> None:
        """Forget what belongs to the subject's process, as prepared models do: the subject is restarted.

        What it supports is no such thing, and stays known.
        """


@dataclass(frozen=True)
class Attacked:
    """What a target is made of.

    plugin, options: as on the command line. beside: a second implementation to compare with (`--beside`).
    """

    subject: SubjectHandle
    plugin: str
    options: Mapping[str, str]
    beside: SubjectHandle | None = None

    @property
    def subjects(self) -> list[SubjectHandle]:
        """What there is to attack."""
        return [self.subject] if self.beside is None else [self.subject, self.beside]

    def restart(self) -> None:
        """Begin anew with what has died, whichever it was."""
        for subject in self.subjects:
            subject.restart()


@dataclass(frozen=True)
class Fuzzer:
    """A fuzzer as an area of the suite declares it.

    about: one line. needs: the interface that the subject must have; None where it needs no subject's interface.
    """

    name: str
    about: str
    needs: InterfaceName | None
    target: Callable[[Attacked], Target]


def fuzzer_named(name: str) -> Fuzzer:
    """The fuzzer that an area of the suite declares."""
    fuzzer: Fuzzer = importlib.import_module(f"npu_conformance.fuzz.{name}").FUZZER
    return fuzzer


def minimised(
    data: bytes,
    pieces: Callable[[bytes], Iterable[bytes]],
    fails: Callable[[bytes], str],
    attempts: int = 400,
    seconds: float = math.inf,
) -> bytes:
    """The smallest input found, in so many attempts and seconds, that still fails in the same way (FUZ-009).

    fails: the signature of how an input fails, empty where it does not.
    """
    end = time.monotonic() + seconds
    wanted = fails(data)
    smallest, is_smaller = data, True
    while is_smaller and attempts > 0:
        is_smaller = False
        for piece in itertools.islice(pieces(smallest), attempts):
            if time.monotonic() > end:
                return smallest
            attempts -= 1
            if _cost(piece) < _cost(smallest) and fails(piece) == wanted:
                smallest, is_smaller = piece, True
                break
    return smallest


def _cost(data: bytes) -> tuple[int, bytes]:
    """Short inputs first, then those with small characters: 0 before 5."""
    return len(data), data


NOT_JUDGED = (NotApplicable, NotSupported)
"""An input that ends so cannot be put to the subject, or calls what it does not have: no finding."""


def failure(run: Callable[[bytes], object], data: bytes) -> str:
    """The signature of what running an input raises; empty where it raises nothing."""
    try:
        run(data)
    except NOT_JUDGED:
        return ""
    except Exception as ended:
        return signature(ended)
    return ""
