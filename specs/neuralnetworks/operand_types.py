"""Properties of each operand type: element, kind, legal scale and zero point, and the version it appeared in."""

from __future__ import annotations

import enum
import functools
from dataclasses import dataclass

from npu_conformance.specs.neuralnetworks.enums import OperandType
from npu_conformance.specs.neuralnetworks.extension_codes import AnyOperandType
from npu_conformance.specs.versions import Version


class ScaleRule(enum.Enum):
    """Which scale an operand of a type may have (NNHAL-MODEL-012 to -014)."""

    ZERO = "must be 0"
    NOT_NEGATIVE = "must not be negative"
    POSITIVE = "must be greater than 0"
    UNCHECKED = "is not checked"


@dataclass(frozen=True)
class OperandTypeInfo:
    """One operand type. `dtype` is the numpy name of an element, `size` its bytes (0 where the vendor decides)."""

    type: AnyOperandType
    since: Version
    dtype: str
    size: int
    is_tensor: bool
    scale: ScaleRule = ScaleRule.ZERO
    zero_points: tuple[int, int] | None = (0, 0)

    @functools.cached_property
    def is_quantized(self) -> bool:
        """True where a stored integer stands for (q - zero point) * scale."""
        return self.scale is ScaleRule.POSITIVE or self.type is OperandType.TENSOR_QUANT8_SYMM_PER_CHANNEL


def _scalar(kind: OperandType, dtype: str, size: int, since: Version) -> OperandTypeInfo:
    return OperandTypeInfo(kind, since, dtype, size, is_tensor=False)


def _tensor(kind: OperandType, dtype: str, size: int, since: Version) -> OperandTypeInfo:
    return OperandTypeInfo(kind, since, dtype, size, is_tensor=True)


def _quantized(kind: OperandType, dtype: str, size: int, since: Version, low: int, high: int) -> OperandTypeInfo:
    return OperandTypeInfo(kind, since, dtype, size, True, ScaleRule.POSITIVE, (low, high))


_T = OperandType
_V = Version

OPERAND_TYPES: dict[int, OperandTypeInfo] = {
    info.type: info
    for info in (
        _scalar(_T.FLOAT32, "float32", 4, _V.V1_0),
        _scalar(_T.INT32, "int32", 4, _V.V1_0),
        _scalar(_T.UINT32, "uint32", 4, _V.V1_0),
        _tensor(_T.TENSOR_FLOAT32, "float32", 4, _V.V1_0),
        OperandTypeInfo(_T.TENSOR_INT32, _V.V1_0, "int32", 4, True, ScaleRule.NOT_NEGATIVE),
        _quantized(_T.TENSOR_QUANT8_ASYMM, "uint8", 1, _V.V1_0, 0, 255),
        _scalar(_T.BOOL, "uint8", 1, _V.V1_2),
        _quantized(_T.TENSOR_QUANT16_SYMM, "int16", 2, _V.V1_2, 0, 0),
        _tensor(_T.TENSOR_FLOAT16, "float16", 2, _V.V1_2),
        _tensor(_T.TENSOR_BOOL8, "uint8", 1, _V.V1_2),
        _scalar(_T.FLOAT16, "float16", 2, _V.V1_2),
        _tensor(_T.TENSOR_QUANT8_SYMM_PER_CHANNEL, "int8", 1, _V.V1_2),
        _quantized(_T.TENSOR_QUANT16_ASYMM, "uint16", 2, _V.V1_2, 0, 65535),
        _quantized(_T.TENSOR_QUANT8_SYMM, "int8", 1, _V.V1_2, 0, 0),
        _quantized(_T.TENSOR_QUANT8_ASYMM_SIGNED, "int8", 1, _V.V1_3, -128, 127),
        _scalar(_T.SUBGRAPH, "uint8", 0, _V.V1_3),
        OperandTypeInfo(_T.OEM, _V.V1_0, "uint8", 0, False, ScaleRule.UNCHECKED, None),
        OperandTypeInfo(_T.TENSOR_OEM_BYTE, _V.V1_0, "uint8", 1, True, ScaleRule.UNCHECKED, None),
    )
}
"""Every operand type by its number; those of extensions while they are registered."""

_BY_NAME: dict[str, AnyOperandType] = dict(OperandType.__members__)


def operand_type(name: str) -> AnyOperandType:
    """The operand type of a name; raises LookupError where there is none."""
    return _BY_NAME[name]


def add(info: OperandTypeInfo) -> None:
    """Add a type of an extension. `registered_extensions` alone adds and removes types."""
    OPERAND_TYPES[info.type] = info
    _BY_NAME[info.type.name] = info.type


def remove(info: OperandTypeInfo) -> None:
    """Remove a type of an extension."""
    del OPERAND_TYPES[info.type], _BY_NAME[info.type.name]


def element_count(dimensions: tuple[int, ...]) -> int:
    """Product of the dimensions; 1 for a scalar, 0 as soon as one dimension is 0 (unknown or empty)."""
    count = 1
    for dimension in dimensions:
        count *= dimension
    return count


def byte_size(operand_type: int, dimensions: tuple[int, ...]) -> int:
    """Bytes of a value of this type and shape; 0 where a dimension or the type's size is unknown."""
    info = OPERAND_TYPES.get(operand_type)
    if info is None or (info.is_tensor and not dimensions):
        return 0
    return info.size * element_count(dimensions)
