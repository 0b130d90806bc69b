"""From a .tflite file to a model of NN HAL, as a vector without examples."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from pathlib import Path

from msgspec import structs

from npu_conformance.corpus.importers.tflite import contents
from npu_conformance.corpus.importers.tflite.contents import Tensor
from npu_conformance.corpus.importers.tflite.errors import TfliteError, UnsupportedModelError
from npu_conformance.corpus.importers.tflite.translating import as_outputs, translate
from npu_conformance.corpus.importers.tflite.translation import Translation
from npu_conformance.corpus.importers.tflite.variables import State
from npu_conformance.corpus.vectors import Vector
from npu_conformance.corpus.wire_model import build_model
from npu_conformance.specs.neuralnetworks.minimal_version import minimal_version
from npu_conformance.specs.versions import HIDL_LAST

_MOST_BYTES = 2**31 - 1
"""The largest flatbuffer that there can be."""


@dataclass(frozen=True, slots=True)
class Port:
    """An input or output of the model proper. name, shape, type, scale, zero_point: as in the file; scale 0 for none.

    operand: of the vector. It has shape [1] where the file has a tensor of rank 0.
    """

    name: str
    operand: str
    shape: tuple[int, ...]
    type: str
    scale: float
    zero_point: int


@dataclass(frozen=True, slots=True, eq=False)
class TfliteModel:
    """A model from a file. vector: without examples; its inputs are those of the file, then one for each state.

    states: what the model keeps between two runs. A caller gives each its initial value in the first run, and in each
    later one what the run before gave as its output.
    """

    vector: Vector
    inputs: tuple[Port, ...]
    outputs: tuple[Port, ...]
    states: tuple[State, ...]


def read(path: Path) -> TfliteModel:
    """Read and translate a file.

    Raises TfliteError where it cannot be read or is broken, UnsupportedModelError with a line for each operator that
    NN HAL 1.3 and below cannot express.
    """
    return import_model(content(path), str(path), path.stem)


def content(path: Path) -> bytes:
    """The bytes of a file. Raises TfliteError where it cannot be read."""
    try:
        if not path.is_file():
            raise TfliteError(str(path), "", "there is no such file")
        if path.stat().st_size > _MOST_BYTES:
            raise TfliteError(str(path), "", "no flatbuffer is larger than 2 GiB")
        return path.read_bytes()
    except OSError as error:
        raise TfliteError(str(path), "", f"cannot be read: {error.strerror}") from None


def import_model(data: bytes, document: str, name: str = "model") -> TfliteModel:
    """Translate the bytes of a file; `document` stands for it in messages. Raises as `read`."""
    found = contents.parse(data, document)
    translation = translate(found)
    outputs, ends = as_outputs(translation)
    if translation.problems:
        raise UnsupportedModelError(document, translation.problems)
    vector = _vector(translation, re.sub(r"\W+", "_", name) or "model", [*outputs, *ends])
    subgraph = translation.subgraph
    states = translation.variables.ends()
    return TfliteModel(
        vector,
        tuple(_port(subgraph.tensors[i], translation.name(subgraph.tensors[i])) for i in subgraph.inputs),
        tuple(_port(subgraph.tensors[i], operand) for i, operand in zip(subgraph.outputs, outputs, strict=True)),
        tuple(replace(state, output=operand) for state, operand in zip(states, ends, strict=True)),
    )


def _vector(translation: Translation, name: str, outputs: list[str]) -> Vector:
    document, builder = translation.contents.document, translation.builder
    if not outputs:
        raise TfliteError(document, "subgraphs[0]", "the model has no outputs")
    vector = builder.vector(name, "", list(dict.fromkeys(outputs)), HIDL_LAST)
    try:
        since = minimal_version(build_model(vector, HIDL_LAST).model)
    except ValueError as error:
        raise UnsupportedModelError(document, [str(error)]) from None
    return structs.replace(vector, operation=vector.operations[-1].type, since=since)


def _port(tensor: Tensor, operand: str) -> Port:
    scale, zero_point = (*tensor.scales, 0.0)[0], (*tensor.zero_points, 0)[0]
    return Port(tensor.name, operand, tensor.shape, tensor.type, scale, zero_point)
