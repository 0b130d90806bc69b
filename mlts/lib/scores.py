"""Scores of a model's outputs over its data: each metric of the zoo as a measurement with its interval."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

import numpy

from npu_conformance.corpus.zoo.own.evaluation import real_values
from npu_conformance.mlts.lib import non_finite
from npu_conformance.mlts.lib.metrics import classification, errors, signals, speech
from npu_conformance.mlts.lib.metrics.intervals import bootstrap, wilson
from npu_conformance.specs.documents.results import Measurement, Unit

if TYPE_CHECKING:
    from npu_conformance.corpus.vectors import Array
    from npu_conformance.corpus.zoo import Samples, ZooModel


class NoNumber(NamedTuple):
    """An element that is infinite or no number. element: the output and the place in it, such as `scores[0, 9]`."""

    item: int
    element: str
    value: float


@dataclass(frozen=True, eq=False)
class Answers:
    """What an implementation answered. outputs: stored elements [items, ...] by name; states are among them.

    beside: the name of the implementation, empty for the one under test.
    """

    model: ZooModel
    samples: Samples
    outputs: Mapping[str, Array]
    beside: str = ""

    @property
    def main(self) -> str:
        """The output that the metrics are about: the first that is no state."""
        states = {state.output for state in self.model.states}
        return next(name for name in self.model.vector.outputs if name not in states)

    def first_without_number(self, expected: Answers) -> NoNumber | None:
        """What is infinite or no number, and expected to be finite, in the first item that has such an output."""
        places = {name: non_finite.first_instead(array, expected.outputs[name]) for name, array in self.outputs.items()}
        wrong = [(place, name) for name, place in places.items() if place is not None]
        if not wrong:
            return None
        place, name = min(wrong, key=lambda each: each[0][0])
        return NoNumber(place[0], non_finite.element(name, place[1:]), float(self.outputs[name][place]))

    def where_finite(self, expected: Answers) -> Answers:
        """The same with 0 wherever no finite value is expected: by definition a root of -1, say, is no number."""
        outputs = {
            name: numpy.where(numpy.isfinite(expected.outputs[name]), array, array.dtype.type(0))
            for name, array in self.outputs.items()
        }
        return replace(self, outputs=outputs)

    def real(self, name: str) -> Array:
        """The real values of an output [items, elements]."""
        values = real_values(self.model.vector.operands[name], self.outputs[name])
        return values.reshape(len(values), -1)

    def hits(self, k: int = 1) -> Array:
        """True for each item whose label is among the k best classes."""
        assert self.samples.labels is not None
        return classification.hits(self.real(self.main), self.samples.labels, k)


Score = Callable[[Answers, "Answers | None"], Measurement]
"""A metric of answers, beside those that are expected where it needs any."""


def measured(name: str, answers: Answers, expected: Answers | None) -> Measurement | None:
    """A metric by its name in the zoo; None where what it compares with is not known, or nothing is to choose from."""
    if expected is None and name not in _WITHOUT_EXPECTED:
        return None
    if name == "agreement" and answers.real(answers.main).shape[1] < 2:
        return None  # of one output each answer is the best
    return _SCORES[name](answers, expected)


def _fraction(answers: Answers, name: str, hits: Array) -> Measurement:
    interval = wilson(int(hits.sum()), len(hits))
    return Measurement(
        answers.model.name,
        name,
        "fraction",
        float(hits.mean()),
        interval.low,
        interval.high,
        len(hits),
        beside=answers.beside,
    )


def _agreement(answers: Answers, expected: Answers | None) -> Measurement:
    assert expected is not None
    same = classification.same_choice(answers.real(answers.main), expected.real(answers.main))
    return _fraction(answers, "agreement", same)


def _cosine(answers: Answers, expected: Answers | None) -> Measurement:
    assert expected is not None
    found = classification.cosine(answers.real(answers.main), expected.real(answers.main))
    interval = bootstrap(found)
    value = float(found.mean())
    name = answers.model.name
    return Measurement(name, "cosine", "ratio", value, interval.low, interval.high, len(found), beside=answers.beside)


def _mean_squared_error(answers: Answers, expected: Answers | None) -> Measurement:
    assert expected is not None
    found = answers.real(answers.main)
    value = errors.mean_squared_error(found, expected.real(answers.main))
    name = answers.model.name
    return Measurement(name, "mean_squared_error", "squared", value, count=found.size, beside=answers.beside)


def _largest_error(answers: Answers, expected: Answers | None) -> Measurement:
    """The largest error of all elements, with its sign (ML-ACC-005)."""
    assert expected is not None
    found = answers.real(answers.main)
    value = errors.largest_error(found, expected.real(answers.main)).value
    name = answers.model.name
    return Measurement(name, "largest_error", "absolute", value, count=found.size, beside=answers.beside)


def _error_histogram(answers: Answers, expected: Answers | None) -> Measurement:
    """The share of elements that are exact, and how far off the others are, in steps of the type."""
    assert expected is not None
    found = errors.error_histogram(answers.outputs[answers.main], expected.outputs[answers.main])
    total = sum(found.counts)
    least = (0, *(bound + 1 for bound in errors.BOUNDS))
    return Measurement(
        answers.model.name,
        "exact",
        "fraction",
        found.counts[0] / total,
        count=total,
        buckets=tuple(zip(map(float, least), found.counts, strict=True)),
        beside=answers.beside,
    )


def _snr(answers: Answers, _: Answers | None) -> Measurement:
    value = signals.snr(answers.real(answers.main), _target(answers))
    return Measurement(answers.model.name, "snr", "dB", value, count=answers.samples.count, beside=answers.beside)


def _snr_gain(answers: Answers, _: Answers | None) -> Measurement:
    (given,) = answers.samples.inputs.values()
    wanted = _target(answers)
    value = signals.snr_gain(answers.real(answers.main), given.reshape(wanted.shape), wanted)
    return Measurement(answers.model.name, "snr_gain", "dB", value, count=answers.samples.count, beside=answers.beside)


def _target(answers: Answers) -> Array:
    assert answers.samples.targets is not None
    wanted = answers.samples.targets[answers.main]
    return wanted.reshape(len(wanted), -1)


def _phone_error_rate(answers: Answers, expected: Answers | None) -> Measurement:
    """Frame by frame, as in MLTS (ML-ACC-003)."""

    def rate(found: Array, wanted: Array) -> float:
        return speech.phone_error_rate(speech.phones_of(found), speech.phones_of(wanted))

    return _worst_sequence("phone_error_rate", "fraction", rate, answers, expected)


def _of_frames(name: str, unit: Unit, metric: Callable[[Array, Array], float]) -> Score:
    """A metric of frames of speech, of which an output holds some (ML-ACC-002)."""

    def error(found: Array, wanted: Array) -> float:
        return metric(found.reshape(-1, speech.FRAME), wanted.reshape(-1, speech.FRAME))

    return lambda answers, expected: _worst_sequence(name, unit, error, answers, expected)


def _worst_sequence(
    name: str, unit: Unit, metric: Callable[[Array, Array], float], answers: Answers, expected: Answers | None
) -> Measurement:
    """The largest of all sequences, as MLTS reports them."""
    assert expected is not None
    length, found, wanted = answers.samples.sequence_length, answers.real(answers.main), expected.real(answers.main)
    sequences = [slice(start, start + length) for start in range(0, answers.samples.count, length)]
    values = [metric(found[part], wanted[part]) for part in sequences]
    return Measurement(answers.model.name, name, unit, max(values), count=len(values), beside=answers.beside)


def _top(k: int) -> Score:
    return lambda answers, _: _fraction(answers, f"top_{k}", answers.hits(k))


_SCORES: Mapping[str, Score] = {
    "top_1": _top(1),
    "top_5": _top(5),
    "agreement": _agreement,
    "cosine": _cosine,
    "mean_squared_error": _mean_squared_error,
    "largest_error": _largest_error,
    "error_histogram": _error_histogram,
    "snr": _snr,
    "snr_gain": _snr_gain,
    "phone_error_rate": _phone_error_rate,
    "mel_cepstral_distortion": _of_frames("mel_cepstral_distortion", "dB", speech.mel_cepstral_distortion),
    "mel_cepstral_error": _of_frames("mel_cepstral_error", "absolute", speech.mel_cepstral_error),
    "log_f0_error": _of_frames("log_f0_error", "absolute", speech.log_f0_error),
}
_WITHOUT_EXPECTED = {"top_1", "top_5", "snr", "snr_gain"}
"""What labels and targets are enough for."""


def concatenated(parts: list[Mapping[str, Array]]) -> dict[str, Array]:
    """The outputs of items one after the other as arrays with the items' axis first."""
    return {name: numpy.stack([part[name] for part in parts]) for name in parts[0]}
