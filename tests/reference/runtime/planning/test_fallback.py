"""What happens when drivers fail (FW-PRT-009 to -012, -015)."""

from __future__ import annotations

import pytest
from runtime_plans import Graph, Planning, chain, numbers, supporting

from npu_conformance.reference.runtime.backend import ExecutionOptions, RuntimeFailure
from npu_conformance.specs.neuralnetworks import types
from npu_conformance.specs.neuralnetworks.enums import ErrorStatus, OperationType
from npu_conformance.specs.neuralnetworks.runtime.control import DriverScript, Misbehaviour
from npu_conformance.specs.neuralnetworks.runtime.result_codes import ResultCode, result_of_status
from npu_conformance.specs.versions import Version

ADD, MUL, FLOOR = OperationType.ADD, OperationType.MUL, OperationType.FLOOR
CODES = [status for status in ErrorStatus if status not in (ErrorStatus.NONE, ErrorStatus.OUTPUT_INSUFFICIENT_SIZE)]


def failing(method: str, status: int, kind: str = "status") -> tuple[Misbehaviour, ...]:
    return (Misbehaviour(method, kind, status),)


@pytest.mark.parametrize("kind", ["status", "callback"])
@pytest.mark.parametrize("status", CODES)
def test_a_failed_preparation(status: ErrorStatus, kind: str) -> None:
    planning = Planning(DriverScript("a", misbehaviours=failing("prepare_model", status, kind)))
    with pytest.raises(RuntimeFailure) as found:
        planning.compile(chain(ADD), "a")
    assert found.value.result == result_of_status(status)
    if status == ErrorStatus.INVALID_ARGUMENT:
        with pytest.raises(RuntimeFailure) as found:
            planning.compile(chain(ADD))
        assert found.value.result == ResultCode.BAD_DATA
        return
    outcome, _ = planning.run(planning.compile(chain(ADD)), [numbers()])
    assert outcome.result == ResultCode.NO_ERROR


def test_without_fallback_the_code_of_the_preparation_is_returned() -> None:
    planning = Planning(DriverScript("a", misbehaviours=failing("prepare_model", ErrorStatus.DEVICE_UNAVAILABLE)))
    planning.properties.set("debug.nn.partition", "2")
    with pytest.raises(RuntimeFailure) as found:
        planning.compile(chain(ADD))
    assert found.value.result == ResultCode.UNAVAILABLE_DEVICE


def test_a_null_prepared_model_is_a_general_failure() -> None:
    planning = Planning(DriverScript("a", misbehaviours=(Misbehaviour("prepare_model", "null"),)))
    with pytest.raises(RuntimeFailure) as found:
        planning.compile(chain(ADD), "a")
    assert found.value.result == ResultCode.OP_FAILED


@pytest.mark.parametrize("status", CODES)
@pytest.mark.parametrize("model", [chain(ADD), chain(ADD, MUL)], ids=["one device", "steps"])
def test_a_failed_execution(status: ErrorStatus, model: types.Model) -> None:
    broken = DriverScript("a", operations=supporting(ADD), misbehaviours=failing("execute", status))
    planning = Planning(broken, DriverScript("b", operations=supporting(MUL)))
    _, expected = planning.run(planning.compile(model, "nnapi-reference"), [numbers()])
    outcome, found = planning.run(planning.compile(model), [numbers()])
    assert outcome.result == ResultCode.NO_ERROR
    assert found[0].tolist() == expected[0].tolist()
    if len(model.main.operations) == 2:
        assert planning.asked("b", "execute_synchronously") == ["execute_synchronously"]  # its step alone fell back
    outcome, _ = planning.run(planning.compile(model, "a", "b"), [numbers()])
    assert outcome.result == result_of_status(status)
    assert outcome.shapes == ()


def test_insufficient_size_is_returned_at_once() -> None:
    planning = Planning(DriverScript("a"))
    plan = planning.compile(chain(ADD))
    place = planning.room((2, 3), 8)
    graph = Graph()
    graph.add(FLOOR, graph.input(), is_output=True, shape=(0, 0))
    plan = planning.compile(graph.model())
    place = planning.room((0, 0), 8)
    outcome = plan.execute([planning.place(numbers())], [place], ExecutionOptions())
    assert outcome.result == ResultCode.OUTPUT_INSUFFICIENT_SIZE
    assert outcome.shapes == (types.OutputShape((2, 3), False),)
    assert planning.asked("a", "execute_synchronously") == ["execute_synchronously"]


@pytest.mark.parametrize("hal", [Version.V1_2, Version.FL8], ids=str)
@pytest.mark.parametrize("has_burst", [False, True])
def test_a_driver_that_alone_finds_too_little_room_is_believed(hal: Version, has_burst: bool) -> None:
    planning = Planning(DriverScript("a", hal=hal, misbehaviours=(Misbehaviour("execute", "tight"),)))
    plan = planning.compile(chain(ADD))
    outcome, _ = planning.run(plan, [numbers()], burst=plan.open_burst() if has_burst else None)
    assert outcome.result == ResultCode.OUTPUT_INSUFFICIENT_SIZE


def test_an_output_of_a_step_that_is_too_small_names_the_shapes_of_all() -> None:
    graph = Graph()
    one = graph.add(FLOOR, graph.input(), is_output=True, shape=(0, 0))
    graph.add(MUL, one, one, graph.activation(), is_output=True)
    planning = Planning(DriverScript("a", operations=supporting(FLOOR)), DriverScript("b", operations=supporting(MUL)))
    places = [planning.room((0, 0), 8), planning.room((2, 3), 24)]
    outcome = planning.compile(graph.model()).execute([planning.place(numbers())], places, ExecutionOptions())
    assert outcome.result == ResultCode.OUTPUT_INSUFFICIENT_SIZE
    assert [(shape.dimensions, shape.is_sufficient) for shape in outcome.shapes] == [((2, 3), False), ((2, 3), True)]


def open_chain() -> types.Model:
    """FLOOR, whose result has a shape that the model does not say, then MUL."""
    graph = Graph()
    one = graph.add(FLOOR, graph.input(), shape=(0, 0))
    graph.add(MUL, one, one, graph.activation(), is_output=True)
    return graph.model()


def test_a_temporary_that_turns_out_larger_is_made_larger() -> None:
    planning = Planning(DriverScript("a", operations=supporting(FLOOR)), DriverScript("b", operations=supporting(MUL)))
    outcome, found = planning.run(planning.compile(open_chain(), "a", "b"), [numbers(1.5)])
    assert outcome.result == ResultCode.NO_ERROR
    assert found[0].tolist() == [[1, 4, 9], [16, 25, 36]]
    assert planning.asked("a", "execute_synchronously") == ["execute_synchronously"] * 2


def test_profile_r_has_no_temporaries_of_unknown_size() -> None:
    scripts = (
        DriverScript("a", hal=Version.V1_3, operations=supporting(FLOOR)),
        DriverScript("b", hal=Version.V1_3, operations=supporting(MUL)),
    )
    planning = Planning(*scripts, feature_level=Version.V1_3)
    with pytest.raises(RuntimeFailure) as failed:
        planning.compile(open_chain(), "a", "b")
    assert failed.value.result == ResultCode.OP_FAILED
    outcome, found = planning.run(planning.compile(open_chain()), [numbers(1.5)])
    assert outcome.result == ResultCode.NO_ERROR
    assert found[0].tolist() == [[1, 4, 9], [16, 25, 36]]


@pytest.mark.parametrize(("kind", "hal"), [("length", Version.FL8), ("shapes", Version.FL8), ("shapes", Version.V1_2)])
def test_shapes_that_cannot_be_right_fail_the_execution(kind: str, hal: Version) -> None:
    planning = Planning(DriverScript("a", hal=hal, misbehaviours=(Misbehaviour("execute", kind),)))
    outcome, _ = planning.run(planning.compile(chain(ADD), "a"), [numbers()])
    assert outcome.result == ResultCode.OP_FAILED
