"""copyTo and copyFrom: sizes, dimensions, kinds of memory, and what they do to the state of a buffer."""

from __future__ import annotations

from msgspec.structs import replace

from npu_conformance.harness.judge import checks
from npu_conformance.harness.run.cases import CaseGroup, Group
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.specs.neuralnetworks.hal import DeviceBuffer
from npu_conformance.specs.versions import Version
from npu_conformance.vts.lib import addition
from npu_conformance.vts.lib.addition import SIZE, A, B
from npu_conformance.vts.lib.memory_domains.fixture import GENERAL, INVALID, NONE, Bench, Shape, in_each_type, status_of

cases = CaseGroup("vts.memory_domains", group=Group.MEMORY)
_SINCE = Version.V1_3
_WRONG_SIZES = (SIZE // 2, SIZE * 2, SIZE - 1, SIZE + 1)
_KINDS = ("ashmem", "mmap_fd", "hardware_buffer_blob")


def _closed(bench: Bench) -> DeviceBuffer:
    return bench.allocate(bench.prepare(), inputs=(0,))


def _open(bench: Bench) -> DeviceBuffer:
    """A buffer whose only size is not known."""
    return bench.allocate(bench.prepare(dimensions=(0,)), inputs=(0,))


def _copy_from_ends(bench: Bench, made: DeviceBuffer, size: int, dimensions: Shape, status: int) -> None:
    found = bench.copy_from(made, bytes(size), dimensions)
    checks.status(found, {status}, f"copyFrom of {size} bytes and dimensions {dimensions}")


@cases.case("copy_from.size", "NNHAL-MEMDOMAIN-017", since=_SINCE)
@in_each_type
def copy_from_size(bench: Bench) -> None:
    """Memory that is not of exactly the buffer's size."""
    made = _closed(bench)
    for size in _WRONG_SIZES:
        _copy_from_ends(bench, made, size, (), INVALID)
        _copy_from_ends(bench, made, size, (bench.elements,), INVALID)
    _copy_from_ends(bench, made, SIZE, (), NONE)


@cases.case("copy_from.size_of_open_shape", "NNHAL-MEMDOMAIN-017", since=_SINCE)
@in_each_type
def copy_from_size_of_open_shape(bench: Bench) -> None:
    """Memory that is not of exactly the size that the given dimensions have."""
    made, full = _open(bench), (bench.elements,)
    for size in _WRONG_SIZES:
        _copy_from_ends(bench, made, size, full, INVALID)
    _copy_from_ends(bench, made, SIZE, full, NONE)
    _copy_from_ends(bench, made, SIZE, (2 * bench.elements,), INVALID)
    _copy_from_ends(bench, made, 2 * SIZE, (2 * bench.elements,), NONE)


@cases.case("copy_from.dimensions", "NNHAL-MEMDOMAIN-018", "NNHAL-MEMDOMAIN-019", since=_SINCE)
@in_each_type
def copy_from_dimensions(bench: Bench) -> None:
    """Dimensions that contradict the buffer's; none, or the same again, are right."""
    made, count = _closed(bench), bench.elements
    for wrong in ((count, 1), (1, count), (2 * count,), (0,), (count, 0)):
        _copy_from_ends(bench, made, SIZE, wrong, INVALID)
    for right in ((), (count,)):
        _copy_from_ends(bench, made, SIZE, right, NONE)


@cases.case("copy_from.dimensions_of_open_shape", "NNHAL-MEMDOMAIN-018", "NNHAL-MEMDOMAIN-019", since=_SINCE)
@in_each_type
def copy_from_dimensions_of_open_shape(bench: Bench) -> None:
    """Where the buffer's shape is open, dimensions have to be given, all of them, and to agree with what is known."""
    made, count = _open(bench), bench.elements
    for wrong in ((count, 1), (0,), ()):
        _copy_from_ends(bench, made, SIZE, wrong, INVALID)
    nothing = replace(bench.pool().memory, size=0)
    copied = status_of(lambda: made.buffer.copy_from(nothing, (0,)))
    checks.status(copied, {INVALID, GENERAL}, "copyFrom of no bytes and dimensions (0,)")
    _copy_from_ends(bench, made, SIZE, (count,), NONE)
    # The shape of the last copy is not the buffer's own: it has to be given again.
    _copy_from_ends(bench, made, SIZE, (), INVALID)


@cases.case("copy_from.dimensions_of_half_open_shape", "NNHAL-MEMDOMAIN-018", since=_SINCE)
@in_each_type
def copy_from_dimensions_of_half_open_shape(bench: Bench) -> None:
    """Sizes that are known can not be changed by those that are given."""
    made, count = bench.allocate(bench.prepare(dimensions=(0, 2)), inputs=(0,)), bench.elements
    _copy_from_ends(bench, made, SIZE, (count, 1), INVALID)
    _copy_from_ends(bench, made, SIZE, (0, 2), INVALID)
    _copy_from_ends(bench, made, SIZE, (count // 2, 2), NONE)


@cases.case("copy_to.uninitialised", "NNHAL-MEMDOMAIN-014", since=_SINCE)
@in_each_type
def copy_to_uninitialised(bench: Bench) -> None:
    """A fresh buffer has nothing to copy out, and what it would be copied to is left alone."""
    made, pool = _closed(bench), bench.pool(b"\xa5" * SIZE)
    checks.status(status_of(lambda: made.buffer.copy_to(pool.memory)), {GENERAL}, "copyTo of a fresh buffer")
    checks.equal(bytes(pool.read(0, SIZE)), b"\xa5" * SIZE, "memory after the failed copyTo")


@cases.case("copy_to.size", "NNHAL-MEMDOMAIN-020", since=_SINCE)
@in_each_type
def copy_to_size(bench: Bench) -> None:
    """Memory that is not of exactly the buffer's size; the content survives the refusal."""
    made = _closed(bench)
    bench.fill(made, A)
    for size in _WRONG_SIZES:
        checks.status(bench.copy_to(made, size), {INVALID}, f"copyTo of {SIZE} bytes into {size}")
    bench.holds(made, A, "content after a refused copyTo")


@cases.case("copy_to.size_of_open_shape", "NNHAL-MEMDOMAIN-020", since=_SINCE)
@in_each_type
def copy_to_size_of_open_shape(bench: Bench) -> None:
    """The size is that of the last content: it changes with it."""
    made = _open(bench)
    for factor in (1, 2, 1):
        data = bench.chosen.packed(A) * factor
        copied = bench.copy_from(made, data, (factor * bench.elements,))
        checks.status(copied, {NONE}, f"copyFrom of {len(data)} bytes")
        for size in (len(data) // 2, len(data) * 2, len(data) - 1):
            checks.status(bench.copy_to(made, size), {INVALID}, f"copyTo of {len(data)} bytes into {size}")
        checks.equal(bench.content(made, len(data)), data, "content")


@cases.case("copy.unchanged", "NNHAL-MEMDOMAIN-015", "NNHAL-MEMDOMAIN-022", since=_SINCE)
@in_each_type
def unchanged(bench: Bench) -> None:
    """Data comes out as it went in, more than once; new data replaces it whole."""
    made = _closed(bench)
    for values in (A, B, A):
        bench.fill(made, values)
        for _ in range(2):
            checks.equal(bench.content(made), bench.chosen.packed(values), "content after copyFrom")


@cases.case("copy.many_elements", "NNHAL-MEMDOMAIN-022", since=_SINCE)
@in_each_type
def many_elements(bench: Bench) -> None:
    """A tensor of 260 rows of 3 x 5, in row-major order: no device tiles it evenly."""
    shape = (260, 3, 5)
    made = bench.allocate(bench.prepare(dimensions=shape), inputs=(0,))
    one = SIZE // bench.elements
    rows = [bench.chosen.packed((float(row % 7), -0.25 * (row % 5)))[: 2 * one] for row in range(260 * 15 // 2)]
    data = b"".join(rows)
    checks.status(bench.copy_from(made, data), {NONE}, f"copyFrom of {shape}")
    checks.equal(bench.content(made, len(data)), data, f"content of {shape}")


def _copies(context: CaseContext, source: str, target: str) -> None:
    """What is copied in from one kind of memory comes out to another."""
    bench = Bench(context, addition.supported(context))
    made, data = _closed(bench), bench.chosen.packed(B)
    checks.status(bench.copy_from(made, data, kind=source), {NONE}, f"copyFrom of {source} memory")
    checks.equal(bench.content(made, kind=target), data, f"content in {target} memory")


@cases.case("copy.kinds", "NNHAL-MEMDOMAIN-021", "NNHAL-MEMDOMAIN-022", since=_SINCE)
def kinds(context: CaseContext) -> None:
    """Every kind of memory that has to be mapped, as source and as target."""
    for source in _KINDS:
        for target in _KINDS:
            with context.configuration(f"{source}.{target}"):
                _copies(context, source, target)


@cases.case("copy.pixels", "NNHAL-MEMDOMAIN-016", "NNHAL-MEMDOMAIN-022", since=_SINCE)
def pixels(context: CaseContext) -> None:
    """A hardware buffer that is no BLOB may be copied or refused: the buffer then holds its data, or nothing.

    Copies of such memory are optional (NNHAL-MEMDOMAIN-034).
    """
    bench = Bench(context, addition.supported(context))
    made = _closed(bench)
    bench.fill(made, A)
    copied = bench.copy_from(made, bench.chosen.packed(B), kind="hardware_buffer")
    if copied == NONE:
        bench.holds(made, B, "content copied from a hardware buffer")
    else:
        checks.status(bench.copy_to(made), {GENERAL}, "copyTo after a failed copyFrom")


@cases.case("copy_from.failed", "NNHAL-MEMDOMAIN-016", since=_SINCE)
@in_each_type
def failed(bench: Bench) -> None:
    """A failed copyFrom leaves an initialised buffer without content: it can neither be copied out nor executed on."""
    model = bench.prepare()
    made = bench.allocate(model, inputs=(0,))
    for size, dimensions in ((SIZE // 2, ()), (SIZE, (2 * bench.elements,)), (SIZE, (0,))):
        bench.fill(made, A)
        _copy_from_ends(bench, made, size, dimensions, INVALID)
        checks.status(bench.copy_to(made), {GENERAL}, "copyTo after a failed copyFrom")
        bench.fails(model, (made, bench.pool()), (bench.pool(),), GENERAL, "execution after a failed copyFrom")
    bench.fill(made, B)
    bench.holds(made, B, "content after a further copyFrom")
