"""The generator of UNIDIRECTIONAL_SEQUENCE_LSTM.

`by_hand`: with weights and biases of 0 each step halves the cell state, and gives half its hyperbolic tangent.
"""

from dataclasses import dataclass, replace
from typing import Any

from npu_conformance.corpus.generators import _lstm
from npu_conformance.corpus.generators._lstm import Cell, parameters
from npu_conformance.corpus.generators._many_results import BEHIND_4096, STATES, from_seeds
from npu_conformance.corpus.generators._recurrent import MANY_STEPS
from npu_conformance.corpus.generators._rejections import RANK_CLAUSE
from npu_conformance.corpus.generators.base import Vectors, positive, rejection, replaced
from npu_conformance.corpus.generators.data import dyadic
from npu_conformance.corpus.generators.operands import Operands, boolean, int32, tensor
from npu_conformance.corpus.generators.types import FLOAT32
from npu_conformance.corpus.vectors import Vector
from npu_conformance.specs.documents.vectors import GeneratorDocument

OPERATION = "UNIDIRECTIONAL_SEQUENCE_LSTM"


@dataclass(frozen=True)
class Sequence:
    """How the cell runs: steps, layout, whether the states come out, activation and clips."""

    time: int = 3
    time_major: bool = False
    states: bool = False
    activation: str = "tanh"
    clips: tuple[float, float] = (0.0, 0.0)

    def shape(self, batch: int, size: int) -> tuple[int, int, int]:
        """The shape of a sequence in its layout."""
        return (self.time, batch, size) if self.time_major else (batch, self.time, size)


def operands(cell: Cell, sequence: Sequence) -> tuple[Operands, Operands]:
    """Inputs and outputs."""
    shape = sequence.shape(cell.batch, cell.size)
    inputs = {"input": tensor(cell.type, shape, dyadic(cell.seed + 80, shape, -2.0, 2.0, 0.25)), **cell.weights()}
    inputs |= cell.states("output_state_in", "cell_state_in")
    inputs |= parameters(cell.kind, sequence.activation, sequence.clips)
    inputs |= {"time_major": boolean(sequence.time_major), **cell.norms()}
    outputs = {"output": tensor(cell.type, sequence.shape(cell.batch, cell.outputs))}
    if sequence.states:
        outputs["hidden_state_out"] = tensor(cell.type, (cell.batch, cell.outputs))
        outputs["cell_state_out"] = tensor(cell.type, (cell.batch, cell.units))
    return inputs, outputs


def vectors() -> Vectors:
    """Pairwise over what a cell may have, layouts and outputs; lengths; rejections."""
    for name, cell, row in _lstm.cover({"time_major": [False, True], "states": [False, True]}):
        sequence = Sequence(3, row["time_major"], row["states"], row["activation"], row["clips"])
        yield _positive(name, cell, sequence, hazards=cell.hazards)
    yield from _special()
    yield from _rejected()


def _positive(name: str, cell: Cell, sequence: Sequence, **details: Any) -> Vector:
    changes: Operands = details.pop("changes", {})
    inputs, outputs = (replaced(part, changes) for part in operands(cell, sequence))
    return positive(name, OPERATION, inputs, outputs, since="1.3" if sequence.states else "1.2", **details)


def _special() -> Vectors:
    yield _by_hand()
    plain, both = Cell(seed=31), Sequence(states=True)
    full = Cell(seed=32, peepholes=True, norm=True, output=3, projection_bias=True)
    yield _positive("one_step", plain, Sequence(time=1))
    yield _positive("one_sample", replace(plain, batch=1), Sequence(time=4, time_major=True))
    square = Cell(seed=33, output=4, peepholes=True)
    yield _positive("square_projection", square, Sequence(), description=_lstm.SQUARE)
    clipped, large = Cell(seed=34, output=3), _lstm.large_cell_state(Cell(seed=34))
    sequence = Sequence(clips=(0.0, 0.25))
    yield _positive("projection_clip_alone", clipped, sequence, changes=large, description=_lstm.CLIP_ALONE)
    yield _lstm.omitted_in_request(_positive("omitted_in_request_all", plain, Sequence()))
    yield _lstm.omitted_in_request(_positive("omitted_in_request_cifg", replace(full, coupled=True), both))
    for name, sizes in (("batch", {0: 0}), ("rank", None)):
        changes = _lstm.opened(*operands(full, both), sizes)
        yield _positive(f"{name}_unknown", full, both, changes=changes)
    yield _realistic()
    long, wide = Cell(seed=36, batch=1, size=2, units=3), Cell(seed=37, batch=2, size=2, units=2)
    yield _positive("float32_130_steps", long, Sequence(time=130), description=MANY_STEPS)
    yield _positive("float32_70_steps_time_major", wide, Sequence(time=70, time_major=True), description=MANY_STEPS)
    many, run = Cell(seed=35, batch=700, size=1, units=3), Sequence(time=2)
    changes = from_seeds(operands(many, run)[0], STATES)
    yield _positive("float32_many_results", many, run, changes=changes, description=BEHIND_4096)


def _by_hand() -> Vector:
    cell, sequence = Cell(size=1, units=2), Sequence(time=2, time_major=True, states=True)
    changes = _lstm.zeros(cell.weights()) | {"cell_state_in": tensor(cell.type, (2, 2), [4.0, -2.0, 0.5, -0.25])}
    description = "all weights are 0: at each step three gates are 1/2, the candidate 0; cell' = cell / 2"
    return _positive("by_hand", cell, sequence, changes=changes, description=description)


def _realistic() -> Vector:
    cell, sequence = Cell(seed=51, batch=1, size=64, units=32), Sequence(time=4)
    inputs, _ = operands(cell, sequence)
    generated = {
        name: replace(spec, data=GeneratorDocument(kind="dyadic", seed=60 + place, low=-0.25, high=0.25, step=0.125))
        for place, (name, spec) in enumerate(inputs.items())
        if spec.data is not None and spec.operand.dimensions
    }
    return _positive("float32_64_to_32", cell, sequence, changes=generated)


def _rejected() -> Vectors:
    small, short = Cell(size=2, units=3), Sequence(time=2)
    for name, clause, cell, changes in _lstm.presence_rejections(small):
        yield _rejection(name, clause, cell, short, changes)
    whole = replace(small, peepholes=True, output=4, projection_bias=True, norm=True)
    inputs, outputs = operands(whole, replace(short, states=True))
    for name, axis in (*_lstm.WRONG_SIZES[::3], ("output_state_in", 0), ("cell_state_in", 0)):
        yield _rejection(f"{name}_axis_{axis}", "C7", whole, short, _lstm.resized(inputs, name, axis))
    for name, axis in (("output", 0), ("output", 2), ("hidden_state_out", 1), ("cell_state_out", 0)):
        both = replace(short, states=True)
        yield _rejection(f"{name}_axis_{axis}", "C12", whole, both, _lstm.resized(outputs, name, axis), since="1.3")
    turned = {"time_major": boolean(True)}
    yield _rejection("states_of_batch_major", "C7", small, replace(short, time=3), turned)
    yield _rejection("output_size_without_projection", "C8", small, short, _other_output_size(small, short))
    yield _rejection("activation_2", "C9", small, short, {"activation": int32(2)})
    yield from _rejected_models(small, short)


def _other_output_size(cell: Cell, sequence: Sequence) -> Operands:
    """Everything that has the output size, one longer than there are units."""
    inputs, outputs = operands(replace(cell, output=cell.units + 1), sequence)
    names = [f"recurrent_to_{gate}" for gate in ("input", "forget", "cell", "output")]
    return {name: inputs[name] for name in (*names, "output_state_in")} | outputs


def _rejected_models(cell: Cell, sequence: Sequence) -> Vectors:
    flat = {"input": tensor(FLOAT32, (2, 2), dyadic(1, (4,)))}
    yield _rejection("input_rank_2", RANK_CLAUSE, cell, sequence, flat, phase="execution")
    found = {"input": tensor(FLOAT32, (), dyadic(1, (8,)), shape=(2, 2, 2, 1)), "output": tensor(FLOAT32, ())}
    yield _rejection("input_rank_4_at_execution", "C1", cell, sequence, found)
    yield _rejection("states_until_1_2", "MODEL.P3", cell, replace(sequence, states=True), {}, until="1.2")


def _rejection(name: str, clause: str, cell: Cell, sequence: Sequence, changes: Operands, **details: Any) -> Vector:
    given = {"since": "1.2", "phase": None, **details}
    return rejection(OPERATION, name, clause, *operands(cell, sequence), changes=changes, **given)
