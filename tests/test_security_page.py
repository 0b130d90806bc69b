"""docs/security.md names the test of each promise: each is there."""

from __future__ import annotations

import re

from places import ROOT

_NAME = re.compile(r"`(test_\w+)`")
_DEFINED = re.compile(r"^ *def (test_\w+)", re.MULTILINE)


def test_every_promise_has_its_test() -> None:
    promised = set(_NAME.findall((ROOT / "docs" / "security.md").read_text()))
    defined = {name for path in (ROOT / "tests").rglob("test_*.py") for name in _DEFINED.findall(path.read_text())}
    assert len(promised) > 30
    assert promised <= defined
