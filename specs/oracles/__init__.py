"""Independent arithmetic for expected values, one file per operation, written apart from the kernels."""

from __future__ import annotations

import functools
import importlib
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from npu_conformance.specs.neuralnetworks.enums import OperationType

if TYPE_CHECKING:
    from npu_conformance.specs.oracles.base import Oracle
    from npu_conformance.specs.vectors import Array, Graph


def names() -> tuple[str, ...]:
    """Names of the operations that have an oracle, sorted."""
    stems = {path.stem.upper() for path in Path(__file__).parent.glob("*.py")}
    return tuple(sorted(stems.intersection(OperationType.__members__)))


@functools.cache
def oracle(operation: str) -> Oracle:
    """The oracle of an operation: the function of its lower case name in the module of that name; KeyError if none."""
    if operation not in names():
        raise KeyError(f"there is no oracle for {operation}")
    module = importlib.import_module(f"{__name__}.{operation.lower()}")
    found: Oracle = getattr(module, operation.lower())
    return found


def evaluate(graph: Graph, inputs: Mapping[str, Array]) -> dict[str, Array]:
    """The graph's outputs by the oracles of its operations. KeyError where an operation has none.

    inputs: arrays by operand name. Raises ValueError where an oracle finds another shape than the graph declares.
    """
    from npu_conformance.specs.oracles import base

    return base.evaluate(graph, inputs)
