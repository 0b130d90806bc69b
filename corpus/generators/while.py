"""The generator of WHILE."""

from collections.abc import Sequence

from npu_conformance.corpus.generators._elementwise import SHORT
from npu_conformance.corpus.generators.base import Vectors, graph, positive, rejected
from npu_conformance.corpus.generators.operands import Operands, OperandSpec, constant, int32, reference, tensor
from npu_conformance.corpus.generators.types import BOOL8, FLOAT16, FLOAT32, INT32, QUANT8, SIGNED
from npu_conformance.corpus.pairwise import pairwise
from npu_conformance.corpus.vectors import Graph, Vector
from npu_conformance.specs.neuralnetworks.enums import OperandType

_ONE = (1,)


def vectors() -> Vectors:
    """Pairwise: type, rounds, and whether the bound is an input or a constant; then structures and rejections."""
    kinds = (FLOAT32, FLOAT16, INT32, QUANT8, SIGNED)
    for row in pairwise({"type": kinds, "rounds": [0, 1, 4], "constant": [False, True]}):
        kind, rounds = row["type"], row["rounds"]
        yield _while(
            f"{SHORT[kind]}_{rounds}_rounds{'_constant_bound' if row['constant'] else ''}",
            {
                "sum": _number(kind, 3),
                "count": _number(kind, 0),
                "bound": _number(kind, rounds, constant=row["constant"]),
            },
            {"total": _like(kind)},
            (_less(kind), _sum_of_counts(kind)),
            about="sum += count; count += 1: one value is the result, one is state, the bound stays the same",
        )
    yield from _structures()
    yield from _rejected()


def _structures() -> Vectors:
    about = "the body gives its two values crossed over: a Fibonacci sequence"
    fibonacci = graph(
        {**_floats("a", "b", "moved", "next", "bound"), "zero": constant(FLOAT32, _ONE, [0.0])},
        [("ADD", ("b", "zero", "none"), ("moved",)), ("ADD", ("a", "b", "none"), ("next",))],
        ("a", "b", "bound"),
        ("moved", "next"),
    )
    condition = _compared("LESS", ("a", "b", "bound"), "a", "bound")
    start = {"a": _number(FLOAT32, 1), "b": _number(FLOAT32, 1), "bound": _number(FLOAT32, 20)}
    outputs = {"last": _like(FLOAT32), "following": _like(FLOAT32)}
    yield _while("two_results_crossed", start, outputs, (condition, fibonacci), about=about)

    about = "more rounds than 8 bits count"
    start = {"sum": _number(INT32, 0), "count": _number(INT32, 0), "bound": _number(INT32, 258)}
    yield _while("int32_258_rounds", start, {"total": _like(INT32)}, (_less(INT32), _sum_of_counts(INT32)), about=about)

    about = "only the first of the two values that the body gives is a result"
    start = {"a": _number(FLOAT32, 1), "b": _number(FLOAT32, 1), "bound": _number(FLOAT32, 20)}
    yield _while("second_is_state", start, {"last": _like(FLOAT32)}, (condition, fibonacci), about=about)

    doubled = graph(_floats("x", "twice"), [("ADD", ("x", "x", "none"), ("twice",))], "x", ("twice",))
    bounded = graph(
        {"x": _like(FLOAT32), "bound": _number(FLOAT32, 100, constant=True), "goes_on": tensor(BOOL8, _ONE)},
        [("LESS", ("x", "bound"), ("goes_on",))],
        "x",
        ("goes_on",),
    )
    about = "one value and nothing else; the bound is a constant of the condition"
    for start_value in (3, 0.5, 100):
        name = f"one_value_from_{str(start_value).replace('.', '_')}"
        result = {"result": _like(FLOAT32)}
        yield _while(name, {"x": _number(FLOAT32, start_value)}, result, (bounded, doubled), about=about)
    yield from _matrices()
    yield from _nested()


def _matrices() -> Vectors:
    """A value of rank 2 is carried along: result = result * factor, while a counter of another type counts down."""
    shape = (2, 3)
    body = graph(
        {
            "value": tensor(FLOAT32, shape), "left": tensor(INT32, _ONE), "factor": tensor(FLOAT32, (3,)),
            "scaled": tensor(FLOAT32, shape), "fewer": tensor(INT32, _ONE), "one": constant(INT32, _ONE, [1]),
            "none": int32(0),
        },
        [("MUL", ("value", "factor", "none"), ("scaled",)), ("SUB", ("left", "one", "none"), ("fewer",))],
        ("value", "left", "factor"), ("scaled", "fewer"),
    )  # fmt: skip
    condition = graph(
        {
            "value": tensor(FLOAT32, shape), "left": tensor(INT32, _ONE), "factor": tensor(FLOAT32, (3,)),
            "zero": constant(INT32, _ONE, [0]), "goes_on": tensor(BOOL8, _ONE),
        },
        [("GREATER", ("left", "zero"), ("goes_on",))], ("value", "left", "factor"), ("goes_on",),
    )  # fmt: skip
    for rounds in (0, 3):
        yield _while(
            f"matrix_{rounds}_rounds",
            {
                "value": tensor(FLOAT32, shape, [0.1, -2.3, 0.7, 4.9, 3.3, -0.9]),
                "left": tensor(INT32, _ONE, [rounds]),
                "factor": tensor(FLOAT32, (3,), [2.0, 0.5, -1.0]),
            },
            {"scaled": tensor(FLOAT32, shape)},
            (condition, body),
            about="values of different types and ranks; the body does not read what it does not need",
        )


def _nested() -> Vectors:
    """A loop in the body of a loop: the inner one doubles x until it reaches the bound, the outer one counts."""
    bound = constant(FLOAT32, _ONE, [10.0])
    inner_condition = graph(
        {"x": _like(FLOAT32), "bound": bound, "goes_on": tensor(BOOL8, _ONE)},
        [("LESS", ("x", "bound"), ("goes_on",))],
        "x",
        ("goes_on",),
    )
    inner_body = graph(_floats("x", "twice"), [("ADD", ("x", "x", "none"), ("twice",))], "x", ("twice",))
    outer_body = graph(
        {
            **_floats("total", "count", "start", "doubled", "more", "next"),
            "one": constant(FLOAT32, _ONE, [1.0]),
            "condition": reference(2),
            "body": reference(3),
        },
        [
            ("WHILE", ("condition", "body", "start"), ("doubled",)),
            ("ADD", ("total", "doubled", "none"), ("more",)),
            ("ADD", ("count", "one", "none"), ("next",)),
        ],
        ("total", "count", "start"),
        ("more", "next"),
    )
    outer_condition = graph(
        {**_floats("total", "count", "start"), "limit": bound, "goes_on": tensor(BOOL8, _ONE)},
        [("LESS", ("total", "limit"), ("goes_on",))],
        ("total", "count", "start"),
        ("goes_on",),
    )
    yield _while(
        "nested",
        {"total": _number(FLOAT32, -40), "count": _number(FLOAT32, 0), "start": _number(FLOAT32, 3)},
        {"sum": _like(FLOAT32), "rounds": _like(FLOAT32)},
        (outer_condition, outer_body, inner_condition, inner_body),
        about="by hand: 3 is doubled to 12 in each round; -40 needs five times 12 to reach 10: 20 after 5 rounds",
    )


def _rejected() -> Vectors:
    """A loop that carries sizes nobody knows is for the framework, not for a driver."""
    open_sum = graph(
        {**{name: tensor(FLOAT32, (0,)) for name in "xy"}, "none": int32(0)},
        [("ADD", ("x", "x", "none"), ("y",))],
        "x",
        "y",
    )
    never = graph(
        {"x": tensor(FLOAT32, (0,)), "goes_on": constant(BOOL8, _ONE, [0]), "result": tensor(BOOL8, _ONE)},
        [("LOGICAL_AND", ("goes_on", "goes_on"), ("result",))],
        "x",
        ("result",),
    )
    yield rejected(
        "unknown_size",
        "WHILE",
        {"condition": reference(0), "body": reference(1), "x": tensor(FLOAT32, (2,), [1.0, 2.0])},
        {"y": tensor(FLOAT32, (2,))},
        clause="MODEL.P8",
        referenced=(never, open_sum),
        requirements=["NNHAL-CONTROLFLOW-010"],
        description="condition and body leave the size of what they carry open",
    )


def _while(name: str, inputs: Operands, outputs: Operands, graphs: Sequence[Graph], *, about: str) -> Vector:
    """WHILE with the first graph as its condition and the second as its body."""
    arguments = {"condition": reference(0), "body": reference(1), **inputs}
    return positive(
        name, "WHILE", arguments, outputs, hazards=["control-flow-signatures"], referenced=graphs, description=about
    )


def _less(kind: OperandType) -> Graph:
    operands = {name: _like(kind) for name in ("sum", "count", "bound")}
    return graph(
        {**operands, "goes_on": tensor(BOOL8, _ONE)},
        [("LESS", ("count", "bound"), ("goes_on",))],
        ("sum", "count", "bound"),
        ("goes_on",),
    )


def _sum_of_counts(kind: OperandType) -> Graph:
    operands = {name: _like(kind) for name in ("sum", "count", "bound", "more", "next")}
    return graph(
        {**operands, "one": _number(kind, 1, constant=True), "none": int32(0)},
        [("ADD", ("sum", "count", "none"), ("more",)), ("ADD", ("count", "one", "none"), ("next",))],
        ("sum", "count", "bound"),
        ("more", "next"),
    )


def _compared(operation: str, inputs: Sequence[str], first: str, second: str) -> Graph:
    operands = {name: _like(FLOAT32) for name in inputs}
    steps = [(operation, (first, second), ("goes_on",))]
    return graph({**operands, "goes_on": tensor(BOOL8, _ONE)}, steps, inputs, ("goes_on",))


def _floats(*names: str) -> Operands:
    return {**{name: _like(FLOAT32) for name in names}, "none": int32(0)}


def _like(kind: OperandType) -> OperandSpec:
    if kind not in (QUANT8, SIGNED):
        return tensor(kind, _ONE)
    return tensor(kind, _ONE, scale=0.5, zero_point=100 if kind is QUANT8 else -28)


def _number(kind: OperandType, value: float, *, constant: bool = False) -> OperandSpec:
    """A number in a tensor of one element."""
    if kind not in (QUANT8, SIGNED):
        return tensor(kind, _ONE, [value], constant=constant)
    point = 100 if kind is QUANT8 else -28
    return tensor(kind, _ONE, [int(value * 2) + point], scale=0.5, zero_point=point, constant=constant)
