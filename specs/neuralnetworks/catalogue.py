"""The operation catalogue: signatures, type combinations, ranks and versions of the 106 operations.

One small table for each operation in operations/, read when it is first asked for.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec

from npu_conformance.specs import documents
from npu_conformance.specs.neuralnetworks.enums import OperandType, OperationType
from npu_conformance.specs.neuralnetworks.operand_types import operand_type as type_named
from npu_conformance.specs.neuralnetworks.operation_tables import ANY, Argument, OperationTable, Signature
from npu_conformance.specs.neuralnetworks.registered_extensions import all_registered, cached_while_registered
from npu_conformance.specs.versions import OLDEST, Version

FOLDER = Path(__file__).parent / "operations"
"""Where the tables are."""
_NAMES_BY_CODE = {int(member): member.name for member in OperationType}
_DATA = OperandType.TENSOR_BOOL8.name
"""The fixed types of inputs are those of parameters, all but this one: truth values are data."""


def names() -> tuple[str, ...]:
    """The names of all operations in order of their codes; those of registered extensions stand behind the others."""
    return (*_names(), *_registered())


@cached_while_registered()
def operation(code_or_name: int | str) -> OperationTable:
    """Return the table of an operation; raises LookupError for a code or name that no version has."""
    name = code_or_name if isinstance(code_or_name, str) else _name_of(code_or_name)
    table = _registered().get(name) or _table(name)
    if table is None:
        raise LookupError(f"no operation {code_or_name}")
    return table


def operation_code(name: str) -> int:
    """The code of an operation; raises LookupError for a name that no version and no registered extension has."""
    if name in _registered():
        return _registered()[name].code
    return int(OperationType[name])


def has(code: int) -> bool:
    """True for the code of an operation that has a table."""
    name = _name_of(code)
    return name in _registered() or name in _names()


def is_registered(name: str) -> bool:
    """True for an operation of a registered extension."""
    return name in _registered()


@cached_while_registered(maxsize=4096)
def find_signature(name: str, input_types: tuple[int, ...]) -> Signature | None:
    """Return the signature that operands of these types fit, whatever the version; None where none does."""
    for signature in operation(name).signatures:
        if fits(signature, input_types):
            return signature
    return None


class Reading(msgspec.Struct, frozen=True):
    """How the catalogue reads inputs of some types. Without a signature that they fit everything is empty.

    arguments: at each position. positions: of each named input. defaults: of inputs that may be left off the end.
    ranked: positions and arguments whose rank the signature limits; data: those that are no parameters.
    """

    signature: Signature | None
    arguments: Sequence[Argument] = ()
    ranked: Sequence[tuple[int, Argument]] = ()
    data: Sequence[tuple[int, Argument]] = ()
    positions: Mapping[str, int] = msgspec.field(default_factory=dict)
    defaults: Mapping[str, int] = msgspec.field(default_factory=dict)


@cached_while_registered(maxsize=4096)
def reading(name: str, input_types: tuple[int, ...]) -> Reading:
    """How operands of these types are read as the inputs of an operation."""
    signature = find_signature(name, input_types)
    if signature is None:
        return Reading(None)
    inputs, count = signature.inputs, len(input_types)
    arguments = expand(inputs, count) or ()
    return Reading(
        signature,
        arguments,
        [pair for pair in enumerate(arguments) if pair[1].rank is not None],
        [pair for pair in enumerate(arguments) if pair[1].type not in OperandType.__members__ or pair[1].type == _DATA],
        {argument.name: signature.position(argument.name, count) for argument in inputs},
        {argument.name: int(argument.default) for argument in inputs if argument.default is not None},
    )


def fits(signature: Signature, input_types: Sequence[int]) -> bool:
    """True where operands of these types can be the inputs of the signature in some version."""
    arguments = expand(signature.inputs, len(input_types))
    if arguments is None or (signature.input_counts and len(input_types) not in signature.input_counts):
        return False
    return any(
        all(matches(argument, combination, kind) for argument, kind in zip(arguments, input_types, strict=True))
        for added in signature.types.values()
        for combination in added
    )


def matches(argument: Argument, combination: dict[str, str], operand_type: int) -> bool:
    """True where an operand of the type can be this argument under a combination of type variables."""
    wanted = combination.get(argument.type, argument.type)
    return wanted == ANY or type_named(wanted) == operand_type


def all_match(arguments: Sequence[Argument], combination: dict[str, str], operand_types: Sequence[int]) -> bool:
    """True where each operand type can be its argument under a combination; as many types as arguments."""
    return all(matches(argument, combination, kind) for argument, kind in zip(arguments, operand_types, strict=True))


def expand(arguments: Sequence[Argument], count: int) -> list[Argument] | None:
    """Return the argument at each of `count` positions, lists unrolled; None where the count cannot be right."""
    result = list(arguments)
    at = next((index for index, argument in enumerate(arguments) if argument.repeat), None)
    if at is None:
        return result[:count] if count <= len(result) else None
    copies = count - (len(result) - 1)
    if copies < max(arguments[at].repeat, 0):
        return None
    return [*result[:at], *[arguments[at]] * copies, *result[at + 1 :]]


def argument_since(argument: Argument) -> Version:
    """The version that brought an argument; the oldest where it is as old as its signature."""
    return argument.since or OLDEST


@functools.lru_cache(maxsize=1024)
def _table(name: str) -> OperationTable | None:
    if name not in _names():
        return None
    return documents.read(FOLDER / f"{name.lower()}.json", OperationTable)


@functools.cache
def _names() -> tuple[str, ...]:
    return tuple(member.name for member in OperationType if member is not OperationType.OEM_OPERATION)


@cached_while_registered()
def _registered() -> dict[str, OperationTable]:
    return {table.name: table for extension in all_registered() for table in extension.tables}


def _name_of(code: int) -> str:
    registered = (name for name, table in _registered().items() if table.code == code)
    return _NAMES_BY_CODE.get(code) or next(registered, "")
