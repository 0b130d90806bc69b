"""Rules of BIDIRECTIONAL_SEQUENCE_RNN: one cell forward over the time axis, another one backward.

An auxiliary input comes in two ways: without weights the backward cell reads it in place of the input (parallel
linking), with weights for both cells each of them adds its product (cross linking).
"""

from npu_conformance.specs.neuralnetworks.operation_view import OperationView
from npu_conformance.specs.neuralnetworks.rules.clause import Shape, Shapes, clause, rules
from npu_conformance.specs.neuralnetworks.rules.common import general, recurrent
from npu_conformance.specs.neuralnetworks.rules.common.filters import size_of

_AUXILIARY = ("aux_input", "fw_aux_weights", "bw_aux_weights")
_LINKINGS = ((False, False, False), (True, False, False), (True, True, True))
"""Which auxiliary operands may be present together: none, parallel linking, cross linking."""

_FORWARD_UNITS = (
    ("fw_weights", 0),
    ("fw_recurrent_weights", 0),
    ("fw_recurrent_weights", 1),
    ("fw_bias", 0),
    ("fw_hidden_state", 1),
    ("fw_aux_weights", 0),
)
_BACKWARD_UNITS = (
    ("bw_weights", 0),
    ("bw_recurrent_weights", 0),
    ("bw_recurrent_weights", 1),
    ("bw_bias", 0),
    ("bw_hidden_state", 1),
    ("bw_aux_weights", 0),
)
_STATES = (("fw_hidden_state", 0), ("bw_hidden_state", 0))
_INPUT_SIZES = (("input", 2), ("fw_weights", 1), ("bw_weights", 1))
_AUXILIARY_SIZES = (("aux_input", 2), ("fw_aux_weights", 1), ("bw_aux_weights", 1))
_FIRST, _SECOND = ((("input", axis), ("aux_input", axis)) for axis in (0, 1))


def _batch(view: OperationView) -> tuple[recurrent.Place, ...]:
    time_major = view.integer("time_major")
    return _STATES if time_major is None else (("input", 1 if time_major else 0), *_STATES)


def _output_shapes(view: OperationView) -> Shapes:
    merged, count = view.integer("merge_outputs"), len(view.outputs)
    if merged is None or _count(view) is not None:
        return (None,) * count
    forward, backward = (recurrent.known_size(view, *places) for places in (_FORWARD_UNITS, _BACKWARD_UNITS))
    both = None if forward is None or backward is None else forward + backward
    steps, batch = (size_of(view, "input", 0), size_of(view, "input", 1)), recurrent.known_size(view, *_batch(view))
    sequences: list[Shape] = [(*steps, both)] if merged else [(*steps, forward), (*steps, backward)]
    return [*sequences, (batch, forward), (batch, backward)][:count]


def _count(view: OperationView) -> str | None:
    merged, count = view.integer("merge_outputs"), len(view.outputs)
    if merged is None or count in ((1, 3) if merged else (2, 4)):
        return None
    return f"{count} outputs where merge_outputs is {bool(merged)}"


def _is_present(view: OperationView, name: str) -> bool | None:
    """None where only a request will say it."""
    if not view.has(name):
        return False
    return True if view.value(name) is not None else None


def _agrees(found: bool | None, legal: bool) -> bool:
    return found in (None, legal)


def _linking(view: OperationView) -> str | None:
    found = {name: _is_present(view, name) for name in _AUXILIARY}
    if any(all(map(_agrees, found.values(), legal)) for legal in _LINKINGS):
        return None
    return f"of the auxiliary operands only {', '.join(name for name in found if found[name])} are present"


def _batch_sizes(view: OperationView) -> str | None:
    return recurrent.different_sizes(view, "batch size", _batch(view))


def _lengths(view: OperationView) -> str | None:
    first = recurrent.different_sizes(view, "length", _FIRST)
    return first or recurrent.different_sizes(view, "length", _SECOND)


def _parallel_size(view: OperationView) -> str | None:
    is_parallel = not view.has("fw_aux_weights")
    places = (("aux_input", 2), ("bw_weights", 1))
    return recurrent.different_sizes(view, "size of what the backward cell reads", places) if is_parallel else None


RULES = rules(
    "BIDIRECTIONAL_SEQUENCE_RNN",
    _output_shapes,
    general.ranks("C1"),
    recurrent.one_size("C2", "input size", *_INPUT_SIZES),
    recurrent.one_size("C3", "number of forward units", *_FORWARD_UNITS),
    recurrent.one_size("C4", "number of backward units", *_BACKWARD_UNITS),
    clause("C5", "execution", "Input and both hidden states have the same batch size.", _batch_sizes),
    clause("C6", "execution", "Auxiliary operands are absent, the input alone, or all three.", _linking),
    clause("C7", "execution", "The auxiliary input has the batches and steps of the input.", _lengths),
    recurrent.one_size("C8", "auxiliary input size", *_AUXILIARY_SIZES),
    clause("C9", "execution", "Without weights of its own the auxiliary input fits the backward ones.",
           _parallel_size, "text"),
    clause("C10", "execution", "There is one sequence output if merged, else two; states come as a pair.", _count),
    recurrent.cell_activation("C11"),
    recurrent.no_relu1("C12"),
    general.empty("C13"),
    general.declared_outputs("C14", _output_shapes),
)  # fmt: skip
