"""`npu top`: prints the table of a running manager, once or each second."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator, Sequence

from npu_conformance.cli.npu.connect import manager_as, reached, told_of
from npu_conformance.harness.judge.outcome_table import OK
from npu_conformance.harness.subject.handle import SubjectHandle
from npu_conformance.specs.diagnostics.stacks import printable
from npu_conformance.specs.errors import Unsupported
from npu_conformance.specs.npu.types import SHELL_UID, AppSnapshot, ManagerSnapshot, ModelSize, ModelSnapshot, Policy

_EACH_SECONDS = 1.0
_CLEAR = "\x1b[H\x1b[2J"
_SIZES = {ModelSize.LESS_THAN_1GB: "<1GB", ModelSize.BETWEEN_1GB_AND_2GB: "1-2GB", ModelSize.GREATER_THAN_2G: ">2GB"}
_POLICIES = {Policy.STATUS_QUO: "status quo", Policy.TURN_TAKING: "turn taking", Policy.BUDGET: "budget"}
_HEAD = ("UID", "APP", "PRIORITY", "WORK", "DONE", "MODEL", "PID", "SIZE", "STATE", "WEIGHT")
_NO_MODEL = ("-",) * 5


def execute(options: argparse.Namespace) -> int:
    """Print the table once, or each second until interrupted. WRONG where the manager refused, or died meanwhile."""
    return told_of(options.address, lambda: _shown(options))


def _shown(options: argparse.Namespace) -> int:
    try:
        with reached(options.address, options.key_file) as subject:
            for number, text in enumerate(_texts(subject)):
                if options.once:
                    print(text)
                    break
                print(_before(number) + text, flush=True)
                time.sleep(_EACH_SECONDS)
    except KeyboardInterrupt:
        print()
    return OK


def _before(number: int) -> str:
    """Return what separates a table from the one before it."""
    return _CLEAR if sys.stdout.isatty() else "\n" if number else ""


def _texts(subject: SubjectHandle) -> Iterator[str]:
    """Yield tables, or dumps where the manager gives no snapshots, or this is no control connection."""
    control = subject.interfaces.manager_control
    while control is not None:
        try:
            yield printable(table(control.take_snapshot()))
        except Unsupported:
            break
    manager = manager_as(subject, SHELL_UID)
    while True:
        yield printable(manager.dump())


def table(snapshot: ManagerSnapshot) -> str:
    """Return the policy, its budget, and a line for each model, and for each app without one.

    The strongest is first.
    """
    rows = [_HEAD, *_rows(snapshot)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
    return "\n".join([_budget(snapshot), *lines])


def _budget(snapshot: ManagerSnapshot) -> str:
    known = snapshot.policy in tuple(Policy)
    name = _POLICIES[Policy(snapshot.policy)] if known else f"number {snapshot.policy}"
    budget = "no budget" if snapshot.policy == Policy.STATUS_QUO else f"{snapshot.used} of {snapshot.ceiling} used"
    return f"policy: {name}, {budget}"


def _rows(snapshot: ManagerSnapshot) -> Iterator[Sequence[str]]:
    models = sorted(snapshot.models, key=lambda model: (model.uid, model.id))
    known = {app.uid for app in snapshot.apps}
    for app in snapshot.apps:
        own = [model for model in models if model.uid == app.uid]
        for cells in map(_model, own) if own else (_NO_MODEL,):
            yield (*_app(app), *cells)
    for model in models:
        if model.uid not in known:
            yield (str(model.uid), "", "-", "-", "-", *_model(model))


def _app(app: AppSnapshot) -> tuple[str, ...]:
    work = app.work if app.has_direct_access else "blocked"
    return str(app.uid), app.package, str(app.priority), work, str(app.completed)


def _model(model: ModelSnapshot) -> tuple[str, ...]:
    size = _SIZES[ModelSize(model.size)] if model.size in tuple(ModelSize) else str(model.size)
    return str(model.id), str(model.pid), size, model.state, str(model.weight)
