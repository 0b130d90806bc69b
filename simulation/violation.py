"""The error for broken promises in a simulation, and the watch over the budget."""

from __future__ import annotations

from collections.abc import Mapping

from npu_conformance.reference.manager.decisions import Kind, Record

_ENDS = (Kind.CANCEL, Kind.COMPLETE, Kind.DROP)


class Violation(Exception):
    """The manager or the HAL broke a promise: the simulation ends here."""

    def __init__(self, time_ns: int, text: str) -> None:
        super().__init__(f"at {time_ns / 1e9:.6f} s: {text}")


class BudgetWatch:
    """Adds up by its own count what decisions have granted: no grant may go beyond the ceiling (NPU-POL-010).

    weights: by size class, and maximum: of the policy; None: it has no budget.
    """

    def __init__(self, weights: Mapping[int, int], maximum: int | None) -> None:
        self.weights = weights
        self._maximum = maximum
        self._held: dict[tuple[int, int], int] = {}
        self._asked: set[tuple[int, int]] = set()
        self.used = self.staying = 0
        """The weights of granted and loaded models; of those, the models that were not asked to unload."""
        self.decisions = 0
        self.ignored: list[int] = []
        """The uid of each unload request that ran out of time."""

    def __call__(self, record: Record) -> None:
        """Count a decision. Raises Violation."""
        self.decisions += 1
        request = record.uid, record.id
        if record.kind is Kind.GRANT:
            self._grant(record)
        elif record.kind is Kind.LOADED_UNGRANTED:
            raise Violation(
                record.time_ns, f"request {record.id} of uid {record.uid} was granted, and that is forgotten"
            )
        elif record.kind is Kind.UNLOAD:
            self._asked.add(request)
            self.staying -= self._held[request]
        elif record.kind in _ENDS:
            self._end(request)
        elif record.kind is Kind.IGNORED:
            self.ignored.append(record.uid)

    def forget(self) -> None:
        """Forget all grants: the manager has died."""
        self._held.clear()
        self._asked.clear()
        self.used = self.staying = 0

    def check(self, time_ns: int, ceiling: int) -> None:
        """Raise Violation where more stays than the ceiling allows: pressure asks models to leave (NPU-POL-026)."""
        if self._maximum is not None and self.staying > ceiling:
            raise Violation(time_ns, f"{self.staying} is used by who was not asked to unload; the ceiling is {ceiling}")

    def _end(self, request: tuple[int, int]) -> None:
        weight = self._held.pop(request, 0)
        self.used -= weight
        if request not in self._asked:
            self.staying -= weight
        self._asked.discard(request)

    def _grant(self, record: Record) -> None:
        request = record.uid, record.id
        if request in self._held:
            raise Violation(record.time_ns, f"request {record.id} of uid {record.uid} was granted twice")
        self._held[request] = self.weights[record.size]
        self.used += self.weights[record.size]
        self.staying += self.weights[record.size]
        if self._maximum is not None and not self.used <= record.ceiling <= self._maximum:
            raise Violation(
                record.time_ns,
                f"uid {record.uid} was granted {self.weights[record.size]}, which makes {self.used} in all; "
                f"the ceiling is {record.ceiling} and the maximum {self._maximum}",
            )
