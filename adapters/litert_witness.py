"""LiteRT as a witness of stored vectors: what its reference kernels make of a vector's examples.

npu-conformance vectors witness --engine npu_conformance.adapters.litert_witness:witness
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy.typing as npt

from npu_conformance.adapters.litert_executor import LiteRtExecutor
from npu_conformance.reference.device.executor import UNLIMITED
from npu_conformance.specs.errors import ServiceError
from npu_conformance.specs.neuralnetworks.build import build_model
from npu_conformance.specs.vectors import Example, Vector

Array = npt.NDArray[Any]

KERNELS = "reference"


def witness(vector: Vector, example: Example) -> Mapping[str, Array] | None:
    """The outputs of an example by operand name, or null where LiteRT can not be asked.

    It can not where the vector must be refused, has several graphs, or LiteRT or the lowering refuses it. The arrays
    have the stored type of their operand and the shape LiteRT found. Raises LiteRtMissingError without LiteRT.
    """
    if vector.rejected is not None or vector.referenced or vector.kind not in ("general", "multinomial"):
        return None
    inputs = [example.inputs.get(name) for name in vector.inputs]
    try:
        executor = LiteRtExecutor(build_model(vector, vector.since).model, vector.since, (), KERNELS)
        outputs = executor.run(inputs, UNLIMITED)
    except ServiceError:
        return None
    return dict(zip(vector.outputs, outputs, strict=True))
