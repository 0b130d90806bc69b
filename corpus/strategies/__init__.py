"""Hypothesis strategies for valid models and requests of any operation, built from the catalogue and the rules.

    from hypothesis import given
    from npu_conformance.corpus import strategies
    from npu_conformance.specs.versions import Version

    @given(strategies.vectors("CONV_2D", version=Version.V1_2))
    def test_my_driver(vector):
        model = build_model(vector, Version.V1_2).model              # of corpus.wire_model
        request = build_request(vector, vector.examples[0], Version.V1_2)
        expected = strategies.expected(vector)                       # by the oracles; compare within bounds

Shapes and parameters are what Hypothesis draws, so that it shrinks structure; elements come from a numpy generator
with a drawn seed. A caller with another source of decisions (a fuzzer's bytes) uses `draw`. Recipes, one for each
operation, propose operands; nothing leaves this package that breaks a clause of the rules.
"""

from __future__ import annotations

import functools
import importlib
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy

from npu_conformance.corpus import oracles
from npu_conformance.corpus.generators.operands import OperandSpec, materialised
from npu_conformance.corpus.model_builder import IllegalOperationError, ModelBuilder
from npu_conformance.corpus.strategies.calls import Arguments, Call, Decisions, Form, Item, Recipe, Unfit
from npu_conformance.corpus.vector_types import Vector, VectorOperand
from npu_conformance.corpus.vectors.element_values import float32
from npu_conformance.specs.neuralnetworks import catalogue
from npu_conformance.specs.neuralnetworks.enums import OperandType
from npu_conformance.specs.neuralnetworks.operand_types import OPERAND_TYPES
from npu_conformance.specs.versions import NEWEST, Version

if TYPE_CHECKING:
    from hypothesis.strategies import DrawFn, SearchStrategy

    from npu_conformance.corpus.vectors import Array
    from npu_conformance.specs.neuralnetworks.operation_tables import Argument

__all__ = [
    "Decisions", "Form", "Unfit", "assembled", "draw", "expected", "forms", "input_count", "operations", "recipes",
    "vectors",
]  # fmt: skip

_MODULES = ("elementwise", "reductions", "moving", "windows", "recurrent", "boxes", "control_flow")
_PARTS, _MANY = 24, (4, 5, 8)
"""Of so many drawn numbers the last ones stand for many parts."""
_SEEDS = 65536


def operations() -> tuple[str, ...]:
    """Names of the operations that can be drawn, in order of their codes."""
    return tuple(name for name in catalogue.names() if name in recipes())


def forms(version: Version = NEWEST, operation: str | None = None) -> list[Form]:
    """Every signature with every combination of types that is legal in a version, of one operation or of all."""
    names = operations() if operation is None else (operation,)
    return [
        Form(name, signature, types)
        for name in names
        for signature in catalogue.operation(name).signatures
        for types in signature.combinations(version)
    ]


def vectors(
    operation: str | None = None, version: Version = NEWEST, *, form: Form | None = None
) -> SearchStrategy[Vector]:
    """Models of one operation (of any one, if None) with one request each, legal in the version.

    form: narrows it down to one signature and combination of types. The vector's example has inputs and no outputs;
    see `expected`. Raises LookupError for an operation that the version does not have.
    """
    from hypothesis import strategies

    legal = [form] if form is not None else forms(version, operation)
    if not legal:
        raise LookupError(f"HAL {version} has no {operation or 'operations'}")
    return strategies.composite(_drawn)(legal, version)


class _Single(Call):
    """A call by itself, in no graph."""

    def parts(self) -> int:
        """A number that is large now and then: what holds for three results or inputs need not hold for more."""
        number = self.decisions.below(_PARTS)
        return 1 + number % 3 if number < _PARTS - len(_MANY) else _MANY[number - _PARTS]


def draw(form: Form, version: Version, decisions: Decisions) -> Vector:
    """A valid model with one request, by any source of decisions. Raises Unfit where they lead to none."""
    random = numpy.random.default_rng(decisions.below(_SEEDS))
    call = _Single(form, version, decisions, random, input_count(form, version, decisions))
    return assembled(call, recipes()[form.operation](call))


def expected(vector: Vector) -> dict[str, Array]:
    """What the oracles compute for the request, by name of the output.

    Raises KeyError where an oracle is missing, Unfit where values grow beyond 2^1024, as states of an LSTM can.
    """
    try:
        return oracles.evaluate(vector.main, vector.examples[0].inputs, vector.referenced)
    except OverflowError as error:
        raise Unfit(f"a value has no limits: {error}") from error


class _Drawn:
    """Hypothesis's decisions."""

    def __init__(self, draw: DrawFn) -> None:
        self._draw = draw

    def below(self, limit: int) -> int:
        return self._draw(_numbers(limit))

    def pick(self, items: Sequence[Item]) -> Item:
        return items[self.below(len(items))]


def _drawn(draw_one: DrawFn, legal: Sequence[Form], version: Version) -> Vector:
    from hypothesis import reject

    decisions = _Drawn(draw_one)
    try:
        return draw(decisions.pick(legal), version, decisions)
    except Unfit:
        reject()


@functools.cache
def _numbers(limit: int) -> SearchStrategy[int]:
    from hypothesis import strategies

    return strategies.integers(0, limit - 1)


@functools.cache
def recipes() -> Mapping[str, Recipe]:
    """The recipe of each operation that can be drawn."""
    found: dict[str, Recipe] = {}
    for name in _MODULES:
        found.update(importlib.import_module(f"{__name__}.{name}").RECIPES)
    return found


def input_count(form: Form, version: Version, decisions: Decisions) -> int | None:
    """A length of the list of inputs that the form has in a version; None where it is a matter of the recipe."""
    counts = form.input_counts(version)
    return None if counts is None else decisions.pick(counts)


def assembled(call: Call, arguments: Arguments) -> Vector:
    """The model of one call; operands are called as the catalogue calls them. Raises Unfit where a rule is broken."""
    builder = ModelBuilder(call.version, call.graphs)
    names = [_added(builder, spec, name) for name, spec in _in_order(call, arguments)]
    try:
        results = builder.apply(call.form.operation, names, _results(call, [builder.operand(name) for name in names]))
    except IllegalOperationError as error:
        raise Unfit(f"{call.form}: {error}") from error
    return builder.vector("drawn", call.form.operation, results, call.version)


def _in_order(call: Call, arguments: Arguments) -> Iterator[tuple[str, OperandSpec]]:
    """Names and operands as the signature lists them, as many as there shall be."""
    for position, argument in enumerate(call.form.signature.inputs):
        if call.count is not None and position >= call.count:
            return
        given = arguments.get(argument.name)
        if given is None or isinstance(given, OperandSpec):
            yield argument.name, given or call.default(argument)
        else:
            yield from ((f"{argument.name}{number}", one) for number, one in enumerate(given))


def _added(builder: ModelBuilder, spec: OperandSpec, name: str) -> str:
    operand = spec.operand
    if operand.subgraph is not None:
        return builder.reference(operand.subgraph, name)
    if operand.omitted:
        return builder.omitted(operand, name)
    add = builder.constant if spec.constant else builder.input
    return add(operand, materialised(spec), name)


def _results(call: Call, inputs: Sequence[VectorOperand]) -> list[VectorOperand]:
    """The results without their shapes."""
    if call.declared:
        return call.declared
    signature = call.form.signature
    count = call.result_count or len(signature.outputs)
    arguments = catalogue.expand(signature.outputs, count)
    if arguments is None:
        arguments = list(signature.outputs[:count])
    return [_result(call, argument, inputs) for argument in arguments]


def _result(call: Call, argument: Argument, inputs: Sequence[VectorOperand]) -> VectorOperand:
    """The operand of a result; by default it is quantised as the first input of the same type."""
    kind = OperandType[call.form.types.get(argument.type, argument.type)]
    if not OPERAND_TYPES[kind].is_quantized:
        return VectorOperand(kind)
    like = next((one for one in inputs if one.type is kind), VectorOperand(kind, scale=1.0))
    scale, zero_point = call.results.get(argument.name, (like.scale, like.zero_point))
    return VectorOperand(kind, scale=float32(scale), zero_point=zero_point, channel_quant=like.channel_quant)
