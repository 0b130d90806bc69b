"""Rules survive any shapes and values of operands whose types are right, and shapes of accepted calls make sense."""

from __future__ import annotations

from typing import Any

import numpy
import pytest
from numpy.typing import NDArray

from npu_conformance.specs.neuralnetworks import catalogue, rules
from npu_conformance.specs.neuralnetworks.enums import OperandType
from npu_conformance.specs.neuralnetworks.operand_types import OPERAND_TYPES
from npu_conformance.specs.neuralnetworks.operation_tables import Argument, Signature
from npu_conformance.specs.neuralnetworks.operation_view import OperationView
from npu_conformance.specs.neuralnetworks.types import Operand, Operation
from npu_conformance.specs.neuralnetworks.validate import check_operation, output_shapes
from npu_conformance.specs.versions import Version

INTEGERS = [-(2**31), -5, -2, -1, 0, 1, 2, 3, 4, 9, 2**31 - 1]
LIKELY = [0, 0, 1, 1, 1, 2]
SIZES = [0, 1, 1, 2, 2, 3, 4, 7]
WHOLE = (OperandType.INT32, OperandType.TENSOR_INT32)
ROUNDS = 150


def shape_of(argument: Argument, random: numpy.random.Generator) -> tuple[int, ...]:
    rank = int(random.choice(argument.rank or (1, 2, 3, 4)))
    if not random.integers(0, 8):
        rank = int(random.integers(1, 6))
    return tuple(int(size) for size in random.choice(SIZES, rank))


def random_call(name: str, signature: Signature, random: numpy.random.Generator) -> OperationView:
    """A call whose types are those of a combination; the rest is left to chance."""
    combinations = signature.combinations(Version.FL8)
    combination = combinations[random.integers(0, len(combinations))]
    count = int(random.choice(signature.input_counts or (len(signature.inputs), len(signature.inputs) + 1)))
    operands, values, shapes = [], {}, {}
    for position, argument in enumerate(catalogue.expand(signature.inputs, count) or []):
        kind = OperandType[combination.get(argument.type, argument.type)]
        dimensions = shape_of(argument, random) if OPERAND_TYPES[kind].is_tensor else ()
        operands.append(Operand(kind, dimensions, scale=float(random.choice([0.0, 0.5, 1e-38, 3e38]))))
        if random.integers(0, 10):
            shapes[position] = dimensions
        if random.integers(0, 10):
            values[position] = random_value(dimensions, kind, random)
    kinds = [OperandType[combination.get(argument.type, argument.type)] for argument in signature.outputs]
    outputs = [Operand(kind) for kind in kinds * (2 if name == "SPLIT" else 1)]
    code = catalogue.operation(name).code
    versions = list(Version)
    return OperationView(
        Operation(code, tuple(range(count)), ()),
        versions[random.integers(0, len(versions))],
        operands,
        outputs,
        shapes=shapes,
        values=values,
    )


def random_value(dimensions: tuple[int, ...], kind: OperandType, random: numpy.random.Generator) -> NDArray[Any]:
    choices = INTEGERS if kind in WHOLE and not random.integers(0, 3) else LIKELY
    return random.choice(choices, dimensions).astype(OPERAND_TYPES[kind].dtype)


@pytest.mark.parametrize("name", [name for name in rules.operations() if rules.clauses(name)])
def test_any_call_is_survived(name: str) -> None:
    random = numpy.random.default_rng(list(name.encode()))
    known = {clause.id for clause in rules.clauses(name)}
    for signature in catalogue.operation(name).signatures:
        for _ in range(ROUNDS):
            view = random_call(name, signature, random)
            violations = check_operation(view)
            assert {violation.clause for violation in violations} <= known
            shapes = output_shapes(view)
            assert len(shapes) == len(view.outputs)
            if not violations:
                assert all(size >= 0 for shape in shapes for size in shape)
