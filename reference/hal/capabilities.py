"""The performance that the reference device reports."""

from __future__ import annotations

from npu_conformance.specs.neuralnetworks.enums import OperandType
from npu_conformance.specs.neuralnetworks.extension_codes import is_registered
from npu_conformance.specs.neuralnetworks.operand_types import OPERAND_TYPES
from npu_conformance.specs.neuralnetworks.registered_extensions import cached_while_registered
from npu_conformance.specs.neuralnetworks.types import Capabilities, OperandPerformance, PerformanceInfo
from npu_conformance.specs.versions import Version

_WITHOUT_PERFORMANCE = {OperandType.SUBGRAPH, OperandType.OEM, OperandType.TENSOR_OEM_BYTE}


def capabilities(version: Version, ratio: float = 1.0) -> Capabilities:
    """All the fields that the version's Capabilities have, and no others (NNHAL-QUERY-004 to -008).

    ratio: to the CPU's time and power; the device is simulated on that.
    """
    performance = PerformanceInfo(exec_time=ratio, power_usage=ratio)
    if version < Version.V1_2:
        return Capabilities(
            float32_performance=performance,
            quantized8_performance=performance,
            relaxed_float32_to_float16_performance=performance if version == Version.V1_1 else None,
        )
    has_control_flow = version >= Version.V1_3
    return Capabilities(
        relaxed_float32_to_float16_performance_scalar=performance,
        relaxed_float32_to_float16_performance_tensor=performance,
        operand_performance=_operand_performance(version, performance),
        if_performance=performance if has_control_flow else None,
        while_performance=performance if has_control_flow else None,
    )


@cached_while_registered()
def _operand_performance(version: Version, performance: PerformanceInfo) -> tuple[OperandPerformance, ...]:
    types = [info.type for code, info in OPERAND_TYPES.items() if info.since <= version and not is_registered(code)]
    return tuple(OperandPerformance(kind, performance) for kind in sorted(set(types) - _WITHOUT_PERFORMANCE))
