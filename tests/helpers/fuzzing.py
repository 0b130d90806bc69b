"""What the tests of all fuzzers share: a search for a first finding, and making it small."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from npu_conformance.fuzz.lib.engines import hypothesis_engine
from npu_conformance.fuzz.lib.findings import kind_of, where_of
from npu_conformance.fuzz.lib.target import Target, failure, minimised
from npu_conformance.harness.judge.verdicts import CaseEnded
from npu_conformance.specs.neuralnetworks.enums import ErrorStatus


@dataclass(frozen=True)
class Finding:
    """The input that was found, and how it ended."""

    ended: CaseEnded
    data: bytes

    @property
    def kind(self) -> str:
        return kind_of(self.ended)

    @property
    def where(self) -> str:
        return where_of(self.ended)

    def minimised(self, target: Target, attempts: int = 400) -> bytes:
        """The smallest input that fails as this one does."""
        return minimised(self.data, target.pieces, lambda piece: failure(target.run, piece), attempts)


class _Met(BaseException):
    """Ends a search: Hypothesis lets it through."""

    def __init__(self, finding: Finding) -> None:
        super().__init__(finding)
        self.finding = finding


def first_finding(target: Target, *, seed: int, runs: int, inputs: Iterable[bytes] = ()) -> Finding | None:
    """Run the inputs, then those of a search; None where all pass."""

    def attack(data: bytes) -> None:
        try:
            target.run(data)
        except CaseEnded as ended:
            raise _Met(Finding(ended, data)) from None

    try:
        for data in inputs:
            attack(data)
        hypothesis_engine.search(target, attack, seed=seed, runs=runs)
    except _Met as met:
        return met.finding
    return None


def finding(target: Target, *, seed: int, runs: int) -> Finding:
    """The first finding of a search that must have one."""
    found = first_finding(target, seed=seed, runs=runs)
    assert found is not None, f"none of {runs} inputs is a finding"
    return found


def refuses(*given: Any) -> None:
    """prepare_model of a device that supports no model: its callback, the last argument, gets GENERAL_FAILURE."""
    given[-1].notify(int(ErrorStatus.GENERAL_FAILURE), None)
