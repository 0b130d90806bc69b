"""The compiler of the reference runtime: its devices, and plans over them."""

from __future__ import annotations

from collections.abc import Sequence

from npu_conformance.reference.runtime.backend import (
    CompileOptions,
    FinishedModel,
    Plan,
    Pools,
    RuntimeDevice,
    RuntimeFailure,
)
from npu_conformance.reference.runtime.planning.build import Caching, PlanBuilder, PlanningDevice, Wishes
from npu_conformance.reference.runtime.planning.caching import CacheFolder, OpenFiles
from npu_conformance.reference.runtime.planning.cpu import CpuDevice, is_of_vendor
from npu_conformance.reference.runtime.planning.driver import Driver, Preparation, registered
from npu_conformance.reference.runtime.planning.driver_part import Surroundings
from npu_conformance.reference.runtime.planning.fallback import CpuFallback
from npu_conformance.reference.runtime.planning.graph_plan import GraphPlan
from npu_conformance.reference.runtime.planning.parts import deadline
from npu_conformance.reference.runtime.planning.plan import Body, CompoundBody, ReferencePlan, Setting, SimpleBody
from npu_conformance.reference.runtime.planning.properties import Partitioning, Properties
from npu_conformance.reference.runtime.planning.services import Service
from npu_conformance.reference.runtime.planning.values import extension_sizes
from npu_conformance.specs.diagnostics import vlog
from npu_conformance.specs.neuralnetworks.runtime.control import ExecutedOperations
from npu_conformance.specs.neuralnetworks.runtime.result_codes import ResultCode
from npu_conformance.specs.neuralnetworks.types import Model
from npu_conformance.specs.plugin import Clock
from npu_conformance.specs.versions import NEWEST, Version

_NO_FALLBACK = (ResultCode.BAD_DATA, ResultCode.UNEXPECTED_NULL)
"""Codes of a failed preparation that go to the app at once."""


class ReferenceCompiler:
    """See Compiler. feature_level: of the runtime; from 5 on it behaves as in Android 13 (profile T), else 11 (R)."""

    def __init__(
        self, pools: Pools, files: OpenFiles, clock: Clock, properties: Properties, feature_level: Version = NEWEST
    ) -> None:
        self._pools, self._clock, self._properties, self._feature_level = pools, clock, properties, feature_level
        self._around = Surroundings(pools, properties, CacheFolder(files), feature_level)
        self._cpu = CpuDevice(pools, clock, feature_level)
        self._drivers: tuple[Driver, ...] = ()

    def set_services(self, services: Sequence[Service]) -> None:
        """Register the drivers of these services, in this order, in place of those from before."""
        found = [registered(service, self._around) for service in services]
        self._drivers = tuple(driver for driver in found if driver is not None)
        self._cpu.executed.clear()

    @property
    def devices(self) -> Sequence[RuntimeDevice]:
        """The registered drivers in order, then the CPU; the CPU alone under debug.nn.cpuonly."""
        return (self._cpu,) if self._properties.cpu_only else (*self._drivers, self._cpu)

    def take_executed(self) -> tuple[ExecutedOperations, ...]:
        """What each device has executed since this was asked last."""
        devices: tuple[Driver | CpuDevice, ...] = (*self._drivers, self._cpu)
        found = tuple(ExecutedOperations(device.name, tuple(sorted(device.executed))) for device in devices)
        for device in devices:
            device.executed.clear()
        return found

    def compile(self, model: FinishedModel, devices: Sequence[RuntimeDevice], options: CompileOptions) -> Plan:
        """See Compiler."""
        mode = Partitioning.WITHOUT_FALLBACK if options.explicit else self._properties.partitioning
        chosen: Sequence[PlanningDevice] = [one for one in devices if isinstance(one, CpuDevice | Driver)]
        if mode == Partitioning.NONE:
            chosen = (self._cpu,)
        may_fall_back = mode == Partitioning.WITH_FALLBACK
        body = self._body(model, chosen, options, may_fall_back)
        has_fallback = may_fall_back and not _is_of_vendor(model.wire)  # FW-EXT-006
        fallback = CpuFallback(self._cpu, model.wire, self._pools) if has_fallback else None
        return ReferencePlan(model, body, fallback, self._setting)

    @property
    def _setting(self) -> Setting:
        return Setting(self._pools, self._clock, self._feature_level, self._cpu)

    def _body(
        self, model: FinishedModel, devices: Sequence[PlanningDevice], options: CompileOptions, may_fall_back: bool
    ) -> Body:
        """The plan over the devices; on the CPU alone where they fail and that is allowed (FW-PRT-009)."""
        try:
            return self._built(model, devices, options, may_fall_back)
        except RuntimeFailure as failure:
            if not may_fall_back or failure.result in _NO_FALLBACK or _is_of_vendor(model.wire):
                raise
            reason = str(failure)
            vlog.log("compilation", lambda: f"compiled for the CPU alone: {reason}")
            return SimpleBody(self._cpu.prepare(model.wire))

    def _built(
        self, model: FinishedModel, devices: Sequence[PlanningDevice], options: CompileOptions, may_fall_back: bool
    ) -> Body:
        end = deadline(options.timeout_ns, self._clock)
        how = Preparation(options.preference, options.priority, end, options.hints, options.extensions)
        caching = Caching(options.cache_dir or "", options.cache_token if options.cache_dir is not None else b"")
        cpu = self._cpu if may_fall_back else None
        wishes = Wishes(how, caching, cpu, self._pools, self._feature_level)
        built = PlanBuilder(model, devices, wishes).build()
        if not isinstance(built, GraphPlan):
            return SimpleBody(built)
        return CompoundBody(built, self._setting, extension_sizes(model.wire, self._drivers))


def _is_of_vendor(model: Model) -> bool:
    """Whether any operation, in any graph, is an extension's or an OEM's: the CPU cannot compute it."""
    graphs = (model.main, *model.referenced)
    return any(is_of_vendor(operation.type) for graph in graphs for operation in graph.operations)
