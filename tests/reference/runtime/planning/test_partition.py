"""Who gets which operation, and in which steps (FW-PRT-001 to -008)."""

from __future__ import annotations

import pytest
from msgspec.structs import replace
from runtime_plans import Graph, Planning, chain, numbers, supporting

from npu_conformance.reference.runtime.backend import RuntimeFailure
from npu_conformance.reference.runtime.planning.extract import extract
from npu_conformance.reference.runtime.planning.partition import best_devices, steps_of
from npu_conformance.specs.neuralnetworks import types
from npu_conformance.specs.neuralnetworks.enums import ExecutionPreference, OperandType, OperationType
from npu_conformance.specs.neuralnetworks.runtime.control import DriverScript, Misbehaviour
from npu_conformance.specs.neuralnetworks.runtime.result_codes import ResultCode
from npu_conformance.specs.neuralnetworks.types import OperandPerformance, PerformanceInfo
from npu_conformance.specs.versions import Version

ADD, MUL, FLOOR = OperationType.ADD, OperationType.MUL, OperationType.FLOOR
FAST = PerformanceInfo(0.1, 0.1)


def chosen(model: types.Model, *scripts: DriverScript, preference: int = 1) -> list[str]:
    """The names of the devices that get the operations."""
    devices = Planning(*scripts).compiler.devices
    numbered = best_devices(model, list(devices), preference)  # type: ignore[arg-type]  # each of them can be chosen
    return [devices[number].name if number < len(devices) else "interpreter" for number in numbered]


@pytest.mark.parametrize(
    ("scripts", "name"),
    [
        ((DriverScript("a", exec_time=0.5), DriverScript("b", exec_time=0.4)), "b"),
        ((DriverScript("a", exec_time=0.4), DriverScript("b", exec_time=0.4)), "a"),
        ((DriverScript("a", exec_time=1.0),), "nnapi-reference"),
        ((DriverScript("a", exec_time=0.99),), "a"),
        ((DriverScript("a", listed_types=(OperandType.TENSOR_INT32,)),), "nnapi-reference"),
        ((DriverScript("a", operand_performance=(OperandPerformance(3, FAST),)), DriverScript("b")), "a"),
        ((DriverScript("a", operand_performance=(OperandPerformance(4, FAST),)), DriverScript("b")), "a"),
        ((DriverScript("a", exec_time=0.1, operations=supporting(MUL)), DriverScript("b")), "b"),
    ],
    ids=[
        "the fastest",
        "the first",
        "the CPU wins ties",
        "a little faster",
        "not listed",
        "type",
        "other type",
        "able",
    ],
)
def test_the_cheapest_device_computes(scripts: tuple[DriverScript, ...], name: str) -> None:
    assert chosen(chain(ADD), *scripts) == [name]


def test_low_power_counts_power_alone() -> None:
    scripts = (
        DriverScript("time", exec_time=0.1, power_usage=0.9),
        DriverScript("power", exec_time=0.9, power_usage=0.1),
    )
    assert chosen(chain(ADD), *scripts, preference=ExecutionPreference.LOW_POWER) == ["power"]
    assert chosen(chain(ADD), *scripts, preference=ExecutionPreference.SUSTAINED_SPEED) == ["time"]


def test_a_relaxed_model_counts_with_relaxed_performance() -> None:
    script = DriverScript("a", exec_time=2.0, relaxed=FAST)
    relaxed = replace(chain(ADD), relax_computation_float32_to_float16=True)
    assert chosen(chain(ADD), script) == ["nnapi-reference"]
    assert chosen(relaxed, script) == ["a"]


@pytest.mark.parametrize(("own", "name"), [(1.3, "a"), (1.6, "interpreter")])
def test_an_if_costs_itself_and_half_of_each_branch(own: float, name: str) -> None:
    graph = Graph()
    condition, value = graph.input((1,), OperandType.TENSOR_BOOL8), graph.input()
    branches = []
    for _ in range(2):
        branch = graph.inner()
        branch.add(FLOOR, branch.input(), is_output=True)
        branches.append(branch)
    graph.add(OperationType.IF, condition, graph.graph(0), graph.graph(1), value, is_output=True)
    # The CPU costs 1 + 0.5 + 0.5; the driver its own and half of 0.5 twice.
    script = DriverScript("a", exec_time=0.5, if_performance=PerformanceInfo(own, own))
    assert chosen(graph.model(*branches), script) == [name]


@pytest.mark.parametrize("kind", ["status", "length"])
def test_a_driver_without_an_answer_supports_nothing(kind: str) -> None:
    broken = DriverScript("a", misbehaviours=(Misbehaviour("get_supported_operations", kind),))
    assert chosen(chain(ADD, MUL), broken) == ["nnapi-reference"] * 2


def test_an_operation_that_nobody_supports_is_bad_data() -> None:
    planning = Planning(DriverScript("a", operations=supporting(MUL)))
    with pytest.raises(RuntimeFailure) as found:
        planning.compile(chain(ADD), "a")
    assert found.value.result == ResultCode.BAD_DATA


def test_steps_take_what_is_ready_on_the_device_of_the_highest_index() -> None:
    graph = Graph()
    first, second = graph.input(), graph.input()
    one = graph.add(FLOOR, first)
    other = graph.add(FLOOR, second)
    three = graph.add(FLOOR, one)
    graph.add(ADD, three, other, graph.activation(), is_output=True)
    found = steps_of(graph.built(), [0, 1, 1, 0], interpreter=3)
    assert [(step.device, step.operations) for step in found] == [(1, (1,)), (0, (0,)), (1, (2,)), (0, (3,))]


def test_a_part_has_inputs_and_outputs_in_the_order_of_the_model() -> None:
    graph = Graph()
    first, second = graph.input(), graph.input()
    one = graph.add(FLOOR, second)
    two = graph.add(ADD, first, one, graph.activation(), is_output=True)
    graph.add(MUL, two, one, graph.activation(), is_output=True)
    before, behind = extract(graph.model(), (0,)), extract(graph.model(), (1, 2))
    assert (before.inputs, before.outputs) == ((second,), (one,))
    assert (behind.inputs, behind.outputs) == ((first, one), tuple(graph.outputs))


def test_one_device_gets_the_model_unmodified() -> None:
    planning = Planning(DriverScript("a"))
    model = chain(ADD, MUL)
    planning.compile(model)
    (prepared,) = [call for call in planning.services["a"].calls if call.method == "prepare_model"]
    assert prepared.model == model


def test_without_partitioning_the_cpu_computes() -> None:
    planning = Planning(DriverScript("a"))
    planning.properties.set("debug.nn.partition", "0")
    plan = planning.compile(chain(ADD))
    outcome, _ = planning.run(plan, [numbers()])
    assert outcome.result == ResultCode.NO_ERROR
    assert planning.asked("a", "prepare_model") == []


def test_cpu_only_leaves_drivers_out() -> None:
    planning = Planning(DriverScript("a"))
    planning.properties.set("debug.nn.cpuonly", "1")
    assert [device.name for device in planning.compiler.devices] == ["nnapi-reference"]


def test_an_old_driver_is_asked_about_a_slice() -> None:
    planning = Planning(DriverScript("a", hal=Version.V1_0))
    model = chain(ADD, OperationType.NEG, MUL)
    assert planning.device("a").supported_operations(model) == (True, False, True)
    (asked,) = [call for call in planning.services["a"].calls if call.method == "get_supported_operations"]
    assert asked.model is not None
    assert [operation.type for operation in asked.model.main.operations] == [ADD, MUL]
