"""Random histories of a cache: what drivers are asked follows from its files, and tokens from all that counts.

Everything follows from the seed, which is the number in the id.
"""

from __future__ import annotations

import random
from collections.abc import Iterator

from npu_conformance.cts.lib.runtime.cache_histories import CacheHistory
from npu_conformance.cts.lib.runtime.seeded import seeded
from npu_conformance.harness.run.cases import Case
from npu_conformance.harness.run.context import CaseContext

AREA = "cts.caching.histories"
SEEDS = 6
_STEPS = 12
_REQUIREMENTS = ("FW-CAC-003", "FW-CAC-004", "FW-CAC-005", "FW-CAC-006", "FW-VER-003", "FW-PRT-006")


def cases() -> Iterator[Case]:
    """One case for each seed."""
    return seeded(AREA, SEEDS, _run, _REQUIREMENTS, what="history")


def _run(context: CaseContext, seed: int) -> None:
    """Compile over one folder again and again."""
    CacheHistory(context, random.Random(seed)).run(_STEPS)
