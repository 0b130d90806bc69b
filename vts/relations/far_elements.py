"""Tensors of more elements than 16 bits can count, for cheap operations: what lies behind is what it is alone."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from npu_conformance.specs.neuralnetworks.enums import OperandType
from npu_conformance.vts.lib.relations.declare import Check, RelationGroup
from npu_conformance.vts.lib.relations.fixture import RelationFixture
from npu_conformance.vts.lib.relations.nets import BOOL8, BYTES, FLOAT32, INT32, UNSIGNED, Net, Tensor, like

if TYPE_CHECKING:
    from npu_conformance.corpus.vectors import Array

Build = Callable[[str, Net, Sequence[str]], str]
"""Adds an operation to a net, for these inputs; returns the name of the output that is looked at."""

cases = RelationGroup()
_MOST = (FLOAT32, UNSIGNED)
_ROWS, _COLUMNS, _LAST = 8, 10_004, 60
"""The last columns are computed alone, too."""


def _far(operation: str, build: Build, inputs: Sequence[OperandType | None]) -> Check:
    """inputs: their types, None for that of the relation."""

    def check(fixture: RelationFixture) -> None:
        """What lies behind the 65,536th element is what it is in a tensor of its own."""
        given = [fixture.tensor(_ROWS, _COLUMNS, operand_type=kind, low=-7.0, high=7.0) for kind in inputs]

        def run(tensors: Sequence[Tensor]) -> tuple[Array, OperandType]:
            net = fixture.net()
            name = build(operation, net, [net.input(one) for one in tensors])
            return fixture.run(net, name)[0], OperandType(net.operand(name).type)

        whole, kind = run(given)
        alone, _ = run([one.of(one.array[:, -_LAST:]) for one in given])
        fixture.agree("last columns", [whole[..., -_LAST:], alone], roundings=2, operand_type=kind)

    return check


def _giving(kind: OperandType | None = None) -> Build:
    """The operation on the inputs alone. kind: the type of its result, None for that of the relation."""
    return lambda operation, net, names: net.apply(
        operation, *names, result=like(net.operand_type if kind is None else kind)
    )


def _joined(operation: str, net: Net, names: Sequence[str]) -> str:
    return net.apply(operation, *names, 0)


def _packed(operation: str, net: Net, names: Sequence[str]) -> str:
    return net.apply(operation, 0, *names, result=like(net.operand_type))


def _second_half(operation: str, net: Net, names: Sequence[str]) -> str:
    return net.results(operation, [*names, 0, 2], [like(net.operand_type)] * 2)[1]


def _padded(operation: str, net: Net, names: Sequence[str]) -> str:
    value = 1 if net.operand_type in BYTES else 1.0
    return net.apply(operation, *names, [(1, 0), (0, 0)], value)


def _backwards(operation: str, net: Net, names: Sequence[str]) -> str:
    return net.apply(operation, *names, (-1, 0), (0, net.shape(names[0])[1]), (-1, 1), 0, 1, 0)


for _operation in ("GREATER", "GREATER_EQUAL", "LESS", "LESS_EQUAL"):
    cases.relation("far_elements", _operation, _MOST)(_far(_operation, _giving(BOOL8), (None, None)))
for _operation, _types, _build, _inputs in (
    ("CAST", _MOST, _giving(INT32), (None,)),
    ("CONCATENATION", _MOST, _joined, (None, None)),
    ("DEQUANTIZE", BYTES, _giving(FLOAT32), (None,)),
    ("LOGICAL_OR", (BOOL8,), _giving(), (None, None)),
    ("NOT_EQUAL", (BOOL8,), _giving(BOOL8), (None, None)),
    ("PACK", _MOST, _packed, (None, None)),
    ("PAD_V2", (FLOAT32, *BYTES), _padded, (None,)),
    ("QUANTIZE", (FLOAT32,), _giving(UNSIGNED), (None,)),
    ("SELECT", _MOST, _giving(), (BOOL8, None, None)),
    ("SPLIT", _MOST, _second_half, (None,)),
    ("STRIDED_SLICE", _MOST, _backwards, (None,)),
):
    cases.relation("far_elements", _operation, _types)(_far(_operation, _build, _inputs))
