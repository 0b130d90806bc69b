"""Drivers of every version: registered, executed, timed, dead and alive again (FW-VER, FW-CAC-001, FW-EXE-026)."""

from __future__ import annotations

import threading

import pytest
from patience import SECONDS
from runtime_plans import SHAPE, Planning, chain, numbers, supporting

from npu_conformance.reference.runtime.backend import Argument, ExecutionOptions, RuntimeFailure
from npu_conformance.specs.neuralnetworks import types
from npu_conformance.specs.neuralnetworks.enums import ErrorStatus, FenceState, OperationType
from npu_conformance.specs.neuralnetworks.fences import SettableFence
from npu_conformance.specs.neuralnetworks.runtime.control import DriverScript, Misbehaviour
from npu_conformance.specs.neuralnetworks.runtime.result_codes import UNAVAILABLE_DURATION, ResultCode
from npu_conformance.specs.versions import Version

ADD, MUL = OperationType.ADD, OperationType.MUL
EVERY_VERSION = pytest.mark.parametrize("hal", list(Version), ids=str)
QUERIES = (
    "get_capabilities",
    "get_version_string",
    "get_type",
    "get_supported_extensions",
    "get_number_of_cache_files_needed",
)


def names(planning: Planning) -> list[str]:
    return [device.name for device in planning.compiler.devices]


@pytest.mark.parametrize("query", QUERIES)
def test_a_driver_whose_query_fails_is_not_registered(query: str) -> None:
    broken = (Misbehaviour(query, status=ErrorStatus.DEVICE_UNAVAILABLE),)
    assert names(Planning(DriverScript("a", misbehaviours=broken), DriverScript("b"))) == ["b", "nnapi-reference"]


@pytest.mark.parametrize("files", [(0, 0), (32, 32), (33, 0), (0, 33)])
def test_a_driver_that_wants_too_many_cache_files_is_not_registered(files: tuple[int, int]) -> None:
    found = names(Planning(DriverScript("a", cache_files=types.NumberOfCacheFiles(*files))))
    assert ("a" in found) == (max(files) <= 32)


@EVERY_VERSION
def test_every_version_computes(hal: Version) -> None:
    planning = Planning(DriverScript("a", hal=hal))
    outcome, found = planning.run(planning.compile(chain(ADD), "a"), [numbers()])
    assert outcome.result == ResultCode.NO_ERROR
    assert found[0].tolist() == [[2, 4, 6], [5, 7, 9]]
    is_synchronous = hal >= Version.V1_2
    assert planning.asked("a")[-1] == ("execute_synchronously" if is_synchronous else "execute")


@pytest.mark.parametrize("hal", [Version.V1_2, Version.V1_3], ids=str)
def test_hidl_can_be_told_to_execute_asynchronously(hal: Version) -> None:
    planning = Planning(DriverScript("a", hal=hal))
    planning.properties.set("debug.nn.syncexec-hal", "0")
    outcome, _ = planning.run(planning.compile(chain(ADD), "a"), [numbers()])
    assert outcome.result == ResultCode.NO_ERROR
    assert planning.asked("a")[-1] == "execute"


@EVERY_VERSION
def test_times_are_nanoseconds(hal: Version) -> None:
    planning = Planning(DriverScript("a", hal=hal, timing=types.Timing(3, hal.unavailable_time)))
    outcome, _ = planning.run(planning.compile(chain(ADD), "a"), [numbers()], measure_timing=True)
    expected = UNAVAILABLE_DURATION if hal < Version.V1_2 else 3 if hal.is_aidl else 3000
    assert outcome.timing == types.Timing(expected, UNAVAILABLE_DURATION)


@EVERY_VERSION
def test_priority_and_deadline_reach_drivers_that_know_them(hal: Version) -> None:
    planning = Planning(DriverScript("a", hal=hal))
    planning.compile(chain(ADD), "a", priority=110, timeout_ns=10**12)
    (call,) = [call for call in planning.services["a"].calls if call.method == "prepare_model"]
    assert call.priority == (2 if hal >= Version.V1_3 else 1)
    assert (call.deadline_ns == hal.unavailable_time) == (hal < Version.V1_3)


def test_a_deadline_that_has_passed_is_the_cpus_to_report() -> None:
    planning = Planning()
    with pytest.raises(RuntimeFailure) as failed:
        planning.compile(chain(ADD), "nnapi-reference", timeout_ns=1)
    assert failed.value.result == ResultCode.MISSED_DEADLINE_PERSISTENT
    outcome, _ = planning.run(planning.compile(chain(ADD), "nnapi-reference"), [numbers()], timeout_ns=1)
    assert outcome.result == ResultCode.MISSED_DEADLINE_PERSISTENT


def dying(method: str, kind: str = "dies", count: int = 1) -> tuple[Misbehaviour, ...]:
    return (Misbehaviour(method, kind, count=count),)


@pytest.mark.parametrize("kind", ["dies", "dies_later"])
@pytest.mark.parametrize(("count", "result"), [(1, None), (2, ResultCode.DEAD_OBJECT)])
def test_a_call_of_a_dead_device_is_made_once_more(count: int, result: ResultCode | None, kind: str) -> None:
    planning = Planning(DriverScript("a", misbehaviours=dying("prepare_model", kind, count), restarts=True))
    if result is None:
        planning.compile(chain(ADD), "a")
    else:
        with pytest.raises(RuntimeFailure) as failed:
            planning.compile(chain(ADD), "a")
        assert failed.value.result == result
    assert planning.asked("a", "prepare_model") == ["prepare_model"] * 2


@pytest.mark.parametrize(
    ("level", "result"), [(Version.FL8, ResultCode.DEAD_OBJECT), (Version.V1_3, ResultCode.OP_FAILED)]
)
@pytest.mark.parametrize("kind", ["dies", "dies_later"])
def test_a_prepared_model_dies_with_its_process(level: Version, result: ResultCode, kind: str) -> None:
    script = DriverScript("a", hal=Version.V1_3, misbehaviours=dying("execute", kind), restarts=True)
    planning = Planning(script, feature_level=level)
    planning.properties.set("debug.nn.syncexec-hal", "0")
    plan = planning.compile(chain(ADD), "a")
    assert [planning.run(plan, [numbers()])[0].result for _ in range(2)] == [result] * 2
    assert planning.device("a").wait() == ResultCode.NO_ERROR
    outcome, _ = planning.run(planning.compile(chain(ADD), "a"), [numbers()])
    assert outcome.result == ResultCode.NO_ERROR


def test_wait_blocks_until_the_driver_lives() -> None:
    planning = Planning(DriverScript("a"))
    service, results = planning.services["a"], []
    service.die()
    waiting = threading.Thread(target=lambda: results.append(planning.device("a").wait()))
    waiting.start()
    assert not results
    service.revive()
    waiting.join(SECONDS)
    assert results == [ResultCode.NO_ERROR]


def arguments(planning: Planning) -> tuple[list[Argument], list[Argument]]:
    return [planning.place(numbers())], [planning.room(SHAPE, 24)]


@pytest.mark.parametrize(
    ("scripts", "has_fence"),
    [
        ((DriverScript("a"),), True),
        ((DriverScript("a", hal=Version.V1_3),), True),
        ((DriverScript("a", hal=Version.V1_2),), False),
        ((DriverScript("a", operations=supporting(ADD)), DriverScript("b", operations=supporting(MUL))), True),
        ((DriverScript("a", operations=supporting(ADD)),), False),
        ((), False),
    ],
    ids=["fl8", "1.3", "1.2", "two", "the CPU behind", "the CPU"],
)
def test_a_computation_waits_for_its_fences(scripts: tuple[DriverScript, ...], has_fence: bool) -> None:
    planning = Planning(*scripts)
    plan = planning.compile(chain(ADD, MUL))
    inputs, outputs = arguments(planning)
    fence = SettableFence()
    if not has_fence:
        fence.signal()
    work = plan.start(inputs, outputs, ExecutionOptions(), (fence,), 0)
    assert (work.fence is not None) == has_fence
    if work.fence is not None:
        assert work.fence.get_state() == FenceState.UNSIGNALLED
        fence.signal()
    assert work.wait().result == ResultCode.NO_ERROR
    assert planning.read(outputs[0], SHAPE).tolist() == [[2, 8, 18], [5, 14, 27]]


@pytest.mark.parametrize("explicit", [("a",), ()], ids=["explicit", "default"])
def test_a_driver_that_refuses_fences_falls_back(explicit: tuple[str, ...]) -> None:
    planning = Planning(DriverScript("a", has_fences=False))
    inputs, outputs = arguments(planning)
    work = planning.compile(chain(ADD), *explicit).start(inputs, outputs, ExecutionOptions(), (), 0)
    assert work.wait().result == (ResultCode.OP_FAILED if explicit else ResultCode.NO_ERROR)


def test_a_fence_that_fails_fails_the_computation() -> None:
    planning = Planning(DriverScript("a"))
    for names_of in (("a",), ("nnapi-reference",), ()):
        inputs, outputs = arguments(planning)
        fence = SettableFence()
        fence.fail()
        work = planning.compile(chain(ADD), *names_of).start(inputs, outputs, ExecutionOptions(), (fence,), 0)
        assert work.wait().result == ResultCode.OP_FAILED


@EVERY_VERSION
@pytest.mark.parametrize("has_burst", [True, False])
def test_a_burst_is_used_where_the_driver_has_one(hal: Version, has_burst: bool) -> None:
    planning = Planning(DriverScript("a", hal=hal, operations=supporting(ADD), has_burst=has_burst))
    plan = planning.compile(chain(ADD, MUL, ADD))
    burst = plan.open_burst()
    for _ in range(20):
        outcome, found = planning.run(plan, [numbers()], burst=burst)
        assert outcome.result == ResultCode.NO_ERROR
        assert found[0].tolist() == [[3, 10, 21], [6, 16, 30]]
    burst.close()
    used = "burst.execute_synchronously" if hal.is_aidl else "burst.execute_packet"
    assert (used in planning.asked("a")) == (has_burst and hal >= Version.V1_2)


@pytest.mark.parametrize("hal", [Version.V1_3, Version.FL5], ids=str)
def test_a_loop_timeout_reaches_the_driver_whatever_packets_carry(hal: Version) -> None:
    """HIDL's packets have no field for it, and the driver's default is 2 s (FW-QOS-003)."""
    planning = Planning(DriverScript("a", hal=hal, operations=supporting(ADD)))
    plan = planning.compile(chain(ADD))
    burst = plan.open_burst()
    planning.run(plan, [numbers()], burst=burst, loop_timeout_ns=1_000_000)
    burst.close()
    ways = ("burst.execute_packet", "burst.execute_synchronously", "execute_synchronously")
    (call,) = (call for call in planning.services["a"].calls if call.method in ways)
    assert call.method == ("burst.execute_synchronously" if hal.is_aidl else "execute_synchronously")
    assert call.loop_timeout_ns == 1_000_000


@pytest.mark.parametrize("hal", [Version.V1_2, Version.V1_3, Version.FL5, Version.FL8], ids=str)
def test_failures_of_bursts_fall_back_as_others(hal: Version) -> None:
    broken = (Misbehaviour("execute", status=ErrorStatus.GENERAL_FAILURE),)
    planning = Planning(DriverScript("a", hal=hal, misbehaviours=broken))
    for explicit, result in ((("a",), ResultCode.OP_FAILED), ((), ResultCode.NO_ERROR)):
        plan = planning.compile(chain(ADD), *explicit)
        outcome, _ = planning.run(plan, [numbers()], burst=plan.open_burst())
        assert outcome.result == result
