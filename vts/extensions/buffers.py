"""Buffers of the driver that hold tensors of an extension's types."""

from __future__ import annotations

import functools
import struct
from collections.abc import Sequence

from npu_conformance.harness.judge import checks
from npu_conformance.harness.run.cases import CaseGroup
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.harness.run.executing.executors import naming_buffers
from npu_conformance.specs.neuralnetworks.hal import DeviceBuffer, PreparedModel
from npu_conformance.specs.versions import Version
from npu_conformance.vts.lib import addition
from npu_conformance.vts.lib.extensions import models
from npu_conformance.vts.lib.memory_domains.fixture import GENERAL, INVALID, NONE, Allocation, Argument, BufferFixture

cases = CaseGroup("vts.extensions.buffers")

_PREFIX, _LENGTH = 3, 79


@cases.case("contents", "NNHAL-MEMDOMAIN-022", "NNHAL-EXTENSION-006", since=Version.V1_3)
def contents(context: CaseContext) -> None:
    """Numbers that one model writes into a buffer, in each way, are copied out in full, and read by another model."""
    models.need(context, models.FIBONACCI)
    writer = models.prepared(context, models.fibonacci(_PREFIX, _LENGTH))
    reader = models.prepared(context, models.dequantize(_PREFIX, _LENGTH))
    expected = models.packed_numbers(models.stored(_LENGTH))
    for executor in naming_buffers(context.version):
        with context.configuration(executor):
            fixture = BufferFixture(context, addition.FLOAT32, executor)
            made = fixture.allocate_as(Allocation((writer, reader), inputs=((1, 0),), outputs=((0, 0),)))
            count = fixture.pool(models.packed_count(_LENGTH))
            fixture.succeeds(writer, (count,), (made,), f"{executor} execution of FIBONACCI into a buffer")
            checks.equal(fixture.content(made, len(expected)).hex(), expected.hex(), "bytes of a buffer of numbers")
            _reads(fixture, reader, made, models.stored(_LENGTH))


@cases.case("open_lengths", "NNHAL-MEMDOMAIN-015", "NNHAL-MEMDOMAIN-029", "NNHAL-EXTENSION-012", since=Version.V1_3)
def open_lengths(context: CaseContext) -> None:
    """A buffer of any length holds as many numbers as were copied into it last."""
    models.need(context, models.FIBONACCI)
    fixture = BufferFixture(context, addition.FLOAT32)
    reader = models.prepared(context, models.dequantize(_PREFIX, 0))
    made = fixture.allocate(reader, inputs=(0,))
    for length in (3, 9, 1, 3):
        numbers = [models.ZERO_POINT + number for number in range(length)]
        copied = fixture.copy_from(made, models.packed_numbers(numbers), (length,))
        checks.status(copied, {NONE}, f"copyFrom of {length} numbers")
        _reads(fixture, reader, made, numbers)


@cases.case("open_outputs", "NNHAL-MEMDOMAIN-033", "NNHAL-EXTENSION-012", since=Version.V1_3)
def open_outputs(context: CaseContext) -> None:
    """A buffer of any length holds as many numbers as an execution wrote last."""
    models.need(context, models.FIBONACCI)
    fixture = BufferFixture(context, addition.FLOAT32)
    writer = models.prepared(context, models.fibonacci(_PREFIX, 0))
    made = fixture.allocate(writer, outputs=(0,))
    for length in (3, 9, 2):
        count, expected = fixture.pool(models.packed_count(length)), models.packed_numbers(models.stored(length))
        fixture.succeeds(writer, (count,), (made,), f"FIBONACCI of {length} numbers into a buffer of any length")
        checks.equal(fixture.content(made, len(expected)).hex(), expected.hex(), f"bytes of {length} numbers")


def _reads(fixture: BufferFixture, reader: PreparedModel, made: DeviceBuffer, numbers: Sequence[int]) -> None:
    """See that a model reads these numbers from a buffer."""
    real = struct.pack(f"<{len(numbers)}f", *(models.SCALE * (number - models.ZERO_POINT) for number in numbers))
    result = fixture.pool(len(real))
    taken = Argument(result, (len(numbers),))
    what = f"{fixture.executor} execution of FIBONACCI_DEQUANTIZE from a buffer of {len(numbers)} numbers"
    fixture.succeeds(reader, (Argument(made, (len(numbers),)),), (taken,), what)
    checks.equal(bytes(result.read(0, len(real))).hex(), real.hex(), "bytes of the numbers in float32")


@cases.case("roles_of_other_data", "NNHAL-MEMDOMAIN-011", "NNHAL-EXTENSION-013", since=Version.V1_3)
def roles_of_other_data(context: CaseContext) -> None:
    """allocate is rejected for roles of tensors that differ in their extension data, be it by one byte."""
    models.need(context, models.FIBONACCI)
    fixture, first = BufferFixture(context, addition.FLOAT32), models.dequantize(_PREFIX, _LENGTH)
    for scale, zero_point in ((1.0, models.ZERO_POINT), (models.SCALE, models.ZERO_POINT + (1 << 24))):
        parameters = struct.pack("<dq", scale, zero_point)
        both = (first, models.dequantize(_PREFIX, _LENGTH, parameters))
        allocation = Allocation(tuple(models.prepared(context, one) for one in both), inputs=((0, 0), (1, 0)))
        what = f"allocate for numbers whose data is {parameters.hex()}, and {models.PARAMETERS.hex()}"
        checks.raises_status(functools.partial(allocation.ask, fixture.device), {INVALID, GENERAL}, what)
