"""Rules of MEAN: the mean along some axes, which go away or stay with size 1."""

from __future__ import annotations

from collections.abc import Sequence

from npu_conformance.specs.neuralnetworks.operation_view import OperationView
from npu_conformance.specs.neuralnetworks.rules.clause import Shape, clause, rules
from npu_conformance.specs.neuralnetworks.rules.common import general, quantization


def _output_shapes(view: OperationView) -> Sequence[Shape]:
    dimensions, axes, keep = view.dimensions("input"), view.integers("axes"), view.integer("keep_dims")
    if dimensions is None or axes is None or keep is None or _exist(view) is not None:
        return (None,)
    reduced = {general.wrapped(axis, len(dimensions)) for axis in axes}
    if keep > 0:
        return (tuple(1 if axis in reduced else size for axis, size in enumerate(dimensions)),)
    return (tuple(size for axis, size in enumerate(dimensions) if axis not in reduced) or (1,),)


def _exist(view: OperationView) -> str | None:
    dimensions, axes = view.dimensions("input"), view.integers("axes")
    for axis in axes or () if dimensions is not None else ():
        if general.wrapped(axis, len(dimensions or ())) is None:
            return f"axis {axis} does not exist in rank {len(dimensions or ())}"
    return None


RULES = rules(
    "MEAN",
    _output_shapes,
    general.ranks("C1"),
    clause("C2", "execution", "The axes exist in the input, counted from either end.", _exist),
    general.empty("C3"),
    general.declared_outputs("C4", _output_shapes),
    quantization.same_as_input("C5"),
)
