"""LiteRT as an engine: graphs lowered to .tflite, and its interpreter."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy.typing as npt

from npu_conformance.adapters.engine import Run, Shape
from npu_conformance.adapters.litert_runtime import XNNPACK, Interpreter, runtime_version
from npu_conformance.adapters.lowering.model import LoweredModel, lower
from npu_conformance.adapters.lowering.operands import LoweringError
from npu_conformance.adapters.lowering.operations import LOWERINGS, parameters
from npu_conformance.specs.neuralnetworks.types import Operand, Operation, Subgraph

Array = npt.NDArray[Any]


@dataclass(frozen=True)
class LiteRtEngine:
    """LiteRT with one of its sets of kernels: a key of litert_runtime.KERNELS."""

    kernels: str

    @property
    def name(self) -> str:
        """LiteRT and its kernels."""
        return f"litert-{self.kernels}"

    def version(self) -> str:
        """Version of the package `ai-edge-litert`."""
        return runtime_version()

    @property
    def most_tried_elements(self) -> int:
        """Little: reference kernels are slow, and refuse in time."""
        return 4096

    @property
    def takes_open_shapes(self) -> bool:
        """True: a graph is lowered when its shapes are known, and the types alone say whether it can be."""
        return True

    def has(self, operation_type: int) -> bool:
        """True for what has a lowering."""
        return operation_type in LOWERINGS

    def parameters(self, operation: Operation, operands: Sequence[Operand]) -> frozenset[int]:
        """What .tflite, or its lowering, wants constant."""
        return parameters(operation, operands)

    def lower(
        self,
        graph: Subgraph,
        known: Mapping[int, Array],
        shapes: Mapping[int, Shape],
        omitted: frozenset[int] = frozenset(),
    ) -> LiteRtGraph:
        """See Engine."""
        return LiteRtGraph(lower(graph, known, shapes, omitted), self.kernels)


@dataclass(frozen=True)
class LiteRtGraph:
    """A graph lowered for LiteRT."""

    model: LoweredModel
    kernels: str

    @property
    def shapes(self) -> Mapping[int, Shape]:
        """As LiteRT infers them."""
        return self.model.shapes

    def load(self) -> Run:
        """See Lowered. Raises LoweringError for what these kernels had better not get."""
        if self.kernels == XNNPACK and self.model.has_empty_pool:
            raise LoweringError("XNNPACK does not reliably allocate a pool without a batch")
        interpreter = Interpreter(self.model.flatbuffer, self.kernels)
        return lambda inputs: interpreter.run(self.model.given(inputs), self.model.outputs)
