"""Recipes of operations that compute each element by itself, or two with broadcasting."""

from npu_conformance.corpus.generators.operands import scalar
from npu_conformance.corpus.strategies.calls import Arguments, Call, Recipe
from npu_conformance.specs.neuralnetworks.enums import OperandType
from npu_conformance.specs.neuralnetworks.operand_types import OPERAND_TYPES
from npu_conformance.specs.versions import Version

_UNARY = (
    "ABS", "EXP", "FLOOR", "LOGICAL_NOT", "NEG", "RELU", "RELU1", "RELU6", "SIN", "CAST", "DEQUANTIZE", "RANK",
)  # fmt: skip
_POSITIVE = ("LOG", "SQRT")
_COMPARED = ("EQUAL", "GREATER", "GREATER_EQUAL", "LESS", "LESS_EQUAL", "NOT_EQUAL", "LOGICAL_AND", "LOGICAL_OR")
_FIXED = {"LOGISTIC": (1 / 256, 0), "TANH": (1 / 128, 128)}
"""Scale and unsigned zero point of results."""

_FREE = ("QUANTIZE", "HARD_SWISH")


def fixed_result(call: Call, scale: float, unsigned: int) -> None:
    """Give the result the one quantisation that its rules allow. unsigned: the zero point; signed it is 128 less."""
    kind = call.kind("output")
    if OPERAND_TYPES[kind].is_quantized:
        call.results["output"] = (scale, unsigned - (128 if kind is OperandType.TENSOR_QUANT8_ASYMM_SIGNED else 0))


def _unary(call: Call) -> Arguments:
    positive = call.form.operation in _POSITIVE
    if call.form.operation == "CAST":
        call.results["output"] = (call.scale(), 0)
    return {"input": call.tensor("input", _shape(call, "input"), positive=positive)}


def _shape(call: Call, name: str) -> tuple[int, ...]:
    return call.shape(name, (1, 2, 3, 4, 5))


def _rsqrt(call: Call) -> Arguments:
    call.results["output"] = (1 / 16, OPERAND_TYPES[call.kind("output")].zero_points[0])  # type: ignore[index]
    return {"input": call.tensor("input", _shape(call, "input"), positive=True)}


def _fixed(call: Call) -> Arguments:
    fixed_result(call, *_FIXED[call.form.operation])
    return _unary(call)


def _free(call: Call) -> Arguments:
    call.quantized_result("output")
    return _unary(call)


def _elu(call: Call) -> Arguments:
    return {**_unary(call), "alpha": scalar(call.kind("alpha"), call.between(1, 8) / 4)}


def shapes(call: Call, first: str) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Two shapes that broadcast, in either order; before 1.2 of equal rank."""
    large, small = call.broadcast(call.shape(first))
    return (large, small) if call.flag() else (small, large)


def _binary(call: Call) -> Arguments:
    first, second = (argument.name for argument in call.form.signature.inputs[:2])
    one, other = shapes(call, first)
    divides = call.form.operation == "DIV"
    return {first: call.tensor(first, one), second: call.tensor(second, other, nonzero=divides)}


def _power(call: Call) -> Arguments:
    """Positive bases, or bases of both signs with whole exponents, of which a result is a real number."""
    base, exponent = shapes(call, "base")
    if not call.flag():
        return {"base": call.tensor("base", base, positive=True), "exponent": call.tensor("exponent", exponent)}
    whole = call.random.integers(-2, 4, exponent)
    return {"base": call.tensor("base", base, nonzero=True), "exponent": call.tensor("exponent", exponent, whole)}


def _arithmetic(call: Call) -> Arguments:
    arguments = _binary(call)
    one, other = (given.operand for given in arguments.values())  # type: ignore[union-attr]
    if call.form.operation == "MUL":
        call.quantized_products(1, one, other, 2, 16)
    else:
        call.quantized_result("output", max(one.scale, other.scale) * call.between(2, 16))
    return arguments


def _chosen(call: Call) -> Arguments:
    call.quantized_result("output")
    return _binary(call)


def _select(call: Call) -> Arguments:
    shape = call.shape("input_true")
    if call.version < Version.V1_3:
        call.quantized_result("output")
    return {name: call.tensor(name, shape) for name in ("condition", "input_true", "input_false")}


RECIPES: dict[str, Recipe] = {
    **dict.fromkeys((*_UNARY, *_POSITIVE), _unary),
    **dict.fromkeys(_COMPARED, _binary),
    **dict.fromkeys(_FIXED, _fixed),
    **dict.fromkeys(_FREE, _free),
    **dict.fromkeys(("ADD", "SUB", "MUL"), _arithmetic),
    "DIV": _binary,
    "POW": _power,
    **dict.fromkeys(("MAXIMUM", "MINIMUM", "PRELU"), _chosen),
    "RSQRT": _rsqrt,
    "ELU": _elu,
    "SELECT": _select,
}
