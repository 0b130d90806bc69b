"""What convolutions and FULLY_CONNECTED share about filter, groups and bias."""

from npu_conformance.specs.neuralnetworks.operation_view import OperationView
from npu_conformance.specs.neuralnetworks.rules.clause import Clause, clause
from npu_conformance.specs.neuralnetworks.rules.common import window


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


def groups_of(view: OperationView) -> int | None:
    """The number of groups, 1 of an operation without; None where it is unknown or not greater than 0."""
    groups = view.integer("groups") if view.knows("groups") else 1
    return groups if groups and groups > 0 else None


def input_channels(number: str, text: str) -> Clause:
    """The clause that the input has the channels that dimension 3 of the filter counts, for all groups together."""
    return clause(number, "execution", text, _check_input_channels)


def _check_input_channels(view: OperationView) -> str | None:
    given, share, groups = window.image(view).channels, size_of(view, "filter", 3), groups_of(view)
    if given is None or share is None or groups is None or given == share * groups:
        return None
    return f"the input has {given} channels, the filter {share}" + (f" for each of {groups} groups" * (groups > 1))
