"""The metrics log, with the names and numbers of AOSP's atoms (NPU-OBS-006, -007)."""

from __future__ import annotations

from collections import deque

from npu_conformance.specs.npu.types import (
    Atom,
    EndReason,
    LoadStatus,
    ModelLoadRequest,
    ModelPriority,
    ModelSize,
    StartReason,
    WorkInfo,
)

MOST_ATOMS = 10_000
_SIZES: dict[int, int] = {size: size + 1 for size in ModelSize}
_STATUSES: dict[int, int] = {status: status + 1 for status in LoadStatus}
_STARTS: dict[int, int] = {reason: reason + 1 for reason in StartReason}
_ENDS: dict[int, int] = {reason: reason + 3 for reason in EndReason}
"""The numbers of the log, where those of the API begin with 0; any other number is logged as 0, unknown."""

_REQUESTED, _STARTED, _ENDED = 1, 2, 3
_LOADED, _UNLOADED = 1, 2


class Metrics:
    """Keeps the newest atoms. opportunistic: the number of that priority."""

    def __init__(self, opportunistic: int = ModelPriority.OPPORTUNISTIC) -> None:
        self._priorities: dict[int, int] = {ModelPriority.NORMAL: 1, ModelPriority.BACKGROUND: 2, opportunistic: 3}
        self._atoms: deque[Atom] = deque(maxlen=MOST_ATOMS)
        self._in_memory: set[tuple[int, int]] = set()

    def take(self) -> tuple[Atom, ...]:
        """Return the atoms that were logged since the last call."""
        return tuple(self._atoms.popleft() for _ in range(len(self._atoms)))

    def requested(self, uid: int, model: ModelLoadRequest) -> None:
        """Log that an app asked to load a model."""
        size, priority = _SIZES.get(model.size, 0), self._priorities.get(model.priority, 0)
        self._log("NpuModelLoadRequested", uid=uid, id=model.id, size=size, priority=priority)

    def responded(self, uid: int, identifier: int, status: int) -> None:
        """Log that the policy decided. status: LoadStatus."""
        self._log("NpuModelLoadPolicyResponded", uid=uid, id=identifier, status=_STATUSES[status])

    def cancelled(self, uid: int, identifier: int) -> None:
        """Log that a request ended as cancelled."""
        self._log("NpuModelLoadRequestCancelled", uid=uid, id=identifier)

    def loaded(self, uid: int, identifier: int) -> None:
        """Log that a model came into memory."""
        self._in_memory.add((uid, identifier))
        self._log("NpuModelLoadStateChanged", uid=uid, id=identifier, state=_LOADED)

    def unloaded(self, uid: int, identifier: int) -> None:
        """Log that a model left memory, unless it never was there: requests end in many ways."""
        if (uid, identifier) in self._in_memory:
            self._in_memory.remove((uid, identifier))
            self._log("NpuModelLoadStateChanged", uid=uid, id=identifier, state=_UNLOADED)

    def blocked(self, uid: int) -> None:
        """Log that an app was denied direct access; called once for each app."""
        self._log("NpuAppBlocked", uid=uid)

    def work_requested(self, work: WorkInfo) -> None:
        """Log a request that the HAL reports."""
        self._work(work, _REQUESTED, 0)

    def work_started(self, work: WorkInfo, reason: int) -> None:
        """Log a start that the HAL reports."""
        self._work(work, _STARTED, _STARTS.get(reason, 0))

    def work_ended(self, work: WorkInfo, reason: int) -> None:
        """Log an end that the HAL reports."""
        self._work(work, _ENDED, _ENDS.get(reason, 0))

    def _work(self, work: WorkInfo, event: int, reason: int) -> None:
        self._log(
            "NpuWorkEventOccurred",
            uid=work.uid,
            debug_pid=work.debug_pid,
            original_uid=work.original_uid,
            job_priority=work.job_priority,
            effective_priority=work.effective_priority,
            timestamp_ms=work.timestamp_ms,
            device_number=work.device_number,
            type=event,
            reason=reason,
        )

    def _log(self, name: str, **values: int) -> None:
        self._atoms.append(Atom(name, values))
