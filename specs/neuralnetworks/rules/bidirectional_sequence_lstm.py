"""Rules of BIDIRECTIONAL_SEQUENCE_LSTM: a forward and a backward cell, perhaps linked to a layer below.

Without auxiliary weights the backward cell reads the auxiliary input in place of the input (parallel linking); with
them both cells read both (cross linking).
"""

from npu_conformance.specs.neuralnetworks.operation_view import OperationView
from npu_conformance.specs.neuralnetworks.rules.clause import Shapes, clause, rules
from npu_conformance.specs.neuralnetworks.rules.common import general, lstm

_FORWARD = lstm.Cell(weights=1, output_state=35, cell_state=36, norms=53, auxiliary=40)
_BACKWARD = lstm.Cell(weights=18, output_state=37, cell_state=38, norms=57, auxiliary=44)
_CELLS = (_FORWARD, _BACKWARD)
_LINK = 41
_LINKS = [_LINK, 42, 43, 45, 46, 47]
"""The auxiliary weights that no cell with links is without."""

_GATE_LINKS = ((_FORWARD, 40), (_BACKWARD, 44))
"""Those of the input gates."""

_MERGED = (1, 5)
"""Numbers of outputs with one sequence, without and with the states."""


def _output_shapes(view: OperationView) -> Shapes:
    forward, backward = (_sizes(view, cell) for cell in _CELLS)
    outputs = [forward["output"], backward["output"]]
    lengths = [_sum(outputs)] if len(view.outputs) in _MERGED else outputs
    sequences = [lstm.sequence_shape(view, length) for length in lengths]
    states = [(sizes["batch"], sizes[name]) for sizes in (forward, backward) for name in ("output", "units")]
    return (*sequences, *states)[: len(view.outputs)]


def _sum(lengths: list[int | None]) -> int | None:
    known = [length for length in lengths if length is not None]
    return sum(known) if known == lengths else None


def _sizes(view: OperationView, cell: lstm.Cell) -> lstm.Sizes:
    _, _, auxiliary = lstm.sequence_dimensions(view, "aux_input")
    sizes = {**lstm.sequence_sizes(view, cell), "auxiliary": auxiliary}
    if cell is _BACKWARD and view.is_given("aux_input") is not False:
        sizes["input"] = {True: sizes["input"], False: auxiliary, None: None}[view.is_given(_LINK)]
    return sizes


def _links(view: OperationView) -> str | None:
    gates = [link for cell, link in _GATE_LINKS if lstm.has_input_gate(view, cell)]
    return lstm.together(view, [*_LINKS, *gates])


def _links_without_gate(view: OperationView) -> str | None:
    given = (link for cell, link in _GATE_LINKS if lstm.has_input_gate(view, cell) is False and view.is_given(link))
    found = next(given, None)
    return None if found is None else f"{view.arguments[found].name} is given, and the cell has no input gate"


def _linked_input(view: OperationView) -> str | None:
    if view.is_given(_LINK) and view.is_given("aux_input") is False:
        return "there are auxiliary weights and no auxiliary input"
    return None


def _auxiliary_steps(view: OperationView) -> str | None:
    (*given, _), (*expected, _) = (lstm.sequence_dimensions(view, name) for name in ("aux_input", "input"))
    for axis, size in enumerate(given):
        if None not in (size, expected[axis]) and size != expected[axis]:
            return f"the auxiliary input begins with {given}, the input with {expected}"
    return None


def _cross_size(view: OperationView) -> str | None:
    given, expected = (lstm.sequence_dimensions(view, name)[-1] for name in ("aux_input", "input"))
    if None in (given, expected) or given == expected or not view.is_given(_LINK):
        return None
    return f"the auxiliary input has {given} elements a step, the input {expected}"


def _output_count(view: OperationView) -> str | None:
    merge, count = view.integer("merge_outputs"), len(view.outputs)
    if merge is None or bool(merge) == (count in _MERGED):
        return None
    return f"{count} outputs with merge_outputs {merge}"


RULES = rules(
    "BIDIRECTIONAL_SEQUENCE_LSTM",
    _output_shapes,
    general.ranks("C1"),
    *lstm.cell_clauses(_sizes, *_CELLS),
    lstm.activation("C9"),
    lstm.clips("C10"),
    general.empty("C11"),
    general.declared_outputs("C12", _output_shapes),
    clause("C13", "execution", "Auxiliary weights are given for all gates of both cells, or for none.", _links),
    clause("C14", "execution", "Auxiliary weights come with an auxiliary input only.", _linked_input),
    clause("C15", "execution", "The auxiliary input has the steps and the batch of the input.", _auxiliary_steps),
    clause(
        "C16",
        "execution",
        "With auxiliary weights the auxiliary input is as wide as the input.",
        _cross_size,
        "reference",
    ),
    clause("C17", "execution", "There is one sequence among the outputs if they are merged, else two.", _output_count),
    clause(
        "C18",
        "execution",
        "A cell without an input gate has no auxiliary weights of that gate.",
        _links_without_gate,
        "reference",
    ),
    text_alone=("C8", "C9"),
)
