"""results.json: what a run came to, counted every way a vendor asks for."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, field

from npu_conformance.specs.documents import Document
from npu_conformance.specs.documents.results import Count, Digests, Format, Measurement, Seconds, Selection
from npu_conformance.specs.documents.waivers import WaiverUse
from npu_conformance.specs.judged_as import judged_as
from npu_conformance.specs.manifest import Manifest
from npu_conformance.specs.outcomes import Disposition, Outcome

LISTED = "; none: "
"""In a line of thin_coverage: behind it stand names, one after the other, that nobody reads in a summary."""
Counts = dict[str, Count]
"""Number of verdicts by outcome; of a requirement also of `not-shown`."""


class OperationCounts(Document, frozen=True):
    """Verdicts of cases about one operation with one type of tensors; type is empty where a case names none."""

    operation: str
    type: str
    counts: Counts


class OperationWork(Document, frozen=True):
    """Who executed an operation in cases that went through a runtime.

    drivers: by the name of each, the verdicts of the cases in which it executed the operation itself. cpu_alone: those
    of the cases in which only the runtime's own CPU did; they say nothing about a driver. cpu_too: how many of the
    drivers' cases the CPU executed it in as well, in another configuration or where a driver failed.
    """

    operation: str
    drivers: dict[str, Counts]
    cpu_alone: Counts
    cpu_too: Count


class Unexecuted(Document, frozen=True):
    """A selected case that did not run, and why."""

    case: str
    reason: str


class Comparison(Document, frozen=True):
    """A run beside an earlier one. known: cases that are red in both; mended: cases that were red and pass now.

    altered: those of the known that say something else than before, such as NaN where a value was a little off.
    of_other_vectors: the earlier run had other vectors, so that some cases may be other tests by the same ids.
    """

    regressions: Count
    known: Count
    mended: Count
    altered: Count = 0
    of_other_vectors: bool = False


class CaseSummary(Document, frozen=True, omit_defaults=True):
    """One case in short. configurations: outcome of each by name. seconds: how long it took."""

    case: str
    outcome: Outcome
    message: str = ""
    dispositions: tuple[Disposition, ...] = ()
    configurations: dict[str, Outcome] = field(default_factory=dict)
    measurements: tuple[Measurement, ...] = ()
    waived: tuple[str, ...] = ()
    """Configurations whose outcome is waived."""
    seconds: Seconds = 0.0


class Results(Document, frozen=True):
    """A run in numbers.

    conformant: everything applicable was run and passed, without waivers. reasons: why not. red: what turns the run red
    beside the outcomes (waivers, regressions). problems: of the suite's own bookkeeping. thin_coverage: what few passes
    rest on. configuration_counts: verdicts of configurations and mutations. baseline: None where there is none.
    complete: the run came to its own end. plugin_words: the options that name the plug-in, as on the command line.

    by_requirement: a case counts once for each of its requirements. One that failed counts as failed for those alone
    that the check that failed is about; the others of its requirements it has not shown, for better or worse
    (`not-shown`), unless a configuration of it that passed did.

    by_operation: of the device's own cases. executed_by: of the runtime's, by operation; empty where no case went
    through a runtime that can tell.
    """

    format: Format
    suite_version: str
    digests: Digests
    manifest: Manifest
    hal_version: str
    seed: int
    selection: Selection
    time: str
    seconds: Seconds
    complete: bool
    conformant: bool
    reasons: tuple[str, ...]
    exit_code: Annotated[int, Meta(ge=0, le=3)]
    counts: Counts
    configuration_counts: Counts
    waived: Count
    baseline: Comparison | None
    quality_warnings: Count
    by_suite: dict[str, Counts]
    by_requirement: dict[str, Counts]
    by_operation: tuple[OperationCounts, ...]
    unsupported: tuple[OperationCounts, ...]
    thin_coverage: tuple[str, ...]
    not_run: tuple[Unexecuted, ...]
    left_out: tuple[Unexecuted, ...]
    red: tuple[str, ...]
    problems: tuple[str, ...]
    cases: tuple[CaseSummary, ...]
    waivers: tuple[WaiverUse, ...] = ()
    executed_by: tuple[OperationWork, ...] = ()
    plugin_words: str = ""

    @property
    def is_whole(self) -> bool:
        """Whether the run came to its end, and left nothing of its selection out."""
        return self.complete and not self.left_out

    @property
    def judged_as(self) -> str:
        """What the subject is judged as, such as `HAL 1.3`."""
        return judged_as(self.manifest, self.hal_version)
