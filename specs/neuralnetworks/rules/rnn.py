"""Rules of RNN: one step of a fully connected recurrent cell."""

from npu_conformance.specs.neuralnetworks.operation_view import OperationView
from npu_conformance.specs.neuralnetworks.rules.clause import Shapes, rules
from npu_conformance.specs.neuralnetworks.rules.common import general, recurrent

_BATCH = (("input", 0), ("hidden_state_in", 0))
_UNITS = (
    ("weights", 0),
    ("recurrent_weights", 0),
    ("recurrent_weights", 1),
    ("bias", 0),
    ("hidden_state_in", 1),
)


def _output_shapes(view: OperationView) -> Shapes:
    state = recurrent.known_size(view, *_BATCH), recurrent.known_size(view, *_UNITS)
    return (state, state)


RULES = rules(
    "RNN",
    _output_shapes,
    general.ranks("C1"),
    recurrent.one_size("C2", "input size", ("input", 1), ("weights", 1)),
    recurrent.one_size("C3", "number of units", *_UNITS),
    recurrent.one_size("C4", "batch size", *_BATCH),
    recurrent.cell_activation("C5"),
    recurrent.no_relu1("C6"),
    general.empty("C7"),
    general.declared_outputs("C8", _output_shapes),
    text_alone=("C1", "C4"),
)
