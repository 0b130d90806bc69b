"""`npu-conformance faults`: implementations wrong on purpose, conforming variants and source mutants."""

from __future__ import annotations

import argparse
import fnmatch
import random
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TypeVar

from npu_conformance.cli.commands._id_files import expanded
from npu_conformance.cli.commands._numbers import require_not_negative, require_positive
from npu_conformance.cli.commands._options import Once
from npu_conformance.cli.commands._output import print_json
from npu_conformance.cli.errors import UsageError
from npu_conformance.faults import kill_matrix, plugin, registry, report
from npu_conformance.faults.fault import Fault, Variant
from npu_conformance.harness.judge.outcome_table import OK, WRONG
from npu_conformance.harness.run.cases import Case
from npu_conformance.harness.run.expression import compile_expression
from npu_conformance.specs.diagnostics.counted import counted
from npu_conformance.specs.forked import Ended, in_children
from npu_conformance.specs.suggestions import did_you_mean

Thing = TypeVar("Thing")
Result = TypeVar("Result")
_MODELS = "mlts."
"""Variants run these cases only where -k names the suite: they take their time."""
_NO_END = 1e6
"""Seconds: a fault and a variant have an end of their own."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command line."""
    parser.add_argument(
        "ids",
        metavar="ID",
        nargs="*",
        help="ids of faults (or variants), or globs, or @FILE for its lines (default: all)",
    )
    instead = parser.add_mutually_exclusive_group()
    instead.add_argument("--list", action="store_true", help="list faults and variants, all or those that match IDs")
    instead.add_argument(
        "--reach",
        action="store_true",
        help="print the cases that no fault turns red, by area; IDs are areas (default: all)",
    )
    instead.add_argument("--variants", action="store_true", help="run the conforming variants: none may be red")
    parser.add_argument(
        "--all-cases", action="store_true", help="run every case, not only those that should catch the fault"
    )
    parser.add_argument(
        "--first", action="store_true", help="with --all-cases: stop at the first case that catches the fault"
    )
    instead.add_argument(
        "--mutants",
        metavar="N",
        type=int,
        nargs="?",
        const=0,
        help="run N source mutants of the reference (default: all)",
    )
    parser.add_argument(
        "--operation", metavar="OP", default="", help="with --mutants: only those of one operation's modules"
    )
    parser.add_argument(
        "--part", default="", help="with --mutants: only those of one part of the reference, such as driver"
    )
    parser.add_argument(
        "--per-operation", action="store_true", help="with --mutants N: N mutants of each operation's own modules"
    )
    parser.add_argument(
        "-n",
        dest="processes",
        metavar="N",
        type=int,
        help="run N at once (default: 1; for mutants, as many as there are processors)",
    )
    parser.add_argument(
        "--scheduler", metavar="URL", default="", help="with --mutants: run on the workers of a Dask scheduler"
    )
    parser.add_argument("--shard", default="", help=argparse.SUPPRESS)  # of a part: which of the mutants it runs
    parser.add_argument("--record", type=Path, help=argparse.SUPPRESS)  # of a part: where it writes its verdicts
    parser.add_argument("--sample", metavar="N", type=int, help="run a sample of N faults or variants")
    parser.add_argument(
        "-k",
        dest="expression",
        metavar="EXPR",
        action=Once,
        default="",
        help="with --variants or --all-cases: the cases to run",
    )
    parser.add_argument("--sample-cases", metavar="N", type=int, help="with --variants: run a sample of N cases")
    parser.add_argument(
        "--isolation", choices=("inprocess", "process"), default="inprocess", help="with --variants: where they run"
    )
    parser.add_argument("--seed", type=int, default=0, help="seed of the samples")
    parser.add_argument("--json", action="store_true", help="print JSON")


def execute(options: argparse.Namespace) -> int:
    """Run; return WRONG for a fault that is not caught, a variant that is not green, too few mutants killed."""
    _require_sense(options)
    options.ids = list(expanded(options.ids))
    if options.list:
        return _list(options)
    if options.mutants is not None:
        from npu_conformance.cli.commands import _mutants

        return _mutants.execute(options)
    if options.variants:
        return _variants(options)
    if options.reach:
        return _reach(options)
    return _faults(options)


def _require_sense(options: argparse.Namespace) -> None:
    of_mutants = {
        "--operation": options.operation,
        "--part": options.part,
        "--per-operation": options.per_operation,
        "--scheduler": options.scheduler,
    }
    _require_with("--mutants", options.mutants is not None, of_mutants)
    require_positive("-n", options.processes)
    if options.expression and not (options.variants or options.all_cases):
        raise UsageError("-k: only with --variants or --all-cases")
    if options.first and not options.all_cases:
        raise UsageError("--first: only with --all-cases")
    narrowed = {
        "--sample-cases": options.sample_cases is not None,
        "--isolation": options.isolation != "inprocess",
    }
    _require_with("--variants", options.variants, narrowed)
    if options.all_cases and (options.variants or options.reach or options.mutants is not None):
        raise UsageError("--all-cases: only where faults are run")
    require_positive("--sample-cases", options.sample_cases)
    require_positive("--sample", options.sample)
    require_not_negative("--mutants", options.mutants or 0)


def _require_with(other: str, is_there: bool, flags: Mapping[str, object]) -> None:
    """Refuse the first of the flags that is set without the other one."""
    given = [flag for flag, is_set in flags.items() if is_set]
    if given and not is_there:
        raise UsageError(f"{given[0]}: only with {other}")


def _list(options: argparse.Namespace) -> int:
    """Print what the globs of ids mean, in the order of the registries."""
    known = (registry.faults(), registry.fuzz_only(), registry.conforming())
    every: dict[str, str] = {name: name for registered in known for name in registered}
    meant = frozenset(_chosen(every, options))
    faults, only_fuzzed, variants = (_of(known[0], meant), _of(known[1], meant), _of(known[2], meant))
    if options.json:
        names = ("id", "description", "breaks", "caught_by")
        print_json(
            {
                "faults": [{name: getattr(fault, name) for name in names} for fault in faults],
                "variants": [{name: getattr(variant, name) for name in names[:2]} for variant in variants],
            }
        )
        return OK
    for fault in faults:
        print(f"{fault.id}: {fault.description} [{' '.join(fault.breaks)}] -> {' '.join(fault.caught_by)}")
    for only in only_fuzzed:
        print(f"{only.id} (fuzzers only): {only.description} [{' '.join(only.breaks)}] -> fuzz {only.fuzzer}")
    for variant in variants:
        print(f"{variant.id} (conforms): {variant.description}")
    return OK


def _of(registered: Mapping[str, Thing], names: Collection[str]) -> list[Thing]:
    return [thing for name, thing in registered.items() if name in names]


def _faults(options: argparse.Namespace) -> int:
    chosen: list[Fault] = _chosen(registry.faults(), options)
    cases = kill_matrix.all_cases()  # two seconds, which a misspelt id need not wait for
    if options.expression:
        cases = _few(cases, options)

    def row_of(fault: Fault) -> kill_matrix.Row:
        return kill_matrix.run_fault(fault, cases, every_case=options.all_cases, stop_at_first=options.first)

    rows = _rows(options, chosen, row_of, kill_matrix.Row, lambda row: [report.fault_line(row)])
    _conclude(options, rows, [report.faults_summary(rows)])
    return OK if all(row.is_caught for row in rows) else WRONG


def _reach(options: argparse.Namespace) -> int:
    from npu_conformance.faults import reach

    cases = kill_matrix.all_cases()
    known = reach.areas(cases)
    if unknown := sorted(set(options.ids) - set(known)):
        raise UsageError(f"--reach: no area is called {unknown[0]}; there are {' '.join(known)}")
    rows = []
    for area in options.ids or known:
        rows.append(reach.reach(area, cases, registry.faults().values()))
        _say(options, report.reach_lines(rows[-1]))
    left, whole = sum(len(row.unreached) for row in rows), sum(row.cases for row in rows)
    _conclude(options, rows, [f"{whole - left} of {whole} cases about behaviour are in some fault's reach"])
    return OK if not left else WRONG


def _variants(options: argparse.Namespace) -> int:
    chosen: list[Variant] = _chosen(registry.conforming(), options)
    few = _few(kill_matrix.all_cases(), options)
    asked = [variant for variant in chosen if kill_matrix.is_asked(variant, few)]
    if not asked:
        raise UsageError("none of the cases applies to any of these variants")

    def row_of(variant: Variant) -> kill_matrix.VariantRow:
        return kill_matrix.run_variant(variant, few, options.isolation)

    rows = _rows(options, asked, row_of, kill_matrix.VariantRow, report.variant_lines)
    is_part = bool(options.expression) or options.sample_cases is not None
    judged = [row for row in rows if not (is_part and row.says_nothing)]
    green = sum(row.is_green for row in judged)
    told = [f"{green} of {len(judged)} conforming variants are green"]
    if len(judged) < len(rows):
        told.append(f"none of these cases passes on {counted(len(rows) - len(judged), 'other')}")
    if len(asked) < len(chosen):
        told.append(f"none of the cases applies to {counted(len(chosen) - len(asked), 'other')}")
    _conclude(options, rows, ["; ".join(told)])
    return OK if green == len(judged) else WRONG


def _rows(
    options: argparse.Namespace,
    chosen: Sequence[Thing],
    row_of: Callable[[Thing], Result],
    kind: type[Result],
    lines: Callable[[Result], list[str]],
) -> list[Result]:
    """Work out a row of each, `-n` at once, and say it when it is there; returns them in the order of `chosen`."""
    plugin.known()  # here, or each child would read all tables of faults
    rows: dict[int, Result] = {}
    works = (partial(row_of, one) for one in chosen)
    for place, answer in in_children(works, kind, _NO_END, options.processes or 1):
        if isinstance(answer, Ended):
            raise RuntimeError(f"{chosen[place]}: {answer.reason}")
        rows[place] = answer
        _say(options, lines(answer))
    return [rows[place] for place in sorted(rows)]


def _chosen(known: Mapping[str, Thing], options: argparse.Namespace) -> list[Thing]:
    """Return what the globs of ids mean, or a sample of it. Raises UsageError for a glob that means nothing."""
    names: Iterable[str] = known
    if options.ids:
        for pattern in options.ids:
            if not fnmatch.filter(known, pattern):
                what = "variant" if options.variants else "fault"
                raise UsageError(f"no {what} is called {pattern}{did_you_mean(pattern, known)}; see --list")
        names = [name for name in known if any(fnmatch.fnmatchcase(name, pattern) for pattern in options.ids)]
    found = list(names)
    if options.sample is not None and options.sample < len(found):
        found = random.Random(options.seed).sample(found, options.sample)
    return [known[name] for name in found]


def _few(cases: Sequence[Case], options: argparse.Namespace) -> list[Case]:
    """Return the cases that -k means, or a sample of them, in their order."""
    matches = compile_expression(options.expression)
    suites = ("vts.", "cts.", _MODELS) if _MODELS[:-1] in options.expression else ("vts.", "cts.")
    meant = [case for case in cases if case.id.startswith(suites) and matches(case.id)]
    if not meant:
        raise UsageError(f"-k {options.expression}: matches no case")
    if options.sample_cases is None or options.sample_cases >= len(meant):
        return meant
    drawn = random.Random(options.seed).sample(range(len(meant)), options.sample_cases)
    return [meant[index] for index in sorted(drawn)]


def _say(options: argparse.Namespace, lines: Iterable[str]) -> None:
    if not options.json:
        print("\n".join(lines), flush=True)


def _conclude(options: argparse.Namespace, data: object, lines: Iterable[str]) -> None:
    if options.json:
        print_json(data)
    else:
        print("\n".join(lines))
