"""Runs a prepared model in an engine: lowered and loaded anew for each set of input shapes and built-in values."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from npu_conformance.adapters.engine import Engine, EngineError, Run
from npu_conformance.adapters.lowering.operands import LoweringError, is_known, is_tensor
from npu_conformance.reference.device.executor import Limits, constants
from npu_conformance.specs.errors import ServiceError
from npu_conformance.specs.neuralnetworks.enums import ErrorStatus
from npu_conformance.specs.neuralnetworks.operation_view import OperationView
from npu_conformance.specs.neuralnetworks.types import Model, Subgraph
from npu_conformance.specs.neuralnetworks.validate import check_operation
from npu_conformance.specs.versions import Version

Array = npt.NDArray[Any]
Inputs = Sequence[Array | None]
Shape = tuple[int, ...]

MOST_VARIANTS = 4
"""Loaded graphs kept of one model; the oldest goes first."""


class EngineExecutor:
    """A graph in an engine. What the engine wants constant and the request brings is built in when it comes."""

    def __init__(self, model: Model, version: Version, pools: Sequence[memoryview], engine: Engine) -> None:
        """As Executor's. Raises ServiceError(GENERAL_FAILURE) where the graph, once known, is not for the engine."""
        self._graph, self._version = model.main, version
        self._constants = constants(model, model.main, pools)
        self._engine = engine
        self._built_in = _built_in_inputs(self._graph, engine)
        self._lock = threading.Lock()
        self._variants: dict[Any, Run] = {}
        shapes = [self._graph.operands[index].dimensions for index in self._graph.input_indexes]
        if not self._built_in and all(is_known(shape) for shape in shapes):
            self._variant([np.empty(shape, np.int8) for shape in shapes])

    def run(self, inputs: Inputs, limits: Limits) -> list[Array]:
        """As Executor's; the checkpoint comes before the run, which an engine does not let interrupt."""
        limits.checkpoint()
        run = self._variant(inputs)
        try:
            return run(inputs)
        except EngineError as error:
            raise ServiceError(ErrorStatus.GENERAL_FAILURE, str(error)) from error

    def _variant(self, inputs: Inputs) -> Run:
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

    def _build(self, inputs: dict[int, Array | None]) -> Run:
        built_in = {index: value for index, value in inputs.items() if index in self._built_in and value is not None}
        omitted = frozenset(index for index, value in inputs.items() if value is None)
        known = self._constants | built_in
        try:
            shapes = {index: value.shape for index, value in (inputs | known).items() if value is not None}
            self._check(shapes, known, omitted)
            lowered = self._engine.lower(self._graph, known, shapes, omitted)
            self._check({**lowered.shapes, **shapes}, known, omitted)
            return lowered.load()
        except EngineError as error:
            raise ServiceError(ErrorStatus.GENERAL_FAILURE, str(error)) from error

    def _check(self, shapes: Mapping[int, Shape], known: Mapping[int, Array], omitted: frozenset[int]) -> None:
        """Hold every operation against its rules: before lowering, since bad values may kill an engine, and after it.

        LiteRT, for one, takes some models that NNAPI does not, and has inferred by then all shapes that tell: a filter
        with fewer channels than the input is a grouped one to it.
        """
        operands = self._graph.operands
        for operation in self._graph.operations:
            view = OperationView(
                operation,
                self._version,
                [operands[index] for index in operation.inputs],
                [operands[index] for index in operation.outputs],
                shapes={position: shapes[i] for position, i in enumerate(operation.inputs) if i in shapes},
                values={position: known[index] for position, index in enumerate(operation.inputs) if index in known},
                omitted=frozenset(position for position, index in enumerate(operation.inputs) if index in omitted),
            )
            violations = check_operation(view)
            if violations:
                raise LoweringError(str(violations[0]))


def _built_in_inputs(graph: Subgraph, engine: Engine) -> frozenset[int]:
    """Operands that are model inputs and have to be constant for the engine: scalars, and parameters."""
    scalars = {index for index in graph.input_indexes if not is_tensor(graph.operands[index])}
    needed = (engine.parameters(operation, graph.operands) for operation in graph.operations)
    return frozenset(scalars) | (frozenset[int]().union(*needed) & set(graph.input_indexes))
