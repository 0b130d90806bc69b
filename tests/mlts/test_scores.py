"""The metrics of the zoo as measurements: each has one, and each model's own golden outputs are perfect by it."""

from __future__ import annotations

import typing
from dataclasses import replace

import numpy
import pytest

from npu_conformance.corpus import zoo
from npu_conformance.mlts.lib.scores import Answers, measured
from npu_conformance.specs.documents.zoo import MetricName

OWN = [name for name in zoo.names() if zoo.is_own(zoo.entry(name))]
PERFECT = {
    "agreement": 1.0, "cosine": 1.0, "mean_squared_error": 0.0, "largest_error": 0.0, "error_histogram": 1.0,
    "phone_error_rate": 0.0, "mel_cepstral_distortion": 0.0, "mel_cepstral_error": 0.0, "log_f0_error": 0.0,
}  # fmt: skip


def golden(name: str) -> Answers:
    model = zoo.load(name)
    samples = model.samples(20 if not model.states else 2)
    assert samples.goldens is not None
    return Answers(model, samples, samples.goldens)


@pytest.mark.parametrize("name", OWN)
def test_golden_outputs_are_perfect(name: str) -> None:
    answers = golden(name)
    for metric in answers.model.metrics:
        found = measured(metric, answers, answers)
        assert found is not None
        assert found.subject == name
        assert found.value == pytest.approx(PERFECT.get(metric, found.value))
        limit = answers.model.entry.limits.get(typing.cast("MetricName", metric))
        if limit is not None:
            assert limit.at_least is None or found.value >= limit.at_least
            assert limit.at_most is None or found.value <= limit.at_most


def test_every_metric_of_the_manifest_has_a_score() -> None:
    shown = {metric for name in OWN for metric in zoo.entry(name).metrics}
    assert set(typing.get_args(MetricName)) - shown == {"top_5", "cosine"}
    answers = golden("digits_conv")
    for metric in ("top_5", "cosine"):
        assert measured(metric, answers, answers) is not None


def test_without_expected_outputs_labels_and_targets_are_left() -> None:
    answers = golden("digits_conv")
    assert measured("agreement", answers, None) is None
    assert measured("top_1", answers, None) is not None


def test_one_output_is_no_choice() -> None:
    """The best of one is always the same: an agreement of 1 would say nothing."""
    answers = golden("digits_conv")
    single = replace(answers, outputs={name: array[..., :1] for name, array in answers.outputs.items()})
    assert measured("agreement", single, single) is None
    assert measured("largest_error", single, single) is not None


def test_the_largest_error_has_its_sign() -> None:
    answers = golden("digits_conv")
    outputs = {name: array.copy() for name, array in answers.outputs.items()}
    outputs[answers.main].reshape(-1)[7] -= 0.25
    found = measured("largest_error", replace(answers, outputs=outputs), answers)
    assert found is not None
    assert found.value == pytest.approx(-0.25)


def test_the_worst_sequence_counts() -> None:
    answers = golden("phones_lstm")
    outputs = {name: array.copy() for name, array in answers.outputs.items()}
    length = answers.samples.sequence_length
    outputs[answers.main][length:] = outputs[answers.main][length:][..., ::-1]
    found = measured("phone_error_rate", replace(answers, outputs=outputs), answers)
    assert found is not None
    assert found.value > 0.5
    assert found.count == 2


@pytest.mark.parametrize("value", [numpy.nan, numpy.inf])
def test_an_output_that_is_no_number_is_found_where_one_is_expected(value: float) -> None:
    answers = golden("denoiser_lstm")
    assert answers.first_without_number(answers) is None
    outputs = {name: array.copy() for name, array in answers.outputs.items()}
    outputs[answers.main][5].reshape(-1)[1] = value
    broken = replace(answers, outputs=outputs)
    found = broken.first_without_number(answers)
    assert found is not None
    assert (found.item, found.element) == (5, f"{answers.main}[0, 1]")
    assert numpy.array_equal(found.value, value, equal_nan=True)
    assert broken.first_without_number(broken) is None
    assert answers.first_without_number(broken) is None


def test_what_is_expected_to_be_no_number_counts_as_equal() -> None:
    answers = golden("denoiser_lstm")
    outputs = {name: array.copy() for name, array in answers.outputs.items()}
    outputs[answers.main][5].reshape(-1)[1] = numpy.nan
    expected = replace(answers, outputs=outputs)
    found = measured("largest_error", answers.where_finite(expected), expected.where_finite(expected))
    assert found is not None
    assert found.value == 0.0
    assert answers.outputs[answers.main].dtype == answers.where_finite(expected).outputs[answers.main].dtype
