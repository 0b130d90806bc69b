"""copyTo and copyFrom: sizes, dimensions, kinds of memory, and what they do to the state of a buffer."""

from __future__ import annotations

import functools

from msgspec.structs import replace

from npu_conformance.harness.judge import checks
from npu_conformance.harness.run.cases import CaseGroup, Group
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.specs.neuralnetworks.hal import DeviceBuffer
from npu_conformance.specs.neuralnetworks.types import READ_ONLY
from npu_conformance.specs.versions import Version
from npu_conformance.vts.lib import addition
from npu_conformance.vts.lib.addition import SIZE, A, B
from npu_conformance.vts.lib.memory_domains.fixture import (
    GENERAL,
    INVALID,
    NONE,
    BufferFixture,
    Shape,
    in_each_type,
    status_of,
)

cases = CaseGroup("vts.memory_domains", group=Group.MEMORY)
_SINCE = Version.V1_3
_WRONG_SIZES = (SIZE // 2, SIZE * 2, SIZE - 1, SIZE + 1)
_KINDS = ("ashmem", "mmap_fd", "hardware_buffer_blob")


def _closed(fixture: BufferFixture) -> DeviceBuffer:
    return fixture.allocate(fixture.prepare(), inputs=(0,))


def _open(fixture: BufferFixture) -> DeviceBuffer:
    """A buffer whose only size is not known."""
    return fixture.allocate(fixture.prepare(dimensions=(0,)), inputs=(0,))


def _copy_from_ends(fixture: BufferFixture, made: DeviceBuffer, size: int, dimensions: Shape, status: int) -> None:
    found = fixture.copy_from(made, bytes(size), dimensions)
    with checks.about(*(() if dimensions or size != SIZE else ("NNHAL-MEMDOMAIN-019",))):
        checks.status(found, {status}, f"copyFrom of {size} bytes and dimensions {dimensions}")


@cases.case("copy_from.size", "NNHAL-MEMDOMAIN-017", since=_SINCE)
@in_each_type
def copy_from_size(fixture: BufferFixture) -> None:
    """copyFrom rejects memory that is not of exactly the buffer's size."""
    made = _closed(fixture)
    for size in _WRONG_SIZES:
        _copy_from_ends(fixture, made, size, (), INVALID)
        _copy_from_ends(fixture, made, size, (fixture.elements,), INVALID)
    _copy_from_ends(fixture, made, SIZE, (), NONE)


@cases.case("copy_from.size_of_open_shape", "NNHAL-MEMDOMAIN-017", since=_SINCE)
@in_each_type
def copy_from_size_of_open_shape(fixture: BufferFixture) -> None:
    """copyFrom rejects memory that is not of exactly the size that the given dimensions have."""
    made, full = _open(fixture), (fixture.elements,)
    for size in _WRONG_SIZES:
        _copy_from_ends(fixture, made, size, full, INVALID)
    _copy_from_ends(fixture, made, SIZE, full, NONE)
    _copy_from_ends(fixture, made, SIZE, (2 * fixture.elements,), INVALID)
    _copy_from_ends(fixture, made, 2 * SIZE, (2 * fixture.elements,), NONE)


@cases.case("copy_from.dimensions", "NNHAL-MEMDOMAIN-018", "NNHAL-MEMDOMAIN-019", since=_SINCE)
@in_each_type
def copy_from_dimensions(fixture: BufferFixture) -> None:
    """copyFrom rejects dimensions that contradict the buffer's, and takes none, or the same again."""
    made, count = _closed(fixture), fixture.elements
    for wrong in ((count, 1), (1, count), (2 * count,), (0,), (count, 0)):
        _copy_from_ends(fixture, made, SIZE, wrong, INVALID)
    for right in ((), (count,)):
        _copy_from_ends(fixture, made, SIZE, right, NONE)


@cases.case("copy_from.dimensions_of_open_shape", "NNHAL-MEMDOMAIN-018", "NNHAL-MEMDOMAIN-019", since=_SINCE)
@in_each_type
def copy_from_dimensions_of_open_shape(fixture: BufferFixture) -> None:
    """Where the buffer's shape is open, dimensions have to be given, all of them, and to agree with what is known."""
    made, count = _open(fixture), fixture.elements
    for wrong in ((count, 1), (0,), ()):
        _copy_from_ends(fixture, made, SIZE, wrong, INVALID)
    nothing = replace(fixture.pool().memory, size=0)
    copied = status_of(lambda: made.buffer.copy_from(nothing, (0,)))
    checks.status(copied, {INVALID, GENERAL}, "copyFrom of no bytes and dimensions (0,)")
    _copy_from_ends(fixture, made, SIZE, (count,), NONE)
    # The shape of the last copy is not the buffer's own: it has to be given again.
    _copy_from_ends(fixture, made, SIZE, (), INVALID)


@cases.case("copy_from.dimensions_of_half_open_shape", "NNHAL-MEMDOMAIN-018", since=_SINCE)
@in_each_type
def copy_from_dimensions_of_half_open_shape(fixture: BufferFixture) -> None:
    """Sizes that are known cannot be changed by those that are given."""
    made, count = fixture.allocate(fixture.prepare(dimensions=(0, 2)), inputs=(0,)), fixture.elements
    _copy_from_ends(fixture, made, SIZE, (count, 1), INVALID)
    _copy_from_ends(fixture, made, SIZE, (0, 2), INVALID)
    _copy_from_ends(fixture, made, SIZE, (count // 2, 2), NONE)


@cases.case("copy_to.uninitialised", "NNHAL-MEMDOMAIN-014", since=_SINCE)
@in_each_type
def copy_to_uninitialised(fixture: BufferFixture) -> None:
    """A fresh buffer has nothing to copy out: copyTo fails, and leaves its target as it is."""
    made, pool = _closed(fixture), fixture.pool(b"\xa5" * SIZE)
    checks.status(status_of(lambda: made.buffer.copy_to(pool.memory)), {GENERAL}, "copyTo of a fresh buffer")
    checks.equal(bytes(pool.read(0, SIZE)), b"\xa5" * SIZE, "memory after the failed copyTo")


@cases.case("copy_to.size", "NNHAL-MEMDOMAIN-020", since=_SINCE)
@in_each_type
def copy_to_size(fixture: BufferFixture) -> None:
    """copyTo rejects memory that is not of exactly the buffer's size; the content survives the rejection."""
    made = _closed(fixture)
    fixture.fill(made, A)
    for size in _WRONG_SIZES:
        checks.status(fixture.copy_to(made, size), {INVALID}, f"copyTo of {SIZE} bytes into {size}")
    fixture.holds(made, A, "content after a rejected copyTo")


@cases.case("copy_to.size_of_open_shape", "NNHAL-MEMDOMAIN-020", since=_SINCE)
@in_each_type
def copy_to_size_of_open_shape(fixture: BufferFixture) -> None:
    """The size that copyTo asks for is that of the last content, and changes with it."""
    made = _open(fixture)
    for factor in (1, 2, 1):
        data = fixture.chosen.packed(A) * factor
        copied = fixture.copy_from(made, data, (factor * fixture.elements,))
        checks.status(copied, {NONE}, f"copyFrom of {len(data)} bytes")
        for size in (len(data) // 2, len(data) * 2, len(data) - 1):
            checks.status(fixture.copy_to(made, size), {INVALID}, f"copyTo of {len(data)} bytes into {size}")
        checks.equal(fixture.content(made, len(data)), data, "content")


@cases.case("copy.unchanged", "NNHAL-MEMDOMAIN-015", "NNHAL-MEMDOMAIN-022", since=_SINCE)
@in_each_type
def unchanged(fixture: BufferFixture) -> None:
    """Data comes out as it went in, more than once; new data replaces it whole."""
    made = _closed(fixture)
    for values in (A, B, A):
        fixture.fill(made, values)
        for _ in range(2):
            with checks.about("NNHAL-MEMDOMAIN-022"):
                checks.equal(fixture.content(made), fixture.chosen.packed(values), "content after copyFrom")


@cases.case("copy.many_elements", "NNHAL-MEMDOMAIN-022", since=_SINCE)
@in_each_type
def many_elements(fixture: BufferFixture) -> None:
    """A tensor of 260 rows of 3 x 5, which no device tiles evenly, comes out in row-major order."""
    shape = (260, 3, 5)
    made = fixture.allocate(fixture.prepare(dimensions=shape), inputs=(0,))
    one = SIZE // fixture.elements
    rows = [fixture.chosen.packed((float(row % 7), -0.25 * (row % 5)))[: 2 * one] for row in range(260 * 15 // 2)]
    data = b"".join(rows)
    checks.status(fixture.copy_from(made, data), {NONE}, f"copyFrom of {shape}")
    checks.equal(fixture.content(made, len(data)), data, f"content of {shape}")


def _copies(context: CaseContext, source: str, target: str) -> None:
    """Data that is copied in from one kind of memory comes out to another."""
    fixture = BufferFixture(context, addition.supported(context))
    made, data = _closed(fixture), fixture.chosen.packed(B)
    checks.status(fixture.copy_from(made, data, kind=source), {NONE}, f"copyFrom of {source} memory")
    with checks.about("NNHAL-MEMDOMAIN-022"):
        checks.equal(fixture.content(made, kind=target), data, f"content in {target} memory")


@cases.case("copy.kinds", "NNHAL-MEMDOMAIN-021", "NNHAL-MEMDOMAIN-022", since=_SINCE)
def kinds(context: CaseContext) -> None:
    """Every kind of memory that a device has to map can be the source and the target of a copy."""
    for source in _KINDS:
        for target in _KINDS:
            with context.configuration(f"{source}.{target}"):
                _copies(context, source, target)


@cases.case("copy_from.read_only", "NNHAL-MEMDOMAIN-015", "NNHAL-MEMDOMAIN-021", since=_SINCE)
@in_each_type
def copy_from_read_only(fixture: BufferFixture) -> None:
    """Data can be copied in from a file that may only be read: copyFrom has nothing to write there."""
    made = _closed(fixture)
    for values in (A, B):
        source = fixture.pool(fixture.chosen.packed(values), "mmap_fd")
        memory = replace(source.memory, prot=READ_ONLY)
        copied = status_of(functools.partial(made.buffer.copy_from, memory, ()))
        checks.status(copied, {NONE}, "copyFrom of memory that may only be read")
        fixture.holds(made, values, "content copied from memory that may only be read")


@cases.case("copy.pixels", "NNHAL-MEMDOMAIN-016", "NNHAL-MEMDOMAIN-022", since=_SINCE)
def pixels(context: CaseContext) -> None:
    """A hardware buffer that is no BLOB may be copied or rejected: the buffer then holds its data, or nothing.

    Copies of such memory are optional (NNHAL-MEMDOMAIN-034).
    """
    fixture = BufferFixture(context, addition.supported(context))
    made = _closed(fixture)
    fixture.fill(made, A)
    copied = fixture.copy_from(made, fixture.chosen.packed(B), kind="hardware_buffer")
    if copied == NONE:
        fixture.holds(made, B, "content copied from a hardware buffer")
    else:
        checks.status(fixture.copy_to(made), {GENERAL}, "copyTo after a failed copyFrom")


@cases.case("copy_from.failed", "NNHAL-MEMDOMAIN-016", since=_SINCE)
@in_each_type
def failed(fixture: BufferFixture) -> None:
    """A failed copyFrom leaves an initialised buffer without content: it can neither be copied out nor executed on."""
    model = fixture.prepare()
    made = fixture.allocate(model, inputs=(0,))
    for size, dimensions in ((SIZE // 2, ()), (SIZE, (2 * fixture.elements,)), (SIZE, (0,))):
        fixture.fill(made, A)
        _copy_from_ends(fixture, made, size, dimensions, INVALID)
        checks.status(fixture.copy_to(made), {GENERAL}, "copyTo after a failed copyFrom")
        fixture.fails(model, (made, fixture.pool()), (fixture.pool(),), GENERAL, "execution after a failed copyFrom")
    fixture.fill(made, B)
    fixture.holds(made, B, "content after a further copyFrom")
