"""What the words of `list` and `run` select, and what is said of words that select nothing."""

from __future__ import annotations

import argparse
from collections.abc import Collection

from msgspec.structs import replace

from npu_conformance.cli.commands._id_files import expanded
from npu_conformance.cli.errors import UsageError
from npu_conformance.cli.streams import tell
from npu_conformance.harness.run.cases import Scope
from npu_conformance.harness.run.selection import Wanted, idle_words, misspelt, select_ids
from npu_conformance.specs.diagnostics.counted import counted


def wanted_by(options: argparse.Namespace) -> Wanted:
    """What a command line asks for. UsageError for a file of ids that cannot be read, or that names none."""
    targets = tuple(expanded(options.targets))
    return Wanted(targets, options.expression, Scope(options.scope), tuple(options.vectors))


def require_selected(names: Collection[str], wanted: Wanted) -> None:
    """Name the words of -k that no case has, on standard error; raise UsageError where nothing is selected."""
    for line in idle_words(wanted.expression, names):
        tell(line)
    if not names:
        raise UsageError(_nothing_selected(wanted))


def _nothing_selected(wanted: Wanted) -> str:
    """Say that there is no case, and where some are: in a larger scope, or in the list."""
    for scope in (Scope.DEFAULT, Scope.FULL):
        if count := len(select_ids(replace(wanted, scope=scope))):
            selects = f"--scope {scope.value} selects {counted(count, 'case')}"
            return f"nothing is selected in scope {wanted.scope.value}: {selects}"
    asked = f" by -k {wanted.expression!r}{misspelt(wanted.expression)}" if wanted.expression else ""
    return f"nothing is selected{asked}: see `npu-conformance list`"
