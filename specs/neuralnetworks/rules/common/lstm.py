"""What the four LSTM operations share: which operands belong together, and the sizes that they have in common.

The 17 weights of a cell stand in the same order in all four; a Cell says where they and the rest begin.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from npu_conformance.specs.neuralnetworks.operation_view import OperationView
from npu_conformance.specs.neuralnetworks.rules.clause import Basis, Clause, Shape, clause

INPUT_WEIGHTS, RECURRENT_WEIGHTS, PEEPHOLES, BIASES, PROJECTION, PROJECTION_BIAS = 0, 4, 8, 11, 15, 16
"""Places among the 17: of input gate, forget gate, cell and output gate in this order; peepholes without the cell."""

_GATES = 4
_PEEPHOLE_COUNT = BIASES - PEEPHOLES
_LAST_RECURRENT = PEEPHOLES - 1
_ACTIVATIONS = (0, 1, 3, 4, 6)
_SHAPES = {
    **dict.fromkeys(range(INPUT_WEIGHTS, RECURRENT_WEIGHTS), ("units", "input")),
    **dict.fromkeys(range(RECURRENT_WEIGHTS, PEEPHOLES), ("units", "output")),
    **dict.fromkeys(range(PEEPHOLES, PROJECTION), ("units",)),
    PROJECTION: ("output", "units"),
    PROJECTION_BIAS: ("output",),
}

Sizes = dict[str, int | None]
"""Sizes by name: batch, input, units, output, and auxiliary where there is such an input; None where unknown."""


@dataclass(frozen=True)
class Cell:
    """Where the operands of a cell are: its 17 weights, its two states, its 4 norm weights, its 4 auxiliary weights."""

    weights: int
    output_state: int
    cell_state: int
    norms: int
    auxiliary: int | None = None

    def shapes(self) -> Iterator[tuple[int, tuple[str, ...]]]:
        """Position and names of the sizes of each operand."""
        yield from ((self.weights + place, names) for place, names in _SHAPES.items())
        yield from ((self.norms + gate, ("units",)) for gate in range(_GATES))
        yield self.output_state, ("batch", "output")
        yield self.cell_state, ("batch", "units")
        if self.auxiliary is not None:
            yield from ((self.auxiliary + gate, ("units", "auxiliary")) for gate in range(_GATES))


SizesOf = Callable[[OperationView, Cell], Sizes]
_CellCheck = Callable[[OperationView, Cell], str | None]


def sizes_of(view: OperationView, cell: Cell) -> Sizes:
    """The sizes that input and output gate give; batch and input are those of an input of rank 2."""
    shape = view.dimensions("input") or ()
    batch, elements = shape if len(shape) == len(("batch", "input")) else (None, None)
    return {"batch": batch, "input": elements, **cell_sizes(view, cell)}


def sequence_sizes(view: OperationView, cell: Cell) -> Sizes:
    """The same with an input of rank 3, [time, batch, input] or [batch, time, input]."""
    outer, inner, elements = sequence_dimensions(view, "input")
    time_major = view.integer("time_major")
    batch = None if time_major is None else inner if time_major else outer
    return {"batch": batch, "input": elements, **cell_sizes(view, cell)}


def sequence_dimensions(view: OperationView, name: str) -> tuple[int | None, int | None, int | None]:
    """The three sizes of a sequence as they stand; None where unknown."""
    first, second, third, *_ = (*(view.dimensions(name) or ()), None, None, None)
    return first, second, third


def sequence_shape(view: OperationView, output: int | None) -> Shape:
    """The shape of a sequence of outputs: that of the input with another last size."""
    outer, inner, _ = sequence_dimensions(view, "input")
    return outer, inner, output


def cell_sizes(view: OperationView, cell: Cell) -> Sizes:
    """Units and output size by the recurrent weights of the output gate, which no cell is without."""
    shape = view.dimensions(cell.weights + _LAST_RECURRENT) or ()
    units, output = shape if len(shape) == len(("units", "output")) else (None, None)
    return {"units": units, "output": output}


def has_input_gate(view: OperationView, cell: Cell) -> bool | None:
    """False where the cell couples input and forget gate (CIFG); None where only a request will tell."""
    return view.is_given(cell.weights)


def cell_clauses(sizes_of: SizesOf, *cells: Cell) -> tuple[Clause, ...]:
    """C2 to C8: what belongs together in each cell, and the sizes of its weights and states."""

    def of_cells(number: str, text: str, check: _CellCheck, basis: Basis = "both") -> Clause:
        def check_all(view: OperationView) -> str | None:
            found = (check(view, cell) for cell in cells)
            return next((message for message in found if message is not None), None)

        return clause(number, "execution", text, check_all, basis)

    gates = "Both weights and the bias of the input gate are given, or none of them."
    peepholes = "The peephole weights of forget and output gate are both given, or none."
    peephole = "The input gate has peephole weights where the others have, and none where they have none."
    norms = "Norm weights are given for all gates that the cell has, or for none."
    sizes = "Weights, biases and states have the sizes of batch, input, units and output."
    return (
        of_cells("C2", gates, _check_input_gate),
        of_cells("C3", peepholes, _check_peepholes),
        of_cells("C4", peephole, _check_input_peephole, "text"),
        of_cells("C5", "A projection bias comes with projection weights only.", _check_projection_bias),
        of_cells("C6", norms, _check_layer_norm),
        of_cells("C7", sizes, lambda view, cell: _check_sizes(view, cell, sizes_of)),
        of_cells("C8", "Without projection the output is as long as there are units.", _check_unprojected),
    )


def activation(number: str) -> Clause:
    """The clause about the activation code of a recurrent operation."""
    text = "The activation is 0 (NONE), 1 (RELU), 3 (RELU6), 4 (TANH) or 6 (SIGMOID)."
    return clause(number, "execution", text, _check_activation)


def clips(number: str, basis: Basis = "both") -> Clause:
    """The clause about both clips."""
    return clause(number, "execution", "Cell clip and projection clip are not negative.", _check_clips, basis)


def together(view: OperationView, positions: list[int]) -> str | None:
    """What is wrong where some of these inputs are given and others are not; nothing while a request may decide."""
    given = [position for position in positions if view.is_given(position)]
    missing = [position for position in positions if view.is_given(position) is False]
    if not given or not missing:
        return None
    return f"{view.arguments[given[0]].name} is given, input {missing[0]} is not"


def _check_input_gate(view: OperationView, cell: Cell) -> str | None:
    return together(view, [cell.weights + place for place in (INPUT_WEIGHTS, RECURRENT_WEIGHTS, BIASES)])


def _check_peepholes(view: OperationView, cell: Cell) -> str | None:
    return together(view, [cell.weights + PEEPHOLES + 1, cell.weights + PEEPHOLES + 2])


def _check_input_peephole(view: OperationView, cell: Cell) -> str | None:
    """Weights for a gate that is not there are let pass: they change nothing."""
    given, forget, output = (view.is_given(cell.weights + PEEPHOLES + place) for place in range(_PEEPHOLE_COUNT))
    if forget != output:
        return None  # C3 is about these.
    if given and output is False:
        return "a peephole of the input gate alone"
    return "no peephole of the input gate" if given is False and output and has_input_gate(view, cell) else None


def _check_projection_bias(view: OperationView, cell: Cell) -> str | None:
    bias, weights = view.is_given(cell.weights + PROJECTION_BIAS), view.is_given(cell.weights + PROJECTION)
    return "a projection bias without projection weights" if bias and weights is False else None


def _check_layer_norm(view: OperationView, cell: Cell) -> str | None:
    first, *others = (cell.norms + gate for gate in range(_GATES))
    gate = has_input_gate(view, cell)
    if gate is None:
        return together(view, others)
    if gate:
        return together(view, [first, *others])
    return together(view, others) or (
        "norm weights of an input gate that is not there" if view.is_given(first) else None
    )


def _check_sizes(view: OperationView, cell: Cell, sizes_of: SizesOf) -> str | None:
    known = sizes_of(view, cell)
    for position, names in cell.shapes():
        found = view.dimensions(position)
        if found is None or len(found) != len(names):
            continue  # A wrong rank is another clause's.
        for size, name in zip(found, names, strict=True):
            expected = known.get(name)
            if None not in (size, expected) and size != expected:
                return f"{view.arguments[position].name} has {size} where the {name} size is {expected}"
    return None


def _check_unprojected(view: OperationView, cell: Cell) -> str | None:
    known = cell_sizes(view, cell)
    if view.is_given(cell.weights + PROJECTION) is not False or None in known.values():
        return None
    if known["output"] == known["units"]:
        return None
    return f"{known['units']} units make {known['output']} outputs"


def _check_activation(view: OperationView) -> str | None:
    code = view.integer("activation")
    return None if code is None or code in _ACTIVATIONS else f"activation {code} is none of {list(_ACTIVATIONS)}"


def _check_clips(view: OperationView) -> str | None:
    for name in ("cell_clip", "proj_clip"):
        limit = view.real(name)
        if limit is not None and limit < 0:
            return f"{name} is {limit}"
    return None
