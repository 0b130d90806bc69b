"""LiteRT as a witness of stored vectors: what its reference kernels make of a vector's examples."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy.typing as npt

from npu_conformance.adapters.litert_executor import LiteRtExecutor
from npu_conformance.specs.errors import ServiceError
from npu_conformance.specs.neuralnetworks.build import build_model
from npu_conformance.specs.vectors import Vector

Array = npt.NDArray[Any]

WITNESS = "litert"
"""The name under which a vector lists LiteRT as a witness."""

KERNELS = "reference"


def witness(vector: Vector) -> tuple[Mapping[str, Array], ...] | None:
    """For each example the outputs by operand name, or null where LiteRT can not be asked.

    It can not where the vector must be refused, has several graphs, or LiteRT or the lowering refuses it. The arrays
    have the stored type of their operand and the shape LiteRT found. Raises LiteRtMissingError without LiteRT.
    """
    if vector.rejected is not None or vector.referenced or vector.kind != "general":
        return None
    model = build_model(vector, vector.since).model
    try:
        executor = LiteRtExecutor(model, vector.since, (), KERNELS)
        return tuple(_run(executor, vector, example.inputs) for example in vector.examples)
    except ServiceError:
        return None


def _run(executor: LiteRtExecutor, vector: Vector, inputs: Mapping[str, Array]) -> Mapping[str, Array]:
    outputs = executor.run([inputs.get(name) for name in vector.inputs], checkpoint=lambda: None)
    return dict(zip(vector.outputs, outputs, strict=True))
