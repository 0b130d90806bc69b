"""TFLM as a driver: what it has is found by trying, the types it lacks are made up for, what kills it is refused."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
from patience import SECONDS

from npu_conformance.adapters.tflm import plugin
from npu_conformance.adapters.tflm_engine import INSTALL_HINT, TflmEngine
from npu_conformance.corpus import vectors, witnesses
from npu_conformance.corpus.vectors import Vector
from npu_conformance.specs.plugin import Caller, Context

needs_tflm = pytest.mark.skipif(
    subprocess.run([sys.executable, "-c", "import tflite_micro, ai_edge_litert"], capture_output=True).returncode != 0,
    reason=INSTALL_HINT,
)


class NoPools:
    """A client without memory pools."""

    def map(self, memory: object) -> memoryview:
        raise AssertionError("no pool is asked for")


def is_supported(operation: str, name: str) -> bool:
    """What the driver answers about a stored vector of one operation."""
    from npu_conformance.corpus.wire_model import build_model

    device = plugin.create(Context(NoPools(), lambda: Caller(uid=1, pid=1), {"hal": "1.3"})).device
    assert device is not None
    vector = vectors.load(operation, name)
    return all(device.get_supported_operations(build_model(vector, vector.since).model))


def said_of(vector: Vector) -> witnesses.Testimony:
    from npu_conformance.adapters.engine_witness import tflm

    return witnesses.testify(vector, "tflm", tflm)


@needs_tflm
@pytest.mark.parametrize(
    ("operation", "name"),
    [
        ("ADD", "float32_none_same"),
        ("ADD", "quant8_relu_row_zero_points"),
        ("ADD", "float16_none_row"),
        ("CONV_2D", "float32_wide_same_stride1x1"),
        ("PAD", "quant8_zero_point_0"),
        ("RNN", "float32_plain_none"),
        ("RESIZE_BILINEAR", "quant8_signed_taller_size"),
    ],
)
def test_tflm_agrees(operation: str, name: str) -> None:
    assert said_of(vectors.load(operation, name)).agrees
    assert is_supported(operation, name)


@needs_tflm
@pytest.mark.parametrize(
    ("operation", "name"),
    [
        ("PRELU", "float32_rank5"),
        ("TILE", "float32_rank1"),
        ("ADD", "float32_zero_sized"),
        ("SPACE_TO_BATCH_ND", "float32_heads"),
        ("ABS", "float32_open_size"),
        ("DETECTION_POSTPROCESSING", "float32_fast_by_hand"),
        ("IF", "float32_condition_0"),
        ("WHILE", "int32_4_rounds"),
    ],
)
def test_what_tflm_lacks_or_dies_of_is_not_supported(operation: str, name: str) -> None:
    assert not is_supported(operation, name)


@needs_tflm
def test_the_types_that_tflm_lacks_come_back_as_they_went() -> None:
    from npu_conformance.adapters import tflm_types
    from npu_conformance.specs.neuralnetworks.enums import OperandType
    from npu_conformance.specs.neuralnetworks.types import Operand

    every = np.arange(256, dtype=np.uint8)
    unsigned = Operand(OperandType.TENSOR_QUANT8_ASYMM, (256,), 0.5, 7)
    assert tflm_types.forward(unsigned, every).tolist() == list(range(-128, 128))
    assert tflm_types.backward(unsigned, tflm_types.forward(unsigned, every)).tolist() == every.tolist()
    half = Operand(OperandType.TENSOR_FLOAT16, (3,))
    assert tflm_types.backward(half, np.array([1.0, 1e6, -0.0], np.float32)).tolist() == [1.0, np.inf, 0.0]


@needs_tflm
def test_the_manifest_names_engine_and_version() -> None:
    manifest = plugin.describe({"hal": "1.2"})
    assert (manifest.name, manifest.version, manifest.hal_version.value) == ("tflm", TflmEngine().version(), "1.2")


def test_tflm_is_imported_late_and_missed_clearly() -> None:
    code = (
        "import sys; sys.modules['tflite_micro'] = None\n"
        "from npu_conformance.adapters.tflm import plugin\n"
        "from npu_conformance.harness.subject.plugin_loading import LoadError\n"
        "try: plugin.describe({})\n"
        "except LoadError as error: print(error)\n"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=SECONDS, check=True)
    assert result.stdout.strip() == INSTALL_HINT
