"""The project's own recurrent nets: an LSTM with random weights, whose last layer is a least-squares fit.

`denoiser_lstm` gets 4 samples of a sum of sines in white noise, and gives 4 samples with less noise.
`phones_lstm` gets the frames of invented speech, 12 bands of a spectrum, and gives the probability of each phone.
`voice_lstm` gets phones and how far they are, and gives 4 frames of 49 numbers as MLTS's model of synthesis does.
The states of the cell are inputs and outputs of the model, 0 at the beginning of a sequence.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy

from npu_conformance.corpus.model_builder import ModelBuilder
from npu_conformance.corpus.vector_types import VectorOperand
from npu_conformance.corpus.zoo.own.evaluation import evaluate
from npu_conformance.corpus.zoo.own.growing import least_squares, on_grid
from npu_conformance.specs.neuralnetworks.enums import OperandType
from npu_conformance.specs.versions import Version

if TYPE_CHECKING:
    from npu_conformance.corpus.vector_types import Array, Vector

INPUT = "frame"
STATES = ("hidden_in", "cell_in")
"""State inputs of the models, whose next values are the models' first outputs. They begin at 0."""
WINDOW = 4
"""Samples of the denoiser's signal in one inference."""
PHONES = 8
_BANDS = 12
_FRAMES, _AMPLITUDES, _LOG_F0, _VOICING, _FRAME = 4, 40, 47, 48, 49
"""Frames of one inference of the voice; where the numbers of a frame are."""
_LOUD = 8.0
"""The spread of amplitudes: silence is further from the right ones than MLTS's limit of 4."""
_NONE, _TANH = 0, 4
_GATES = ("input", "forget", "cell", "output")


def waves(sequences: int, steps: int, seed: int) -> tuple[Array, Array]:
    """Noisy and clean sums of three sines, each float32 [sequences, steps, 4]; the noise is white, at about 6 dB."""
    random = numpy.random.default_rng(seed)
    shape = (sequences, 3, 1)
    frequency, phase = random.uniform(0.01, 0.06, shape), random.uniform(0.0, 1.0, shape)
    times = numpy.arange(steps * WINDOW)
    clean = (random.uniform(0.2, 0.5, shape) * numpy.sin(2 * numpy.pi * (frequency * times + phase))).sum(axis=1)
    noisy = clean + 0.25 * random.standard_normal(clean.shape)
    framed = (sequences, steps, WINDOW)
    return noisy.reshape(framed).astype(numpy.float32), clean.reshape(framed).astype(numpy.float32)


def speech(sequences: int, steps: int, seed: int) -> tuple[Array, Array]:
    """Frames, float32 [sequences, steps, 12], and the phone of each [sequences, steps].

    A phone has two peaks of its own in the spectrum and lasts for 3 to 8 frames; the spectrum moves from one to the
    next within a frame or two, and noise lies over it.
    """
    random = numpy.random.default_rng(seed)
    phones = numpy.stack([_phone_per_frame(steps, random) for _ in range(sequences)])
    bands = numpy.arange(_BANDS)
    peaks = numpy.array([(phone % 4 * 1.5, 5.0 + phone // 2 * 1.8) for phone in range(PHONES)])
    shapes = numpy.exp(-0.5 * ((bands - peaks[..., None]) / 1.2) ** 2).sum(axis=1)
    frames = shapes[phones]
    frames[:, 1:] = 0.7 * shapes[phones[:, 1:]] + 0.3 * shapes[phones[:, :-1]]
    frames += 0.25 * random.standard_normal(frames.shape)
    return frames.astype(numpy.float32), phones


def voice(sequences: int, steps: int, seed: int) -> tuple[Array, Array]:
    """Phones and how far each is [sequences, steps, 9], and frames of speech [sequences, steps, 4 * 49], float32.

    A phone has amplitudes, aperiodicities and voicing of its own, into which a frame passes over from the one before;
    F0 is about 150 Hz and falls towards the end.
    """
    random, table = numpy.random.default_rng(seed), numpy.random.default_rng(0).standard_normal((PHONES, _FRAME))
    table[:, :_AMPLITUDES] *= _LOUD
    table[:, _LOG_F0] = 5.0 + 0.05 * table[:, _LOG_F0]
    table[:, _VOICING] = numpy.where(numpy.arange(PHONES) % 4 == 3, -1.0, 1.0)
    phones = numpy.stack([_phone_per_frame(steps, random) for _ in range(sequences)])
    given = numpy.concatenate([numpy.eye(PHONES)[phones], _how_far(phones)], axis=2)
    frames = numpy.repeat(table[phones], _FRAMES, axis=1)
    for place in range(1, frames.shape[1]):
        frames[:, place] = 0.5 * frames[:, place] + 0.5 * frames[:, place - 1]
    frames[:, :, _LOG_F0] -= 0.1 * numpy.arange(frames.shape[1]) / frames.shape[1]
    return given.astype(numpy.float32), frames.reshape(sequences, steps, -1).astype(numpy.float32)


def _how_far(phones: Array) -> Array:
    """How many frames of a phone are gone, in tenths [sequences, steps, 1]."""
    gone = numpy.zeros(phones.shape)
    for place in range(1, phones.shape[1]):
        gone[:, place] = numpy.where(phones[:, place] == phones[:, place - 1], gone[:, place - 1] + 0.1, 0.0)
    return gone[..., None]


def _phone_per_frame(steps: int, random: numpy.random.Generator) -> Array:
    phones: list[int] = []
    while len(phones) < steps:
        phone = int(random.integers(0, PHONES))
        if phones and phone == phones[-1]:
            continue
        phones += [phone] * int(random.integers(3, 8, endpoint=True))
    return numpy.array(phones[:steps])


@functools.cache
def denoiser() -> Vector:
    """An LSTM of 48 units and a linear layer; HAL 1.0."""
    noisy, clean = waves(24, 64, seed=3)
    return _fitted("denoiser_lstm", 48, 5, noisy, clean, softmax=False)


@functools.cache
def phones() -> Vector:
    """An LSTM of 64 units, a linear layer and a softmax; HAL 1.0."""
    frames, labels = speech(40, 48, seed=4)
    return _fitted("phones_lstm", 64, 6, frames, 8.0 * numpy.eye(PHONES)[labels], softmax=True)


@functools.cache
def talker() -> Vector:
    """An LSTM of 64 units and a linear layer; HAL 1.0."""
    given, frames = voice(40, 48, seed=5)
    return _fitted("voice_lstm", 64, 7, given, frames, softmax=False)


def over_time(vector: Vector, frames: Array) -> dict[str, Array]:
    """The outputs of a model at every step of sequences [sequences, steps, ...], the states of which begin at 0."""
    sizes = {given: vector.operands[given].dimensions[1:] for given in STATES}
    states = {given: numpy.zeros((len(frames), *size), numpy.float32) for given, size in sizes.items()}
    found = []
    for place in range(frames.shape[1]):
        outputs = evaluate(vector, {INPUT: frames[:, place], **states})
        states = {given: outputs[result] for given, result in zip(STATES, vector.outputs, strict=False)}
        found.append(outputs)
    return {name: numpy.stack([step[name] for step in found], axis=1) for name in vector.outputs}


def _fitted(name: str, units: int, seed: int, frames: Array, targets: Array, *, softmax: bool) -> Vector:
    """A model whose last layer is fitted to targets [sequences, steps, outputs]."""
    weights = _weights(frames.shape[2], units, seed)
    bare = _model(f"{name}_states", weights, None, softmax=False)
    states = over_time(bare, frames)[bare.outputs[0]].reshape(-1, units).astype(numpy.float64)
    readout = least_squares(states, targets.reshape(len(states), -1), 1e-6)
    return _model(name, weights, readout, softmax=softmax)


def _weights(size: int, units: int, seed: int) -> dict[str, Array]:
    """Random weights, at which a cell forgets within some ten steps; of the biases only that of forgetting is not 0."""
    random = numpy.random.default_rng(seed)
    weights = {f"input_to_{gate}": random.standard_normal((units, size)) * 0.5 / size**0.5 for gate in _GATES}
    weights |= {f"recurrent_to_{gate}": random.standard_normal((units, units)) * 0.5 / units**0.5 for gate in _GATES}
    weights |= {f"{gate}_bias": numpy.zeros(units) for gate in _GATES}
    weights["forget_bias"] += numpy.linspace(-3.0, 1.5, units)
    return {name: on_grid(values) for name, values in weights.items()}


def _model(name: str, weights: Mapping[str, Array], readout: tuple[Array, Array] | None, *, softmax: bool) -> Vector:
    builder = ModelBuilder(Version.V1_0)
    units, size = weights["input_to_cell"].shape
    for state, width in ((INPUT, size), *((state, units) for state in STATES)):
        builder.input(_tensor((1, width)), numpy.zeros((1, width), numpy.float32), state)
    *outputs, layer = _cell(builder, weights)
    if readout is not None:
        kernel, bias = (_constant(builder, on_grid(values)) for values in readout)
        outputs += builder.apply("FULLY_CONNECTED", [layer, kernel, bias, _integer(builder, _NONE)], [_tensor()])
    if softmax:
        outputs[2:] = builder.apply("SOFTMAX", [outputs[2], _real(builder, 1.0)], [_tensor()])
    return builder.vector(name, "LSTM", outputs)


def _cell(builder: ModelBuilder, weights: Mapping[str, Array]) -> list[str]:
    """Add LSTM without peepholes, projection and clips; returns the names of its next states and of its output."""
    given = {name: _constant(builder, values) for name, values in weights.items()}
    peepholes, projection = ([_left_out(builder) for _ in range(count)] for count in (3, 2))
    kernels = [given[f"{kind}_to_{gate}"] for kind in ("input", "recurrent") for gate in _GATES]
    biases = [given[f"{gate}_bias"] for gate in _GATES]
    clips = [_real(builder, 0.0) for _ in range(2)]
    arguments = [INPUT, *kernels, *peepholes, *biases, *projection, *STATES, _integer(builder, _TANH), *clips]
    _, hidden, cell, output = builder.apply("LSTM", arguments, [_tensor()] * 4)
    return [hidden, cell, output]


def _tensor(shape: tuple[int, ...] = ()) -> VectorOperand:
    return VectorOperand(OperandType.TENSOR_FLOAT32, shape)


def _left_out(builder: ModelBuilder) -> str:
    return builder.omitted(_tensor((0,)))


def _constant(builder: ModelBuilder, values: Array) -> str:
    return builder.constant(_tensor(values.shape), values)


def _integer(builder: ModelBuilder, value: int) -> str:
    return builder.constant(VectorOperand(OperandType.INT32), numpy.array(value, numpy.int32))


def _real(builder: ModelBuilder, value: float) -> str:
    return builder.constant(VectorOperand(OperandType.FLOAT32), numpy.array(value, numpy.float32))
