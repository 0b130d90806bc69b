"""What SLICE, STRIDED_SLICE and TILE share: one value for each dimension of the input."""

from npu_conformance.specs.neuralnetworks.operation_view import OperationView
from npu_conformance.specs.neuralnetworks.rules.clause import Basis, Clause, clause


def lengths(number: str, *names: str, basis: Basis = "both") -> Clause:
    """The clause that the named tensors have one element for each dimension of the input."""
    text = f"{', '.join(names).capitalize()} have one element for each dimension of the input."

    def check(view: OperationView) -> str | None:
        dimensions = view.dimensions("input")
        for name in names:
            shape = view.dimensions(name)
            if dimensions is None or shape is None or len(shape) != 1 or shape[0] in (None, len(dimensions)):
                continue
            return f"{name} has {shape[0]} elements, the input rank {len(dimensions)}"
        return None

    return clause(number, "execution", text, check, basis)
