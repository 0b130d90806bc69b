"""What cases read of a manager that a person sees too: its dump and its metrics."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from npu_conformance.cts.lib.manager_client import Client, answered
from npu_conformance.cts.lib.manager_fixture import ClientApp, ManagerFixture
from npu_conformance.harness.judge import checks
from npu_conformance.harness.judge.verdicts import NotApplicable
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.specs.errors import Unsupported
from npu_conformance.specs.npu.types import ATOMS_DUE, DUMP_PERMISSION, SHELL_UID, Atom, Policy, ShellResult

POLICY_NAMES = {Policy.STATUS_QUO: "statusquo", Policy.TURN_TAKING: "turntaking", Policy.BUDGET: "budget"}
"""As the dump calls them."""


def dump(fixture: ManagerFixture) -> str:
    """The dump, read with the permission to have it."""
    fixture.settle()
    fixture.control.grant_permission(fixture.settings.uid, DUMP_PERMISSION, True)
    return fixture.settings.manager.dump()


def contains(text: str, part: str) -> None:
    """Check that a dump has this part."""
    checks.that(part in text, f"expected {part!r}, found {text!r}")


def state_of(dump: str, app: ClientApp) -> str:
    """The state that a dump gives the only request of an app."""
    found = states_of(dump, app)
    checks.equal(len(found), 1, f"requests of uid {app.uid} in the dump")
    return found[0]


def states_of(dump: str, app: ClientApp) -> list[str]:
    """The states that a dump gives the requests of an app."""
    return re.findall(rf"^ +{app.uid} \[[^\]]*\]: (.+)$", dump, re.MULTILINE)


def shell_of(context: CaseContext, uid: int = SHELL_UID) -> Callable[..., ShellResult]:
    """Runs `cmd npu` with words as this uid."""
    client = Client(context, uid)

    def run(*words: str) -> ShellResult:
        return answered(context, lambda: client.manager.shell_command(words))

    return run


@contextmanager
def pushes_suspended(root: Callable[..., ShellResult]) -> Iterator[None]:
    """Inside, root has suspended the pushes to the HAL (NPU-OBS-005). root: runs `cmd npu` as root."""
    root("disable")
    try:
        yield
    finally:
        root("enable")


def metrics_reader(fixture: ManagerFixture) -> Callable[[], tuple[Atom, ...]]:
    """Reads what was logged since the last call, once all is settled. NotApplicable where nobody can read it."""

    def take() -> tuple[Atom, ...]:
        fixture.settle()
        return fixture.control.take_metrics()

    try:
        take()
    except Unsupported as error:
        raise NotApplicable(f"the metrics cannot be read: {error}") from None
    return take


def judge_atoms(context: CaseContext, found: list[Atom], expected: list[tuple[str, dict[str, int]]]) -> None:
    """Warn where a record is missing, or says something else; further fields and records are welcome."""
    rest = iter(found)
    for name, values in expected:
        if not any(atom.name == name and values.items() <= atom.values.items() for atom in rest):
            due = f"which is due {ATOMS_DUE[name]}"
            context.warn_quality(f"expected a metric {name} {values} in its place, {due}, found {[*map(str, found)]}")
            return
