"""What a case is, and how a suite declares it.

An area of a suite is a module with `cases() -> Iterator[Case]`, which must be cheap: headers only. A suite's
`__init__` lists its areas in AREAS. Behaviour tests are functions under `@cases.case(...)`, where `cases` is a
CaseGroup.
"""

from __future__ import annotations

import enum
import inspect
from collections.abc import Callable, Iterator, Mapping

import msgspec

from npu_conformance.harness.run.context import CaseContext
from npu_conformance.harness.run.scope import Scope
from npu_conformance.specs.manifest import InterfaceName
from npu_conformance.specs.versions import NEWEST, OLDEST, Version

__all__ = ["MANDATORY", "Case", "CaseGroup", "Group", "Scope"]


class Group(enum.Enum):
    """Mandatory groups: a subject of which nothing passes in one of its interfaces' groups is not conformant."""

    QUERIES = "queries"
    VALIDATION = "validation"
    EXECUTION = "execution"
    MEMORY = "memory"
    SCHEDULING_VALIDATION = "scheduling-validation"
    SCHEDULING_EVENTS = "scheduling-events"
    SCHEDULING_DECISIONS = "scheduling-decisions"
    MANAGER_QUERIES = "manager-queries"
    MANAGER_VALIDATION = "manager-validation"
    MANAGER_REQUESTS = "manager-requests"
    MANAGER_POLICIES = "manager-policies"
    MANAGER_PRIORITIES = "manager-priorities"
    RUNTIME_QUERIES = "runtime-queries"
    RUNTIME_MODELS = "runtime-models"
    RUNTIME_COMPILATIONS = "runtime-compilations"
    RUNTIME_EXECUTIONS = "runtime-executions"
    RUNTIME_MEMORIES = "runtime-memories"


MANDATORY: Mapping[InterfaceName, tuple[Group, ...]] = {
    "device": (Group.QUERIES, Group.VALIDATION, Group.EXECUTION, Group.MEMORY),
    "scheduling": (Group.SCHEDULING_VALIDATION, Group.SCHEDULING_EVENTS, Group.SCHEDULING_DECISIONS),
    "manager": (
        Group.MANAGER_QUERIES, Group.MANAGER_VALIDATION, Group.MANAGER_REQUESTS, Group.MANAGER_POLICIES,
        Group.MANAGER_PRIORITIES,
    ),
    "runtime": (
        Group.RUNTIME_QUERIES, Group.RUNTIME_MODELS, Group.RUNTIME_COMPILATIONS, Group.RUNTIME_EXECUTIONS,
        Group.RUNTIME_MEMORIES,
    ),
}  # fmt: skip
"""The groups of each interface.

A service that checks its arguments and does nothing else passes cases of its validation and queries alone. A manager
need not have an allocator of buffers, so that the cases of buffers are in no group.
"""


class Case(msgspec.Struct, frozen=True):
    """One addressable test. `run` raises a CaseEnded of harness.judge.verdicts; where it returns, the case passes.

    id: suite.area.subject.case[variation] (specs/ids). requirements: what it is evidence for, the one that it is about
    first. about: the description, or what makes it. operations, types: names, as far as the id tells. since, until:
    versions of the HAL the case applies to. hazards: names, of its vector.
    """

    id: str
    run: Callable[[CaseContext], None]
    requirements: tuple[str, ...]
    about: str | Callable[[], str] = ""
    interface: InterfaceName = "device"
    since: Version = OLDEST
    until: Version = NEWEST
    group: Group | None = None
    scope: Scope = Scope.DEFAULT
    operations: tuple[str, ...] = ()
    types: tuple[str, ...] = ()
    hazards: tuple[str, ...] = ()

    @property
    def description(self) -> str:
        """What the case is about. That of a vector's case is made only here: listing ids must not read all vectors."""
        return self.about if isinstance(self.about, str) else self.about()

    @property
    def headline(self) -> str:
        """The first line of the description."""
        return self.description.partition("\n")[0]


class CaseGroup:
    """The behaviour tests of one area, in order of definition. since: of cases that do not say anything newer."""

    def __init__(
        self,
        area: str,
        *,
        interface: InterfaceName = "device",
        group: Group | None = None,
        since: Version = OLDEST,
    ) -> None:
        self._area = area
        self._interface = interface
        self._group = group
        self._since = since
        self._cases: list[Case] = []

    def case(
        self,
        name: str,
        *requirements: str,
        since: Version = OLDEST,
        until: Version = NEWEST,
        scope: Scope = Scope.DEFAULT,
        group: Group | None = None,
    ) -> Callable[[Callable[[CaseContext], None]], Callable[[CaseContext], None]]:
        """Declare a function as the case `<area>.<name>`; its docstring is the description.

        group: in place of the area's.
        """

        def declare(run: Callable[[CaseContext], None]) -> Callable[[CaseContext], None]:
            description = inspect.getdoc(run) or ""
            self._cases.append(
                Case(
                    f"{self._area}.{name}",
                    run,
                    requirements,
                    description,
                    self._interface,
                    max(since, self._since),
                    until,
                    group or self._group,
                    scope,
                )
            )
            return run

        return declare

    def __call__(self) -> Iterator[Case]:
        """Return the declared cases, so that a module's `cases` can be a CaseGroup."""
        return iter(self._cases)
