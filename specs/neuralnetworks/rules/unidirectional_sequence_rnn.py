"""Rules of UNIDIRECTIONAL_SEQUENCE_RNN: a recurrent cell over the time axis."""

from npu_conformance.specs.neuralnetworks.operation_view import OperationView
from npu_conformance.specs.neuralnetworks.rules.clause import Shapes, clause, rules
from npu_conformance.specs.neuralnetworks.rules.common import general, recurrent
from npu_conformance.specs.neuralnetworks.rules.common.filters import size_of

_UNITS = (
    ("weights", 0),
    ("recurrent_weights", 0),
    ("recurrent_weights", 1),
    ("bias", 0),
    ("hidden_state", 1),
)


def _batch(view: OperationView) -> list[recurrent.Place]:
    time_major = view.integer("time_major")
    state = ("hidden_state", 0)
    return [state] if time_major is None else [("input", 1 if time_major else 0), state]


def _output_shapes(view: OperationView) -> Shapes:
    units = recurrent.known_size(view, *_UNITS)
    output = size_of(view, "input", 0), size_of(view, "input", 1), units
    return (output, (recurrent.known_size(view, *_batch(view)), units))[: len(view.outputs)]


def _batch_sizes(view: OperationView) -> str | None:
    return recurrent.different_sizes(view, "batch size", _batch(view))


def _time_major(view: OperationView) -> str | None:
    value = view.integer("time_major")
    return None if value in (None, 0, 1) else f"time_major {value} is neither 0 nor 1"


RULES = rules(
    "UNIDIRECTIONAL_SEQUENCE_RNN",
    _output_shapes,
    general.ranks("C1"),
    recurrent.one_size("C2", "input size", ("input", 2), ("weights", 1)),
    recurrent.one_size("C3", "number of units", *_UNITS),
    clause("C4", "execution", "Input and hidden state have the same batch size.", _batch_sizes),
    recurrent.cell_activation("C5"),
    recurrent.no_relu1("C6"),
    clause("C7", "execution", "Time_major is 0 or 1.", _time_major, "text"),
    general.empty("C8"),
    general.declared_outputs("C9", _output_shapes),
)
