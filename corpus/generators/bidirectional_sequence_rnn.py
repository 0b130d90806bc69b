"""The generator of BIDIRECTIONAL_SEQUENCE_RNN.

Auxiliary inputs have the size of the input: where they differ, not even Android's own implementation is to be trusted.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from npu_conformance.corpus.generators._many_results import BEHIND_4096
from npu_conformance.corpus.generators._recurrent import (
    ACTIVATIONS,
    KINDS,
    MANY_STEPS,
    Data,
    cell,
    constant_like,
    open_shape,
    rejections,
    wrong_activations,
)
from npu_conformance.corpus.generators.base import Vectors, positive, rejected
from npu_conformance.corpus.generators.data import dyadic
from npu_conformance.corpus.generators.operands import (
    Operands,
    OperandSpec,
    boolean,
    constant,
    int32,
    left_out,
    omitted,
    tensor,
)
from npu_conformance.corpus.generators.types import FLOAT16, FLOAT32
from npu_conformance.corpus.pairwise import pairwise
from npu_conformance.corpus.vectors import Vector

OPERATION = "BIDIRECTIONAL_SEQUENCE_RNN"
SHAPES = {"plain": (2, 3, 2, 3, 2), "one_step": (2, 1, 3, 2, 3), "one_batch": (1, 3, 2, 2, 4)}
"""Batch, time, input size, forward units, backward units."""

SMALL = (2, 1, 1, 1, 2)


@dataclass(frozen=True)
class Form:
    """Which of the optional parts there are. auxiliary: none, left_out (by the request), parallel or cross."""

    auxiliary: str = "none"
    major: bool = False
    merge: bool = False
    state: bool = False
    activation: str = "none"

    @property
    def name(self) -> str:
        """The parameters as a part of a vector's name."""
        flags = {"time_major": self.major, "merged": self.merge, "with_state": self.state}
        return "_".join([self.auxiliary, self.activation, *(flag for flag, is_set in flags.items() if is_set)])

    @property
    def since(self) -> str:
        """Outputs of states, and parallel linking, which is only tested with them, came with 1.3."""
        return "1.3" if self.state else "1.2"


def operands(shape: tuple[int, int, int, int, int], data: Data, form: Form) -> tuple[Operands, Operands]:
    """Inputs and outputs of the operation."""
    batch, time, size, forward, backward = shape
    steps = (time, batch) if form.major else (batch, time)
    inputs = {
        "input": data.input((*steps, size), 1, 1.0),
        **cell(data, size, forward, 2, "fw_"),
        "fw_hidden_state": data.input((batch, forward), 5),
        **cell(data, size, backward, 6, "bw_"),
        "bw_hidden_state": data.input((batch, backward), 9),
        **_auxiliary(data, form, steps, (size, forward, backward)),
        "activation": int32(ACTIVATIONS[form.activation]),
        "time_major": boolean(form.major),
        "merge_outputs": boolean(form.merge),
    }
    sequences = {"output": forward + backward} if form.merge else {"fw_output": forward, "bw_output": backward}
    outputs = {name: data.output((*steps, units)) for name, units in sequences.items()}
    if form.state:
        outputs["fw_state_out"], outputs["bw_state_out"] = (data.output((batch, n)) for n in (forward, backward))
    return inputs, outputs


def _auxiliary(data: Data, form: Form, steps: tuple[int, int], sizes: tuple[int, int, int]) -> Operands:
    kind, (size, forward, backward) = KINDS[data.kind], sizes
    source = data.input((*steps, size), 10, 1.0)
    if form.auxiliary == "cross":
        weights = data.weights((forward, size), 11), data.weights((backward, size), 12)
        return dict(zip(("aux_input", "fw_aux_weights", "bw_aux_weights"), (source, *weights), strict=True))
    absent = left_out(kind) if form.auxiliary == "left_out" else omitted(kind)
    return {
        "aux_input": source if form.auxiliary == "parallel" else absent,
        "fw_aux_weights": absent,
        "bw_aux_weights": absent,
    }


def vectors() -> Vectors:
    """Pairwise: type, shape, auxiliary input, layout, merging, state outputs, activation; open sizes; rejections."""
    parameters: Mapping[str, list[Any]] = {
        "kind": list(KINDS),
        "shape": list(SHAPES),
        "auxiliary": ["none", "parallel", "cross"],
        "major": [False, True],
        "merge": [False, True],
        "state": [False, True],
        "activation": list(ACTIVATIONS),
    }
    for seed, row in enumerate(pairwise(parameters)):
        kind, shape, *rest = row.values()
        auxiliary, major, merge, state, activation = rest
        # Parallel linking is of 1.3, as are states.
        form = Form(auxiliary, major, merge, state or auxiliary == "parallel", activation)
        yield _positive(f"{kind}_{shape}_{form.name}", shape, Data(kind, seed), form)
    for kind in KINDS:
        form = Form("left_out", major=True, state=True, activation="tanh")
        yield _positive(f"{kind}_plain_{form.name}", "plain", Data(kind, 8), form)
    yield _by_hand()
    for auxiliary in ("parallel", "cross"):
        form = Form(auxiliary, state=True, activation="tanh")
        yield _positive(f"float32_all_bits_{auxiliary}", "plain", Data(seed=9, bits=True), form)
    yield from _open()
    yield _many_steps("float32_130_steps", (1, 130, 2, 2, 2), Form(activation="tanh"))
    yield _many_steps("float32_70_steps_time_major", (2, 70, 2, 2, 1), Form(activation="tanh", major=True))
    yield _many_results()
    yield from _rejected()


def _positive(name: str, shape: str, data: Data, form: Form) -> Vector:
    inputs, outputs = operands(SHAPES[shape], data, form)
    return positive(name, OPERATION, inputs, outputs, since=form.since, hazards=["recurrent-activation-codes"])


def _many_steps(name: str, shape: tuple[int, int, int, int, int], form: Form) -> Vector:
    inputs, outputs = operands(shape, Data(seed=13), form)
    return positive(name, OPERATION, inputs, outputs, since=form.since, description=MANY_STEPS)


def _many_results() -> Vector:
    inputs, outputs = operands((2050, 2, 1, 1, 1), Data(seed=12, large=True), Form(activation="relu"))
    return positive("float32_many_results", OPERATION, inputs, outputs, since="1.2", description=BEHIND_4096)


def _by_hand() -> Vector:
    def one(*values: float) -> OperandSpec:
        return constant(FLOAT32, (1, 1), values)

    inputs = {
        "input": tensor(FLOAT32, (1, 2, 1), [1.0, 3.0]),
        "fw_weights": one(2.0), "fw_recurrent_weights": one(0.5), "fw_bias": constant(FLOAT32, (1,), [0.0]),
        "fw_hidden_state": tensor(FLOAT32, (1, 1), [4.0]),
        "bw_weights": one(-1.0), "bw_recurrent_weights": one(3.0), "bw_bias": constant(FLOAT32, (1,), [1.0]),
        "bw_hidden_state": tensor(FLOAT32, (1, 1), [2.0]),
        "aux_input": omitted(FLOAT32), "fw_aux_weights": omitted(FLOAT32), "bw_aux_weights": omitted(FLOAT32),
        "activation": int32(0), "time_major": boolean(False), "merge_outputs": boolean(True),
    }  # fmt: skip
    outputs = {"output": tensor(FLOAT32, (1, 2, 2))}
    outputs |= {name: tensor(FLOAT32, (1, 1)) for name in ("fw_state_out", "bw_state_out")}
    description = (
        "forward 2*1 + 4/2 = 4, then 2*3 + 4/2 = 8; backward starts at the end: -3 + 3*2 + 1 = 4, then "
        "-1 + 3*4 + 1 = 12; merged [[4, 12], [8, 4]], states 8 and 12"
    )
    return positive("float32_by_hand", OPERATION, inputs, outputs, since="1.3", description=description)


def _open() -> Vectors:
    """What only the request says: sizes, ranks, all of the forward cell, and the values of scalars."""
    form = Form("cross", major=True, merge=True, state=True)
    inputs, outputs = operands(SHAPES["plain"], Data(seed=3), form)
    given = [key for key, spec in inputs.items() if not spec.constant or key.startswith("fw_")]
    for name in ("sizes", "rank"):
        late = {key: open_shape(inputs[key], _open_dimensions(name, inputs[key])) for key in given}
        unknown = {key: tensor(FLOAT32, _open_dimensions(name, spec)) for key, spec in outputs.items()}
        yield positive(f"float32_unknown_{name}", OPERATION, inputs | late, unknown, since="1.3")
    scalars = {key: replace(inputs[key], constant=False) for key in ("activation", "time_major", "merge_outputs")}
    yield positive("float32_scalars_as_inputs", OPERATION, inputs | scalars, outputs, since="1.3")


def _open_dimensions(what: str, spec: OperandSpec) -> tuple[int, ...]:
    return (0,) * len(spec.shape) if what == "sizes" else ()


def _rejected() -> Vectors:
    yield from _rejected_sizes()
    yield from _rejected_outputs()
    inputs, outputs = operands(SMALL, Data(seed=6), Form("cross"))
    none = omitted(FLOAT32)
    rows = {
        "auxiliary_weights_alone": ("C6", {"aux_input": none}),
        "backward_auxiliary_weights_alone": ("C6", {"aux_input": none, "fw_aux_weights": none}),
        "auxiliary_without_forward_weights": ("C6", {"fw_aux_weights": none}),
        "auxiliary_without_backward_weights": ("C6", {"bw_aux_weights": none}),
        "auxiliary_of_other_time": ("C7", {"aux_input": tensor(FLOAT32, (2, 2, 1), dyadic(1, (4,)))}),
        "auxiliary_of_other_batch": ("C7", {"aux_input": tensor(FLOAT32, (1, 1, 1), dyadic(1, (1,)))}),
        "forward_auxiliary_columns": ("C8", {"fw_aux_weights": constant_like(none, (1, 2))}),
        "backward_auxiliary_columns": ("C8", {"bw_aux_weights": constant_like(none, (2, 2))}),
        "forward_auxiliary_rows": ("C3", {"fw_aux_weights": constant_like(none, (2, 1))}),
        "backward_auxiliary_rows": ("C4", {"bw_aux_weights": constant_like(none, (1, 1))}),
    }
    yield from rejections(OPERATION, inputs, outputs, rows, since="1.2")


def _rejected_sizes() -> Vectors:
    inputs, outputs = operands(SMALL, Data(seed=4), Form())
    deep = tensor(FLOAT32, (2, 1, 1, 1), dyadic(1, (2,)))
    bias = inputs["fw_bias"]
    rows = {
        "input_rank_4": ("MODEL.P3R", {"input": deep}),
        "input_rank_4_at_execution": ("C1", {"input": open_shape(deep, ())}),
        "forward_columns": ("C2", {"fw_weights": constant_like(bias, (1, 2))}),
        "backward_columns": ("C2", {"bw_weights": constant_like(bias, (2, 2))}),
        "forward_recurrent_rows": ("C3", {"fw_recurrent_weights": constant_like(bias, (2, 1))}),
        "forward_bias": ("C3", {"fw_bias": constant_like(bias, (2,))}),
        "forward_state_units": ("C3", {"fw_hidden_state": tensor(FLOAT32, (2, 2), dyadic(1, (4,)))}),
        "backward_recurrent_columns": ("C4", {"bw_recurrent_weights": constant_like(bias, (2, 1))}),
        "backward_bias": ("C4", {"bw_bias": constant_like(bias, (1,))}),
        "backward_state_units": ("C4", {"bw_hidden_state": tensor(FLOAT32, (2, 1), dyadic(1, (2,)))}),
        "forward_state_batch": ("C5", {"fw_hidden_state": tensor(FLOAT32, (1, 1), dyadic(1, (1,)))}),
        "backward_state_batch": ("C5", {"bw_hidden_state": tensor(FLOAT32, (1, 2), dyadic(1, (2,)))}),
        "batch_and_time_mixed_up": ("C5", {"time_major": boolean(True)}),
        **wrong_activations("C11"),
        "mixed_types": ("MODEL.P3", {"bw_bias": constant(FLOAT16, (2,), dyadic(1, (2,)))}),
        "time_major_int32": ("MODEL.P3", {"time_major": int32(0)}),
    }
    yield from rejections(OPERATION, inputs, outputs, rows, since="1.2")


def _rejected_outputs() -> Vectors:
    merged, into_one = operands(SMALL, Data(seed=5), Form(merge=True))
    apart, into_two = operands(SMALL, Data(seed=5), Form())
    states = {"fw_state_out": tensor(FLOAT32, (2, 1)), "bw_state_out": tensor(FLOAT32, (2, 2))}
    open_one, open_two = ({key: tensor(FLOAT32, ()) for key in outputs} for outputs in (into_one, into_two))
    for name, inputs, outputs, since in (
        ("merged_with_two_outputs", merged, open_two, "1.2"),
        ("merged_with_four_outputs", merged, open_two | states, "1.3"),
        ("one_output", apart, open_one, "1.2"),
        ("three_outputs", apart, open_one | states, "1.3"),
    ):
        yield from rejections(OPERATION, inputs, outputs, {name: ("C10", {})}, since=since)
    yield rejected(
        "state_outputs_until_1_2", OPERATION, merged, into_one | states, clause="MODEL.P3", since="1.2", until="1.2"
    )
    wrong_sum = {"output": tensor(FLOAT32, (2, 1, 1))}
    yield from rejections(OPERATION, merged, wrong_sum, {"merged_output_of_one_cell": ("C14", {})}, since="1.2")
    swapped = {"fw_output": into_two["bw_output"], "bw_output": into_two["fw_output"]}
    yield from rejections(OPERATION, apart, swapped, {"outputs_swapped": ("C14", {})}, since="1.2")
    swapped = {"fw_state_out": states["bw_state_out"], "bw_state_out": states["fw_state_out"]}
    yield from rejections(OPERATION, merged, into_one | swapped, {"states_swapped": ("C14", {})}, since="1.3")
