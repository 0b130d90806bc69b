"""Metrics against values computed by hand; each twin that is wrong on purpose must fail the same check."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy
import pytest

from npu_conformance.mlts.lib.metrics import classification, errors, signals, speech

Array = numpy.ndarray[Any, Any]


def array(*values: Any, dtype: str = "float32") -> Array:
    """A short array."""
    return numpy.array(values, dtype=dtype)


def share_of_hits(scores: Array, labels: Array, k: int) -> float:
    return float(classification.hits(scores, labels, k).mean())


# Each check takes the function; a wrong twin of it has to fail.


def check_top_k(top_k: Callable[[Array, Array, int], float]) -> None:
    scores = array(0.1, 0.7, 0.2, 0.5, 0.5, 0.0, 0.3, 0.3, 0.4).reshape(3, 3)
    assert top_k(scores, numpy.array([1, 0, 2]), 1) == 1.0
    assert top_k(scores, numpy.array([1, 1, 1]), 1) == pytest.approx(1 / 3)
    assert top_k(scores, numpy.array([0, 1, 0]), 2) == pytest.approx(2 / 3)
    assert top_k(scores, numpy.array([0, 2, 0]), 3) == 1.0
    nothing = numpy.full((1, 3), numpy.nan, numpy.float32)
    assert top_k(nothing, numpy.array([0]), 3) == 0.0
    assert top_k(array(numpy.nan, 0.1).reshape(1, 2), numpy.array([0]), 1) == 0.0


def ties_all_count(scores: Array, labels: Array, k: int) -> float:
    own = numpy.take_along_axis(scores, labels[:, None], axis=1)
    return float(((scores > own).sum(axis=1) < k).mean())


def ties_last_first(scores: Array, labels: Array, k: int) -> float:
    ranked = numpy.argsort(scores, axis=1, kind="stable")[:, ::-1][:, :k]
    return float((ranked == labels[:, None]).any(axis=1).mean())


def one_too_many(scores: Array, labels: Array, k: int) -> float:
    return share_of_hits(scores, labels, min(k + 1, scores.shape[1]))


def best_only(scores: Array, labels: Array, k: int) -> float:
    return share_of_hits(scores, labels, 1)


def numpys_argmax(scores: Array, labels: Array, k: int) -> float:
    """argsort puts what is no number first when it is reversed."""
    return float((numpy.argsort(-scores, axis=1, kind="stable")[:, :k] == labels[:, None]).any(axis=1).mean())


def check_agreement(agreement: Callable[[Array, Array], float]) -> None:
    first, second = array(3, 1, 2).reshape(1, 3), array(1, 3, 2).reshape(1, 3)
    assert agreement(first, first) == 1.0
    assert agreement(first, second) == 0.0
    assert agreement(numpy.vstack([first, second]), numpy.vstack([first, first])) == 0.5
    tie = array(3, 3, 2).reshape(1, 3)
    for one, other in ((tie, first), (first, tie), (tie, second), (second, tie)):
        assert agreement(one, other) == 1.0
    assert agreement(array(numpy.nan, 1, 2).reshape(1, 3), array(numpy.nan, 1, 2).reshape(1, 3)) == 0.0


def share_of_same_choices(found: Array, baseline: Array) -> float:
    return float(classification.same_choice(found, baseline).mean())


def argmaxes_are_equal(found: Array, baseline: Array) -> float:
    return float((found.argmax(axis=1) == baseline.argmax(axis=1)).mean())


def check_cosine(cosine: Callable[[Array, Array], Array]) -> None:
    rows = array(3, 4).reshape(1, 2)
    assert cosine(rows, rows * 7)[0] == pytest.approx(1.0)
    assert cosine(rows, -rows)[0] == pytest.approx(-1.0)
    assert cosine(rows, array(4, -3).reshape(1, 2))[0] == pytest.approx(0.0)
    assert cosine(rows, array(1, 0).reshape(1, 2))[0] == pytest.approx(0.6)
    assert list(cosine(array(0, 0).reshape(1, 2), rows)) == [0.0]
    assert list(cosine(array(0, 0).reshape(1, 2), array(0, 0).reshape(1, 2))) == [1.0]
    assert list(cosine(array(numpy.inf, 0).reshape(1, 2), rows)) == [0.0]
    two = numpy.vstack([rows, rows])
    assert cosine(two, numpy.vstack([rows, -rows])) == pytest.approx([1.0, -1.0])


def over_all_items(found: Array, baseline: Array) -> Array:
    return numpy.full(len(found), (found * baseline).sum() / numpy.linalg.norm(found) / numpy.linalg.norm(baseline))


def check_mean_squared_error(mean_squared_error: Callable[[Array, Array], float]) -> None:
    assert mean_squared_error(array(1, 2, 3), array(1, 4, 0)) == pytest.approx(13 / 3)
    assert mean_squared_error(array(0, 255, dtype="uint8"), array(255, 0, dtype="uint8")) == 65025.0
    assert mean_squared_error(array(numpy.nan, 1), array(0, 1)) == math.inf
    assert mean_squared_error(array(numpy.inf, 1), array(numpy.inf, 1)) == 0.0


def of_a_sample(found: Array, expected: Array) -> float:
    """Divided by one less, as a variance of a sample is."""
    return float(numpy.square(errors.errors(found, expected)).sum() / max(found.size - 1, 1))


def in_the_type(found: Array, expected: Array) -> float:
    """Stored bytes wrap around."""
    difference = found - expected
    return float(numpy.nan_to_num(numpy.square(difference.astype(numpy.float64))).mean())


def check_largest_error(largest_error: Callable[[Array, Array], errors.LargestError]) -> None:
    found = largest_error(array(1, 2, 3), array(1.5, 7, 1))
    assert (found.value, found.index, found.found, found.expected) == (-5.0, (1,), 2.0, 7.0)
    assert largest_error(array(9, 2), array(4, 4)).value == 5.0
    assert largest_error(array(0, 1, dtype="uint8"), array(0, 9, dtype="uint8")).value == -8.0
    assert largest_error(array(2, numpy.nan), array(1, 1)).value == math.inf
    assert largest_error(array(-numpy.inf, 1), array(1, 1)).value == -math.inf


def one_sided(found: Array, expected: Array) -> errors.LargestError:
    """What MLTS takes: negative errors are missed."""
    place = (found.astype(float) - expected.astype(float)).argmax()
    return errors.LargestError(float(found[place] - expected[place]), (int(place),), found[place], expected[place])


def without_sign(found: Array, expected: Array) -> errors.LargestError:
    right = errors.largest_error(found, expected)
    return errors.LargestError(abs(right.value), right.index, right.found, right.expected)


def check_error_histogram(error_histogram: Callable[[Array, Array], errors.ErrorHistogram]) -> None:
    one, above = numpy.float32(1), numpy.nextafter(numpy.float32(1), numpy.float32(2))
    below = numpy.nextafter(one, numpy.float32(0))
    found = error_histogram(array(one, above, below, 1), array(one, one, one, above))
    assert found.unit == "ULP"
    assert found.counts == (1, 3, *[0] * 9)
    assert found.bias == pytest.approx(-1 / 4)
    # The smallest numbers on both sides of 0 are two steps apart, and both zeros are one number.
    smallest = numpy.float32(1e-45)
    assert error_histogram(array(smallest, 0.0), array(-smallest, -0.0)).counts == (1, 0, 1, *[0] * 8)
    assert error_histogram(array(1.0, dtype="float16"), array(1.0009765625, dtype="float16")).counts[1] == 1
    assert error_histogram(array(3e38), array(-3e38)).counts[-1] == 1
    special = array(numpy.nan, numpy.inf, -numpy.inf, numpy.inf, 1)
    found = error_histogram(array(numpy.nan, numpy.inf, numpy.inf, 1, numpy.nan), special)
    assert (found.broken, sum(found.counts), found.counts[0]) == (3, 2, 2)
    steps = error_histogram(array(-128, 127, 5, dtype="int8"), array(127, -128, 8, dtype="int8"))
    assert (steps.unit, steps.counts, steps.bias) == ("LSB", (*[0] * 3, 1, *[0] * 5, 2, 0), -1.0)


def by_bits(found: Array, expected: Array) -> errors.ErrorHistogram:
    """The bits of floats as numbers: negative ones are in the wrong order."""
    if found.dtype.kind != "f":
        return errors.error_histogram(found, expected)
    kind = numpy.int32 if found.dtype.itemsize == 4 else numpy.int16
    steps = found.view(kind).astype(numpy.int64) - expected.view(kind).astype(numpy.int64)
    counts = numpy.bincount(numpy.searchsorted(errors.BOUNDS, numpy.abs(steps)), minlength=len(errors.BOUNDS) + 1)
    return errors.ErrorHistogram("ULP", tuple(map(int, counts)), float(steps.mean()), 0)


def without_bias(found: Array, expected: Array) -> errors.ErrorHistogram:
    right = errors.error_histogram(found, expected)
    return errors.ErrorHistogram(right.unit, right.counts, abs(right.bias), right.broken)


def check_snr(snr: Callable[[Array, Array], float]) -> None:
    signal = array(3, 0, 4, 0)
    assert snr(signal + array(0, 0.5, 0, 0), signal) == pytest.approx(20.0)
    assert snr(signal + array(5, 0, 0, 0), signal) == pytest.approx(0.0)
    assert snr(2 * signal, signal) == pytest.approx(0.0)
    assert snr(signal, signal) == math.inf
    assert snr(array(1, 0), array(0, 0)) == -math.inf
    assert snr(array(numpy.nan, 0), array(1, 0)) == -math.inf


def of_amplitudes(found: Array, signal: Array) -> float:
    """Twenty times the logarithm of a ratio of powers."""
    return 2 * signals.snr(found, signal)


def of_what_was_found(found: Array, signal: Array) -> float:
    """The power of the output, not that of the signal, over the noise."""
    return signals.snr(signal, found)


def frames(count: int, **changes: Array) -> Array:
    """Frames of zeros that are voiced; changes: by place in the frame."""
    found = numpy.zeros((count, speech.FRAME), numpy.float32)
    found[:, 48] = 1.0
    for name, values in changes.items():
        found[:, int(name[1:])] = values
    return found


def check_distortion(distortion: Callable[[Array, Array], float]) -> None:
    # One amplitude that is off by 1: 10 / ln 10 * sqrt 2 = 6.1418512.
    assert distortion(frames(1, d1=array(1)), frames(1)) == pytest.approx(6.1418512)
    assert distortion(frames(2, d39=array(3, 0)), frames(2)) == pytest.approx(1.5 * 6.1418512)
    assert distortion(frames(1, d1=array(3), d2=array(4)), frames(1)) == pytest.approx(5 * 6.1418512)
    assert distortion(frames(1, d0=array(9), d40=array(9), d47=array(9)), frames(1)) == 0.0


def with_the_energy(found: Array, expected: Array) -> float:
    squares = numpy.square(found[:, :40] - expected[:, :40]).sum(axis=1)
    return float(10 / numpy.log(10) * numpy.sqrt(2 * squares).mean())


def without_the_two(found: Array, expected: Array) -> float:
    return speech.mel_cepstral_distortion(found, expected) / 2**0.5


def root_of_the_mean(found: Array, expected: Array) -> float:
    squares = numpy.square(found[:, 1:40] - expected[:, 1:40]).sum(axis=1)
    return float(10 / numpy.log(10) * numpy.sqrt(2 * squares.mean()))


def check_unscaled(error: Callable[[Array, Array], float]) -> None:
    assert error(frames(2, d1=array(1, 1)), frames(2)) == pytest.approx((2 / 78) ** 0.5)
    every = frames(3)
    every[:, 1:40] = -4.0
    assert error(every, frames(3)) == pytest.approx(4.0)
    assert error(frames(1, d0=array(9), d40=array(9)), frames(1)) == 0.0


def of_forty(found: Array, expected: Array) -> float:
    return float(numpy.sqrt(numpy.square(found[:, :40] - expected[:, :40]).mean()))


def check_log_f0(error: Callable[[Array, Array], float]) -> None:
    wanted = frames(4, d47=array(5, 5, 5, 5), d48=array(1, 1, 1, -1))
    found = frames(4, d47=array(5.3, 4.6, 99, 99), d48=array(1, 1, -1, 1))
    assert error(found, wanted) == pytest.approx(((0.09 + 0.16) / 2) ** 0.5, rel=1e-5)
    silent = frames(4, d48=array(-1, -1, -1, -1))
    assert error(silent, wanted) == math.inf
    assert error(silent, silent) == 0.0


def of_all_frames(found: Array, expected: Array) -> float:
    return float(numpy.sqrt(numpy.square(found[:, 47] - expected[:, 47]).mean()))


def as_mlts(found: Array, expected: Array) -> float:
    """Nothing voiced in both is no error."""
    right = speech.log_f0_error(found, expected)
    return 0.0 if right == math.inf else right


def check_edit_distance(distance: Callable[[list[int], list[int]], int]) -> None:
    kitten, sitting = [ord(letter) for letter in "kitten"], [ord(letter) for letter in "sitting"]
    assert distance(kitten, sitting) == 3
    assert distance(sitting, kitten) == 3
    assert distance([], [1, 2]) == 2
    assert distance([1, 2], []) == 2
    assert distance([1, 2, 3], [2, 3]) == 1
    assert distance([1, 2, 3, 4], [1, 9, 3, 4]) == 1
    assert distance([1, 2, 3, 4], [2, 3, 4, 1]) == 2


def without_substitution(found: list[int], expected: list[int]) -> int:
    row = list(range(len(expected) + 1))
    for count, phone in enumerate(found, start=1):
        above, row = row, [count]
        for place, wanted in enumerate(expected):
            match = above[place] if phone == wanted else math.inf
            row.append(int(min(above[place + 1] + 1, row[place] + 1, match)))
    return row[-1]


def place_by_place(found: list[int], expected: list[int]) -> int:
    """Hamming, and what is left over."""
    return sum(a != b for a, b in zip(found, expected, strict=False)) + abs(len(found) - len(expected))


def first_row_of_zeros(found: list[int], expected: list[int]) -> int:
    row = [0] * (len(expected) + 1)
    for count, phone in enumerate(found, start=1):
        above, row = row, [count]
        for place, wanted in enumerate(expected):
            row.append(min(above[place + 1] + 1, row[place] + 1, above[place] + (phone != wanted)))
    return row[-1]


def check_phone_error_rate(rate: Callable[[list[int], list[int]], float]) -> None:
    assert rate([1, 2, 3, 5], [1, 2, 3, 4]) == 0.25
    assert rate([1], [1, 2, 3, 4]) == 0.75
    assert rate([1, 2, 3, 4], [1]) == 3.0
    assert rate([7], [7]) == 0.0


def over_what_was_found(found: list[int], expected: list[int]) -> float:
    return speech.edit_distance(found, expected) / len(found)


def cut_at_one(found: list[int], expected: list[int]) -> float:
    return min(speech.phone_error_rate(found, expected), 1.0)


CHECKS: dict[Callable[..., None], tuple[Callable[..., Any], tuple[Callable[..., Any], ...]]] = {
    check_top_k: (
        share_of_hits,
        (ties_all_count, ties_last_first, one_too_many, best_only, numpys_argmax),
    ),
    check_agreement: (share_of_same_choices, (argmaxes_are_equal,)),
    check_cosine: (classification.cosine, (over_all_items,)),
    check_mean_squared_error: (errors.mean_squared_error, (of_a_sample, in_the_type)),
    check_largest_error: (errors.largest_error, (one_sided, without_sign)),
    check_error_histogram: (errors.error_histogram, (by_bits, without_bias)),
    check_snr: (signals.snr, (of_amplitudes, of_what_was_found)),
    check_distortion: (
        speech.mel_cepstral_distortion,
        (with_the_energy, without_the_two, root_of_the_mean, speech.mel_cepstral_error),
    ),
    check_unscaled: (speech.mel_cepstral_error, (of_forty, speech.mel_cepstral_distortion)),
    check_log_f0: (speech.log_f0_error, (of_all_frames, as_mlts)),
    check_edit_distance: (speech.edit_distance, (without_substitution, place_by_place, first_row_of_zeros)),
    check_phone_error_rate: (speech.phone_error_rate, (over_what_was_found, cut_at_one)),
}
TWINS = [(check, twin) for check, (_, twins) in CHECKS.items() for twin in twins]


def name_of(function: Callable[..., Any]) -> str:
    """Its name, for the id of a test."""
    return function.__name__


@pytest.mark.parametrize("check", CHECKS, ids=name_of)
def test_values_by_hand(check: Callable[..., None]) -> None:
    check(CHECKS[check][0])


@pytest.mark.parametrize(("check", "twin"), TWINS, ids=name_of)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_a_wrong_twin_is_caught(check: Callable[..., None], twin: Callable[..., Any]) -> None:
    with pytest.raises(AssertionError):
        check(twin)


def test_the_gain_of_a_filter() -> None:
    signal = array(3, 0, 4, 0)
    given, found = signal + array(5, 0, 0, 0), signal + array(0, 0.5, 0, 0)
    assert signals.snr_gain(found, given, signal) == pytest.approx(20.0)
    assert signals.snr_gain(given, found, signal) == pytest.approx(-20.0)


def test_phones_of_scores() -> None:
    assert speech.phones_of(array(1, 2, 0, 3, 1, 0).reshape(2, 3)) == [1, 0]
    assert speech.merged([4, 4, 1, 1, 1, 4]) == [4, 1, 4]
    assert speech.merged([]) == []
    with pytest.raises(ValueError, match="a score is no number"):
        speech.phones_of(array(numpy.nan, 1).reshape(1, 2))


@pytest.mark.parametrize(
    ("scores", "labels", "k", "message"),
    [
        (numpy.zeros((2, 3)), numpy.zeros(3, int), 1, "expected scores"),
        (numpy.zeros((0, 3)), numpy.zeros(0, int), 1, "expected scores"),
        (numpy.zeros((1, 3)), numpy.zeros(1, int), 4, "top 4 of 3 classes"),
        (numpy.zeros((1, 3)), numpy.zeros(1, int), 0, "top 0 of 3 classes"),
        (numpy.zeros((1, 3)), numpy.array([3]), 1, "labels from 3 to 3"),
        (numpy.zeros((1, 3)), numpy.array([-1]), 1, "labels from -1 to -1"),
    ],
)
def test_scores_that_do_not_fit(scores: Array, labels: Array, k: int, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        classification.hits(scores, labels, k)


@pytest.mark.parametrize(
    "metric",
    [
        errors.mean_squared_error,
        errors.largest_error,
        errors.error_histogram,
        classification.cosine,
        classification.same_choice,
        speech.mel_cepstral_distortion,
    ],
)
@pytest.mark.parametrize(("found", "wanted"), [((2, 3), (3, 2)), ((0, 3), (0, 3))])
def test_arrays_that_do_not_fit(metric: Callable[..., Any], found: tuple[int, ...], wanted: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match="expected two arrays"):
        metric(numpy.zeros(found), numpy.zeros(wanted))


def test_a_histogram_of_two_types() -> None:
    with pytest.raises(ValueError, match="found float32, expected float16"):
        errors.error_histogram(array(1), array(1, dtype="float16"))


def test_no_phone_is_expected() -> None:
    with pytest.raises(ValueError, match="no phone is expected"):
        speech.phone_error_rate([1], [])
