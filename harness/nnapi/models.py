"""A wire model built through the NNAPI C API: each graph a model of its own, those that IF and WHILE refer to first."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from npu_conformance.harness.nnapi.caller_memory import CallerMemory, place
from npu_conformance.harness.nnapi.errors import require, require_each
from npu_conformance.harness.wire.binding import MethodCall
from npu_conformance.specs.neuralnetworks.enums import OperandLifeTime
from npu_conformance.specs.neuralnetworks.runtime import Runtime
from npu_conformance.specs.neuralnetworks.runtime.types import NULL, OperandDescription, PerChannelDescription
from npu_conformance.specs.neuralnetworks.types import Memory, Model, Operand, Subgraph


def described(operand: Operand) -> OperandDescription:
    """The ANeuralNetworksOperandType of an operand."""
    count = len(operand.dimensions)
    return OperandDescription(
        operand.type, count, operand.dimensions if count else None, operand.scale, operand.zero_point
    )


@dataclass
class BuiltModel:
    """A finished model. handle: of the main graph. free: destroys it, with the graphs it refers to and its memories."""

    handle: int
    models: list[int] = field(default_factory=list)
    memories: list[int] = field(default_factory=list)

    def free(self, runtime: Runtime) -> None:
        """Destroy everything that was made for it."""
        for model in reversed(self.models):
            runtime.model_free(model)
        for memory in self.memories:
            runtime.memory_free(memory)


class ModelBuilder:
    """Builds one model. Constants in pools become memory objects, all others are set by value.

    Raises CallError of the first call that fails; what was made until then is freed.
    """

    def __init__(self, runtime: Runtime, memory: CallerMemory, model: Model) -> None:
        self._runtime, self._memory, self._model = runtime, memory, model
        self._built = BuiltModel(NULL)
        self._pools: dict[int, int] = {}
        self._graphs: dict[int, int] = {}

    def build(self) -> BuiltModel:
        """Build and finish the model."""
        try:
            self._built.handle = self._graph(self._model.main)
        except BaseException:
            self._built.free(self._runtime)
            raise
        return self._built

    def _graph(self, graph: Subgraph) -> int:
        for operand in graph.operands:
            if operand.lifetime == OperandLifeTime.SUBGRAPH:
                self._referenced(operand.location.offset)
        handle = self._create()
        require_each(self._runtime, self._content(handle, graph))
        require("model_finish", self._runtime.model_finish(handle))
        return handle

    def _content(self, handle: int, graph: Subgraph) -> Iterator[MethodCall]:
        for index, operand in enumerate(graph.operands):
            yield from self._operand(handle, index, operand)
        for operation in graph.operations:
            yield "model_add_operation", (handle, operation.type, operation.inputs, operation.outputs)
        yield "model_identify_inputs_and_outputs", (handle, graph.input_indexes, graph.output_indexes)
        if self._model.relax_computation_float32_to_float16:
            yield "model_relax_computation_float32_to_float16", (handle, True)

    def _create(self) -> int:
        made = self._runtime.model_create(True)
        require("model_create", made.result)
        self._built.models.append(made.handle)
        return made.handle

    def _referenced(self, number: int) -> int:
        if number not in self._graphs:
            self._graphs[number] = self._graph(self._model.referenced[number])
        return self._graphs[number]

    def _operand(self, model: int, index: int, operand: Operand) -> Iterator[MethodCall]:
        yield "model_add_operand", (model, described(operand))
        yield from self._extra(model, index, operand)
        set_value = _VALUES.get(OperandLifeTime(operand.lifetime))
        if set_value is not None:
            yield set_value(self, model, index, operand)

    def _extra(self, model: int, index: int, operand: Operand) -> Iterator[MethodCall]:
        extra = operand.extra_params
        if extra is not None and extra.channel_quant is not None:
            quant = extra.channel_quant
            description = PerChannelDescription(quant.channel_dim, len(quant.scales), quant.scales)
            yield "model_set_operand_symm_per_channel_quant_params", (model, index, description)
        if extra is not None and extra.extension is not None:
            data = place(self._memory, extra.extension) if extra.extension else None
            yield "model_set_operand_extension_data", (model, index, data, len(extra.extension))

    def _copied(self, model: int, index: int, operand: Operand) -> MethodCall:
        start, length = operand.location.offset, operand.location.length
        pointer = place(self._memory, self._model.operand_values[start : start + length])
        return "model_set_operand_value", (model, index, pointer, length)

    def _pooled(self, model: int, index: int, operand: Operand) -> MethodCall:
        place_of = operand.location
        memory = self._pool(place_of.pool_index)
        return "model_set_operand_value_from_memory", (model, index, memory, place_of.offset, place_of.length)

    def _pool(self, index: int) -> int:
        if index not in self._pools:
            self._pools[index] = memory_object(self._runtime, self._model.pools[index])
            self._built.memories.append(self._pools[index])
        return self._pools[index]

    def _omitted(self, model: int, index: int, operand: Operand) -> MethodCall:
        return "model_set_operand_value", (model, index, None, 0)

    def _graph_value(self, model: int, index: int, operand: Operand) -> MethodCall:
        return "model_set_operand_value_from_model", (model, index, self._referenced(operand.location.offset))


_VALUES: dict[OperandLifeTime, Callable[[ModelBuilder, int, int, Operand], MethodCall]] = {
    OperandLifeTime.CONSTANT_COPY: ModelBuilder._copied,
    OperandLifeTime.CONSTANT_POOL: ModelBuilder._pooled,
    OperandLifeTime.NO_VALUE: ModelBuilder._omitted,
    OperandLifeTime.SUBGRAPH: ModelBuilder._graph_value,
}
"""How each lifetime gets its value; inputs, outputs and temporaries get none."""


def build(runtime: Runtime, memory: CallerMemory, model: Model) -> BuiltModel:
    """Build and finish a model. Raises CallError."""
    return ModelBuilder(runtime, memory, model).build()


def memory_object(runtime: Runtime, pool: Memory) -> int:
    """Make a memory object of a pool. Raises CallError."""
    if pool.kind.startswith("hardware"):
        made = runtime.memory_create_from_a_hardware_buffer(pool, True)
        require("memory_create_from_a_hardware_buffer", made.result)
    else:
        made = runtime.memory_create_from_fd(pool.size, pool.prot, pool, pool.offset, True)
        require("memory_create_from_fd", made.result)
    return made.handle
