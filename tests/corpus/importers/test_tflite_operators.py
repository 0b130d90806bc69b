"""Each builtin operator, imported and run on the reference, gives what LiteRT's own reference kernels give."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

pytest.importorskip("ai_edge_litert", exc_type=ImportError, reason="LiteRT is not installed")

import tflite_runs
from tflite_cases import CASES, STATEFUL, Make
from tflite_cases.common import F2, weights
from tflite_files import File

from npu_conformance.corpus.importers.tflite.importing import TfliteModel, import_model
from npu_conformance.corpus.importers.tflite.operators.table import OPERATORS
from npu_conformance.specs.versions import Version

INT8_STEPS, REAL_ERROR = 1, 2e-6
"""How far results may lie apart: rounding of one operator, and of float32."""


OPTIMIZED = {"ELU", "LOCAL_RESPONSE_NORMALIZATION", "SUM.int8_gone"}
"""What LiteRT's reference kernels have not, of which they leave out a neighbour, or whose sums they cut off."""


def both(
    make: Make, runs: int = 1, kernels: str = "BUILTIN_REF"
) -> tuple[TfliteModel, list[list[Any]], list[list[Any]]]:
    file = File()
    outputs = make(file.main)
    flatbuffer = file.pack(*([outputs] if isinstance(outputs, int) else outputs))
    model = import_model(flatbuffer, "made.tflite")
    generator = np.random.default_rng(3)
    given = [tflite_runs.random_inputs(model, generator) for _ in range(runs)]
    return model, tflite_runs.on_reference(model, given), tflite_runs.in_litert(flatbuffer, given, kernels)


def check_equal(found: list[list[Any]], expected: list[list[Any]]) -> None:
    for one, other in zip(found, expected, strict=True):
        for value, wanted in zip(one, other, strict=True):
            assert (value.dtype, value.shape) == (wanted.dtype, wanted.shape)
            if wanted.dtype.kind == "f":
                np.testing.assert_allclose(value, wanted, rtol=REAL_ERROR, atol=REAL_ERROR)
            else:
                difference = np.abs(value.astype(np.int64) - wanted.astype(np.int64))
                assert difference.max() <= (INT8_STEPS if wanted.dtype.itemsize == 1 and wanted.dtype != bool else 0)
            assert np.unique(wanted).size > 1 or wanted.size == 1, "an output that says nothing"


@pytest.mark.parametrize("name", CASES)
def test_an_imported_operator_computes_what_litert_does(name: str) -> None:
    kernels = "BUILTIN_WITHOUT_DEFAULT_DELEGATES" if name in OPTIMIZED else "BUILTIN_REF"
    _, found, expected = both(CASES[name], kernels=kernels)
    check_equal(found, expected)


@pytest.mark.parametrize("name", STATEFUL)
def test_a_variable_tensor_goes_from_run_to_run(name: str) -> None:
    """Three runs: what the state of the first is not handed to the second shows in its result."""
    model, found, expected = both(STATEFUL[name], runs=3)
    check_equal(found, expected)
    generator = np.random.default_rng(3)
    given = [tflite_runs.random_inputs(model, generator) for _ in range(3)]
    assert not np.allclose(tflite_runs.on_reference(model, given[1:2])[0][0], expected[1][0])


def test_a_fused_tanh_is_an_operation_by_itself() -> None:
    """LiteRT's reference kernels refuse it, so the formula is the witness."""
    file = File()
    graph = file.main
    given = [graph.input(*F2), graph.constant("FLOAT32", weights(3, 4))]
    flatbuffer = file.pack(graph.operator("MUL", given, F2, "Mul", fusedActivationFunction=4))
    model = import_model(flatbuffer, "made.tflite")
    assert [operation.type for operation in model.vector.operations] == ["MUL", "TANH"]
    value = weights(3, 4, seed=1)
    ((found,),) = tflite_runs.on_reference(model, [[value]])
    np.testing.assert_allclose(found, np.tanh(value * weights(3, 4)), rtol=1e-5)


def test_an_activation_that_nnapi_does_not_fuse_is_an_operation_by_itself() -> None:
    file = File()
    graph = file.main
    given = [graph.input(*F2), graph.input(*F2)]
    fused = graph.operator("CONCATENATION", given, ("FLOAT32", (6, 4)), "Concatenation", fusedActivationFunction=1)
    model = import_model(file.pack(fused), "made.tflite")
    assert [operation.type for operation in model.vector.operations] == ["CONCATENATION", "RELU"]
    values = [weights(3, 4, seed=seed) for seed in (1, 2)]
    ((found,),) = tflite_runs.on_reference(model, [values])
    np.testing.assert_array_equal(found, np.maximum(np.concatenate(values), 0))


def test_every_operator_has_a_case() -> None:
    """Those of resource variables are in test_tflite_variables."""
    tested = {name.partition(".")[0] for name in (*CASES, *STATEFUL)}
    assert set(OPERATORS) - tested == {"VAR_HANDLE", "READ_VARIABLE", "ASSIGN_VARIABLE"}


@pytest.mark.parametrize(
    ("name", "since"),
    [("CONV_2D", Version.V1_0), ("CONV_2D.dilated", Version.V1_2), ("CONV_2D.int8_per_channel", Version.V1_3),
     ("MEAN.float32_kept", Version.V1_1), ("RESIZE_BILINEAR.half", Version.V1_3)],
)  # fmt: skip
def test_a_model_is_for_the_oldest_version_that_has_it(name: str, since: Version) -> None:
    model, _, _ = both(CASES[name])
    assert model.vector.since is since
