"""Random sequences of legal and illegal calls, each judged by a model of the API.

The sequences are drawn from the case's seed. What fails is cut down to the calls that matter: the message lists
them, and the failure file holds the steps, so that no seed is needed to run them again.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from npu_conformance.cts.lib.runtime.driver_app import DriverApp
from npu_conformance.cts.lib.runtime.fixture import RuntimeApp
from npu_conformance.harness.judge.api_model import Required
from npu_conformance.harness.judge.verdicts import Failed
from npu_conformance.harness.nnapi.machine import ApiMachine, Step
from npu_conformance.harness.nnapi.machine_phrases import phrase
from npu_conformance.harness.nnapi.machine_steps import STEPS
from npu_conformance.harness.nnapi.machine_told import Watched
from npu_conformance.harness.run.cases import Case, CaseGroup, Group, Scope
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.harness.run.random_search import case_of_steps, search
from npu_conformance.specs.neuralnetworks.enums import ErrorStatus
from npu_conformance.specs.neuralnetworks.runtime.control import Misbehaviour
from npu_conformance.specs.neuralnetworks.runtime.result_codes import ResultCode
from npu_conformance.specs.versions import Version

cases = CaseGroup("cts.random_calls.api", interface="runtime", group=Group.RUNTIME_EXECUTIONS)

_VERSIONS = (Version.V1_0, Version.V1_2, Version.V1_3, Version.FL8)
"""Of the driver that the app sees, in `of_a_driver`."""
_SEQUENCES = {Scope.SMOKE: (8, 60), Scope.DEFAULT: (40, 120), Scope.FULL: (1500, 200)}
"""How many sequences, of how many steps, by scope."""
_PHRASES = 12
"""In one of so many places there are calls that belong together."""
_ILLEGAL = 8
"""One object in so many is null, or none of those that a careful app would take."""

_WITH_MEMORIES = ("share", "copy", "describe", "add_role", "finish_descriptor", "allocate")
_BUILT = (
    Step("create_model"),
    *(Step("add_operand", value=value) for value in (0, 0, 2, 0)),
    Step("set_value", value=0),
    Step("add_operation"),
    Step("identify"),
    Step("finish_model"),
    Step("compile"),
    Step("finish_compilation"),
)
"""A compiled ADD, with which most sequences begin: few random ones get so far."""
_FOR_ONE = tuple(Step("compile", value=1) if step.call == "compile" else step for step in _BUILT)
"""The same, for one device by name."""


@cases.case("from_nothing", "FUZ-011", "FUZ-001", "FW-API-005", "FW-MDL-001", "FW-MDL-023", "FW-MDL-025", "FW-CMP-001")
def from_nothing(context: CaseContext) -> None:
    """Random calls from the first on: models in building, above all."""
    _search(context, ())


@cases.case(
    "of_a_compilation", "FUZ-011", "FUZ-001", "FW-API-005", "FW-EXE-001", "FW-EXE-002", "FW-EXE-003", "FW-EXE-004",
    "FW-EXE-009", "FW-EXE-011", "FW-EXE-014", "FW-EXE-017", "FW-EXE-019", "FW-CMP-003", scope=Scope.SMOKE,
)  # fmt: skip
def of_a_compilation(context: CaseContext) -> None:
    """Random calls with a model that is compiled for all devices."""
    _search(context, _BUILT)


@cases.case(
    "of_one_device",
    "FUZ-011",
    "FUZ-001",
    "FW-API-005",
    "FW-EXE-009",
    "FW-EXE-019",
    "FW-CMP-007",
    "FW-EXE-002",
    "FW-EXE-003",
)
def of_one_device(context: CaseContext) -> None:
    """Random calls with a model that is compiled for the CPU by name, where the feature level has that."""
    _search(context, _FOR_ONE)


@cases.case("of_memories", "FUZ-011", "FUZ-001", "FW-API-005", "FW-MEM-001", "FW-MEM-002", "FW-MEM-005", "FW-MEM-006")
def of_memories(context: CaseContext) -> None:
    """Random calls with memory objects and descriptors, above all."""
    _search(context, _BUILT, _WITH_MEMORIES)


def _of_a_driver(version: Version) -> None:
    @cases.case(
        f"of_a_driver.{version.name.lower()}", "FUZ-011", "FW-CMP-003", "FW-CMP-004", "FW-CMP-006", "FW-EXE-010",
        "FW-EXE-019", "FW-EXE-020", "FW-QOS-001", "NNHAL-BURST-017", since=Version.V1_2,
    )  # fmt: skip
    def of_a_driver(context: CaseContext) -> None:
        """Random calls with a model that one driver computes: it is told what was accepted last, and nothing else."""
        _search(context, _FOR_ONE, machine=_machine_of(f"of_a_driver.{version.name.lower()}"))


for _version in _VERSIONS:
    _of_a_driver(_version)


def _machine_of_driver(context: CaseContext, version: Version) -> ApiMachine:
    app = DriverApp(context, version)
    return ApiMachine(app, Watched(app.version, app.new_calls))


_FAILURES = {
    "status": (Version.FL8, Misbehaviour("execute", "status", int(ErrorStatus.DEVICE_UNAVAILABLE))),
    "callback": (Version.V1_0, Misbehaviour("execute", "callback", int(ErrorStatus.DEVICE_UNAVAILABLE))),
}
"""Drivers whose executions all fail with one code, and how, by name."""


def _of_a_failing_driver(name: str) -> None:
    @cases.case(
        f"of_a_failing_driver.{name}", "FUZ-011", "FW-PRT-010", "FW-PRT-011", "FW-EXE-003", "FW-EXE-017", "FW-MEM-005",
        since=Version.V1_2,
    )  # fmt: skip
    def of_a_failing_driver(context: CaseContext) -> None:
        """Random calls with one driver that fails: named it ends computations with its code, else the CPU computes."""
        _search(context, _FOR_ONE, _WITH_MEMORIES, machine=_machine_of(f"of_a_failing_driver.{name}"), share=2)


for _name in _FAILURES:
    _of_a_failing_driver(_name)


def _machine_of_failing(context: CaseContext, name: str) -> ApiMachine:
    version, failure = _FAILURES[name]
    code = Required(ResultCode.UNAVAILABLE_DEVICE, "FW-PRT-011")
    return ApiMachine(DriverApp(context, version, failure), failure=code)


def _machine_of(name: str) -> Callable[[CaseContext], ApiMachine]:
    """What runs the sequences of a case, by the end of its id."""
    kind, _, which = name.partition(".")
    if kind == "of_a_driver":
        version = next(one for one in _VERSIONS if one.name.lower() == which)
        return partial(_machine_of_driver, version=version)
    return partial(_machine_of_failing, name=which) if kind == "of_a_failing_driver" else _machine


def case_from(listed: Any) -> Case:
    """The case of a failure file: it makes the calls that are listed there."""
    return case_of_steps(cases(), listed, Step, STEPS, _replay, name="call")


def _machine(context: CaseContext) -> ApiMachine:
    return ApiMachine(RuntimeApp(context))


def _search(
    context: CaseContext,
    begin: Sequence[Step],
    favoured: Sequence[str] = (),
    machine: Callable[[CaseContext], ApiMachine] = _machine,
    share: int = 1,
) -> None:
    """Make random sequences of calls; the first that fails is cut down and raised. machine: makes what runs them.

    share: one in so many of the sequences of a scope.
    """
    sequences, length = _SEQUENCES[context.scope]
    weights = [weight * (5 if call in favoured else 1) for call, (_, weight) in STEPS.items()]

    def attempt(chance: random.Random, steps: list[Step]) -> None:
        steps += begin
        while len(steps) < len(begin) + length:
            (call,) = chance.choices(list(STEPS), weights)
            steps += phrase(chance) if chance.randrange(_PHRASES) == 0 else [_drawn(chance, call)]
        _run(machine(context), steps)

    search(context, sequences // share, attempt, lambda fewer: _run(machine(context), fewer))


def _drawn(chance: random.Random, call: str) -> Step:
    """A call with random arguments; the objects are mostly the first ones, which get furthest."""

    def number() -> int:
        return chance.choice((99, 2, 3)) if chance.randrange(_ILLEGAL) == 0 else chance.choice((0, 0, 1))

    return Step(call, number(), number(), chance.randrange(840))


def _run(machine: ApiMachine, steps: Sequence[Step]) -> None:
    """Make the calls with objects of their own, freed at the end. A failure lists the calls."""
    try:
        for step in steps:
            STEPS[step.call][0](machine, step)
    except Failed as error:
        raise Failed(f"{error}\nWhat was called:\n{machine.history()}", error.expected, error.found) from None
    finally:
        machine.app.close()


def _replay(context: CaseContext, steps: Sequence[Step]) -> None:
    """Make listed calls."""
    _run(_machine_of(context.case.id.removeprefix("cts.random_calls.api."))(context), steps)
