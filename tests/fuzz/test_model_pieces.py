"""Smaller models: operations go with the operands that only they used, so that what is left is a model still."""

from __future__ import annotations

from itertools import islice

import msgspec
import pytest

from npu_conformance.fuzz.lib.model_class import classify
from npu_conformance.fuzz.lib.model_pieces import pieces
from npu_conformance.fuzz.lib.target import minimised
from npu_conformance.specs.neuralnetworks.enums import OperandLifeTime, OperandType, OperationType
from npu_conformance.specs.neuralnetworks.types import Model, Operand, Operation, Subgraph
from npu_conformance.specs.versions import NEWEST

LIFETIMES = {0: OperandLifeTime.SUBGRAPH_INPUT, 40: OperandLifeTime.SUBGRAPH_OUTPUT}


def chain(*codes: int) -> Model:
    """Forty operations, each of the result of the one before it; then those of the first operand without a reader."""
    operands = tuple(
        Operand(OperandType.TENSOR_FLOAT32, (2,), lifetime=LIFETIMES.get(index, OperandLifeTime.TEMPORARY_VARIABLE))
        for index in range(41 + len(codes))
    )
    relus = [Operation(OperationType.RELU, (index,), (index + 1,)) for index in range(40)]
    others = [Operation(code, (0,), (41 + index,)) for index, code in enumerate(codes)]
    return Model(Subgraph(operands, (*relus[:20], *others, *relus[20:]), (0,), (40,)))


def smallest(model: Model, has: int) -> Model:
    def fails(data: bytes) -> str:
        found = [part for part in read(data).main.operations if part.type == has]
        return (
            "yes" if any(part.inputs and part.outputs for part in found) and len(read(data).main.operands) > 1 else ""
        )

    return read(minimised(msgspec.json.encode(model), pieces, fails, 60))


def read(data: bytes) -> Model:
    return msgspec.json.decode(data, type=Model)


def test_one_operation_of_many_is_left_with_its_operands() -> None:
    left = smallest(chain(OperationType.TANH), OperationType.TANH).main
    assert [part.type for part in left.operations] == [OperationType.TANH]
    assert (left.operations[0].inputs, left.operations[0].outputs, len(left.operands)) == ((0,), (1,), 2)
    assert left.output_indexes == ()


def test_models_without_their_last_operations_break_no_new_rule_of_numbers() -> None:
    first = read(next(pieces(msgspec.json.encode(chain()))))
    assert len(first.main.operations) == 20
    assert {clause for clause in classify(first, NEWEST).clauses if clause.startswith("MODEL.O")} == set()


def test_numbers_of_no_operand_stay_such() -> None:
    model = chain()
    wrong = Operation(OperationType.TANH, (99, 2**31 - 1, -1), (41,))
    model = msgspec.structs.replace(
        model, main=msgspec.structs.replace(model.main, operations=(*model.main.operations, wrong))
    )
    left = smallest(model, OperationType.TANH).main
    (tanh,) = left.operations
    assert all(not 0 <= index < len(left.operands) for index in tanh.inputs)


@pytest.mark.parametrize("data", [b"", b"5", b"[]", b"\xff", b'"x"'])
def test_what_is_no_object_has_no_pieces(data: bytes) -> None:
    assert list(pieces(data)) == []


def test_an_object_that_is_no_model_loses_elements_of_its_lists() -> None:
    assert list(pieces(b'{"main":[1,2]}')) == [b'{"main":[1]}', b'{"main":[2]}']


def test_scales_that_are_no_number_are_written_as_the_wire_spells_them() -> None:
    model = chain()
    first, *rest = model.main.operands
    odd = msgspec.structs.replace(first, scale=float("nan"))
    model = msgspec.structs.replace(model, main=msgspec.structs.replace(model.main, operands=(odd, *rest)))
    data = msgspec.json.encode(model, enc_hook=lambda scale: scale.spelling)
    assert any(b'"NaN"' in piece and len(read(piece).main.operations) == 20 for piece in islice(pieces(data), 2))
