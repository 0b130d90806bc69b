"""examples/minimal_driver.c, written from docs/wire-protocol.md alone: builds, plugs in, computes, dies, sticks."""

from __future__ import annotations

import re
import shutil
import struct
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace
from patience import SECONDS
from places import ROOT

from npu_conformance.cli.main import main
from npu_conformance.harness.judge.verdicts import Crashed, Hung
from npu_conformance.harness.run.session_options import SessionOptions, open_by_options
from npu_conformance.harness.subject.handle import SubjectHandle
from npu_conformance.harness.subject.loading import open_subject
from npu_conformance.harness.subject.plugin_loading import LoadError
from npu_conformance.specs.errors import ServiceError, Unsupported
from npu_conformance.specs.neuralnetworks import hal, types
from npu_conformance.specs.neuralnetworks.enums import (
    ErrorStatus,
    FusedActivation,
    OperandLifeTime,
    OperandType,
    OperationType,
)

SOURCE = ROOT / "examples" / "minimal_driver.c"
LEFT, RIGHT = (1.0, -2.5, 3.0, 0.25), (0.5, 1.0, -4.0, 8.0)


@pytest.fixture(scope="module")
def driver(tmp_path_factory: pytest.TempPathFactory) -> str:
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("no C compiler on this machine")
    program = tmp_path_factory.mktemp("driver") / "minimal_driver"
    flags = ["-std=c11", "-O1", "-Wall", "-Wextra", "-Werror"]
    subprocess.run([compiler, *flags, "-o", str(program), str(SOURCE)], check=True, timeout=SECONDS)
    return str(program)


@pytest.fixture
def subject(driver: str) -> Iterator[SubjectHandle]:
    handle = open_subject(f"exec:{driver}")
    yield handle
    handle.close()


class Prepared(hal.PreparedModelCallback):
    """Keeps what it receives."""

    def __init__(self) -> None:
        self.outcomes: list[tuple[int, hal.PreparedModel | None]] = []

    def notify(self, status: int, prepared_model: hal.PreparedModel | None) -> None:
        """Keep."""
        self.outcomes.append((status, prepared_model))


def tensor(lifetime: OperandLifeTime, kind: OperandType = OperandType.TENSOR_FLOAT32) -> types.Operand:
    """Four elements."""
    readers = 0 if lifetime == OperandLifeTime.SUBGRAPH_OUTPUT else 1
    scale = 0.5 if kind == OperandType.TENSOR_QUANT8_ASYMM else 0.0
    return types.Operand(kind, (2, 2), scale=scale, lifetime=lifetime, number_of_consumers=readers)


def add_then_relu(kind: OperandType = OperandType.TENSOR_FLOAT32, last: int = OperationType.RELU) -> types.Model:
    """relu(left + right)."""
    activation = types.Operand(
        OperandType.INT32,
        lifetime=OperandLifeTime.CONSTANT_COPY,
        location=types.DataLocation(0, 0, 4),
        number_of_consumers=1,
    )
    inputs = tensor(OperandLifeTime.SUBGRAPH_INPUT, kind), tensor(OperandLifeTime.SUBGRAPH_INPUT, kind)
    inner, output = tensor(OperandLifeTime.TEMPORARY_VARIABLE, kind), tensor(OperandLifeTime.SUBGRAPH_OUTPUT, kind)
    operations = (types.Operation(OperationType.ADD, (0, 1, 2), (3,)), types.Operation(last, (3,), (4,)))
    graph = types.Subgraph((*inputs, activation, inner, output), operations, (0, 1), (4,))
    return types.Model(graph, operand_values=struct.pack("<i", FusedActivation.NONE))


def device_of(subject: SubjectHandle) -> hal.Device:
    """The driver's device."""
    assert subject.interfaces.device is not None
    return subject.interfaces.device


def prepare(subject: SubjectHandle, model: types.Model) -> hal.PreparedModel:
    """Prepare a model that the driver supports."""
    callback = Prepared()
    device_of(subject).prepare_model(model, 1, 1, 2**64 - 1, (), (), b"", callback)
    assert subject.wait_until(lambda: bool(callback.outcomes), SECONDS)
    ((status, prepared),) = callback.outcomes
    assert status == ErrorStatus.NONE
    assert prepared is not None
    return prepared


class Executed(hal.ExecutionCallback):
    """Keeps what it receives."""

    def __init__(self) -> None:
        self.outcomes: list[tuple[int, tuple[types.OutputShape, ...], types.Timing | None]] = []

    def notify(self, status: int, output_shapes: tuple[types.OutputShape, ...], timing: types.Timing | None) -> None:
        """Keep."""
        self.outcomes.append((status, output_shapes, timing))


def execute(subject: SubjectHandle, prepared: hal.PreparedModel, output_size: int = 16) -> bytes:
    """Run with LEFT and RIGHT."""
    source, target = subject.memory.create("ashmem", 32), subject.memory.create("ashmem", 16)
    source.write(0, struct.pack("<8f", *LEFT, *RIGHT))
    inputs = [types.RequestArgument(location=types.DataLocation(0, offset, 16)) for offset in (0, 16)]
    outputs = [types.RequestArgument(location=types.DataLocation(1, 0, output_size))]
    pools = [types.RequestMemoryPool(pool.memory) for pool in (source, target)]
    request = types.Request(tuple(inputs), tuple(outputs), tuple(pools))
    callback = Executed()
    prepared.execute(request, False, 2**64 - 1, 2**64 - 1, callback)
    assert subject.wait_until(lambda: bool(callback.outcomes), SECONDS)
    assert callback.outcomes == [(ErrorStatus.NONE, (), None)]
    return target.read(0, 16)


def test_queries(subject: SubjectHandle) -> None:
    device = device_of(subject)
    assert subject.manifest.name == "minimal"
    assert subject.memory.transports == ("path",)
    assert device.get_status() == 0
    assert device.get_capabilities() == types.Capabilities(types.PerformanceInfo(1, 1), types.PerformanceInfo(1, 1))


def test_add_and_relu(subject: SubjectHandle) -> None:
    model = add_then_relu()
    assert device_of(subject).get_supported_operations(model) == (True, True)
    prepared = prepare(subject, model)
    expected = struct.pack("<4f", *[max(0.0, left + right) for left, right in zip(LEFT, RIGHT, strict=True)])
    assert execute(subject, prepared) == expected
    with pytest.raises(ServiceError) as caught:
        execute(subject, prepared, 12)
    assert caught.value.status == ErrorStatus.INVALID_ARGUMENT


def test_what_it_can_not_do_is_not_supported(subject: SubjectHandle) -> None:
    device = device_of(subject)
    assert device.get_supported_operations(add_then_relu(last=OperationType.TANH)) == (True, False)
    assert device.get_supported_operations(add_then_relu(OperandType.TENSOR_QUANT8_ASYMM)) == (False, False)


@pytest.mark.parametrize(
    "model",
    [
        lambda: add_then_relu(OperandType.TENSOR_FLOAT16),
        lambda: add_then_relu(last=OperationType.ABS),
        lambda: add_then_relu(last=OperationType.CONV_2D),
        lambda: add_then_relu(OperandType.TENSOR_QUANT8_ASYMM, OperationType.TANH),
        lambda: add_then_relu(OperandType.TENSOR_QUANT8_ASYMM, OperationType.FLOOR),
    ],
    ids=["a type of 1.2", "an operation of 1.2", "too few inputs", "a type of TANH since 1.2", "a type of no FLOOR"],
)
def test_what_its_version_does_not_allow_is_refused(subject: SubjectHandle, model: Callable[[], types.Model]) -> None:
    with pytest.raises(ServiceError) as caught:
        device_of(subject).get_supported_operations(model())
    assert caught.value.status == ErrorStatus.INVALID_ARGUMENT


def test_malformed_models_are_refused(subject: SubjectHandle) -> None:
    graph = types.Subgraph((), (types.Operation(0, (7,), (8,)),), (), (9,))
    with pytest.raises(ServiceError) as caught:
        device_of(subject).get_supported_operations(types.Model(graph))
    assert caught.value.status == ErrorStatus.INVALID_ARGUMENT
    callback = Prepared()
    with pytest.raises(ServiceError):
        device_of(subject).prepare_model(types.Model(graph), 1, 1, 0, (), (), b"", callback)
    assert callback.outcomes == [(ErrorStatus.INVALID_ARGUMENT, None)]


@pytest.mark.parametrize(
    ("operand", "changes"),
    [
        (0, {"type": 14}),
        (0, {"scale": 0.5}),
        (1, {"location": types.DataLocation(0, 4, 0)}),
        (2, {"location": types.DataLocation(0, 4, 4)}),
        (2, {"dimensions": (1,)}),
        (3, {"number_of_consumers": 2}),
        (4, {"lifetime": OperandLifeTime.TEMPORARY_VARIABLE}),
    ],
)
def test_graphs_that_are_wrong_are_refused(subject: SubjectHandle, operand: int, changes: dict[str, object]) -> None:
    model = add_then_relu()
    operands = list(model.main.operands)
    operands[operand] = replace(operands[operand], **changes)
    with pytest.raises(ServiceError) as caught:
        device_of(subject).get_supported_operations(replace(model, main=replace(model.main, operands=tuple(operands))))
    assert caught.value.status == ErrorStatus.INVALID_ARGUMENT


_SOME = "(validation and (LSTM or CONCATENATION)) or ((histories or alike) and (ADD or RELU))"
"""Of operations that the driver has, and that it does not have."""


@pytest.mark.parametrize("chosen", [["-k", _SOME], []], ids=["some", "all"])
def test_the_line_of_readme_is_green(
    chosen: list[str], driver: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    line = re.search(r"npu-conformance (run vts --plugin) \"exec:./minimal_driver\"", (ROOT / "README.md").read_text())
    assert line is not None
    monkeypatch.chdir(tmp_path)
    assert main([*line[1].split(), f"exec:{driver}", "-q", *chosen]) == 0


def test_an_option_that_its_manifest_does_not_name(driver: str) -> None:
    with pytest.raises(LoadError, match="has no option 'hal'; it has none"):
        open_by_options(SessionOptions(f"exec:{driver}", ("hal=1.2",)))
    open_by_options(SessionOptions(f"exec:{driver}", hal="1.0")).close()


def test_segmentation_fault_is_a_crash(driver: str) -> None:
    subject = open_subject(f"exec:{driver} --crash-on RELU")
    prepared = prepare(subject, add_then_relu())
    with pytest.raises(Crashed, match=r"preparedModel\.execute: .* killed by SIGSEGV"):
        execute(subject, prepared)
    subject.restart()
    assert device_of(subject).get_status() == 0
    subject.close()


def test_endless_loop_is_a_hang(driver: str) -> None:
    subject = open_subject(f"exec:{driver} --hang-on ADD")
    prepared = prepare(subject, add_then_relu())
    with pytest.raises(Hung, match="no answer within 2 s"):
        execute(subject, prepared)
    subject.restart()
    assert device_of(subject).get_status() == 0
    subject.close()


def test_wrong_arguments_say_how_it_is_used(driver: str) -> None:
    finished = subprocess.run(
        [driver, "--crash-on", "CONV"], capture_output=True, text=True, timeout=SECONDS, check=False
    )
    assert (finished.returncode, finished.stderr) == (2, "expected ADD or RELU\n")


def test_a_method_that_it_does_not_have_is_named_whatever_its_own_words(subject: SubjectHandle) -> None:
    device = subject.interfaces.device
    assert device is not None
    with pytest.raises(Unsupported, match=r"^device\.getVersionString is not implemented: .+"):
        device.get_version_string()
