"""`faults --mutants`: source mutants of the reference, here or in parts on a Dask cluster."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from concurrent.futures import as_completed
from functools import partial

import msgspec

from npu_conformance.cli.commands._output import print_json, write_text
from npu_conformance.cli.commands._parts import LostError, left_by, takers
from npu_conformance.cli.errors import UsageError
from npu_conformance.faults import kill_matrix, report
from npu_conformance.faults.mutants.mutation_runner import (
    CAUGHT,
    ENOUGH,
    ENOUGH_OF_ONE,
    MutationRun,
    Sample,
    joined,
    run_mutants,
)
from npu_conformance.faults.mutants.targets import NPU, PARTS, RUNTIME
from npu_conformance.harness.judge.outcome_table import OK, SUITE_FAILED, WRONG
from npu_conformance.harness.run.cases import Case
from npu_conformance.harness.run.commands import FOLDER
from npu_conformance.harness.run.partition import parse_shard
from npu_conformance.specs import documents

_RECORD = "mutants.json"


def execute(options: argparse.Namespace) -> int:
    """Run mutants; return WRONG where too few are killed, SUITE_FAILED where a part of them is lost."""
    operation = options.operation.upper()
    if options.part and (operation or options.part not in PARTS):
        raise UsageError(f"--part: expected one of {', '.join(PARTS)}, without --operation")
    meant = _witnesses(options.part, operation)
    tell: Callable[[str], None] = partial(print, file=sys.stderr if options.json else sys.stdout, flush=True)
    lost: list[str] = []
    found = _on_cluster(options, tell, lost) if options.scheduler else _here(options, meant, tell)
    if options.record:
        write_text(options.record, msgspec.json.encode(found).decode())
    if options.json:
        print_json(found)
    else:
        print("\n".join(report.mutation_lines(found)))
    is_enough = 100 * found.count(*CAUGHT) >= ENOUGH * found.judged
    is_even = not options.per_operation or all(share.percent >= ENOUGH_OF_ONE for share in found.operations)
    return SUITE_FAILED if lost else OK if is_enough and is_even else WRONG


def _witnesses(part: str, operation: str) -> list[Case]:
    """The cases that can catch a mutant of what is asked for. Raises UsageError where there is none."""
    meant = [case for case in kill_matrix.all_cases() if _is_witness(case, part)]
    if not operation:
        return meant
    using = [case for case in meant if operation in case.operations]
    if not using:
        raise UsageError(f"--operation: no case uses {operation}")
    return using


def _here(options: argparse.Namespace, cases: Sequence[Case], tell: Callable[[str], None]) -> MutationRun:
    sample = Sample(
        size=options.mutants if options.mutants > 0 else None,
        seed=options.seed,
        operation=options.operation.upper(),
        part=options.part,
        per_operation=options.per_operation,
        shard=parse_shard(options.shard) if options.shard else (1, 1),
    )
    return run_mutants(cases, sample, tell, options.processes)


def _on_cluster(options: argparse.Namespace, tell: Callable[[str], None], lost: list[str]) -> MutationRun:
    """One part for each that is done at once: all of them trace the cases first, which more parts would repeat."""
    ended: dict[int, MutationRun] = {}
    with takers(options.scheduler, options.processes) as (submit, count):
        parts = {submit(_command(options, f"{number}/{count}")): number for number in range(1, count + 1)}
        for future in as_completed(parts):
            try:
                part = left_by(f"part {parts[future]} of {count}", future, _RECORD)
            except LostError as error:
                lost.append(str(error))
                print(error, flush=True)
                continue
            ended[parts[future]] = documents.decode(part.files[_RECORD], MutationRun, _RECORD)
            tell(f"part {parts[future]} of {count}: {len(ended[parts[future]].verdicts)} mutants")
    return joined(ended, count)


def _command(options: argparse.Namespace, shard: str) -> tuple[str, ...]:
    """The arguments of a part, which runs one mutant at a time: a worker has as many parts as it has threads."""
    words = ["faults", "--mutants", str(options.mutants), "--seed", str(options.seed), "-n", "1"]
    words += ["--shard", shard, "--record", f"{FOLDER}/{_RECORD}"]
    for flag, value in (("--operation", options.operation), ("--part", options.part)):
        words += [flag, value] if value else []
    return (*words, *(["--per-operation"] if options.per_operation else []))


def _is_witness(case: Case, part: str) -> bool:
    """True where a case can catch a mutant of this part: HAL cases those of the driver, others those of theirs."""
    if part == RUNTIME:
        return case.interface == "runtime"
    if part == NPU:
        return case.interface not in ("device", "runtime") and case.id.startswith(("vts.", "cts."))
    return case.interface == "device" and case.id.startswith("vts.")
