"""Latency: how long models take to prepare and to infer, beside another implementation on the same machine.

Figures are no verdicts. What fails is a model that does not answer, or that answers the same inputs differently from
time to time; what warns is what figures must not do (answers that come sooner where the input is known, drift).
"""

from __future__ import annotations

from collections.abc import Iterator

from npu_conformance.harness.run import suites
from npu_conformance.harness.run.cases import Case


def cases() -> Iterator[Case]:
    """The cases of all modules."""
    return suites.collect(__name__)
