"""A device of a runtime as a driver: what it launches, what it refuses, and what is not visible."""

from __future__ import annotations

import os
import struct
from pathlib import Path

import pytest
from graphs import OUTPUT, change
from nnapi_libraries import NEEDED, App, opened, sum_model
from patience import SECONDS

from npu_conformance.cli.main import main
from npu_conformance.harness.subject.checked_calls import Checked
from npu_conformance.harness.subject.handle import SubjectHandle
from npu_conformance.specs.errors import NotVisible, ServiceError
from npu_conformance.specs.neuralnetworks.enums import ErrorStatus
from npu_conformance.specs.neuralnetworks.hal import ExecutionCallback, PreparedModel, PreparedModelCallback
from npu_conformance.specs.neuralnetworks.runtime.result_codes import ResultCode
from npu_conformance.specs.neuralnetworks.types import Model, OutputShape, Timing
from npu_conformance.specs.versions import Version

pytestmark = NEEDED
AOSP = os.path.join(os.environ.get("NPU_CONFORMANCE_AOSP_RUNTIME", ""), "libneuralnetworks.so")


class Prepared(PreparedModelCallback):
    def __init__(self) -> None:
        self.answers: list[tuple[int, PreparedModel | None]] = []

    def notify(self, status: int, prepared_model: PreparedModel | None) -> None:
        self.answers.append((status, prepared_model))


def prepare(subject: SubjectHandle, model: Model) -> tuple[int, PreparedModel | None]:
    assert subject.interfaces.device is not None
    callback = Prepared()
    subject.interfaces.device.prepare_model(model, 1, 1, -1, (), (), bytes(32), callback)
    assert subject.wait_until(lambda: bool(callback.answers), SECONDS)
    return callback.answers[0]


@pytest.mark.parametrize("kind", ["ashmem", "mmap_fd"])
def test_the_device_of_a_runtime(tiny: str, kind: str) -> None:
    with opened(tiny) as subject:
        device, app = subject.interfaces.device, App(subject, kind)
        assert device is not None
        assert device.get_supported_operations(app.model) == (True,)
        status, prepared = prepare(subject, app.model)
        assert status == ErrorStatus.NONE
        assert prepared is not None
        result = prepared.execute_synchronously(app.request(3, 4), True, -1, -1)
        assert (result.output_sufficient_size, result.output_shapes[0].dimensions) == (True, (2,))
        assert result.timing.time_in_driver == Version.V1_2.unavailable_time
        assert app.result() == (4, 2)


def test_a_valid_model_is_launched_and_an_invalid_one_refused(tiny: str) -> None:
    with opened(tiny) as subject:
        model = sum_model()
        unsupported = change(model, operand_values=struct.pack("<2fi", 1, 2, 9))
        assert prepare(subject, unsupported) == (ErrorStatus.GENERAL_FAILURE, None)
        other = [change(operand, dimensions=()) for operand in model.main.operands]
        invalid = change(model, main=change(model.main, operands=tuple(other)))
        with pytest.raises(ServiceError) as caught:
            prepare(subject, invalid)
        assert caught.value.status == ErrorStatus.INVALID_ARGUMENT


class Executed(ExecutionCallback):
    def __init__(self) -> None:
        self.statuses: list[int] = []

    def notify(self, status: int, output_shapes: tuple[OutputShape, ...], timing: Timing | None) -> None:
        self.statuses.append(status)


@pytest.mark.parametrize(
    ("result", "status"),
    [
        (ResultCode.NO_ERROR, ErrorStatus.NONE),
        (ResultCode.MISSED_DEADLINE_TRANSIENT, ErrorStatus.MISSED_DEADLINE_TRANSIENT),
        (ResultCode.DEAD_OBJECT, ErrorStatus.GENERAL_FAILURE),
    ],
)
def test_an_execution_that_fails_was_launched(
    tiny: str, monkeypatch: pytest.MonkeyPatch, result: ResultCode, status: ErrorStatus
) -> None:
    with opened(tiny) as subject:
        app, callback = App(subject), Executed()
        _, prepared = prepare(subject, app.model)
        assert prepared is not None
        assert isinstance(app.runtime, Checked)
        monkeypatch.setattr(app.runtime.target, "event_wait", lambda event: result)
        prepared.execute(app.request(1, 2), False, -1, -1, callback)
        assert callback.statuses == [status]


def test_an_execution_with_wrong_arguments_was_not_launched(tiny: str) -> None:
    with opened(tiny) as subject:
        app, callback = App(subject), Executed()
        _, prepared = prepare(subject, app.model)
        assert prepared is not None
        request = change(app.request(1, 2), inputs=())
        with pytest.raises(ServiceError) as caught:
            prepared.execute(request, False, -1, -1, callback)
        assert [caught.value.status] == callback.statuses == [ErrorStatus.INVALID_ARGUMENT]


def test_what_an_app_cannot_say_is_not_visible(tiny: str) -> None:
    with opened(tiny, "process") as subject:
        device, model = subject.interfaces.device, sum_model()
        assert device is not None
        lifetime = change(model.main.operands[0], lifetime=OUTPUT)
        wrong = change(model, main=change(model.main, operands=(lifetime, *model.main.operands[1:])))
        with pytest.raises(NotVisible, match="the lifetime of an operand, which follows from the lists"):
            device.get_supported_operations(wrong)
        with pytest.raises(NotVisible, match="how fast a device is"):
            device.get_capabilities()


def test_a_run(tiny: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    chosen = ["vts.generated.ADD.float32_none_same", "vts.generated.RELU.float32_rank2"]
    cases = [*chosen, "vts.queries.capabilities.*", "vts.burst.configure.*"]
    assert main(["run", *cases, "--plugin", tiny, "--report", str(tmp_path / "report"), "-q"]) == 0
    assert "not-applicable" in capsys.readouterr().out


@pytest.mark.skipif(not os.path.isfile(AOSP), reason="NPU_CONFORMANCE_AOSP_RUNTIME names no folder with a library")
def test_a_run_of_a_real_runtime(tmp_path: Path) -> None:
    cases = ["vts.generated.ADD.float32_*", "vts.fenced.waiting.*", "vts.preparation"]
    assert main(["run", *cases, "--plugin", AOSP, "--report", str(tmp_path / "report"), "-q"]) == 0
