"""`npu-conformance list`: prints case ids, or what each case is about."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator

from npu_conformance.cli.commands._options import add_selection_options
from npu_conformance.corpus.hazards import hazards_of
from npu_conformance.harness.judge.outcome_table import OK, WRONG
from npu_conformance.harness.run.cases import Case


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command line."""
    add_selection_options(parser)
    parser.add_argument("--json", action="store_true", help="with description, requirements, versions, operations")
    parser.add_argument(
        "--update-lock", action="store_true", help="append new ids to specs/ids.lock (for contributors)"
    )
    parser.add_argument("--long", action="store_true", help="id, first line of the description, hazards")


def execute(options: argparse.Namespace) -> int:
    """Print the selected cases in the order of running."""
    if options.update_lock:
        return _update_lock()
    from npu_conformance.cli.commands._selecting import require_selected, wanted_by
    from npu_conformance.harness.run.selection import select, select_ids

    wanted = wanted_by(options)
    if not (options.json or options.long or options.vectors):
        names = select_ids(wanted)
        require_selected(names, wanted)
        sys.stdout.writelines(f"{name}\n" for name in names)
        return OK
    cases = select(wanted).cases
    require_selected([case.id for case in cases], wanted)
    if options.json:
        import msgspec

        print(msgspec.json.encode([_described(case) for case in cases]).decode())
        return OK
    for case in cases:
        print("\n".join(_long(case)) if options.long else case.id)
    return OK


def _long(case: Case) -> Iterator[str]:
    """The id with the first line of the description, and the hazards of its vector."""
    yield f"{case.id}  {case.headline}"
    if found := hazards_of(case):
        yield "  " + " ".join(f"{name}: {hazard.sentence}" for name, hazard in found.items())


def _update_lock() -> int:
    """Append ids that are not in specs/ids.lock yet; exit 1 where a locked one has gone."""
    from npu_conformance.harness.run import suites
    from npu_conformance.harness.run.id_lock import current_ids
    from npu_conformance.specs import ids

    present = current_ids(suites.cases(suites.present()))
    print(f"{len(ids.append(present))} ids added")
    gone = ids.vanished(present)
    print("".join(f"gone: {name}\n" for name in gone), end="")
    return WRONG if gone else OK


def _described(case: Case) -> dict[str, object]:
    return {
        "id": case.id,
        "description": case.description,
        "requirements": case.requirements,
        "interface": case.interface,
        "since": case.since,
        "until": case.until,
        "scope": case.scope,
        "operations": case.operations,
        "types": case.types,
    }
