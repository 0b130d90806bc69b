"""LiteRT as a driver: queries, preparation, execution, shapes that are open, and what it refuses."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pytest
from patience import SECONDS

from npu_conformance.adapters.litert import plugin
from npu_conformance.adapters.litert_runtime import INSTALL_HINT, KERNELS
from npu_conformance.adapters.lowering.operations import LOWERINGS
from npu_conformance.corpus import vectors
from npu_conformance.corpus.wire_model import build_model
from npu_conformance.specs.errors import ServiceError
from npu_conformance.specs.neuralnetworks import hal, types
from npu_conformance.specs.neuralnetworks.enums import ErrorStatus, OperandLifeTime, OperandType, OperationType
from npu_conformance.specs.plugin import Caller, Context
from npu_conformance.specs.versions import Version

NO_TIME = 2**64 - 1
FLOAT32 = OperandType.TENSOR_FLOAT32
INPUT, OUTPUT = OperandLifeTime.SUBGRAPH_INPUT, OperandLifeTime.SUBGRAPH_OUTPUT
CONSTANT = OperandLifeTime.CONSTANT_COPY
needs_litert = pytest.mark.skipif(
    subprocess.run([sys.executable, "-c", "import ai_edge_litert"], capture_output=True).returncode != 0,
    reason=INSTALL_HINT,
)


class Pools:
    """Memory pools by token."""

    def __init__(self) -> None:
        self.bytes: dict[int, bytearray] = {}

    def map(self, memory: types.Memory) -> memoryview:
        return memoryview(self.bytes[memory.token])


class Prepared(hal.PreparedModelCallback):
    """Records the outcomes of preparations."""

    def __init__(self) -> None:
        self.outcomes: list[tuple[int, hal.PreparedModel | None]] = []

    def notify(self, status: int, prepared_model: hal.PreparedModel | None) -> None:
        self.outcomes.append((status, prepared_model))


class Executed(hal.ExecutionCallback):
    """Records the statuses of executions."""

    def __init__(self) -> None:
        self.statuses: list[int] = []
        self.told = threading.Event()

    def notify(self, status: int, output_shapes: tuple[types.OutputShape, ...], timing: types.Timing | None) -> None:
        self.statuses.append(status)
        self.told.set()


class Driver:
    """The plug-in with its pools."""

    def __init__(self, kernels: str = "reference", version: str = "1.3") -> None:
        self.pools = Pools()
        options = {"kernels": kernels, "hal": version}
        device = plugin.create(Context(self.pools, lambda: Caller(uid=1, pid=1), options)).device
        assert device is not None
        self.device = device

    def prepare(self, model: types.Model) -> tuple[int, hal.PreparedModel | None]:
        """Prepare; the launch has to succeed and to notify once."""
        callback = Prepared()
        self.device.prepare_model(model, 1, 1, NO_TIME, (), (), bytes(32), callback)
        (outcome,) = callback.outcomes
        return outcome

    def request(self, values: Sequence[npt.NDArray[np.generic]], length: int) -> types.Request:
        """A request with dimensions of the values, and one output of `length` bytes in pool 2."""
        inputs, data = [], bytearray()
        for value in values:
            location = types.DataLocation(0, len(data), value.nbytes)
            inputs.append(types.RequestArgument(location=location, dimensions=value.shape))
            data += value.tobytes()
        self.pools.bytes = {1: data, 2: bytearray(length)}
        pools = [types.RequestMemoryPool(types.Memory("ashmem", len(self.pools.bytes[t]), t)) for t in (1, 2)]
        output = types.RequestArgument(location=types.DataLocation(1, 0, length))
        return types.Request(tuple(inputs), (output,), tuple(pools))

    def run(
        self, prepared: hal.PreparedModel | None, values: Sequence[npt.NDArray[np.generic]], length: int
    ) -> tuple[types.ExecutionResult, list[float]]:
        """Execute; the result, and the output pool as float32."""
        assert prepared is not None
        result = prepared.execute_synchronously(self.request(values, length), False, NO_TIME, NO_TIME)
        return result, np.frombuffer(bytes(self.pools.bytes[2]), np.float32).tolist()


def add_model(dimensions: tuple[int, ...] = (2,), *, output: tuple[int, ...] | None = None) -> types.Model:
    """out = in0 + in1, float32."""
    operands = (
        types.Operand(FLOAT32, dimensions, lifetime=INPUT, number_of_consumers=1),
        types.Operand(FLOAT32, dimensions, lifetime=INPUT, number_of_consumers=1),
        types.Operand(
            OperandType.INT32, lifetime=CONSTANT, location=types.DataLocation(0, 0, 4), number_of_consumers=1
        ),
        types.Operand(FLOAT32, dimensions if output is None else output, lifetime=OUTPUT),
    )
    operation = types.Operation(OperationType.ADD, (0, 1, 2), (3,))
    return types.Model(types.Subgraph(operands, (operation,), (0, 1), (3,)), operand_values=bytes(4))


def unary_model(operation: OperationType) -> types.Model:
    """out = operation(in), float32."""
    operands = (
        types.Operand(FLOAT32, (2,), lifetime=INPUT, number_of_consumers=1),
        types.Operand(FLOAT32, (2,), lifetime=OUTPUT),
    )
    return types.Model(types.Subgraph(operands, (types.Operation(operation, (0,), (1,)),), (0,), (1,)))


def pad_model() -> types.Model:
    """PAD of two floats, the paddings a model input."""
    operands = (
        types.Operand(FLOAT32, (2,), lifetime=INPUT, number_of_consumers=1),
        types.Operand(OperandType.TENSOR_INT32, (1, 2), lifetime=INPUT, number_of_consumers=1),
        types.Operand(FLOAT32, (0,), lifetime=OUTPUT),
    )
    return types.Model(types.Subgraph(operands, (types.Operation(OperationType.PAD, (0, 1), (2,)),), (0, 1), (2,)))


def floats(*values: float) -> npt.NDArray[np.float32]:
    return np.array(values, np.float32)


@needs_litert
@pytest.mark.parametrize("kernels", KERNELS)
def test_every_set_of_kernels_adds(kernels: str) -> None:
    driver = Driver(kernels)
    assert driver.device.get_supported_operations(add_model()) == (True,)
    status, prepared = driver.prepare(add_model())
    result, values = driver.run(prepared, [floats(1, 2), floats(10, 20)], 8)
    assert (status, result.output_sufficient_size, values) == (ErrorStatus.NONE, True, [11, 22])


@needs_litert
def test_the_version_string_names_the_kernels() -> None:
    strings = {Driver(kernels).device.get_version_string() for kernels in KERNELS}
    assert len(strings) == len(KERNELS)


@needs_litert
def test_an_asynchronous_execution_notifies_once() -> None:
    driver, callback = Driver(version="1.1"), Executed()
    _, prepared = driver.prepare(add_model())
    assert prepared is not None
    prepared.execute(driver.request([floats(1, 2), floats(3, 4)], 8), False, NO_TIME, NO_TIME, callback)
    assert callback.told.wait(SECONDS)
    assert callback.statuses == [ErrorStatus.NONE]
    assert np.frombuffer(bytes(driver.pools.bytes[2]), np.float32).tolist() == [4, 6]


@needs_litert
def test_an_operation_without_lowering_is_not_supported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(LOWERINGS, OperationType.FLOOR)
    driver, model = Driver(), unary_model(OperationType.FLOOR)
    assert driver.device.get_supported_operations(model) == (False,)
    assert driver.prepare(model) == (ErrorStatus.GENERAL_FAILURE, None)


@needs_litert
def test_an_invalid_model_is_refused_both_ways() -> None:
    driver, callback = Driver(), Prepared()
    model = types.Model(types.Subgraph((), (), (), ()))
    with pytest.raises(ServiceError) as queried:
        driver.device.get_supported_operations(model)
    with pytest.raises(ServiceError) as launched:
        driver.device.prepare_model(model, 1, 1, NO_TIME, (), (), bytes(32), callback)
    assert queried.value.status == launched.value.status == ErrorStatus.INVALID_ARGUMENT
    assert callback.outcomes == [(ErrorStatus.INVALID_ARGUMENT, None)]


@needs_litert
def test_open_shapes_are_settled_by_the_request() -> None:
    driver = Driver()
    model = add_model((0,))
    assert driver.device.get_supported_operations(model) == (True,)
    _, prepared = driver.prepare(model)
    for count in (1, 3, 2):
        values = floats(*range(count))
        result, found = driver.run(prepared, [values, values], 4 * count)
        assert result.output_shapes == (types.OutputShape((count,), True),)
        assert found == (2 * values).tolist()


@needs_litert
def test_parameters_that_come_with_the_request_are_built_in() -> None:
    driver = Driver()
    assert driver.device.get_supported_operations(pad_model()) == (True,)
    _, prepared = driver.prepare(pad_model())
    for before, after in ((1, 0), (0, 1), (1, 0)):
        paddings = np.array([[before, after]], np.int32)
        result, found = driver.run(prepared, [floats(5, 6), paddings], 12)
        assert result.output_shapes[0].dimensions == (3,)
        assert found == [0.0] * before + [5.0, 6.0] + [0.0] * after


@needs_litert
def test_a_scalar_that_comes_with_the_request_is_built_in() -> None:
    operands = (
        types.Operand(FLOAT32, (2,), lifetime=INPUT, number_of_consumers=2),
        types.Operand(OperandType.INT32, lifetime=INPUT, number_of_consumers=1),
        types.Operand(FLOAT32, (2,), lifetime=OUTPUT),
    )
    operation = types.Operation(OperationType.ADD, (0, 0, 1), (2,))
    model = types.Model(types.Subgraph(operands, (operation,), (0, 1), (2,)))
    driver = Driver()
    assert driver.device.get_supported_operations(model) == (True,)
    _, prepared = driver.prepare(model)
    for activation, expected in ((0, [-6.0, 14.0]), (3, [0.0, 6.0])):
        _, found = driver.run(prepared, [floats(-3, 7), np.array(activation, np.int32)], 8)
        assert found == expected


@needs_litert
def test_negative_paddings_of_a_request_are_refused() -> None:
    driver = Driver()
    _, prepared = driver.prepare(pad_model())
    with pytest.raises(ServiceError) as refused:
        driver.run(prepared, [floats(5, 6), np.array([[-1, 0]], np.int32)], 12)
    assert refused.value.status in (ErrorStatus.GENERAL_FAILURE, ErrorStatus.INVALID_ARGUMENT)


@needs_litert
def test_an_output_that_does_not_fit_tells_its_shape() -> None:
    driver = Driver()
    _, prepared = driver.prepare(add_model(output=(0,)))
    result, _ = driver.run(prepared, [floats(1, 2), floats(3, 4)], 4)
    assert not result.output_sufficient_size
    assert result.output_shapes == (types.OutputShape((2,), False),)


@needs_litert
def test_an_output_declared_wrong_is_not_supported() -> None:
    driver = Driver()
    assert driver.device.get_supported_operations(add_model(output=(3,))) == (False,)
    assert driver.prepare(add_model(output=(3,)))[0] != ErrorStatus.NONE


@needs_litert
@pytest.mark.parametrize("kernels", KERNELS)
def test_a_tensor_without_elements_is_tried_like_any_other(kernels: str) -> None:
    """XNNPACK refuses such pools; what is said of an operation has to be what preparation does."""
    driver, vector = Driver(kernels), vectors.load("MAX_POOL_2D", "float32_batch_zero_nhwc")
    model = build_model(vector, Version.V1_3).model
    supported = driver.device.get_supported_operations(model)
    status, prepared = driver.prepare(model)
    assert supported == (True, kernels != "xnnpack")
    assert status == (ErrorStatus.GENERAL_FAILURE if kernels == "xnnpack" else ErrorStatus.NONE)
    if prepared is not None:
        result, _ = driver.run(prepared, list(vector.examples[0].inputs.values()), 4)
        assert result.output_shapes[0].dimensions == vector.examples[0].outputs["output"].shape


@needs_litert
@pytest.mark.parametrize("version", list(Version))
def test_the_manifest_states_the_version(version: Version) -> None:
    assert plugin.describe({"hal": version.value}).hal_version == version


def test_unknown_kernels_are_refused() -> None:
    with pytest.raises(ValueError, match="expected one of reference optimized xnnpack"):
        plugin.describe({"kernels": "fast"})


def test_litert_is_imported_late_and_missed_clearly() -> None:
    code = (
        "import sys; sys.modules['ai_edge_litert'] = None\n"
        "from npu_conformance.adapters.litert import plugin\n"
        "from npu_conformance.harness.subject.plugin_loading import LoadError\n"
        "try: plugin.describe({})\n"
        "except LoadError as error: print(error)\n"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=SECONDS, check=True)
    assert result.stdout.strip() == INSTALL_HINT
