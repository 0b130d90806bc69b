"""Extension data: raw bytes of any length, which a driver gets as the client wrote them (NNHAL-EXTENSION-013)."""

from __future__ import annotations

import struct

from npu_conformance.harness.judge import checks
from npu_conformance.harness.run.cases import CaseGroup
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.harness.run.executing.burst import Burst
from npu_conformance.specs.neuralnetworks.enums import ErrorStatus
from npu_conformance.specs.versions import Version
from npu_conformance.vts.lib.extensions import models
from npu_conformance.vts.lib.extensions.restoring import restores

cases = CaseGroup("vts.extensions.data")

_PREFIX = 2
_LENGTHS = (0, 1, 2, 3, 4, 7, 64, 255, 256, 4095, 4096, 4097, 65536)
_CONTENTS = {
    "one_zero": b"\0",
    "all_zero": bytes(16),
    "zero_in_the_middle": b"ab\0cd",
    "zero_first": b"\0abc",
    "zeros_last": b"abc\0\0\0",
    "every_byte": bytes(range(256)),
    "all_ones": b"\xff" * 9,
    "text": b'{"a": "\xc3\xa4"}\r\n ',
    "spaces": b"  \t\n  ",
    "base64": b"AAAA====",
    "not_utf8": b"\xc3\x28\xf0\x9f",
}


@cases.case("lengths", "NNHAL-EXTENSION-013", since=Version.V1_2)
def lengths(context: CaseContext) -> None:
    """Data of 0 bytes to 64 KiB arrives in full."""
    models.need(context, models.ECHO)
    for length in _LENGTHS:
        with context.configuration(f"bytes_{length}"):
            _arrives(context, _of_length(length))


@cases.case("contents", "NNHAL-EXTENSION-013", since=Version.V1_2)
def contents(context: CaseContext) -> None:
    """Bytes mean nothing on the way: zeros, text and other bytes arrive unchanged."""
    models.need(context, models.ECHO)
    for name, content in _CONTENTS.items():
        with context.configuration(name):
            _arrives(context, content)


@cases.case("of_each_operand", "NNHAL-EXTENSION-013", since=Version.V1_2)
def of_each_operand(context: CaseContext) -> None:
    """Data belongs to its operand: models that differ in nothing else compute different results, side by side."""
    models.need(context, models.FIBONACCI)
    length = 9
    parameters = [(1.0, 0), (2.0, 7), (0.5, -1000), (1.0, (1 << 31) - 1), (1.0, -(1 << 31))]
    made = [(one, models.prepared(context, models.fibonacci(_PREFIX, length, _packed(*one)))) for one in parameters]
    for (scale, zero_point), prepared_model in made:
        expected = [models.packed_numbers(models.stored(length, scale, zero_point))]
        what = f"numbers with scale {scale} and zero point {zero_point}"
        models.computes(context, prepared_model, [models.packed_count(length)], expected, what)


@cases.case("nearly_alike", "NNHAL-EXTENSION-013", since=Version.V1_2)
def nearly_alike(context: CaseContext) -> None:
    """Models whose data is of one length and differs in one byte, an early or a late one, work side by side."""
    models.need(context, models.ECHO)
    contents = [_of_length(200)]
    for place in (0, 7, 8, 63, 64, 127, 128, 199):
        changed = bytearray(contents[0])
        changed[place] ^= 0x55
        contents.append(bytes(changed))
    made = [(content, models.prepared(context, models.echo(_PREFIX, content))) for content in contents]
    for number, (content, prepared_model) in enumerate(made):
        expected = [models.packed_echo(content)]
        models.computes(context, prepared_model, [b"\1\2"], expected, f"length and CRC-32 of data {number}")


@cases.case("values", "NNHAL-EXTENSION-001", "NNHAL-EXTENSION-006", since=Version.V1_2)
def values(context: CaseContext) -> None:
    """Scalars and tensors of an extension's types are read and written in full, up to the largest count."""
    models.need(context, models.FIBONACCI)
    for length in (1, 2, 3, 40, 79):
        with context.configuration(f"count_{length}"):
            prepared_model = models.prepared(context, models.fibonacci(_PREFIX, length, _packed(1.0, -5)))
            expected = [models.packed_numbers(models.stored(length, 1.0, -5))]
            models.computes(context, prepared_model, [models.packed_count(length)], expected, f"{length} numbers")


@cases.case("restored", "NNHAL-EXTENSION-013", "NNHAL-CACHE-010", since=Version.V1_2)
def restored(context: CaseContext) -> None:
    """Data of 0 bytes to 64 KiB comes back from a compilation cache in full."""
    models.need(context, models.ECHO)
    for length in _LENGTHS:
        with context.configuration(f"bytes_{length}"):
            content, other = _of_length(length), models.echo(_PREFIX, b"of another model")
            restores(context, models.echo(_PREFIX, content), other, [b"\1\2"], [models.packed_echo(content)])


@cases.case("restored_beside_constants", "NNHAL-EXTENSION-013", "NNHAL-CACHE-010", since=Version.V1_2)
def restored_beside_constants(context: CaseContext) -> None:
    """A model of an extension comes back from a cache with its constants, in two pools of one size."""
    models.need(context, models.FIBONACCI)
    factors, summands = (2.0, 0.5, -1.0), (16.0, -4.0, 1.0)
    pools = [context.filled_pool(struct.pack("<3f", *values)) for values in (factors, summands)]
    numbers = models.sequence(3)
    results = [number * one + other for number, one, other in zip(numbers, factors, summands, strict=True)]
    expected = [struct.pack("<3f", *results)]
    model = models.dequantized_and_scaled(_PREFIX, 3, _packed(1.0, 0), pools)
    restores(context, model, models.dequantize(_PREFIX, 3), [models.packed_numbers(numbers)], expected)


@cases.case("shapes_of_requests", "NNHAL-EXTENSION-012", "NNHAL-PREPARE-014", since=Version.V1_2)
def shapes_of_requests(context: CaseContext) -> None:
    """The length of a tensor of an extension's type comes with each request of one model."""
    models.need(context, models.FIBONACCI)
    prepared_model = models.prepared(context, models.dequantize(_PREFIX, 0, _packed(1.0, 0)))
    burst = Burst(context, prepared_model)
    for turn, length in enumerate((3, 9, 1, 3)):
        for way in ("usual", "burst"):
            numbers = models.sequence(length)
            memory = models.RequestMemory(context, [models.packed_numbers(numbers)], [4 * length], dimensions=(length,))
            if way == "usual":
                models.executed(context, prepared_model, memory)
            else:
                execution = burst.execute(memory.request, (2 * turn, 2 * turn + 1))
                checks.status(execution.status, {ErrorStatus.NONE}, "execution in a burst")
            expected = struct.pack(f"<{length}f", *numbers)
            checks.equal(memory.outputs()[0].hex(), expected.hex(), f"bytes of {length} numbers in float32, {way}")


def _packed(scale: float, zero_point: int) -> bytes:
    return struct.pack("<dq", scale, zero_point)


def _of_length(length: int) -> bytes:
    return bytes((7 * index + index // 256) % 255 + 1 for index in range(length))


def _arrives(context: CaseContext, content: bytes) -> None:
    prepared_model = models.prepared(context, models.echo(_PREFIX, content))
    expected = [models.packed_echo(content)]
    models.computes(context, prepared_model, [b"\1\2"], expected, f"length and CRC-32 of {len(content)} bytes")
