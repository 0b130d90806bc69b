"""The generator of IF."""

from collections.abc import Sequence

from npu_conformance.corpus.generators._elementwise import SHORT, stored_bytes
from npu_conformance.corpus.generators.base import Vectors, graph, positive, rejected
from npu_conformance.corpus.generators.data import dyadic, integers, uniform
from npu_conformance.corpus.generators.operands import (
    Operands,
    OperandSpec,
    constant,
    int32,
    omitted,
    reference,
    tensor,
)
from npu_conformance.corpus.generators.types import BOOL8, FLOAT16, FLOAT32, INT32, QUANT8, SIGNED
from npu_conformance.corpus.pairwise import pairwise
from npu_conformance.corpus.vectors import Graph, Vector
from npu_conformance.specs.neuralnetworks.enums import OperandType

_SHAPE = (2, 3)
_KINDS = (FLOAT32, FLOAT16, INT32, QUANT8, SIGNED)


def vectors() -> Vectors:
    """Pairwise: type, condition (any byte but 0 is true), where it comes from, one branch for both; then structures."""
    parameters = {"type": _KINDS, "condition": [0, 1, 2, 255], "constant": [False, True], "same": [False, True]}
    for seed, row in enumerate(pairwise(parameters)):
        kind = row["type"]
        branches = (_binary("ADD", kind), _binary("SUB", kind))
        yield _if(
            f"{SHORT[kind]}_condition_{row['condition']}{'_constant' if row['constant'] else ''}"
            f"{'_same_branch' if row['same'] else ''}",
            row["condition"],
            {"a": _data(kind, seed), "b": _data(kind, seed + 50)},
            {"sum": _like(kind)},
            branches[:1] if row["same"] else branches,
            is_constant=row["constant"],
        )
    for condition in (0, 1):
        yield from _structures(condition)
    yield from _open_sizes()
    yield _without_condition()


def _structures(condition: int) -> Vectors:
    """Two outputs in either order, no inputs, constants in branches, an unused input, IF inside of IF."""
    side = ("else", "then")[condition]
    a, b = _data(FLOAT32, 60), _data(FLOAT32, 61)
    both = {"sum": _like(FLOAT32), "product": _like(FLOAT32)}
    straight, crossed = _sum_and_product("sum", "product"), _sum_and_product("product", "sum")
    about = "the branches give their outputs in opposite orders"
    yield _if(f"two_outputs_{side}", condition, {"a": a, "b": b}, both, (straight, crossed), about=about)
    numbers = tuple(_constants(values) for values in ([1.5, -2.0], [0.25, 8.0]))
    about = "IF has no inputs but the condition: the branches compute with constants of their own"
    yield _if(f"no_inputs_{side}", condition, {}, {"result": tensor(FLOAT32, (2,))}, numbers, about=about)
    one_sided = (_binary("MUL", FLOAT32), _first_alone())
    about = "the else branch does not use its second input"
    yield _if(f"unused_input_{side}", condition, {"a": a, "b": b}, {"result": _like(FLOAT32)}, one_sided, about=about)
    for inner in (0, 1):
        yield _nested(condition, inner)


def _nested(condition: int, inner: int) -> Vector:
    """IF whose then branch is an IF between addition and subtraction, and whose else branch multiplies."""
    inputs = ("inner", "x", "y")
    operands = {"inner": tensor(BOOL8, (1,)), **{name: _like(FLOAT32) for name in ("x", "y", "result")}}
    chooser = graph(
        {**operands, "then": reference(2), "else": reference(3)},
        [("IF", ("inner", "then", "else", "x", "y"), ("result",))],
        inputs,
        ("result",),
    )
    product = graph({**operands, "none": int32(0)}, [("MUL", ("x", "y", "none"), ("result",))], inputs, ("result",))
    return _if(
        f"nested_{('else', 'then')[condition]}_{('else', 'then')[inner]}",
        condition,
        {"inner": tensor(BOOL8, (1,), [inner]), "a": _data(FLOAT32, 62), "b": _data(FLOAT32, 63)},
        {"result": _like(FLOAT32)},
        (chooser, product, _binary("ADD", FLOAT32), _binary("SUB", FLOAT32)),
        about="an IF in the branch of an IF",
    )


def _open_sizes() -> Vectors:
    """Sizes that the branches leave open, with inputs and outputs whose sizes are known (IF has no rule like P8)."""
    for name, dimensions in (("sizes", (0, 0)), ("rank", ())):
        for condition in (0, 1):
            branches = (_binary("ADD", FLOAT32, dimensions), _binary("SUB", FLOAT32, dimensions))
            yield _if(
                f"unknown_{name}_in_branches_{('else', 'then')[condition]}",
                condition,
                {"a": _data(FLOAT32, 64), "b": _data(FLOAT32, 65)},
                {"result": _like(FLOAT32)},
                branches,
                about="what the branches leave open is found when they run",
            )


def _without_condition() -> Vector:
    """A device may refuse the model, as the documents say, or fail when it runs, as AOSP's VTS expects."""
    branch = _binary("ADD", FLOAT32)
    return rejected(
        "condition_omitted",
        "IF",
        {
            "condition": omitted(BOOL8, (1,)),
            "then": reference(0),
            "else": reference(0),
            "a": _data(FLOAT32, 70),
            "b": _data(FLOAT32, 71),
        },
        {"sum": _like(FLOAT32)},
        clause="MODEL.P3O",
        phase="execution",
        since="1.3",
        referenced=[branch],
    )


def _if(
    name: str,
    condition: int,
    inputs: Operands,
    outputs: Operands,
    graphs: Sequence[Graph],
    *,
    is_constant: bool = False,
    about: str = "",
) -> Vector:
    """IF between the first two graphs, or with the only one on both sides."""
    return positive(
        name,
        "IF",
        {
            "condition": tensor(BOOL8, (1,), [condition], constant=is_constant),
            "then": reference(0),
            "else": reference(min(1, len(graphs) - 1)),
            **inputs,
        },
        outputs,
        hazards=["control-flow-signatures"],
        referenced=graphs,
        description=about,
    )


def _binary(operation: str, kind: OperandType, dimensions: tuple[int, ...] = _SHAPE) -> Graph:
    operands = {name: _like(kind, dimensions) for name in ("x", "y", "result")}
    return graph({**operands, "none": int32(0)}, [(operation, ("x", "y", "none"), ("result",))], "xy", ("result",))


def _sum_and_product(*outputs: str) -> Graph:
    operands = {name: _like(FLOAT32) for name in ("x", "y", "sum", "product")}
    steps = [("ADD", ("x", "y", "none"), ("sum",)), ("MUL", ("x", "y", "none"), ("product",))]
    return graph({**operands, "none": int32(0)}, steps, ("x", "y"), outputs)


def _constants(values: Sequence[float]) -> Graph:
    operands = {
        "x": constant(FLOAT32, (2,), values),
        "y": constant(FLOAT32, (2,), [3.0, 0.5]),
        "result": tensor(FLOAT32, (2,)),
        "none": int32(0),
    }
    return graph(operands, [("ADD", ("x", "y", "none"), ("result",))], (), ("result",))


def _first_alone() -> Graph:
    operands = {name: _like(FLOAT32) for name in ("x", "y", "result")}
    return graph(operands, [("RELU", ("x",), ("result",))], ("x", "y"), ("result",))


def _like(kind: OperandType, dimensions: tuple[int, ...] = _SHAPE) -> OperandSpec:
    if kind not in (QUANT8, SIGNED):
        return tensor(kind, dimensions)
    return tensor(kind, dimensions, scale=0.5, zero_point=100 if kind is QUANT8 else -28)


def _data(kind: OperandType, seed: int) -> OperandSpec:
    if kind is INT32:
        return tensor(kind, _SHAPE, integers(seed, _SHAPE, -50, 50))
    if kind is FLOAT32:
        return tensor(kind, _SHAPE, uniform(seed, _SHAPE))
    if kind is FLOAT16:
        return tensor(kind, _SHAPE, dyadic(seed, _SHAPE))
    shift = 128 if kind is SIGNED else 0
    return tensor(kind, _SHAPE, stored_bytes(seed, _SHAPE, shift), scale=0.5, zero_point=100 - shift)
