"""`npu-conformance faults`: implementations wrong on purpose, conforming variants and source mutants."""

from __future__ import annotations

import argparse
import importlib


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command line."""
    parser.add_argument("ids", metavar="ID", nargs="*", help="ids of faults (or variants), or globs; default all")
    parser.add_argument("--list", action="store_true", help="list faults and variants")
    parser.add_argument("--all-cases", action="store_true", help="run every case, not those alone that are to notice")
    parser.add_argument("--variants", action="store_true", help="run the conforming variants: none may be red")
    parser.add_argument(
        "--mutants", metavar="N", type=int, nargs="?", const=0, help="run N source mutants of the reference (all)"
    )
    parser.add_argument("--operation", metavar="OP", default="", help="mutants of one operation's modules only")
    parser.add_argument("--part", default="", help="mutants of one part of the reference only, such as driver")
    parser.add_argument(
        "--per-operation", action="store_true", help="with --mutants N: N mutants of each operation's own modules"
    )
    parser.add_argument("--sample", metavar="N", type=int, help="run N of the faults or variants")
    parser.add_argument("-k", dest="expression", metavar="EXPR", default="", help="with --variants: as for run")
    parser.add_argument("--sample-cases", metavar="N", type=int, help="with --variants: N of the cases")
    parser.add_argument(
        "--isolation", choices=("inprocess", "process"), default="inprocess", help="with --variants: where they live"
    )
    parser.add_argument("--seed", type=int, default=0, help="seed of the samples")
    parser.add_argument("--json", action="store_true", help="print JSON")


def execute(options: argparse.Namespace) -> int:
    """Run; exit 1 for a fault that is not caught, a variant that is not green, too few mutants killed."""
    # The harness may not know the faults, which know the harness: the package is found by name, as suites are.
    code: int = importlib.import_module("npu_conformance.faults.command").execute(options)
    return code
