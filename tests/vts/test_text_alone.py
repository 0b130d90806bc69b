"""What only documents ask for is a quality warning; what Android's own implementation refuses, too, is a failure."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from npu_conformance.corpus import vectors
from npu_conformance.corpus.vectors import Vector
from npu_conformance.harness.judge.refusals import judge_taken
from npu_conformance.harness.judge.verdicts import Crashed, Failed
from npu_conformance.vts.lib.rejection import asked_by_text_alone


class Running:
    """Collects warnings."""

    def __init__(self) -> None:
        self.warnings: list[str] = []

    def warn_quality(self, message: str) -> None:
        self.warnings.append(message)

    def waived_tolerances(self) -> tuple[()]:
        return ()

    def excuse(self, failure: Failed) -> None:
        raise failure


def taken() -> Vector:
    return vectors.load("CONV_2D", "refused_activation_4")


def test_a_vector_that_android_takes_is_a_warning() -> None:
    running = Running()
    judge_taken(running, taken(), "the device")
    (warning,) = running.warnings
    assert warning.startswith("the device executes what breaks CONV_2D.C7; Android's own implementation does, too")


def test_a_vector_that_android_refuses_is_a_failure() -> None:
    running = Running()
    with pytest.raises(Failed, match=r"the device executes what breaks CONV_2D\.C7: expected a rejection, found NONE"):
        judge_taken(running, replace(taken(), taken_by=()), "the device")
    assert running.warnings == []


def test_only_vectors_to_be_rejected_are_taken() -> None:
    assert any(header.taken_by for header in vectors.all_headers())
    for header in vectors.all_headers():
        assert header.taken_by == () or header.rejected is not None, header.name


def test_a_failure_inside_becomes_a_warning_and_a_crash_stays() -> None:
    running = Running()
    with asked_by_text_alone(running):
        raise Failed("expected INVALID_ARGUMENT, found NONE")
    assert running.warnings == ["expected INVALID_ARGUMENT, found NONE; only the documents ask for it"]
    with pytest.raises(Failed), asked_by_text_alone(running, when=False):
        raise Failed("as always")
    with pytest.raises(Crashed), asked_by_text_alone(running):
        raise Crashed("dead")
