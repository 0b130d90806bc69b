"""Rules of TILE: the input repeated along each axis."""

from npu_conformance.specs.neuralnetworks.operation_view import OperationView
from npu_conformance.specs.neuralnetworks.rules.clause import Shapes, clause, rules
from npu_conformance.specs.neuralnetworks.rules.common import general, quantization, ranges


def _output_shapes(view: OperationView) -> Shapes:
    dimensions, multiples = view.dimensions("input"), view.integers("multiples")
    if dimensions is None:
        return (None,)
    if multiples is None or len(multiples) != len(dimensions):
        return ((None,) * len(dimensions),)
    pairs = zip(dimensions, multiples, strict=True)
    return (tuple(None if size is None else size * times for size, times in pairs),)


def _positive(view: OperationView) -> str | None:
    multiples = view.integers("multiples")
    return f"multiples {list(multiples)} must be greater than 0" if multiples and min(multiples) < 1 else None


RULES = rules(
    "TILE",
    _output_shapes,
    general.ranks("C1"),
    ranges.lengths("C2", "multiples", basis="text"),
    clause("C3", "execution", "The multiples are greater than 0.", _positive),
    general.empty("C4"),
    general.declared_outputs("C5", _output_shapes),
    quantization.same_as_input("C6"),
    text_alone=("C1",),
)
