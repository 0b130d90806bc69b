"""The tests that docs/pytest.md shows hold of the reference."""

from __future__ import annotations

import re
from contextlib import closing
from types import SimpleNamespace
from typing import Any

from msgspec.structs import replace
from places import ROOT

from npu_conformance.harness.subject.loading import open_subject


def test_the_tests_of_the_page_can_be_run() -> None:
    (code,) = re.findall(r"```python\n(.*?)```", (ROOT / "docs" / "pytest.md").read_text(), re.DOTALL)
    names: dict[str, Any] = {}
    exec(compile(code, "docs/pytest.md", "exec"), names)
    with closing(open_subject("reference", isolation="inprocess")) as subject:
        names["test_is_no_slower_than_the_cpu"](subject.interfaces.device)
        own = SimpleNamespace(manifest=replace(subject.manifest, vendor="me"))
        names["test_is_the_driver_of_this_release"](own)
