"""The plug-ins that fuzzers have to find wrong."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from npu_conformance.harness.subject.handle import SubjectHandle
from npu_conformance.harness.subject.loading import open_subject


@pytest.fixture
def subject(request: pytest.FixtureRequest) -> Iterator[SubjectHandle]:
    """The plug-in and the options of the parameter, or the module's DRIVERS with the bug that the parameter names."""
    given = request.param
    plugin, options = (request.module.DRIVERS, {"bug": given}) if isinstance(given, str) else given
    opened = open_subject(plugin, options, "inprocess")
    yield opened
    opened.close()
