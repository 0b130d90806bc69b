"""What `list` and `run` say of words that select nothing."""

from __future__ import annotations

from collections.abc import Collection

from msgspec.structs import replace

from npu_conformance.cli.errors import UsageError
from npu_conformance.cli.streams import tell
from npu_conformance.harness.run.cases import Scope
from npu_conformance.harness.run.selection import Wanted, idle_words, misspelt, select_ids
from npu_conformance.specs.diagnostics.counted import counted


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
