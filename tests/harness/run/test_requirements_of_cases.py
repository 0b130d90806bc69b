"""In each version in which a case is run it is about a requirement of that version."""

from __future__ import annotations

import pytest
from every_case import every_case

from npu_conformance.specs.requirements import applying
from npu_conformance.specs.versions import Version


@pytest.mark.parametrize("version", Version)
def test_each_case_has_a_requirement_that_applies(version: Version) -> None:
    run = [case for case in every_case() if case.requirements and case.since <= version <= case.until]
    assert [case.id for case in run if not applying(case.requirements, version)] == []
