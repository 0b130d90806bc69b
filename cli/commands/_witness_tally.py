"""Counts and prints what one engine says of the stored vectors."""

from __future__ import annotations

from npu_conformance.corpus import disagreements
from npu_conformance.corpus.vectors import Vector
from npu_conformance.corpus.witnesses import Testimony


class Tally:
    """The testimonies of one engine. agreed, taken: names of vectors, for each operation that was asked for."""

    def __init__(self, engine: str, operations: list[str]) -> None:
        self.engine = engine
        self.agreed: dict[str, list[str]] = {operation: [] for operation in operations}
        self.taken: dict[str, list[str]] = {operation: [] for operation in operations}
        self.disagreed = self.explained = self.could_not_run = 0

    def add(self, vector: Vector, testimony: Testimony) -> None:
        """Count a testimony and print each disagreement, with its reason where one is on record."""
        reason = disagreements.reason(self.engine, vector.operation, vector.name)
        for disagreement in testimony.disagreements:
            print(f"{disagreement} (explained: {reason})" if reason else disagreement)
        if vector.rejected is not None:
            self.taken[vector.operation] += [vector.name] if testimony.taken else []
        elif testimony.agrees:
            self.agreed[vector.operation].append(vector.name)
        elif not testimony.disagreements:
            self.could_not_run += 1
        elif reason:
            self.explained += 1
        else:
            self.disagreed += 1

    def summary(self) -> str:
        """One line of counts."""
        agreed = sum(map(len, self.agreed.values()))
        taken = sum(map(len, self.taken.values()))
        return (
            f"{self.engine}: {agreed} agreed, {self.disagreed} disagreed, {self.explained} disagreed with an "
            f"explanation, {self.could_not_run} could not run or compare nothing"
        ) + (f", {taken} executed that should be refused" if taken else "")
