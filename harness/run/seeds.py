"""Seeds: one for the run, printed; one for each case, which follows from it and the case's id alone."""

from __future__ import annotations

import hashlib
import random
from collections.abc import Sequence

from npu_conformance.harness.run.cases import Case


def case_seed(run_seed: int, case_id: str) -> int:
    """Return the seed of a case, 0 to 2**53 - 1: equal wherever and in whatever order the case runs."""
    return stable_hash(f"{run_seed}:{case_id}")


def stable_hash(text: str) -> int:
    """Return a number of 53 bits, exact in every reader of JSON, the same in every process and on every machine."""
    digest = hashlib.blake2b(text.encode(), digest_size=8).digest()
    return int.from_bytes(digest, "big") >> 11


def shuffled(cases: Sequence[Case], run_seed: int) -> list[Case]:
    """Return the cases in an order that follows from the seed."""
    mixed = list(cases)
    random.Random(run_seed).shuffle(mixed)
    return mixed
