"""What recurrent operations share: sizes that occur in several inputs, and the activations of their cells."""

from collections.abc import Iterable

from npu_conformance.specs.neuralnetworks.operation_view import OperationView
from npu_conformance.specs.neuralnetworks.rules.clause import Clause, clause
from npu_conformance.specs.neuralnetworks.rules.common.filters import size_of

Place = tuple[str, int]
"""A dimension of an input, by the input's name."""

CELL_ACTIVATIONS = {0: "NONE", 1: "RELU", 2: "RELU1", 3: "RELU6", 4: "TANH", 6: "SIGMOID"}
"""Codes that recurrent cells take: not the range of fused activations."""


def one_size(number: str, what: str, *places: Place) -> Clause:
    """The clause that a size is the same in all places where it occurs."""
    named = ", ".join(f"dimension {dimension} of {name}" for name, dimension in places)
    text = f"The {what} is the same in {named}."
    return clause(number, "execution", text, lambda view: different_sizes(view, what, places))


def different_sizes(view: OperationView, what: str, places: Iterable[Place]) -> str | None:
    """Say where a size differs; nothing where all that are known are equal."""
    found = {place: size_of(view, *place) for place in places}
    known = {place: size for place, size in found.items() if size is not None}
    if len(set(known.values())) <= 1:
        return None
    spelled = ", ".join(f"{size} in {name}[{dimension}]" for (name, dimension), size in known.items())
    return f"{what} differs: {spelled}"


def known_size(view: OperationView, *places: Place) -> int | None:
    """The size that occurs in several places, from the first one that is known; None where none is."""
    return next((size for place in places if (size := size_of(view, *place)) is not None), None)


def cell_activation(number: str) -> Clause:
    """The clause about the activation code of a cell."""
    text = "The activation is a code of recurrent cells: 0, 1, 2, 3, 4 (TANH) or 6 (SIGMOID)."

    def check(view: OperationView) -> str | None:
        code = view.integer("activation")
        return None if code is None or code in CELL_ACTIVATIONS else f"activation {code} is none of a recurrent cell"

    return clause(number, "execution", text, check)


def no_relu1(number: str) -> Clause:
    """The clause about the one code that is a fused activation but that no cell computes.

    Hazard: recurrent-activation-codes.
    """
    text = "The activation of a recurrent cell is not 2 (RELU1)."

    def check(view: OperationView) -> str | None:
        return "activation 2 (RELU1) is not computed by cells" if view.integer("activation") == 2 else None

    return clause(number, "execution", text, check, "reference")
