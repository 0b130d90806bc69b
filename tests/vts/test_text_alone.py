"""What only documents ask for is a quality warning; what Android's own implementation refuses, too, is a failure."""

from __future__ import annotations

import pytest
from float32_vectors import Listener
from msgspec.structs import replace

from npu_conformance.corpus import vectors
from npu_conformance.corpus.vectors import Vector
from npu_conformance.harness.judge.refusals import judge_taken
from npu_conformance.harness.judge.verdicts import Crashed, Failed
from npu_conformance.vts.lib.rejection import asked_by_text_alone


def taken() -> Vector:
    return vectors.load("CONV_2D", "refused_activation_4")


def test_a_vector_that_android_takes_is_a_warning() -> None:
    listener = Listener()
    judge_taken(listener, taken(), "the device")
    (warning,) = listener.warnings
    assert warning.startswith("the device executes what breaks CONV_2D.C7; Android's own implementation does, too")


def test_a_vector_that_android_refuses_is_a_failure() -> None:
    listener = Listener()
    with pytest.raises(Failed, match=r"the device executes what breaks CONV_2D\.C7: expected a rejection, found NONE"):
        judge_taken(listener, replace(taken(), taken_by=()), "the device")
    assert listener.warnings == []


def test_only_vectors_to_be_rejected_are_taken() -> None:
    assert any(header.taken_by for header in vectors.all_headers())
    for header in vectors.all_headers():
        assert header.taken_by == () or header.rejected is not None, header.name


def test_a_failure_inside_becomes_a_warning_and_a_crash_stays() -> None:
    listener = Listener()
    with asked_by_text_alone(listener):
        raise Failed("expected INVALID_ARGUMENT, found NONE")
    assert listener.warnings == ["expected INVALID_ARGUMENT, found NONE; only the documents ask for it"]
    with pytest.raises(Failed), asked_by_text_alone(listener, when=False):
        raise Failed("as always")
    with pytest.raises(Crashed), asked_by_text_alone(listener):
        raise Crashed("dead")
