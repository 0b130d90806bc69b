"""Models shown to people, and what they cost by a device's capabilities."""

from __future__ import annotations

import shutil
import subprocess

import pytest
from msgspec.structs import replace

from npu_conformance.cli.main import main
from npu_conformance.corpus import vectors
from npu_conformance.corpus.wire_model import build_model
from npu_conformance.reference.hal.capabilities import capabilities
from npu_conformance.specs.neuralnetworks import model_text, performance
from npu_conformance.specs.neuralnetworks.enums import OperandType
from npu_conformance.specs.neuralnetworks.types import (
    Capabilities,
    Model,
    Operand,
    OperandPerformance,
    Operation,
    PerformanceInfo,
    Subgraph,
)
from npu_conformance.specs.versions import Version

FAST, SLOW = PerformanceInfo(0.5, 0.25), PerformanceInfo(2.0, 4.0)


def model(operation: str, name: str) -> Model:
    return build_model(vectors.load(operation, name), Version.FL8).model


def test_the_text_of_a_model_shows_all_that_matters() -> None:
    assert model_text.text(model("SOFTMAX", "quant8_rank1_beta3_0")).splitlines() == [
        "model of 1 graph and 0 pools",
        "main:",
        "  input %0: TENSOR_QUANT8_ASYMM[5] scale 0.00666667 zero point 100",
        "  output %2: TENSOR_QUANT8_ASYMM[5] scale 0.00390625 zero point 0",
        "  constant %1: FLOAT32 = 3",
        "  0: %2 = SOFTMAX(%0, %1)",
    ]


def test_control_flow_names_its_graphs_and_long_constants_are_cut() -> None:
    text = model_text.text(model("IF", "no_inputs_then"))
    assert "= IF(%0, referenced 0, referenced 1)" in text
    assert "referenced 1:\n" in text
    weights = model_text.text(model("CONV_2D", "float32_first_layer"))
    assert ", ... (" in weights


def test_broken_models_are_shown_too() -> None:
    odd = Operand(0x10005, (2,))
    broken = Model(
        Subgraph((odd, Operand(OperandType.TENSOR_FLOAT32)), (Operation(0x20001, (0, 7), (1,)),), (9,), (1,))
    )
    text = model_text.text(broken)
    assert "input %9: no such operand" in text
    assert "output %1: TENSOR_FLOAT32[unknown rank]" in text
    assert "0: %1 = extension 0x20001(%0, %7)" in text
    assert "extension 0x10005[2]" in model_text.dot(broken)


def test_graphviz_takes_the_graph() -> None:
    text = model_text.dot(model("IF", "nested_then_else"))
    assert text.count("subgraph cluster_") == 5
    assert text.count("{") == text.count("}")
    program = shutil.which("dot")
    if program is not None:
        subprocess.run([program, "-Tsvg"], input=text, text=True, capture_output=True, check=True)


def test_the_command_shows_a_vector_in_three_ways(capsys: pytest.CaptureFixture[str]) -> None:
    for form, expected in (("text", "0: %3 = ADD(%0, %1, %2)"), ("dot", 'label="ADD"'), ("json", '"name": "float')):
        assert main(["vectors", "show", "ADD.float32_none_same", "--as", form]) == 0
        assert expected in capsys.readouterr().out


def test_performance_is_found_in_either_form_of_capabilities() -> None:
    old = Capabilities(float32_performance=FAST, quantized8_performance=SLOW)
    assert performance.of_type(old, OperandType.TENSOR_QUANT8_ASYMM) == SLOW
    assert performance.of_type(old, OperandType.TENSOR_INT32) == FAST
    assert performance.of_type(old, OperandType.TENSOR_FLOAT32, relaxed=True) == performance.UNKNOWN
    newer = Capabilities(
        operand_performance=(OperandPerformance(OperandType.TENSOR_FLOAT32, SLOW),),
        relaxed_float32_to_float16_performance_tensor=FAST,
        relaxed_float32_to_float16_performance_scalar=SLOW,
    )
    assert performance.of_type(newer, OperandType.TENSOR_FLOAT32) == SLOW
    assert performance.of_type(newer, OperandType.TENSOR_FLOAT32, relaxed=True) == FAST
    assert performance.of_type(newer, OperandType.FLOAT32, relaxed=True) == SLOW
    assert performance.of_type(newer, OperandType.TENSOR_INT32) == performance.UNKNOWN


def test_a_model_costs_the_sum_of_its_operations() -> None:
    known = replace(
        capabilities(Version.FL8),
        operand_performance=(OperandPerformance(OperandType.TENSOR_FLOAT32, SLOW),),
        if_performance=FAST,
    )
    assert performance.cost(known, model("ADD", "float32_none_same")) == 2.0
    assert performance.cost(known, model("ADD", "float32_none_same"), power=True) == 4.0
    # IF itself, and the mean of ADD and MUL on one side, of ADD alone on the other.
    assert performance.cost(known, model("IF", "two_outputs_then")) == 0.5 + (4.0 + 4.0) / 2
