"""Freeing, by the client and by its death."""

from __future__ import annotations

from functools import partial

from npu_conformance.cts.lib.buffer_fixture import (
    ASSISTANT,
    CAMERA,
    PAGE,
    BufferApp,
    errno_raised,
    fresh_process,
    is_rejected,
    pattern,
    raises_errno,
)
from npu_conformance.cts.lib.shortage import gets_in_time, most
from npu_conformance.harness.judge import checks
from npu_conformance.harness.run.cases import CaseGroup
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.specs.npu.buffers import Errno, Protection

cases = CaseGroup("cts.npu_buffers.freeing", interface="manager")

_PID = 5001
_MANY = 300


@cases.case("unknown_among_known", "NPU-BUF-013")
def unknown_among_known(context: CaseContext) -> None:
    """A list with an unknown buffer in its midst reports EINVAL, and the known ones are freed."""
    app = BufferApp(context).supported()
    app.all_allocated(app.request(1), app.request(2), app.request(3))
    raises_errno(lambda: app.allocator.put_buffers((1, 99, 2)), [Errno.EINVAL], "putBuffers of 1, 99, 2")
    for freed in (1, 2):
        raises_errno(partial(app.allocator.put_buffers, (freed,)), [Errno.EINVAL], f"putBuffers of {freed} again")
    app.free(3)


@cases.case("all_known", "NPU-BUF-013")
def all_known(context: CaseContext) -> None:
    """A list of known buffers, and an empty one, is freed without an error; their ids can be used again."""
    app = BufferApp(context).supported()
    app.all_allocated(app.request(1), app.request(2))
    app.free(2, 1)
    app.free()
    app.allocated(app.request(1))


@cases.case("several_mapped", "NPU-BUF-013", "NPU-BUF-009")
def several_mapped(context: CaseContext) -> None:
    """Of the mapped buffers of one list all are freed, in whatever order it has them, and best end their mappings."""
    app = BufferApp(context).supported()
    for order in ((1, 2, 3), (3, 1, 2)):
        buffers = dict(zip((1, 2, 3), app.all_allocated(*map(app.request, (1, 2, 3))), strict=True))
        mapped = {identifier: one.map(PAGE, Protection.READ, 0) for identifier, one in buffers.items()}
        app.free(*order)
        for identifier, memory in mapped.items():
            app.left(memory, 1)
            again = partial(app.allocator.put_buffers, (identifier,))
            raises_errno(again, [Errno.EINVAL], f"putBuffers of {identifier} again")


@cases.case("twice", "NPU-BUF-013")
def twice(context: CaseContext) -> None:
    """A buffer that was freed is unknown: to free it again reports EINVAL, and so does setPriority."""
    app = BufferApp(context).supported()
    app.allocated(app.request(1))
    app.free(1)
    raises_errno(lambda: app.allocator.put_buffers((1,)), [Errno.EINVAL], "second putBuffers")
    raises_errno(lambda: app.allocator.set_priority(1, 500), [Errno.EINVAL], "setPriority of a freed buffer")
    raises_errno(lambda: app.allocator.set_priority(99, 500), [Errno.EINVAL], "setPriority of an unknown buffer")


@cases.case("of_another_app", "NPU-BUF-013")
def of_another_app(context: CaseContext) -> None:
    """A buffer is known to its own client only: another app's attempt to free it reports EINVAL and does nothing."""
    owner, other = BufferApp(context, CAMERA).supported(), BufferApp(context, ASSISTANT)
    buffer = owner.allocated(owner.request(1))
    owner.fill(buffer, pattern(4, PAGE))
    raises_errno(lambda: other.allocator.put_buffers((1,)), [Errno.EINVAL], "putBuffers of another app's buffer")
    raises_errno(lambda: other.allocator.set_priority(1, 0), [Errno.EINVAL], "setPriority of another app's buffer")
    checks.equal(owner.content(buffer, PAGE), pattern(4, PAGE), "content")
    owner.free(1)


@cases.case("memory_comes_back", "NPU-BUF-013", "NPU-BUF-003")
def memory_comes_back(context: CaseContext) -> None:
    """Freeing gives the memory back: as much as there is can be allocated again and again."""
    app = BufferApp(context).supported()
    size = most(app)
    for identifier in range(8):
        buffer = app.allocated(app.request(identifier, size))
        app.fill(buffer, pattern(identifier, PAGE))
        app.free(identifier)


@cases.case("while_allocating", "NPU-BUF-013", "NPU-BUF-003")
def while_allocating(context: CaseContext) -> None:
    """A buffer that is freed before its answer has one answer all the same, and its memory comes back."""
    app = BufferApp(context).supported()
    size = most(app)
    app.allocator.get_buffers((app.request(1, size),))
    is_known = not is_rejected(lambda: app.allocator.put_buffers((1,)))
    app.awaited(partial(app.recorder.has_come, "allocated", 1), "answer to request 1, which was freed before it")
    app.flush()
    checks.equal(app.recorder.count("allocated", 1), 1, "answers to request 1, which was freed before its answer")
    if not is_known and any(answer.buffer is not None for answer in app.recorder.answers):
        app.free(1)
    gets_in_time(app, 2, size)


@cases.case("while_loading", "NPU-BUF-013", "NPU-BUF-011")
def while_loading(context: CaseContext) -> None:
    """The memory of a buffer that is freed while a file is loaded comes back, again and again, and so does its id."""
    app = BufferApp(context).supported()
    size = most(app)
    for seed in range(2):
        app.allocated(app.request(1, size))
        app.allocator.load_file_segment_to_buffer(1, app.segment(pattern(seed, PAGE), 0, PAGE, 0))
        app.free(1)
    app.flush()
    app.allocated(app.request(2, size))


@cases.case("death_of_the_client", "NPU-BUF-013")
def death_of_the_client(context: CaseContext) -> None:
    """A client that dies with buffers, allocations and a mapping leaves nothing behind: another gets all its memory."""
    survivor = BufferApp(context, ASSISTANT).supported()
    size = most(survivor)
    for identifier in range(2):
        doomed = BufferApp(context, CAMERA).supported()
        buffer = doomed.allocated(doomed.request(1, size))
        buffer.map(PAGE, Protection.READ, 0)
        doomed.allocator.get_buffers(tuple(doomed.request(2 + one) for one in range(_MANY)))
        doomed.application.close()
        gets_in_time(survivor, identifier, size)
        survivor.free(identifier)


@cases.case("death_while_allocating", "NPU-BUF-013", "NPU-LIF-019")
def death_while_allocating(context: CaseContext) -> None:
    """Memory that is being allocated when its client dies is free for another, like what it had already."""
    control = context.subject.interfaces.manager_control
    survivor = BufferApp(context, ASSISTANT).supported()
    size = most(survivor)
    for identifier in range(3):
        fresh_process(context, CAMERA)
        doomed = BufferApp(context, CAMERA, _PID).supported()
        doomed.allocator.get_buffers((doomed.request(1, size),))
        if control is not None and identifier:  # an end of the connection may be noticed when it is allocated
            control.kill_client(CAMERA, _PID)
        doomed.application.close()
        gets_in_time(survivor, identifier, size)
        survivor.free(identifier)


@cases.case("killed_process", "NPU-LIF-020")
def killed_process(context: CaseContext) -> None:
    """The death of one process ought to leave the buffers of another process of the same uid."""
    control = context.present(context.subject.interfaces.manager_control, "manager_control")
    fresh_process(context, CAMERA)
    doomed, living = (BufferApp(context, CAMERA, pid).supported() for pid in (_PID, _PID + 1))
    doomed.allocated(doomed.request(1))
    buffer = living.allocated(living.request(1))
    control.kill_client(CAMERA, _PID)
    if errno_raised(lambda: buffer.unmap(buffer.map(PAGE, Protection.READ, 0).token)):
        context.warn_quality("the death of one process takes the buffers of another process of the same uid")


@cases.case("while_mapped", "NPU-BUF-013")
def while_mapped(context: CaseContext) -> None:
    """A buffer can be freed while it is mapped; its mapping best ends, and never shows the bytes of a later buffer."""
    app = BufferApp(context).supported()
    buffer = app.allocated(app.request(1))
    app.fill(buffer, pattern(5, PAGE))
    memory = buffer.map(PAGE, Protection.READ, 0)
    app.free(1)
    later = pattern(6, PAGE)
    app.fill(app.allocated(app.request(2)), later)
    checks.that(app.left(memory, PAGE) != later, "the mapping of a freed buffer shows what a later buffer holds")


@cases.case("killed_client", "NPU-BUF-013")
def killed_client(context: CaseContext) -> None:
    """A client that the system kills leaves nothing behind; its app may come back and start afresh."""
    control = context.present(context.subject.interfaces.manager_control, "manager_control")
    fresh_process(context, CAMERA)
    survivor = BufferApp(context, ASSISTANT).supported()
    size = most(survivor)
    doomed = BufferApp(context, CAMERA, _PID).supported()
    doomed.allocated(doomed.request(1, size))
    control.kill_client(CAMERA)
    gets_in_time(survivor, 1, size)
    survivor.free(1)
    again = BufferApp(context, CAMERA).supported()
    again.allocated(again.request(1, size))
