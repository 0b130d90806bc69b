"""Random scenarios in which memory runs short: buffers are preempted, or they are not, and never without a word.

Which end of the range of priorities is the stronger is not published, and a manager need not preempt at all. So it is
free who is preempted; what that means for its client, and for the others, is not.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial

from msgspec.structs import replace

from npu_conformance.cts.lib.buffer_fixture import (
    ASSISTANT,
    CAMERA,
    GONE,
    NO_ROOM,
    PAGE,
    READ_WRITE,
    Answer,
    BufferApp,
    check_errno,
    errno_raised,
    fresh_process,
    pattern,
    raises_errno,
)
from npu_conformance.cts.lib.buffer_steps import Step
from npu_conformance.cts.lib.shortage import gets_in_time
from npu_conformance.harness.judge import checks
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.harness.run.random_search import must
from npu_conformance.specs.errors import InterfaceError
from npu_conformance.specs.neuralnetworks.types import Memory
from npu_conformance.specs.npu.buffers import AllocRequest, Errno, NpuBuffer, Protection

IDS = tuple(range(6))
ALLOCATORS = 3
"""Two of one process, and one of another app."""
QUARTERS = (1, 1, 2, 1, 4, 3)
_PAIRS = 6
"""From this size on two are wanted at once."""
_PRIORITIES = (500, 0, 1000, 499, 501, 1)
_KNOWN = 64
"""How many bytes of each buffer are looked at."""
_PID, _OTHER_PID = 5201, 5202


@dataclass(eq=False)
class _Buffer:
    """A buffer that was allocated. lost: its client was told that it is preempted. loading: what is to be loaded."""

    buffer: NpuBuffer
    size: int
    protection: int
    content: bytes = b""
    mappings: list[Memory] = field(default_factory=list)
    lost: bool = False
    loading: bytes | None = None


class Shortage:
    """Allocators that want more than there is. most: of which one buffer fits but not two."""

    def __init__(self, context: CaseContext, most: int) -> None:
        self.context = context
        self.most = most
        self.steps: list[Step] = []
        for uid in (CAMERA, ASSISTANT):
            fresh_process(context, uid)
        first = BufferApp(context, CAMERA, _PID).supported()
        self.apps = [first, first.another(), BufferApp(context, ASSISTANT, _OTHER_PID).supported()]
        self.buffers: list[dict[int, _Buffer]] = [{} for _ in range(ALLOCATORS)]
        self._asked: list[dict[int, tuple[AllocRequest, bool]]] = [{} for _ in range(ALLOCATORS)]
        """Requests that are not answered yet, and whether they are said to be supported."""
        self._read = [0] * ALLOCATORS
        self._answers = [0] * ALLOCATORS
        self._seed = 0
        self._under_way = self._is_soon = False
        """Whether nothing is judged yet of the step before."""

    def run(self, step: Step) -> None:
        """Let it happen; unless the next step comes at once, judge it."""
        self.steps.append(step)
        self._under_way, self._is_soon = self._is_soon, step.stays
        must(lambda: DEEDS[step.do](self, step), self.steps)
        if not step.stays:
            must(self._judge, self.steps)

    def end(self) -> None:
        """All memory comes back, whatever became of it."""
        must(self._judge, self.steps)
        for app, live in zip(self.apps, self.buffers, strict=True):
            must(partial(app.free, *live), self.steps)
            live.clear()
        last = self.apps[2]
        must(lambda: gets_in_time(last, IDS[-1] + 1, self.most, "all memory, once everything is freed"), self.steps)
        for app in self.apps:
            app.application.close()

    def _judge(self) -> None:
        """Everything has arrived: what was told is so, and what was not told has not happened."""
        for index, app in enumerate(self.apps):
            app.flush()
            what = f"answers to requests {[*self._asked[index]]} and loads of app {index}"
            app.awaited(partial(self._is_answered, index), what)
        for index, app in enumerate(self.apps):
            app.flush()
            self._receive(index)
        for app, live in zip(self.apps, self.buffers, strict=True):
            for identifier, one in live.items():
                self._judge_buffer(app, identifier, one)
        kept = sum(one.size for live in self.buffers for one in live.values() if not one.lost)
        checks.that(kept < 2 * self.most, f"buffers of {kept} bytes at once, and two of {self.most} do not fit")

    def _is_answered(self, index: int) -> bool:
        events = self.apps[index].recorder.events[self._read[index] :]
        told = {(which, identifier) for which, identifier, _ in events}
        loads = [identifier for identifier, one in self.buffers[index].items() if one.loading is not None]
        return all(("allocated", each) in told for each in self._asked[index]) and all(
            ("loaded", each) in told for each in loads
        )

    def _receive(self, index: int) -> None:
        """Take what was told, in its order (NPU-BUF-003, -009, -010)."""
        recorder = self.apps[index].recorder
        events, self._read[index] = recorder.events[self._read[index] :], len(recorder.events)
        answers = iter(recorder.answers[self._answers[index] :])
        self._answers[index] = len(recorder.answers)
        for which, identifier, errno in events:
            if which == "allocated":
                self._take(index, next(answers), (("preempted", identifier, 0) in events))
            elif which == "loaded":
                self._end_load(index, identifier, errno, ("preempted", identifier, 0) in events)
            else:
                self._lose(index, identifier)

    @checks.about("NPU-BUF-003")
    def _take(self, index: int, answer: Answer, is_told: bool) -> None:
        """An answer: with a buffer or an error; ECANCELED for what is preempted meanwhile (NPU-BUF-010)."""
        if answer.id not in IDS:
            return
        if answer.id not in self._asked[index]:
            checks.fail(f"answers to request {answer.id} of app {index}", "one", "another one")
        request, is_supported = self._asked[index].pop(answer.id)
        checks.that(is_supported or answer.errno != 0, f"{request}: isSupported denied it, and it was allocated")
        allowed = (0, *NO_ROOM, Errno.ECANCELED) if is_told else (0, *NO_ROOM)
        check_errno(answer.errno, allowed, f"errno of {request}")
        checks.equal(answer.buffer is not None, answer.errno == 0, f"whether {request} has a buffer")
        if answer.buffer is not None:
            self.buffers[index][answer.id] = _Buffer(answer.buffer, request.size, request.protection)

    @checks.about("NPU-BUF-010")
    def _end_load(self, index: int, identifier: int, errno: int, is_told: bool) -> None:
        one = self.buffers[index].get(identifier)
        if one is None or one.loading is None:
            checks.fail(f"answers to loads of buffer {identifier} of app {index}", "one", "another one")
        check_errno(errno, (0, Errno.ECANCELED) if is_told else (0,), f"errno of the load of buffer {identifier}")
        one.content, one.loading = (one.loading if errno == 0 else b""), None

    @checks.about("NPU-BUF-009")
    def _lose(self, index: int, identifier: int) -> None:
        """A preemption: once, of what is not mapped, and behind what it cuts off (NPU-BUF-009, -010)."""
        one = self.buffers[index].get(identifier)
        if one is None:  # it was cut off while it was allocated
            return
        what = f"buffer {identifier} of app {index} is told to be preempted"
        checks.that(not one.lost, f"{what} a second time")
        checks.that(not one.mappings, f"{what}, and is mapped")
        checks.that(one.loading is None, f"{what} before its load is answered")
        one.lost = True

    @checks.about("NPU-BUF-009")
    def _judge_buffer(self, app: BufferApp, identifier: int, one: _Buffer) -> None:
        """What is lost cannot be mapped; what is not lost is as it was."""
        if one.lost:
            raises_errno(lambda: one.buffer.map(PAGE, Protection.READ, 0), GONE, f"map of the lost {identifier}")
            return
        memory = checks.succeeds(lambda: one.buffer.map(PAGE, one.protection, 0), f"map of {identifier}, not lost")
        self._judge_bytes(app, one, memory)
        checks.succeeds(lambda: one.buffer.unmap(memory.token), "unmap")
        for mapped in one.mappings:
            self._judge_bytes(app, one, mapped)

    @checks.about("NPU-BUF-009")
    def _judge_bytes(self, app: BufferApp, one: _Buffer, memory: Memory) -> None:
        pool = app.open(memory)
        if one.content:
            checks.equal(pool.read(0, len(one.content)), one.content, "bytes of a buffer that is not lost")
        elif memory.prot == READ_WRITE:
            one.content = self._pattern()
            pool.write(0, one.content)
        else:
            one.content = pool.read(0, _KNOWN)

    def _pattern(self) -> bytes:
        self._seed += 1
        return pattern(self._seed, _KNOWN)

    def _ask(self, step: Step) -> None:
        """One or two are wanted; what is unsupported fails (NPU-BUF-008), and so does a live id (NPU-BUF-007, -009)."""
        app, (identifier,) = self.apps[step.app], step.ids
        live, asked = self.buffers[step.app], self._asked[step.app]
        if identifier in live and identifier not in asked:
            self._is_live(step.app, self._wanted(step, identifier))
        if identifier in live or identifier in asked:
            return
        other = IDS[(identifier + 1) % len(IDS)]
        is_pair = step.size >= _PAIRS and other not in live and other not in asked
        requests = tuple(self._wanted(step, each) for each in ((identifier, other) if is_pair else (identifier,)))
        for request, supported in zip(requests, app.allocator.is_supported(requests), strict=True):
            asked[request.id] = request, supported
        checks.succeeds(lambda: app.allocator.get_buffers(requests), "getBuffers")

    def _wanted(self, step: Step, identifier: int) -> AllocRequest:
        size = self.most * QUARTERS[step.size % len(QUARTERS)] // 4
        app, priority = self.apps[step.app], _PRIORITIES[step.number % len(_PRIORITIES)]
        wanted = app.request(identifier, size, priority=priority)
        to_read = replace(wanted, protection=Protection.READ)
        return to_read if step.number % 4 == 0 and app.supports(to_read) else wanted

    @checks.about("NPU-BUF-007")
    def _is_live(self, index: int, request: AllocRequest) -> None:
        app = self.apps[index]
        count = app.recorder.count("allocated", request.id)
        errno = errno_raised(lambda: app.allocator.get_buffers((request,)))
        if errno == 0:
            app.awaited(lambda: app.recorder.count("allocated", request.id) > count, "answer for a live id")
            errno = self._forget(index, "allocated", request.id)
        check_errno(errno, [Errno.EINVAL], f"{request}, whose id lives")

    def _forget(self, index: int, which: str, identifier: int) -> int:
        """Leave the newest callback of this kind, which is judged, out of the record; returns its errno."""
        recorder = self.apps[index].recorder
        places = [place for place, event in enumerate(recorder.events) if event[:2] == (which, identifier)]
        if which == "allocated":
            recorder.answers.remove(next(each for each in reversed(recorder.answers) if each.id == identifier))
        return recorder.events.pop(places[-1])[2]

    def _hold(self, step: Step) -> None:
        one = self._one(step)
        if one is not None and not one.lost and one.loading is None:
            asked = one.protection if step.number % 2 else Protection.READ
            with suppress(InterfaceError):  # it may be lost by now; else the judge says so
                one.mappings.append(one.buffer.map(PAGE, asked, 0))

    @checks.about("NPU-BUF-006")
    def _release(self, step: Step) -> None:
        one = self._one(step)
        if one is not None and one.mappings:
            memory = one.mappings.pop()
            checks.succeeds(lambda: one.buffer.unmap(memory.token), "unmap")
            errno_raised(lambda: one.buffer.unmap(memory.token))  # which may succeed, as munmap does, and ends nothing

    @checks.about("NPU-BUF-013")
    def _free(self, step: Step) -> None:
        """Lost buffers are freed like others (NPU-BUF-009, -013)."""
        one = self._one(step)
        if one is not None and one.loading is None:
            self.apps[step.app].free(*step.ids)
            del self.buffers[step.app][step.ids[0]]

    def _prefer(self, step: Step) -> None:
        """What is lost is known until it is freed (NPU-BUF-009), and setPriority refuses unknown buffers alone."""
        one = self._one(step)
        if one is not None:
            priority = _PRIORITIES[step.number % len(_PRIORITIES)]
            allocator = self.apps[step.app].allocator
            with checks.about("NPU-BUF-009" if one.lost else "NPU-BUF-014"):
                checks.succeeds(lambda: allocator.set_priority(step.ids[0], priority), "setPriority")

    @checks.about("NPU-BUF-012")
    def _load(self, step: Step) -> None:
        """A load of what is lost is refused with EINVAL (NPU-BUF-012); another may be cut off."""
        app, one = self.apps[step.app], self._one(step)
        if one is None or self._under_way:
            return
        content = self._pattern()
        segment = app.segment(content, 0, len(content), 0)
        if one.lost:
            count = app.recorder.count("loaded", step.ids[0])
            check_errno(app.loaded(step.ids[0], segment), [Errno.EINVAL], "load of a lost buffer")
            if app.recorder.count("loaded", step.ids[0]) > count:
                self._forget(step.app, "loaded", step.ids[0])
            return
        one.loading = content
        checks.succeeds(lambda: app.allocator.load_file_segment_to_buffer(step.ids[0], segment), "load")

    def _die(self, step: Step) -> None:
        """A process goes, with all its allocators, and comes back without buffers."""
        places = (2,) if step.app == 2 else (0, 1)
        control = self.context.subject.interfaces.manager_control
        app = self.apps[places[0]]
        pid = _OTHER_PID if step.app == 2 else _PID
        if control is None:
            app.application.close()
        else:
            control.kill_client(app.uid, pid)
        fresh = BufferApp(self.context, app.uid, pid).supported()
        for place, one in zip(places, (fresh, fresh.another()), strict=False):
            self.apps[place], self.buffers[place], self._asked[place] = one, {}, {}
            self._read[place] = self._answers[place] = 0

    def _one(self, step: Step) -> _Buffer | None:
        return self.buffers[step.app].get(step.ids[0])


DEEDS: dict[str, Callable[[Shortage, Step], None]] = {
    "ask": Shortage._ask,
    "hold": Shortage._hold,
    "release": Shortage._release,
    "free": Shortage._free,
    "prefer": Shortage._prefer,
    "load": Shortage._load,
    "die": Shortage._die,
}
