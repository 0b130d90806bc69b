"""Rules of single operands, as addOperand and the setters of values check them (FW-MDL-002 to -014, -019)."""

from __future__ import annotations

from npu_conformance.reference.runtime.backend import RuntimeFailure
from npu_conformance.reference.runtime.objects.extensions import Extensions, is_extension
from npu_conformance.specs.neuralnetworks.enums import OperandType
from npu_conformance.specs.neuralnetworks.operand_types import OPERAND_TYPES, OperandTypeInfo, ScaleRule
from npu_conformance.specs.neuralnetworks.runtime.result_codes import ResultCode
from npu_conformance.specs.neuralnetworks.runtime.types import OperandDescription, PerChannelDescription
from npu_conformance.specs.neuralnetworks.types import Operand, SymmPerChannelQuantParams
from npu_conformance.specs.versions import Version

_LARGEST = 2**32 - 1


def bad_data(message: str) -> RuntimeFailure:
    """The failure of an argument that is wrong by itself."""
    return RuntimeFailure(ResultCode.BAD_DATA, message)


def bad_state(message: str) -> RuntimeFailure:
    """The failure of a call that comes too early, too late, or twice."""
    return RuntimeFailure(ResultCode.BAD_STATE, message)


def check_description(
    described: OperandDescription, extensions: Extensions, level: Version, allow_partial: bool = True
) -> None:
    """Raise BAD_DATA for a description that no operand can have. allow_partial: sizes may be unknown."""
    if (described.dimension_count == 0) != (described.dimensions is None):
        raise bad_data("the number of dimensions and the pointer to them disagree")  # FW-MDL-002
    _check_dimensions(described, _is_tensor(described.type, extensions, level), allow_partial)
    _check_quantization(described)
    size = element_size(described.type, extensions)
    for dimension in described.dimensions or ():
        size *= dimension or 1
    if size > _LARGEST:
        raise bad_data(f"{size} bytes are more than {_LARGEST}")  # FW-MDL-010


def _is_tensor(operand_type: int, extensions: Extensions, level: Version) -> bool:
    """Whether a type is a tensor's. Raises BAD_DATA for what is no type of this runtime (FW-MDL-004)."""
    if is_extension(operand_type):
        if not extensions.are_allowed():
            raise bad_data("the process may not use extensions")  # FW-EXT-001
        if extensions.operand_type(operand_type) is None:
            raise bad_data(f"no driver describes the extension's operand type {operand_type}")
    elif operand_type not in OPERAND_TYPES or OPERAND_TYPES[operand_type].since > level:
        raise bad_data(f"there is no operand type {operand_type}")
    return extensions.is_tensor(operand_type)


def _check_dimensions(described: OperandDescription, is_tensor: bool, allow_partial: bool) -> None:
    dimensions = described.dimensions or ()
    if len(dimensions) != described.dimension_count:
        raise bad_data(f"{described.dimension_count} dimensions are announced, {len(dimensions)} are there")
    if not is_tensor and dimensions:
        raise bad_data("a scalar has no dimensions")  # FW-MDL-003
    if any(not 0 <= dimension <= _LARGEST for dimension in dimensions):
        raise bad_data(f"dimensions {dimensions} do not fit into 32 bits")
    if is_tensor and not allow_partial and (not dimensions or 0 in dimensions):
        raise bad_data(f"dimensions {dimensions} are not all known")


_UNCHECKED = (OperandType.TENSOR_INT32, OperandType.OEM, OperandType.TENSOR_OEM_BYTE)


def _check_quantization(described: OperandDescription) -> None:
    """FW-MDL-005 to -009. Extensions keep their parameters elsewhere."""
    if described.type in _UNCHECKED:
        return
    info: OperandTypeInfo | None = OPERAND_TYPES.get(described.type)
    if info is None or info.zero_points is None or info.scale is not ScaleRule.POSITIVE:
        if described.scale != 0 or described.zero_point != 0:
            raise bad_data("scale and zero point must be 0")
        return
    low, high = info.zero_points
    if not described.scale > 0:
        raise bad_data(f"scale {described.scale} must be greater than 0")
    if not low <= described.zero_point <= high:
        raise bad_data(f"zero point {described.zero_point} must be in {low}..{high}")


def element_size(operand_type: int, extensions: Extensions) -> int:
    """Bytes of one element."""
    if is_extension(operand_type):
        described = extensions.operand_type(operand_type)
        return described.byte_size if described else 0
    return OPERAND_TYPES[operand_type].size


def check_value_size(operand: Operand, length: int, extensions: Extensions) -> None:
    """Raise BAD_DATA where a constant of so many bytes cannot be the operand's (FW-MDL-012, -013)."""
    if has_unknown_dimensions(operand.type, operand.dimensions, extensions):
        raise bad_data(f"dimensions {operand.dimensions} of a constant are not all known")
    size = extensions.byte_size(operand.type, operand.dimensions)
    if operand.type != OperandType.OEM and length != size:
        raise bad_data(f"the value has {length} bytes, the operand {size}")
    if not 0 < length <= _LARGEST:
        raise bad_data(f"a value of {length} bytes")


def has_unknown_dimensions(operand_type: int, dimensions: tuple[int, ...], extensions: Extensions) -> bool:
    """Whether the rank or a size of a tensor is unknown."""
    return extensions.is_tensor(operand_type) and (not dimensions or 0 in dimensions)


def per_channel_parameters(operand: Operand, described: PerChannelDescription) -> SymmPerChannelQuantParams:
    """The parameters of an operand. Raises BAD_DATA where they do not fit (FW-MDL-019)."""
    if operand.type != OperandType.TENSOR_QUANT8_SYMM_PER_CHANNEL:
        raise bad_data("the operand is not quantised per channel")
    if not 0 <= described.channel_dim < len(operand.dimensions):
        raise bad_data(f"channel dimension {described.channel_dim} of rank {len(operand.dimensions)}")
    size = operand.dimensions[described.channel_dim]
    if described.scales is None or described.scale_count != size or len(described.scales) < size or size == 0:
        raise bad_data(f"{described.scale_count} scales for {size} channels")
    scales = described.scales[:size]
    if not all(scale > 0 for scale in scales):
        raise bad_data("a channel's scale is not greater than 0")
    return SymmPerChannelQuantParams(scales, described.channel_dim)
