"""What an implementation says reaches terminals and files short, and without anything that a terminal would obey."""

from __future__ import annotations

import pytest

from npu_conformance.harness.judge.classification import LONGEST, classify_exception
from npu_conformance.harness.judge.verdicts import Failed
from npu_conformance.harness.subject.plugin_loading import LoadError
from npu_conformance.harness.wire import protocol
from npu_conformance.specs.errors import ServiceError, Unsupported

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


class Wordless(Exception):
    """Cannot be printed."""

    def __str__(self) -> str:
        raise ValueError("no words")


@pytest.mark.parametrize(
    "error",
    [ServiceError(2, "a\nb"), Unsupported(HOSTILE), ValueError("\ud800\n"), Wordless(), OSError("x" * 10**7)],
)
def test_an_error_is_one_line_on_both_ways_over_the_wire(error: Exception) -> None:
    sent = protocol.error_object(error)
    received = protocol.exception(protocol.ErrorObject(sent.code, f"a\nb{HOSTILE}" + "y" * 10**6, sent.data))
    for text in (sent.message, str(received)):
        assert text.isprintable()
        assert len(text) < protocol.LONGEST_WORDS + 100
        text.encode()


def test_a_plug_in_that_cannot_be_loaded_says_so_in_one_line() -> None:
    assert str(LoadError(f"a\nb{HOSTILE}")).isprintable()
    assert str(LoadError("x" * 10**6)).endswith(" characters more)")
