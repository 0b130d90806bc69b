"""Bursts over parts: AIDL's objects, and HIDL's packets (facts 2.5)."""

from __future__ import annotations

from collections.abc import Sequence

from npu_conformance.reference.runtime.planning.parts import PartBurst, Terms
from npu_conformance.reference.runtime.planning.version import time_for
from npu_conformance.specs.errors import InterfaceError
from npu_conformance.specs.neuralnetworks import hal, types
from npu_conformance.specs.neuralnetworks.enums import ErrorStatus
from npu_conformance.specs.versions import Version


class DriverBurst(PartBurst):
    """AIDL's burst. Memory is named by its token, so that the driver may keep it mapped."""

    def __init__(self, burst: hal.Burst, version: Version) -> None:
        self._burst, self._version = burst, version
        self._names: set[int] = set()

    def execute(
        self, request: types.Request, terms: Terms
    ) -> tuple[int, Sequence[types.OutputShape], types.Timing | None]:
        """Execute over the burst; returns status, shapes and timing."""
        names = tuple(-1 if pool.pool is None else pool.pool.token for pool in request.pools)
        self._names.update(name for name in names if name >= 0)
        deadline_ns = time_for(self._version, terms.deadline_ns)
        loop_timeout = time_for(self._version, terms.loop_timeout_ns or None)
        if terms.hints and self._version >= Version.FL8:
            config = types.ExecutionConfig(terms.measure_timing, loop_timeout, terms.hints, terms.extensions)
            result = self._burst.execute_synchronously_with_config(request, names, config, deadline_ns)
        else:
            result = self._burst.execute_synchronously(request, names, terms.measure_timing, deadline_ns, loop_timeout)
        status = ErrorStatus.NONE if result.output_sufficient_size else ErrorStatus.OUTPUT_INSUFFICIENT_SIZE
        return status, result.output_shapes, result.timing

    def close(self) -> None:
        """Have the driver forget the memory (FW-EXE-016: in either order)."""
        for name in self._names:
            try:
                self._burst.release_memory_resource(name)
            except InterfaceError:
                return


def open_burst(prepared: hal.PreparedModel, version: Version) -> PartBurst | None:
    """Open a burst; None where the version has none or the driver fails."""
    try:
        return DriverBurst(prepared.configure_execution_burst(), version) if version.is_aidl else None
    except InterfaceError:
        return None
