"""Builds plans: devices chosen, steps formed, parts prepared."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import msgspec

from npu_conformance.reference.hal.memory import mapped
from npu_conformance.reference.runtime.backend import FinishedModel, Pools, RuntimeFailure
from npu_conformance.reference.runtime.planning.caching import CacheEntry, effective_token
from npu_conformance.reference.runtime.planning.cpu import CpuDevice
from npu_conformance.reference.runtime.planning.driver import Driver, Preparation
from npu_conformance.reference.runtime.planning.extract import extract, graph_as_model
from npu_conformance.reference.runtime.planning.fallback import CpuFallback
from npu_conformance.reference.runtime.planning.graph_plan import GraphPlan, IfStep, PartStep, Step, WhileStep
from npu_conformance.reference.runtime.planning.partition import (
    DeviceStep,
    best_devices,
    has_unknown_size,
    referenced_graphs,
    steps_of,
)
from npu_conformance.reference.runtime.planning.parts import Part
from npu_conformance.specs.errors import ServiceError
from npu_conformance.specs.neuralnetworks.enums import OperandLifeTime, OperationType
from npu_conformance.specs.neuralnetworks.operation_view import constant_value
from npu_conformance.specs.neuralnetworks.runtime.result_codes import ResultCode, result_of_status
from npu_conformance.specs.neuralnetworks.types import Model, Subgraph
from npu_conformance.specs.versions import Version

PlanningDevice = CpuDevice | Driver

_CONSTANTS = (OperandLifeTime.CONSTANT_COPY, OperandLifeTime.CONSTANT_POOL, OperandLifeTime.NO_VALUE)


class Caching(msgspec.Struct, frozen=True):
    """What the app said of caching. token: 32 bytes; empty for no caching."""

    folder: str = ""
    token: bytes = b""


class Wishes(msgspec.Struct, frozen=True):
    """How to compile. cpu: the fallback of steps, None where none is allowed."""

    how: Preparation
    caching: Caching
    cpu: CpuDevice | None
    pools: Pools
    feature_level: Version


class PlanBuilder:
    """Builds the plan of one model over some devices."""

    def __init__(self, model: FinishedModel, devices: Sequence[PlanningDevice], wishes: Wishes) -> None:
        self._model, self._devices, self._wishes = model, devices, wishes
        self._graphs = itertools.count()

    def build(self) -> Part | GraphPlan:
        """A part, where one device computes everything (FW-PRT-005), else steps. Raises RuntimeFailure."""
        wire = self._model.wire
        chosen = best_devices(wire, self._devices, self._wishes.how.preference)
        if chosen.count(chosen[0]) == len(chosen) and chosen[0] < len(self._devices):
            return self._prepared(self._devices[chosen[0]], wire, ())
        return self._graph_plan(wire, chosen, self._model.order)

    def _graph_plan(self, model: Model, chosen: Sequence[int], order: Sequence[int]) -> GraphPlan:
        """The plan of the main graph of a model. order: the app's number of each operation."""
        number, graph = next(self._graphs), model.main
        steps = [
            planned
            for step in steps_of(graph, chosen, len(self._devices))
            if (planned := self._planned(model, step, number, order)) is not None
        ]
        written = {index for step in steps for index in step.outputs}
        temporaries = sorted(written - set(graph.output_indexes))
        dynamic = frozenset(index for index in temporaries if has_unknown_size(graph.operands[index]))
        if dynamic and not self._wishes.feature_level.is_aidl:
            raise RuntimeFailure(ResultCode.OP_FAILED, f"temporary {min(dynamic)} between steps has an unknown size")
        return GraphPlan(graph, tuple(steps), tuple(temporaries), dynamic, self._constants(model, steps))

    def _planned(self, model: Model, step: DeviceStep, number: int, order: Sequence[int]) -> Step | None:
        """A step made ready; None where nobody reads its results, nor the app."""
        if step.device == len(self._devices):
            return self._interpreted(model, step.operations[0])
        part_of_model = extract(model, step.operations)
        if not part_of_model.outputs:
            return None
        names = [(number, order[index]) for index in step.operations]
        part = self._prepared(self._devices[step.device], part_of_model.model, names)
        cpu, pools = self._wishes.cpu, self._wishes.pools
        fallback = None if cpu is None or part.device.is_cpu else CpuFallback(cpu, part_of_model.model, pools)
        return PartStep(part, part_of_model.inputs, part_of_model.outputs, fallback)

    def _interpreted(self, model: Model, index: int) -> Step:
        operation = model.main.operations[index]
        first, second = (self._inner_plan(model, graph) for graph in referenced_graphs(model, operation))
        if operation.type == OperationType.IF:
            return IfStep(operation.inputs[0], first, second, operation.inputs[3:], operation.outputs)
        return WhileStep(first, second, operation.inputs[2:], operation.outputs)

    def _inner_plan(self, model: Model, graph: Subgraph) -> GraphPlan:
        inside = graph_as_model(model, graph)
        chosen = best_devices(inside, self._devices, self._wishes.how.preference)
        return self._graph_plan(inside, chosen, range(len(graph.operations)))

    def _prepared(self, device: PlanningDevice, model: Model, names: Sequence[tuple[int, int]]) -> Part:
        """Have a device prepare a model. names: of the operations of a step, for the cache token."""
        how, caching = self._wishes.how, self._wishes.caching
        if isinstance(device, CpuDevice):
            return device.prepare(model, how.deadline_ns)
        token = effective_token(caching.token, device.name, device.version_string, how.preference, how.priority, names)
        return device.prepare(model, how, CacheEntry(caching.folder, token) if token else None)

    def _constants(self, model: Model, steps: Sequence[Step]) -> dict[int, bytes | None]:
        """The values of constants that interpreted steps read."""
        operands = model.main.operands
        read: set[int] = set()
        for step in steps:
            if not isinstance(step, PartStep):
                read.update(step.inputs)
            if isinstance(step, IfStep):
                read.add(step.condition)
        wanted = [index for index in sorted(read) if operands[index].lifetime in _CONSTANTS]
        try:
            with mapped(self._wishes.pools, model.pools if wanted else ()) as views:
                values = [constant_value(model, operands[index], views) for index in wanted]
                contents = [None if value is None else value.tobytes() for value in values]
                return dict(zip(wanted, contents, strict=True))
        except ServiceError as error:
            raise RuntimeFailure(result_of_status(error.status), str(error)) from error
