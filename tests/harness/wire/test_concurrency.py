"""Calls at once: they really overlap, errors stay with the call that had them, and a death gives one verdict."""

from __future__ import annotations

import functools
import sys
from collections.abc import Iterator

import pytest
from places import HOSTILE

from npu_conformance.harness.judge.verdicts import Crashed, Failed, Hung, NotApplicable
from npu_conformance.harness.run.preparation import PreparationArguments, PreparationRecorder, prepare
from npu_conformance.harness.subject.handle import SubjectHandle
from npu_conformance.harness.subject.loading import Isolation, open_subject
from npu_conformance.specs.errors import InterfaceError, ServiceError
from npu_conformance.specs.neuralnetworks import hal, types

PLUGIN = "meeting_plugin:plugin"
DIES, HANGS = 40, 41
NOTHING = types.Request((), (), ())


@pytest.fixture(scope="module", autouse=True)
def plugin_path() -> Iterator[None]:
    sys.path.insert(0, str(HOSTILE))
    yield
    del sys.path[0]


@pytest.fixture(params=["process", "inprocess"])
def subject(request: pytest.FixtureRequest) -> Iterator[SubjectHandle]:
    handle = open_subject(PLUGIN, isolation=request.param)
    yield handle
    handle.close()


def prepared(subject: SubjectHandle) -> hal.PreparedModel:
    device, model = subject.interfaces.device, types.Model(types.Subgraph((), (), (), ()))
    assert device is not None
    arguments = PreparationArguments(preference=1, priority=1)
    prepared_model = prepare(subject, device, model, arguments, PreparationRecorder()).prepared_model
    assert prepared_model is not None
    return prepared_model


def execute(model: hal.PreparedModel, number: int) -> int:
    return model.execute_synchronously(NOTHING, False, -1, number).timing.time_on_device


def executed(subject: SubjectHandle, *numbers: int) -> list[int | InterfaceError]:
    model = prepared(subject)
    return subject.run_concurrently([functools.partial(execute, model, number) for number in numbers])


def test_calls_overlap_and_answers_find_their_calls(subject: SubjectHandle) -> None:
    assert executed(subject, 7, 8, 9, 10, 11, 12) == [7, 8, 9, 10, 11, 12]


def test_an_error_is_the_outcome_of_its_call_alone(subject: SubjectHandle) -> None:
    first, refused, last = executed(subject, 7, 0, 9)
    assert (first, last) == (7, 9)
    assert isinstance(refused, ServiceError)


def test_a_check_that_fails_in_a_call_ends_the_case(subject: SubjectHandle) -> None:
    def fails() -> None:
        raise Failed("a check")

    with pytest.raises(Failed, match="a check"):
        subject.run_concurrently([fails, lambda: None])


@pytest.mark.parametrize(("number", "verdict"), [(DIES, Crashed), (HANGS, Hung)])
def test_one_verdict_comes_of_a_death(number: int, verdict: type[Exception]) -> None:
    subject = open_subject(PLUGIN)
    try:
        with pytest.raises(verdict):
            executed(subject, number, number, number)
        subject.restart()
        assert executed(subject, 1, 2, 3) == [1, 2, 3]
    finally:
        subject.close()


@pytest.mark.parametrize("isolation", ["process", "inprocess"])
def test_a_driver_of_one_thread_is_not_asked(isolation: Isolation) -> None:
    single = open_subject(PLUGIN, {"calls": "1"}, isolation)
    try:
        with pytest.raises(NotApplicable, match="one call after the other"):
            executed(single, 1, 2, 3)
    finally:
        single.close()
