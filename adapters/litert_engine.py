"""LiteRT as an engine: graphs lowered to .tflite, and its interpreter."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from npu_conformance.adapters.engine_interface import NO_CALLEES, Array, Callees, Engine, EngineError, Run, Shape
from npu_conformance.adapters.litert_runtime import XNNPACK, Interpreter, runtime_version
from npu_conformance.adapters.lowering.lstm import states_of
from npu_conformance.adapters.lowering.model import LoweredModel, lower
from npu_conformance.adapters.lowering.operands import LoweringError
from npu_conformance.adapters.lowering.operations import LOWERINGS, parameters
from npu_conformance.specs.neuralnetworks.types import Operand, Operation, Subgraph

FIRST_ROUNDS, MOST_ROUNDS = 64, 1 << 30
"""How many rounds the loops of a model may make together: at first, and at most."""


@dataclass(frozen=True)
class LiteRtEngine(Engine):
    """LiteRT with one of its sets of kernels: a key of litert_runtime.KERNELS."""

    kernels: str

    @property
    def name(self) -> str:
        """LiteRT and its kernels."""
        return f"litert-{self.kernels}"

    def version(self) -> str:
        """Version of the package `ai-edge-litert`."""
        return runtime_version()

    def has(self, operation_type: int) -> bool:
        """True for what has a lowering."""
        return operation_type in LOWERINGS

    def unreadable(self, operation: Operation) -> frozenset[int]:
        """The states of a cell: their variables are no outputs of the operator, and XNNPACK may read them too early."""
        return frozenset(states_of(operation))

    def parameters(self, operation: Operation, operands: Sequence[Operand]) -> frozenset[int]:
        """The operands that .tflite, or its lowering, wants constant."""
        return parameters(operation, operands)

    def lower(
        self,
        graph: Subgraph,
        known: Mapping[int, Array],
        shapes: Mapping[int, Shape],
        omitted: frozenset[int] = frozenset(),
        callees: Callees = NO_CALLEES,
    ) -> LiteRtGraph:
        """See Engine."""
        return LiteRtGraph(lower(graph, known, shapes, omitted, callees), self.kernels)


@dataclass(frozen=True)
class LiteRtGraph:
    """A graph lowered for LiteRT."""

    model: LoweredModel
    kernels: str

    @property
    def shapes(self) -> Mapping[int, Shape]:
        """The shapes as LiteRT infers them."""
        return self.model.shapes

    def load(self) -> Run:
        """See Lowered. Raises LoweringError for a graph that these kernels cannot take safely."""
        if self.kernels == XNNPACK and self.model.has_empty_pool:
            raise LoweringError("XNNPACK does not reliably allocate a pool without a batch")
        return functools.partial(_run, self.model, Interpreter(self.model.flatbuffer, self.kernels))


def _run(
    model: LoweredModel, interpreter: Interpreter, inputs: Sequence[Array | None], go_on: Callable[[], None]
) -> list[Array]:
    """See Run. A run in LiteRT is not to be interrupted, so its loops may only make some rounds.

    Where these are not enough the whole model, which has no state, runs again with more.
    """
    rounds = FIRST_ROUNDS
    while rounds <= MOST_ROUNDS:
        outputs = interpreter.run(model.given(inputs, rounds), model.wanted())
        if model.rounds is None or outputs.pop()[0] > 0:
            return outputs
        go_on()
        rounds += rounds // 2
    raise EngineError(f"loops of more than {MOST_ROUNDS} rounds")
