"""Buffers that hold a scalar of one, two or four bytes."""

from __future__ import annotations

import struct

from npu_conformance.harness.judge import checks
from npu_conformance.harness.judge.verdicts import NotApplicable
from npu_conformance.harness.run.cases import CaseGroup, Group
from npu_conformance.specs.neuralnetworks.enums import OperandType, OperationType
from npu_conformance.specs.neuralnetworks.hal import DeviceBuffer
from npu_conformance.specs.neuralnetworks.types import Model, Operation
from npu_conformance.specs.versions import Version
from npu_conformance.vts.lib.addition import SIZE, A, Addition
from npu_conformance.vts.lib.memory_domains.fixture import (
    GENERAL,
    INVALID,
    NONE,
    Allocation,
    BufferFixture,
    in_each_type,
)
from npu_conformance.vts.lib.structure_models import INPUT, OUTPUT, constant, graph, tensor

cases = CaseGroup("vts.memory_domains.scalars", group=Group.MEMORY)
_SINCE = Version.V1_3
_SIZES = range(1, 9)
"""Bytes of memory that is copied from and to."""
_REALS = {
    OperandType.TENSOR_FLOAT32: (OperandType.FLOAT32, "<f"),
    OperandType.TENSOR_FLOAT16: (OperandType.FLOAT16, "<e"),
}
"""The scalar that PAD_V2 has beside a tensor, and its form in module struct."""


@cases.case("reals", "NNHAL-MEMDOMAIN-015", "NNHAL-MEMDOMAIN-017", "NNHAL-MEMDOMAIN-022", since=_SINCE)
@in_each_type
def reals(fixture: BufferFixture) -> None:
    """A buffer holds the value with which PAD_V2 fills up, and takes no memory of another size."""
    scalar, form = _real_of(fixture)
    model, data = fixture.prepare_model(_padding(fixture.chosen, scalar)), fixture.pool(fixture.chosen.packed(A))
    made, result = fixture.allocate(model, inputs=(1,)), fixture.pool(2 * SIZE)
    for value in (2.5, -0.75):
        _holds(fixture, made, struct.pack(form, value))
        fixture.succeeds(model, (data, made), (result,), f"PAD_V2 with {value} in a buffer")
        found = bytes(result.read(0, 2 * SIZE))
        fixture.chosen.check(found[:SIZE], A, "what PAD_V2 fills up")
        fixture.chosen.check(found[SIZE:], (value, value), f"what PAD_V2 fills up with {value} in a buffer")


@cases.case("truths", "NNHAL-MEMDOMAIN-015", "NNHAL-MEMDOMAIN-017", "NNHAL-MEMDOMAIN-022", since=_SINCE)
@in_each_type
def truths(fixture: BufferFixture) -> None:
    """A buffer holds whether REDUCE_MAX keeps dimensions, in one byte, and takes no memory of another size."""
    one = SIZE // fixture.elements
    model, data = fixture.prepare_model(_largest(fixture.chosen)), fixture.pool(fixture.chosen.packed(A))
    made, result = fixture.allocate(model, inputs=(1,)), fixture.pool(one)
    _holds(fixture, made, b"\1")
    fixture.succeeds(model, (data, made), (result,), "REDUCE_MAX with a truth value in a buffer")
    expected = fixture.chosen.packed((max(A), max(A)))[:one]
    checks.equal(bytes(result.read(0, one)), expected, f"the bytes of the largest of {A}")


@cases.case("beside_a_tensor", "NNHAL-MEMDOMAIN-011", "NNHAL-MEMDOMAIN-002", since=_SINCE)
@in_each_type
def beside_a_tensor(fixture: BufferFixture) -> None:
    """allocate is rejected for roles of a tensor and of a scalar whose elements have one type."""
    scalar, _ = _real_of(fixture)
    model = fixture.prepare_model(_padding(fixture.chosen, scalar))
    allocation = Allocation((model,), inputs=((0, 0), (0, 1)))
    what = "allocate for a tensor and a scalar of one type of elements"
    checks.raises_status(lambda: allocation.ask(fixture.device), {INVALID, GENERAL}, what)


def _real_of(fixture: BufferFixture) -> tuple[OperandType, str]:
    """The scalar of PAD_V2 in the type that is tested."""
    found = _REALS.get(fixture.chosen.operand_type)
    if found is None:
        raise NotApplicable("the scalar of PAD_V2 is an integer beside quantised tensors")
    return found


def _holds(fixture: BufferFixture, made: DeviceBuffer, data: bytes) -> None:
    """See that a buffer takes these bytes and gives them back, and memory of no other size."""
    for size in _SIZES:
        if size != len(data):
            checks.status(fixture.copy_from(made, bytes(size)), {INVALID}, f"copyFrom of {size} bytes to {len(data)}")
    checks.status(fixture.copy_from(made, data), {NONE}, f"copyFrom of {len(data)} bytes to a scalar")
    for size in _SIZES:
        if size != len(data):
            checks.status(fixture.copy_to(made, size), {INVALID}, f"copyTo of {len(data)} bytes to {size}")
    checks.equal(fixture.content(made, len(data)), data, "content of a scalar's buffer")


def _padding(chosen: Addition, scalar: OperandType) -> Model:
    """PAD_V2 of a tensor: as many elements again behind it."""
    operands = [
        tensor(chosen.operand_type, (chosen.elements,), INPUT),
        constant(OperandType.TENSOR_INT32, (1, 2), 0, 8),
        tensor(scalar, (), INPUT),
        tensor(chosen.operand_type, (2 * chosen.elements,), OUTPUT),
    ]
    return Model(graph(operands, [Operation(OperationType.PAD_V2, (0, 1, 2), (3,))]), (), _integers(0, chosen.elements))


def _largest(chosen: Addition) -> Model:
    """REDUCE_MAX over the one dimension of a tensor."""
    points = {"scale": chosen.scale, "zero_point": chosen.zero_point}
    operands = [
        tensor(chosen.operand_type, (chosen.elements,), INPUT, **points),
        constant(OperandType.TENSOR_INT32, (1,), 0, 4),
        tensor(OperandType.BOOL, (), INPUT),
        tensor(chosen.operand_type, (1,), OUTPUT, **points),
    ]
    return Model(graph(operands, [Operation(OperationType.REDUCE_MAX, (0, 1, 2), (3,))]), (), _integers(0))


def _integers(*numbers: int) -> bytes:
    return struct.pack(f"<{len(numbers)}i", *numbers)
