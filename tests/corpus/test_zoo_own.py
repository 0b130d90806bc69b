"""The project's own models: right by an independent witness, good at what they are for, legal in their version."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import numpy
import pytest
from msgspec.structs import replace

from npu_conformance.corpus import oracles, zoo
from npu_conformance.corpus.vector_types import Vector
from npu_conformance.corpus.wire_model import build_model
from npu_conformance.corpus.zoo import own
from npu_conformance.corpus.zoo.own import digits, networks, recurrent
from npu_conformance.corpus.zoo.own.evaluation import evaluate
from npu_conformance.corpus.zoo.own.quantizing import affine
from npu_conformance.corpus.zoo.types import Samples, ZooModel
from npu_conformance.specs.neuralnetworks.validate import validate_model
from npu_conformance.specs.versions import NEWEST, OLDEST, Version

Array = numpy.ndarray[Any, Any]
ALL = own.names()
CLASSIFIERS = [name for name in ALL if name.startswith("digits")]
TWINS = [name for name in CLASSIFIERS if name.endswith("int8")]


def goldens(samples: Samples) -> dict[str, Array]:
    """The golden outputs, of which there are some."""
    assert samples.goldens is not None
    return dict(samples.goldens)


def scores(model: ZooModel, samples: Samples) -> Array:
    """The golden scores of a classifier [items, classes]; its last output."""
    found: Array = goldens(samples)[model.vector.outputs[-1]].reshape(samples.count, -1)
    return found


def test_the_manifest_and_the_makers_name_the_same_models() -> None:
    assert tuple(name for name in zoo.names() if zoo.is_own(zoo.entry(name))) == ALL


def test_names_and_entries_do_not_need_numpy() -> None:
    text = (
        "import sys; from npu_conformance.corpus import zoo; [zoo.entry(n) for n in zoo.names()]; print(*sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=True)
    assert "numpy" not in done.stdout.split()


@pytest.mark.parametrize("name", ALL)
def test_goldens_are_what_the_oracles_find(name: str) -> None:
    model = zoo.load(name)
    samples = model.samples(1, seed=5)
    states = {state.input: state.initial for state in model.states}
    for item in range(min(samples.count, 2)):
        inputs = {operand: array[item] for operand, array in samples.inputs.items()}
        found = oracles.evaluate(model.vector.main, {**inputs, **states})
        for output, array in found.items():
            golden = goldens(samples)[output][item]
            assert (golden.dtype, golden.shape) == (array.dtype, array.shape)
            if array.dtype.kind == "f":
                numpy.testing.assert_allclose(golden, array, rtol=1e-5, atol=2e-6)
            else:
                numpy.testing.assert_array_equal(golden, array)
        states = {state.input: found[state.output] for state in model.states}


@pytest.mark.parametrize("name", ALL)
def test_a_model_is_legal_since_the_version_that_it_names(name: str) -> None:
    vector = zoo.load(name).vector
    for version in (vector.since, NEWEST):
        assert list(validate_model(build_model(vector, version).model, version)) == []


def test_versions() -> None:
    assert {name for name in ALL if zoo.load(name).vector.since == OLDEST} == {
        name for name in ALL if not name.endswith("_int8")
    }
    assert zoo.load("digits_conv_int8").vector.since == Version.V1_3


@pytest.mark.parametrize("name", ALL)
def test_the_vectors_example_is_the_first_sample(name: str) -> None:
    model = zoo.load(name)
    samples = model.samples(1)
    (example,) = model.vector.examples
    assert list(example.inputs) == list(model.vector.inputs)
    for operand, array in samples.inputs.items():
        numpy.testing.assert_array_equal(example.inputs[operand], array[0])
    for operand, array in goldens(samples).items():
        numpy.testing.assert_array_equal(example.outputs[operand], array[0])


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_classifiers_know_digits_that_they_have_not_seen(name: str) -> None:
    model = zoo.load(name)
    samples = model.samples(500)
    assert samples.labels is not None
    right = scores(model, samples).argmax(axis=1) == samples.labels
    least = model.entry.limits["top_1"].at_least
    assert least is not None
    assert right.mean() > least
    other = model.samples(500, seed=1)
    assert other.labels is not None
    # The labels matter: those of other pictures are right by chance only.
    assert (scores(model, samples).argmax(axis=1) == other.labels).mean() < 0.3


@pytest.mark.parametrize("name", TWINS)
def test_twins_agree_with_their_float_model(name: str) -> None:
    twin, model = zoo.load(name), zoo.load(name.rsplit("_", 1)[0])
    samples = [each.samples(300) for each in (twin, model)]
    chosen = [scores(each, of).argmax(axis=1) for each, of in zip((twin, model), samples, strict=True)]
    assert (chosen[0] == chosen[1]).mean() > 0.97
    operand = twin.vector.operands[twin.vector.outputs[0]]
    reals = (scores(twin, samples[0]).astype(float) - operand.zero_point) * operand.scale
    assert numpy.abs(reals - scores(model, samples[1])).mean() < 0.01


def test_goldens_notice_a_wrong_model() -> None:
    """A bias that is forgotten, a stride that is taken for another: the goldens are others."""
    model = zoo.load("digits_conv_int8")
    samples = model.samples(4)
    biases = [step.inputs[2] for step in model.vector.operations if step.type == "CONV_2D"]
    operand = model.vector.operands[biases[0]]
    assert operand.value is not None
    operands = {**model.vector.operands, biases[0]: replace(operand, value=numpy.zeros_like(operand.value))}
    wrong = evaluate(replace(model.vector, operands=operands), {networks.INPUT: samples.inputs[networks.INPUT][:, 0]})
    assert (wrong[model.vector.outputs[0]] != scores(model, samples)).any()


def snr(found: Array, wanted: Array) -> float:
    """In dB."""
    return float(10 * numpy.log10(numpy.square(wanted).sum() / numpy.square(found - wanted).sum()))


def test_the_denoiser_gains_what_the_manifest_promises() -> None:
    model = zoo.load("denoiser_lstm")
    samples = model.samples(20)
    assert samples.targets is not None
    output = model.vector.outputs[-1]
    gain = snr(goldens(samples)[output], samples.targets[output]) - snr(
        samples.inputs[recurrent.INPUT], samples.targets[output]
    )
    least = model.entry.limits["snr_gain"].at_least
    assert least is not None
    assert least < gain < 12.0


@pytest.mark.parametrize("name", ["denoiser_lstm", "phones_lstm", "voice_lstm"])
def test_states_begin_anew_with_each_sequence(name: str) -> None:
    model = zoo.load(name)
    two = model.samples(2)
    length = two.sequence_length
    assert two.count == 2 * length
    frames = two.inputs[recurrent.INPUT].reshape(2, length, -1)
    output = model.vector.outputs[-1]
    alone = recurrent.over_time(model.vector, frames[1:])[output][0]
    numpy.testing.assert_array_equal(goldens(two)[output].reshape(2, length, -1)[1], alone)
    carried = recurrent.over_time(model.vector, frames.reshape(1, 2 * length, -1))[output][0, length:]
    assert numpy.abs(carried - alone).max() > 1e-3


def test_the_phones_are_found() -> None:
    model = zoo.load("phones_lstm")
    samples = model.samples(20)
    assert samples.labels is not None
    assert (scores(model, samples).argmax(axis=1) == samples.labels).mean() > 0.85


def test_the_voice_is_nearer_to_speech_than_the_limit_and_silence_is_not() -> None:
    model = zoo.load("voice_lstm")
    samples = model.samples(10)
    assert samples.targets is not None
    output = model.vector.outputs[-1]
    found, wanted = (array[output].reshape(-1, 49) for array in (goldens(samples), samples.targets))
    most = model.entry.limits["mel_cepstral_error"].at_most
    assert most is not None
    assert numpy.sqrt(numpy.square(found - wanted)[:, 1:40].mean()) < most / 4
    assert numpy.sqrt(numpy.square(wanted)[:, 1:40].mean()) > most
    assert numpy.abs(found - wanted)[:, 47].mean() < 0.05
    assert ((found[:, 48] > 0) == (wanted[:, 48] > 0)).mean() > 0.98


@pytest.mark.parametrize("name", ALL)
def test_samples_depend_on_their_seed_alone(name: str) -> None:
    model = zoo.load(name)
    (operand,) = model.samples(3).inputs
    same, again, other = (model.samples(3, seed).inputs[operand] for seed in (7, 7, 8))
    numpy.testing.assert_array_equal(same, again)
    assert (same != other).any()


def constants(vector: Vector) -> list[Array]:
    """All constants of a model."""
    return [operand.value for operand in vector.operands.values() if operand.value is not None]


@pytest.mark.parametrize("make", [networks.convolutional, networks.separable, recurrent.denoiser, recurrent.talker])
def test_a_model_is_made_the_same_each_time(make: object) -> None:
    first, second = (make.__wrapped__() for _ in range(2))  # type: ignore[attr-defined]
    for one, other in zip(constants(first), constants(second), strict=True):
        numpy.testing.assert_array_equal(one, other)


def test_no_sample_is_one_of_the_training() -> None:
    trained, _ = digits.pictures(800, 1)
    seen = {picture.tobytes() for picture in trained}
    samples = zoo.load("digits_conv").samples(200)
    assert not any(picture.tobytes() in seen for picture in samples.inputs[networks.INPUT])


def test_the_range_of_a_quantised_tensor_holds_zero_exactly() -> None:
    assert affine(0.0, 255.0, (-128, 127)) == (1.0, -128)
    assert affine(-128.0, 127.0, (0, 255)) == (1.0, 128)
    assert affine(2.0, 510.0, (0, 255)) == (2.0, 0)
    assert affine(0.0, 0.0, (-128, 127))[0] > 0


@pytest.mark.parametrize(("count", "seed"), [(0, 0), (-1, 0), (1, -1)])
def test_no_samples(count: int, seed: int) -> None:
    with pytest.raises(ValueError, match="samples of digits_conv: expected a"):
        zoo.load("digits_conv").samples(count, seed)


def test_an_unknown_model() -> None:
    with pytest.raises(LookupError, match="did you mean digits_conv"):
        zoo.load("digit_conv")
