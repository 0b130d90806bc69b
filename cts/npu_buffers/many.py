"""What holds of a few buffers holds of many: requests, buffers, mappings and allocators, beyond small tables."""

from __future__ import annotations

from collections.abc import Collection
from functools import partial

from npu_conformance.cts.lib.buffer_fixture import (
    NO_ROOM,
    READ_WRITE,
    Answer,
    BufferApp,
    check_errno,
    pattern,
    raises_errno,
)
from npu_conformance.harness.judge import checks
from npu_conformance.harness.judge.verdicts import NotApplicable
from npu_conformance.harness.run.cases import CaseGroup
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.specs.neuralnetworks.types import Memory
from npu_conformance.specs.npu.buffers import AllocRequest, Errno, NpuBuffer

cases = CaseGroup("cts.npu_buffers.many", interface="manager")

_MANY = 300
"""Buffers at one time: beyond a table of 256, and fewer than the descriptors that a process has by default."""
_LIST = 1100
"""Requests of one list."""
_ALLOCATORS, _LOADS = 70, 70
_SIZE = 64


def _answers(app: BufferApp, *requests: AllocRequest) -> dict[int, Answer]:
    """Ask for buffers in one list; the answer to each, by id, which may be that there is no room."""
    seen = len(app.recorder.answers)
    checks.succeeds(lambda: app.allocator.get_buffers(requests), f"getBuffers of {len(requests)} requests")
    app.awaited(lambda: len(app.recorder.answers) >= seen + len(requests), f"{len(requests)} answers")
    app.flush()
    came = app.recorder.answers[seen : seen + len(requests)]
    checks.equal(sorted(answer.id for answer in came), sorted(one.id for one in requests), "ids of the answers")
    for answer in came:
        check_errno(answer.errno, (0, *NO_ROOM), f"one of {len(requests)} requests of a list")
    return {answer.id: answer for answer in came}


def _need_two(found: Collection[object]) -> None:
    """NotApplicable where fewer than two buffers came: for how many there is room is free (NPU-BUF-008)."""
    if len(found) < 2:
        raise NotApplicable("the manager has no room for two buffers")


@cases.case("buffers", "NPU-BUF-003", "NPU-BUF-006", "NPU-BUF-014")
def buffers(context: CaseContext) -> None:
    """Many buffers, all mapped at one time, have bytes and priorities of their own."""
    app = BufferApp(context).supported()
    app.need_supported(app.request(0, _SIZE))
    answers = _answers(app, *(app.request(one, _SIZE) for one in range(_MANY)))
    found = {one: answer.buffer for one, answer in answers.items() if answer.buffer is not None}
    _need_two(found)
    mapped = {one: _mapped(buffer) for one, buffer in found.items()}
    for one, memory in mapped.items():
        app.open(memory).write(0, _content(one))
        checks.succeeds(partial(app.allocator.set_priority, one, one), "setPriority")
    wrong = [one for one, memory in mapped.items() if app.read(memory, _SIZE) != _content(one)]
    checks.equal(wrong[:3], [], f"{len(wrong)} of {len(mapped)} buffers that have other bytes than were written")
    for one, buffer in found.items():
        checks.succeeds(partial(buffer.unmap, mapped[one].token), "unmap")
    app.free(*found)


@cases.case("loads", "NPU-BUF-011", "NPU-BUF-003")
def loads(context: CaseContext) -> None:
    """Many loads at one time, each into a buffer of its own, are each answered, and bring their own bytes.

    Into as many as there is room for.
    """
    app = BufferApp(context).supported()
    app.need_supported(app.request(0, _SIZE))
    answers = _answers(app, *(app.request(one, _SIZE) for one in range(_LOADS)))
    found = {one: answer.buffer for one, answer in answers.items() if answer.buffer is not None}
    _need_two(found)
    content = b"".join(map(_content, range(_LOADS)))
    for one in found:
        segment = app.segment(content, one * _SIZE, _SIZE, 0)
        checks.succeeds(partial(app.allocator.load_file_segment_to_buffer, one, segment), "loadFileSegmentToBuffer")
    app.awaited(lambda: all(app.recorder.count("loaded", one) for one in found), f"answers to {len(found)} loads")
    app.flush()
    wrong = [one for one in found if app.recorder.of(one)[1:] != [("loaded", 0)]]
    checks.equal(wrong[:3], [], f"{len(wrong)} of {len(found)} loads without one answer, success")
    wrong = [one for one, buffer in found.items() if app.content(buffer, _SIZE) != _content(one)]
    checks.equal(wrong[:3], [], f"{len(wrong)} of {len(found)} buffers with other bytes than were loaded")


@cases.case("lists", "NPU-BUF-003", "NPU-BUF-008", "NPU-BUF-013", "NPU-BUF-007")
def lists(context: CaseContext) -> None:
    """Of a long list each request is answered, in each call that takes a list; the ids of what is freed are free."""
    app = BufferApp(context).supported()
    requests = [app.request(one, _SIZE) for one in range(_LIST)]
    app.need_supported(requests[0])
    supported = app.allocator.is_supported(tuple(requests))
    checks.equal(len(supported), _LIST, f"answers of isSupported to {_LIST} requests")
    for _ in range(2):
        got = [one for one, answer in _answers(app, *requests).items() if answer.errno == 0]
        _need_two(got)
        denied = [one for one in got if not supported[one]]
        checks.equal(denied[:3], [], "requests that isSupported denies, and that get buffers")
        app.free(*got)
    again = [one for one, answer in _answers(app, *requests).items() if answer.errno == 0]
    unknown = len(again) // 2
    with_unknown = (*again[:unknown], _LIST, *again[unknown:])
    raises_errno(lambda: app.allocator.put_buffers(with_unknown), [Errno.EINVAL], "putBuffers with one unknown id")
    app.free(*(one for one, answer in _answers(app, *requests).items() if answer.errno == 0))


@cases.case("allocators", "NPU-BUF-007", "NPU-BUF-013")
def allocators(context: CaseContext) -> None:
    """Many allocators of one process have a buffer of one id each, which stays until its own allocator frees it.

    As many as there is room for.
    """
    first = BufferApp(context).supported()
    first.need_supported(first.request(1, _SIZE))
    apps = [first, *(first.another() for _ in range(_ALLOCATORS))]
    answers = [(app, _answers(app, app.request(1, _SIZE))[1]) for app in apps]
    found = [(app, answer.buffer) for app, answer in answers if answer.buffer is not None]
    _need_two(found)
    for number, (app, buffer) in enumerate(found):
        app.fill(buffer, _content(number))
    for number, (app, buffer) in reversed([*enumerate(found)]):
        checks.equal(app.content(buffer, _SIZE), _content(number), f"content of buffer 1 of allocator {number}")
        app.free(1)


def _mapped(buffer: NpuBuffer) -> Memory:
    return checks.succeeds(lambda: buffer.map(_SIZE, READ_WRITE, 0), "map for writing")


def _content(number: int) -> bytes:
    return number.to_bytes(4, "little") + pattern(number, _SIZE - 4)
