"""The reference runtime on top of a plug-in that has a device alone."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from npu_conformance.adapters import reference
from npu_conformance.adapters.stacked import plugin as stacked
from npu_conformance.corpus import vectors
from npu_conformance.cts import generated
from npu_conformance.faults.boundary import FaultyDevice, FaultyPreparedModel
from npu_conformance.harness.run import results
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.harness.run.engine import Engine, EngineOptions
from npu_conformance.harness.run.events import Log
from npu_conformance.harness.run.scope import Scope
from npu_conformance.harness.subject.inprocess import InProcessSubject
from npu_conformance.harness.subject.plugin_loading import LoadError, load_plugin
from npu_conformance.specs.documents.results import Event
from npu_conformance.specs.errors import ServiceError
from npu_conformance.specs.manifest import Manifest
from npu_conformance.specs.neuralnetworks.enums import ErrorStatus, OperationType
from npu_conformance.specs.neuralnetworks.hal import Device
from npu_conformance.specs.neuralnetworks.types import Capabilities, PerformanceInfo
from npu_conformance.specs.outcomes import Outcome
from npu_conformance.specs.plugin import Caller, Context, Plugin, Subject
from npu_conformance.specs.versions import Version

_DEVICE_ONLY = Manifest(name="below", vendor="somebody", version="1", hal_version=Version.V1_3, instance="below-npu")


def _below(manifest: Manifest = _DEVICE_ONLY, *, has_device: bool = True) -> Plugin:
    def create(context: Context) -> Subject:
        return Subject(device=reference.plugin.create(context).device if has_device else None)

    return Plugin(manifest=manifest, create=create)


plugin = _below()


class _FailingModel(FaultyPreparedModel):
    """Every way to execute it ends with GENERAL_FAILURE."""

    def _refuse(self, *arguments: Any) -> Any:
        raise ServiceError(ErrorStatus.GENERAL_FAILURE, "it never works")

    execute = execute_synchronously = execute_fenced = _refuse  # type: ignore[assignment]
    configure_execution_burst_on_queues = configure_execution_burst = _refuse  # type: ignore[assignment]


class _Failing(FaultyDevice):
    """It says that it is faster than the CPU, and executes nothing."""

    prepared_model = _FailingModel

    def get_capabilities(self) -> Capabilities:
        found = self.inner.get_capabilities()
        fast = (replace(one, info=PerformanceInfo(0.1, 0.1)) for one in found.operand_performance)
        return replace(found, operand_performance=tuple(fast))


def _create_failing(context: Context) -> Subject:
    device = reference.plugin.create(context).device
    assert device is not None
    return Subject(device=_Failing(device))


failing = Plugin(manifest=_DEVICE_ONLY, create=_create_failing)


@pytest.mark.parametrize(
    ("below", "name", "driver", "cpu_alone"),
    [("plugin", "float32_relu_row", {"pass": 1}, {}), ("failing", "float32_none_same", None, {"pass": 1})],
)
def test_a_device_is_credited_with_what_it_executed_itself(
    below: str, name: str, driver: dict[str, int] | None, cpu_alone: dict[str, int]
) -> None:
    """Where it is named, as the first case does; of one that fails, and is not named, the CPU takes the place."""
    (case,) = (one for one in generated.cases_under("ADD") if one.id.endswith(f".{name}"))
    subject, log = InProcessSubject(f"stacked:{__name__}:{below}", {"hal": "1.3"}, None, None), _Kept()
    try:
        Engine([case], subject, log).run()
    finally:
        subject.close()
    (found,) = results.build(log).executed_by
    assert (found.operation, found.drivers.get("below-npu"), found.cpu_alone) == ("ADD", driver, cpu_alone)


@pytest.mark.parametrize(("below", "who"), [("plugin", "below-npu"), ("failing", "nnapi-reference")])
def test_operations_inside_of_an_if_count_for_who_executed_it(below: str, who: str) -> None:
    """The driver that executed it whole, or the CPU that computes in place of one that failed."""
    (case,) = (one for one in generated.cases_under("IF") if one.id.endswith(".float32_condition_0"))
    subject, log = (
        InProcessSubject(f"stacked:{__name__}:{below}", {"hal": "1.3", "prefer": "device"}, None, None),
        _Kept(),
    )
    try:
        Engine([case], subject, log).run()
    finally:
        subject.close()
    found = results.build(log).executed_by
    vector = vectors.load("IF", "float32_condition_0")
    expected = {one.type for graph in (vector.main, *vector.referenced) for one in graph.operations}
    assert {one.operation for one in found} == expected > {"IF"}
    assert {device for one in found for device in one.drivers} == ({who} - {"nnapi-reference"})


class _Kept(Log):
    def write(self, event: Event) -> None:
        self.add(event)


def test_the_runtime_has_the_device_below_and_its_own_cpu() -> None:
    subject = InProcessSubject(f"stacked:{__name__}:plugin", {}, None, None)
    try:
        runtime = subject.interfaces.runtime
        assert runtime is not None
        devices = [runtime.get_device(index, True).handle for index in range(runtime.get_device_count(True).value)]
        assert [runtime.device_get_name(device, True).value for device in devices] == ["below-npu", "nnapi-reference"]
    finally:
        subject.close()


def test_what_was_executed_is_told_by_device_and_once() -> None:
    subject = InProcessSubject(f"stacked:{__name__}:plugin", {}, None, None)
    try:
        control = subject.interfaces.runtime_control
        assert control is not None
        assert [(one.device, one.operations) for one in control.executed_operations()] == [
            ("below-npu", ()),
            ("nnapi-reference", ()),
        ]
    finally:
        subject.close()


def test_the_manifest_keeps_what_is_below() -> None:
    found = stacked.over(_below()).describe({"feature_level": "1.2"})
    assert found.interfaces == ("device", "runtime", "runtime_control")
    assert (found.name, found.hal_version, found.feature_level) == ("below", Version.V1_3, Version.V1_2)


@pytest.mark.parametrize(
    ("spec", "words"),
    [("stacked:reference", "has a runtime of its own"), ("stacked:nobody", "unknown plug-in 'nobody'")],
)
def test_nothing_to_stack_is_one_line(spec: str, words: str) -> None:
    with pytest.raises(LoadError, match=words):
        load_plugin(spec).describe({})


def test_a_plugin_without_device_is_one_line() -> None:
    manifest = Manifest(name="below", vendor="somebody", version="1", interfaces=("manager",))
    with pytest.raises(LoadError, match="has no device to put a runtime on"):
        stacked.over(_below(manifest)).describe({})


def test_a_missing_device_is_one_line() -> None:
    with pytest.raises(LoadError, match="names a device in its manifest and has none"):
        stacked.over(_below(has_device=False)).create(Context(memory=_NoMemory(), caller=_nobody))


class _NoMemory:
    def map(self, memory: object) -> memoryview:
        raise AssertionError("nothing is mapped")


def _nobody() -> Caller:
    raise AssertionError("nobody calls")


def test_device_is_the_one_below() -> None:
    subject = InProcessSubject(f"stacked:{__name__}:plugin", {}, None, None)
    try:
        assert isinstance(subject.interfaces.device, Device)
    finally:
        subject.close()


def test_what_is_preferred_is_one_of_two() -> None:
    with pytest.raises(LoadError, match="option prefer: expected cost or device, found 'cpu'"):
        stacked.over(_below()).describe({"prefer": "cpu"})


def test_a_preferred_device_executes_whatever_it_supports() -> None:
    """By its own account it is no faster than the CPU, which wins of equals (FW-PRT-003)."""
    (case,) = (one for one in generated.cases_under("ADD") if one.id.endswith(".float32_none_same"))
    found = {}
    for prefer in ("cost", "device"):
        spec, options = f"stacked:{__name__}:plugin", {"hal": "1.3", "prefer": prefer}
        subject, log = InProcessSubject(spec, options, None, None), _Kept()
        try:
            Engine([case], subject, log, EngineOptions(scope=Scope.FULL)).run()
        finally:
            subject.close()
        found[prefer] = set(log.results[case.id].executed_by)
    assert found == {"cost": {"below-npu", "nnapi-reference"}, "device": {"below-npu"}}


def test_an_execution_with_fences_is_credited_too() -> None:
    """To the driver, once the app has waited for the event."""
    (case,) = (one for one in generated.cases_under("ADD") if one.id.endswith(".float32_none_same"))
    subject = InProcessSubject(f"stacked:{__name__}:plugin", {"hal": "1.3"}, None, None)
    try:
        control = subject.interfaces.runtime_control
        assert control is not None
        context = CaseContext(case, subject, scope=Scope.FULL, only="fenced.explicit")
        case.run(context)
        context.close()
        assert context.configurations["fenced.explicit"].details.outcome is Outcome.PASS
        done = {one.device: one.operations for one in control.executed_operations()}
        assert done == {"below-npu": (OperationType.ADD,), "nnapi-reference": ()}
    finally:
        subject.close()
