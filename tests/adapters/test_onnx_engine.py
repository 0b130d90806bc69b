"""The ONNX reference evaluator as a driver, and each place where its lowering makes up for a difference."""

from __future__ import annotations

import subprocess
import sys

import pytest
from msgspec.structs import replace
from patience import SECONDS

from npu_conformance.adapters.onnx import plugin
from npu_conformance.adapters.onnx_lowering.graph import INSTALL_HINT
from npu_conformance.adapters.onnx_lowering.operations import LOWERINGS
from npu_conformance.corpus import vectors, witnesses
from npu_conformance.corpus.wire_model import build_model
from npu_conformance.specs.neuralnetworks.enums import OperationType

needs_onnx = pytest.mark.skipif(
    subprocess.run([sys.executable, "-c", "import onnx"], capture_output=True).returncode != 0, reason=INSTALL_HINT
)


@needs_onnx
@pytest.mark.parametrize(
    ("operation", "name"),
    [
        ("ELU", "float32_alpha_minus_half"),
        ("L2_NORMALIZATION", "quant8_zeros"),
        ("LOCAL_RESPONSE_NORMALIZATION", "float32_borders"),
        ("MAX_POOL_2D", "float32_wide_uneven_stride1x1_relu1"),
        ("TRANSPOSE_CONV_2D", "float32_wide_same_stride1x1_nhwc"),
        ("DEQUANTIZE", "per_channel_to_float32_dimension_2"),
        ("HASHTABLE_LOOKUP", "float32_rank2"),
        ("REDUCE_ALL", "bool8_rank1_dropped"),
    ],
)
def test_onnx_agrees_where_the_lowering_has_to_help(operation: str, name: str) -> None:
    from npu_conformance.adapters.engine_witness import onnx

    assert witnesses.testify(vectors.load(operation, name), "onnx", onnx).agrees


@needs_onnx
@pytest.mark.parametrize("operation", [name for name in vectors.operations() if OperationType[name] in LOWERINGS])
def test_every_lowering_is_a_model_that_onnx_checks_and_runs(operation: str) -> None:
    from npu_conformance.adapters.engine_witness import onnx

    first = next(header.name for header in vectors.headers(operation) if not header.rejected)
    assert witnesses.testify(vectors.load(operation, first), "onnx", onnx).agrees


@needs_onnx
def test_a_pad_value_that_the_type_cannot_hold_ends_in_no_exception() -> None:
    from npu_conformance.adapters.engine_support import obstacles
    from npu_conformance.adapters.onnx_engine import OnnxEngine

    vector = vectors.load("PAD_V2", "quant8_signed_rank1")
    model = build_model(vector, vector.since).model
    fill = model.main.operands[model.main.operations[0].inputs[2]].location
    values = bytearray(model.operand_values)
    values[fill.offset : fill.offset + fill.length] = (1024).to_bytes(fill.length, "little")
    model = replace(model, operand_values=bytes(values))
    assert obstacles(model, vector.since, (), OnnxEngine()) == [None]


@needs_onnx
@pytest.mark.parametrize(("operation", "name"), [("IF", "float32_condition_0"), ("WHILE", "int32_4_rounds")])
def test_onnx_is_not_asked_about_control_flow(operation: str, name: str) -> None:
    from npu_conformance.adapters.engine_support import obstacles
    from npu_conformance.adapters.engine_witness import onnx
    from npu_conformance.adapters.onnx_engine import OnnxEngine

    vector = vectors.load(operation, name)
    model = build_model(vector, vector.since).model
    assert obstacles(model, vector.since, (), OnnxEngine()) == [f"operation {OperationType[operation]} is not lowered"]
    assert onnx(vector, vector.examples[0]) is None


def test_onnx_is_imported_late_and_missed_clearly() -> None:
    code = (
        "import sys; sys.modules['onnx'] = None\n"
        "from npu_conformance.adapters.onnx import plugin\n"
        "from npu_conformance.harness.subject.plugin_loading import LoadError\n"
        "try: plugin.describe({})\n"
        "except LoadError as error: print(error)\n"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=SECONDS, check=True)
    assert result.stdout.strip() == INSTALL_HINT


@needs_onnx
def test_the_manifest_names_the_engine() -> None:
    assert plugin.describe({}).name == "onnx"
