"""What the apps of the NPU went through, from the moments that they told of, also of those that died."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from npu_conformance.mlts.lib.reports import Moment, Verdict
from npu_conformance.mlts.lib.supervision import ClientEnd
from npu_conformance.specs.documents.results import NpuSpan


def spans(ends: Sequence[ClientEnd]) -> list[NpuSpan]:
    """The phases of each app, app by app. Each ends where the next begins, the last with the app."""
    start = min((moment.at for end in ends for moment in end.moments), default=0.0)
    return [span for number, end in enumerate(ends, start=1) for span in _of_app(f"app {number}", end, start)]


def _of_app(app: str, end: ClientEnd, start: float) -> Iterator[NpuSpan]:
    if not end.moments:
        return
    last = Moment(max(end.at, end.moments[-1].at), end.moments[-1].phase, max(end.rounds, end.moments[-1].inferences))
    for one, following in pairwise((*end.moments, last)):
        done = max(0, following.inferences - one.inferences)
        is_death = following is last and end.verdict is Verdict.CRASH
        yield NpuSpan(app, one.phase, round(one.at - start, 6), round(following.at - start, 6), done, is_death)
