"""Who executed what: asked of runtimes that can tell."""

from __future__ import annotations

import pytest

from npu_conformance.faults.self_checks.fakes import FakeSubject, passing, run
from npu_conformance.specs.manifest import Manifest
from npu_conformance.specs.neuralnetworks.runtime import Runtime
from npu_conformance.specs.neuralnetworks.runtime.control import RuntimeControl
from npu_conformance.specs.plugin import Subject

OFFERED = Manifest(name="fake", vendor="nobody", version="1", interfaces=("runtime",))


@pytest.mark.parametrize("control", [None, RuntimeControl()], ids=["no control", "a control that cannot tell"])
def test_a_runtime_that_cannot_tell_is_judged_all_the_same(control: RuntimeControl | None) -> None:
    subject = FakeSubject(OFFERED, interfaces=Subject(runtime=Runtime(), runtime_control=control))
    little = run({"case": passing}, subject, interface="runtime")
    assert little.outcomes() == {"case": "pass"}
    assert little.results.executed_by == ()
