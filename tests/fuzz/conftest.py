"""The plug-ins that fuzzers have to find wrong."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from npu_conformance.fuzz.lib.model_mutator import seeds
from npu_conformance.harness.subject.handle import SubjectHandle
from npu_conformance.harness.subject.loading import open_subject
from npu_conformance.specs.versions import NEWEST


@pytest.fixture
def subject(request: pytest.FixtureRequest) -> Iterator[SubjectHandle]:
    """The plug-in and the options of the parameter, or the module's DRIVERS with the bug that the parameter names."""
    given = request.param
    plugin, options = (request.module.DRIVERS, {"bug": given}) if isinstance(given, str) else given
    opened = open_subject(plugin, options, "inprocess")
    yield opened
    opened.close()


@pytest.fixture(scope="session")
def six() -> bytes:
    """A model with the zero point that the hostile drivers do not survive."""
    return next(data for data in seeds(NEWEST, one_each=True) if b'"zeroPoint":0' in data).replace(
        b'"zeroPoint":0', b'"zeroPoint":6', 1
    )
