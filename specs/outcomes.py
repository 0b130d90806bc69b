"""How a case can end, and what can be said about it besides: closed sets, spelled as in events and results."""

from __future__ import annotations

import enum
from collections.abc import Sequence


class Outcome(enum.Enum):
    """How a case, or one configuration or mutation of it, ended."""

    PASS = "pass"
    FAIL = "fail"
    CRASH = "crash"
    HANG = "hang"
    NOT_SUPPORTED = "not-supported"
    NOT_APPLICABLE = "not-applicable"
    NOT_RUN = "not-run"
    SUITE_ERROR = "suite-error"


class Disposition(enum.Enum):
    """What is said about an outcome besides. WAIVED: a waiver excuses it. KNOWN: it is red in the baseline too.

    NO_LONGER_SUPPORTED: it, or some of its configurations, passed in the baseline and are not supported now: red.
    """

    WAIVED = "waived"
    KNOWN = "known"
    NO_LONGER_SUPPORTED = "no-longer-supported"
    QUALITY_WARNING = "quality-warning"


_SEVERITY = (
    Outcome.NOT_APPLICABLE, Outcome.NOT_SUPPORTED, Outcome.PASS, Outcome.NOT_RUN,
    Outcome.FAIL, Outcome.HANG, Outcome.CRASH, Outcome.SUITE_ERROR,
)  # fmt: skip
"""From mild to grave. What passed outweighs what does not apply, or is not supported: a driver may decline one form of
a model and execute the others."""


def worst(*outcomes: Outcome) -> Outcome:
    """Return the gravest of the outcomes. None at all is a pass."""
    return max(outcomes, key=_SEVERITY.index, default=Outcome.PASS)


def of_case(own: Outcome, parts: Sequence[Outcome]) -> Outcome:
    """Return how a case ends: its body, and its configurations.

    A body that ended well adds no verdict to theirs. One that found that the case is not supported is no pass, whatever
    passed before.
    """
    if own is Outcome.PASS and parts:
        return worst(*parts)
    whole = worst(own, *parts)
    return own if own is Outcome.NOT_SUPPORTED and whole is Outcome.PASS else whole
