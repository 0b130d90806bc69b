"""The NPU Manager's cases: all pass on the reference, and each fault is caught by the case it names."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, cast

import pytest

from npu_conformance.cts import npu_manager
from npu_conformance.faults.npu_manager import FAULTS, plugin
from npu_conformance.harness.cases import Case
from npu_conformance.harness.endings import Ending, ending_of
from npu_conformance.harness.loading import Isolation, open_subject
from npu_conformance.harness.trial import Trial
from npu_conformance.specs import ids, requirements
from npu_conformance.specs.manifest import Manifest
from npu_conformance.specs.npu.manager import Manager, ModelLoadRequestCallback, ModelLoadStatusListener
from npu_conformance.specs.npu.types import ModelLoadRequest
from npu_conformance.specs.outcomes import Outcome
from npu_conformance.specs.plugin import Caller, Context, Subject

CASES = {case.id: case for case in npu_manager.cases()}


class NoMemory:
    """The manager maps nothing."""

    def map(self, memory: object) -> memoryview:
        raise NotImplementedError


class PlayedBy:
    """An object of the manager as one uid reaches it: what the transport does in a real run."""

    def __init__(self, subject: InProcess, uid: int, target: object) -> None:
        self._subject, self._uid, self._target = subject, uid, target

    def __getattr__(self, name: str) -> Any:
        def call(*arguments: object) -> object:
            self._subject.uid = self._uid
            sent = [
                CallbackOf(self, item) if isinstance(item, ModelLoadRequestCallback) else item for item in arguments
            ]
            return getattr(self._target, name)(*sent)

        return call

    def reached(self, target: object) -> Any:
        return PlayedBy(self._subject, self._uid, target)


class CallbackOf(ModelLoadRequestCallback):
    """Hands the listeners that arrive to the app so that it calls them under its own uid."""

    def __init__(self, app: PlayedBy, client: ModelLoadRequestCallback) -> None:
        self._app, self._client = app, client

    def on_can_load_model(self, request: ModelLoadRequest, status: int, listener: ModelLoadStatusListener) -> None:
        self._client.on_can_load_model(request, status, self._app.reached(listener))

    def on_request_unload_model(self, request: ModelLoadRequest, reason: int | None) -> None:
        self._client.on_request_unload_model(request, reason)

    def on_model_load_request_complete(self, request: ModelLoadRequest, status: int) -> None:
        self._client.on_model_load_request_complete(request, status)


@dataclass
class Application:
    interfaces: Subject

    def close(self) -> None:
        """There is no connection to end."""


@dataclass
class InProcess:
    """The part of a subject handle that the cases use, without a process of its own."""

    fault: str | None
    uid: int = 0
    manifest: Manifest = field(init=False)
    interfaces: Subject = field(init=False)

    def __post_init__(self) -> None:
        options = {} if self.fault is None else {"fault": self.fault}
        self.manifest = plugin.describe(options)
        self.interfaces = plugin.create(Context(NoMemory(), lambda: Caller(self.uid, 1), options))

    def application(self, uid: int, pid: int = 0) -> Application:
        return Application(Subject(manager=cast(Manager, PlayedBy(self, uid, self.interfaces.manager))))

    def wait_until(self, predicate: Callable[[], bool], seconds: float) -> bool:
        return predicate()

    def serve_pending(self) -> bool:
        return False


def run(case: Case, fault: str | None) -> tuple[Ending, list[str]]:
    """Run one case; the ending, and the quality warnings."""
    trial = Trial(case, cast(Any, InProcess(fault)))
    try:
        case.run(trial)
    except Exception as error:
        return ending_of(error), trial.own.warnings
    return Ending(), trial.own.warnings


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_the_reference_passes(case: Case) -> None:
    assert run(case, None) == (Ending(), [])


@pytest.mark.parametrize("isolation", ["process", "inprocess"])
def test_the_reference_plugin_passes(isolation: Isolation) -> None:
    subject = open_subject("reference", isolation=isolation)
    try:
        for case in CASES.values():
            case.run(Trial(case, subject))
    finally:
        subject.close()


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_a_case_can_run_twice_on_one_subject(case: Case) -> None:
    subject = InProcess(None)
    for _ in range(2):
        case.run(Trial(case, cast(Any, subject)))


@pytest.mark.parametrize("name", FAULTS)
def test_each_fault_is_caught_by_the_case_it_names(name: str) -> None:
    ending, warnings = run(CASES[FAULTS[name].caught_by], name)
    if FAULTS[name].noticed_as == "quality-warning":
        assert (ending.outcome, len(warnings)) == (Outcome.PASS, 1)
    else:
        assert ending.outcome is Outcome.FAIL, ending


def test_each_case_is_needed_by_a_fault() -> None:
    assert {kind.caught_by for kind in FAULTS.values()} == set(CASES)


def test_each_fault_breaks_what_its_case_is_evidence_for() -> None:
    for name, kind in FAULTS.items():
        assert set(kind.breaks) & set(CASES[kind.caught_by].requirements), name


def test_cases_have_legal_ids_known_requirements_and_a_description() -> None:
    for case in CASES.values():
        assert ids.parse(case.id).area == "npu_manager"
        assert case.interface == "manager"
        assert case.description
        assert case.requirements
        for identifier in case.requirements:
            assert requirements.requirement(identifier).untested == "" or identifier == "NPU-LIF-023"


def test_a_subject_without_control_is_not_judged() -> None:
    subject = InProcess(None)
    subject.interfaces = Subject(manager=subject.interfaces.manager)
    case = next(iter(CASES.values()))
    with pytest.raises(Exception, match="manager_control") as raised:
        case.run(Trial(case, cast(Any, subject)))
    assert ending_of(raised.value).outcome is Outcome.NOT_APPLICABLE
