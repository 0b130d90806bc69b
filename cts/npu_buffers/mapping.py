"""Mapping: who may reach which bytes, and until when."""

from __future__ import annotations

from functools import partial

from npu_conformance.cts.lib.buffer_fixture import (
    LARGEST_PAGE,
    PAGE,
    READ_WRITE,
    BufferApp,
    errno_raised,
    is_rejected,
    pattern,
)
from npu_conformance.harness.judge import checks
from npu_conformance.harness.judge.verdicts import NotApplicable
from npu_conformance.harness.run.cases import CaseGroup, Scope
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.specs.npu.buffers import Protection

cases = CaseGroup("cts.npu_buffers.mapping", interface="manager")

_MANY = 1100
_CAPS = (Protection.NONE, Protection.READ, Protection.WRITE, READ_WRITE)


@cases.case("write_and_read", "NPU-BUF-006", scope=Scope.SMOKE)
def write_and_read(context: CaseContext) -> None:
    """What is written through one mapping is read through the next, byte by byte."""
    app = BufferApp(context).supported()
    buffer = app.allocated(app.request(1, 3 * PAGE))
    app.fill(buffer, pattern(5, 3 * PAGE))
    checks.equal(app.content(buffer, 3 * PAGE), pattern(5, 3 * PAGE), "content")


@cases.case("two_mappings_are_one_memory", "NPU-BUF-006")
def two_mappings_are_one_memory(context: CaseContext) -> None:
    """Two mappings at a time show the same bytes, each from its own offset."""
    app = BufferApp(context).supported()
    half, content = LARGEST_PAGE, pattern(8, 2 * LARGEST_PAGE)
    buffer = app.allocated(app.request(1, 2 * half))
    whole, second = buffer.map(2 * half, READ_WRITE, 0), buffer.map(half, Protection.READ, half)
    app.open(whole).write(0, content)
    checks.equal(app.open(second).read(0, half), content[half:], "second half through the other mapping")
    buffer.unmap(whole.token)
    checks.equal(app.open(second).read(0, half), content[half:], "the same after unmapping the first")
    buffer.unmap(second.token)


@cases.case("many_mappings", "NPU-BUF-006")
def many_mappings(context: CaseContext) -> None:
    """Each of many mappings of one buffer shows its bytes until it is unmapped itself, in whatever order.

    NotApplicable, behind what is seen of those that there are, where a buffer cannot have so many.
    """
    app = BufferApp(context).supported()
    buffer = app.allocated(app.request(1))
    app.fill(buffer, pattern(3, PAGE))
    mapped = app.mapped(buffer, _MANY)
    for memory in [*mapped[1::2], *mapped[::2]]:
        what = f"content through one of {len(mapped)} mappings"
        found = checks.succeeds(partial(app.read, memory, PAGE), what)
        checks.equal(found, pattern(3, PAGE), what)
        checks.succeeds(partial(buffer.unmap, memory.token), "unmap")
    if len(mapped) < _MANY:
        raise NotApplicable(f"a buffer has {len(mapped)} mappings at most")


@cases.case("within_protection", "NPU-BUF-006")
def within_protection(context: CaseContext) -> None:
    """A mapping may ask for any part of the protection of the request."""
    app = BufferApp(context).supported()
    for cap in _supported_caps(app):
        buffer = app.allocated(app.request(int(cap), protection=cap))
        for asked in (one for one in _CAPS if one & ~cap == 0):
            what = f"map with protection {int(asked)} of a buffer with {int(cap)}"
            memory = checks.succeeds(partial(buffer.map, PAGE, asked, 0), what)
            buffer.unmap(memory.token)
        app.free(int(cap))


@cases.case("beyond_protection", "NPU-BUF-006")
def beyond_protection(context: CaseContext) -> None:
    """A mapping that asks for more than the protection of the request fails, and the buffer stays usable."""
    app = BufferApp(context).supported()
    for cap in _supported_caps(app):
        buffer = app.allocated(app.request(int(cap), protection=cap))
        for asked in (one for one in (*_CAPS, Protection.EXEC) if one & ~cap):
            rejected = is_rejected(partial(buffer.map, PAGE, asked, 0))
            what = f"map with protection {int(asked)} of a buffer with {int(cap)}"
            checks.that(rejected, f"{what}: expected a rejection, found success")
        memory = checks.succeeds(partial(buffer.map, PAGE, cap, 0), "map within the protection")
        buffer.unmap(memory.token)
        app.free(int(cap))


def _supported_caps(app: BufferApp) -> list[Protection]:
    """The protections of buffers that the manager supports: some have none for writers alone (NPU-BUF-008)."""
    return [cap for cap in _CAPS if app.supports(app.request(int(cap), protection=cap))]


@cases.case("read_only_mapping", "NPU-BUF-006")
def read_only_mapping(context: CaseContext) -> None:
    """A mapping for reading lets nobody write, also where the buffer's protection would."""
    app = BufferApp(context).supported()
    buffer = app.allocated(app.request(1))
    app.fill(buffer, pattern(2, PAGE))
    memory = buffer.map(PAGE, Protection.READ, 0)
    rejected = is_rejected(lambda: app.open(memory).write(0, bytes(16)))
    checks.that(rejected, "writing through a mapping for reading: expected a rejection, found success")
    checks.equal(app.read(memory, PAGE), pattern(2, PAGE), "content")


@cases.case("unmap", "NPU-BUF-006")
def unmap(context: CaseContext) -> None:
    """After its unmapping a mapping reaches nothing. Unmapping it again fails, or succeeds as by munmap: nothing ends.

    Neither an older mapping of the buffer ends by that nor a newer one.
    """
    app = BufferApp(context).supported()
    buffer = app.allocated(app.request(1))
    app.fill(buffer, pattern(4, PAGE))
    older, memory, newer = (buffer.map(PAGE, Protection.READ, 0) for _ in range(3))
    checks.succeeds(lambda: buffer.unmap(memory.token), "unmap")
    gone = is_rejected(lambda: app.read(memory, PAGE))
    checks.that(gone, "reading through an unmapped mapping: expected a rejection, found success")
    errno_raised(lambda: buffer.unmap(memory.token))
    for other in (older, newer):
        what = "another mapping, behind a second unmap"
        checks.equal(checks.succeeds(partial(app.read, other, PAGE), what), pattern(4, PAGE), what)
        checks.succeeds(partial(buffer.unmap, other.token), "unmap")
    checks.equal(app.content(buffer, PAGE), pattern(4, PAGE), "content behind a second unmap")


@cases.case("mapping_of_another_buffer", "NPU-BUF-006", "NPU-BUF-009")
def mapping_of_another_buffer(context: CaseContext) -> None:
    """A mapping is ended by its own buffer alone: through another one, be it another app's or freed, nothing ends.

    The call may fail, or succeed as munmap does where nothing is mapped.
    """
    app, other = BufferApp(context).supported(), BufferApp(context, 10_202).supported()
    own, second, freed = (app.allocated(app.request(identifier)) for identifier in range(3))
    foreign = other.allocated(other.request(1))
    app.free(2)
    app.fill(own, pattern(6, PAGE))
    memory = own.map(PAGE, Protection.READ, 0)
    mapped = [(app, second.map(PAGE, Protection.READ, 0)), (other, foreign.map(PAGE, Protection.READ, 0))]
    for buffer, name in ((second, "a second buffer"), (foreign, "another app's buffer"), (freed, "a freed buffer")):
        errno_raised(partial(buffer.unmap, memory.token))
        what = f"the mapping behind an unmap of it through {name}"
        checks.equal(checks.succeeds(partial(app.read, memory, PAGE), what), pattern(6, PAGE), what)
        for client, theirs in mapped:
            checks.succeeds(partial(client.read, theirs, PAGE), f"the other buffers' mappings behind {what}")
    checks.succeeds(partial(own.unmap, memory.token), "unmap through its own buffer")


@cases.case("empty_range", "NPU-BUF-006")
def empty_range(context: CaseContext) -> None:
    """A mapping of no bytes fails, as by mmap, and so does one that begins before the buffer."""
    app = BufferApp(context).supported()
    buffer = app.allocated(app.request(1))
    for length, offset in ((0, 0), (PAGE, -PAGE)):
        rejected = is_rejected(partial(buffer.map, length, Protection.READ, offset))
        checks.that(rejected, f"map of {length} bytes at {offset}: expected a rejection, found success")


@cases.case("beyond_the_end", "NPU-BUF-006")
def beyond_the_end(context: CaseContext) -> None:
    """A mapping of pages that the buffer does not have fails, as by mmap of a DMA buffer, whatever size pages have."""
    app = BufferApp(context).supported()
    size = LARGEST_PAGE
    buffer = app.allocated(app.request(1, size))
    for length, offset in ((2 * size, 0), (size + 1, 0), (PAGE, size)):
        rejected = is_rejected(partial(buffer.map, length, Protection.READ, offset))
        checks.that(rejected, f"map of {length} bytes at {offset} of {size}: expected a rejection, found success")


@cases.case("buffers_are_apart", "NPU-BUF-006")
def buffers_are_apart(context: CaseContext) -> None:
    """Buffers that live at one time share no bytes."""
    app = BufferApp(context).supported()
    buffers = [app.allocated(app.request(identifier)) for identifier in range(4)]
    for seed, buffer in enumerate(buffers):
        app.fill(buffer, pattern(seed, PAGE))
    for seed, buffer in enumerate(buffers):
        checks.equal(app.content(buffer, PAGE), pattern(seed, PAGE), f"content of buffer {seed}")
