"""Rules of RESHAPE: the same elements in another shape, of which one size may be left to be inferred (-1)."""

import math

from npu_conformance.specs.neuralnetworks.operation_view import OperationView
from npu_conformance.specs.neuralnetworks.rules.clause import Shapes, clause, rules
from npu_conformance.specs.neuralnetworks.rules.common import general, quantization

_INFERRED = -1
_MOST_DIMENSIONS = 1 << 16
"""More than any tensor has: a list of so many sizes that it does not fit into memory is as wrong."""


def _output_shapes(view: OperationView) -> Shapes:
    wanted = view.integers("shape")
    if wanted is None:
        length = (view.dimensions("shape") or (None,))[0]
        return (None if length is None else (None,) * min(length, _MOST_DIMENSIONS),)
    if _sizes(view) is not None or _element_count(view) is not None:
        return (None,)
    elements, known = _elements(view), math.prod(size for size in wanted if size != _INFERRED)
    inferred = None if elements is None or known == 0 else elements // known
    return (tuple(inferred if size == _INFERRED else size for size in wanted),)


def _elements(view: OperationView) -> int | None:
    result = 1
    for size in view.dimensions("input") or (None,):
        if size is None:
            return None
        result *= size
    return result


def _sizes(view: OperationView) -> str | None:
    wanted = view.integers("shape") or ()
    if wanted.count(_INFERRED) > 1:
        return f"shape {list(wanted)} leaves more than one size to be inferred"
    wrong = [size for size in wanted if size < _INFERRED or size == 0]
    return f"shape {list(wanted)} has a size of {wrong[0]}" if wrong else None


def _element_count(view: OperationView) -> str | None:
    wanted, elements = view.integers("shape"), _elements(view)
    if wanted is None or elements is None or _sizes(view) is not None:
        return None
    known = math.prod(size for size in wanted if size != _INFERRED)
    fits = elements % known == 0 if _INFERRED in wanted else elements == known
    return None if fits else f"{elements} elements do not fit shape {list(wanted)}"


RULES = rules(
    "RESHAPE",
    _output_shapes,
    general.ranks("C1"),
    clause("C2", "execution", "At most one size of the shape is -1, the others are greater than 0.", _sizes),
    clause("C3", "execution", "The output has as many elements as the input.", _element_count),
    general.empty("C4"),
    general.declared_outputs("C5", _output_shapes),
    quantization.same_as_input("C6"),
    text_alone=("C1",),
)
