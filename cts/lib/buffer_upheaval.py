"""The steps of random scenarios of buffers about what is under way, and what happens around: policies, deaths."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial
from typing import ClassVar

from npu_conformance.cts.lib.buffer_fixture import (
    ASSISTANT,
    CAMERA,
    PAGE,
    BufferApp,
    errno_raised,
    fresh_process,
    is_rejected,
)
from npu_conformance.cts.lib.buffer_scenario import BufferScenario, Deed
from npu_conformance.cts.lib.buffer_steps import Step, part_of
from npu_conformance.cts.lib.manager_client import install
from npu_conformance.harness.judge import checks
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.specs.errors import InterfaceError
from npu_conformance.specs.npu.types import Importance, MemoryPressure, Policy

_SETTINGS, _PID = 10_100, 5101
_SIBLING = 3
"""The allocator of another process of the first one's app."""


class BufferUpheaval(BufferScenario):
    """A scenario of buffers that knows these steps as well."""

    def __init__(self, context: CaseContext) -> None:
        self._control = context.subject.interfaces.manager_control
        if self._control is not None:
            fresh_process(context, CAMERA)
            fresh_process(context, ASSISTANT)
        super().__init__(context)
        self.apps.append(BufferApp(context, CAMERA, _PID + 2).supported())
        self.buffers.append({})

    def _overlap(self, step: Step) -> None:
        """While a file is loaded, mappings end as ever, and other buffers are what they are (NPU-BUF-006, -011)."""
        app, (identifier,) = self.apps[step.app], step.ids
        one = self.buffers[step.app].get(identifier)
        if one is None:
            return
        start, stop = part_of(step, one.size)
        content, before = self._pattern(stop - start), app.recorder.count("loaded", identifier)
        segment = app.segment(content, 0, len(content), start)
        checks.succeeds(lambda: app.allocator.load_file_segment_to_buffer(identifier, segment), "load")
        for other in self.buffers[step.app]:
            if other != identifier:
                self._judge_content(step.app, other)
        if one.mappings and step.stays:
            memory, _ = one.mappings.pop(step.number % len(one.mappings))
            checks.succeeds(lambda: one.buffer.unmap(memory.token), "unmap while a file is loaded")
        app.awaited(lambda: app.recorder.count("loaded", identifier) > before, f"answer to the load of {identifier}")
        checks.equal(app.recorder.of(identifier)[-1], ("loaded", 0), f"answer to the load of buffer {identifier}")
        if one.content is not None:
            one.content[start:stop] = content
        self._judge_content(step.app, identifier)

    def _hurry(self, step: Step) -> None:
        """Of a batch one is freed before its answer: each has one answer, the others their buffers (NPU-BUF-003)."""
        app, live = self.apps[step.app], self.buffers[step.app]
        fresh = [identifier for identifier in (*step.ids, 2001, 2002) if identifier not in live]
        requests = self._requests_of(step, fresh)
        if not requests:
            return
        asked = tuple(request for request, _ in requests)
        before = {one.id: app.recorder.count("allocated", one.id) for one in asked}
        checks.succeeds(lambda: app.allocator.get_buffers(asked), "getBuffers")
        freed = asked[step.number % len(asked)].id
        was_known = errno_raised(lambda: app.allocator.put_buffers((freed,))) == 0
        for one in asked:
            what = f"answer to request {one.id}, while {freed} is freed before its answer"
            app.awaited(partial(app.recorder.has_come, "allocated", one.id, before[one.id]), what)
        for request, loaded in requests:
            answer = next(each for each in reversed(app.recorder.answers) if each.id == request.id)
            if request.id == freed and answer.buffer is not None and not was_known:
                app.free(freed)
            elif request.id != freed:
                self._take(step.app, request, loaded, answer)
            self._judge_callbacks(app, request.id)

    def _ask(self, step: Step) -> None:
        """Whether something is supported does not follow from its id, or from what lives (NPU-BUF-008)."""
        app, (identifier,) = self.apps[step.app], step.ids
        request, _ = self._request(step, identifier, 0)
        first = next(one for one in range(3000, 4000) if one not in self.buffers[step.app])
        other, _ = self._request(step, first, 0)
        found = app.allocator.is_supported((request, other))
        is_refused = identifier < 0 and found == (False, True)  # no document says that negative ids are legal
        is_same = len(found) == 2 and found[0] == found[1]
        checks.that(is_same or is_refused, f"isSupported of {request} and of {other}: {found}")

    def _load_nothing(self, step: Step) -> None:
        """A load of no bytes is answered, one way or the other, and changes none."""
        app, (identifier,) = self.apps[step.app], step.ids
        app.loaded(identifier, app.segment(self._pattern(PAGE), 0, 0, 0))
        if identifier in self.buffers[step.app]:
            self._judge_content(step.app, identifier)

    def _change_the_world(self, step: Step) -> None:
        """What happens to models and apps costs no mapped buffer, and others not without a word (NPU-BUF-009)."""
        if self._control is None:
            return
        with suppress(InterfaceError):
            _WORLDS[step.number % len(_WORLDS)](self, step)
        for index, app in enumerate(self.apps):
            app.flush()
            self._lose_what_was_told(index)
        for index, live in enumerate(self.buffers):
            for identifier in live:
                self._judge_content(index, identifier)

    def _set_policy(self, step: Step) -> None:
        settings = install(self.context, _SETTINGS)
        settings.manager.set_policy(tuple(Policy)[step.size % 3], None)
        settings.manager.set_policy(Policy.STATUS_QUO, None)

    def _set_importance(self, step: Step) -> None:
        assert self._control is not None
        for importance in (Importance.FOREGROUND, Importance.GONE):
            self._control.set_importance(self.apps[step.app].uid, importance)

    def _set_pressure(self, _: Step) -> None:
        assert self._control is not None
        try:
            self._control.set_memory_pressure(MemoryPressure.CRITICAL)
        finally:
            self._control.set_memory_pressure(MemoryPressure.NONE)

    def _lose_what_was_told(self, index: int) -> None:
        """A manager may take what is not mapped, and tells of it."""
        app, live = self.apps[index], self.buffers[index]
        for identifier, one in [*live.items()]:
            if app.recorder.count("preempted", identifier):
                checks.that(not one.mappings, f"buffer {identifier} is mapped, and was told to be preempted")
                app.free(identifier)
                del live[identifier]
        app.recorder.events = [event for event in app.recorder.events if event[0] != "preempted"]

    def _kill(self, step: Step) -> None:
        """A process with two allocators is killed, and starts again; what another of its app asks for is answered."""
        if self._control is None:
            return
        sibling, identifier = self.apps[_SIBLING], 2003
        before = sibling.recorder.count("allocated", identifier)
        sibling.allocator.get_buffers((sibling.request(identifier),))
        self._control.kill_client(CAMERA, _PID)
        self.apps[0] = BufferApp(self.context, CAMERA, _PID).supported()
        self.apps[1] = self.apps[0].another()
        self.buffers[:2] = {}, {}
        if any(is_rejected(partial(one.buffer.map, 1, one.protection, 0)) for one in self.buffers[_SIBLING].values()):
            self.context.warn_quality("the death of one process takes the buffers of another process of the same uid")
            self.apps[_SIBLING] = BufferApp(self.context, CAMERA, _PID + 2).supported()
            self.buffers[_SIBLING] = {}
            return
        answered = sibling.happens(lambda: sibling.recorder.count("allocated", identifier) > before)
        if self.buffers[_SIBLING]:
            checks.that(answered, f"a request of the process that lives on, whose buffers do: {answered}")
        if answered and sibling.recorder.of(identifier)[-1] == ("allocated", 0):
            sibling.free(identifier)

    def _turn(self, step: Step) -> None:
        """From here on an app asks for buffers of another device or type, if there is one."""
        app = self.apps[step.app]
        app.place = app.places[step.number % len(app.places)]

    deeds: ClassVar[Mapping[str, Deed]] = {
        **BufferScenario.deeds,
        "turn": _turn,
        "overlap": _overlap,
        "hurry": _hurry,
        "ask": _ask,
        "nothing": _load_nothing,
        "world": _change_the_world,
        "kill": _kill,
    }


_WORLDS: tuple[Callable[[BufferUpheaval, Step], None], ...] = (
    BufferUpheaval._set_policy,
    BufferUpheaval._set_importance,
    BufferUpheaval._set_pressure,
)
