"""`npu-conformance vectors import-aosp`: turns AOSP's specification files into collections for `run --vectors`."""

from __future__ import annotations

import argparse
import hashlib
import sys

from npu_conformance.cli.commands._numbers import require_positive
from npu_conformance.cli.errors import UsageError
from npu_conformance.corpus.importers.aosp import importing
from npu_conformance.corpus.importers.aosp.children import Limits, Loaded
from npu_conformance.harness.judge.outcome_table import OK, WRONG


def execute(options: argparse.Namespace) -> int:
    """Import, say what came of it, and name each file that gave no tests; return WRONG where there is one."""
    require_positive("--seconds", options.seconds)
    loaded = []
    for one in importing.load(importing.files(options.source), Limits(seconds=options.seconds)):
        if one.problem is not None:
            print(one.problem, file=sys.stderr)
        if options.list:
            print("".join(f"{name}\n" for name in one.names), end="")
        loaded.append(one)
    if options.out is not None:
        _write(loaded, options)
    if not options.list:
        _summarise(loaded)
    return WRONG if any(one.problem for one in loaded) else OK


def _write(loaded: list[Loaded], options: argparse.Namespace) -> None:
    try:
        importing.write(loaded, options.out)
    except OSError as error:
        raise UsageError(f"--out {options.out}: cannot be written: {error.strerror}") from None


def _summarise(loaded: list[Loaded]) -> None:
    """A line for each folder: files, tests, and the SHA-256 of the sorted names, one a line."""
    for folder, members in importing.by_folder(loaded).items():
        names = sorted(name for one in members for name in one.names)
        digest = hashlib.sha256("\n".join(names).encode()).hexdigest()
        failed = sum(one.problem is not None for one in members)
        wrong = f", {failed} of them failed" if failed else ""
        print(f"{folder}: {len(members)} files{wrong}, {len(names)} tests, names {digest}")
