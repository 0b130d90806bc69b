"""What a driver does otherwise than declared is a failure of the driver, in a host process and in the harness's."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing
from typing import Any

import pytest
from places import HOSTILE

from npu_conformance.harness.judge.classification import classify_exception
from npu_conformance.harness.run.preparation import PreparationRecorder
from npu_conformance.harness.subject.handle import SubjectHandle
from npu_conformance.harness.subject.loading import Isolation, open_subject
from npu_conformance.specs.neuralnetworks.hal import Device, PreparedModel
from npu_conformance.specs.neuralnetworks.types import BufferDesc, Memory, Model, Request, Subgraph
from npu_conformance.specs.outcomes import Outcome


@pytest.fixture(params=["process", "inprocess"])
def subject(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[SubjectHandle]:
    monkeypatch.syspath_prepend(str(HOSTILE))
    isolation: Isolation = request.param
    with closing(open_subject("declared_otherwise:plugin", isolation=isolation)) as opened:
        yield opened


def device_of(subject: SubjectHandle) -> Device:
    assert subject.interfaces.device is not None
    return subject.interfaces.device


def prepared(device: Device) -> PreparedModel:
    recorder = PreparationRecorder()
    device.prepare_model(Model(Subgraph((), (), (), ())), 0, 1, -1, (), (), bytes(32), recorder)
    ((_, model),) = recorder.answers
    assert model is not None
    return model


def execute(device: Device) -> object:
    return prepared(device).execute_synchronously(Request((), (), ()), False, -1, -1)


def allocated(device: Device) -> Any:
    return device.allocate(BufferDesc(()), (prepared(device),), (), ()).buffer


@pytest.mark.parametrize(
    ("call", "told"),
    [
        (lambda device: device.get_version_string(), ("device.getVersionString: ", "'locale' (declared_otherwise.py:")),
        (
            lambda device: device.get_type(),
            ("device.getType: a result of the wrong type at $: Expected `int`, got `str`",),
        ),
        (lambda device: device.get_status(), ("device.getStatus: ", "object cannot cross the wire")),
        (
            lambda device: device.get_capabilities(),
            ("device.getCapabilities: ", "at $.ifPerformance: Expected `object"),
        ),
        (lambda device: device.get_supported_extensions(), ("of type 'NoneType' has no len()",)),
        (execute, ("preparedModel.executeSynchronously: a result of the wrong type at $: Expected `object`",)),
        (lambda device: allocated(device).copy_to(Memory("ashmem", 4, 1)), ("buffer.copyTo: ", "Expected `null`")),
    ],
)
def test_it_is_a_failure_wherever_the_driver_lives(
    subject: SubjectHandle, call: Callable[[Device], object], told: tuple[str, ...]
) -> None:
    with pytest.raises(Exception) as caught:  # noqa: PT011 the verdict says what it is
        call(device_of(subject))
    details = classify_exception(caught.value)
    assert details.outcome is Outcome.FAIL
    for words in told:
        assert words in details.message


def test_an_object_of_another_interface_is_a_failure_of_who_gives_it() -> None:
    subject = open_subject("declared_otherwise:plugin", isolation="inprocess")
    with closing(subject), pytest.raises(Exception) as caught:  # noqa: PT011
        prepared(device_of(subject)).configure_execution_burst()
    details = classify_exception(caught.value)
    assert (details.outcome, details.about) == (Outcome.FAIL, ("NNHAL-WIRE-001",))
    assert "_Fence is no Burst" in details.message


def test_what_stands_for_objects_stands_for_them_alone(subject: SubjectHandle) -> None:
    assert allocated(device_of(subject)) is not None  # the driver asserts that it gets its own model back
