"""The generator of SVDF. Features and products are multiples of 1/32 and small: every sum is exact, also in float16."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from npu_conformance.corpus.generators._many_results import BEHIND_4096
from npu_conformance.corpus.generators._recurrent import KINDS, Data, constant_like, open_shape, rejections
from npu_conformance.corpus.generators._windows import ACTIVATIONS
from npu_conformance.corpus.generators.base import Vectors, positive
from npu_conformance.corpus.generators.data import dyadic
from npu_conformance.corpus.generators.operands import Operands, constant, int32, left_out, omitted, tensor
from npu_conformance.corpus.generators.types import FLOAT16, FLOAT32
from npu_conformance.corpus.pairwise import pairwise
from npu_conformance.corpus.vectors import Vector

OPERATION = "SVDF"


@dataclass(frozen=True)
class Shape:
    """Sizes of a vector; there are units * rank filters."""

    batch: int
    size: int
    units: int
    memory: int
    rank: int

    @property
    def filters(self) -> int:
        """Number of filters."""
        return self.units * self.rank


SHAPES = {
    "rank1": Shape(2, 3, 3, 4, 1),
    "rank2": Shape(2, 2, 3, 3, 2),
    "rank3": Shape(1, 3, 2, 2, 3),
    "one_unit": Shape(3, 2, 1, 3, 2),
    "one_slot": Shape(1, 3, 2, 1, 1),
}


def operands(shape: Shape, data: Data, activation: int = 0, bias: str = "given") -> tuple[Operands, Operands]:
    """Inputs and outputs of the operation. bias: given, omitted or left_out."""
    kind, state = KINDS[data.kind], (shape.batch, shape.memory * shape.filters)
    biases = {
        "given": data.weights((shape.units,), 4),
        "omitted": omitted(kind, (shape.units,)),
        "left_out": left_out(kind, (shape.units,)),
    }
    inputs = {
        "input": data.input((shape.batch, shape.size), 1),
        "feature_weights": data.weights((shape.filters, shape.size), 2),
        "time_weights": data.weights((shape.filters, shape.memory), 3),
        "bias": biases[bias],
        "state_in": data.input(state, 5),
        "rank": int32(shape.rank),
        "activation": int32(activation),
    }
    return inputs, {"state_out": data.output(state), "output": data.output((shape.batch, shape.units))}


def vectors() -> Vectors:
    """Pairwise: type, shape, activation, bias; cases by hand; limits; open sizes; a usual size; rejections."""
    parameters: Mapping[str, list[str]] = {
        "kind": list(KINDS),
        "shape": list(SHAPES),
        "activation": list(ACTIVATIONS),
        "bias": ["given", "omitted", "left_out"],
    }
    for seed, row in enumerate(pairwise(parameters)):
        kind, shape, activation, bias = row.values()
        name = f"{kind}_{shape}_{activation}_bias_{bias}"
        yield _positive(name, SHAPES[shape], Data(kind, seed), ACTIVATIONS[activation], bias)
    yield _by_hand()
    for kind in KINDS:
        yield from _limited(kind)
    yield _positive("float32_all_bits", SHAPES["rank2"], Data(seed=9, bits=True))
    yield from _open()
    yield _positive("float32_usual_size", Shape(2, 40, 32, 8, 2), Data(seed=7, large=True), ACTIVATIONS["relu"])
    many = Shape(2, 1, 1, 2050, 1)
    yield _positive("float32_many_results", many, Data(seed=8, large=True), description=BEHIND_4096)
    yield from _rejected()


def _positive(name: str, shape: Shape, data: Data, activation: int = 0, bias: str = "given", **details: Any) -> Vector:
    inputs, outputs = operands(shape, data, activation, bias)
    return positive(name, OPERATION, inputs, outputs, hazards=["svdf-state-size"], **details)


def _by_hand() -> Vector:
    inputs = {
        "input": tensor(FLOAT32, (1, 2), [2.0, 1.0]),
        "feature_weights": constant(FLOAT32, (2, 2), [1.0, 0.5, -1.0, 3.0]),
        "time_weights": constant(FLOAT32, (2, 3), [1.0, 10.0, 100.0, 2.0, 20.0, 200.0]),
        "bias": constant(FLOAT32, (1,), [0.5]),
        "state_in": tensor(FLOAT32, (1, 6), [3.0, 4.0, 99.0, 5.0, 6.0, 77.0]),
        "rank": int32(2),
        "activation": int32(0),
    }
    outputs = {"state_out": tensor(FLOAT32, (1, 6)), "output": tensor(FLOAT32, (1, 1))}
    description = (
        "new features 2*1 + 1*0.5 = 2.5 and -2 + 3 = 1 stand where 99 and 77 were; "
        "3 + 40 + 250 = 293 and 10 + 120 + 200 = 330 and 0.5 make 623.5; the state moves on: 4, 2.5, 0, 6, 1, 0"
    )
    return positive("float32_by_hand", OPERATION, inputs, outputs, description=description, hazards=["svdf-state-size"])


def _limited(kind: str) -> Vectors:
    """Sums beyond the limits of each activation."""
    for name in ("relu", "relu1", "relu6"):
        inputs, outputs = operands(Shape(4, 1, 2, 2, 1), Data(kind, 1), ACTIVATIONS[name])
        one, last = constant(KINDS[kind], (2, 1), [1.0, -1.0]), constant(KINDS[kind], (2, 2), [0.0, 1.0, 0.0, -1.0])
        far = tensor(KINDS[kind], (4, 1), [30.0, 0.5, -30.0, 4.0])
        inputs |= {"input": far, "feature_weights": one, "time_weights": last}
        inputs["bias"] = constant(KINDS[kind], (2,), [0.25, -2.0])
        yield positive(f"{kind}_limited_{name}", OPERATION, inputs, outputs)


def _open() -> Vectors:
    inputs, outputs = operands(SHAPES["rank2"], Data(seed=3), 1)
    weights = {"feature_weights": (0, 2), "time_weights": (0, 3), "bias": (0,)}
    for name, dimensions, since in (("sizes", (0, 0), "1.0"), ("rank", (), "1.2")):
        late = {key: open_shape(inputs[key], dimensions) for key in ("input", "state_in")}
        unknown = {key: tensor(FLOAT32, dimensions) for key in outputs}
        yield positive(f"float32_unknown_{name}", OPERATION, inputs | late, unknown, since=since)
    late = {key: open_shape(inputs[key], dimensions) for key, dimensions in weights.items()}
    scalars = {key: tensor(inputs[key].operand.type, (), inputs[key].data) for key in ("rank", "activation")}
    yield positive("float32_unknown_weights", OPERATION, inputs | late | scalars, outputs)


def _rejected() -> Vectors:
    inputs, outputs = operands(SHAPES["rank2"], Data(seed=4))
    deep = tensor(FLOAT32, (2, 2, 1), dyadic(1, (4,)))
    bias = inputs["bias"]
    rows = {
        "input_rank_3": ("MODEL.P3R", {"input": deep}),
        "bias_rank_2": ("MODEL.P3R", {"bias": constant_like(bias, (3, 1))}),
        "input_rank_3_at_execution": ("C1", {"input": open_shape(deep, ())}),
        "feature_weights_columns": ("C2", {"feature_weights": constant_like(bias, (6, 3))}),
        "time_weights_rows": ("C3", {"time_weights": constant_like(bias, (4, 3))}),
        "state_of_other_batch": ("C4", {"state_in": tensor(FLOAT32, (1, 18), dyadic(1, (18,)))}),
        "state_too_large": ("C5", {"state_in": tensor(FLOAT32, (2, 19), dyadic(1, (38,)))}),
        "state_of_units_alone": ("C5", {"state_in": tensor(FLOAT32, (2, 9), dyadic(1, (18,)))}),
        "rank_0": ("C6", {"rank": int32(0)}),
        "rank_minus_1": ("C6", {"rank": int32(-1)}),
        "rank_does_not_divide": (
            "C6",
            {"rank": int32(4), "bias": omitted(FLOAT32, (1,)), "output": tensor(FLOAT32, (2, 1))},
        ),
        "bias_for_each_filter": ("C7", {"bias": constant_like(bias, (6,))}),
        "bias_too_short": ("C7", {"bias": constant_like(bias, (2,))}),
        "activation_7": ("C8", {"activation": int32(7)}),
        "activation_minus_1": ("C8", {"activation": int32(-1)}),
        "state_declared_of_other_batch": ("C10", {"state_out": tensor(FLOAT32, (1, 18))}),
        "state_declared_as_output": ("C10", {"state_out": tensor(FLOAT32, (2, 3))}),
        "output_declared_by_filters": ("C10", {"output": tensor(FLOAT32, (2, 6))}),
        "mixed_types": ("MODEL.P3", {"bias": constant(FLOAT16, (3,), dyadic(1, (3,)))}),
    }
    yield from rejections(OPERATION, inputs, outputs, rows)
