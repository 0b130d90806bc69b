"""The generator of UNIDIRECTIONAL_SEQUENCE_RNN."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from npu_conformance.corpus.generators._many_results import BEHIND_4096
from npu_conformance.corpus.generators._recurrent import (
    ACTIVATIONS,
    KINDS,
    MANY_STEPS,
    Data,
    cell,
    constant_like,
    open_shape,
    rejections,
    wrong_activations,
)
from npu_conformance.corpus.generators.base import Vectors, positive, rejected
from npu_conformance.corpus.generators.data import dyadic
from npu_conformance.corpus.generators.operands import Operands, boolean, constant, int32, tensor
from npu_conformance.corpus.generators.types import FLOAT16, FLOAT32
from npu_conformance.corpus.pairwise import pairwise
from npu_conformance.corpus.vectors import Vector

OPERATION = "UNIDIRECTIONAL_SEQUENCE_RNN"
Shape = tuple[int, int, int, int]
SHAPES: dict[str, Shape] = {
    "plain": (2, 3, 3, 4),
    "one_step": (3, 1, 2, 3),
    "one_batch": (1, 4, 2, 3),
    "one_unit": (2, 4, 3, 1),
}
"""Batch, time, input size, units."""
LONG = {"float32_130_steps": ((1, 130, 2, 3), 0), "float32_70_steps_time_major": ((2, 70, 2, 2), 1)}
"""Shape, and whether time comes first."""


def operands(
    shape: Shape, data: Data, activation: int = 0, *, major: int = 0, state: bool = False
) -> tuple[Operands, Operands]:
    """Inputs and outputs of the operation. major: whether time comes first; state: whether the state is an output."""
    batch, time, size, units = shape
    steps = (time, batch) if major else (batch, time)
    inputs = {
        "input": data.input((*steps, size), 1, 1.0),
        **cell(data, size, units, 2),
        "hidden_state": data.input((batch, units), 5),
        "activation": int32(activation),
        "time_major": int32(major),
    }
    outputs = {"output": data.output((*steps, units))}
    return inputs, outputs | ({"hidden_state_out": data.output((batch, units))} if state else {})


def vectors() -> Vectors:
    """Pairwise: type, shape, activation, layout, state output; open sizes; a usual size; rejections."""
    parameters: Mapping[str, list[Any]] = {
        "kind": list(KINDS),
        "shape": list(SHAPES),
        "activation": list(ACTIVATIONS),
        "major": [0, 1],
        "state": [False, True],
    }
    for seed, row in enumerate(pairwise(parameters)):
        kind, shape, activation, major, state = row.values()
        name = f"{kind}_{shape}_{activation}" + ("_time_major" if major else "") + ("_with_state" if state else "")
        yield _positive(name, SHAPES[shape], Data(kind, seed), ACTIVATIONS[activation], major=major, state=state)
    yield _by_hand()
    for state in (False, True):
        name = "float32_all_bits" + ("_with_state" if state else "")
        yield _positive(name, SHAPES["plain"], Data(seed=9, bits=True), ACTIVATIONS["tanh"], major=1, state=state)
    yield from _open()
    yield _positive("float32_usual_size", (2, 8, 40, 32), Data(seed=7, large=True), ACTIVATIONS["sigmoid"])
    yield _positive("float32_as_many_steps_as_samples", (3, 3, 2, 4), Data(seed=10), ACTIVATIONS["tanh"])
    for name, (shape, major) in LONG.items():
        yield _positive(name, shape, Data(seed=11), ACTIVATIONS["tanh"], major=major, description=MANY_STEPS)
    many, relu = (2050, 2, 1, 1), ACTIVATIONS["relu"]
    yield _positive("float32_many_results", many, Data(seed=8, large=True), relu, description=BEHIND_4096)
    yield from _rejected()


def _positive(
    name: str, shape: Shape, data: Data, activation: int, *, major: int = 0, state: bool = False, **details: Any
) -> Vector:
    inputs, outputs = operands(shape, data, activation, major=major, state=state)
    since, hazards = "1.3" if state else "1.2", ["recurrent-activation-codes"]
    return positive(name, OPERATION, inputs, outputs, since=since, hazards=hazards, **details)


def _by_hand() -> Vector:
    inputs = {
        "input": tensor(FLOAT32, (1, 3, 1), [1.0, -2.0, 4.0]),
        "weights": constant(FLOAT32, (1, 1), [2.0]),
        "recurrent_weights": constant(FLOAT32, (1, 1), [-0.5]),
        "bias": constant(FLOAT32, (1,), [1.0]),
        "hidden_state": tensor(FLOAT32, (1, 1), [4.0]),
        "activation": int32(0),
        "time_major": int32(0),
    }
    outputs = {"output": tensor(FLOAT32, (1, 3, 1)), "hidden_state_out": tensor(FLOAT32, (1, 1))}
    description = "2*1 - 4/2 + 1 = 1; 2*-2 - 1/2 + 1 = -3.5; 2*4 + 3.5/2 + 1 = 10.75, which is the state too"
    return positive("float32_by_hand", OPERATION, inputs, outputs, since="1.3", description=description)


def _open() -> Vectors:
    inputs, outputs = operands(SHAPES["plain"], Data(seed=3), 1, major=1, state=True)
    ranks = {"input": 3, "hidden_state": 2, "output": 3, "hidden_state_out": 2}
    for name in ("sizes", "rank"):
        dimensions = {key: (0,) * rank if name == "sizes" else () for key, rank in ranks.items()}
        late = {key: open_shape(inputs[key], dimensions[key]) for key in ("input", "hidden_state")}
        unknown = {key: tensor(FLOAT32, dimensions[key]) for key in outputs}
        yield positive(f"float32_unknown_{name}", OPERATION, inputs | late, unknown, since="1.3")
    scalars = {key: replace(inputs[key], constant=False) for key in ("activation", "time_major")}
    yield positive("float32_scalars_as_inputs", OPERATION, inputs | scalars, outputs, since="1.3")


def _rejected() -> Vectors:
    inputs, outputs = operands(SHAPES["plain"], Data(seed=4))
    deep: Any = tensor(FLOAT32, (2, 3, 3, 1), dyadic(1, (18,)))
    rows = {
        "input_rank_4": ("MODEL.P3R", {"input": deep}),
        "input_rank_4_at_execution": ("C1", {"input": open_shape(deep, ())}),
        "weights_columns": ("C2", {"weights": constant_like(inputs["weights"], (4, 4))}),
        "recurrent_weights_rows": ("C3", {"recurrent_weights": constant_like(inputs["bias"], (3, 4))}),
        "recurrent_weights_columns": ("C3", {"recurrent_weights": constant_like(inputs["bias"], (4, 3))}),
        "weights_rows": (
            "C3",
            {"weights": constant_like(inputs["weights"], (5, 3)), "output": tensor(FLOAT32, (2, 3, 5))},
        ),
        "bias_too_long": ("C3", {"bias": constant_like(inputs["bias"], (5,))}),
        "state_of_other_units": ("C3", {"hidden_state": tensor(FLOAT32, (2, 3), dyadic(1, (6,)))}),
        "state_of_other_batch": ("C4", {"hidden_state": tensor(FLOAT32, (3, 4), dyadic(1, (12,)))}),
        "batch_and_time_mixed_up": ("C4", {"time_major": int32(1)}),
        **wrong_activations("C5"),
        "output_in_the_other_layout": ("C9", {"output": tensor(FLOAT32, (3, 2, 4))}),
        "output_of_the_last_step": ("MODEL.P3R", {"output": tensor(FLOAT32, (2, 4))}),
        "mixed_types": ("MODEL.P3", {"bias": constant(FLOAT16, (4,), dyadic(1, (4,)))}),
        "time_major_bool": ("MODEL.P3", {"time_major": boolean(False)}),
    }
    yield from rejections(OPERATION, inputs, outputs, rows, since="1.2")
    state = {"hidden_state_out": tensor(FLOAT32, (2, 4))}
    yield rejected(
        "state_output_until_1_2", OPERATION, inputs, outputs | state, clause="MODEL.P3", since="1.2", until="1.2"
    )
    wrong = {"hidden_state_out": tensor(FLOAT32, (3, 4))}
    yield from rejections(OPERATION, inputs, outputs | wrong, {"state_declared_by_time": ("C9", {})}, since="1.3")
