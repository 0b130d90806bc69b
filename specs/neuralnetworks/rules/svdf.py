"""Rules of SVDF: a low-rank factorised filter over the features of the last steps, which the state holds.

The documents give the state one slot less for each filter, (memory - 1) * filters; Android's implementation and tests
have memory * filters, and that is what everybody does (hazard svdf-state-size).
"""

from npu_conformance.specs.neuralnetworks.operation_view import OperationView
from npu_conformance.specs.neuralnetworks.rules.clause import Shapes, clause, rules
from npu_conformance.specs.neuralnetworks.rules.common import general, recurrent
from npu_conformance.specs.neuralnetworks.rules.common.filters import size_of

_FILTERS = (("feature_weights", 0), ("time_weights", 0))
_BATCH = (("input", 0), ("state_in", 0))
_MEMORY = ("time_weights", 1)


def _units(view: OperationView) -> int | None:
    filters, rank = recurrent.known_size(view, *_FILTERS), view.integer("rank")
    return None if filters is None or rank is None or rank <= 0 else filters // rank


def _state_size(view: OperationView) -> int | None:
    filters, memory = recurrent.known_size(view, *_FILTERS), size_of(view, *_MEMORY)
    return None if filters is None or memory is None else filters * memory


def _output_shapes(view: OperationView) -> Shapes:
    batch = recurrent.known_size(view, *_BATCH)
    return ((batch, _state_size(view)), (batch, _units(view)))


def _state(view: OperationView) -> str | None:
    found, expected = size_of(view, "state_in", 1), _state_size(view)
    if found is None or expected is None or found == expected:
        return None
    return f"the state has {found} elements, expected {expected}, memory times filters"


def _rank(view: OperationView) -> str | None:
    filters, rank = recurrent.known_size(view, *_FILTERS), view.integer("rank")
    if rank is None:
        return None
    if rank <= 0:
        return f"rank {rank} must be greater than 0"
    return f"{filters} filters are no multiple of rank {rank}" if filters is not None and filters % rank else None


def _bias(view: OperationView) -> str | None:
    length, units = size_of(view, "bias", 0), _units(view)
    return None if length is None or units is None or length == units else f"{length} biases for {units} units"


RULES = rules(
    "SVDF",
    _output_shapes,
    general.ranks("C1"),
    recurrent.one_size("C2", "input size", ("input", 1), ("feature_weights", 1)),
    recurrent.one_size("C3", "number of filters", *_FILTERS),
    recurrent.one_size("C4", "batch size", *_BATCH),
    clause("C5", "execution", "The state has memory times filters elements for each batch.", _state),
    clause("C6", "execution", "The rank is greater than 0 and divides the number of filters.", _rank),
    clause("C7", "execution", "There is one bias for each unit: filters divided by the rank.", _bias),
    general.activation("C8"),
    general.empty("C9"),
    general.declared_outputs("C10", _output_shapes),
    text_alone=("C1", "C4", "C5", "C8"),
)
