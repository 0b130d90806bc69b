"""A fake subject, and small runs of the engine against it, for the self-checks of the harness."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, cast

from npu_conformance.corpus import variations, vectors
from npu_conformance.corpus.wire_model import build_model
from npu_conformance.harness.judge.verdicts import NotSupported
from npu_conformance.harness.judge.waivers import Waivers
from npu_conformance.harness.run import results
from npu_conformance.harness.run.baseline import Baseline
from npu_conformance.harness.run.cases import Case, Group
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.harness.run.engine import Engine, EngineOptions
from npu_conformance.harness.run.events import Log
from npu_conformance.harness.subject.handle import SubjectHandle
from npu_conformance.specs.documents.failures import Account
from npu_conformance.specs.documents.results import CaseFinished, CaseResult, Event
from npu_conformance.specs.documents.summary import Results
from npu_conformance.specs.manifest import Claim, InterfaceName, Manifest
from npu_conformance.specs.neuralnetworks.enums import ErrorStatus
from npu_conformance.specs.neuralnetworks.hal import Device, PreparedModel
from npu_conformance.specs.neuralnetworks.types import Memory, Model
from npu_conformance.specs.plugin import Subject
from npu_conformance.specs.versions import Version


@dataclass
class FakePool:
    """A pool that knows whether it was closed."""

    closed: bool = False
    memory: Memory = field(default_factory=lambda: Memory("ashmem", 1, 1))

    def close(self) -> None:
        """Remember that it was closed."""
        self.closed = True


@dataclass(eq=False)
class FakeSubject:
    """Stands for a SubjectHandle. living: what alive() says; a restart brings it back to life."""

    manifest: Manifest = field(default_factory=lambda: Manifest(name="fake", vendor="nobody", version="1"))
    version: Version = Version.V1_2
    interfaces: Subject = field(default_factory=lambda: Subject(device=Device()))
    living: bool = True
    restarts: int = 0
    pools: list[FakePool] = field(default_factory=list)

    @property
    def memory(self) -> FakeSubject:
        """The fake is its own memory: it creates the pools."""
        return self

    def create(self, kind: str, size: int) -> FakePool:
        """Create a pool."""
        self.pools.append(FakePool())
        return self.pools[-1]

    def alive(self) -> bool:
        """The answer that the check asks for."""
        return self.living

    def restart(self) -> None:
        """Count the restart, and live again."""
        self.restarts += 1
        self.living = True

    def begin_case(self, case: str) -> None:
        """Fakes print nothing."""

    def account(self) -> Account:
        """Return nothing."""
        return Account()

    def wait_until(self, predicate: Callable[[], bool], seconds: float) -> bool:
        """All callbacks of a fake come at once."""
        return predicate()

    def serve_pending(self) -> bool:
        """Nothing comes later."""
        return False


@dataclass
class Little:
    """A small run: its events, and the results built from them."""

    events: list[Event]
    results: Results

    @property
    def verdicts(self) -> list[CaseResult]:
        """The verdicts in the events, in their order."""
        return [event.result for event in self.events if isinstance(event, CaseFinished)]

    def outcomes(self) -> dict[str, str]:
        """The outcome of each case by the last part of its id."""
        return {result.case.rpartition(".")[2]: result.outcome.value for result in self.verdicts}


class _Kept(list[Event]):
    def write(self, event: Event) -> None:
        self.append(event)


Body = Callable[[CaseContext], None]
NO_GROUPS: Mapping[str, Group] = MappingProxyType({})


def raising(error: BaseException) -> Body:
    """A body that ends with an error."""

    def body(context: CaseContext) -> None:
        raise error

    return body


def passing(context: CaseContext) -> None:
    """A body that passes."""


class FakeDevice(Device):
    """Supports every operation, or none; prepares what it supports."""

    def __init__(self, *, supported: bool = False) -> None:
        self._supported = supported

    def get_supported_operations(self, model: Model) -> tuple[bool, ...]:
        """The same answer for each operation."""
        return (self._supported,) * len(model.main.operations)

    def prepare_model(self, *arguments: Any) -> None:
        """Notify a prepared model."""
        arguments[-1].notify(ErrorStatus.NONE, PreparedModel())


def stored_model(operation: str, name: str, variation: str) -> Model:
    """The model of a stored vector, after a variation if one is named."""
    vector = vectors.load(operation, name)
    varied = variations.apply(variation, vector) if variation else vector
    assert varied is not None
    return build_model(varied, varied.since).model


def refusing(model: Model) -> Body:
    """A body that ends since the device does not support a model."""

    def body(context: CaseContext) -> None:
        if not all(context.supported_operations(model)):
            raise NotSupported("no")

    return body


def executing(model: Model) -> Body:
    """A body that prepares a model and says that an execution of it was right."""

    def body(context: CaseContext) -> None:
        prepared_model = context.prepare(model).prepared_model
        assert prepared_model is not None
        context.mark_execution(prepared_model, succeeded=True)

    return body


def make_case(name: str, body: Body = passing, **fields: Any) -> Case:
    """A case of the small run."""
    return Case(f"self.little.run.{name}", body, fields.pop("requirements", ("REQ-1",)), **fields)


def run(
    bodies: dict[str, Body],
    subject: FakeSubject | None = None,
    *,
    waivers: Waivers | None = None,
    baseline: Baseline | None = None,
    claims: Sequence[Claim] = (),
    groups: Mapping[str, Group] = NO_GROUPS,
    requirements: tuple[str, ...] = ("REQ-1",),
    interface: InterfaceName = "device",
    **options: Any,
) -> Little:
    """Run the bodies as cases, and build the results from the events. groups: of bodies, by their names."""
    found = subject or FakeSubject()
    if claims:
        found.manifest = Manifest(name="fake", vendor="nobody", version="1", claims=tuple(claims))
    fields = {"operations": ("ADD",), "requirements": requirements, "interface": interface}
    cases = [make_case(name, body, group=groups.get(name), **fields) for name, body in bodies.items()]
    events = _Kept()
    Engine(cases, cast(SubjectHandle, found), events, EngineOptions(**options), waivers=waivers).run()
    return Little(events, build_results(events, waivers, baseline))


def build_results(events: Sequence[Event], waivers: Waivers | None = None, baseline: Baseline | None = None) -> Results:
    """The results that the harness builds from a record."""
    log = Log()
    for event in events:
        log.add(event)
    return results.build(log, waivers, baseline)
