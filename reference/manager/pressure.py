"""The rule by which thermal status and memory pressure act on budget and priorities.

| thermal            | memory   | left of the budget | priorities of what is not in the foreground |
|--------------------|----------|--------------------|---------------------------------------------|
| up to moderate     | moderate | all                | as they are                                 |
| severe             | low      | half               | 100 weaker                                  |
| critical           | critical | a quarter          | 200 weaker                                  |
| emergency          |          | nothing            | 300 weaker                                  |
| shutdown           |          | nothing            | 400 weaker                                  |

The worse of the two counts. The budget is rounded down, and models leave until it holds, the weakest first
(NPU-POL-026, -027). Priorities stay within 0 to 1000, and go to the HAL as any other change (NPU-PRI-015); foreground
uids, foreground services and the system keep theirs.
"""

from __future__ import annotations

from typing import NamedTuple

from npu_conformance.specs.errors import IllegalArgument
from npu_conformance.specs.npu.types import (
    MAX_PRIORITY,
    Importance,
    MemoryPressure,
    ThermalStatus,
    UnloadReason,
)

_FREE = (4, 0)
_THERMAL = {
    ThermalStatus.SEVERE: (2, 100),
    ThermalStatus.CRITICAL: (1, 200),
    ThermalStatus.EMERGENCY: (0, 300),
    ThermalStatus.SHUTDOWN: (0, 400),
}
_MEMORY = {MemoryPressure.LOW: (2, 100), MemoryPressure.CRITICAL: (1, 200)}
"""The quarters that are left of the budget, and by how much priorities are weaker."""


class Pressure(NamedTuple):
    """The thermal status and the memory pressure of the device."""

    thermal: ThermalStatus = ThermalStatus.NONE
    memory: MemoryPressure = MemoryPressure.NONE

    def changed(self, thermal: ThermalStatus | None, memory: MemoryPressure | None) -> Pressure:
        """The same with another status, another pressure, or both; None for the one that stays."""
        return Pressure(self.thermal if thermal is None else thermal, self.memory if memory is None else memory)

    def ceiling(self, maximum: int) -> int:
        """What is left of a budget."""
        return maximum * min(quarters for quarters, _ in self._effects) // 4

    def weakened(self, priority: int) -> int:
        """The scheduling priority of a uid whose importance is `priority`."""
        if priority <= Importance.FOREGROUND_SERVICE:
            return priority
        return min(MAX_PRIORITY, priority + max(weakening for _, weakening in self._effects))

    @property
    def reason(self) -> UnloadReason:
        """The worse of the two."""
        (thermal, _), (memory, _) = self._effects
        return UnloadReason.MEMORY if memory < thermal else UnloadReason.THERMAL

    @property
    def _effects(self) -> tuple[tuple[int, int], tuple[int, int]]:
        return _THERMAL.get(self.thermal, _FREE), _MEMORY.get(self.memory, _FREE)


def thermal(level: int) -> ThermalStatus:
    """The status of a number. Raises IllegalArgument for an unknown one."""
    if level not in tuple(ThermalStatus):
        raise IllegalArgument(f"unknown thermal status {level}")
    return ThermalStatus(level)


def memory(level: int) -> MemoryPressure:
    """The pressure of a number. Raises IllegalArgument for an unknown one."""
    if level not in tuple(MemoryPressure):
        raise IllegalArgument(f"unknown memory pressure {level}")
    return MemoryPressure(level)
