"""How many cases of a run are red and why others are not, for whoever tells it in a few words."""

from __future__ import annotations

import msgspec

from npu_conformance.harness.judge.outcome_table import WAIVABLE, is_red
from npu_conformance.specs.diagnostics.counted import counted
from npu_conformance.specs.documents.summary import CaseSummary, Results
from npu_conformance.specs.outcomes import Disposition, Outcome


class Tally(msgspec.Struct, frozen=True):
    """Cases that failed in any way, that are no longer supported, that did not run, and what waivers or the baseline
    excuse of those that failed.
    """

    failed: int
    lost: int
    not_run: int
    waived: int
    known: int

    @property
    def red(self) -> str:
        """What turns the run red, such as `3 failed, 264 not run`; empty where no case does."""
        return _words(failed=self.failed, no_longer_supported=self.lost, not_run=self.not_run)

    @property
    def excused(self) -> str:
        """What failed and turns nothing red, such as `24 known failures`; empty where nothing did."""
        count = self.waived + self.known
        kinds = _words(known=self.known, waived=self.waived)
        return f"{kinds} {counted(count, 'failure').partition(' ')[2]}" if count else ""


def tally(results: Results) -> Tally:
    """Count the cases of a run."""
    red = [case for case in results.cases if is_red(case.outcome, case.dispositions)]
    not_run = sum(case.outcome is Outcome.NOT_RUN for case in red)
    lost = sum(Disposition.NO_LONGER_SUPPORTED in case.dispositions for case in red)
    excused = [case for case in results.cases if case.outcome in WAIVABLE and not _counts(case)]
    waived = sum(Disposition.WAIVED in case.dispositions for case in excused)
    return Tally(len(red) - lost - not_run, lost, not_run, waived, len(excused) - waived)


def _counts(case: CaseSummary) -> bool:
    return is_red(case.outcome, case.dispositions)


def _words(**counts: int) -> str:
    return ", ".join(f"{count:,} {name.replace('_', ' ')}" for name, count in counts.items() if count)
