"""What a running case gets: the subject, helpers for the usual steps, and the place where its verdicts collect."""

from __future__ import annotations

import re
import time
import weakref
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, Protocol

from msgspec.structs import replace

from npu_conformance.harness.judge import asked_models, checks
from npu_conformance.harness.judge.asked_models import AskedModel
from npu_conformance.harness.judge.classification import OutcomeDetails, SubjectLost, classify_exception, shortened
from npu_conformance.harness.judge.tolerance import ToleranceOfWaiver
from npu_conformance.harness.judge.verdicts import WIRE, Crashed, Failed, NotApplicable
from npu_conformance.harness.run.preparation import (
    NO_TOKEN,
    Preparation,
    PreparationArguments,
    PreparationRecorder,
    prepare,
)
from npu_conformance.harness.run.record import Record
from npu_conformance.harness.run.resources import Resources
from npu_conformance.harness.run.scope import Scope
from npu_conformance.harness.subject.concurrency import Result
from npu_conformance.specs.documents.results import Measurement, Note, NpuSpan
from npu_conformance.specs.errors import InterfaceError, ServiceError
from npu_conformance.specs.manifest import InterfaceName, Manifest
from npu_conformance.specs.neuralnetworks.enums import ExecutionPreference, Priority
from npu_conformance.specs.neuralnetworks.hal import Device, PreparedModel
from npu_conformance.specs.neuralnetworks.types import (
    NO_DEADLINE,
    CacheHandle,
    ExtensionNameAndPrefix,
    Model,
    TokenValuePair,
)
from npu_conformance.specs.outcomes import Outcome
from npu_conformance.specs.versions import Version

if TYPE_CHECKING:
    from npu_conformance.harness.subject.handle import Application, SubjectHandle

_NAME = re.compile(r"[A-Za-z0-9_]+(?:\.[A-Za-z0-9_]+)*")

_MOST_PENDING = 100
"""Messages that are handled when a case has ended: one that sends without end must not hold the run up."""
_UIDS_A_CASE, _CASES = 10, 900
"""The distance between the uids of two cases, and the number of cases for which there are uids of apps."""

TolerancesOf = Callable[[str, tuple[str, ...]], tuple[ToleranceOfWaiver, ...]]
"""Says what a waiver allows for an id and its requirements."""


class CaseHeader(Protocol):
    """What a running case knows of its own declaration."""

    @property
    def id(self) -> str:
        """Its id."""
        ...

    @property
    def description(self) -> str:
        """What it is about."""
        ...

    @property
    def requirements(self) -> tuple[str, ...]:
        """The requirements it is evidence for."""
        ...


class CaseContext(Resources):
    """One case while it runs.

    seed: of this case alone; equal for equal run seed and case id. scope: how
    thorough the run is. duration_scale: how much longer than usual cases may work that are bounded by an amount.
    beside: a second implementation, which figures are compared with; None without one.
    """

    def __init__(
        self,
        case: CaseHeader,
        subject: SubjectHandle,
        *,
        seed: int = 0,
        scope: Scope = Scope.DEFAULT,
        duration_scale: float = 1.0,
        only: str = "",
        tolerances_of: TolerancesOf = lambda name, requirements: (),
        beside: SubjectHandle | None = None,
    ) -> None:
        super().__init__(subject)
        self.case = case
        self.seed = seed
        self.scope = scope
        self.beside = beside
        self.duration_scale = duration_scale
        self.own = Record(requirements=case.requirements)
        self.configurations: dict[str, Record] = {}
        self.notes: dict[str, Note] = {}
        self.measurements: list[Measurement] = []
        self.timeline: list[NpuSpan] = []
        self.executed_by: dict[str, tuple[str, ...]] = {}
        self.payload: Callable[[], Any] | None = None
        self._only = only
        self._tolerances_of = tolerances_of
        self._current = self.own
        # Weakly: to keep prepared models alive would change what the subject holds. Ids are given again.
        self._prepared: dict[int, tuple[weakref.ref[PreparedModel], AskedModel]] = {}

    @property
    def version(self) -> Version:
        """The HAL version the subject is tested as."""
        return self.subject.version

    @property
    def manifest(self) -> Manifest:
        """What the plug-in says of itself."""
        return self.subject.manifest

    def case_uid(self, uid: int) -> int:
        """A uid for an app of this case alone, from its seed: events of another case's app may arrive late."""
        return uid + _UIDS_A_CASE * (self.seed % _CASES)

    @property
    def device(self) -> Device:
        """The subject's NN HAL device; NotApplicable where it has none."""
        return self.present(self.subject.interfaces.device, "device")

    def device_of(self, application: Application | SubjectHandle | None) -> Device:
        """The device as an app sees it, None being the harness itself; NotApplicable where apps see none."""
        if application is None:
            return self.device
        if application.interfaces.device is None:
            raise NotApplicable("apps do not see the device")
        return application.interfaces.device

    def present(self, found: Result | None, name: InterfaceName) -> Result:
        """An interface; Failed where the manifest names it and it is not there, NotApplicable where it does not."""
        if found is None and name in self.manifest.interfaces:
            checks.fail("interfaces of the subject", f"{name}, which its manifest names", "none")
        if found is None:
            raise NotApplicable(f"the subject has no {name} interface")
        return found

    def run_concurrently(self, calls: Sequence[Callable[[], Result]]) -> list[Result | InterfaceError]:
        """Let functions call the subject at once; returns what each returned, or the interface error it raised.

        NotApplicable where the subject takes one call after the other (`concurrent_calls` of its manifest). No more
        than that many run at a time. A function may make any calls and checks; deadlines are those of all together.
        """
        return self.subject.run_concurrently(calls)

    def prepare(
        self,
        model: Model,
        *,
        preference: int = ExecutionPreference.FAST_SINGLE_ANSWER,
        priority: int = Priority.MEDIUM,
        deadline: int = NO_DEADLINE,
        model_cache: tuple[CacheHandle, ...] = (),
        data_cache: tuple[CacheHandle, ...] = (),
        token: bytes = NO_TOKEN,
        with_config: bool = False,
        hints: tuple[TokenValuePair, ...] = (),
        extensions: tuple[ExtensionNameAndPrefix, ...] = (),
        callback: PreparationRecorder | None = None,
    ) -> Preparation:
        """Prepare a model and wait for the answer; what is not given is neutral. deadline: ns of CLOCK_BOOTTIME.

        with_config: by prepareModelWithConfig, which takes hints and the prefixes of their extensions.
        """
        arguments = PreparationArguments(
            preference=preference,
            priority=priority,
            deadline_ns=deadline,
            model_cache=model_cache,
            data_cache=data_cache,
            token=token,
            with_config=with_config,
            hints=hints,
            extensions=extensions,
        )
        preparation = prepare(self.subject, self.device, model, arguments, callback or PreparationRecorder())
        made = preparation.prepared_model
        if made is not None:
            with suppress(TypeError):  # an object of a plug-in need not be one that can be watched
                self._prepared[id(made)] = weakref.ref(made), self._asked(model)
        return preparation

    def mark_execution(self, prepared_model: PreparedModel, *, succeeded: bool) -> None:
        """Say that an execution of a model from `prepare` has ended, with NONE or not.

        What is asked for last is what a record ends with, also where another configuration has prepared it.
        """
        known = self._prepared.get(id(prepared_model))
        if known is None or known[0]() is not prepared_model:
            return
        one = known[1]
        one.executed = one.executed or succeeded
        if not self._current.models or self._current.models[-1] is not one:
            self._current.models.append(one)

    def supported_operations(
        self, model: Model, *, device: Device | None = None, is_valid: bool = True
    ) -> tuple[bool, ...]:
        """Ask which operations of the main graph are supported; Failed where the number of answers is wrong.

        device: as an app sees it. is_valid: False for a model that breaks a rule, so that no claim is about it.
        """
        try:
            answers = (device or self.device).get_supported_operations(model)
        except ServiceError as error:
            error.about = ("NNHAL-SUPPORT-002",) if is_valid else error.about
            raise
        count = len(model.main.operations)
        with checks.about("NNHAL-SUPPORT-001"):
            if len(answers) != count:
                checks.fail("getSupportedOperations", f"{count} answers, one an operation", str(len(answers)))
        if is_valid:
            self._current.models.append(asked_models.asked(model, answers))
        return answers

    def _asked(self, model: Model) -> AskedModel:
        """What is recorded of a model: that it was asked for before it was prepared, or that it is now."""
        for one in (*self._current.models, *self.own.models):
            if one.model is model:
                return one
        self._current.models.append(asked_models.asked(model))
        return self._current.models[-1]

    def wants(self, configuration: str) -> bool:
        """False where a replay is after another configuration: lets a case skip work, changes no verdict."""
        return self._only in ("", configuration)

    @contextmanager
    def configuration(self, name: str, *, requirements: tuple[str, ...] = ()) -> Iterator[None]:
        """Give what happens inside its own verdict, `case#name`, and go on behind it whatever that is.

        Objects of the subject do not survive a crash or a hang inside: `restarts` counts how often it was restarted.
        """
        record = self._open(name, requirements)
        started = time.perf_counter()
        try:
            yield
        except SubjectLost:
            raise
        except Exception as error:
            record.details = classify_exception(error, behind_restart=self.restarts > 0)
        finally:
            record.seconds = time.perf_counter() - started
            self._current = self.own
        self.recover(record)
        record.settle()

    def _open(self, name: str, requirements: tuple[str, ...]) -> Record:
        if _NAME.fullmatch(name) is None:
            raise ValueError(f"not a name of a configuration: {name!r}")
        if name in self.configurations:
            raise ValueError(f"configuration {name} has a verdict already")
        if self._current is not self.own:
            raise ValueError(f"configuration {name} inside configuration {self._current.name}")
        self._current = self.configurations[name] = Record(name, (*self.own.requirements, *requirements))
        return self._current

    def is_evidence_for(self, *requirements: str) -> None:
        """Say that the case turned out to be evidence for these requirements, and not for those that it declared."""
        self.own.requirements = requirements

    def about(self, *requirements: str) -> None:
        """Say what the checks from here on are about: a failure breaks these requirements, and names the first.

        What a helper says of its own checks (`checks.about`) comes before it.
        """
        self._current.about = requirements

    def recover(self, record: Record, *, always: bool = False) -> None:
        """Restart the subject where it is lost.

        Death after a failure stays a failure, which says more (the host of a subject that answers garbage is killed);
        behind anything else it is a crash. always: look for signs of life also after what did not fail, so that a late
        death is not the next case's.
        """
        details = record.details
        suspicious = always or details.outcome in (Outcome.FAIL, Outcome.SUITE_ERROR)
        lost = details.lost_host or (suspicious and not self.is_alive())
        if lost and details.outcome is Outcome.FAIL and not details.says_dead:
            record.details = replace(details, message=f"{details.message}; {_why_lost(details)}")
        elif lost and not details.lost_host:
            what = details.message or details.outcome.value
            record.details = classify_exception(Crashed(f"the subject does not answer any more, after: {what}"))
        if lost:
            self.restart()

    def take_what_has_come(self) -> None:
        """Handle what the subject has sent already: a second answer, say, is this case's and not the next one's."""
        if self.own.details.lost_host:
            return
        for _ in range(_MOST_PENDING):
            if not self.subject.serve_pending():
                return

    def is_alive(self) -> bool:
        """True where the subject still answers; an error while asking means that it does not."""
        try:
            return self.subject.alive()
        except Exception:  # however asking fails, that is no sign of life
            return False

    def restart(self) -> None:
        """Restart the subject. Raises SubjectLost where that fails: the run cannot go on."""
        self.restarts += 1
        try:
            self.subject.restart()
        except Exception as error:
            raise SubjectLost(f"the subject could not be restarted: {classify_exception(error).message}") from error

    @contextmanager
    def playing(self, version: Version) -> Iterator[None]:
        """Have the subject serve another version of the HAL while the block runs. NotApplicable where it cannot."""
        self.restarts += 1
        try:
            self.subject.restart(version)
            yield
        finally:
            self.restart()

    def warn_quality(self, message: str) -> None:
        """Say that a result is legal but worse than it could be. Never a failure."""
        self._current.warnings.append(shortened(message))

    @property
    def is_flawless(self) -> bool:
        """True where the running configuration has needed neither a warning nor a waiver so far."""
        return not self._current.warnings and self._current.excused is None

    def note(self, key: str, value: Note) -> None:
        """Keep a fact for the report."""
        self.notes[key] = value

    def attach(self, payload: Callable[[], Any]) -> None:
        """Give what a failure file needs to run this case without stored vectors; called only where the case fails.

        The payload is JSON-able (or a struct); the area's `case_from(payload)` makes a case of it again.
        """
        self.payload = payload

    def waived_tolerances(self) -> tuple[ToleranceOfWaiver, ...]:
        """How far waivers let the outputs of the running configuration be off; empty without such a waiver."""
        name = f"{self.case.id}#{self._current.name}" if self._current.name else self.case.id
        return self._tolerances_of(name, self._current.requirements)

    def excuse(self, failure: Failed) -> None:
        """Note a failure of the running configuration that the tolerance of a waiver excuses."""
        self._current.excused = self._current.excused or classify_exception(failure)


def _why_lost(details: OutcomeDetails) -> str:
    """Why a subject cannot be used any more after a failure: after a mistake on the wire the harness has hung up."""
    is_of_wire = WIRE in details.about
    return "the connection was ended for it" if is_of_wire else "the subject does not answer any more"
