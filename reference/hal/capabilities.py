"""The performance that the reference device reports."""

from __future__ import annotations

from npu_conformance.specs.neuralnetworks.enums import OperandType
from npu_conformance.specs.neuralnetworks.extension_codes import is_registered
from npu_conformance.specs.neuralnetworks.operand_types import OPERAND_TYPES
from npu_conformance.specs.neuralnetworks.types import Capabilities, OperandPerformance, PerformanceInfo
from npu_conformance.specs.versions import Version

_PERFORMANCE = PerformanceInfo(exec_time=1.0, power_usage=1.0)
"""As fast and as power-hungry as the CPU, on which the device is simulated."""

_WITHOUT_PERFORMANCE = {OperandType.SUBGRAPH, OperandType.OEM, OperandType.TENSOR_OEM_BYTE}


def capabilities(version: Version) -> Capabilities:
    """All the fields that the version's Capabilities have, and no others (NNHAL-QUERY-004 to -008)."""
    if version < Version.V1_2:
        return Capabilities(
            float32_performance=_PERFORMANCE,
            quantized8_performance=_PERFORMANCE,
            relaxed_float32_to_float16_performance=_PERFORMANCE if version == Version.V1_1 else None,
        )
    has_control_flow = version >= Version.V1_3
    return Capabilities(
        relaxed_float32_to_float16_performance_scalar=_PERFORMANCE,
        relaxed_float32_to_float16_performance_tensor=_PERFORMANCE,
        operand_performance=_operand_performance(version),
        if_performance=_PERFORMANCE if has_control_flow else None,
        while_performance=_PERFORMANCE if has_control_flow else None,
    )


def _operand_performance(version: Version) -> tuple[OperandPerformance, ...]:
    types = [info.type for code, info in OPERAND_TYPES.items() if info.since <= version and not is_registered(code)]
    return tuple(OperandPerformance(kind, _PERFORMANCE) for kind in sorted(set(types) - _WITHOUT_PERFORMANCE))
