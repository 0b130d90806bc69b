"""The generator of QUANTIZED_LSTM.

Devices approximate sigmoid and tanh in their own ways: data and scales are such that all of them are within one unit.
Not compared, or not there, is what documents and Android's own implementation tell differently: a hidden zero point,
projections without bias or with a clip, peepholes of the gates that look at the old cell state (here they weigh 0),
biases without layer normalisation (here they are 0).
`by_hand`: with weights of 0 three gates are 1/2 and the candidate is 0, so that the cell state halves (4 becomes 2 and
-1 becomes -1/2), and the output is tanh(2) / 2 = 0.482 and tanh(-1/2) / 2 = -0.231, 62 and -30 in units of 1/128.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy
from msgspec import structs

from npu_conformance.corpus.generators import _lstm
from npu_conformance.corpus.generators._many_results import BEHIND_4096, from_seeds
from npu_conformance.corpus.generators._rejections import RANK_CLAUSE
from npu_conformance.corpus.generators.base import Vectors, positive, rejection, replaced
from npu_conformance.corpus.generators.data import integers
from npu_conformance.corpus.generators.operands import Operands, OperandSpec, int32, scalar, tensor
from npu_conformance.corpus.vectors import Vector
from npu_conformance.specs.documents.vectors import GeneratorDocument
from npu_conformance.specs.neuralnetworks.enums import OperandType

OPERATION = "QUANTIZED_LSTM"
_BYTE, _WORD = OperandType.TENSOR_QUANT8_SYMM, OperandType.TENSOR_QUANT16_SYMM
_DATA, _BIAS = OperandType.TENSOR_QUANT8_ASYMM_SIGNED, OperandType.TENSOR_INT32
_BIASES = ("input_gate_bias", "forget_gate_bias", "cell_bias", "output_gate_bias")
_NORM_SCALE = 2.0**-15
_FACTORS = (1.0, 0.5, 1.5, 0.75)
"""Of the scales of gates that have each their own."""


@dataclass(frozen=True)
class Cell:
    """A cell. output: its size, None without projection. zero_points: of input, output state, hidden state."""

    seed: int = 0
    batch: int = 2
    size: int = 5
    units: int = 4
    output: int | None = None
    coupled: bool = False
    peepholes: bool = False
    norm: bool = False
    projection_bias: bool = True
    exponent: int = -11
    hidden_scale: float = 1 / 128
    clips: tuple[float, float] = (0.0, 0.0)
    zero_points: tuple[int, int, int] = (0, 0, 0)

    @property
    def outputs(self) -> int:
        """Size of its output."""
        return self.units if self.output is None else self.output


def operands(cell: Cell) -> tuple[Operands, Operands]:
    """Inputs and outputs."""
    inputs = {"input": _random(cell, 0, _DATA, (cell.batch, cell.size), 100, scale=1 / 128, zero=cell.zero_points[0])}
    inputs |= _weights(cell)
    inputs["prev_output"] = _random(
        cell, 1, _DATA, (cell.batch, cell.outputs), 80, scale=1 / 128, zero=cell.zero_points[1]
    )
    inputs["prev_cell_state"] = _random(
        cell, 2, _WORD, (cell.batch, cell.units), 2 ** (-cell.exponent), scale=2.0**cell.exponent
    )
    for place, gate in enumerate(_lstm.GATES):
        given = cell.norm and not (cell.coupled and gate == "input")
        norm = _random(cell, 60 + place, _WORD, (cell.units,), 8000, low=4000, scale=_NORM_SCALE, constant=True)
        inputs[f"{gate}_layer_norm_weights"] = norm if given else _omitted(norm)
    unit = 2.0**-7 if cell.norm else 2.0**-12
    reals = {"cell_clip": cell.clips[0], "proj_clip": cell.clips[1]}
    reals |= {f"{gate}_intermediate_scale": unit for gate in _lstm.GATES}
    inputs |= {name: scalar(OperandType.FLOAT32, value) for name, value in reals.items()}
    inputs |= {
        "hidden_state_zp": int32(cell.zero_points[2]),
        "hidden_state_scale": scalar(OperandType.FLOAT32, cell.hidden_scale),
    }
    shape = (cell.batch, cell.outputs)
    output = tensor(_DATA, shape, scale=1 / 128, zero_point=cell.zero_points[1])
    return inputs, {"output_state_out": output, "cell_state_out": _cell_state(cell), "output": output}


def _cell_state(cell: Cell) -> OperandSpec:
    return tensor(_WORD, (cell.batch, cell.units), scale=2.0**cell.exponent)


def _weights(cell: Cell) -> Operands:
    found: Operands = {}
    for group, length in (("input_to", cell.size), ("recurrent_to", cell.outputs)):
        for place, gate in enumerate(_lstm.GATES):
            weights = _random(cell, 10 + length + place, _BYTE, (cell.units, length), 127, scale=1 / 128, constant=True)
            found[f"{group}_{gate}"] = _omitted(weights) if cell.coupled and gate == "input" else weights
    for place, gate in enumerate(("input", "forget", "output")):
        largest = 4000 if gate == "output" else 0
        # Each has a scale of its own; the gates that look at the old cell state are not compared.
        peephole = _random(cell, 30, _WORD, (cell.units,), largest, scale=2.0 ** -(10 + place), constant=True)
        given = cell.peepholes and not (cell.coupled and gate == "input")
        found[f"cell_to_{gate}"] = peephole if given else _omitted(peephole)
    for place, name in enumerate(_BIASES):
        bias = _random(cell, 40 + place, _BIAS, (cell.units,), 4_000_000 if cell.norm else 0, constant=True)
        found[name] = _omitted(bias) if cell.coupled and place == 0 else bias
    projection = _random(cell, 50, _BYTE, (cell.outputs, cell.units), 100, scale=1 / 128, constant=True)
    bias = _random(cell, 51, _BIAS, (cell.outputs,), 3000, constant=True)
    found["projection_weights"] = _omitted(projection) if cell.output is None else projection
    found["projection_bias"] = bias if cell.output is not None and cell.projection_bias else _omitted(bias)
    return found


def _random(
    cell: Cell,
    place: int,
    kind: OperandType,
    shape: Sequence[int],
    largest: int,
    *,
    low: int | None = None,
    scale: float = 0.0,
    zero: int = 0,
    constant: bool = False,
) -> OperandSpec:
    """Integers from -largest, or from low, to largest."""
    data = integers(1000 * cell.seed + place, shape, -largest if low is None else low, largest)
    return tensor(kind, shape, data, scale=scale, zero_point=zero, constant=constant)


def _omitted(spec: OperandSpec) -> OperandSpec:
    return replace(spec, operand=structs.replace(spec.operand, omitted=True), data=None, constant=False)


def vectors() -> Vectors:
    """What a cell may have, alone and together; corners; what devices may differ in; rejections."""
    for seed, (name, cell) in enumerate(_CELLS.items()):
        yield _positive(name, replace(cell, seed=seed + 1), hazards=["quantized-lstm-hidden"])
    yield from _special()
    yield from _norms()
    yield from _scales_of_gates()
    yield _saturating_projection()
    yield from _uncertain()
    yield from _rejected()


_CELLS = {
    "plain": Cell(),
    "cifg": Cell(coupled=True),
    "norm": Cell(norm=True, exponent=-9),
    "norm_cifg": Cell(norm=True, coupled=True, exponent=-9),
    "norm_three_inputs": Cell(norm=True, size=3, units=8, exponent=-10),
    "output_peephole": Cell(peepholes=True),
    "output_peephole_cifg": Cell(peepholes=True, coupled=True),
    "projection": Cell(output=3),
    "projection_norm_cifg": Cell(output=6, norm=True, coupled=True, exponent=-9),
    "cell_clip": Cell(clips=(0.25, 0.0)),
    "input_zero_point": Cell(zero_points=(-37, 0, 0)),
    "state_zero_point": Cell(zero_points=(0, 21, 0)),
    "projection_zero_points": Cell(output=3, zero_points=(11, -9, 0)),
    "projection_hidden_zero_point": Cell(output=3, zero_points=(0, 0, 13)),
    "output_saturates": Cell(hidden_scale=1 / 1024),
    "cell_scale_2_to_minus_9": Cell(exponent=-9),
    "one_sample": Cell(batch=1, size=1, units=2),
    "cell_clip_of_scale_2_to_minus_9": Cell(clips=(0.25, 0.0), exponent=-9),
}


def _positive(name: str, cell: Cell, **details: Any) -> Vector:
    changes: Operands = details.pop("changes", {})
    inputs, outputs = (replaced(part, changes) for part in operands(cell))
    return positive(name, OPERATION, inputs, outputs, since="1.3", **details)


def _special() -> Vectors:
    yield _by_hand()
    plain = Cell(seed=31)
    yield _lstm.omitted_in_request(_positive("omitted_in_request_all", plain))
    cell = Cell(seed=32, coupled=True, norm=True, output=3, exponent=-9)
    yield _lstm.omitted_in_request(_positive("omitted_in_request_cifg", cell))
    for name, sizes in (("batch", {0: 0}), ("rank", None)):
        yield _positive(f"{name}_unknown", plain, changes=_lstm.opened(*operands(plain), sizes))
    inputs, _ = operands(plain)
    large = {
        name: _filled(inputs[name], 127) for name in ("input", "input_to_forget", "input_to_input", "input_to_cell")
    }
    full = numpy.array([[32767, 32700, -300, 0], [32766, 32000, 200, 32767]])
    large["prev_cell_state"] = replace(inputs["prev_cell_state"], data=full.astype(numpy.int16))
    scales = {f"{gate}_intermediate_scale": scalar(OperandType.FLOAT32, 2.0**-14) for gate in _lstm.GATES}
    description = "sums of gates and the cell state leave 16 bits"
    yield _positive("saturation", plain, changes=large | scales, description=description)
    generated = {
        name: replace(spec, data=GeneratorDocument(kind="integers", seed=60 + place, low=-30, high=30))
        for place, (name, spec) in enumerate(operands(Cell(size=48, units=16))[0].items())
        if spec.data is not None and spec.operand.type in (_BYTE, _DATA)
    }
    yield _positive("48_to_16", Cell(size=48, units=16), changes=generated)
    many = Cell(seed=46, batch=1400, size=1, units=3)
    changes = from_seeds(operands(many)[0], GeneratorDocument(kind="integers", seed=60, low=-30, high=30))
    yield _positive("many_results", many, changes=changes, description=BEHIND_4096)


def _saturating_projection() -> Vector:
    cell = Cell(seed=35, output=3)
    bias = replace(operands(cell)[0]["projection_bias"], data=numpy.array([20000, -20000, 5], numpy.int32))
    return _positive("projection_saturates", cell, changes={"projection_bias": bias})


def _norms() -> Vectors:
    cell = Cell(seed=36, norm=True, exponent=-9)
    inputs, _ = operands(cell)
    same = {name: _shifted(inputs[name], 125) for name in inputs if name.startswith("input_to_")}
    same |= {"input": _shifted(inputs["input"], 100), "prev_output": _filled(inputs["prev_output"], 0)}
    same |= {f"{gate}_intermediate_scale": scalar(OperandType.FLOAT32, 2.0**-13) for gate in _lstm.GATES}
    yield _positive("norm_of_large_values", cell, changes=same, description="the mean is far larger than the deviation")
    single = replace(cell, size=1)
    signs = numpy.array([[64], [-64], [-64], [64]], numpy.int8)
    small = {
        name: replace(one, data=signs) for name, one in operands(single)[0].items() if name.startswith("input_to_")
    }
    small["input"] = replace(
        inputs["input"], operand=structs.replace(inputs["input"].operand, dimensions=(2, 1)), shape=(2, 1)
    )
    small["input"] = replace(small["input"], data=numpy.array([[2], [-2]], numpy.int8))
    small["prev_output"] = _filled(inputs["prev_output"], 0)
    description = "the values are 1 and -1, so that their variance is 1"
    yield _positive("norm_of_small_values", single, changes=small, description=description)


def _scales_of_gates() -> Vectors:
    for name, cell in (
        ("scales_of_gates", Cell(seed=44)),
        ("norm_scales_of_gates", Cell(seed=45, norm=True, exponent=-9)),
    ):
        inputs, _ = operands(cell)
        changes = {
            key: _scaled(inputs[key], factor)
            for key, factor in _of_each_gate("input_to_{}", "recurrent_to_{}", "{}_layer_norm_weights")
        }
        changes |= {
            key: scalar(OperandType.FLOAT32, factor * (2.0**-7 if cell.norm else 2.0**-12))
            for key, factor in _of_each_gate("{}_intermediate_scale")
        }
        description = "weights, recurrent weights and sums of each gate have a scale of their own"
        yield _positive(name, cell, changes=changes, description=description)


def _of_each_gate(*names: str) -> Iterator[tuple[str, float]]:
    """Names of operands, each with a factor that no other gate has, and no other operand of the gate."""
    for place, name in enumerate(names):
        for number, gate in enumerate(_lstm.GATES):
            yield name.format(gate), _FACTORS[(place + number) % len(_FACTORS)]


def _scaled(spec: OperandSpec, factor: float) -> OperandSpec:
    return replace(spec, operand=structs.replace(spec.operand, scale=spec.operand.scale * factor))


def _shifted(spec: OperandSpec, offset: int) -> OperandSpec:
    """Bytes between the offset and 127."""
    if not isinstance(spec.data, numpy.ndarray):
        return spec
    return replace(spec, data=(offset + spec.data % (128 - offset)).astype(numpy.int8))


def _by_hand() -> Vector:
    cell = Cell(size=1, units=2)
    inputs, _ = operands(cell)
    zeros = {name: _filled(spec, 0) for name, spec in inputs.items() if spec.operand.type is _BYTE}
    state = replace(inputs["prev_cell_state"], data=numpy.array([[8192, -2048], [1024, -512]], numpy.int16))
    description = (
        "all weights are 0: three gates are 1/2, the candidate 0; cell' = cell / 2, output = tanh(cell / 2) / 2"
    )
    return _positive("by_hand", cell, changes={**zeros, "prev_cell_state": state}, description=description)


def _filled(spec: OperandSpec, element: int) -> OperandSpec:
    if not isinstance(spec.data, numpy.ndarray):
        return spec
    return replace(spec, data=numpy.full_like(spec.data, element))


def _uncertain() -> Vectors:
    """What runs, though no device has to agree with another about the output."""
    both = ["output_state_out", "output"]
    for name, cell, reason in (
        ("hidden_zero_point", Cell(seed=41, zero_points=(0, 0, 13)), "it is subtracted, which no document says"),
        ("projection_without_bias", Cell(seed=42, output=3, projection_bias=False), "it crashes Android's own kernels"),
        ("projection_clip", Cell(seed=43, output=3, clips=(0.0, 0.5)), "it is taken in units of the weights"),
    ):
        description = f"the output is not compared: {reason}"
        yield _positive(name, cell, ignored=both, description=description, hazards=["quantized-lstm-hidden"])


def _rejected() -> Vectors:
    whole = Cell(batch=2, size=1, units=2, output=3, peepholes=True, norm=True)
    for name, clause, cell in (
        ("input_to_input", "C2", replace(whole, peepholes=False, norm=False)),
        ("input_gate_bias", "C2", whole),
        ("cell_to_forget", "C3", whole),
        ("projection_weights", "C5", replace(whole, output=2)),
        ("input_layer_norm_weights", "C6", whole),
        ("output_layer_norm_weights", "C6", replace(whole, coupled=True)),
    ):
        inputs, _ = operands(cell)
        yield _rejection(f"{name}_omitted", clause, cell, {name: _omitted(inputs[name])})
    inputs, outputs = operands(whole)
    for name, axis in (("input_to_output", 1), ("cell_bias", 0), ("projection_weights", 0), ("prev_cell_state", 1)):
        yield _rejection(f"{name}_axis_{axis}", "C7", whole, _resized(inputs, name, axis))
    for name, axis in (("output_state_out", 0), ("cell_state_out", 1), ("output", 1)):
        yield _rejection(f"{name}_axis_{axis}", "C10", whole, _resized(outputs, name, axis))
    yield from _rejected_scales()
    other = Cell(size=1, units=2)
    wider = operands(replace(other, output=3, projection_bias=False))
    names = [*(f"recurrent_to_{gate}" for gate in _lstm.GATES), "prev_output"]
    changes = {name: wider[0][name] for name in names} | {
        name: wider[1][name] for name in ("output_state_out", "output")
    }
    yield _rejection("output_size_without_projection", "C8", other, changes)
    flat = {"input": _with_shape(inputs["input"], (2, 1, 1))}
    yield _rejection("input_rank_3", RANK_CLAUSE, whole, flat, phase="execution")
    late = {"input": replace(flat["input"], operand=structs.replace(flat["input"].operand, dimensions=()))}
    open_outputs = {
        name: replace(spec, operand=structs.replace(spec.operand, dimensions=())) for name, spec in outputs.items()
    }
    yield _rejection("input_rank_3_at_execution", "C1", whole, late | open_outputs)


def _rejected_scales() -> Vectors:
    cell = Cell(size=1, units=2)
    for name, scale in (("no_power_of_two", 0.0015), ("too_large", 2.0**-8)):
        inputs, outputs = operands(cell)
        states = {"prev_cell_state": inputs["prev_cell_state"], "cell_state_out": outputs["cell_state_out"]}
        changed = {
            key: replace(one, operand=structs.replace(one.operand, scale=_float32(scale)))
            for key, one in states.items()
        }
        yield _rejection(f"cell_scale_{name}", "C11", cell, changed)


def _float32(value: float) -> float:
    return float(numpy.float32(value))


def _resized(spec: Operands, name: str, axis: int) -> Operands:
    shape = list(spec[name].operand.dimensions)
    shape[axis] += 1
    return {name: _with_shape(spec[name], tuple(shape))}


def _with_shape(spec: OperandSpec, shape: tuple[int, ...]) -> OperandSpec:
    data = numpy.zeros(shape, spec.data.dtype) if isinstance(spec.data, numpy.ndarray) else None
    return replace(spec, operand=structs.replace(spec.operand, dimensions=shape), data=data, shape=shape)


def _rejection(name: str, clause: str, cell: Cell, changes: Operands, **details: Any) -> Vector:
    return rejection(OPERATION, name, clause, *operands(cell), "1.3", changes=changes, **{"phase": None, **details})
