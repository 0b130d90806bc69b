"""TFLM as an engine: the .tflite graphs that were made for LiteRT, in the interpreter for microcontrollers.

TFLM infers no shapes, so that LiteRT, which does while a graph is lowered, has to be installed too.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import metadata
from typing import Any

import numpy as np

from npu_conformance.adapters import tflm_types
from npu_conformance.adapters.engine_interface import (
    NO_CALLEES,
    Array,
    Callees,
    Engine,
    EngineError,
    Run,
    Shape,
    module,
)
from npu_conformance.adapters.lowering.lstm import states_of
from npu_conformance.adapters.lowering.model import LoweredModel, lower
from npu_conformance.adapters.lowering.operands import LoweringError
from npu_conformance.adapters.lowering.operations import CONTROL_FLOW, LOWERINGS, parameters
from npu_conformance.specs.installing import pip_install
from npu_conformance.specs.neuralnetworks.enums import OperationType
from npu_conformance.specs.neuralnetworks.types import Operand, Operation, Subgraph

INSTALL_HINT = f"TFLM is not installed: {pip_install('tflm')}"

ARENA_BASE, ARENA_FACTOR = 1 << 20, 4
"""The bytes of TFLM's arena: a base, and a factor for each byte of tensors. It does not grow."""

MOST_SHARES = 511
"""Elements along the axis of a quantised SOFTMAX: more of about the same value abort the process."""

HIGHEST_PRELU_RANK = 4
"""TFLM's PRELU aborts the process above this rank."""


class TflmError(EngineError):
    """TFLM rejected a model or failed to run it. It says why on stderr only."""


@dataclass(frozen=True)
class TflmEngine(Engine):
    """TFLM; it has one set of kernels."""

    @property
    def name(self) -> str:
        """TFLM."""
        return "tflm"

    def version(self) -> str:
        """Version of the package `tflite-micro`."""
        _runtime()
        return metadata.version("tflite-micro")

    @property
    def most_tried_elements(self) -> int:
        """A large number: some kernels check their types only when they run."""
        return 1 << 22

    @property
    def takes_open_shapes(self) -> bool:
        """False: only a trial, which needs the shapes, shows what TFLM has."""
        return False

    def has(self, operation_type: int) -> bool:
        """True for what has a lowering to .tflite; whether TFLM has a kernel for it is found by trying.

        Not for control flow: types are rewritten in one graph only.
        """
        return operation_type in LOWERINGS and operation_type not in CONTROL_FLOW

    def unreadable(self, operation: Operation) -> frozenset[int]:
        """States of a cell, as for LiteRT: their variables are no outputs of the operator."""
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
    ) -> TflmGraph:
        """See Engine. Raises LoweringError for what kills TFLM's process or has no certain result."""
        for operation in graph.operations:
            if not self.has(operation.type):
                raise LoweringError(f"operation {operation.type} is not lowered")
        values = tflm_types.rewritten_values(graph, known)
        lowered = lower(tflm_types.rewritten(graph), values, shapes, omitted, has_unsigned=False)
        for operation in graph.operations:
            _check(operation, lowered.shapes, known)
            _check_softmax(operation, graph.operands, lowered.shapes, known)
        return TflmGraph(graph, lowered)


@dataclass(frozen=True)
class TflmGraph:
    """A graph lowered to .tflite. original: with the types that the client sees."""

    original: Subgraph
    model: LoweredModel

    @property
    def shapes(self) -> Mapping[int, Shape]:
        """The shapes as LiteRT infers them."""
        return self.model.shapes

    def load(self) -> Run:
        """See Lowered."""
        interpreter = Interpreter(self.model.flatbuffer, ARENA_BASE + ARENA_FACTOR * self.model.byte_size)
        return lambda inputs, _: self._run(interpreter, inputs)

    def _run(self, interpreter: Interpreter, inputs: Sequence[Array | None]) -> list[Array]:
        operands = self.original.operands
        given = [
            None if value is None else tflm_types.forward(operands[index], value)
            for index, value in zip(self.original.input_indexes, inputs, strict=True)
        ]
        results = interpreter.run([value for _, value in self.model.given(given, rounds=0)], len(self.model.outputs))
        pairs = zip(self.original.output_indexes, results, strict=True)
        return [tflm_types.backward(operands[index], value) for index, value in pairs]


class Interpreter:
    """One .tflite model in TFLM. Safe to use from several threads, one run at a time."""

    def __init__(self, flatbuffer: bytes, arena_size: int) -> None:
        """arena_size: in bytes. Raises TflmError where TFLM refuses the model."""
        self._lock = threading.Lock()
        try:
            self._interpreter = _runtime().Interpreter.from_bytes(flatbuffer, arena_size=arena_size)
        except (RuntimeError, ValueError) as error:
            raise TflmError(f"TFLM refuses the model: {error}") from error

    def run(self, inputs: Sequence[Array], output_count: int) -> list[Array]:
        """Set the inputs, run, and return copies of the outputs. Raises TflmError on failure."""
        with self._lock:
            try:
                # Nothing of an earlier run may stay in variable tensors.
                self._interpreter.reset()
                for position, values in enumerate(inputs):
                    self._interpreter.set_input(np.ascontiguousarray(values), position)
                self._interpreter.invoke()
                return [np.array(self._interpreter.get_output(position)) for position in range(output_count)]
            except (RuntimeError, ValueError) as error:
                raise TflmError(f"TFLM fails: {error}") from error


def _runtime() -> Any:
    return module("tflite_micro.python.tflite_micro.runtime", INSTALL_HINT)


def _check(operation: Operation, shapes: Mapping[int, Shape], known: Mapping[int, Array]) -> None:
    if any(0 in shape for shape in shapes.values()):
        raise LoweringError("a tensor without elements")
    if operation.type == OperationType.PRELU and len(shapes[operation.outputs[0]]) > HIGHEST_PRELU_RANK:
        raise LoweringError(f"PRELU of a rank above {HIGHEST_PRELU_RANK}")
    if operation.type == OperationType.DETECTION_POSTPROCESSING:
        is_regular, classes = (known[operation.inputs[position]].item() for position in (7, 9))
        if not is_regular and classes > 1:
            raise LoweringError("DETECTION_POSTPROCESSING, fast, of several classes each: TFLM writes past the results")
    if operation.type == OperationType.SPACE_TO_BATCH_ND and known[operation.inputs[2]].any():
        raise LoweringError("SPACE_TO_BATCH_ND with paddings, which TFLM fills with what happens to be in memory")


def _check_softmax(
    operation: Operation, operands: Sequence[Operand], shapes: Mapping[int, Shape], known: Mapping[int, Array]
) -> None:
    if operation.type != OperationType.SOFTMAX or not operands[operation.inputs[0]].scale:
        return
    axis = known[operation.inputs[2]].item() if len(operation.inputs) > 2 else -1
    shares = shapes[operation.inputs[0]][axis]
    if shares > MOST_SHARES:
        raise LoweringError(f"SOFTMAX of {shares} shares, more than {MOST_SHARES}")
