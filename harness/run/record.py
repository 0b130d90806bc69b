"""What is known of a case, or of one configuration of it, while it runs and when it has ended."""

from __future__ import annotations

import msgspec

from npu_conformance.harness.judge.asked_models import AskedModel
from npu_conformance.harness.judge.classification import OutcomeDetails
from npu_conformance.harness.judge.outcome_table import WAIVABLE
from npu_conformance.specs.outcomes import Outcome


class Record(msgspec.Struct):
    """What is recorded about a case, or about one configuration of it, while it runs.

    about: what the check that runs is about, where the case said so. excused: the first failure that the tolerance of
    a waiver covers. waived: that failure is how it ended.
    """

    name: str = ""
    requirements: tuple[str, ...] = ()
    about: tuple[str, ...] = ()
    details: OutcomeDetails = msgspec.field(default_factory=OutcomeDetails)
    warnings: list[str] = msgspec.field(default_factory=list)
    excused: OutcomeDetails | None = None
    waived: bool = False
    seconds: float = 0.0
    models: list[AskedModel] = msgspec.field(default_factory=list)

    @property
    def all_warnings(self) -> tuple[str, ...]:
        """The quality warnings, with the one of how it ended."""
        return tuple(filter(None, (*self.warnings, self.details.warning)))

    @property
    def broken(self) -> tuple[str, ...]:
        """The requirements that the check that failed is about; empty where none failed."""
        if self.details.outcome not in WAIVABLE:
            return ()
        return self.details.about or self.about or self.requirements[:1]

    def settle(self) -> None:
        """End with the failure that a waiver's tolerance excuses, unless something worse has come behind it."""
        if self.excused is not None and self.details.outcome not in (*WAIVABLE, Outcome.SUITE_ERROR):
            self.details, self.waived = self.excused, True
