"""Runs a prepared model in LiteRT: one interpreter for each set of input shapes and built-in values."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from npu_conformance.adapters.litert_runtime import Interpreter, LiteRtError
from npu_conformance.adapters.lowering.model import LoweredModel, built_in_inputs, lower
from npu_conformance.adapters.lowering.operands import LoweringError, is_known
from npu_conformance.reference.device.executor import Limits, constants
from npu_conformance.specs.errors import ServiceError
from npu_conformance.specs.neuralnetworks.enums import ErrorStatus
from npu_conformance.specs.neuralnetworks.operation_view import OperationView
from npu_conformance.specs.neuralnetworks.types import Model, Operation
from npu_conformance.specs.neuralnetworks.validate import check_operation
from npu_conformance.specs.versions import Version

Array = npt.NDArray[Any]
Inputs = Sequence[Array | None]
Shape = tuple[int, ...]

MOST_VARIANTS = 4
"""Interpreters kept of one model; the oldest goes first."""


class LiteRtExecutor:
    """A graph lowered to .tflite. What LiteRT wants constant and the request brings is built in when it comes."""

    def __init__(self, model: Model, version: Version, pools: Sequence[memoryview], kernels: str) -> None:
        """As Executor's. Raises ServiceError(GENERAL_FAILURE) where the whole graph, once known, is not for LiteRT."""
        self._graph, self._version = model.main, version
        self._constants = constants(model, model.main, pools)
        self._kernels = kernels
        self._built_in = built_in_inputs(self._graph)
        self._lock = threading.Lock()
        self._variants: dict[Any, tuple[LoweredModel, Interpreter]] = {}
        shapes = [self._graph.operands[index].dimensions for index in self._graph.input_indexes]
        if not self._built_in and all(is_known(shape) for shape in shapes):
            self._try([np.empty(shape, np.int8) for shape in shapes])

    def run(self, inputs: Inputs, limits: Limits) -> list[Array]:
        """As Executor's; the checkpoint comes before the run, which LiteRT does not let interrupt."""
        limits.checkpoint()
        lowered, interpreter = self._variant(inputs)
        try:
            return interpreter.run(lowered.given(inputs), lowered.outputs)
        except LiteRtError as error:
            raise ServiceError(ErrorStatus.GENERAL_FAILURE, str(error)) from error

    def _try(self, inputs: Inputs) -> None:
        """Build the graph with every input given, else without the optional ones, which a request may leave out."""
        try:
            self._variant(inputs)
        except ServiceError:
            optional = self._optional()
            if not optional:
                raise
            pairs = zip(self._graph.input_indexes, inputs, strict=True)
            self._variant([None if index in optional else value for index, value in pairs])

    def _optional(self) -> set[int]:
        """Inputs of the graph that are optional to an operation."""
        found: set[int] = set()
        for operation in self._graph.operations:
            arguments = self._view(operation, {}, {}, frozenset()).arguments
            pairs = zip(operation.inputs, arguments, strict=False)
            found.update(index for index, argument in pairs if argument.optional)
        return found.intersection(self._graph.input_indexes)

    def _variant(self, inputs: Inputs) -> tuple[LoweredModel, Interpreter]:
        indexes = self._graph.input_indexes
        key = tuple(
            None if value is None else (value.shape, value.tobytes() if index in self._built_in else b"")
            for index, value in zip(indexes, inputs, strict=True)
        )
        with self._lock:
            if key not in self._variants:
                if len(self._variants) == MOST_VARIANTS:
                    del self._variants[next(iter(self._variants))]
                self._variants[key] = self._build(dict(zip(indexes, inputs, strict=True)))
            return self._variants[key]

    def _build(self, inputs: dict[int, Array | None]) -> tuple[LoweredModel, Interpreter]:
        built_in = {index: value for index, value in inputs.items() if index in self._built_in and value is not None}
        omitted = frozenset(index for index, value in inputs.items() if value is None)
        known = self._constants | built_in
        try:
            shapes = {index: value.shape for index, value in (inputs | known).items() if value is not None}
            self._check(shapes, known, omitted)
            lowered = lower(self._graph, known, shapes, omitted)
            self._check({**lowered.shapes, **shapes}, known, omitted)
            return lowered, lowered.interpreter(self._kernels)
        except (LoweringError, LiteRtError) as error:
            raise ServiceError(ErrorStatus.GENERAL_FAILURE, str(error)) from error

    def _check(self, shapes: Mapping[int, Shape], known: Mapping[int, Array], omitted: frozenset[int]) -> None:
        """Hold every operation against its rules: before lowering, since bad values may kill LiteRT, and after it.

        LiteRT takes some models that NNAPI does not, and has inferred by then all shapes that tell: a filter with fewer
        channels than the input is a grouped one to it.
        """
        for operation in self._graph.operations:
            violations = check_operation(self._view(operation, shapes, known, omitted))
            if violations:
                raise LoweringError(str(violations[0]))

    def _view(
        self,
        operation: Operation,
        shapes: Mapping[int, Shape],
        known: Mapping[int, Array],
        omitted: frozenset[int],
    ) -> OperationView:
        operands = self._graph.operands
        return OperationView(
            operation,
            self._version,
            [operands[index] for index in operation.inputs],
            [operands[index] for index in operation.outputs],
            shapes={position: shapes[i] for position, i in enumerate(operation.inputs) if i in shapes},
            values={position: known[index] for position, index in enumerate(operation.inputs) if index in known},
            omitted=frozenset(position for position, index in enumerate(operation.inputs) if index in omitted),
        )
