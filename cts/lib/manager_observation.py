"""What cases read of a manager that a person sees too: its dump and its metrics."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from npu_conformance.cts.lib import manager_dump
from npu_conformance.cts.lib.manager_client import Client, answered, package_of
from npu_conformance.cts.lib.manager_dump import ManagerDump
from npu_conformance.cts.lib.manager_fixture import ClientApp, ManagerFixture
from npu_conformance.harness.judge import checks
from npu_conformance.harness.judge.verdicts import NotApplicable
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.specs.errors import Unsupported
from npu_conformance.specs.npu.types import ATOMS_DUE, DUMP_PERMISSION, SHELL_UID, Atom, ShellResult


def dump(fixture: ManagerFixture) -> ManagerDump:
    """The dump, read with the permission to have it."""
    fixture.settle()
    fixture.control.grant_permission(fixture.settings.uid, DUMP_PERMISSION, True)
    return manager_dump.read(fixture.settings.manager.dump())


def names_the_request(dump: ManagerDump, app: ClientApp) -> None:
    """Check that a dump has one request, with the uid and the package of the app."""
    requests = [(line.uid, line.package) for line in dump.requests]
    checks.equal(requests, [(app.uid, package_of(app.uid))], "uid and package of the requests in the dump")


def state_of(dump: ManagerDump, app: ClientApp) -> str:
    """The state that a dump gives the only request of an app."""
    found = dump.states_of(app.uid)
    checks.equal(len(found), 1, f"requests of uid {app.uid} in the dump")
    return found[0]


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
