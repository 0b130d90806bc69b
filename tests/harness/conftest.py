"""A subject made of nothing: what the engine sees of one, steered by the test."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

import pytest

from npu_conformance.harness.run.cases import Case
from npu_conformance.specs.documents.failures import Account
from npu_conformance.specs.documents.results import Event
from npu_conformance.specs.manifest import Manifest
from npu_conformance.specs.neuralnetworks.hal import Device
from npu_conformance.specs.neuralnetworks.types import Memory
from npu_conformance.specs.plugin import Subject
from npu_conformance.specs.versions import Version


@dataclass
class FakePool:
    """A pool that knows whether it was closed."""

    size: int
    closed: bool = False
    memory: Memory = field(default_factory=lambda: Memory("ashmem", 1, 1))

    def close(self) -> None:
        """Remember it."""
        self.closed = True


@dataclass
class FakePools:
    """Creates pools and keeps them."""

    created: list[FakePool] = field(default_factory=list)

    def create(self, kind: str, size: int) -> FakePool:
        """Create one."""
        self.created.append(FakePool(size))
        return self.created[-1]


@dataclass(eq=False)
class FakeSubject:
    """Stands for a SubjectHandle. living: what alive() says. restart_error: what restart() raises."""

    manifest: Manifest = field(default_factory=lambda: Manifest(name="fake", vendor="nobody", version="1"))
    version: Version = Version.V1_2
    interfaces: Subject = field(default_factory=lambda: Subject(device=Device()))
    memory: FakePools = field(default_factory=FakePools)
    living: bool = True
    restarts: int = 0
    restart_error: Exception | None = None
    told: Account = field(default_factory=Account)

    def alive(self) -> bool:
        """Return what the test wants."""
        return self.living

    def restart(self) -> None:
        """Count, and come to life unless the test wants otherwise."""
        self.restarts += 1
        if self.restart_error:
            raise self.restart_error
        self.living = True

    def application(self, uid: int, pid: int = 0) -> FakePool:
        """Return something to close."""
        return self.memory.create("application", uid)

    def begin_case(self, case: str) -> None:
        """Remember nothing."""

    def account(self) -> Account:
        """Return what the test wants."""
        return self.told

    def wait_until(self, predicate: Callable[[], bool], seconds: float) -> bool:
        """Return whether it holds: all callbacks of a fake come at once."""
        return predicate()

    def serve_pending(self) -> bool:
        """Return false: nothing comes later."""
        return False


@dataclass
class Recorder:
    """A sink that keeps the events."""

    events: list[Event] = field(default_factory=list)

    def write(self, event: Event) -> None:
        """Keep it."""
        self.events.append(event)

    def of(self, kind: type[Any]) -> list[Any]:
        """The events of one kind."""
        return [event for event in self.events if isinstance(event, kind)]


@pytest.fixture
def subject() -> Any:
    """A subject that lives."""
    return FakeSubject()


@pytest.fixture
def recorder() -> Recorder:
    """A sink that keeps the events."""
    return Recorder()


@pytest.fixture
def make_case() -> Callable[..., Case]:
    """Make a case from a name and a body."""

    def make(name: str, body: Callable[[Any], None] = lambda context: None, **fields: Any) -> Case:
        requirements: Iterable[str] = fields.pop("requirements", ("REQ-1",))
        return Case(f"vts.area.subject.{name}", body, tuple(requirements), **fields)

    return make
