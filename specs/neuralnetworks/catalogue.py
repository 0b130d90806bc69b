"""The operation catalogue: signatures, type combinations, ranks and versions of the 106 operations.

One small table for each operation in operations/, read when it is first asked for.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from pathlib import Path

from npu_conformance.specs import documents
from npu_conformance.specs.documents import Document
from npu_conformance.specs.neuralnetworks.enums import OperationType
from npu_conformance.specs.neuralnetworks.operand_types import operand_type as type_named
from npu_conformance.specs.versions import OLDEST, Version

ANY = "any"
"""The type of an operand of IF and WHILE that may have any type."""

FOLDER = Path(__file__).parent / "operations"
"""Where the tables are."""

_OWN: dict[str, OperationTable] = {}
"""Tables of operations of extensions in use, by name."""


class Argument(Document, frozen=True, omit_defaults=True):
    """One input or output of a signature.

    type: a name of OperandType, or a type variable (one capital letter) that the type combinations bind.
    rank: legal numbers of dimensions of a tensor, None for any. repeat: how often it occurs at least, where it stands
    for a list; 0 for a single operand, -1 for a list that may be empty. optional: may be NO_VALUE, or a model input
    that a request leaves out. trailing_optional: may be left off the end. default: what is meant then.
    since: the version that brought it, where later than its signature. allowed: legal values.
    zero_sized: may have a dimension of 0 at execution. quantization: rule of scale and zero point, in words.
    """

    name: str
    type: str
    rank: tuple[int, ...] | None = None
    repeat: int = 0
    optional: bool = False
    trailing_optional: bool = False
    default: bool | int | None = None
    since: Version | None = None
    allowed: tuple[int, ...] | None = None
    zero_sized: bool = False
    quantization: str = ""


class Signature(Document, frozen=True, omit_defaults=True):
    """One list of arguments. types: combinations of the type variables that each version added.

    input_counts: legal numbers of inputs, None where a repeated one leaves it open. output_counts: legal numbers of
    outputs that each version added, where not simply all of them. activation: position of the fused activation code.
    """

    variant: str
    types: dict[Version, tuple[dict[str, str], ...]]
    inputs: tuple[Argument, ...]
    outputs: tuple[Argument, ...]
    input_counts: tuple[int, ...] | None = None
    output_counts: dict[Version, tuple[int, ...]] | None = None
    activation: int | None = None

    @property
    def since(self) -> Version:
        """The first version that has this list with any types."""
        return min(self.types)

    def combinations(self, version: Version) -> list[dict[str, str]]:
        """The type combinations that are legal in a version."""
        return [combination for since, added in self.types.items() if since <= version for combination in added]

    def position(self, name: str, count: int | None = None) -> int:
        """Position of a named input (of the first one of a list) among `count` inputs; -1 for an unknown name."""
        repeated = next((index for index, argument in enumerate(self.inputs) if argument.repeat), len(self.inputs))
        for index, argument in enumerate(self.inputs):
            if argument.name == name:
                return index if index <= repeated or count is None else count - len(self.inputs) + index
        return -1


class OperationTable(Document, frozen=True, omit_defaults=True):
    """What the catalogue knows of one operation.

    broadcast: whether shapes of inputs 0 and 1 broadcast. zero_sized_since: the version that allowed inputs without
    elements, None where none did. relaxed: whether float32 may be computed with float16 range and precision.
    """

    name: str
    code: int
    since: Version
    signatures: tuple[Signature, ...]
    broadcast: bool = False
    relaxed: bool = False
    zero_sized_since: Version | None = None


def names() -> tuple[str, ...]:
    """The names of all operations in order of their codes; those of extensions in use stand behind the others."""
    return (*_names(), *_OWN)


def operation(code_or_name: int | str) -> OperationTable:
    """Return the table of an operation; raises LookupError for a code or name that no version has."""
    name = code_or_name if isinstance(code_or_name, str) else _name_of(code_or_name)
    if name in _OWN:
        return _OWN[name]
    if name not in _names():
        raise LookupError(f"no operation {code_or_name}")
    return _table(name)


def operation_code(name: str) -> int:
    """The code of an operation; raises LookupError for a name that no version and no extension in use has."""
    if name in _OWN:
        return _OWN[name].code
    return int(OperationType[name])


def has(code: int) -> bool:
    """True for the code of an operation that has a table."""
    name = _name_of(code)
    return name in _OWN or name in _names()


def is_own(name: str) -> bool:
    """True for an operation of an extension in use."""
    return name in _OWN


def add_own(table: OperationTable) -> None:
    """Make an operation of an extension known."""
    _OWN[table.name] = table


def remove_own(name: str) -> None:
    """Forget an operation of an extension, and what was worked out about operations so far."""
    del _OWN[name]
    for cached in (find_signature, input_positions, input_defaults):
        cached.cache_clear()


@functools.lru_cache(maxsize=4096)
def find_signature(name: str, input_types: tuple[int, ...]) -> Signature | None:
    """Return the signature that operands of these types fit, whatever the version; None where none does."""
    for signature in operation(name).signatures:
        if fits(signature, input_types):
            return signature
    return None


@functools.lru_cache(maxsize=4096)
def input_positions(name: str, input_types: tuple[int, ...]) -> dict[str, int]:
    """Return the position of each named input of the signature that operands of these types fit; empty without one."""
    signature = find_signature(name, input_types)
    if signature is None:
        return {}
    return {argument.name: signature.position(argument.name, len(input_types)) for argument in signature.inputs}


@functools.lru_cache(maxsize=4096)
def input_defaults(name: str, input_types: tuple[int, ...]) -> dict[str, int]:
    """Return what is meant where an input is left off the end, by its name; only inputs that have such a default."""
    signature = find_signature(name, input_types)
    inputs = signature.inputs if signature else ()
    return {argument.name: int(argument.default) for argument in inputs if argument.default is not None}


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


def expand(arguments: Sequence[Argument], count: int) -> list[Argument] | None:
    """Return the argument at each of `count` positions, lists unrolled; None where the count can not be right."""
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


@functools.cache
def _table(name: str) -> OperationTable:
    return documents.read(FOLDER / f"{name.lower()}.json", OperationTable)


@functools.cache
def _names() -> tuple[str, ...]:
    return tuple(member.name for member in OperationType if member is not OperationType.OEM_OPERATION)


def _name_of(code: int) -> str:
    try:
        return OperationType(code).name
    except ValueError:
        return next((name for name, table in _OWN.items() if table.code == code), "")
