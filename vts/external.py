"""Vectors from outside (`run --vectors PATH`), executed by the device."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from npu_conformance.harness.run import external_vectors
from npu_conformance.harness.run.cases import Case
from npu_conformance.vts.lib.vector_cases import case_from as case_of_a_vector
from npu_conformance.vts.lib.vector_cases import case_of


def cases() -> Iterator[Case]:
    """No cases: nothing from outside is stored here."""
    return iter(())


def case_from(payload: Any) -> Case:
    """The case of a failure file."""
    return external_vectors.checked_again(payload, case_of_a_vector)


def cases_from(path: Path) -> Iterator[Case]:
    """A case for each external vector, in any of the three forms."""
    make_case = lambda header, load, case_id: case_of(header, load, case_id, None)  # noqa: E731
    return external_vectors.cases_from(path, "vts.external", make_case)
