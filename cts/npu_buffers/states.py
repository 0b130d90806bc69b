"""Each way in which a client ends, and each call, in the states in which buffers can be."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from functools import partial

from npu_conformance.cts.lib.buffer_fixture import (
    ASSISTANT,
    CAMERA,
    PAGE,
    BufferApp,
    check_errno,
    fresh_process,
    pattern,
    raises_errno,
)
from npu_conformance.cts.lib.shortage import gets_in_time, most
from npu_conformance.harness.judge import checks
from npu_conformance.harness.run.cases import CaseGroup
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.specs.npu.buffers import Errno, Protection
from npu_conformance.specs.npu.manager import ManagerControl

cases = CaseGroup("cts.npu_buffers.states", interface="manager")

_PID = 5101


def _allocates(app: BufferApp, size: int) -> None:
    app.need_supported(app.request(1, size))
    app.allocator.get_buffers((app.request(1, size),))


def _has(app: BufferApp, size: int) -> None:
    app.allocated(app.request(1, size))


def _maps(app: BufferApp, size: int) -> None:
    app.allocated(app.request(1, size)).map(PAGE, Protection.READ, 0)


def _loads(app: BufferApp, size: int) -> None:
    app.allocated(app.request(1, size))
    app.allocator.load_file_segment_to_buffer(1, app.segment(pattern(1, PAGE), 0, PAGE, 0))


def _fails_to_load(app: BufferApp, size: int) -> None:
    app.allocated(app.request(1, size))
    app.loaded(1, app.segment(pattern(1, PAGE), 0, 2 * PAGE, 0))


_STATES: tuple[Callable[[BufferApp, int], None], ...] = (_allocates, _has, _maps, _loads, _fails_to_load)
_ENDS: dict[str, Callable[[ManagerControl, BufferApp], None]] = {
    "killed": lambda control, app: control.kill_client(app.uid),
    "killed by pid": lambda control, app: control.kill_client(app.uid, _PID),
    "removed": lambda control, app: control.remove_app(app.uid),
    "closed": lambda _, app: app.application.close(),
}


@cases.case("every_end", "NPU-BUF-013", "NPU-LIF-019")
def every_end(context: CaseContext) -> None:
    """However a client ends, and whatever its buffer is in the midst of, another gets the memory."""
    control = context.present(context.subject.interfaces.manager_control, "manager_control")
    survivor = BufferApp(context, ASSISTANT).supported()
    size = most(survivor)
    for (name, end), begin in itertools.product(_ENDS.items(), _STATES):
        fresh_process(context, CAMERA)
        doomed = BufferApp(context, CAMERA, _PID).supported()
        begin(doomed, size)
        end(control, doomed)
        gets_in_time(survivor, 1, size, f"memory of a client that is {name} and {begin.__name__.strip('_')}")
        survivor.free(1)


@cases.case("priority_in_every_state", "NPU-BUF-014")
def priority_in_every_state(context: CaseContext) -> None:
    """The priority of a buffer that lives can be changed whatever it is in the midst of."""
    for begin in _STATES:
        app = BufferApp(context, CAMERA, _PID).supported()
        begin(app, PAGE)
        if begin is _allocates:
            app.flush()
        checks.succeeds(partial(app.allocator.set_priority, 1, 0), "setPriority of a buffer that lives")
        app.flush()
        app.free(1)


@cases.case("two_allocators", "NPU-BUF-003", "NPU-BUF-007", "NPU-BUF-013")
def two_allocators(context: CaseContext) -> None:
    """Two allocators of a process have buffers and ids of their own, which stay until each frees them."""
    first = BufferApp(context, CAMERA, _PID).supported()
    buffer = first.allocated(first.request(1))
    first.fill(buffer, pattern(1, PAGE))
    second = first.another()
    other = second.allocated(second.request(1))
    second.fill(other, pattern(2, PAGE))
    checks.equal(first.content(buffer, PAGE), pattern(1, PAGE), "content of the first allocator's buffer")
    second.free(1)
    checks.equal(first.content(buffer, PAGE), pattern(1, PAGE), "the same, behind the other's release")
    first.free(1)


@cases.case("id_of_another_allocator", "NPU-BUF-012", "NPU-BUF-013", "NPU-BUF-014")
def id_of_another_allocator(context: CaseContext) -> None:
    """An id is unknown to every allocator but its own, also to one of the same process, in whatever state it is."""
    for begin in _STATES:
        owner = BufferApp(context, CAMERA, _PID).supported()
        begin(owner, PAGE)
        owner.flush()
        for other in (owner.another(), BufferApp(context, CAMERA, _PID + 1), BufferApp(context, ASSISTANT)):
            allocator = other.allocator
            raises_errno(partial(allocator.put_buffers, (1,)), [Errno.EINVAL], "putBuffers of another's buffer")
            raises_errno(partial(allocator.set_priority, 1, 0), [Errno.EINVAL], "setPriority of another's buffer")
            check_errno(other.loaded(1, other.segment(pattern(3, PAGE), 0, PAGE, 0)), [Errno.EINVAL], "load to it")
        owner.free(1)
