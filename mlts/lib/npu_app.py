"""A client that is an app of the NPU Manager: it asks, loads when it may, infers, unloads, and asks again."""

from __future__ import annotations

import itertools
from collections import deque
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from npu_conformance.harness.judge.verdicts import Failed, Hung, NotApplicable
from npu_conformance.harness.run.repeated_inference import infer
from npu_conformance.mlts.lib.rounds import Measured, Rounds, load_vector
from npu_conformance.specs.npu.manager import Manager, ModelLoadRequestCallback, ModelLoadStatusListener
from npu_conformance.specs.npu.types import LoadStatus, ModelLoadRequest, ModelSize

if TYPE_CHECKING:
    from npu_conformance.harness.subject.handle import SubjectHandle
    from npu_conformance.mlts.lib.reports import Plan

_IN_A_ROW = 5
"""Inferences before an app unloads by itself, where it is not one that waits to be asked."""
_GRANT_SECONDS = 10.0
"""How long an app may have to wait for its turn, before time_scale: others have the NPU for a few inferences."""
_LOOK_SECONDS = 0.02


class _Asked(ModelLoadRequestCallback):
    """What the manager has said about one request."""

    def __init__(self, request: ModelLoadRequest, measured: Measured) -> None:
        self.request = request
        self._measured = measured
        self.listener: ModelLoadStatusListener | None = None
        self.must_unload = self.is_complete = False
        self.twice = ""

    def on_can_load_model(self, request: ModelLoadRequest, status: int, listener: ModelLoadStatusListener) -> None:
        """Keep what allows it to load. A second permission for one request is one too many."""
        if status == LoadStatus.CAN_LOAD_NOW:
            self._told("that it may load", self.listener is not None)
            self.listener = listener

    def on_request_unload_model(self, request: ModelLoadRequest, reason: int | None) -> None:
        """Unload behind the inference that runs."""
        if not self.must_unload:
            self._measured.enter("pre-empted")
        self.must_unload = True

    def on_model_load_request_complete(self, request: ModelLoadRequest, status: int) -> None:
        """The request is over, once."""
        self._told("that it is over", self.is_complete)
        self.is_complete = True

    def _told(self, what: str, is_known: bool) -> None:
        if is_known:
            self.twice = self.twice or what

    def check(self) -> None:
        """Failed where the app was told a thing twice."""
        if self.twice:
            raise Failed(f"the manager told the app of one request twice {self.twice}")


def work(subject: SubjectHandle, plan: Plan, thread: int, measured: Measured) -> Rounds:
    """A round is an inference with the model in the NPU; a number that comes again is a sign of life while it waits.

    measured: how often the app has loaded, and how often it was asked to unload.
    """
    manager = subject.interfaces.manager
    if manager is None:
        raise NotApplicable("apps do not see the NPU Manager")
    measured.update({"loads": 0, "unload requests": 0})
    app = _App(subject, plan, manager, measured)
    if app.is_ready:
        yield 0
    newest = deque[_Asked](maxlen=2)
    for identifier in itertools.count(1):
        asked = _Asked(ModelLoadRequest(identifier, ModelSize.GREATER_THAN_2G), measured)
        yield from app.ask(asked)
        if asked.listener is None:
            continue
        yield from app.infer(asked)
        yield from app.unload(asked, asked.listener)
        newest.append(asked)
        for one in newest:  # what is said a second time may come while the next request goes on
            one.check()


class _App:
    """What an app does about one request after the other, each as rounds.

    is_ready: it may say so. One that is to be pre-empted has its model loaded before others come.
    """

    def __init__(self, subject: SubjectHandle, plan: Plan, manager: Manager, measured: Measured) -> None:
        self._subject, self._plan, self._manager, self._measured = subject, plan, manager, measured
        self._seconds = _GRANT_SECONDS * subject.manifest.time_scale
        self._done = 0
        self.is_ready = not plan.pre_empted

    def ask(self, asked: _Asked) -> Rounds:
        """Wait for the grant, or for the end of the request. Only an app that others pre-empt may wait for as long."""
        self._measured.enter("blocked")
        self._manager.request_can_load_model(asked.request, asked)
        most = self._seconds * (3 if self._plan.pre_empted else 1)
        for waited in self._looks(lambda: asked.listener is not None or asked.is_complete):
            if waited > most:
                raise Hung(f"the manager did not let the app load within {waited:g} s")
            if self.is_ready:
                yield self._done

    def infer(self, asked: _Asked) -> Rounds:
        """Load the model, and infer until the app is asked to unload it, or has had enough."""
        self._measured.enter("loading")
        number = 0
        for number in _loaded(self._subject, self._plan, asked):
            self.is_ready = True
            if not number:
                self._measured.enter("running")
            self._measured.inferences = self._done + number
            yield self._done + number
        self._done += number
        self._measured["loads"] += 1
        self._measured["unload requests"] += asked.must_unload

    def unload(self, asked: _Asked, listener: ModelLoadStatusListener) -> Rounds:
        """Say that the model is gone, and wait until the manager has noted it."""
        self._measured.enter("unloading")
        listener.notify_model_unloaded(asked.request)
        for waited in self._looks(lambda: asked.is_complete):
            if waited > self._seconds:
                raise Failed(f"a model was unloaded, and its request was not completed within {waited:g} s")
            yield self._done

    def _looks(self, is_over: Callable[[], bool]) -> Iterator[float]:
        """How many seconds it has waited, after each look that found that it is not over."""
        for looks in itertools.count(1):
            if self._subject.wait_until(is_over, _LOOK_SECONDS):
                return
            yield looks * _LOOK_SECONDS


def _loaded(subject: SubjectHandle, plan: Plan, asked: _Asked) -> Rounds:
    inferences = infer(subject, load_vector(plan.models[0]), 1 << 62)
    try:
        next(inferences)
        assert asked.listener is not None
        asked.listener.notify_model_loaded(asked.request)
        yield 0
        for number in inferences:
            yield number
            subject.serve_pending()
            if asked.must_unload or asked.is_complete or (number == _IN_A_ROW and not plan.pre_empted):
                return
    finally:
        inferences.close()
