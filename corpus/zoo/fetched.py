"""Models from .tflite files in the cache, with inputs from data sets, or random ones. They have no labels: engines are
compared.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy

from npu_conformance.corpus.zoo import cache, data, manifest
from npu_conformance.corpus.zoo.own.evaluation import as_stored
from npu_conformance.corpus.zoo.types import Samples, State, ZooModel
from npu_conformance.specs.documents.zoo import ZooEntry
from npu_conformance.specs.neuralnetworks.operand_types import OPERAND_TYPES

if TYPE_CHECKING:
    from npu_conformance.corpus.importers.tflite.importing import TfliteModel
    from npu_conformance.corpus.vector_types import Array, VectorOperand

_STEPS = 32
"""Items of a sequence of a model with states."""


def load(entry: ZooEntry) -> ZooModel:
    """A fetched model, or one that was added. Raises NotFetched without its file, and as the importer does."""
    from npu_conformance.corpus.importers.tflite import importing

    if entry.file is None:
        raise ValueError(f"{entry.name} is made at run time")
    cache.content(entry.name, entry.name, entry.file)
    model = importing.read(cache.place(entry.name, entry.file))
    states = tuple(State(state.input, state.output, state.initial) for state in model.states)
    return ZooModel(entry, model.vector, states, partial(_samples, entry, model))


def _samples(entry: ZooEntry, model: TfliteModel, count: int, seed: int) -> Samples:
    """The inputs proper of a model, each of the same kind of data. Those that are fetched have one."""
    steps = _STEPS if model.states else 1
    operands = [(port.operand, model.vector.operands[port.operand]) for port in model.inputs]
    inputs = {
        name: _stored(entry, operand, _shares(entry, operand.dimensions, count, steps, seed + number))
        for number, (name, operand) in enumerate(operands)
    }
    return Samples(inputs, sequence_length=steps)


def _stored(entry: ZooEntry, operand: VectorOperand, shares: Array) -> Array:
    """The elements of an input. shares: where they lie in the range of the model's inputs, 0..1."""
    reals = entry.inputs.low + shares * (entry.inputs.high - entry.inputs.low)
    return truncated(operand, reals) if entry.inputs.preprocessing == "picture" else as_stored(operand, reals)


def truncated(operand: VectorOperand, reals: Array) -> Array:
    """Stored elements as MLTS makes them of a picture: quantised ones are cut off, not rounded."""
    if not OPERAND_TYPES[operand.type].is_quantized:
        return as_stored(operand, reals)
    dtype = OPERAND_TYPES[operand.type].dtype
    limits = numpy.iinfo(dtype)
    # Beyond MLTS: its cast wraps where the range of the type is left.
    steps = numpy.trunc(reals / operand.scale + operand.zero_point)
    return numpy.clip(steps, limits.min, limits.max).astype(dtype)


def _shares(entry: ZooEntry, shape: tuple[int, ...], count: int, steps: int, seed: int) -> Array:
    """Where the inputs lie in their range, 0..1 [count * steps, *shape]."""
    chosen = manifest.data_of(entry)
    if chosen is None:
        return numpy.random.default_rng(seed).uniform(0.0, 1.0, (count * steps, *shape))
    files = [cache.content(entry.name, str(entry.inputs.data), file) for file in chosen.files]
    if entry.inputs.preprocessing == "picture":
        return data.pictures(files, shape, count, seed).reshape(count, *shape)
    return data.spectra(files[0], shape, count, steps, seed)
