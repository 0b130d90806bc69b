"""What `--resume` keeps of an earlier run, and what it refuses: verdicts of something else are never mixed in."""

from __future__ import annotations

import hashlib
import shlex
from collections.abc import Iterator, Sequence

from npu_conformance.harness.judge.outcome_table import UNJUDGED
from npu_conformance.harness.run.events import Log
from npu_conformance.harness.subject import patience
from npu_conformance.specs.documents import DocumentError
from npu_conformance.specs.documents.results import CaseResult, RunStarted, Selection

_DIGEST = 12
"""How much of a digest is shown."""
_PLURAL = ("the options", "the cases")


def require_same(before: RunStarted, now: RunStarted, document: str) -> None:
    """Raise DocumentError where a run was of something else than what is asked for now; it names the first difference.

    Time, budget and the number of processes may be others. What excuses failures may not: verdicts have it in them.
    """
    for (name, was), (_, is_now) in zip(identity(before), identity(now), strict=True):
        if was != is_now:
            verb, verb_now = ("were", "are") if name.startswith(_PLURAL) else ("was", "is")
            rule = f"cannot be resumed: {name} {verb} {was or 'none'}, and {verb_now} {is_now or 'none'} now"
            raise DocumentError(document, "", rule)


def earlier_results(log: Log) -> dict[str, CaseResult]:
    """The verdicts that a resumption keeps: all that say something of the subject."""
    return {name: result for name, result in log.results.items() if result.outcome not in UNJUDGED}


def identity(header: RunStarted) -> Iterator[tuple[str, str]]:
    """What makes a run this run, the most telling first, as words for a message."""
    yield "the plug-in", f"{header.manifest.name} {header.manifest.version}"
    yield "the HAL version", header.hal_version
    yield from _waits(header.plugin_words)
    yield "the options of the plug-in", header.plugin_words
    yield "the selection", _selection(header.selection)
    yield "the seed", str(header.seed)
    yield "the order", "shuffled" if header.shuffled else "not shuffled"
    for name in ("suite", "vectors", "subject"):
        yield f"the digest of the {name}", getattr(header.digests, name)[:_DIGEST]
    yield "the digest of the plug-in's files", header.digests.driver[:_DIGEST]
    for name in ("waivers", "baseline"):
        yield f"the digest of the {name}", getattr(header, name)[:_DIGEST]
    yield "the cases", _cases(header.cases)


def _waits(plugin_words: str) -> Iterator[tuple[str, str]]:
    """How long the run waits for an answer, by which it is told what a hang is."""
    words = shlex.split(plugin_words)
    given = dict(zip(words[::2], words[1::2], strict=False))
    yield "the longest wait", given.get(patience.OPTION, "")
    yield "the patience", given.get(patience.FACTOR_OPTION, "")


def _selection(asked: Selection) -> str:
    words = [*asked.suites, *asked.patterns]
    words += ["-k", asked.expression] if asked.expression else []
    words += ["--scope", asked.scope] if asked.scope != "default" else []
    words += ["--shard", asked.shard] if asked.shard else []
    words += ["--last-failed"] if asked.last_failed else []
    return shlex.join(words) or "everything"


def _cases(names: Sequence[str]) -> str:
    """How many cases, and what tells two sets of one size apart: their order does not matter."""
    digest = hashlib.sha256("\n".join(sorted(names)).encode()).hexdigest()
    return f"{len(names)} ({digest[:_DIGEST]})"
