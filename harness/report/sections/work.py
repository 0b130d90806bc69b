"""Who executed what in the cases that went through a runtime: its drivers, or only its own CPU."""

from __future__ import annotations

import msgspec

from npu_conformance.harness.report.sections.operations import Cell, cell
from npu_conformance.harness.report.shown_run import Section, ShownRun
from npu_conformance.harness.report.templating import render
from npu_conformance.specs.diagnostics.counted import counted
from npu_conformance.specs.documents.summary import OperationWork


class Row(msgspec.Struct, frozen=True):
    """An operation: what each driver did of it, None where it did nothing, and what the CPU did alone."""

    operation: str
    by_drivers: tuple[Cell | None, ...]
    cpu_alone: Cell | None
    cpu_too: int


def section(run: ShownRun) -> Section | None:
    """The table; None where no case went through a runtime that can tell."""
    work = run.results.executed_by
    if not work:
        return None
    drivers = sorted({driver for one in work for driver in one.drivers})
    rows = [_row(one, drivers) for one in work]
    body = render("work.html", drivers=drivers, rows=rows)
    alone = sum(not one.drivers for one in work)
    return Section("work", "Who executed what", f"{counted(alone, 'operation')} by the CPU alone", body)


def _row(one: OperationWork, drivers: list[str]) -> Row:
    by_drivers = tuple(cell(one.drivers.get(driver)) for driver in drivers)
    return Row(one.operation, by_drivers, cell(one.cpu_alone or None), one.cpu_too)
