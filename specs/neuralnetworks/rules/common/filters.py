"""What convolutions and FULLY_CONNECTED share about filter and bias."""

from __future__ import annotations

from npu_conformance.specs.neuralnetworks.operation_view import OperationView
from npu_conformance.specs.neuralnetworks.rules.clause import Clause, clause


def size_of(view: OperationView, name: str, dimension: int) -> int | None:
    """Size of one dimension of an input; None where it is unknown or the rank is too small."""
    dimensions = view.dimensions(name)
    return dimensions[dimension] if dimensions is not None and dimension < len(dimensions) else None


def bias_length(number: str, filter_name: str, dimension: int) -> Clause:
    """The clause that there is one bias for each output channel, which a dimension of the filter counts."""
    text = f"The bias has as many elements as dimension {dimension} of the {filter_name}."

    def check(view: OperationView) -> str | None:
        length, channels = size_of(view, "bias", 0), size_of(view, filter_name, dimension)
        if length is None or channels is None or length == channels:
            return None
        return f"{length} biases for {channels} output channels"

    return clause(number, "execution", text, check)
