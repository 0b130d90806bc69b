"""Rules of QUANTIZED_LSTM: one step of a cell on integers, [batch, input] to [batch, output]."""

import math
from collections.abc import Callable, Iterable

from npu_conformance.specs.neuralnetworks.operation_view import OperationView
from npu_conformance.specs.neuralnetworks.rules.clause import Shapes, clause, rules
from npu_conformance.specs.neuralnetworks.rules.common import general, lstm

_CELL = lstm.Cell(weights=1, output_state=18, cell_state=19, norms=20)
_LARGEST_EXPONENT = -9
_TOLERANCE = 1e-3
"""How far the logarithm of the scale of the cell state may be from a whole number."""


def _output_shapes(view: OperationView) -> Shapes:
    sizes = lstm.sizes_of(view, _CELL)
    output = (sizes["batch"], sizes["output"])
    return output, (sizes["batch"], sizes["units"]), output


def _cell_scale(view: OperationView) -> str | None:
    scale = view.outputs[1].scale
    if not 0 < scale < math.inf:
        return None  # No operand may have such a scale, whatever the operation.
    exponent = math.log2(scale)
    if abs(exponent - round(exponent)) < _TOLERANCE and round(exponent) <= _LARGEST_EXPONENT:
        return None
    return f"the cell state has scale {scale}"


def _clips(view: OperationView) -> str | None:
    return _wrong(view, ("cell_clip", "proj_clip"), lambda value: value >= 0)


def _scales(view: OperationView) -> str | None:
    gates = (f"{gate}_intermediate_scale" for gate in ("input", "forget", "cell", "output"))
    return _wrong(view, (*gates, "hidden_state_scale"), lambda value: value != 0)


def _wrong(view: OperationView, names: Iterable[str], is_right: Callable[[float], bool]) -> str | None:
    for name in names:
        value = view.real(name)
        if value is not None and not is_right(value):
            return f"{name} is {value}"
    return None


RULES = rules(
    "QUANTIZED_LSTM",
    _output_shapes,
    general.ranks("C1"),
    *lstm.cell_clauses(lstm.sizes_of, _CELL),
    general.empty("C9"),
    general.declared_outputs("C10", _output_shapes),
    clause(
        "C11", "model", "The cell state that comes out has a scale that is a power of two, at most 2^-9.", _cell_scale
    ),
    clause("C12", "execution", "Cell clip and projection clip are not negative, nor NaN.", _clips, "reference"),
    clause("C13", "execution", "The scales of what is computed in between are not 0.", _scales, "reference"),
    text_alone=("C5", "C8"),
)
