"""Preemption: memory that runs short is taken from buffers of weaker priority. A manager need not do it at all.

Which end of the range of priorities is the stronger is not published: a case tries both.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from functools import partial

from npu_conformance.cts.lib.buffer_fixture import (
    ASSISTANT,
    CAMERA,
    GONE,
    NO_ROOM,
    PAGE,
    BufferApp,
    check_errno,
    errno_raised,
    pattern,
    raises_errno,
)
from npu_conformance.cts.lib.manager_client import pass_time
from npu_conformance.cts.lib.shortage import most
from npu_conformance.harness.judge import checks
from npu_conformance.harness.judge.verdicts import NotApplicable
from npu_conformance.harness.run.cases import CaseGroup
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.specs.npu.buffers import PRIORITY_MAX, PRIORITY_MIN, Errno, NpuBuffer, Protection

cases = CaseGroup("cts.npu_buffers.preemption", interface="manager")

_ORDERS = ((PRIORITY_MAX, PRIORITY_MIN), (PRIORITY_MIN, PRIORITY_MAX))
"""Priorities of the victim and of the one that needs its memory."""
_OFTEN = 256
"""Mappings beyond what 8 bits count."""


@cases.case("idle_buffer", "NPU-BUF-009")
def idle_buffer(context: CaseContext) -> None:
    """A preempted buffer has one callback, can no longer be mapped, and is freed like any other."""
    app, buffer, _ = _preempted(context)
    raises_errno(lambda: buffer.map(PAGE, Protection.READ, 0), GONE, "map of a preempted buffer")
    app.flush()
    checks.equal(app.recorder.of(1), [("allocated", 0), ("preempted", 0)], "callbacks of buffer 1")
    _is_freed_once(app)


@cases.case("id_lives_until_freed", "NPU-BUF-009", "NPU-BUF-007")
def id_lives_until_freed(context: CaseContext) -> None:
    """A preempted buffer keeps its id until it is freed."""
    app, _, _ = _preempted(context)
    errno = errno_raised(lambda: app.allocator.get_buffers((app.request(1),)))
    if errno == 0:
        app.awaited(lambda: app.recorder.count("allocated", 1) > 1, "answer to the second request")
        errno = app.recorder.of(1)[-1][1]
    check_errno(errno, [Errno.EINVAL], "request with the id of a preempted buffer")
    app.free(1)


@cases.case("load_of_a_preempted_buffer", "NPU-BUF-009", "NPU-BUF-012")
def load_of_a_preempted_buffer(context: CaseContext) -> None:
    """Loading to a preempted buffer is rejected with EINVAL, and does not bring it back."""
    app, buffer, _ = _preempted(context)
    check_errno(app.loaded(1, app.segment(pattern(1, PAGE), 0, PAGE, 0)), [Errno.EINVAL], "load of a preempted buffer")
    raises_errno(lambda: buffer.map(PAGE, Protection.READ, 0), GONE, "map of a preempted buffer")


@cases.case("frees_the_memory_once", "NPU-BUF-009")
def frees_the_memory_once(context: CaseContext) -> None:
    """Freeing a preempted buffer gives no memory back a second time: two of this size still do not fit."""
    app, _, size = _preempted(context)
    app.free(1)
    (answer,) = app.get(app.request(3, size, priority=500))
    app.flush()
    both = answer.errno == 0 and app.recorder.count("preempted", 2) == 0
    checks.that(not both, f"two buffers of {size} bytes: expected room for one, found both allocated")


@cases.case("supported_where_it_preempts", "NPU-BUF-008")
def supported_where_it_preempts(context: CaseContext) -> None:
    """What isSupported denies fails also where memory is short: a request that preempts a buffer was not denied."""
    app = BufferApp(context).supported()
    size = most(app)
    for weak, strong in _ORDERS:
        app.allocated(app.request(1, size, priority=weak))
        request = app.request(2, size, priority=strong)
        (supported,) = app.allocator.is_supported((request,))
        (answer,) = app.get(request)
        app.flush()
        checks.that(supported or answer.errno != 0, "a request that isSupported denied: expected an error, found none")
        app.free(1, *([2] if answer.errno == 0 else []))
        app.recorder.events.clear()


@cases.case("not_while_mapped", "NPU-BUF-009")
def not_while_mapped(context: CaseContext) -> None:
    """A buffer that is mapped, be it often or still once, keeps its bytes and is not preempted, whoever wants them."""
    app = BufferApp(context).supported()
    size = most(app)
    for (weak, strong), count in itertools.product(_ORDERS, (1, _OFTEN)):
        buffer = app.allocated(app.request(1, size, priority=weak))
        app.fill(buffer, pattern(6, PAGE))
        mapped = app.mapped(buffer, count)
        for rival, gone in ((2, mapped[:0]), (3, mapped[:-1])):
            for memory in gone:
                buffer.unmap(memory.token)
            app.allocator.get_buffers((app.request(rival, size, priority=strong),))
            app.flush()
            checks.equal(app.recorder.count("preempted", 1), 0, "preemptions of a mapped buffer")
            checks.equal(app.open(mapped[-1]).read(0, PAGE), pattern(6, PAGE), "content through the mapping")
        buffer.unmap(mapped[-1].token)
        app.free(1, *_got(app, 2))
        if got := _got(app, 3):
            app.free(*got)
        app.recorder.answers.clear()
        app.recorder.events.clear()


def _got(app: BufferApp, identifier: int) -> list[int]:
    """The id of a request, once it is answered; none where it has come to nothing."""
    app.awaited(lambda: app.recorder.count("allocated", identifier) > 0, f"answer to request {identifier}")
    return [answer.id for answer in app.recorder.answers if answer.id == identifier and answer.errno == 0]


@cases.case("during_a_load", "NPU-BUF-010", "NPU-BUF-009")
def during_a_load(context: CaseContext) -> None:
    """A load during which another app needs the memory is answered before the preemption; ECANCELED if cut off.

    The buffer still has to be freed.
    """

    def begin(victim: BufferApp, size: int, priority: int) -> None:
        victim.allocated(victim.request(1, size, priority=priority))
        segment = victim.segment(pattern(1, size // 2), 0, size // 2, 0)
        victim.allocator.load_file_segment_to_buffer(1, segment)

    _is_freed_once(_interrupted(context, begin, "loaded"))


@cases.case("during_an_allocation", "NPU-BUF-010", "NPU-BUF-003")
def during_an_allocation(context: CaseContext) -> None:
    """An allocation whose load is cut off in this way gives ECANCELED without a buffer, then the preemption."""

    def begin(victim: BufferApp, size: int, priority: int) -> None:
        segment = victim.segment(pattern(1, size // 2), 0, size // 2, 0)
        request = victim.request(1, size, priority=priority, segment=segment)
        victim.need_supported(request)
        victim.allocator.get_buffers((request,))

    victim = _interrupted(context, begin, "allocated")
    if ("allocated", Errno.ECANCELED) in victim.recorder.of(1):
        (again,) = victim.get(victim.request(1))
        check_errno(again.errno, [0, *NO_ROOM], "the id of a cut off allocation, used again")


@cases.case("by_set_priority", "NPU-BUF-009", "NPU-BUF-014")
def by_set_priority(context: CaseContext) -> None:
    """Priorities count as setPriority left them: where the manager preempts by priority, the one made weak goes."""
    app = BufferApp(context).supported()
    size = most(app)
    for weak, strong in _ORDERS:
        app.allocated(app.request(1, size, priority=strong))
        (answer,) = app.get(app.request(2, size, priority=500))
        if answer.errno == 0:
            app.free(1, 2)
            app.flush()
            pass_time(context)
            app.recorder.events.clear()
            continue
        app.allocator.set_priority(1, weak)
        pass_time(context)
        (answer,) = app.get(app.request(2, size, priority=500))
        app.flush()
        if answer.errno:
            app.free(1)
            pass_time(context)
            app.recorder.events.clear()
            continue
        checks.equal(app.recorder.count("preempted", 1), 1, "preemptions of the buffer that was made weak")
        return
    raise NotApplicable("the manager does not preempt by priorities that setPriority changed")


@cases.case("by_set_priority_during_a_load", "NPU-BUF-009", "NPU-BUF-014")
def by_set_priority_during_a_load(context: CaseContext) -> None:
    """A priority that is set while a buffer loads counts as one that is set while it does not."""
    app = BufferApp(context).supported()
    size = most(app)

    def during_a_load(priority: int) -> None:
        segment = app.segment(pattern(1, size // 2), 0, size // 2, 0)
        app.allocator.load_file_segment_to_buffer(1, segment)
        app.allocator.set_priority(1, priority)
        app.awaited(lambda: app.recorder.count("loaded", 1) > 0, "answer to the load")

    for weak, strong in _ORDERS:
        if _is_taken(app, size, strong, partial(app.allocator.set_priority, 1, weak)):
            taken = _is_taken(app, size, strong, partial(during_a_load, weak))
            checks.that(taken, "a buffer made weak while it was loaded: expected its preemption, as when it is idle")
            return
    raise NotApplicable("the manager does not preempt by priorities that setPriority changed")


def _is_taken(app: BufferApp, size: int, priority: int, change: Callable[[], None]) -> bool:
    """Whether a buffer that a request of middle priority cannot have is preempted for it after a change."""
    app.allocated(app.request(1, size, priority=priority))
    (answer,) = app.get(app.request(2, size))
    was_safe = answer.errno != 0
    if was_safe:
        change()
        pass_time(app.context)
        (answer,) = app.get(app.request(2, size))
        app.flush()
    taken = was_safe and answer.errno == 0 and app.recorder.count("preempted", 1) == 1
    app.free(1, *([2] if answer.errno == 0 else []))
    app.flush()
    pass_time(app.context)
    app.recorder.events.clear()
    return taken


@cases.case("id_of_another_before", "NPU-BUF-004", "NPU-BUF-007", "NPU-BUF-009")
def id_of_another_before(context: CaseContext) -> None:
    """What becomes of a buffer where memory is short does not depend on what became of an earlier one of its id."""
    app = BufferApp(context).supported()
    size, fresh = most(app), itertools.count(1000)
    for priorities in _ORDERS:
        expected = _fate(app, next(fresh), size, *priorities)
        for before, what in itertools.product(_ORDERS, _LIVES):
            identifier = next(fresh)
            _LIVES[what](app, identifier, before)
            found = _fate(app, identifier, size, *priorities)
            checks.equal(found, expected, f"what becomes of a buffer and its rival behind {what} {before}")


def _asked_for(app: BufferApp, identifier: int, priorities: tuple[int, int]) -> None:
    app.allocated(app.request(identifier, priority=priorities[0]))
    app.free(identifier)


def _changed(app: BufferApp, identifier: int, priorities: tuple[int, int]) -> None:
    app.allocated(app.request(identifier, priority=priorities[0]))
    app.allocator.set_priority(identifier, priorities[1])
    app.free(identifier)


def _mapped(app: BufferApp, identifier: int, priorities: tuple[int, int]) -> None:
    app.allocated(app.request(identifier, priority=priorities[0])).map(PAGE, Protection.READ, 0)
    app.free(identifier)


_LIVES: dict[str, Callable[[BufferApp, int, tuple[int, int]], None]] = {
    "one of priority": _asked_for,
    "one whose priority was changed, of": _changed,
    "one that was freed while it was mapped, of priority": _mapped,
}


def _fate(app: BufferApp, identifier: int, size: int, own: int, rival: int) -> tuple[int, int]:
    """How often a buffer is preempted, and the errno of the other that wants its memory; nothing is left of them."""
    other = identifier + 100_000
    app.allocated(app.request(identifier, size, priority=own))
    (answer,) = app.get(app.request(other, size, priority=rival))
    app.flush()
    fate = app.recorder.count("preempted", identifier), answer.errno
    app.free(identifier, *([other] if answer.errno == 0 else []))
    return fate


def _preempted(context: CaseContext) -> tuple[BufferApp, NpuBuffer, int]:
    """An app with buffer 1 preempted for buffer 2, and their size; NotApplicable where no order of priorities does."""
    app = BufferApp(context).supported()
    size = most(app)
    for weak, strong in _ORDERS:
        buffer = app.allocated(app.request(1, size, priority=weak))
        (answer,) = app.get(app.request(2, size, priority=strong))
        if answer.errno == 0:
            app.awaited(lambda: app.recorder.count("preempted", 1) > 0, "onNotifyPreempted of buffer 1")
            return app, buffer, size
        app.flush()
        checks.equal(app.recorder.count("preempted", 1), 0, "preemptions while the other request fails")
        app.free(1)
        app.recorder.events.clear()
    raise NotApplicable("the manager does not preempt buffers: what finds no room fails")


def _is_freed_once(app: BufferApp) -> None:
    """Free the preempted buffer 1, as its client still has to, once (NPU-BUF-009)."""
    app.free(1)
    raises_errno(lambda: app.allocator.put_buffers((1,)), [Errno.EINVAL], "second putBuffers")
    app.flush()
    checks.equal(app.recorder.count("preempted", 1), 1, "preemptions of buffer 1")


def _interrupted(context: CaseContext, begin: Callable[[BufferApp, int, int], None], pending: str) -> BufferApp:
    """Let another app take the memory while something is under way, and judge what its owner receives.

    Return the owner.
    """
    for weak, strong in _ORDERS:
        victim, other = BufferApp(context, CAMERA).supported(), BufferApp(context, ASSISTANT).supported()
        size = most(victim)
        begin(victim, size, weak)
        other.get(other.request(1, size, priority=strong))
        victim.awaited(partial(victim.recorder.has_come, pending, 1), f"{pending}: an answer")
        victim.flush()
        if _judged(victim, pending):
            return victim
        victim.application.close()
        other.application.close()
    raise NotApplicable("the manager does not preempt buffers of another app")


def _judged(victim: BufferApp, pending: str) -> bool:
    """Check what was said about buffer 1; true where it was preempted."""
    events = [(which, errno) for which, errno in victim.recorder.of(1) if which in (pending, "preempted")]
    if ("preempted", 0) not in events:
        rejections = NO_ROOM if pending == "allocated" else ()
        checks.member(events, [[(pending, errno)] for errno in (0, *rejections)], "callbacks without a preemption")
        return False
    ends = [[(pending, errno), ("preempted", 0)] for errno in (0, Errno.ECANCELED)]
    checks.member(events, ends, "callbacks of a preempted buffer")
    for answer in victim.recorder.answers:
        checks.equal(answer.buffer is None, answer.errno != 0, "no buffer exactly where there is an error")
    return True
