"""Which requirements the values of outputs are evidence for."""

from __future__ import annotations

from collections.abc import Iterable

_CONTROL_FLOW = {"IF": "NNHAL-CONTROLFLOW-016", "WHILE": "NNHAL-CONTROLFLOW-017"}
_ACCURACY = {
    "TENSOR_FLOAT32": "NNHAL-ACCURACY-001",
    "TENSOR_FLOAT16": "NNHAL-ACCURACY-003",
    "TENSOR_QUANT8_ASYMM": "NNHAL-ACCURACY-004",
    "TENSOR_QUANT8_ASYMM_SIGNED": "NNHAL-ACCURACY-004",
    "TENSOR_QUANT8_SYMM": "NNHAL-ACCURACY-004",
    "TENSOR_QUANT16_ASYMM": "NNHAL-ACCURACY-005",
    "TENSOR_QUANT16_SYMM": "NNHAL-ACCURACY-005",
    "TENSOR_INT32": "NNHAL-ACCURACY-006",
    "INT32": "NNHAL-ACCURACY-006",
    "TENSOR_BOOL8": "NNHAL-ACCURACY-007",
}


def accuracy(types: Iterable[str], *, relaxed: bool) -> list[str]:
    """How exact outputs of these types have to be."""
    found = sorted({_ACCURACY[kind] for kind in types if kind in _ACCURACY})
    return [*found, "NNHAL-ACCURACY-002"] if relaxed else found


def control_flow(operations: Iterable[str]) -> list[str]:
    """Which branches and rounds the values of a model with these operations come from."""
    return [_CONTROL_FLOW[name] for name in dict.fromkeys(operations) if name in _CONTROL_FLOW]
