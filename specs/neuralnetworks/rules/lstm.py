"""Rules of LSTM: one step of a cell, [batch, input] to [batch, output]."""

from npu_conformance.specs.neuralnetworks.operation_view import OperationView
from npu_conformance.specs.neuralnetworks.rules.clause import Shapes, rules
from npu_conformance.specs.neuralnetworks.rules.common import general, lstm

_CELL = lstm.Cell(weights=1, output_state=18, cell_state=19, norms=23)
_GATES = {True: 4, False: 3, None: None}


def _output_shapes(view: OperationView) -> Shapes:
    sizes = lstm.sizes_of(view, _CELL)
    batch, units, gates = sizes["batch"], sizes["units"], _GATES[lstm.has_input_gate(view, _CELL)]
    output = (batch, sizes["output"])
    scratch = None if units is None or gates is None else gates * units
    return (batch, scratch), output, (batch, units), output


RULES = rules(
    "LSTM",
    _output_shapes,
    general.ranks("C1"),
    *lstm.cell_clauses(lstm.sizes_of, _CELL),
    lstm.activation("C9"),
    lstm.clips("C10"),
    general.empty("C11"),
    general.declared_outputs("C12", _output_shapes),
    text_alone=("C1", "C8", "C9"),
)
