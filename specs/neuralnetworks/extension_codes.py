"""Numbers of operations and operand types of vendors' extensions: those of the catalogue, and those of one model.

A model says which prefix each extension has in it, and another model may say something else (NNHAL-EXTENSION-005). The
catalogue needs numbers that stay: each registered extension has one for the process, which stands above every number
that HIDL or AIDL can send. `wire_code` translates them into those of a model, `extension_prefixes` back.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Mapping

from npu_conformance.specs.neuralnetworks.enums import BASE_TYPE_MAX, EXTENSION_TYPE_LOW_BITS, OperandType

_REGISTERED_BITS = 32
_PREFIXES = 0x7000
"""Prefixes are below this and a few: AIDL has 15 bits for them."""


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
"""An operand type of the contract, or of a registered extension."""


def registered_code(number: int, identifier: int) -> int:
    """The number in the catalogue of an operation or operand type. number: of its extension."""
    return number << _REGISTERED_BITS | identifier


def is_registered(code: int) -> bool:
    """True for a number of the catalogue that no model may hold: one of a registered extension."""
    return extension_number(code) > 0


def extension_number(code: int) -> int:
    """The number of the extension that a number of the catalogue belongs to; 0 for the standard."""
    return code >> _REGISTERED_BITS


def identifier(code: int) -> int:
    """The number that the vendor gave the operation or operand type of a number of the catalogue."""
    return code & BASE_TYPE_MAX


def numbers_in(codes: Iterable[int]) -> list[int]:
    """The numbers of the extensions that codes of the catalogue belong to, in order."""
    return sorted({number for number in map(extension_number, codes) if number > 0})


def first_prefix(model_name: str) -> int:
    """A prefix for the first extension of a model.

    They differ from model to model, so that a driver that remembers a prefix is detected, and are the same each time.
    """
    return 1 + zlib.crc32(model_name.encode()) % _PREFIXES


def wire_code(code: int, prefix_of: Mapping[int, int]) -> int:
    """The code that a model has for a code of the catalogue. prefix_of: gives the prefix by the extension's number."""
    if not is_registered(code):
        return code
    return prefix_of[extension_number(code)] << EXTENSION_TYPE_LOW_BITS | identifier(code)
