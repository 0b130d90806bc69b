"""Random scenarios of buffers: every answer and every byte follows from what was asked before.

All buffers together are small, so that memory does not run short. Contents are those that were written, loaded, or
read once: nothing else changes them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, ClassVar

import msgspec

from npu_conformance.cts.lib.buffer_fixture import (
    ASSISTANT,
    CAMERA,
    LARGEST_PAGE,
    NO_ROOM,
    PAGE,
    AllocatorRecorder,
    Answer,
    BufferApp,
    errno_raised,
    is_rejected,
    pattern,
    whole_pages,
)
from npu_conformance.cts.lib.buffer_steps import (
    APPS,
    MIXED,
    PAST_THE_FILE,
    PRIORITIES,
    PROTECTIONS,
    SIZES,
    WRONG,
    Step,
    part_of,
)
from npu_conformance.harness.judge import checks
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.harness.run.random_search import must
from npu_conformance.specs.neuralnetworks.types import Memory
from npu_conformance.specs.npu.buffers import AllocRequest, BufferType, Errno, NpuBuffer, Protection

Deed = Callable[[Any, Step], None]
"""What a step does to a scenario."""


@dataclass
class _Buffer:
    """A buffer that lives, and what its bytes are: None where nobody knows, as nobody may read them."""

    buffer: NpuBuffer
    size: int
    protection: int
    content: bytearray | None = None
    mappings: list[tuple[Memory, int]] = field(default_factory=list)


class BufferScenario:
    """Allocators, their buffers, and what both have to be. deeds: what the steps of each kind do."""

    def __init__(self, context: CaseContext) -> None:
        self.context = context
        self.steps: list[Step] = []
        first = BufferApp(context, CAMERA, 5101).supported()
        self.apps = [first, first.another(), BufferApp(context, ASSISTANT, 5102).supported()]
        self.buffers: list[dict[int, _Buffer]] = [{} for _ in range(APPS)]
        self._seed = 0
        self._requests: Counter[tuple[AllocatorRecorder, int]] = Counter()
        """How often each recorder's app has asked for an id."""

    def run(self, step: Step) -> None:
        """Let it happen, and judge it."""
        self.steps.append(step)
        self._must(lambda: self.deeds[step.do](self, step))

    def judge(self) -> None:
        """Each buffer has its content, nothing was told that was not asked for, and all can be freed."""
        for index, app in enumerate(self.apps):
            for identifier in self.buffers[index]:
                self._must(partial(self._judge_content, index, identifier))
            self._must(partial(self._judge_end, app, index))

    @checks.about("NPU-BUF-009")
    def _judge_end(self, app: BufferApp, index: int) -> None:
        app.flush()
        checks.equal([event for event in app.recorder.events if event[0] == "preempted"], [], "preemptions")
        app.free(*self.buffers[index])

    def _must(self, check: Callable[[], object]) -> None:
        """Name the steps with what a check says."""
        must(check, self.steps)

    def _get(self, step: Step) -> None:
        """A batch: each request is answered once, with a buffer; a live id with EINVAL (NPU-BUF-003, -007)."""
        app, live = self.apps[step.app], self.buffers[step.app]
        requests = self._requests_of(step, [identifier for identifier in step.ids if identifier not in live])
        batch = [request for request, _ in requests]
        stray = self._stray(step)
        if stray is not None:
            batch.insert(0 if step.number > MIXED else step.protection % (len(batch) + 1), stray)
        app.get(*batch)
        if stray is not None:
            self._judge_error(app, stray)
        for request, loaded in requests:
            answer = next(each for each in reversed(app.recorder.answers) if each.id == request.id)
            self._take(step.app, request, loaded, answer)
        for request, _ in requests:
            self._judge_callbacks(app, request.id)

    def _stray(self, step: Step) -> AllocRequest | None:
        """A request that cannot be, or whose id lives, which the callback rejects where it is asked for alone."""
        app, live = self.apps[step.app], self.buffers[step.app]
        if step.number < MIXED:
            return None
        rare = AllocRequest(self._free_id(step.app), app.place[0], BufferType.AUXILIARY, PAGE)
        alive = [app.request(identifier) for identifier in [*live][:2]]
        if app.allocator.is_supported((rare,)) == (False,):
            alive.append(rare)
        choice = [*alive, *self._wrong(step.app)]
        chosen = choice[step.size % len(choice)]
        before = app.recorder.count("allocated", chosen.id)
        if errno_raised(lambda: app.allocator.get_buffers((chosen,))):
            return None
        app.awaited(lambda: app.recorder.count("allocated", chosen.id) > before, f"answer to {chosen}")
        self._judge_error(app, chosen)
        return chosen

    @checks.about("NPU-BUF-008", "NPU-BUF-002")
    def _judge_error(self, app: BufferApp, request: AllocRequest) -> None:
        errno = app.recorder.of(request.id)[-1][1]
        checks.that(errno != 0, f"{request}: expected an error, found success")
        self._judge_callbacks(app, request.id)

    @checks.about("NPU-BUF-003")
    def _take(self, index: int, request: AllocRequest, loaded: tuple[bytes, int] | None, answer: Answer) -> None:
        """Take over what was answered."""
        allowed = (0, *NO_ROOM) if request.id >= 0 else (0, *NO_ROOM, Errno.EINVAL)
        checks.that(answer.errno in allowed, f"errno of onGetBuffer for {request}: {answer.errno}")
        checks.equal(answer.buffer is not None, answer.errno == 0, f"whether {request} has a buffer")
        if answer.buffer is not None:
            self.buffers[index][request.id] = _Buffer(answer.buffer, request.size, request.protection)
            self._fill(index, request.id, loaded)

    @checks.about("NPU-BUF-003")
    def _judge_callbacks(self, app: BufferApp, identifier: int) -> None:
        app.flush()
        asked, answered = self._asked(app, identifier), app.recorder.count("allocated", identifier)
        checks.equal(answered, asked, f"answers to requests with id {identifier}")

    def _asked(self, app: BufferApp, identifier: int) -> int:
        key = (app.recorder, identifier)
        self._requests[key] += 1
        return self._requests[key]

    def _requests_of(self, step: Step, ids: Sequence[int]) -> list[tuple[AllocRequest, tuple[bytes, int] | None]]:
        """A request for each id, and what is loaded with it where; none where nothing like it is supported."""
        drawn = [self._request(step, identifier, place) for place, identifier in enumerate(ids)]
        return [one for one in drawn if self.apps[step.app].supports(one[0])]

    def _request(self, step: Step, identifier: int, place: int) -> tuple[AllocRequest, tuple[bytes, int] | None]:
        app, size = self.apps[step.app], SIZES[(step.size + place) % len(SIZES)]
        protection = PROTECTIONS[(step.protection + place) % len(PROTECTIONS)]
        priority = PRIORITIES[step.number % len(PRIORITIES)]
        drawn = app.request(identifier, size, protection=protection, priority=priority)
        others = (drawn, app.request(identifier), app.request(identifier, protection=Protection.READ))
        request = next(filter(app.supports, others), drawn)
        if not step.with_file:
            return request, None
        start, stop = part_of(step, request.size)
        content = self._pattern(stop - start + 50)
        segment = app.segment(content, 30, stop - start, start)
        with_file = msgspec.structs.replace(request, file_segment=segment)
        return (with_file, (content[30 : 30 + stop - start], start)) if app.supports(with_file) else (request, None)

    @checks.about("NPU-BUF-011")
    def _fill(self, index: int, identifier: int, loaded: tuple[bytes, int] | None) -> None:
        """Know a new buffer's bytes: what was loaded has to be there; the rest is what is found."""
        app, one = self.apps[index], self.buffers[index][identifier]
        if not one.protection & Protection.READ:
            return
        found = app.content(one.buffer, one.size)
        if loaded is not None:
            content, start = loaded
            checks.equal(found[start : start + len(content)], content, f"bytes loaded with buffer {identifier}")
        one.content = bytearray(found)
        if one.protection & Protection.WRITE:
            one.content[:] = self._pattern(one.size) if loaded is None else one.content
            if loaded is None:
                app.fill(one.buffer, bytes(one.content))

    def _pattern(self, length: int) -> bytes:
        self._seed += 1
        return pattern(self._seed, length)

    @checks.about("NPU-BUF-011")
    def _judge_content(self, index: int, identifier: int) -> None:
        app, one = self.apps[index], self.buffers[index][identifier]
        if one.content is not None:
            checks.equal(app.content(one.buffer, one.size), bytes(one.content), f"content of buffer {identifier}")
        for memory, offset in one.mappings:
            if one.content is not None and memory.prot and memory.prot & Protection.READ:
                found = app.read(memory, memory.size)
                checks.equal(found, bytes(one.content[offset : offset + memory.size]), "bytes of a mapping")

    @checks.about("NPU-BUF-006")
    def _map(self, step: Step) -> None:
        """A part of a buffer is mapped, read and written, and perhaps stays mapped (NPU-BUF-006)."""
        app, (identifier,) = self.apps[step.app], step.ids
        one = self.buffers[step.app].get(identifier)
        if one is None:
            return
        start, stop = part_of(step, one.size)
        start -= start % LARGEST_PAGE  # as mmap wants it
        asked = one.protection & step.protection
        memory = checks.succeeds(lambda: one.buffer.map(stop - start, asked, start), f"map of {start} to {stop}")
        if asked & Protection.WRITE and one.content is not None:
            one.content[start:stop] = self._pattern(stop - start)
            app.open(memory).write(0, bytes(one.content[start:stop]))
        elif not asked & Protection.WRITE:
            written = not is_rejected(lambda: app.open(memory).write(0, b"x"))
            checks.that(not written, "writing through a mapping that was not asked to be written: found success")
        one.mappings.append((memory, start))
        self._judge_content(step.app, identifier)
        if not step.stays:
            self._unmap(step)

    @checks.about("NPU-BUF-006")
    def _unmap(self, step: Step) -> None:
        """The mapping ends, and no other one."""
        one = self.buffers[step.app].get(step.ids[0])
        if one is None or not one.mappings:
            return
        memory, _ = one.mappings.pop(step.number % len(one.mappings))
        checks.succeeds(lambda: one.buffer.unmap(memory.token), "unmap")
        errno_raised(lambda: one.buffer.unmap(memory.token))  # which may succeed, as munmap does, and ends nothing
        gone = is_rejected(partial(self.apps[step.app].read, memory, 1))
        checks.that(gone, "reading through a mapping that has ended: expected a rejection")
        self._judge_content(step.app, step.ids[0])

    @checks.about("NPU-BUF-006")
    def _mismap(self, step: Step) -> None:
        """Mapping what a buffer has not, or with what its request did not allow, fails (NPU-BUF-006)."""
        one = self.buffers[step.app].get(step.ids[0])
        if one is None:
            return
        end = whole_pages(one.size)
        for length, offset in (
            (end + 1, 0),
            (end, 1),
            (1, end),
            (0, 0),
            (0, one.size),
            (1, -1),
            (-1, 0),
        ):
            what = f"map of {length} bytes at {offset} of {one.size}"
            refused = is_rejected(partial(one.buffer.map, length, one.protection, offset))
            checks.that(refused, f"{what}: expected a rejection, found success")
        for extra in (Protection.READ, Protection.WRITE, Protection.EXEC):
            if not one.protection & extra:
                refused = is_rejected(partial(one.buffer.map, one.size, one.protection | extra, 0))
                checks.that(refused, f"map with protection {one.protection | extra} of {one.protection}: found success")

    @checks.about("NPU-BUF-011", "NPU-BUF-012")
    def _load(self, step: Step) -> None:
        """A file's part goes to its place (NPU-BUF-011), and what is wrong changes nothing."""
        app, (identifier,) = self.apps[step.app], step.ids
        one = self.buffers[step.app].get(identifier)
        size = SIZES[step.size % len(SIZES)] if one is None else one.size
        start, stop = part_of(step, size)
        length = stop - start
        content = self._pattern(length + 40)
        wrong = {1: (30, length, size - length + 1), PAST_THE_FILE: (30, length + 11, start), 3: (-1, length, start)}
        wrong[4] = (30, length, -length)
        offset, count, place = wrong.get(step.number, (30, length, start))
        errno = app.loaded(identifier, app.segment(content, offset, count, place, position=step.low))
        if one is None:
            checks.equal(errno, Errno.EINVAL, f"errno of a load of the unknown buffer {identifier}")
        elif step.number == PAST_THE_FILE and errno == 0 and start + count <= size:
            self._load_in_part(step.app, identifier, content[offset:], start)
        elif step.number in wrong:
            checks.that(errno != 0, f"a load of {count} bytes at {offset} of {len(content)}: expected an error")
        else:
            checks.equal(errno, 0, f"errno of a load of buffer {identifier}")
            if one.content is not None:
                one.content[start:stop] = content[30 : 30 + length]
        if one is not None:
            self._judge_content(step.app, identifier)

    def _load_in_part(self, index: int, identifier: int, loaded: bytes, start: int) -> None:
        """A load of one byte more than the file has ought to fail; else that byte is all that nobody knows."""
        app, one = self.apps[index], self.buffers[index][identifier]
        self.context.warn_quality("a load of more than the file has is reported as done")
        if one.content is not None:
            end = start + len(loaded)
            one.content[start:end] = loaded
            one.content[end : end + 1] = app.content(one.buffer, end + 1)[end:]

    @checks.about("NPU-BUF-013")
    def _put(self, step: Step) -> None:
        """Known buffers of a list are freed, with EINVAL if others are in it (NPU-BUF-013)."""
        app, live = self.apps[step.app], self.buffers[step.app]
        known = {identifier: live.pop(identifier) for identifier in step.ids if identifier in live}
        errno = errno_raised(lambda: app.allocator.put_buffers(step.ids))
        checks.equal(errno, 0 if len(known) == len(step.ids) else Errno.EINVAL, f"errno of putBuffers of {step.ids}")
        for identifier, one in known.items():
            what = f"buffer {identifier}, which is freed"
            again = errno_raised(partial(app.allocator.put_buffers, (identifier,)))
            checks.equal(again, Errno.EINVAL, f"errno of a second putBuffers of {what}")
            for memory, _ in one.mappings:
                app.left(memory, 1)
            checks.that(is_rejected(partial(one.buffer.map, 1, one.protection, 0)), f"map of {what}: found success")
        for identifier in live if known else ():
            self._judge_content(step.app, identifier)

    @checks.about("NPU-BUF-013", "NPU-BUF-014")
    def _prefer(self, step: Step) -> None:
        """The priority of a known buffer is changed; of an unknown one EINVAL (NPU-BUF-014)."""
        app, (identifier,) = self.apps[step.app], step.ids
        errno = errno_raised(lambda: app.allocator.set_priority(identifier, PRIORITIES[step.number % len(PRIORITIES)]))
        is_known = identifier in self.buffers[step.app]
        checks.equal(errno, 0 if is_known else Errno.EINVAL, f"errno of setPriority of buffer {identifier}")

    @checks.about("NPU-BUF-002", "NPU-BUF-008")
    def _ask_wrongly(self, step: Step) -> None:
        """What cannot be is answered with an error, once, by the call or the callback (NPU-BUF-002, -003, -007)."""
        app, (identifier,) = self.apps[step.app], step.ids
        live = self.buffers[step.app]
        request = (*self._wrong(step.app), app.request(identifier))[step.number % WRONG]
        if request.id == identifier:
            if identifier not in live:
                return
            request = msgspec.structs.replace(request, protection=live[identifier].protection)
        before = app.recorder.count("allocated", request.id)
        errno = errno_raised(lambda: app.allocator.get_buffers((request,)))
        if errno == 0:
            app.awaited(partial(app.recorder.has_come, "allocated", request.id, before), f"answer to {request}")
        app.flush()
        if errno == 0:
            answers = app.recorder.of(request.id)[-1:]
            checks.equal(app.recorder.count("allocated", request.id), before + 1, f"answers to {request}")
            errno = answers[0][1]
            self._asked(app, request.id)
        checks.that(errno != 0, f"{request}: expected an error, found success")
        if step.number % WRONG in (0, 1, 2, 5):
            checks.equal(errno, Errno.EINVAL, f"errno of {request}")
        if identifier in live:
            self._judge_content(step.app, identifier)

    def _wrong(self, index: int) -> tuple[AllocRequest, ...]:
        """What cannot be."""
        app, free = self.apps[index], self._free_id(index)
        device, kind = app.place
        return (
            AllocRequest(free, -1, kind, PAGE),
            AllocRequest(free, device, BufferType.UNKNOWN, PAGE),
            AllocRequest(free, device, 5, PAGE),
            app.request(free, -PAGE),
            app.request(free, 1 << 50),
        )

    def _free_id(self, index: int) -> int:
        return next(one for one in range(1000, 2000) if one not in self.buffers[index])

    def _die(self, step: Step) -> None:
        """A client goes, and comes back without buffers; the others keep theirs."""
        self.apps[2].application.close()
        self.apps[2] = BufferApp(self.context, ASSISTANT, 5102).supported()
        self.buffers[2] = {}
        for index in (0, 1):
            for identifier in self.buffers[index]:
                self._judge_content(index, identifier)

    deeds: ClassVar[Mapping[str, Deed]] = {
        "get": _get,
        "map": _map,
        "unmap": _unmap,
        "mismap": _mismap,
        "load": _load,
        "put": _put,
        "prefer": _prefer,
        "wrong": _ask_wrongly,
        "die": _die,
    }
