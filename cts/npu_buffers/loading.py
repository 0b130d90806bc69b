"""Loading: which bytes of a file arrive where, and what happens to the file."""

from __future__ import annotations

import os
from functools import partial

from npu_conformance.cts.lib.buffer_fixture import MIB, NO_ROOM, PAGE, BufferApp, check_errno, errno_raised, pattern
from npu_conformance.harness.judge import checks
from npu_conformance.harness.judge.verdicts import NotApplicable
from npu_conformance.harness.run.cases import CaseGroup
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.specs.neuralnetworks.types import CacheHandle
from npu_conformance.specs.npu.buffers import AllocRequest, Errno, FileSegment, NpuBuffer, Protection

cases = CaseGroup("cts.npu_buffers.loading", interface="manager")

_FILE = pattern(11, 3 * PAGE)


@cases.case("on_allocation", "NPU-BUF-011", "NPU-BUF-003")
def on_allocation(context: CaseContext) -> None:
    """A request with a file segment gets a buffer with the bytes in place, and no onLoad for them."""
    app = BufferApp(context).supported()
    buffer = app.allocated(app.request(1, 2 * PAGE, segment=app.segment(_FILE, 100, 1000, 512)))
    checks.equal(app.content(buffer, 2 * PAGE)[512:1512], _FILE[100:1100], "bytes 512 to 1512 of the buffer")
    app.flush()
    checks.equal(app.recorder.of(1), [("allocated", 0)], "callbacks of buffer 1")


@cases.case("later", "NPU-BUF-011")
def later(context: CaseContext) -> None:
    """A segment is loaded to its place in an allocated buffer; the bytes around it stay."""
    app = BufferApp(context).supported()
    buffer = app.allocated(app.request(1, 2 * PAGE))
    app.fill(buffer, pattern(1, 2 * PAGE))
    check_errno(app.loaded(1, app.segment(_FILE, 4321, 2000, 3000)), [0], "load")
    expected = pattern(1, 2 * PAGE)
    expected = expected[:3000] + _FILE[4321:6321] + expected[5000:]
    checks.equal(app.content(buffer, 2 * PAGE), expected, "content")
    app.flush()
    checks.equal(app.recorder.of(1), [("allocated", 0), ("loaded", 0)], "callbacks of buffer 1")


@cases.case("from_the_beginning_of_the_file", "NPU-BUF-011")
def from_the_beginning_of_the_file(context: CaseContext) -> None:
    """The segment's offset counts from the beginning of the file, wherever the descriptor's position is."""
    app = BufferApp(context).supported()
    on_allocation = app.segment(_FILE, 10, 100, 0, position=5000)
    buffer = app.allocated(app.request(1, segment=on_allocation))
    checks.equal(app.content(buffer, 100), _FILE[10:110], "bytes loaded with the allocation")
    check_errno(app.loaded(1, app.segment(_FILE, 20, 100, 0, position=6000)), [0], "load")
    checks.equal(app.content(buffer, 100), _FILE[20:120], "bytes loaded later")


@cases.case("position_of_the_file", "NPU-BUF-011")
def position_of_the_file(context: CaseContext) -> None:
    """Loading leaves the position of the client's descriptor alone, and the file's content too."""
    app = BufferApp(context).supported()
    file = context.cache_file(_FILE)
    descriptor = file.reopened("read", 777)
    try:
        token = app.application.files.lend(descriptor, "read")
        app.allocated(app.request(1, segment=FileSegment(CacheHandle((token,)), 100, 1000, 0)))
        checks.equal(os.lseek(descriptor, 0, os.SEEK_CUR), 777, "position after the allocation")
        token = app.application.files.lend(descriptor, "read")
        check_errno(app.loaded(1, FileSegment(CacheHandle((token,)), 200, 1000, 0)), [0], "load")
        checks.equal(os.lseek(descriptor, 0, os.SEEK_CUR), 777, "position after the load")
    finally:
        os.close(descriptor)
    checks.equal(file.read(), _FILE, "content of the file")


@cases.case("for_readers_only", "NPU-BUF-011", "NPU-BUF-006")
def for_readers_only(context: CaseContext) -> None:
    """A buffer that its client may only read, or not map at all, is loaded all the same."""
    app = BufferApp(context).supported()
    buffer = app.allocated(app.request(1, protection=Protection.READ, segment=app.segment(_FILE, 0, PAGE, 0)))
    checks.equal(app.content(buffer, PAGE), _FILE[:PAGE], "content")
    app.free(1)
    closed = app.request(2, protection=Protection.NONE, segment=app.segment(_FILE, 0, PAGE, 0))
    if app.supports(closed):
        app.allocated(closed)


@cases.case("again_and_again", "NPU-BUF-011", "NPU-BUF-012")
def again_and_again(context: CaseContext) -> None:
    """A buffer is idle again after each load: the next one succeeds and replaces the bytes."""
    app = BufferApp(context).supported()
    buffer = app.allocated(app.request(1))
    for seed in range(4):
        check_errno(app.loaded(1, app.segment(pattern(seed, PAGE), 0, PAGE, 0)), [0], f"load {seed}")
        checks.equal(app.content(buffer, PAGE), pattern(seed, PAGE), f"content after load {seed}")


@cases.case("unknown_buffer", "NPU-BUF-012")
def unknown_buffer(context: CaseContext) -> None:
    """Loading to an unknown or freed id is rejected with EINVAL."""
    app = BufferApp(context).supported()
    check_errno(app.loaded(99, app.segment(_FILE, 0, PAGE, 0)), [Errno.EINVAL], "load of an unknown buffer")
    app.allocated(app.request(1))
    app.free(1)
    check_errno(app.loaded(1, app.segment(_FILE, 0, PAGE, 0)), [Errno.EINVAL], "load of a freed buffer")


@cases.case("while_loading", "NPU-BUF-012")
def while_loading(context: CaseContext) -> None:
    """Two loads at once are each answered; the second by success where the first was over, else by EINVAL."""
    app = BufferApp(context).supported()
    buffer = app.allocated(app.request(1, MIB))
    contents = [pattern(seed, MIB) for seed in (1, 2)]
    errnos = []
    for content in contents:
        segment = app.segment(content, 0, MIB, 0)
        errnos.append(errno_raised(partial(app.allocator.load_file_segment_to_buffer, 1, segment)))
    check_errno(errnos[0], [0], "first load")
    check_errno(errnos[1], [0, Errno.EINVAL], "second load")
    expected = errnos.count(0)
    app.awaited(lambda: app.recorder.count("loaded", 1) >= expected, f"{expected} answers to loads")
    app.flush()
    found = sorted(errno for which, errno in app.recorder.of(1) if which == "loaded")
    checks.member(found, [[0], [0, 0], [0, Errno.EINVAL]], "answers to two loads")
    checks.equal(len(found), expected, "number of answers")
    wanted = contents[1] if found == [0, 0] else contents[0]
    checks.that(app.content(buffer, MIB) == wanted, "expected the bytes of the last load that succeeded, found others")


@cases.case("mapping_while_loading", "NPU-BUF-012")
def mapping_while_loading(context: CaseContext) -> None:
    """While a file is being loaded a mapping fails with ENOMEM; where the load was over already it succeeds."""
    app = BufferApp(context).supported()
    buffer = app.allocated(app.request(1, MIB))
    app.allocator.load_file_segment_to_buffer(1, app.segment(pattern(1, MIB), 0, MIB, 0))
    check_errno(_map(buffer), [0, Errno.ENOMEM], "map while loading")
    app.awaited(lambda: app.recorder.count("loaded", 1) > 0, "answer to the load")
    checks.that(app.content(buffer, MIB) == pattern(1, MIB), "expected the file's bytes, found others")


@cases.case("impossible_segments", "NPU-BUF-011")
def impossible_segments(context: CaseContext) -> None:
    """A segment with a negative number or beyond the buffer's end fails as a whole, and no other load suffers."""
    app = BufferApp(context).supported()
    buffer = app.allocated(app.request(1))
    app.fill(buffer, pattern(9, PAGE))
    for at, length, to in ((-1, 16, 0), (0, -16, 0), (0, 16, -16), (0, 16, PAGE - 8), (0, PAGE + 1, 0)):
        errno = app.loaded(1, app.segment(_FILE, at, length, to))
        checks.that(errno != 0, f"load of {length} bytes at {at} to {to}: expected an error, found success")
    checks.equal(app.content(buffer, PAGE), pattern(9, PAGE), "content after rejected loads")
    app.rejected(app.request(2, segment=app.segment(_FILE, 0, 16, PAGE)), [], "allocation with a segment past its end")
    check_errno(app.loaded(1, app.segment(_FILE, 0, PAGE, 0)), [0], "load after rejected ones")


@cases.case("beyond_the_file", "NPU-BUF-011")
def beyond_the_file(context: CaseContext) -> None:
    """A segment that the file does not have to its end ought to fail, and no other load suffers."""
    app = BufferApp(context).supported()
    buffer = app.allocated(app.request(1))
    for at in (len(_FILE) - 8, len(_FILE), 2 * len(_FILE)):
        if app.loaded(1, app.segment(_FILE, at, 16, 0)) == 0:
            context.warn_quality(f"16 bytes at {at} of a file of {len(_FILE)} are reported as loaded")
    check_errno(app.loaded(1, app.segment(_FILE, len(_FILE) - PAGE, PAGE, 0)), [0], "load of the end of the file")
    checks.equal(app.content(buffer, PAGE), _FILE[-PAGE:], "content")


@cases.case("no_such_file", "NPU-BUF-011")
def no_such_file(context: CaseContext) -> None:
    """A segment of a file that is not open fails the load or the request, and nothing else."""
    app = BufferApp(context).supported()
    app.allocated(app.request(1))
    segment = FileSegment(CacheHandle((4711,)), 0, 16, 0)
    checks.that(app.loaded(1, segment) != 0, "load from no file: expected an error, found success")
    app.rejected(app.request(2, segment=segment), [], "allocation with no file")
    app.free(1)
    app.allocated(app.request(3))


@cases.case("weights_of_4_mib", "NPU-BUF-003", "NPU-BUF-006", "NPU-BUF-011")
def weights_of_4_mib(context: CaseContext) -> None:
    """CtsNpuManagerBufferTest.SingleBuffer: 4 MiB are loaded with the allocation, compared bytewise, freed."""
    app = BufferApp(context).supported()
    content = pattern(17, 4 * MIB)
    request = app.request(1, 4 * MIB, protection=Protection.READ, segment=app.segment(content, 0, 4 * MIB, 0))
    app.need_supported(request)
    buffer = _fitting(app, request)
    with checks.about("NPU-BUF-011"):
        checks.equal(app.content(buffer, 4 * MIB), content, "bytes of the file that were loaded with the allocation")
    app.free(1)


@cases.case("two_halves_of_8_mib", "NPU-BUF-003", "NPU-BUF-006", "NPU-BUF-011")
def two_halves_of_8_mib(context: CaseContext) -> None:
    """CtsNpuManagerBufferTest.SingleBuffer: half of 8 MiB is loaded with the allocation, the other half later."""
    app = BufferApp(context).supported()
    half = 4 * MIB
    content = pattern(23, 2 * half)
    request = app.request(1, 2 * half, segment=app.segment(content, 0, half, 0))
    app.need_supported(request)
    buffer = _fitting(app, request)
    with checks.about("NPU-BUF-011"):
        check_errno(app.loaded(1, app.segment(content, half, half, half)), [0], "load of the second half")
        checks.equal(app.content(buffer, 2 * half), content, "bytes of the file, of which each half was loaded alone")
    app.free(1)


@cases.case("to_several_places", "NPU-BUF-011", "NPU-BUF-012")
def to_several_places(context: CaseContext) -> None:
    """Each load of a small buffer goes to its own place, before or behind the earlier ones, and leaves their bytes."""
    app = BufferApp(context).supported()
    for identifier, places in enumerate(((700, 2000, 100, 3000), (3000, 700, 2000, 100), (100, 3000, 2000, 700))):
        request = app.request(identifier)
        content = pattern(identifier, PAGE)
        buffer = app.allocated(request)
        app.fill(buffer, content)
        for seed, place in enumerate(places):
            check_errno(app.loaded(identifier, app.segment(pattern(seed, PAGE), place, 300, place)), [0], "load")
            content = content[:place] + pattern(seed, PAGE)[place : place + 300] + content[place + 300 :]
            checks.equal(app.content(buffer, PAGE), content, f"content after loads to {places[: seed + 1]}")
        app.free(identifier)


@cases.case("behind_the_allocations", "NPU-BUF-011", "NPU-BUF-003")
def behind_the_allocations(context: CaseContext) -> None:
    """What is loaded later goes to its own place, whatever place the file of the allocation went to."""
    app = BufferApp(context).supported()
    for identifier, (first, second) in enumerate(((0, 1000), (1000, 0), (2000, 3000), (3000, 1000))):
        request = app.request(identifier, segment=app.segment(_FILE, 500, 600, first))
        buffer = app.allocated(request)
        check_errno(app.loaded(identifier, app.segment(_FILE, 5000, 600, second)), [0], "load")
        found = app.content(buffer, PAGE)
        for at, place in ((500, first), (5000, second)):
            checks.equal(
                found[place : place + 600], _FILE[at : at + 600], f"bytes from {place} of {first} and {second}"
            )
        app.free(identifier)


def _fitting(app: BufferApp, request: AllocRequest) -> NpuBuffer:
    """An allocated buffer; NotApplicable where there is no memory for so much: support is no promise (NPU-BUF-008)."""
    (answer,) = app.get(request)
    if answer.errno in NO_ROOM:
        raise NotApplicable(f"the manager has no {request.size} bytes for a buffer")
    if answer.buffer is None:
        checks.fail(f"errno of onGetBuffer for request {request.id}", "0", str(answer.errno))
    return answer.buffer


def _map(buffer: NpuBuffer) -> int:
    def attempt() -> None:
        buffer.unmap(buffer.map(PAGE, Protection.READ, 0).token)

    return errno_raised(attempt)
