"""What operations share that choose rows of a tensor by indices."""

from __future__ import annotations

from npu_conformance.specs.neuralnetworks.operation_view import OperationView


def outside(view: OperationView, name: str, count: int | None) -> str | None:
    """What is wrong with an input of indices into so many rows; nothing where either is unknown."""
    for index in view.integers(name) or ():
        if count is not None and not 0 <= index < count:
            return f"index {index} is outside of 0..{count - 1}"
    return None
