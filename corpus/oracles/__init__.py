"""Independent arithmetic for expected values, one file per operation, written apart from the kernels."""

from __future__ import annotations

import functools
import importlib
import keyword
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from npu_conformance.specs.neuralnetworks.enums import OperationType

if TYPE_CHECKING:
    from npu_conformance.corpus.oracles.base import ControlFlow, Oracle
    from npu_conformance.corpus.vectors import Array, Graph


_OWN: dict[str, Oracle] = {}
"""Oracles of operations of extensions in use, by name."""


def names() -> tuple[str, ...]:
    """Names of the operations that have an oracle, sorted; those of extensions in use come last."""
    stems = {path.stem.upper() for path in Path(__file__).parent.glob("*.py")}
    return (*sorted(stems.intersection(OperationType.__members__)), *_OWN)


def oracle(operation: str) -> Oracle:
    """The oracle of an operation: the function of its lower case name in the module of that name; KeyError if none."""
    return _OWN[operation] if operation in _OWN else _stored_oracle(operation)


def add_own(operation: str, own: Oracle) -> None:
    """Make the oracle of an extension's operation known."""
    _OWN[operation] = own


def remove_own(operation: str) -> None:
    """Forget the oracle of an extension's operation, where it has one."""
    _OWN.pop(operation, None)


@functools.cache
def _stored_oracle(operation: str) -> Oracle:
    found: Oracle = _function(operation)
    return found


@functools.cache
def control_flow(operation: str) -> ControlFlow:
    """The oracle of IF or WHILE."""
    found: ControlFlow = _function(operation)
    return found


def _function(operation: str) -> Any:
    if operation not in names():
        raise KeyError(f"there is no oracle for {operation}")
    name = operation.lower()
    module = importlib.import_module(f"{__name__}.{name}")
    return getattr(module, f"{name}_" if keyword.iskeyword(name) else name)


def evaluate(graph: Graph, inputs: Mapping[str, Array], referenced: Sequence[Graph] = ()) -> dict[str, Array]:
    """The graph's outputs by the oracles of its operations. KeyError where an operation has none.

    inputs: arrays by operand name. referenced: the graphs that IF and WHILE refer to. Raises ValueError where an oracle
    finds another shape than the graph declares.
    """
    from npu_conformance.corpus.oracles import base

    return base.evaluate(graph, inputs, referenced)
