"""The compiler of the reference runtime: its devices, and plans over them."""

from __future__ import annotations

from collections.abc import Sequence

from npu_conformance.reference.runtime.backend import CompileOptions, FinishedModel, Plan, RuntimeDevice
from npu_conformance.reference.runtime.planning.cpu import CpuDevice
from npu_conformance.reference.runtime.planning.fallback import CpuFallback
from npu_conformance.reference.runtime.planning.parts import deadline
from npu_conformance.reference.runtime.planning.plan import SimplePlan
from npu_conformance.reference.runtime.planning.pools import Pools
from npu_conformance.reference.runtime.planning.properties import Properties
from npu_conformance.specs.plugin import Clock
from npu_conformance.specs.versions import NEWEST, Version


class ReferenceCompiler:
    """See Compiler. feature_level: of the runtime; from 5 on it behaves as profile T of the facts, else as R."""

    def __init__(self, pools: Pools, clock: Clock, properties: Properties, feature_level: Version = NEWEST) -> None:
        self.pools, self.clock, self.properties, self.feature_level = pools, clock, properties, feature_level
        self._cpu = CpuDevice(pools, clock, feature_level)

    @property
    def devices(self) -> Sequence[RuntimeDevice]:
        """The registered drivers in order, then the CPU."""
        return (self._cpu,)

    def compile(self, model: FinishedModel, devices: Sequence[RuntimeDevice], options: CompileOptions) -> Plan:
        """See Compiler."""
        end = deadline(options.timeout_ns, self.clock)
        fallback = CpuFallback(self._cpu, model.wire, self.pools)
        return SimplePlan(self._cpu.prepare(model.wire, end), None if options.explicit else fallback, self.clock)
