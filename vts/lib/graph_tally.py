"""What came of many random graphs, also where parts of them were run elsewhere."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from npu_conformance.specs.documents.results import CaseResult


class Found(msgspec.Struct, frozen=True):
    """Something wrong. operations: after shrinking. before: how many there were. files: written in the folder."""

    seed: int
    result: CaseResult
    operations: tuple[str, ...]
    before: int
    files: tuple[str, ...]


class Tally(msgspec.Struct):
    """Counts. covered: operations that were executed and right. refused: in how many graphs.

    unshrunk: findings that are counted alone.
    """

    graphs: int = 0
    passed: int = 0
    not_supported: int = 0
    impossible: int = 0
    operations: int = 0
    elements: int = 0
    widened: int = 0
    undecided: int = 0
    sampled: int = 0
    sampled_decided: int = 0
    unshrunk: int = 0
    covered: set[str] = msgspec.field(default_factory=set)
    refused: dict[str, int] = msgspec.field(default_factory=dict)
    findings: list[Found] = msgspec.field(default_factory=list)

    def count_refused(self, operations: Iterable[str]) -> None:
        """Count a graph that was not supported, for these operations of it."""
        for name in operations:
            self.refused[name] = self.refused.get(name, 0) + 1

    def add(self, part: Tally) -> None:
        """Add what came of other graphs."""
        for name in self.__struct_fields__:
            if isinstance(count := getattr(part, name), int):
                setattr(self, name, getattr(self, name) + count)
        self.covered |= part.covered
        for name, count in part.refused.items():
            self.refused[name] = self.refused.get(name, 0) + count
        self.findings += part.findings
