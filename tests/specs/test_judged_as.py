"""A subject is called by what it is judged by: a runtime has no HAL, services have no version."""

from __future__ import annotations

import pytest

from npu_conformance.specs.judged_as import judged_as, short
from npu_conformance.specs.manifest import Manifest
from npu_conformance.specs.versions import Version


@pytest.mark.parametrize(
    ("interfaces", "level", "told", "word"),
    [
        (("device",), "fl8", "HAL 1.3", "1.3"),
        (("device", "runtime", "manager"), "1.2", "HAL 1.3", "1.3"),
        (("runtime",), "1.2", "NNAPI feature level 3 (1.2)", "level3"),
        (("runtime", "runtime_control", "manager"), "fl8", "NNAPI feature level 8", "level8"),
        (("manager", "manager_control"), "fl8", "NPU Manager", ""),
        (("scheduling", "workload", "manager"), "fl8", "npu scheduling HAL and NPU Manager", ""),
        (("workload",), "fl8", "HAL 1.3", "1.3"),
    ],
)
def test_what_a_subject_is_called(interfaces: tuple[str, ...], level: str, told: str, word: str) -> None:
    manifest = Manifest(
        name="toy", vendor="tests", version="1", interfaces=interfaces, feature_level=Version(level)  # type: ignore[arg-type]
    )  # fmt: skip
    assert judged_as(manifest, "1.3") == told
    assert short(manifest, "1.3") == word
