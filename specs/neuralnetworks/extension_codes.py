"""Numbers of a vendor's own operations and operand types: those of the catalogue, and those of one model.

A model says which prefix each extension has in it, and another model may say something else (NNHAL-EXTENSION-005). The
catalogue needs numbers that stay: an extension in use gets one for the process, which stands above every number that
HIDL or AIDL can send. `own_form` translates a model into these numbers, `prefixes` and `wire_code` out of them.
"""

from __future__ import annotations

import itertools
import zlib
from collections.abc import Iterable, Mapping

from msgspec.structs import replace

from npu_conformance.specs.neuralnetworks.enums import EXTENSION_TYPE_LOW_BITS, OperandType
from npu_conformance.specs.neuralnetworks.types import Model, Operand, Operation, Subgraph

_OWN_BITS = 32
_PREFIXES = 0x7000
"""Prefixes are below this and a few: AIDL has 15 bits for them."""

_NUMBERS: dict[str, int] = {}
"""The number of each extension in use, by its name."""

_UNUSED = itertools.count(1)


class ExtensionOperandType(int):
    """An operand type of an extension: its number in the catalogue, with a name as those of OperandType have.

    tolerance: absolute and relative, in stored values; how far an output of this type may be from its expected value.
    """

    name: str
    tolerance: tuple[float, float]

    @classmethod
    def make(cls, code: int, name: str, tolerance: tuple[float, float]) -> ExtensionOperandType:
        """The type with this number."""
        made = cls(code)
        made.name, made.tolerance = name, tolerance
        return made


AnyOperandType = OperandType | ExtensionOperandType
"""An operand type of the contract, or of an extension in use."""


def add_extension(name: str) -> int:
    """Give an extension its number, which no other had before."""
    _NUMBERS[name] = next(_UNUSED)
    return _NUMBERS[name]


def remove_extension(name: str) -> None:
    """Forget an extension. Its number is not given out again."""
    del _NUMBERS[name]


def own_code(number: int, identifier: int) -> int:
    """The number in the catalogue of an operation or operand type of an extension."""
    return number << _OWN_BITS | identifier


def is_own(code: int) -> bool:
    """True for a number of the catalogue that no model may hold."""
    return code >> _OWN_BITS > 0


def extension_of(code: int) -> str:
    """The name of the extension in use that a number of the catalogue belongs to."""
    return extension_name(code >> _OWN_BITS)


def extension_name(number: int) -> str:
    """The name of the extension in use that has this number."""
    return next(name for name, other in _NUMBERS.items() if other == number)


def any_in_use() -> bool:
    """True while there is an extension in use."""
    return bool(_NUMBERS)


def numbers_in(codes: Iterable[int]) -> list[int]:
    """The numbers of the extensions that codes of the catalogue belong to, in order."""
    return sorted({code >> _OWN_BITS for code in codes if is_own(code)})


def first_prefix(model_name: str) -> int:
    """A prefix for the first extension of a model.

    They differ from model to model, so that a driver that remembers a prefix is noticed, and are the same each time.
    """
    return 1 + zlib.crc32(model_name.encode()) % _PREFIXES


def wire_code(code: int, prefix_of: Mapping[int, int]) -> int:
    """What a model says for a code of the catalogue. prefix_of: by the extension's number."""
    if not is_own(code):
        return code
    return prefix_of[code >> _OWN_BITS] << EXTENSION_TYPE_LOW_BITS | (code & (1 << EXTENSION_TYPE_LOW_BITS) - 1)


def numbers_of(model: Model) -> dict[int, int]:
    """The number of each extension in use that a model maps, by its prefix; empty for nearly every model.

    Prefix 0 is no extension's, even where a model says so: the standard's own codes have it.
    """
    if not _NUMBERS:
        return {}
    mapped = model.extension_name_to_prefix
    return {mapping.prefix: _NUMBERS[mapping.name] for mapping in mapped if mapping.prefix and mapping.name in _NUMBERS}


def own_form_of(code: int, numbers: Mapping[int, int]) -> int:
    """The number in the catalogue of a model's code; any other code as it is. numbers: `numbers_of` the model."""
    prefix = code >> EXTENSION_TYPE_LOW_BITS
    return own_code(numbers[prefix], code & (1 << EXTENSION_TYPE_LOW_BITS) - 1) if prefix in numbers else code


def own_form(model: Model) -> Model:
    """The model with the catalogue's numbers for extensions in use; the same object where there are none.

    The model must be valid: one that holds such numbers itself is not.
    """
    numbers = numbers_of(model)
    if not numbers:
        return model
    main, *referenced = (_own_graph(graph, numbers) for graph in (model.main, *model.referenced))
    return replace(model, main=main, referenced=tuple(referenced))


def _own_graph(graph: Subgraph, numbers: Mapping[int, int]) -> Subgraph:
    operands: list[Operand] = [replace(one, type=own_form_of(one.type, numbers)) for one in graph.operands]
    operations: list[Operation] = [replace(one, type=own_form_of(one.type, numbers)) for one in graph.operations]
    return replace(graph, operands=tuple(operands), operations=tuple(operations))
