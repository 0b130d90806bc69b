"""Which C function a method of Runtime is."""

from __future__ import annotations

from npu_conformance.specs.naming import camel_case

_OBJECTS = ("model", "compilation", "execution", "event", "burst", "memory_desc", "memory", "device")
"""Whose functions carry their name; memory_desc stands before memory, with which its functions begin too."""
WITHOUT_C = {"functions", "memory_create_from_a_hardware_buffer"}
"""Methods that no C function can stand for here: outside Android there is no AHardwareBuffer to pass."""


def c_name(method: str) -> str:
    """The C function of a method of Runtime: `model_add_operand` -> `ANeuralNetworksModel_addOperand`."""
    for name in _OBJECTS:
        if method.startswith(f"{name}_"):
            kind = camel_case(f"_{name}")
            return f"ANeuralNetworks{kind}_{camel_case(method.removeprefix(f'{name}_'))}"
    return f"ANeuralNetworks_{camel_case(method)}"
