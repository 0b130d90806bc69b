"""Samples of classes: what they are compared with, and that the stored vectors raise no false alarm."""

from __future__ import annotations

import math

import numpy
import pytest
from msgspec.structs import replace

from npu_conformance.corpus import distributions, vectors
from npu_conformance.corpus.vectors import Vector, writing

OPERATION = "RANDOM_MULTINOMIAL"
LOGITS = numpy.log(numpy.array([[1.0, 3.0, 4.0], [5.0, 2.0, 1.0]]))
FITTING = numpy.array([[0, 1, 1, 1, 2, 2, 2, 2], [0, 0, 0, 0, 0, 1, 1, 2]])


def test_shares_are_softmax_of_each_row() -> None:
    assert distributions.shares(LOGITS) == pytest.approx(numpy.array([[1, 3, 4], [5, 2, 1]]) / 8)


def test_a_logit_that_is_not_finite_has_no_share() -> None:
    logits = numpy.array([[1000.0, -math.inf, 1000.0, math.nan, math.inf]], numpy.float32)
    assert distributions.shares(logits).tolist() == [[0.5, 0.0, 0.5, 0.0, 0.0]]


def test_samples_that_fit_have_no_problem() -> None:
    assert distributions.problem(FITTING, LOGITS, 0.0001) == ""


@pytest.mark.parametrize(
    ("samples", "expected"),
    [
        ([[0, 1, 1, 1, 2, 2, 2, 2]] * 2, "row 1: class 0 has the frequency 0.1250 in 8 samples, expected 0.6250"),
        ([[1, 1, 1, 1, 2, 2, 2, 2], FITTING[1]], "row 0: class 0 has the frequency 0.0000"),
        (FITTING + 1, "sample [0, 4] is 3, expected a class from 0 to 2"),
        (FITTING - 1, "sample [0, 0] is -1, expected a class from 0 to 2"),
    ],
)
def test_samples_that_do_not_fit_are_told_apart(samples: list[list[int]], expected: str) -> None:
    assert distributions.problem(numpy.array(samples), LOGITS, 0.1).startswith(expected)


def test_a_frequency_at_the_tolerance_fits() -> None:
    samples = numpy.array([[0, 0, 0, 1]])
    assert distributions.problem(samples, numpy.zeros((1, 2)), 0.25) == ""
    assert distributions.problem(samples, numpy.zeros((1, 2)), 0.24).endswith("2 of 2 frequencies are outside")


def stored() -> list[Vector]:
    """The vectors whose samples are compared with a distribution."""
    headers = [header for header in vectors.headers(OPERATION) if header.rejected is None]
    return [vectors.load(OPERATION, header.name) for header in headers]


def test_a_true_sampler_is_never_taken_for_a_wrong_one() -> None:
    """Less than once in 10^9 runs, by Hoeffding's bound, or because one class leaves nothing to the others."""
    total = 0.0
    for vector in stored():
        (example,) = vector.examples
        shares = distributions.shares(distributions.logits_of(vector, example))
        (rows, draws), tolerance = example.outputs["samples"].shape, vector.multinomial_tolerance
        bound = 2 * shares.size * math.exp(-2 * draws * tolerance**2)
        second = numpy.sort(shares, axis=1)[:, :-1].sum()
        total += min(bound, draws * float(second))
        assert rows == len(shares)
    assert total < 1e-9


def test_kind_and_tolerance_survive_writing() -> None:
    for vector in stored():
        assert (vector.kind, vector.multinomial_tolerance) == ("multinomial", 0.025)
        document = writing.document_of(vector)
        assert (document["kind"], document["multinomial_tolerance"]) == ("multinomial", 0.025)
        assert "outputs" not in document["examples"][0]


def test_logits_without_a_value_are_told() -> None:
    vector = stored()[0]
    (example,) = vector.examples
    with pytest.raises(ValueError, match="float32_two_classes: logits has no value"):
        distributions.logits_of(vector, replace(example, inputs={}))
