"""Buffers that hold a scalar of one, two or four bytes."""

from __future__ import annotations

import functools
import struct

from npu_conformance.harness.judge import checks
from npu_conformance.harness.judge.verdicts import NotApplicable
from npu_conformance.harness.run.cases import CaseGroup, Group
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.specs.neuralnetworks.enums import OperandType
from npu_conformance.specs.neuralnetworks.hal import DeviceBuffer
from npu_conformance.specs.versions import Version
from npu_conformance.vts.lib import addition
from npu_conformance.vts.lib.addition import SIZE, A
from npu_conformance.vts.lib.memory_domains.fixture import (
    GENERAL,
    INVALID,
    NONE,
    Allocation,
    BufferFixture,
    in_each_type,
)
from npu_conformance.vts.lib.scalar_models import REALS, filling, integers, largest, padding, rank

cases = CaseGroup("vts.memory_domains.scalars", group=Group.MEMORY)
_SINCE = Version.V1_3
_SIZES = range(1, 9)
"""Bytes of memory that is copied from and to."""


@cases.case("reals", "NNHAL-MEMDOMAIN-015", "NNHAL-MEMDOMAIN-017", "NNHAL-MEMDOMAIN-022", since=_SINCE)
@in_each_type
def reals(fixture: BufferFixture) -> None:
    """A buffer holds the value with which PAD_V2 fills up, and takes no memory of another size."""
    scalar, form = _real_of(fixture)
    model, data = fixture.prepare_model(padding(fixture.chosen, scalar)), fixture.pool(fixture.chosen.packed(A))
    made, result = fixture.allocate(model, inputs=(1,)), fixture.pool(2 * SIZE)
    for value in (2.5, -0.75):
        _holds(fixture, made, struct.pack(form, value))
        fixture.succeeds(model, (data, made), (result,), f"PAD_V2 with {value} in a buffer")
        found = bytes(result.read(0, 2 * SIZE))
        fixture.chosen.check(found[:SIZE], A, "what PAD_V2 fills up")
        fixture.chosen.check(found[SIZE:], (value, value), f"what PAD_V2 fills up with {value} in a buffer")


@cases.case("integers", "NNHAL-MEMDOMAIN-015", "NNHAL-MEMDOMAIN-017", "NNHAL-MEMDOMAIN-022", since=_SINCE)
def words(context: CaseContext) -> None:
    """A buffer holds the integer of 32 bits with which FILL fills a tensor."""
    fixture = BufferFixture(context, addition.FLOAT32)
    model, result = fixture.prepare_model(filling()), fixture.pool(SIZE)
    made = fixture.allocate(model, inputs=(0,))
    for value in (0x12345678, -(1 << 31), -2):
        _holds(fixture, made, integers(value))
        fixture.succeeds(model, (made,), (result,), f"FILL with {value} in a buffer")
        checks.equal(bytes(result.read(0, SIZE)), integers(value, value), f"the bytes of two integers, {value}")


@cases.case("of_an_output", "NNHAL-MEMDOMAIN-015", "NNHAL-MEMDOMAIN-029", since=_SINCE)
def of_an_output(context: CaseContext) -> None:
    """A buffer that an execution writes, with the RANK of a tensor, is the scalar that another one reads."""
    fixture = BufferFixture(context, addition.FLOAT32)
    writer, reader = fixture.prepare_model(rank()), fixture.prepare_model(filling())
    made = fixture.allocate_as(Allocation((writer, reader), inputs=((1, 0),), outputs=((0, 0),)))
    result = fixture.pool(SIZE)
    fixture.succeeds(writer, (fixture.pool(SIZE),), (made,), "RANK into a buffer")
    checks.equal(fixture.content(made, 4), integers(3), "content of a buffer that RANK has written")
    fixture.succeeds(reader, (made,), (result,), "FILL with what RANK has written")
    checks.equal(bytes(result.read(0, SIZE)), integers(3, 3), "the bytes of two integers, the rank of a tensor")


@cases.case("truths", "NNHAL-MEMDOMAIN-015", "NNHAL-MEMDOMAIN-017", "NNHAL-MEMDOMAIN-022", since=_SINCE)
@in_each_type
def truths(fixture: BufferFixture) -> None:
    """A buffer holds whether REDUCE_MAX keeps dimensions, in one byte, and takes no memory of another size."""
    one = SIZE // fixture.elements
    model, data = fixture.prepare_model(largest(fixture.chosen)), fixture.pool(fixture.chosen.packed(A))
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
    model = fixture.prepare_model(padding(fixture.chosen, scalar))
    allocation = Allocation((model,), inputs=((0, 0), (0, 1)))
    what = "allocate for a tensor and a scalar of one type of elements"
    checks.raises_status(lambda: allocation.ask(fixture.device), {INVALID, GENERAL}, what)


@cases.case("of_two_types", "NNHAL-MEMDOMAIN-011", "NNHAL-MEMDOMAIN-002", since=_SINCE)
def of_two_types(context: CaseContext) -> None:
    """allocate is rejected for roles of scalars of different types, of one size too."""
    fixture = BufferFixture(context, addition.FLOAT32)
    integer = fixture.prepare_model(filling())
    others = {"real": padding(addition.FLOAT32, OperandType.FLOAT32), "truth": largest(addition.FLOAT32)}
    for name, model in others.items():
        with context.configuration(name):
            both = (integer, fixture.prepare_model(model))
            allocation = Allocation(both, inputs=((0, 0), (1, 1)))
            ask = functools.partial(allocation.ask, fixture.device)
            checks.raises_status(ask, {INVALID, GENERAL}, "allocate for an integer and another scalar")


def _real_of(fixture: BufferFixture) -> tuple[OperandType, str]:
    """The scalar of PAD_V2 in the type that is tested."""
    found = REALS.get(fixture.chosen.operand_type)
    if found is None:
        raise NotApplicable("the scalar of PAD_V2 is an integer beside quantised tensors")
    return found


def _holds(fixture: BufferFixture, made: DeviceBuffer, data: bytes) -> None:
    """See that a buffer takes these bytes and gives them back, and memory of no other size."""
    for size in _SIZES:
        if size != len(data):
            with checks.about("NNHAL-MEMDOMAIN-017"):
                copied = fixture.copy_from(made, bytes(size))
                checks.status(copied, {INVALID}, f"copyFrom of {size} bytes to {len(data)}")
    checks.status(fixture.copy_from(made, data), {NONE}, f"copyFrom of {len(data)} bytes to a scalar")
    for size in _SIZES:
        if size != len(data):
            with checks.about("NNHAL-MEMDOMAIN-020"):
                checks.status(fixture.copy_to(made, size), {INVALID}, f"copyTo of {len(data)} bytes to {size}")
    with checks.about("NNHAL-MEMDOMAIN-022"):
        checks.equal(fixture.content(made, len(data)), data, "content of a scalar's buffer")
