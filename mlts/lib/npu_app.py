"""A client that is an app of the NPU Manager: it asks, loads when it may, infers, unloads, and asks again."""

from __future__ import annotations

import itertools
from collections.abc import Generator
from typing import TYPE_CHECKING

from npu_conformance.harness.judge.verdicts import Failed, Hung, NotApplicable
from npu_conformance.harness.run.repeated_inference import infer
from npu_conformance.mlts.lib.rounds import Measured, Rounds, load_vector
from npu_conformance.specs.npu.manager import ModelLoadRequestCallback, ModelLoadStatusListener
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

    def __init__(self, measured: Measured) -> None:
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
    done, number, over = 0, 0, list[_Asked]()
    is_ready = not plan.pre_empted  # one that is to be pre-empted has its model loaded before others come
    if is_ready:
        yield 0
    for identifier in itertools.count(1):
        request, asked = ModelLoadRequest(identifier, ModelSize.GREATER_THAN_2G), _Asked(measured)
        measured.enter("blocked")
        manager.request_can_load_model(request, asked)
        for waiting in _waiting(subject, plan, done, asked):
            if is_ready:
                yield waiting
        if asked.listener is None:
            continue
        measured.enter("loading")
        for number in _loaded(subject, plan, request, asked):
            is_ready = True
            if not number:
                measured.enter("running")
            measured.inferences = done + number
            yield done + number
        done += number
        measured["loads"] += 1
        measured["unload requests"] += asked.must_unload
        measured.enter("unloading")
        asked.listener.notify_model_unloaded(request)
        yield from _completing(subject, done, asked)
        over.append(asked)
        for one in over[-2:]:  # what is said a second time may come while the next request goes on
            one.check()


def _waiting(subject: SubjectHandle, plan: Plan, done: int, asked: _Asked) -> Generator[int]:
    """Wait for the grant, or for the end of the request. Only an app that others pre-empt may wait for as long."""
    scale = subject.manifest.time_scale
    for waited in itertools.count(1):
        if subject.wait_until(lambda: asked.listener is not None or asked.is_complete, _LOOK_SECONDS):
            return
        if waited * _LOOK_SECONDS > _GRANT_SECONDS * scale * (3 if plan.pre_empted else 1):
            raise Hung(f"the manager did not let the app load within {waited * _LOOK_SECONDS:g} s")
        yield done


def _loaded(subject: SubjectHandle, plan: Plan, request: ModelLoadRequest, asked: _Asked) -> Rounds:
    inferences = infer(subject, load_vector(plan.models[0]), 1 << 62)
    try:
        next(inferences)
        assert asked.listener is not None
        asked.listener.notify_model_loaded(request)
        yield 0
        for number in inferences:
            yield number
            subject.serve_pending()
            if asked.must_unload or asked.is_complete or (number == _IN_A_ROW and not plan.pre_empted):
                return
    finally:
        inferences.close()


def _completing(subject: SubjectHandle, done: int, asked: _Asked) -> Generator[int]:
    """Wait until the manager has noted that the model is gone."""
    seconds = _GRANT_SECONDS * subject.manifest.time_scale
    for waited in itertools.count(1):
        if subject.wait_until(lambda: asked.is_complete, _LOOK_SECONDS):
            return
        if waited * _LOOK_SECONDS > seconds:
            raise Failed(f"a model was unloaded, and its request was not completed within {seconds:g} s")
        yield done
