"""A subject with an npu interface conforms only if something of each of its mandatory groups was run and passed."""

from __future__ import annotations

import re
from collections.abc import Sequence

import pytest

from npu_conformance.cts import npu_buffers, npu_manager
from npu_conformance.faults import npu_scheduling as scheduling_faults
from npu_conformance.faults import plugin, registry
from npu_conformance.faults.fault import FaultySubject
from npu_conformance.harness.report import table
from npu_conformance.harness.run import results
from npu_conformance.harness.run.cases import MANDATORY, Case, Group
from npu_conformance.harness.run.engine import Engine, EngineOptions
from npu_conformance.harness.run.events import Log
from npu_conformance.harness.subject.loading import Isolation, open_subject
from npu_conformance.specs.documents.results import Event
from npu_conformance.specs.documents.summary import Results
from npu_conformance.vts import npu_scheduling

CASES = {case.id: case for case in (*npu_scheduling.cases(), *npu_manager.cases(), *npu_buffers.cases())}
IDLE_HAL = f"{scheduling_faults.idle.__name__}:plugin"
IDLE_MANAGER = "npu_conformance.faults.npu_manager.idle:plugin"
FAULTY = f"{plugin.__name__}:plugin"
NO_WORK = (
    "the subject has no workload interface (to be judged, add a workload or a device to it, or an inference_tool to "
    "its manifest: docs/npu-scheduling.md)"
)
NO_CONTROL = "the subject has no manager_control interface (to be judged, add a manager_control to the plug-in)"
DOINGS_OF_THE_HAL = (Group.SCHEDULING_EVENTS, Group.SCHEDULING_DECISIONS)
DOINGS_OF_THE_MANAGER = (Group.MANAGER_REQUESTS, Group.MANAGER_POLICIES, Group.MANAGER_PRIORITIES)
ONE_OF_EACH = [
    CASES[name]
    for name in (
        "vts.npu_scheduling.configs.set.valid",
        "vts.npu_scheduling.work.undisturbed",
        "vts.npu_scheduling.rights.no_direct_access",
        "vts.npu_scheduling.observation.stream",
        "vts.npu_scheduling.observation.priority",
        "vts.npu_scheduling.executions.told",
        "vts.npu_scheduling.executions.direct_access",
        "cts.npu_manager.observation.shell_policy_gates",
        "cts.npu_manager.policy.illegal_maximum",
        "cts.npu_manager.lifecycle.grant",
        "cts.npu_manager.policy.status_quo_gates_nothing",
        "cts.npu_manager.priority.follows_importance",
    )
]
LITTLE_WORK = ("npu-no-work", "npu-no-workload", "npu-work-by-hand")
"""Variants of which most cases cannot be asked: nothing brings work, or only what the suite watches."""
ASKED = [
    name
    for name, variant in registry.conforming().items()
    if isinstance(variant.mechanism, FaultySubject)
    and {"scheduling", "manager"} & set(variant.mechanism.interfaces)
    and name not in LITTLE_WORK
]
SAMPLE = sorted({*{plugin.manifest({"fault": name}).interfaces: name for name in ASKED}.values(), *ASKED[::8]})
"""One variant with each set of interfaces, and every eighth: `faults --variants` runs them all."""


class Kept(Log):
    """A record in memory."""

    def write(self, event: Event) -> None:
        """Keep an event."""
        self.add(event)


def run(spec: str, cases: Sequence[Case], fault: str = "", isolation: Isolation = "inprocess") -> Results:
    """The results of a run of these cases, as if they were all there are."""
    subject, log = open_subject(spec, {"fault": fault} if fault else {}, isolation), Kept()
    try:
        Engine(cases, subject, log, EngineOptions()).run()
    finally:
        subject.close()
    return results.build(log)


def says_conformant(outcome: Results) -> bool:
    return any(line.endswith(": conformant") for line in table.lines(outcome))


def groups_named(outcome: Results) -> set[str]:
    return set(re.findall(r"mandatory group (\S+)", "\n".join(table.lines(outcome))))


def names(groups: Sequence[Group]) -> set[str]:
    return {group.value for group in groups}


@pytest.mark.parametrize(
    ("spec", "fault", "groups", "why"),
    [
        (IDLE_HAL, "", DOINGS_OF_THE_HAL, NO_WORK),
        (FAULTY, "npu-no-work", DOINGS_OF_THE_HAL, NO_WORK),
        (IDLE_MANAGER, "", MANDATORY["manager"], NO_CONTROL),
    ],
)
def test_what_could_not_be_asked_is_green_and_not_conformant(
    spec: str, fault: str, groups: tuple[Group, ...], why: str
) -> None:
    outcome = run(spec, list(CASES.values()), fault)
    assert (outcome.exit_code, outcome.conformant, says_conformant(outcome)) == (0, False, False)
    assert groups_named(outcome) == names(groups)
    for group in groups:
        assert f"  no case of the mandatory group {group.value} was run: {why}" in table.lines(outcome)


@pytest.mark.parametrize(
    ("fault", "groups", "isolation"),
    [
        ("scheduling-idle", DOINGS_OF_THE_HAL, "process"),
        ("scheduling-idle", DOINGS_OF_THE_HAL, "inprocess"),
        ("manager-idle", DOINGS_OF_THE_MANAGER, "inprocess"),
    ],
)
def test_what_only_checks_its_arguments_is_red_and_what_it_does_not_do_is_named(
    fault: str, groups: tuple[Group, ...], isolation: Isolation
) -> None:
    outcome = run(FAULTY, [case for case in CASES.values() if case.group is not None], fault, isolation)
    assert (outcome.exit_code, says_conformant(outcome)) == (1, False)
    assert groups_named(outcome) == names(groups)


@pytest.mark.parametrize("name", SAMPLE)
def test_variants_that_can_be_asked_are_conformant(name: str) -> None:
    interfaces = plugin.manifest({"fault": name}).interfaces
    cases = [case for case in ONE_OF_EACH if case.interface in interfaces]
    outcome = run(FAULTY, cases, name, "process")  # what a variant edits of the source stays in its process
    assert outcome.conformant, outcome.reasons


def test_a_service_of_which_most_could_not_be_asked_is_told_so_and_not_called_conformant() -> None:
    """Executions alone are work enough for a case of each group, and leave three quarters of them unasked."""
    cases = [case for case in CASES.values() if case.interface == "scheduling"]
    outcome = run(FAULTY, cases, "npu-device", "process")
    assert (outcome.exit_code, outcome.conformant, groups_named(outcome)) == (0, False, set())
    (reason,) = (line for line in outcome.reasons if "most of the npu scheduling HAL could not be tested" in line)
    assert reason.endswith("mostly since the subject has no workload interface")
    (told,) = (line for line in outcome.thin_coverage if "workload" in line)
    assert re.fullmatch(
        rf"\d+ of {len(cases)} cases of the npu scheduling HAL could not be tested: {re.escape(NO_WORK)}", told
    )


def test_each_case_of_a_service_is_in_a_group_of_it_and_those_of_buffers_in_none() -> None:
    for name, case in CASES.items():
        if name.startswith("cts.npu_buffers."):  # a manager need not have an allocator
            assert case.group is None
        else:
            assert case.group in MANDATORY[case.interface], name


def test_each_group_belongs_to_one_interface() -> None:
    assert sorted(names([group for groups in MANDATORY.values() for group in groups])) == sorted(names(list(Group)))


def test_groups_of_which_nothing_was_run_stand_in_one_line() -> None:
    reasons = [f"no case of the mandatory group {name} was run" for name in ("memory", "runtime-plans", "npu-order")]
    whole = "no case of the mandatory groups memory, runtime-plans and npu-order was run"
    assert table._together([*reasons, "other"]) == [whole, "other"]
