"""Rules of UNIDIRECTIONAL_SEQUENCE_LSTM: a cell over [batch, time, input], or [time, batch, input] if time-major."""

from npu_conformance.specs.neuralnetworks.operation_view import OperationView
from npu_conformance.specs.neuralnetworks.rules.clause import Shapes, rules
from npu_conformance.specs.neuralnetworks.rules.common import general, lstm

_CELL = lstm.Cell(weights=1, output_state=18, cell_state=19, norms=24)


def _output_shapes(view: OperationView) -> Shapes:
    sizes = lstm.sequence_sizes(view, _CELL)
    batch, units, output = sizes["batch"], sizes["units"], sizes["output"]
    return (lstm.sequence_shape(view, output), (batch, output), (batch, units))[: len(view.outputs)]


RULES = rules(
    "UNIDIRECTIONAL_SEQUENCE_LSTM",
    _output_shapes,
    general.ranks("C1"),
    *lstm.cell_clauses(lstm.sequence_sizes, _CELL),
    lstm.activation("C9"),
    lstm.clips("C10", "reference"),
    general.empty("C11"),
    general.declared_outputs("C12", _output_shapes),
    text_alone=("C5", "C8", "C9"),
)
