"""The generator of BIDIRECTIONAL_SEQUENCE_LSTM.

`by_hand`: with weights and biases of 0 each step halves the cell state and gives half its hyperbolic tangent; the
backward cell takes its first step at the end of the sequence.
Both cells of a vector have the same parts: all else is not certain.
"""

from dataclasses import dataclass, replace
from typing import Any

from npu_conformance.corpus.generators import _lstm
from npu_conformance.corpus.generators._lstm import GATES, Cell, parameters
from npu_conformance.corpus.generators._many_results import BEHIND_4096, STATES, from_seeds
from npu_conformance.corpus.generators._recurrent import MANY_STEPS
from npu_conformance.corpus.generators._rejections import RANK_CLAUSE
from npu_conformance.corpus.generators.base import Vectors, positive, rejection, replaced
from npu_conformance.corpus.generators.data import dyadic
from npu_conformance.corpus.generators.operands import Operands, boolean, int32, omitted, scalar, tensor
from npu_conformance.corpus.generators.types import FLOAT32
from npu_conformance.corpus.vectors import Vector
from npu_conformance.specs.neuralnetworks.enums import OperandType

OPERATION = "BIDIRECTIONAL_SEQUENCE_LSTM"


@dataclass(frozen=True)
class Run:
    """How two cells run.

    link: empty without auxiliary input, parallel or cross. states: whether the last ones come out. fewer: by how many
    units the backward cell is smaller. auxiliary: width of the auxiliary input, 0 for that of the input.
    """

    link: str = ""
    merge: bool = False
    time_major: bool = False
    states: bool = False
    activation: str = "tanh"
    clips: tuple[float, float] = (0.0, 0.0)
    time: int = 3
    fewer: int = 1
    auxiliary: int = 0

    def shape(self, batch: int, size: int) -> tuple[int, int, int]:
        """The shape of a sequence in its layout."""
        return (self.time, batch, size) if self.time_major else (batch, self.time, size)


def backward(cell: Cell, fewer: int = 1) -> Cell:
    """The second cell: with other weights, and a unit less."""
    output = None if cell.output is None else cell.output - fewer
    return replace(cell, seed=cell.seed + 500, units=cell.units - fewer, output=output)


def operands(cell: Cell, run: Run) -> tuple[Operands, Operands]:
    """Inputs and outputs. cell: the forward one."""
    other, shape = backward(cell, run.fewer), run.shape(cell.batch, cell.size)
    linked = run.shape(cell.batch, run.auxiliary or cell.size)
    if run.link == "parallel":
        other = replace(other, size=linked[2])
    inputs = {"input": tensor(cell.type, shape, dyadic(cell.seed + 80, shape, -2.0, 2.0, 0.25))}
    inputs |= cell.weights("fw_") | other.weights("bw_")
    inputs |= cell.states("fw_activation_state", "fw_cell_state")
    inputs |= other.states("bw_activation_state", "bw_cell_state")
    inputs["aux_input"] = omitted(cell.type, linked)
    if run.link:
        inputs["aux_input"] = tensor(cell.type, linked, dyadic(cell.seed + 81, linked, -2.0, 2.0, 0.25))
    inputs |= _auxiliary("fw", cell, run.link == "cross") | _auxiliary("bw", other, run.link == "cross")
    inputs |= parameters(cell.kind, run.activation, run.clips)
    inputs |= {"merge_outputs": boolean(run.merge), "time_major": boolean(run.time_major)}
    inputs |= cell.norms("fw_") | other.norms("bw_")
    return inputs, _outputs(cell, other, run)


def _auxiliary(prefix: str, cell: Cell, given: bool) -> Operands:
    shape = (cell.units, cell.size)
    gates = [gate for gate in GATES if given and not (cell.coupled and gate == "input")]
    return {
        f"{prefix}_aux_input_to_{gate}_weights": tensor(
            cell.type, shape, dyadic(cell.seed + 200 + place, shape, -1.0, 1.0, 0.125), constant=True
        )
        if gate in gates
        else omitted(cell.type, shape)
        for place, gate in enumerate(GATES)
    }


def _outputs(cell: Cell, other: Cell, run: Run) -> Operands:
    shapes: dict[str, tuple[int, ...]] = {"fw_output": run.shape(cell.batch, cell.outputs)}
    shapes["bw_output"] = run.shape(cell.batch, other.outputs)
    if run.merge:
        shapes = {"merged_output": run.shape(cell.batch, cell.outputs + other.outputs)}
    if run.states:
        for prefix, one in (("fw", cell), ("bw", other)):
            shapes[f"{prefix}_activation_state_out"] = (one.batch, one.outputs)
            shapes[f"{prefix}_cell_state_out"] = (one.batch, one.units)
    return {name: tensor(cell.type, shape) for name, shape in shapes.items()}


def vectors() -> Vectors:
    """Pairwise over what cells may have, links, layouts and outputs; rejections."""
    more: dict[str, list[Any]] = {
        "link": ["", "parallel", "cross"],
        "merge": [False, True],
        "time_major": [False, True],
        "states": [False, True],
    }
    for index, (name, cell, row) in enumerate(_lstm.cover(more)):
        if row["link"] == "cross" and cell.coupled:
            name, cell = name.replace("cifg_", ""), replace(cell, coupled=False)
        run = Run(row["link"], row["merge"], row["time_major"], row["states"], row["activation"], row["clips"])
        run, cell = replace(run, fewer=index % 4 // 3), replace(cell, size=2, units=3, output=cell.output and 2)
        yield _positive(name, cell, run, hazards=cell.hazards)
    yield from _special()
    long, wide = Cell(seed=36, batch=1, size=2, units=2), Cell(seed=37, batch=2, size=2, units=2)
    yield _positive("float32_130_steps", long, Run(time=130, fewer=0), description=MANY_STEPS)
    yield _positive("float32_70_steps_time_major", wide, Run(time=70, time_major=True), description=MANY_STEPS)
    yield _many_results()
    yield from _rejected()


def _positive(name: str, cell: Cell, run: Run, **details: Any) -> Vector:
    changes: Operands = details.pop("changes", {})
    inputs, outputs = (replaced(part, changes) for part in operands(cell, run))
    return positive(name, OPERATION, inputs, outputs, since="1.3" if run.states else "1.2", **details)


def _many_results() -> Vector:
    cell, run = Cell(seed=35, batch=700, size=1, units=3), Run(time=2, fewer=0)
    changes = from_seeds(operands(cell, run)[0], STATES)
    return _positive("float32_many_results", cell, run, changes=changes, description=BEHIND_4096)


def _special() -> Vectors:
    cell, run = Cell(size=1, units=3), Run(time=2, time_major=True, states=True, fewer=0)
    inputs, _ = operands(cell, run)
    weights = {name: spec for name, spec in inputs.items() if spec.constant and spec.operand.dimensions}
    changes = _lstm.zeros(weights) | {"fw_cell_state": tensor(cell.type, (2, 3), [4.0, -2.0, 1.0, 0.5, -0.25, 8.0])}
    description = "all weights are 0: at each step three gates are 1/2, the candidate 0; cell' = cell / 2"
    yield _positive("by_hand", cell, run, changes=changes, description=description)
    plain = Cell(seed=31, size=2, units=3)
    full = replace(plain, peepholes=True, output=3, projection_bias=True, coupled=True)
    wider = Run("parallel", auxiliary=3, fewer=0)
    yield _positive("parallel_wider_than_the_input", plain, wider)
    yield _positive("cross_coupled", replace(plain, coupled=True), Run("cross", fewer=0))
    yield _lstm.omitted_in_request(_positive("omitted_in_request_all", plain, Run(merge=True, fewer=0)))
    yield _lstm.omitted_in_request(_positive("omitted_in_request_parallel", full, Run("parallel", fewer=0)))
    for name, sizes in (("batch", {0: 0}), ("rank", None)):
        linked = Run("cross", merge=True, fewer=0)
        changes = _lstm.opened(*operands(plain, linked), sizes)
        yield _positive(f"{name}_unknown", plain, linked, changes=changes)


def _rejected() -> Vectors:
    small, run = Cell(batch=2, size=1, units=3), Run(time=2)
    for name, clause, cell, changes in list(_lstm.presence_rejections(small, "bw_", backward))[::2]:
        yield _rejection(f"bw_{name}", clause, cell, run, changes)
    for name, clause, cell, changes in list(_lstm.presence_rejections(small, "fw_"))[1:2]:
        yield _rejection(f"fw_{name}", clause, cell, run, changes)
    yield from _rejected_sizes(small, run)
    yield from _rejected_links(small, run)
    yield _rejection("activation_5", "C9", small, run, {"activation": int32(5)})
    yield _rejection("negative_proj_clip", "C10", small, run, {"proj_clip": scalar(OperandType.FLOAT32, -0.5)})
    flat = {"input": tensor(FLOAT32, (2, 2), dyadic(1, (4,)))}
    yield _rejection("input_rank_2", RANK_CLAUSE, small, run, flat, phase="execution")
    outputs = operands(small, run)[1]
    found = {"input": tensor(FLOAT32, (), dyadic(1, (4,)), shape=(2, 2, 1, 1))}
    yield _rejection(
        "input_rank_4_at_execution", "C1", small, run, found | {name: tensor(FLOAT32, ()) for name in outputs}
    )
    yield _rejection("states_until_1_2", "MODEL.P3", small, replace(run, states=True), {}, until="1.2")


def _rejected_sizes(small: Cell, run: Run) -> Vectors:
    inputs, outputs = operands(small, replace(run, link="cross", states=True))
    linked = replace(run, link="cross")
    for name, axis in (
        ("bw_recurrent_to_cell", 0),
        ("fw_activation_state", 0),
        ("fw_aux_input_to_cell_weights", 1),
        ("bw_aux_input_to_output_weights", 0),
    ):
        yield _rejection(f"{name}_axis_{axis}", "C7", small, linked, _lstm.resized(inputs, name, axis))
    for name, axis in (("fw_output", 2), ("bw_activation_state_out", 1), ("bw_cell_state_out", 1)):
        changes = _lstm.resized(outputs, name, axis)
        yield _rejection(f"{name}_axis_{axis}", "C12", small, replace(linked, states=True), changes, since="1.3")
    merged = {"merged_output": tensor(FLOAT32, (2, 2, 6))}
    yield _rejection("merged_output_axis_2", "C12", small, replace(run, merge=True), merged)
    yield _rejection("backward_output_size_without_projection", "C8", small, run, _other_output_size(small, run))


def _other_output_size(cell: Cell, run: Run) -> Operands:
    """Everything that has the backward output size, one longer than the backward cell has units."""
    other = backward(replace(cell, output=cell.units + 1))
    weights = {f"bw_recurrent_to_{gate}": other.weights("bw_")[f"bw_recurrent_to_{gate}"] for gate in GATES}
    state = {"bw_activation_state": other.states("bw_activation_state", "")["bw_activation_state"]}
    return weights | state | {"bw_output": tensor(FLOAT32, run.shape(cell.batch, other.outputs))}


def _rejected_links(small: Cell, run: Run) -> Vectors:
    cross, parallel = replace(run, link="cross"), replace(run, link="parallel")
    inputs, _ = operands(small, cross)
    for name in ("fw_aux_input_to_forget_weights", "bw_aux_input_to_input_weights"):
        yield _rejection(f"{name}_omitted", "C13", small, cross, _lstm.without(inputs, name))
    yield _rejection("aux_input_omitted", "C14", small, cross, _lstm.without(inputs, "aux_input"))
    for name, link, clause, axis in (
        ("batch", cross, "C15", 0),
        ("steps", parallel, "C15", 1),
        ("size", parallel, "C7", 2),
    ):
        yield _rejection(f"aux_input_of_other_{name}", clause, small, link, _lstm.resized(inputs, "aux_input", axis))
    for name, merge in (("two_outputs_merged", True), ("one_output_unmerged", False)):
        changes = {"merge_outputs": boolean(merge)}
        yield _rejection(name, "C17", small, replace(run, merge=not merge), changes)


def _rejection(name: str, clause: str, cell: Cell, run: Run, changes: Operands, **details: Any) -> Vector:
    given = {"since": "1.2", "phase": None, **details}
    return rejection(OPERATION, name, clause, *operands(cell, run), changes=changes, **given)
