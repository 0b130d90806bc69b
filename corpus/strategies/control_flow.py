"""Recipes of IF and WHILE: graphs of one operation each, on operands of any type."""

import numpy

from npu_conformance.corpus.generators.operands import OperandSpec, reference, tensor
from npu_conformance.corpus.model_builder import ModelBuilder
from npu_conformance.corpus.strategies.calls import Arguments, Call, Recipe
from npu_conformance.corpus.vectors import Graph, VectorOperand
from npu_conformance.specs.neuralnetworks.enums import OperandType

_INT32, _BOOL8 = OperandType.TENSOR_INT32, OperandType.TENSOR_BOOL8
_KINDS = (
    OperandType.TENSOR_FLOAT32,
    OperandType.TENSOR_FLOAT16,
    _INT32,
    OperandType.TENSOR_QUANT8_ASYMM,
    OperandType.TENSOR_QUANT8_ASYMM_SIGNED,
)
_STEPS = ("ADD", "SUB")
_CHOICES = ("MAXIMUM", "MINIMUM")
_MOST_ROUNDS = 3
_ONE = VectorOperand(_INT32, (1,))


def _operands(call: Call) -> tuple[OperandSpec, OperandSpec]:
    """Two tensors of a drawn type with equal shape and quantisation."""
    kind, shape = call.decisions.pick(_KINDS), tuple(call.size() for _ in range(call.between(1, 4)))
    first = call.tensor_of(kind, shape)
    return first, call.tensor_of(kind, shape, quantization=(first.operand.scale, first.operand.zero_point))


def _graph(call: Call, first: OperandSpec, second: OperandSpec) -> Graph:
    """A graph that computes something of the type of its inputs from them."""
    builder, operation = ModelBuilder(call.version), call.decisions.pick((*_STEPS, *_CHOICES))
    inputs = [_input(builder, one.operand, name) for one, name in ((first, "a"), (second, "b"))]
    arguments = [*inputs, _none(builder)] if operation in _STEPS else inputs
    return builder.vector("", operation, builder.apply(operation, arguments, [first.operand])).main


def _input(builder: ModelBuilder, operand: VectorOperand, name: str) -> str:
    """An input of a referenced graph, whose value comes from outside."""
    return builder.input(operand, numpy.zeros(operand.dimensions), name)


def _none(builder: ModelBuilder) -> str:
    return builder.constant(VectorOperand(OperandType.INT32), numpy.array(0, numpy.int32))


def _if(call: Call) -> Arguments:
    first, second = _operands(call)
    call.graphs += [_graph(call, first, second), _graph(call, first, second)]
    call.declared = [first.operand]
    return {
        "condition": tensor(_BOOL8, (1,), [call.decisions.below(2)]),
        "then": reference(0),
        "else": reference(1),
        "inputs": [first, second],
    }


def _while(call: Call) -> Arguments:
    """The body counts and computes; the bound and the second tensor stay as they are."""
    first, second = _operands(call)
    call.graphs += [_condition(call, first, second), _body(call, first, second)]
    call.declared = [_ONE, first.operand]
    bound = tensor(_INT32, (1,), [call.decisions.below(_MOST_ROUNDS + 1)])
    inputs = [tensor(_INT32, (1,), [0]), first, bound, second]
    return {"condition": reference(0), "body": reference(1), "inputs": inputs}


def _loop_inputs(builder: ModelBuilder, first: OperandSpec, second: OperandSpec) -> list[str]:
    operands = {"count": _ONE, "a": first.operand, "bound": _ONE, "b": second.operand}
    return [_input(builder, operand, name) for name, operand in operands.items()]


def _condition(call: Call, first: OperandSpec, second: OperandSpec) -> Graph:
    builder = ModelBuilder(call.version)
    count, _, bound, _ = _loop_inputs(builder, first, second)
    return builder.vector("", "LESS", builder.apply("LESS", [count, bound], [VectorOperand(_BOOL8)])).main


def _body(call: Call, first: OperandSpec, second: OperandSpec) -> Graph:
    builder = ModelBuilder(call.version)
    count, a, _, b = _loop_inputs(builder, first, second)
    one = builder.constant(_ONE, numpy.array([1], numpy.int32))
    counted = builder.apply("ADD", [count, one, _none(builder)], [_ONE])
    operation = call.decisions.pick(_CHOICES if first.operand.type is _INT32 else (*_STEPS, *_CHOICES))
    arguments = [a, b, _none(builder)] if operation in _STEPS else [a, b]
    computed = builder.apply(operation, arguments, [first.operand])
    return builder.vector("", operation, [*counted, *computed]).main


RECIPES: dict[str, Recipe] = {"IF": _if, "WHILE": _while}
