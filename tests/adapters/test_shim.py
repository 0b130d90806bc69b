"""A device of any plug-in's runtime, shown as a driver by `shim:`."""

from __future__ import annotations

import gc
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest
from nnapi_libraries import sum_model
from places import HOSTILE

from npu_conformance.adapters.runtime_device.shim import ShimmedSubject
from npu_conformance.cts import generated as cts_generated
from npu_conformance.harness.run.cases import Case
from npu_conformance.harness.run.engine import Engine
from npu_conformance.harness.run.events import Log
from npu_conformance.harness.run.preparation import PreparationArguments, PreparationRecorder, prepare
from npu_conformance.harness.subject.loading import LoadError, open_subject
from npu_conformance.harness.subject.plugin_loading import is_elsewhere, load_plugin
from npu_conformance.specs.documents.results import CaseResult, Event
from npu_conformance.specs.outcomes import Outcome
from npu_conformance.specs.versions import Version
from npu_conformance.vts import executions, generated, memory

SHIM = "shim:only_runtimes:plugin"


class Kept(Log):
    def write(self, event: Event) -> None:
        self.add(event)


@pytest.fixture(autouse=True)
def _runtimes_can_be_imported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(HOSTILE))
    monkeypatch.setenv("PYTHONPATH", str(HOSTILE))


def served(folder: Path) -> str:
    module = "npu_conformance.harness.subject.serve"
    return f"shim:exec:{sys.executable} -m {module} only_runtimes:plugin --inherited {folder}"


def cases() -> list[Case]:
    """One to execute, with every executor, and one that has to be refused."""
    found = list(generated.cases_under("ADD"))
    executed = next(one for one in found if one.id.endswith(".float32_none_same"))
    return [executed, next(one for one in found if one.group is None or one.group.value == "validation")]


def run(
    spec: str, transports: tuple[str, ...], options: Mapping[str, str], chosen: list[Case] | None = None
) -> list[CaseResult]:
    subject, log, chosen = open_subject(spec, options, transports=transports), Kept(), chosen or cases()
    try:
        Engine(chosen, subject, log).run()
    finally:
        subject.close()
    return [log.results[case.id] for case in chosen]


@pytest.mark.parametrize("transport", ["path", "descriptor", "message"])
@pytest.mark.parametrize("level", ["1.3", "fl8"])
def test_the_tests_of_drivers_run_on_a_device_of_the_runtime(transport: str, level: str) -> None:
    found = run(SHIM, (transport,), {"feature_level": level})
    assert [one.outcome for one in found] == [Outcome.PASS] * 2, [(one.message, one.configurations) for one in found]
    assert "ADD" in found[0].executed


def test_parts_of_a_file_and_outputs_of_no_bytes_reach_the_runtime() -> None:
    names = ("vts.memory.mmap_fd.two_parts", "vts.executions.shapes.zero_sized")
    chosen = [case for case in (*memory.cases(), *executions.cases()) if case.id in names]
    found = run(SHIM, ("path",), {}, chosen)
    assert [one.outcome for one in found] == [Outcome.PASS] * 2, [(one.message, one.configurations) for one in found]


def test_the_runtime_may_be_in_another_process(tmp_path: Path) -> None:
    assert [one.outcome for one in run(served(tmp_path), ("path",), {})] == [Outcome.PASS] * 2


def test_a_runtime_that_dies_is_the_verdict_of_its_case() -> None:
    died, behind = run(SHIM, ("path",), {"executing": "dies"})
    assert (died.outcome, behind.outcome) == (Outcome.CRASH, Outcome.PASS)


def test_the_manifest_is_that_of_the_chosen_device() -> None:
    subject = open_subject(SHIM, {"device": "nnapi-reference", "feature_level": "1.3"}, "inprocess")
    assert subject.manifest.interfaces == ("device", "runtime", "runtime_control")
    assert (subject.version, subject.manifest.hal_version) == (Version.V1_3, Version.V1_3)
    assert "reference-npu, nnapi-reference" in subject.manifest.options["device"]
    assert subject.interfaces.device is not None
    assert subject.interfaces.device.get_type() == 2
    subject.close()


def test_what_nobody_holds_is_destroyed_between_the_cases() -> None:
    """Not where Python finds out, which may be in the middle of a call of the runtime."""
    subject = open_subject(SHIM, {}, "inprocess")
    assert isinstance(subject, ShimmedSubject)
    device, control = subject.interfaces.device, subject.interfaces.runtime_control
    assert device is not None
    assert control is not None
    before = control.live_objects()
    prepared = prepare(subject, device, sum_model(), PreparationArguments(), PreparationRecorder())
    assert prepared.prepared_model is not None
    held = control.live_objects()
    del prepared
    gc.collect()
    assert held == control.live_objects() > before
    assert subject.alive()
    assert control.live_objects() == before
    subject.close()


@pytest.mark.parametrize(
    ("spec", "options", "words"),
    [
        ("shim:litert", {}, "shim: litert-optimized has no runtime whose device could be shown"),
        ("shim:reference", {}, "shim: reference has a device of its own; use it without shim:"),
        (SHIM, {"device": "reference"}, "no device 'reference'"),
        ("shim:nobody", {}, "unknown plug-in 'nobody'"),
        ("shim:exec:./no_such_runtime", {}, "no command ./no_such_runtime"),
    ],
)
def test_what_cannot_be_shown_is_one_line(spec: str, options: dict[str, str], words: str) -> None:
    with pytest.raises(LoadError, match=words) as error:
        open_subject(spec, options)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ("shim:reference", False), ("shim:exec:./a", True), ("stacked:reference", False), ("stacked:tcp:h:1", True),
        ("stacked:shim:a:b", True), ("stacked:./a.so", False), ("unix:/a", True), ("a.b:plugin", False),
    ],
)  # fmt: skip
def test_what_cannot_live_in_the_harness_process(spec: str, expected: bool) -> None:
    assert is_elsewhere(spec) == expected


def test_a_shim_is_not_served() -> None:
    with pytest.raises(LoadError, match="the shim stands in the harness; name only_runtimes:plugin here"):
        load_plugin(SHIM)


def test_its_version_is_the_most_that_can_be_asked_for() -> None:
    with pytest.raises(LoadError, match=r"asked for HAL fl8, its device has 1\.3"):
        open_subject(SHIM, {"feature_level": "1.3"}, version=Version.FL8)


def test_the_device_can_be_put_under_the_reference_runtime() -> None:
    """It does not say how fast it is, and is taken for faster than the CPU."""
    executed = next(one for one in cts_generated.cases_under("ADD") if one.id.endswith(".float32_none_same"))
    subject, log = open_subject(f"stacked:{SHIM}"), Kept()
    try:
        Engine([executed], subject, log).run()
    finally:
        subject.close()
    (found,) = log.results.values()
    assert found.outcome is Outcome.PASS, [part.message for part in found.configurations]
    assert found.executed_by == {"reference-npu": ("ADD",)}
