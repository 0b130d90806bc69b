"""The generator of QUANTIZED_16BIT_LSTM. Scales of weights are powers of two, so that gates are exact.

Activations and columns of weights are joined in unlike orders (corpus/oracles says how): each vector tells that from
input times input weights plus previous output times recurrent weights.
"""

from collections.abc import Mapping
from typing import Any

from npu_conformance.corpus.generators._recurrent import rejections
from npu_conformance.corpus.generators.base import Vectors, positive
from npu_conformance.corpus.generators.data import integers
from npu_conformance.corpus.generators.operands import Operands, OperandSpec, constant, tensor
from npu_conformance.corpus.vectors import Vector
from npu_conformance.specs.neuralnetworks.enums import OperandType

OPERATION = "QUANTIZED_16BIT_LSTM"
QUANT8, INT32, CELL = OperandType.TENSOR_QUANT8_ASYMM, OperandType.TENSOR_INT32, OperandType.TENSOR_QUANT16_SYMM
GATES = ("input", "forget", "cell", "output")
ACTIVATION: Mapping[str, Any] = {"scale": 1 / 128, "zero_point": 128}
CELL_SCALE = 1 / 2048


def operands(
    shape: tuple[int, int, int], seed: int, *, scale: float = 1 / 64, point: int = 120, cell: int = 4000
) -> tuple[Operands, Operands]:
    """Inputs and outputs. shape: batch, input size, output size. cell: largest element of the cell state."""
    batch, size, units = shape
    inputs = {"input": tensor(QUANT8, (batch, size), integers(100 * seed, (batch, size), 0, 255), **ACTIVATION)}
    for source, columns in (("input", size), ("recurrent", units)):
        for gate in GATES:
            data = integers(100 * seed + len(inputs), (units, columns), 0, 255)
            name = f"{source}_to_{gate}_weights"
            inputs[name] = constant(QUANT8, (units, columns), data, scale=scale, zero_point=point)
    for gate in GATES:
        data = integers(100 * seed + len(inputs), (units,), -9000, 9000)
        inputs[f"{gate}_gate_bias"] = constant(INT32, (units,), data, scale=scale / 128)
    state = (batch, units)
    inputs["prev_cell_state"] = tensor(CELL, state, integers(100 * seed + 20, state, -cell, cell), scale=CELL_SCALE)
    inputs["prev_output"] = tensor(QUANT8, state, integers(100 * seed + 21, state, 0, 255), **ACTIVATION)
    return inputs, {
        "cell_state_out": tensor(CELL, state, scale=CELL_SCALE),
        "output": tensor(QUANT8, state, **ACTIVATION),
    }


def vectors() -> Vectors:
    """Shapes, quantisations of weights, a case to follow by hand, saturation, open sizes; rejections."""
    shapes = {"plain": (2, 3, 4), "one_unit": (3, 4, 1), "one_batch": (1, 2, 3)}
    for seed, (name, shape) in enumerate(shapes.items()):
        for point, scale in ((120, 1 / 64), (0, 1 / 512), (255, 1 / 256)):
            given = operands(shape, seed, scale=scale, point=point)
            yield positive(f"{name}_zero_point_{point}", OPERATION, *given)
    yield _by_hand()
    yield from _saturated()
    inputs, outputs = operands((2, 3, 4), 6)
    states = ("input", "prev_cell_state", "prev_output")
    for name, dimensions in (("sizes", (0, 0)), ("rank", ())):
        late = {key: _reopened(inputs[key], dimensions) for key in states}
        unknown = {key: _reopened(spec, dimensions) for key, spec in outputs.items()}
        yield positive(f"unknown_{name}", OPERATION, inputs | late, unknown)
    yield from _rejected()


def _reopened(spec: OperandSpec, dimensions: tuple[int, ...]) -> OperandSpec:
    operand = spec.operand
    quantization: dict[str, Any] = {"scale": operand.scale, "zero_point": operand.zero_point}
    return tensor(operand.type, dimensions, spec.data, shape=spec.shape, **quantization)


def _replaced(spec: OperandSpec, **changes: Any) -> OperandSpec:
    """The same operand with other dimensions (its data is made anew) or another scale or zero point."""
    operand = spec.operand
    dimensions = changes.get("dimensions", operand.dimensions)
    data = None if spec.data is None else integers(1, dimensions, 0, 100)
    scale, point = changes.get("scale", operand.scale), changes.get("zero_point", operand.zero_point)
    return tensor(operand.type, dimensions, data, scale=scale, zero_point=point, constant=spec.constant)


def _by_hand() -> Vector:
    """One weight of the cell gate per unit: the first recurrent column meets the input, the last input column h1."""
    inputs, outputs = operands((1, 1, 2), 1)
    for name in inputs:
        if name.endswith("_weights"):
            inputs[name] = constant(QUANT8, inputs[name].shape, 120, scale=1 / 64, zero_point=120)
        elif name.endswith("_bias"):
            inputs[name] = constant(INT32, (2,), [0, 0], scale=1 / 8192)
    inputs["recurrent_to_cell_weights"] = constant(QUANT8, (2, 2), [184, 120, 120, 120], scale=1 / 64, zero_point=120)
    inputs["input_to_cell_weights"] = constant(QUANT8, (2, 1), [120, 184], scale=1 / 64, zero_point=120)
    inputs["input"] = tensor(QUANT8, (1, 1), [192], **ACTIVATION)
    inputs["prev_cell_state"] = tensor(CELL, (1, 2), [2048, -4096], scale=CELL_SCALE)
    inputs["prev_output"] = tensor(QUANT8, (1, 2), [128, 64], **ACTIVATION)
    description = (
        "input 0.5 and previous output 0, -0.5 are joined to 0.5, 0, -0.5; the columns recurrent 0, recurrent 1, input "
        "of the cell gate to 1, 0, 0 and 0, 0, 1: its gates are 0.5 and -0.5. All others are 0, sigmoids of 0.5: cells "
        "0.5 * (1 + tanh(0.5)) = 0.73106 and 0.5 * (-2 - tanh(0.5)) = -1.23106, stored 1497 and -2521; "
        "0.5 * tanh(0.73096) = 0.31183 is 39.91 / 128, stored 168; 0.5 * tanh(-1.23096) = -0.42143 is -53.94 / 128, "
        "stored 74"
    )
    return positive("by_hand", OPERATION, inputs, outputs, description=description)


def _saturated() -> Vectors:
    """Gates beyond 8, where sigmoids stop short of 0 and 1, and cells beyond 16.

    Beside a gate that is not saturated the cell is small: a sigmoid of 16 bits is off by several units of its last
    place, which a cell near 16 would show as several quanta.
    """
    for name, bias, cell in (("high", 2_000_000, 32_700), ("low", -2_000_000, -32_700)):
        inputs, outputs = operands((2, 2, 3), 2)
        for gate in GATES:
            inputs[f"{gate}_gate_bias"] = constant(INT32, (3,), [bias, bias, bias // 1000], scale=1 / 8192)
        inputs["prev_cell_state"] = tensor(CELL, (2, 3), [cell, -cell, 900, -1200, 300, cell // 8], scale=CELL_SCALE)
        yield positive(f"saturated_{name}", OPERATION, inputs, outputs)


def _rejected() -> Vectors:
    inputs, outputs = operands((2, 3, 4), 5)
    deep = tensor(QUANT8, (2, 3, 1), integers(1, (2, 3, 1), 0, 255), **ACTIVATION)
    shapes = {
        "input_size": ("C2", "input", (2, 4)),
        "input_columns": ("C2", "input_to_cell_weights", (4, 2)),
        "rows": ("C3", "input_to_forget_weights", (3, 3)),
        "recurrent_columns": ("C3", "recurrent_to_output_weights", (4, 3)),
        "bias_too_long": ("C3", "cell_gate_bias", (5,)),
        "cell_of_other_size": ("C3", "prev_cell_state", (2, 3)),
        "cell_of_other_batch": ("C4", "prev_cell_state", (3, 4)),
        "output_of_other_batch": ("C4", "prev_output", (1, 4)),
        "cell_declared_transposed": ("C9", "cell_state_out", (4, 2)),
        "output_declared_too_small": ("C9", "output", (2, 3)),
        "input_rank_3": ("MODEL.P3R", "input", (2, 3, 1)),
    }
    quantizations: dict[str, tuple[str, str, dict[str, Any]]] = {
        "input_scale": ("C5", "input", {"scale": 1 / 64}),
        "input_zero_point": ("C5", "input", {"zero_point": 127}),
        "previous_output_scale": ("C5", "prev_output", {"scale": 1 / 256}),
        "cell_scale": ("C5", "prev_cell_state", {"scale": 1 / 1024}),
        "cell_out_scale": ("C5", "cell_state_out", {"scale": 1 / 1024}),
        "output_zero_point": ("C5", "output", {"zero_point": 0}),
        "weights_scale": ("C6", "recurrent_to_input_weights", {"scale": 1 / 32}),
        "weights_zero_point": ("C6", "input_to_output_weights", {"zero_point": 121}),
        "bias_scale": ("C7", "output_gate_bias", {"scale": 1 / 4096}),
    }
    rows = {
        name: (clause, {key: _replaced((inputs | outputs)[key], dimensions=size)})
        for name, (clause, key, size) in shapes.items()
    }
    rows |= {
        name: (clause, {key: _replaced((inputs | outputs)[key], **changes)})
        for name, (clause, key, changes) in quantizations.items()
    }
    rows["input_rank_3_at_execution"] = ("C1", {"input": _reopened(deep, ())})
    signed = OperandType.TENSOR_QUANT8_ASYMM_SIGNED
    yield from rejections(OPERATION, inputs, outputs, rows, since="1.2")
    signed_input = tensor(signed, (2, 3), integers(1, (2, 3), -128, 127), scale=1 / 128)
    yield from rejections(
        OPERATION, inputs, outputs, {"signed_input": ("MODEL.P3", {"input": signed_input})}, since="1.3"
    )
