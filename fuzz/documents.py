"""Broken documents against the suite's own readers: manifests, waivers, replay files, results, vectors, models.

Findings are mistakes of this suite: a reader that raises anything but DocumentError, says what is no line for a person,
or takes too many steps or too much memory. No implementation takes part.
"""

from __future__ import annotations

from npu_conformance.fuzz.lib.case import ShortCase
from npu_conformance.fuzz.lib.document_target import DocumentTarget
from npu_conformance.fuzz.lib.target import Fuzzer

FUZZER = Fuzzer("documents", "broken documents, against the suite's own readers", None, lambda found: DocumentTarget())
_SHORT = ShortCase(
    "documents",
    ("FUZ-008",),
    "The suite reads {runs} edited documents, or refuses each in one line.",
    "One edited document.",
    lambda context: DocumentTarget(),
)
cases, case_from, cases_from = _SHORT.cases, _SHORT.case_from, _SHORT.cases_from
