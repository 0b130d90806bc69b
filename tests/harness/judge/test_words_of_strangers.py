"""What an implementation says reaches terminals and files short, and without anything that a terminal would obey."""

from __future__ import annotations

import pytest

from npu_conformance.harness.judge.classification import LONGEST, classify_exception
from npu_conformance.harness.judge.verdicts import Failed
from npu_conformance.specs.errors import ServiceError

HOSTILE = "\x1b]0;title\x07\x1b[31mred\x00\u202e"


@pytest.mark.parametrize("error", [Failed(HOSTILE, HOSTILE, HOSTILE), ServiceError(2, HOSTILE), ValueError(HOSTILE)])
def test_control_characters_are_escaped(error: Exception) -> None:
    details = classify_exception(error)
    for text in (details.message, details.expected, details.found):
        assert not set(text) & set(HOSTILE[:1] + "\x07\x00\u202e")
    assert r"\x1b]0;title\x07" in details.message


@pytest.mark.parametrize("error", [Failed("x" * 10**6, "y" * 10**6, "z" * 10**6), ServiceError(2, "x" * 10**6)])
def test_long_texts_are_cut_and_say_so(error: Exception) -> None:
    details = classify_exception(error)
    assert len(details.message) < LONGEST + 50
    assert details.message.endswith(" characters more)")
    assert max(len(details.expected), len(details.found)) < LONGEST + 50
