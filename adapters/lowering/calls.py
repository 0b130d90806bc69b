"""The graphs that a model's IF and WHILE refer to, and the check of operations by their rules with known shapes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy.typing as npt

from npu_conformance.adapters.engine_interface import Callees
from npu_conformance.adapters.lowering.operands import LoweringError
from npu_conformance.reference.device.executor import constants
from npu_conformance.specs.neuralnetworks.operation_view import OperationView
from npu_conformance.specs.neuralnetworks.types import Model, Subgraph
from npu_conformance.specs.neuralnetworks.validate import check_operation
from npu_conformance.specs.versions import Version

Array = npt.NDArray[Any]


def callees(model: Model, version: Version, pools: Sequence[memoryview]) -> Callees:
    """Read the constants of a model's referenced graphs. pools: contents of the model's pools."""
    return Callees(version, tuple((graph, constants(model, graph, pools)) for graph in model.referenced))


def check_operations(
    graph: Subgraph,
    version: Version,
    shapes: Mapping[int, tuple[int, ...]],
    known: Mapping[int, Array],
    omitted: frozenset[int] = frozenset(),
) -> None:
    """Check every operation of a graph against its rules.

    shapes, known: shapes and values of operands, as far as known.

    Raises LoweringError naming the first clause that is broken.
    """
    for operation in graph.operations:
        view = OperationView(
            operation,
            version,
            [graph.operands[index] for index in operation.inputs],
            [graph.operands[index] for index in operation.outputs],
            shapes={position: shapes[i] for position, i in enumerate(operation.inputs) if i in shapes},
            values={position: known[index] for position, index in enumerate(operation.inputs) if index in known},
            omitted=frozenset(position for position, index in enumerate(operation.inputs) if index in omitted),
        )
        violations = check_operation(view)
        if violations:
            raise LoweringError(str(violations[0]))
