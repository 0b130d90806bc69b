"""The tables of the kit: enumerations, operand types, signatures of operations, structural rules."""

from __future__ import annotations

import enum
from typing import Any

from npu_conformance.specs.neuralnetworks import catalogue, enums
from npu_conformance.specs.neuralnetworks.enums import BASE_TYPE_MAX, OperandType, OperationType
from npu_conformance.specs.neuralnetworks.operand_types import OPERAND_TYPES, ScaleRule
from npu_conformance.specs.neuralnetworks.operation_tables import ANY, Argument, Signature
from npu_conformance.specs.neuralnetworks.validate import structural_rules
from npu_conformance.specs.npu import types as npu_types
from npu_conformance.specs.versions import HIDL_LAST, NEWEST, OLDEST, Version

ANY_TYPE = -1
"""Stands in a list of types for an operand that may have any: those of IF and WHILE."""

_SCALES = {
    ScaleRule.ZERO: "zero",
    ScaleRule.NOT_NEGATIVE: "not_negative",
    ScaleRule.POSITIVE: "positive",
    ScaleRule.UNCHECKED: "unchecked",
}


def enumerations() -> dict[str, Any]:
    """Names and numbers of every enumeration, and the versions in order of age."""
    found = {kind.__name__: {member.name: int(member) for member in kind} for kind in integer_enums()}
    return {"Version": [version.value for version in Version], **found}


def integer_enums() -> list[type[enum.IntEnum]]:
    """The enumerations of the neural networks HAL, then those of the npu interfaces."""
    declared = [(module, kind) for module in (enums, npu_types) for kind in vars(module).values()]
    return [
        kind
        for module, kind in declared
        if isinstance(kind, type) and issubclass(kind, enum.IntEnum) and kind.__module__ == module.__name__
    ]


def operand_types() -> dict[str, Any]:
    """Each operand type: code, versions, element, and what its scale and zero point may be."""
    return {
        info.type.name: {
            "code": int(info.type),
            **_versions(int(info.type), info.since),
            "tensor": info.is_tensor,
            "bytes": info.size,
            "element": info.dtype if info.size else None,
            "scale": _SCALES[info.scale],
            "zeroPoint": list(info.zero_points) if info.zero_points else None,
            "perChannel": info.type is OperandType.TENSOR_QUANT8_SYMM_PER_CHANNEL,
        }
        for info in OPERAND_TYPES.values()
        if int(info.type) in set(OperandType)
    }


def operations() -> dict[str, Any]:
    """Each operation of the standard: code, versions and signatures.

    OEM_OPERATION has no signature, so that anything goes.
    """
    oem = OperationType.OEM_OPERATION
    return {
        **{name: _operation(name) for name in catalogue.names() if not catalogue.is_registered(name)},
        oem.name: {"code": int(oem), **_versions(int(oem), OLDEST), "signatures": []},
    }


def rules() -> dict[str, Any]:
    """Each structural rule of models and requests: what must hold, in which versions, how late it may be found."""
    return {
        rule.id: {
            "text": rule.text,
            "since": rule.since.value,
            "until": None if rule.until is NEWEST else rule.until.value,
            "latest": rule.latest,
        }
        for rule in structural_rules()
    }


def _versions(code: int, since: Version) -> dict[str, str | None]:
    """OEM codes lie above the numbers that AIDL leaves to the standard, and end with HIDL."""
    oem = OperandType.OEM <= code <= BASE_TYPE_MAX
    return {"since": since.value, "until": HIDL_LAST.value if oem else None}


def _operation(name: str) -> dict[str, Any]:
    table = catalogue.operation(name)
    signatures = [signature_entry(signature) for signature in table.signatures]
    return {"code": table.code, **_versions(table.code, table.since), "signatures": signatures}


def signature_entry(signature: Signature) -> dict[str, Any]:
    """A signature with numbers in place of type variables: each entry of `types` has one type for each argument.

    A type of an extension, which has another number in each model, stands there by its name.
    """
    return {
        "variant": signature.variant,
        "inputCounts": list(signature.input_counts) if signature.input_counts else None,
        "outputCounts": _output_counts(signature),
        "inputs": [_argument(argument) for argument in signature.inputs],
        "outputs": [_argument(argument) for argument in signature.outputs],
        "types": [
            {
                "since": since.value,
                "inputs": [_code(argument, combination) for argument in signature.inputs],
                "outputs": [_code(argument, combination) for argument in signature.outputs],
            }
            for since, added in signature.types.items()
            for combination in added
        ],
    }


def _output_counts(signature: Signature) -> list[dict[str, Any]] | None:
    if signature.output_counts is not None:
        return [{"since": since.value, "counts": list(counts)} for since, counts in signature.output_counts.items()]
    if any(argument.repeat for argument in signature.outputs):
        return None
    return [{"since": OLDEST.value, "counts": [len(signature.outputs)]}]


def _argument(argument: Argument) -> dict[str, Any]:
    """What an argument says; what it does not say is left out."""
    entry: dict[str, Any] = {"name": argument.name}
    if argument.rank is not None:
        entry["ranks"] = list(argument.rank)
    if argument.optional:
        entry["optional"] = True
    if argument.repeat:
        entry["atLeast"] = max(argument.repeat, 0)
    if argument.since is not None:
        entry["since"] = argument.since.value
    if argument.allowed is not None:
        entry["allowed"] = list(argument.allowed)
    return entry


def _code(argument: Argument, combination: dict[str, str]) -> int | str:
    name = combination.get(argument.type, argument.type)
    if name == ANY:
        return ANY_TYPE
    return int(OperandType[name]) if name in OperandType.__members__ else name
