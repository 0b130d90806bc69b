"""The generator of LSTM.

`by_hand` has a value that needs no program: with weights and biases of 0 all three gates are 1/2 and the candidate is
tanh(0) = 0, so that the new cell state is half the old one, and the output half its hyperbolic tangent.
"""

from dataclasses import replace
from typing import Any

from npu_conformance.corpus.generators import _lstm
from npu_conformance.corpus.generators._lstm import Cell, parameters
from npu_conformance.corpus.generators._many_results import BEHIND_4096, STATES, from_seeds
from npu_conformance.corpus.generators._rejections import RANK_CLAUSE
from npu_conformance.corpus.generators.base import Vectors, positive, rejection, replaced
from npu_conformance.corpus.generators.data import dyadic
from npu_conformance.corpus.generators.operands import Operands, int32, scalar, tensor
from npu_conformance.corpus.generators.types import FLOAT32
from npu_conformance.corpus.vectors import Vector
from npu_conformance.specs.documents.vectors import GeneratorDocument
from npu_conformance.specs.neuralnetworks.enums import OperandType

OPERATION = "LSTM"


def operands(
    cell: Cell, activation: str = "tanh", clips: tuple[float, float] = (0.0, 0.0), *, norms: bool | None = None
) -> tuple[Operands, Operands]:
    """Inputs and outputs. norms: whether the list has the four norm weights; by default where they have values."""
    shape = (cell.batch, cell.size)
    inputs = {"input": tensor(cell.type, shape, dyadic(cell.seed + 80, shape, -2.0, 2.0, 0.25)), **cell.weights()}
    inputs |= cell.states("output_state_in", "cell_state_in") | parameters(cell.kind, activation, clips)
    if cell.norm if norms is None else norms:
        inputs |= cell.norms()
    outputs = {
        "scratch_buffer": (cell.batch, (3 if cell.coupled else 4) * cell.units),
        "output_state_out": (cell.batch, cell.outputs),
        "cell_state_out": (cell.batch, cell.units),
        "output": (cell.batch, cell.outputs),
    }
    return inputs, {name: tensor(cell.type, size) for name, size in outputs.items()}


def vectors() -> Vectors:
    """Pairwise over what a cell may have; the hazards one by one; rejections."""
    yield from _cover()
    yield from _special()
    yield from _rejected()


def _positive(
    name: str, cell: Cell, activation: str = "tanh", clips: tuple[float, float] = (0.0, 0.0), **details: Any
) -> Vector:
    norms = details.pop("norms", None)
    changes: Operands = details.pop("changes", {})
    inputs, outputs = operands(cell, activation, clips, norms=norms)
    inputs, outputs = replaced(inputs, changes), replaced(outputs, changes)
    return positive(name, OPERATION, inputs, outputs, ignored=["scratch_buffer"], **details)


def _cover() -> Vectors:
    for name, cell, row in _lstm.cover({}):
        yield _positive(name, cell, row["activation"], row["clips"], hazards=cell.hazards)


def _special() -> Vectors:
    yield _by_hand()
    plain = Cell(seed=31)
    full = Cell(seed=32, peepholes=True, norm=True, output=3, projection_bias=True)
    yield _positive("norm_weights_without_values", plain, norms=True)
    yield _lstm.omitted_in_request(_positive("omitted_in_request_all", plain, norms=True))
    yield _lstm.omitted_in_request(_positive("omitted_in_request_cifg", replace(full, coupled=True)))
    yield _lstm.omitted_in_request(_positive("omitted_in_request_23_inputs", replace(plain, coupled=True)))
    yield _positive("square_projection", Cell(seed=33, output=4, peepholes=True), description=_lstm.SQUARE)
    clipped, large = Cell(seed=34, output=3), _lstm.large_cell_state(Cell(seed=34))
    yield _positive("projection_clip_alone", clipped, clips=(0.0, 0.25), changes=large, description=_lstm.CLIP_ALONE)
    yield from _open_shapes(full)
    yield from _corners()
    yield _realistic()
    many = Cell(seed=35, batch=1400, size=1, units=3)
    changes = from_seeds(operands(many)[0], STATES)
    yield _positive("float32_many_results", many, changes=changes, description=BEHIND_4096)


def _by_hand() -> Vector:
    cell = Cell(size=1, units=2)
    zeros = _lstm.zeros(cell.weights())
    state = tensor(cell.type, (2, 2), [4.0, -2.0, 0.5, -0.25])
    description = (
        "all weights are 0: three gates are 1/2, the candidate 0; cell' = cell / 2, output = tanh(cell / 2) / 2"
    )
    return _positive("by_hand", cell, changes={**zeros, "cell_state_in": state}, description=description)


def _open_shapes(cell: Cell) -> Vectors:
    inputs, outputs = operands(cell)
    for name, sizes in (("batch", {0: 0}), ("rank", None)):
        changes = _lstm.opened(inputs, outputs, sizes)
        yield _positive(f"{name}_unknown", cell, changes=changes, since="1.2")


def _corners() -> Vectors:
    cell = Cell(seed=41)
    for name, forget, entering in (("kept", 100.0, -100.0), ("replaced", -100.0, 100.0)):
        biases = {
            "forget_gate_bias": tensor(cell.type, (4,), forget, constant=True),
            "input_gate_bias": tensor(cell.type, (4,), entering, constant=True),
        }
        description = "gates so far from 0 that exponentials overflow: they are 0 and 1"
        yield _positive(f"state_{name}", cell, changes=biases, description=description)
    still = Cell(seed=42, norm=True, size=1)
    equal = {
        "input": tensor(still.type, (2, 1), 0.0),
        "output_state_in": tensor(still.type, (2, 4), 0.0),
    }
    description = "without variance the normalised values are 0, and only the biases count"
    yield _positive(
        "norm_of_equal_values",
        still,
        changes=equal,
        description=description,
        hazards=["lstm-layer-norm"],
        excluded=["relaxed", "float16"],
    )
    large = {"cell_state_in": tensor(FLOAT32, (2, 4), [-3.0, 8.0, 2.0, 16.0, 9.0, -2.0, 14.0, 4.0])}
    yield _positive(
        "large_cell_state_relu6", Cell(seed=43), "relu6", changes=large, hazards=["recurrent-activation-codes"]
    )


def _realistic() -> Vector:
    cell = Cell(seed=51, batch=1, size=96, units=32)
    inputs, _ = operands(cell)
    generated = {
        name: replace(spec, data=GeneratorDocument(kind="dyadic", seed=60 + place, low=-0.5, high=0.5, step=0.25))
        for place, (name, spec) in enumerate(inputs.items())
        if spec.data is not None and spec.operand.dimensions
    }
    return _positive("float32_96_to_32", cell, changes=generated, description="sums are exact in float32, in any order")


def _rejected() -> Vectors:
    small = Cell(size=2, units=3)
    for name, clause, cell, changes in _lstm.presence_rejections(small):
        if name == "input_to_input_omitted":  # It decides how large the scratch buffer is.
            changes["scratch_buffer"] = tensor(FLOAT32, (cell.batch, 3 * cell.units))
        yield _rejection(name, clause, cell, changes, since="1.2" if cell.norm else "1.0")
    yield _without_bias(small)
    yield from _rejected_sizes(replace(small, peepholes=True, output=4, projection_bias=True, norm=True))
    yield _rejection("output_size_without_projection", "C8", small, _other_output_size(small))
    for code in (-1, 2, 5):
        yield _rejection(f"activation_{code}".replace("-", "minus_"), "C9", small, {"activation": int32(code)})
    for name in ("cell_clip", "proj_clip"):
        yield _rejection(f"negative_{name}", "C10", small, {name: scalar(OperandType.FLOAT32, -0.5)})
    yield from _rejected_models(small)


def _without_bias(cell: Cell) -> Vector:
    """The bias of the input gate is a model input, and the request leaves it out."""
    inputs, _ = operands(cell)
    vector = _rejection("input_gate_bias_omitted_in_request", "C2", cell, _lstm.without(inputs, "input_gate_bias"))
    return _lstm.omitted_in_request(vector)


def _other_output_size(cell: Cell) -> Operands:
    """Everything that has the output size, one longer than there are units."""
    inputs, outputs = operands(replace(cell, output=cell.units + 1))
    names = [f"recurrent_to_{gate}" for gate in ("input", "forget", "cell", "output")]
    changed = {name: inputs[name] for name in (*names, "output_state_in")}
    return changed | {name: outputs[name] for name in ("output_state_out", "output")}


def _rejected_sizes(cell: Cell) -> Vectors:
    inputs, outputs = operands(cell)
    for name, axis in _lstm.WRONG_SIZES:
        yield _rejection(f"{name}_axis_{axis}", "C7", cell, _lstm.resized(inputs, name, axis), since="1.2")
    for name in ("output_state_in", "cell_state_in"):
        yield _rejection(f"{name}_axis_0", "C7", cell, _lstm.resized(inputs, name, 0), since="1.2")
    for name, axis in (("scratch_buffer", 1), ("output_state_out", 0), ("cell_state_out", 1), ("output", 1)):
        yield _rejection(f"{name}_axis_{axis}", "C12", cell, _lstm.resized(outputs, name, axis), since="1.2")


def _rejected_models(cell: Cell) -> Vectors:
    inputs, outputs = operands(cell)
    flat = {"input": tensor(FLOAT32, (2, 2, 1), dyadic(1, (4,)))}
    yield _rejection("input_rank_3", RANK_CLAUSE, cell, flat, phase="execution")
    found = {"input": tensor(FLOAT32, (), dyadic(1, (4,)), shape=(2, 2, 1))}
    found |= {name: tensor(FLOAT32, ()) for name in outputs}
    yield _rejection("input_rank_3_at_execution", "C1", cell, found, since="1.2")
    yield _rejection(
        "forget_weights_omitted", "MODEL.P3O", cell, _lstm.without(inputs, "input_to_forget"), phase="execution"
    )
    yield _rejection("norm_until_1_1", "MODEL.P3", replace(cell, norm=True), {}, until="1.1")


def _rejection(name: str, clause: str, cell: Cell, changes: Operands, **details: Any) -> Vector:
    return rejection(OPERATION, name, clause, *operands(cell), changes=changes, **{"phase": None, **details})
