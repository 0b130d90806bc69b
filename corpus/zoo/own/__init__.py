"""The project's own models: made at run time in less than a second, always the same, with labels and golden outputs."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

import numpy
from msgspec.structs import replace

from npu_conformance.corpus.vector_types import Example
from npu_conformance.corpus.zoo.own import digits, networks, recurrent
from npu_conformance.corpus.zoo.own.evaluation import as_stored, evaluate
from npu_conformance.corpus.zoo.own.quantizing import SIGNED, UNSIGNED
from npu_conformance.corpus.zoo.types import Samples, State, ZooModel
from npu_conformance.specs.documents.zoo import ZooEntry

if TYPE_CHECKING:
    from npu_conformance.corpus.vector_types import Vector

_HELD_OUT = 1000
"""Added to the seed of samples, so that none is one that a model was fitted to."""
_STEPS = 48
"""Items of a sequence."""

_VECTORS: dict[str, Callable[[], Vector]] = {
    "digits_conv": networks.convolutional,
    "digits_conv_int8": partial(networks.twin, "digits_conv", SIGNED),
    "digits_conv_uint8": partial(networks.twin, "digits_conv", UNSIGNED),
    "digits_separable": networks.separable,
    "digits_separable_int8": partial(networks.twin, "digits_separable", SIGNED),
    "digits_separable_uint8": partial(networks.twin, "digits_separable", UNSIGNED),
    "denoiser_lstm": recurrent.denoiser,
    "phones_lstm": recurrent.phones,
    "voice_lstm": recurrent.talker,
}
_MAKERS = {"denoiser_lstm": recurrent.waves, "phones_lstm": recurrent.speech, "voice_lstm": recurrent.voice}
"""What makes the inputs of a recurrent model, and what its last output ought to be."""


def names() -> tuple[str, ...]:
    """Names of the project's own models."""
    return tuple(_VECTORS)


def load(entry: ZooEntry) -> ZooModel:
    """One of the project's own models; KeyError where none is called so. The vector's example is the first sample."""
    bare = _VECTORS[entry.name]()
    states = _states(bare)
    make_samples = partial(_sequences if states else _pictures, bare)
    return ZooModel(entry, _with_example(bare, states, make_samples(1, 0)), states, make_samples)


def _states(vector: Vector) -> tuple[State, ...]:
    inputs = [name for name in recurrent.STATES if name in vector.inputs]
    return tuple(
        State(name, output, numpy.zeros(vector.operands[name].dimensions, numpy.float32))
        for name, output in zip(inputs, vector.outputs, strict=False)
    )


def _with_example(vector: Vector, states: tuple[State, ...], samples: Samples) -> Vector:
    inputs = {name: array[0] for name, array in samples.inputs.items()}
    inputs |= {state.input: state.initial for state in states}
    outputs = {name: array[0] for name, array in (samples.goldens or {}).items()}
    return replace(vector, examples=(Example({name: inputs[name] for name in vector.inputs}, outputs),))


def _pictures(vector: Vector, count: int, seed: int) -> Samples:
    pictures, labels = digits.pictures(count, _HELD_OUT + seed)
    stored = as_stored(vector.operands[networks.INPUT], pictures)
    goldens = evaluate(vector, {networks.INPUT: stored})
    return Samples(
        {networks.INPUT: stored[:, None]},
        labels=labels,
        goldens={name: array[:, None] for name, array in goldens.items()},
    )


def _sequences(vector: Vector, count: int, seed: int) -> Samples:
    has_classes = vector.name == "phones_lstm"
    frames, wanted = _MAKERS[vector.name](count, _STEPS, _HELD_OUT + seed)
    items = count * _STEPS
    goldens = {name: array.reshape(items, 1, -1) for name, array in recurrent.over_time(vector, frames).items()}
    return Samples(
        {recurrent.INPUT: frames.reshape(items, 1, -1)},
        sequence_length=_STEPS,
        labels=wanted.reshape(items) if has_classes else None,
        targets=None if has_classes else {vector.outputs[-1]: wanted.reshape(items, 1, -1)},
        goldens=goldens,
    )
