"""What the parts of the validator share: the legal operand types of each version, and the list of findings."""

from __future__ import annotations

import functools

import msgspec
from msgspec.structs import replace

from npu_conformance.specs.neuralnetworks import catalogue
from npu_conformance.specs.neuralnetworks.enums import (
    BASE_TYPE_MAX,
    EXTENSION_TYPE_LOW_BITS,
    OperandType,
    OperationType,
)
from npu_conformance.specs.neuralnetworks.extension_prefixes import numbers_of, registered_code_of
from npu_conformance.specs.neuralnetworks.operand_types import OPERAND_TYPES, OperandTypeInfo, ScaleRule
from npu_conformance.specs.neuralnetworks.registered_extensions import cached_while_registered
from npu_conformance.specs.neuralnetworks.types import Model, Operand, Subgraph
from npu_conformance.specs.neuralnetworks.validate_rules import RULES
from npu_conformance.specs.neuralnetworks.violations import Violation
from npu_conformance.specs.versions import Version

_INT32_MAX, _UINT32_MAX = 2**31 - 1, 2**32 - 1


class Kind(msgspec.Struct, frozen=True, eq=False):
    """What the checks of an operand need to know about its type. An extension's type has none of the sizes.

    There is one of each type and version, told apart by identity: checks are looked up by it.
    """

    name: str
    is_scalar: bool
    is_tensor: bool
    size: int
    scale: ScaleRule
    zero_points: tuple[int, int] | None
    is_extension: bool = False
    is_per_channel: bool = False
    is_oem: bool = False


EXTENSION_KIND = Kind("extension type", False, False, 0, ScaleRule.ZERO, (0, 0), is_extension=True)


class VersionLimits(msgspec.Struct, frozen=True, eq=False):
    """What one version allows, precomputed: comparing versions for every operand would cost too much.

    largest: the largest number that the interface's integers hold. pool_kinds: of memory.
    """

    version: Version
    kinds: dict[int, Kind]
    operations: dict[int, str]
    is_aidl: bool
    has_unknown_rank: bool
    has_extensions: bool
    has_subgraphs: bool
    largest: int
    pool_kinds: frozenset[str]

    def kind(self, operand_type: int) -> Kind | None:
        """Return the kind of an operand type; None where the version does not know it."""
        kind = self.kinds.get(operand_type)
        return EXTENSION_KIND if kind is None and self.is_extension(operand_type) else kind

    def is_extension(self, code: int) -> bool:
        """True for the code of an extension's operand type or operation."""
        return self.has_extensions and BASE_TYPE_MAX < code <= self.largest


@functools.cache
def limits_of(version: Version) -> VersionLimits:
    """Return what a version allows."""
    is_aidl = version.is_aidl
    buffers = ("hardware_buffer_blob", "hardware_buffer") if version >= Version.V1_2 else ()
    pools = ("ashmem", "mappableFile", "hardwareBuffer") if is_aidl else ("ashmem", "mmap_fd", *buffers)
    return VersionLimits(
        version,
        kinds={code: _kind(info) for code, info in OPERAND_TYPES.items() if _knows(version, code, info.since)},
        operations={code: name for code, name in _operations().items() if _knows(version, code, _since(name))},
        is_aidl=is_aidl,
        has_unknown_rank=version >= Version.V1_2,
        has_extensions=version >= Version.V1_2,
        has_subgraphs=version >= Version.V1_3,
        largest=_INT32_MAX if is_aidl else _UINT32_MAX,
        pool_kinds=frozenset(pools),
    )


class ModelUnderValidation:
    """A model under validation and what was found so far."""

    def __init__(self, model: Model, version: Version, text_rules: bool = False) -> None:
        self.model = model
        self.limits = limits_of(version)
        self.text_rules = text_rules
        self.registered_numbers = numbers_of(model)
        self.violations: list[Violation] = []

    @property
    def graphs(self) -> list[Subgraph]:
        """The main graph and, from the version that has them, the referenced ones: number 0, 1, ..."""
        return [self.model.main, *(self.model.referenced if self.limits.has_subgraphs else ())]

    def kind(self, operand_type: int) -> Kind | None:
        """The kind of an operand type: of a registered extension with its sizes; None where there is no such type."""
        if self.registered_numbers and extension_prefix(operand_type) in self.registered_numbers:
            return _registered_kind(self.in_catalogue(operand_type))
        return self.limits.kind(operand_type)

    def in_catalogue(self, code: int) -> int:
        """The catalogue's number of a code: another one for the types and operations of registered extensions."""
        return registered_code_of(code, self.registered_numbers) if self.registered_numbers else code

    def report(
        self, rule: str, message: str, subgraph: int = 0, operation: int | None = None, operand: int | None = None
    ) -> None:
        """Note that a rule is broken. Rules of the text alone count only where they were asked for."""
        if self.text_rules or RULES[rule].latest != "text":
            where = "" if subgraph == 0 else f"subgraph {subgraph}: "
            self.violations.append(Violation(rule, where + message, subgraph, operation, operand))


def operand_label(index: int, operand: Operand) -> str:
    """How messages name an operand: `operand 3 (TENSOR_FLOAT32)`."""
    return f"operand {index} ({type_name(operand.type)})"


def type_name(operand_type: int) -> str:
    """The name of an operand type, or its number."""
    info = OPERAND_TYPES.get(operand_type)
    return info.type.name if info else f"type {operand_type}"


def extension_prefix(code: int) -> int:
    """The prefix in the code of an extension's operand type or operation."""
    return code >> EXTENSION_TYPE_LOW_BITS


@cached_while_registered()
def _registered_kind(code: int) -> Kind | None:
    """One for each type of a registered extension: who looks checks up by it compares identities."""
    info = OPERAND_TYPES.get(code)
    return None if info is None else replace(_kind(info), is_extension=True)


def _kind(info: OperandTypeInfo) -> Kind:
    is_scalar = not info.is_tensor
    per_channel = info.type is OperandType.TENSOR_QUANT8_SYMM_PER_CHANNEL
    is_oem = info.type in (OperandType.OEM, OperandType.TENSOR_OEM_BYTE)
    return Kind(
        info.type.name,
        is_scalar,
        info.is_tensor,
        info.size,
        info.scale,
        info.zero_points,
        is_per_channel=per_channel,
        is_oem=is_oem,
    )


def _knows(version: Version, code: int, since: Version) -> bool:
    return code <= (BASE_TYPE_MAX if not version.is_aidl else OperandType.OEM - 1) and since <= version


def _operations() -> dict[int, str]:
    return {member.value: member.name for member in OperationType}


def _since(name: str) -> Version:
    return Version.V1_0 if name == OperationType.OEM_OPERATION.name else catalogue.operation(name).since
