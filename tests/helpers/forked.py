"""Faults and variants in forks of a test's process: edits of the source stay there, and nothing is imported again."""

from __future__ import annotations

import traceback
from collections.abc import Callable

from patience import SECONDS

from npu_conformance.faults import kill_matrix, plugin
from npu_conformance.harness.subject.handle import SubjectHandle
from npu_conformance.harness.subject.loading import open_subject
from npu_conformance.specs.forked import Ended, in_child
from npu_conformance.specs.versions import Version


def meets(name: str, version: Version, work: Callable[[SubjectHandle], None]) -> None:
    """Do work with a fault or a variant of the registry; whatever it raises fails the test."""
    assert name in plugin.known()  # read here, or each fork would read it again

    def told() -> str:
        try:
            opened = open_subject(kill_matrix.GUARDED, {"fault": name}, "inprocess", version=version)
            work(opened)
            opened.close()
        except Exception:
            return traceback.format_exc()
        return "nothing"

    answer = in_child(told, str, SECONDS)
    assert not isinstance(answer, Ended), answer.reason
    assert answer == "nothing", answer
