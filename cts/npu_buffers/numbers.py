"""Sizes, offsets and lengths beyond 32 bits, and such as are no whole pages: what succeeds is what was asked for.

A manager may refuse most of them. What none may do is to give less than was asked for, or other bytes.
"""

from __future__ import annotations

import os
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
from npu_conformance.harness.run.cases import CaseGroup
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.harness.subject.files import CacheFile
from npu_conformance.specs.neuralnetworks.types import CacheHandle, Memory
from npu_conformance.specs.npu.buffers import FileSegment, NpuBuffer, Protection

cases = CaseGroup("cts.npu_buffers.numbers", interface="manager")

_BITS_32 = 1 << 32
_SIZES = (_BITS_32 + PAGE, (1 << 40) + PAGE, (1 << 48) + 100, (1 << 63) - PAGE, (1 << 63) - 1)
"""In 32 bits these are a page, less, and nothing; rounded up to pages the last one is negative in 64 bits."""
_RANGES = (
    (_BITS_32 + PAGE, 0), (_BITS_32, 0), (PAGE, _BITS_32), (PAGE, _BITS_32 + PAGE), (_BITS_32 + PAGE, _BITS_32),
    (PAGE - (1 << 31), 1 << 31), (PAGE - _BITS_32, _BITS_32), ((1 << 63) - 1, PAGE), (PAGE, (1 << 63) - PAGE),
)  # fmt: skip
"""Lengths and offsets that no buffer of two pages has, though one in fewer bits, or the sum of both, may look so."""
_ODD_RANGES = ((16, 100), (PAGE, 1), (100, PAGE - 50), (1, 3 * PAGE - 1), (2 * PAGE, PAGE - 1), (PAGE + 1, 0))
_ODD_SEGMENTS = (
    (0, 1, 1), (1, 1, 2), (2, 3, 3), (3, 5, 5), (5, 100, 7), (7, 1023, PAGE - 1), (PAGE - 1, PAGE, PAGE + 1),
    (PAGE + 1, PAGE + 3, 1), (2 * PAGE - 3, 6, 3 * PAGE - 3), (1, 2 * PAGE + 1, 2 * PAGE - 1),
)  # fmt: skip
"""Offsets in the file, lengths, and offsets in the buffer: most at bytes where no word, sector or page begins."""
_SEGMENTS = ((0, 16, _BITS_32), (0, 16, _BITS_32 + PAGE - 16), (0, _BITS_32 + 16, 0), (0, 16, (1 << 63) - 8))


@cases.case("size_beyond_32_bits", "NPU-BUF-003", "NPU-BUF-008")
def size_beyond_32_bits(context: CaseContext) -> None:
    """A request for more than 32 bits count fails, or its last page can be used; what is unsupported always fails."""
    app = BufferApp(context).supported()
    for identifier, size in enumerate(_SIZES):
        request = app.request(identifier, size)
        (supported,) = app.allocator.is_supported((request,))
        (answer,) = app.get(request)
        what = f"a request for {size} bytes"
        checks.equal(answer.buffer is None, answer.errno != 0, f"{what}: no buffer exactly where there is an error")
        if answer.buffer is not None:
            checks.that(supported, f"{what}, which is reported unsupported: expected an error, found success")
            _use_both_ends(app, answer.buffer, size)
            app.free(identifier)
    app.allocated(app.request(len(_SIZES)))


def _use_both_ends(app: BufferApp, buffer: NpuBuffer, size: int) -> None:
    last = (size - 1) // LARGEST_PAGE * LARGEST_PAGE
    for seed, offset in ((1, 0), (2, last)):
        length = min(LARGEST_PAGE, size - offset)
        memory = checks.succeeds(partial(buffer.map, length, READ_WRITE, offset), f"map of bytes at {offset} of {size}")
        app.open(memory).write(0, pattern(seed, length))
        buffer.unmap(memory.token)
    for seed, offset in ((1, 0), (2, last)):
        length = min(LARGEST_PAGE, size - offset)
        checks.equal(app.content(buffer, length, offset), pattern(seed, length), f"bytes at {offset} of {size}")


@cases.case("range_beyond_32_bits", "NPU-BUF-006")
def range_beyond_32_bits(context: CaseContext) -> None:
    """A mapping of bytes that the buffer does not have fails, also where 32 bits of its numbers would fit."""
    app = BufferApp(context).supported()
    buffer = app.allocated(app.request(1, 2 * PAGE))
    for length, offset in _RANGES:
        rejected = is_rejected(partial(buffer.map, length, Protection.READ, offset))
        checks.that(rejected, f"map of {length} bytes at {offset} of two pages: expected a rejection, found success")
    app.fill(buffer, pattern(3, 2 * PAGE))
    checks.equal(app.content(buffer, 2 * PAGE), pattern(3, 2 * PAGE), "content behind rejected mappings")


@cases.case("range_within_pages", "NPU-BUF-006")
def range_within_pages(context: CaseContext) -> None:
    """A mapping that does not begin or end at a page may fail; where it does not, it shows and changes those bytes."""
    app = BufferApp(context).supported()
    buffer = app.allocated(app.request(1, 3 * PAGE))
    content = pattern(4, 3 * PAGE)
    app.fill(buffer, content)
    for seed, (length, offset) in enumerate(_ODD_RANGES):
        what = f"{length} bytes at {offset}"
        shown = _map(buffer, length, Protection.READ, offset)
        if shown is not None:
            checks.equal(app.read(shown, length), content[offset : offset + length], f"{what}, mapped for reading")
            checks.succeeds(partial(buffer.unmap, shown.token), "unmap")
        changed = _map(buffer, length, READ_WRITE, offset)
        if changed is not None:
            app.open(changed).write(0, pattern(seed, length))
            content = content[:offset] + pattern(seed, length) + content[offset + length :]
            checks.succeeds(partial(buffer.unmap, changed.token), "unmap")
            checks.equal(app.content(buffer, 3 * PAGE), content, f"content behind a write of {what}")


def _map(buffer: NpuBuffer, length: int, protection: int, offset: int) -> Memory | None:
    """A mapping; None where it is refused."""
    found: list[Memory] = []
    errno_raised(lambda: found.append(buffer.map(length, protection, offset)))
    return found[0] if found else None


@cases.case("segment_beyond_32_bits", "NPU-BUF-011")
def segment_beyond_32_bits(context: CaseContext) -> None:
    """A segment beyond the buffer's end fails as a whole, also where 32 bits of its numbers would fit."""
    app = BufferApp(context).supported()
    buffer = app.allocated(app.request(1))
    app.fill(buffer, pattern(9, PAGE))
    for at, length, to in _SEGMENTS:
        errno = app.loaded(1, app.segment(pattern(11, PAGE), at, length, to))
        checks.that(errno != 0, f"load of {length} bytes at {at} to {to} of a page: expected an error, found success")
    checks.equal(app.content(buffer, PAGE), pattern(9, PAGE), "content behind rejected loads")


@cases.case("segment_at_any_byte", "NPU-BUF-011")
def segment_at_any_byte(context: CaseContext) -> None:
    """A segment of any length goes from any byte of a file to any byte of a buffer, with the request and later."""
    app = BufferApp(context).supported()
    file = pattern(12, 4 * PAGE)
    for identifier, (at, length, to) in enumerate(_ODD_SEGMENTS):
        request = app.request(identifier, LARGEST_PAGE, segment=app.segment(file, at, length, to))
        if app.supports(request):
            found = app.content(app.allocated(request), LARGEST_PAGE)[to : to + length]
            checks.equal(found, file[at : at + length], f"{length} bytes at {at} of a file, allocated to {to}")
            app.free(identifier)
    buffer = app.allocated(app.request(len(_ODD_SEGMENTS), LARGEST_PAGE))
    content = pattern(4, LARGEST_PAGE)
    app.fill(buffer, content)
    for at, length, to in _ODD_SEGMENTS:
        what = f"load of {length} bytes at {at} of a file to {to}"
        checks.equal(app.loaded(len(_ODD_SEGMENTS), app.segment(file, at, length, to)), 0, f"errno of a {what}")
        content = content[:to] + file[at : at + length] + content[to + length :]
        checks.equal(app.content(buffer, LARGEST_PAGE), content, f"content behind a {what}")


@cases.case("file_beyond_32_bits", "NPU-BUF-011", "NPU-BUF-003")
def file_beyond_32_bits(context: CaseContext) -> None:
    """What is loaded from after the first 4 GiB of a file are the bytes that stand there, with a request and later."""
    app = BufferApp(context).supported()
    file = context.cache_file(pattern(5, PAGE))
    _write_far(file, pattern(6, PAGE))
    segment = FileSegment(CacheHandle((app.application.files.open(file, "read"),)), _BITS_32 + 100, 1000, 50)
    (answer,) = app.get(app.request(1, segment=segment))
    if answer.buffer is not None:
        checks.equal(app.content(answer.buffer, PAGE)[50:1050], pattern(6, PAGE)[100:1100], "bytes of a new buffer")
    buffer = app.allocated(app.request(2))
    segment = FileSegment(CacheHandle((app.application.files.open(file, "read"),)), _BITS_32 + 200, 1000, 60)
    if app.loaded(2, segment) == 0:
        checks.equal(app.content(buffer, PAGE)[60:1060], pattern(6, PAGE)[200:1200], "bytes that were loaded later")


def _write_far(file: CacheFile, content: bytes) -> None:
    """Put bytes behind 4 GiB that take no space. NotApplicable where no file may be so long."""
    try:
        file.stretch(_BITS_32 + len(content))
        os.pwrite(file.descriptor, content, _BITS_32)
    except OSError as error:
        raise NotApplicable(f"no file of more than 4 GiB can be made: {error}") from None
