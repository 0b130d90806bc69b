"""Real engines as witnesses of stored vectors: what each makes of a vector's examples.

npu-conformance vectors witness --engine litert --engine tflm --engine onnx
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy.typing as npt

from npu_conformance.adapters.engine_executor import EngineExecutor
from npu_conformance.adapters.engine_interface import Engine
from npu_conformance.adapters.litert_engine import LiteRtEngine
from npu_conformance.adapters.onnx_engine import OnnxEngine
from npu_conformance.adapters.tflm_engine import TflmEngine
from npu_conformance.corpus.vectors import Example, Vector
from npu_conformance.corpus.wire_model import build_model
from npu_conformance.reference.device.executor import UNLIMITED
from npu_conformance.specs.errors import ServiceError

Array = npt.NDArray[Any]


def litert(vector: Vector, example: Example) -> Mapping[str, Array] | None:
    """What LiteRT's reference kernels make of an example. See `testimony`."""
    return testimony(LiteRtEngine("reference"), vector, example)


def tflm(vector: Vector, example: Example) -> Mapping[str, Array] | None:
    """What TFLM makes of an example. See `testimony`."""
    return testimony(TflmEngine(), vector, example)


def onnx(vector: Vector, example: Example) -> Mapping[str, Array] | None:
    """What the ONNX reference evaluator makes of an example. See `testimony`."""
    return testimony(OnnxEngine(), vector, example)


def testimony(engine: Engine, vector: Vector, example: Example) -> Mapping[str, Array] | None:
    """The outputs of an example by operand name, or None where the engine cannot be asked.

    It cannot where the vector must be refused, or the engine or its lowering refuses it. The arrays have the stored
    type of their operand and the shape the engine found. Raises EngineMissingError.
    """
    if vector.rejected is not None or vector.kind not in ("general", "multinomial"):
        return None
    inputs = [example.inputs.get(name) for name in vector.inputs]
    try:
        executor = EngineExecutor(build_model(vector, vector.since).model, vector.since, (), engine)
        outputs = executor.run(inputs, UNLIMITED)
    except ServiceError:
        return None
    return dict(zip(vector.outputs, outputs, strict=True))
