"""Runs a prepared model in an engine: lowered and loaded anew for each set of input shapes and built-in values."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from npu_conformance.adapters.engine_interface import Engine, EngineError, Run
from npu_conformance.adapters.lowering.calls import callees, check_operations
from npu_conformance.adapters.lowering.operands import is_known, is_tensor, storage_dtype
from npu_conformance.reference.device.executor import Limits, constants
from npu_conformance.specs.errors import ServiceError
from npu_conformance.specs.neuralnetworks.enums import ErrorStatus
from npu_conformance.specs.neuralnetworks.operation_view import OperationView
from npu_conformance.specs.neuralnetworks.types import Model, Subgraph
from npu_conformance.specs.versions import Version

Array = npt.NDArray[Any]
Inputs = Sequence[Array | None]

MOST_VARIANTS = 4
"""How many loaded graphs of one model are kept; the oldest goes first."""


class EngineExecutor:
    """A graph in an engine.

    A value that the engine wants constant and the request brings is built in when it arrives.
    """

    def __init__(self, model: Model, version: Version, pools: Sequence[memoryview], engine: Engine) -> None:
        """As Executor's. Raises ServiceError(GENERAL_FAILURE) where the graph, once known, is not for the engine."""
        self._graph = model.main
        self._version = version
        self._constants = constants(model, model.main, pools)
        self._callees = callees(model, version, pools)
        self._engine = engine
        self._built_in = _built_in_inputs(self._graph, engine)
        self._lock = threading.Lock()
        self._variants: dict[Any, Run] = {}
        shapes = [self._graph.operands[index].dimensions for index in self._graph.input_indexes]
        if not self._built_in and all(is_known(shape) for shape in shapes):
            self._try([np.empty(shape, np.int8) for shape in shapes])

    def run(self, inputs: Inputs, limits: Limits) -> list[Array]:
        """As Executor's; the checkpoint comes before the run, which an engine does not let interrupt.

        It may run the model more than once for the sake of its loops. Their time is counted from the beginning of the
        execution.
        """
        over = limits.begin_loop()
        run = self._variant(inputs)
        limits.checkpoint()

        def go_on() -> None:
            over()
            limits.checkpoint()

        try:
            return self._checked(run(inputs, go_on))
        except EngineError as error:
            raise ServiceError(ErrorStatus.GENERAL_FAILURE, str(error)) from error

    def _checked(self, outputs: list[Array]) -> list[Array]:
        """The outputs. Raises TypeError where their elements are no such as lie in memory: a mistake of the adapter's.

        Without it a float64 would only be seen as an output that does not fit into its memory.
        """
        for position, (index, value) in enumerate(zip(self._graph.output_indexes, outputs, strict=True)):
            wanted = np.dtype(storage_dtype(self._graph.operands[index]))
            if value.dtype.itemsize != wanted.itemsize:
                raise TypeError(f"{self._engine.name} returned {value.dtype} for output {position}, expected {wanted}")
        return outputs

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
            operands, results = (
                [self._graph.operands[index] for index in indexes] for indexes in (operation.inputs, operation.outputs)
            )
            arguments = OperationView(operation, self._version, operands, results).arguments
            pairs = zip(operation.inputs, arguments, strict=False)
            found.update(index for index, argument in pairs if argument.optional)
        return found.intersection(self._graph.input_indexes)

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
            # Before lowering, since bad values may kill an engine; and after it: LiteRT, for one, takes models that
            # NNAPI does not, and by then has inferred all shapes that show it. To it, a filter with fewer channels than
            # the input is a grouped one.
            check_operations(self._graph, self._version, shapes, known, omitted)
            lowered = self._engine.lower(self._graph, known, shapes, omitted, self._callees)
            check_operations(self._graph, self._version, {**lowered.shapes, **shapes}, known, omitted)
            return lowered.load()
        except EngineError as error:
            raise ServiceError(ErrorStatus.GENERAL_FAILURE, str(error)) from error


def _built_in_inputs(graph: Subgraph, engine: Engine) -> frozenset[int]:
    """Operands that are model inputs and have to be constant for the engine: scalars, and parameters."""
    scalars = {index for index in graph.input_indexes if not is_tensor(graph.operands[index])}
    needed = (engine.parameters(operation, graph.operands) for operation in graph.operations)
    return frozenset(scalars) | (frozenset[int]().union(*needed) & set(graph.input_indexes))
