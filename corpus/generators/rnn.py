"""The generator of RNN."""

from typing import Any

from npu_conformance.corpus.generators._many_results import BEHIND_4096
from npu_conformance.corpus.generators._recurrent import (
    ACTIVATIONS,
    KINDS,
    Data,
    cell,
    constant_like,
    open_shape,
    rejections,
    wrong_activations,
)
from npu_conformance.corpus.generators.base import Vectors, positive
from npu_conformance.corpus.generators.data import dyadic
from npu_conformance.corpus.generators.operands import Operands, constant, int32, tensor
from npu_conformance.corpus.generators.types import FLOAT16, FLOAT32
from npu_conformance.corpus.pairwise import pairwise
from npu_conformance.corpus.vectors import Vector

OPERATION = "RNN"
SHAPES = {"plain": (2, 3, 4), "one_unit": (3, 4, 1), "one_batch": (1, 5, 3), "square": (2, 3, 3)}
"""Batch, input size, units."""


def operands(shape: tuple[int, int, int], data: Data, activation: int = 0) -> tuple[Operands, Operands]:
    """Inputs and outputs of the operation."""
    batch, size, units = shape
    inputs = {
        "input": data.input((batch, size), 1),
        **cell(data, size, units, 2),
        "hidden_state_in": data.input((batch, units), 5),
        "activation": int32(activation),
    }
    return inputs, {"hidden_state_out": data.output((batch, units)), "output": data.output((batch, units))}


def vectors() -> Vectors:
    """Pairwise: type, shape, activation; a case to follow by hand; saturation; open sizes; a usual size; rejections."""
    rows = pairwise({"kind": list(KINDS), "shape": list(SHAPES), "activation": list(ACTIVATIONS)})
    for seed, row in enumerate(rows):
        kind, shape, activation = row.values()
        yield _positive(f"{kind}_{shape}_{activation}", SHAPES[shape], Data(kind, seed), ACTIVATIONS[activation])
    yield _by_hand()
    for kind in KINDS:
        yield from _saturated(kind)
    for name in ("none", "tanh"):
        yield _positive(f"float32_all_bits_{name}", SHAPES["plain"], Data(seed=9, bits=True), ACTIVATIONS[name])
    yield from _open()
    yield _positive("float32_usual_size", (2, 96, 64), Data(seed=7, large=True), 3)
    yield _positive("float32_many_results", (4100, 1, 1), Data(seed=8, large=True), 1, description=BEHIND_4096)
    yield from _rejected()


def _positive(name: str, shape: tuple[int, int, int], data: Data, activation: int, **details: Any) -> Vector:
    inputs, outputs = operands(shape, data, activation)
    return positive(name, OPERATION, inputs, outputs, hazards=["recurrent-activation-codes"], **details)


def _by_hand() -> Vector:
    inputs = {
        "input": tensor(FLOAT32, (1, 2), [2.0, -1.0]),
        "weights": constant(FLOAT32, (2, 2), [0.5, 1.0, -1.0, 0.25]),
        "recurrent_weights": constant(FLOAT32, (2, 2), [0.25, -0.5, 2.0, 1.0]),
        "bias": constant(FLOAT32, (2,), [0.125, -0.5]),
        "hidden_state_in": tensor(FLOAT32, (1, 2), [3.0, 1.0]),
        "activation": int32(1),
    }
    outputs = {"hidden_state_out": tensor(FLOAT32, (1, 2)), "output": tensor(FLOAT32, (1, 2))}
    description = (
        "unit 0: (2*0.5 - 1*1) + (3*0.25 - 1*0.5) + 0.125 = 0.375; "
        "unit 1: (-2 - 0.25) + (3*2 + 1*1) - 0.5 = 4.25; RELU keeps both"
    )
    return positive("float32_by_hand", OPERATION, inputs, outputs, description=description)


def _saturated(kind: str) -> Vectors:
    """Sums far outside of what an activation lets through."""
    far = tensor(KINDS[kind], (3, 2), [40.0, -9.0, -40.0, 8.0, 0.5, 2.0])
    for name in ("relu", "relu6", "tanh", "sigmoid"):
        inputs, outputs = operands((3, 2, 2), Data(kind, 1), ACTIVATIONS[name])
        identity = constant(KINDS[kind], (2, 2), [1.0, 0.0, 0.0, 1.0])
        inputs |= {"input": far, "weights": identity}
        yield positive(f"{kind}_saturated_{name}", OPERATION, inputs, outputs, hazards=["recurrent-activation-codes"])


def _open() -> Vectors:
    inputs, outputs = operands(SHAPES["plain"], Data(seed=3), 1)
    for name, dimensions, since in (("sizes", (0, 0), "1.0"), ("rank", (), "1.2")):
        late = {key: open_shape(inputs[key], dimensions) for key in ("input", "hidden_state_in")}
        unknown = {key: tensor(FLOAT32, dimensions) for key in outputs}
        yield positive(f"float32_unknown_{name}", OPERATION, inputs | late, unknown, since=since)


def _rejected() -> Vectors:
    inputs, outputs = operands(SHAPES["plain"], Data(seed=4))
    deep = tensor(FLOAT32, (2, 3, 1), dyadic(1, (6,)))
    rows = {
        "input_rank_3": ("MODEL.P3R", {"input": deep}),
        "bias_rank_2": ("MODEL.P3R", {"bias": constant_like(inputs["bias"], (4, 1))}),
        "input_rank_3_at_execution": ("C1", {"input": open_shape(deep, ())}),
        "input_size": ("C2", {"input": tensor(FLOAT32, (2, 4), dyadic(1, (8,)))}),
        "weights_columns": ("C2", {"weights": constant_like(inputs["weights"], (4, 4))}),
        "recurrent_weights_rows": ("C3", {"recurrent_weights": constant_like(inputs["bias"], (3, 4))}),
        "recurrent_weights_columns": ("C3", {"recurrent_weights": constant_like(inputs["bias"], (4, 3))}),
        "weights_rows": ("C3", {"weights": constant_like(inputs["weights"], (5, 3)), "output": tensor(FLOAT32, (2, 5)),
                                "hidden_state_out": tensor(FLOAT32, (2, 5))}),
        "bias_too_long": ("C3", {"bias": constant_like(inputs["bias"], (5,))}),
        "state_of_other_units": ("C3", {"hidden_state_in": tensor(FLOAT32, (2, 3), dyadic(1, (6,)))}),
        "state_of_other_batch": ("C4", {"hidden_state_in": tensor(FLOAT32, (1, 4), dyadic(1, (4,)))}),
        **wrong_activations("C5"),
        "state_declared_transposed": ("C8", {"hidden_state_out": tensor(FLOAT32, (4, 2))}),
        "output_declared_too_small": ("C8", {"output": tensor(FLOAT32, (1, 4))}),
        "mixed_types": ("MODEL.P3", {"bias": constant(FLOAT16, (4,), dyadic(1, (4,)))}),
    }  # fmt: skip
    yield from rejections(OPERATION, inputs, outputs, rows)
