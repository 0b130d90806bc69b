"""The CPU in place of drivers that fail (facts 2.2)."""

from __future__ import annotations

import threading
from collections.abc import Sequence

from npu_conformance.reference.runtime.backend import Argument, Outcome
from npu_conformance.reference.runtime.planning.cpu import CpuDevice, CpuPart
from npu_conformance.reference.runtime.planning.parts import Terms
from npu_conformance.reference.runtime.planning.pools import Pools
from npu_conformance.specs.neuralnetworks import types


class CpuFallback:
    """A model that the CPU prepares when it is first needed: without deadline, at medium priority."""

    def __init__(self, cpu: CpuDevice, model: types.Model, pools: Pools) -> None:
        self._cpu, self._model, self._pools = cpu, model, pools
        self._part: CpuPart | None = None
        self._lock = threading.Lock()

    def execute(self, inputs: Sequence[Argument], outputs: Sequence[Argument], terms: Terms) -> Outcome:
        """Compute on the CPU."""
        return self._prepared().execute(inputs, outputs, terms)

    def _prepared(self) -> CpuPart:
        with self._lock:
            if self._part is None:
                self._part = self._cpu.prepare(self._model)
            return self._part
