"""The CPU in place of drivers that fail (FW-PRT-009, -010)."""

from __future__ import annotations

import threading
from collections.abc import Sequence

from msgspec.structs import replace

from npu_conformance.reference.runtime.backend import Argument, Outcome, Pools, RuntimeFailure
from npu_conformance.reference.runtime.planning.cpu import CpuDevice, CpuPart
from npu_conformance.reference.runtime.planning.memory_domains import DeviceMemory
from npu_conformance.reference.runtime.planning.parts import Terms, failure
from npu_conformance.reference.runtime.planning.values import Scratch, read_bytes, size_of, write_bytes
from npu_conformance.specs.errors import InterfaceError
from npu_conformance.specs.neuralnetworks import types
from npu_conformance.specs.neuralnetworks.runtime.result_codes import ResultCode

NEVER = (ResultCode.NO_ERROR, ResultCode.OUTPUT_INSUFFICIENT_SIZE)
"""Results that do not lead to a fallback (FW-PRT-012)."""

DEADLINES = (ResultCode.MISSED_DEADLINE_TRANSIENT, ResultCode.MISSED_DEADLINE_PERSISTENT)
"""Results of a loop that took too long on the CPU: there they do not lead to a fallback either."""


class CpuFallback:
    """A model or step that the CPU prepares when it is first needed, at medium priority and without deadline."""

    def __init__(self, cpu: CpuDevice, model: types.Model, pools: Pools) -> None:
        self._cpu, self._model, self._pools = cpu, model, pools
        self._part: CpuPart | None = None
        self._lock = threading.Lock()

    def execute(self, inputs: Sequence[Argument], outputs: Sequence[Argument], terms: Terms) -> Outcome:
        """Compute on the CPU. Drivers' buffers are copied out before and back behind (FW-MEM-014)."""
        scratch = Scratch(self._pools)
        terms = replace(terms, deadline_ns=None)
        try:
            here = [self._copied_out(scratch, one) for one in inputs]
            there = [self._room(scratch, one) for one in outputs]
            outcome = self._prepared().execute(here, there, terms)
            if outcome.result == ResultCode.NO_ERROR:
                self._copy_back(outputs, there, outcome)
            return outcome
        except RuntimeFailure as error:
            return failure(error.result)
        except InterfaceError:
            return failure(ResultCode.OP_FAILED)
        finally:
            scratch.free()

    def _prepared(self) -> CpuPart:
        with self._lock:
            if self._part is None:
                self._part = self._cpu.prepare(self._model)
            return self._part

    def _copied_out(self, scratch: Scratch, one: Argument) -> Argument:
        if not isinstance(one.buffer, DeviceMemory):
            return one
        return scratch.hold(read_bytes(self._pools, one), one.buffer.dimensions)

    def _room(self, scratch: Scratch, one: Argument) -> Argument:
        """Room for an output. Raises RuntimeFailure for a driver's buffer of unknown shape: its size is not known."""
        if not isinstance(one.buffer, DeviceMemory):
            return one
        operand, dimensions = one.buffer.operand, one.dimensions
        if size_of(operand, dimensions) == 0:
            raise RuntimeFailure(ResultCode.OP_FAILED, "an output is a driver's buffer of unknown shape")
        return scratch.hold(bytes(size_of(operand, dimensions)), dimensions)

    def _copy_back(self, outputs: Sequence[Argument], there: Sequence[Argument], outcome: Outcome) -> None:
        for one, copy, shape in zip(outputs, there, outcome.shapes, strict=True):
            if isinstance(one.buffer, DeviceMemory):
                place = replace(one, dimensions=shape.dimensions)
                write_bytes(self._pools, place, read_bytes(self._pools, copy))
