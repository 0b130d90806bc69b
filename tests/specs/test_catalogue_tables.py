"""The 106 operation tables: complete, ordered, and consistent with the enumerations."""

from __future__ import annotations

import pytest

from npu_conformance.specs.neuralnetworks import catalogue
from npu_conformance.specs.neuralnetworks.enums import OperandType, OperationType
from npu_conformance.specs.neuralnetworks.operand_types import OPERAND_TYPES
from npu_conformance.specs.neuralnetworks.operation_tables import ANY, Argument, Signature
from npu_conformance.specs.versions import OLDEST, Version

NAMES = catalogue.names()
ADDED = {
    Version.V1_0: range(29),
    Version.V1_1: range(29, 38),
    Version.V1_2: range(38, 95),
    Version.V1_3: range(95, 102),
    Version.FL6: range(102, 104),
    Version.FL7: range(104, 106),
}


def is_variable(kind: str) -> bool:
    return len(kind) == 1


def arguments(signature: Signature) -> list[Argument]:
    return [*signature.inputs, *signature.outputs]


def test_there_are_106_operations_with_460_type_combinations() -> None:
    combinations = [
        combination
        for name in NAMES
        for signature in catalogue.operation(name).signatures
        for added in signature.types.values()
        for combination in added
    ]
    assert len(NAMES) == 106
    assert len(combinations) == 460


def test_every_table_belongs_to_an_operation() -> None:
    tables = {path.stem.upper() for path in catalogue.FOLDER.glob("*.json")}
    assert tables == set(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_name_code_and_version_agree_with_the_enumeration(name: str) -> None:
    table = catalogue.operation(name)
    assert table.name == name
    assert table.code == OperationType[name]
    assert table.code in ADDED[table.since]
    assert catalogue.operation(table.code) is table


@pytest.mark.parametrize("name", NAMES)
def test_versions_are_ordered(name: str) -> None:
    table = catalogue.operation(name)
    assert min(signature.since for signature in table.signatures) == table.since
    for signature in table.signatures:
        assert list(signature.types) == sorted(signature.types)
        assert all(added for added in signature.types.values())
        for argument in signature.inputs:
            assert (argument.since or signature.since) >= signature.since


@pytest.mark.parametrize("name", NAMES)
def test_every_type_is_bound_and_exists(name: str) -> None:
    for signature in catalogue.operation(name).signatures:
        used = {argument.type for argument in arguments(signature)}
        assert all(is_variable(kind) or kind in OperandType.__members__ for kind in used)
        variables = {kind for kind in used if is_variable(kind)}
        for added in signature.types.values():
            for combination in added:
                assert variables <= set(combination)
                assert all(kind in OperandType.__members__ or kind == ANY for kind in combination.values())


@pytest.mark.parametrize("name", NAMES)
def test_a_type_combination_is_not_older_than_its_types(name: str) -> None:
    fixed = {argument.type for s in catalogue.operation(name).signatures for argument in arguments(s)}
    for signature in catalogue.operation(name).signatures:
        for since, added in signature.types.items():
            kinds = {kind for combination in added for kind in combination.values()} - {ANY}
            assert all(OPERAND_TYPES[OperandType[kind]].since <= since for kind in kinds)
        for argument in signature.inputs:
            if argument.type in OperandType.__members__ and argument.type in fixed:
                assert OPERAND_TYPES[OperandType[argument.type]].since <= (argument.since or signature.since)


@pytest.mark.parametrize("name", NAMES)
def test_counts_ranks_and_positions_make_sense(name: str) -> None:
    for signature in catalogue.operation(name).signatures:
        lists = [argument for argument in signature.inputs if argument.repeat]
        assert (signature.input_counts is None) == bool(lists)
        assert max(signature.input_counts or (len(signature.inputs),)) == len(signature.inputs)
        fewest = min(signature.input_counts or (len(signature.inputs),))
        trailing = [argument.trailing_optional for argument in signature.inputs]
        assert trailing == [position >= fewest for position in range(len(signature.inputs))]
        names = [argument.name for argument in signature.inputs]
        assert len(set(names)) == len(names)
        assert signature.activation is None or signature.inputs[signature.activation].name.endswith("activation")
        for argument in arguments(signature):
            assert argument.rank is None or list(argument.rank) == sorted(set(argument.rank))


def test_positions_count_from_the_end_behind_a_list() -> None:
    (concatenation,) = catalogue.operation("CONCATENATION").signatures
    assert concatenation.position("inputs", 4) == 0
    assert concatenation.position("axis", 4) == 3
    assert concatenation.position("nothing", 4) == -1


def test_equal_counts_are_told_apart_by_types() -> None:
    explicit, implicit = catalogue.operation("CONV_2D").signatures
    tensors = (OperandType.TENSOR_FLOAT32,) * 3
    integers = (OperandType.INT32,)
    assert catalogue.find_signature("CONV_2D", tensors + integers * 7) is explicit
    with_layout = tensors + integers * 4 + (OperandType.BOOL,) + integers * 2
    assert catalogue.find_signature("CONV_2D", with_layout) is implicit
    assert catalogue.find_signature("CONV_2D", tensors) is None


def test_combinations_grow_with_the_version() -> None:
    (reshape,) = catalogue.operation("RESHAPE").signatures
    assert [len(reshape.combinations(version)) for version in Version] == [2, 2, 3, 4, 4, 5, 5, 5]
    assert reshape.since == OLDEST


@pytest.mark.parametrize("unknown", ["add", "OEM_OPERATION", 106, -1, 10000, 1 << 40])
def test_an_unknown_operation_is_a_lookup_error(unknown: int | str) -> None:
    with pytest.raises(LookupError, match="no operation"):
        catalogue.operation(unknown)
