"""Single hostile lines against both ends of the wire: what the harness reads of a server, and a host of its client.

Findings are mistakes of this suite: a line is neither read nor refused as the wire promises, one that breaks its type
is read, one that does not is refused, what is read is not what was written, or too much memory is asked for. No
implementation takes part.
"""

from __future__ import annotations

from npu_conformance.fuzz.lib.case import ShortCase
from npu_conformance.fuzz.lib.line_target import LineTarget
from npu_conformance.fuzz.lib.target import Fuzzer

FUZZER = Fuzzer("lines", "single lines, against both ends of the wire", None, lambda found: LineTarget())
_SHORT = ShortCase(
    "lines",
    ("FUZ-008",),
    "Both ends of the wire read {runs} edited lines as they are, or refuse each as the wire promises.",
    "One edited line.",
    lambda context: LineTarget(),
    runs=1000,
)
cases, case_from, cases_from = _SHORT.cases, _SHORT.case_from, _SHORT.cases_from
