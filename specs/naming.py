"""The two spellings of AIDL's names: snake_case in Python, camelCase on the wire."""

from __future__ import annotations

# AIDL names that the plain rule would spell wrongly. A test holds this list against the interface files' names.
IRREGULAR = {
    "relax_computation_float32_to_float16": "relaxComputationFloat32toFloat16",
    "relaxed_float32_to_float16_performance": "relaxedFloat32toFloat16Performance",
    "relaxed_float32_to_float16_performance_scalar": "relaxedFloat32toFloat16PerformanceScalar",
    "relaxed_float32_to_float16_performance_tensor": "relaxedFloat32toFloat16PerformanceTensor",
}


def camel_case(name: str) -> str:
    """Return AIDL's spelling of a snake_case name: `zero_point` -> `zeroPoint`."""
    if name in IRREGULAR:
        return IRREGULAR[name]
    first, *rest = name.split("_")
    return first + "".join(part[:1].upper() + part[1:] for part in rest)
