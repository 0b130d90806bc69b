"""Metamorphic relations: they hold between results of one device, whatever the data, and need no expected values.

Every case executes both sides on the device under test, with random data that follow from its seed, also in sizes that
stored vectors do not have. Two results may be as far apart as the public tolerance lets two legal devices be.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from npu_conformance.harness.run import suites
from npu_conformance.harness.run.cases import Case


def cases() -> Iterator[Case]:
    """A case for each relation in each type."""
    return suites.collect(__name__)


def case_from(payload: Any) -> Case:
    """The case of a failure file, which names it; its data follow from the seed in the file."""
    return next(case for case in cases() if case.id == payload["id"])
