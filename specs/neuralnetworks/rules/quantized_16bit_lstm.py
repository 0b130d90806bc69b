"""Rules of QUANTIZED_16BIT_LSTM: one step of an LSTM whose quantisation is fixed, but for that of the weights."""

import math

from npu_conformance.specs.neuralnetworks.operation_view import OperationView
from npu_conformance.specs.neuralnetworks.rules.clause import Shapes, clause, rules
from npu_conformance.specs.neuralnetworks.rules.common import general, recurrent
from npu_conformance.specs.neuralnetworks.rules.common.quantization import BIAS_TOLERANCE
from npu_conformance.specs.neuralnetworks.types import Operand

_GATES = ("input", "forget", "cell", "output")
_WEIGHTS = tuple(f"{source}_to_{gate}_weights" for source in ("input", "recurrent") for gate in _GATES)
_BIASES = tuple(f"{gate}_gate_bias" for gate in _GATES)
_INPUT_SIZE = (("input", 1), *((name, 1) for name in _WEIGHTS[:4]))
_OUTPUT_SIZE = (
    *((name, 0) for name in _WEIGHTS),
    *((name, 1) for name in _WEIGHTS[4:]),
    *((name, 0) for name in _BIASES),
    ("prev_cell_state", 1),
    ("prev_output", 1),
)
_BATCH = (("input", 0), ("prev_cell_state", 0), ("prev_output", 0))
_ACTIVATION_STEPS = 128
_ACTIVATION = (1 / _ACTIVATION_STEPS, 128)
_CELL = (1 / 2048, 0)


def _output_shapes(view: OperationView) -> Shapes:
    state = recurrent.known_size(view, *_BATCH), recurrent.known_size(view, *_OUTPUT_SIZE)
    return (state, state)


def _spelled(operand: Operand) -> str:
    return f"scale {operand.scale} and zero point {operand.zero_point}"


def _fixed(view: OperationView) -> str | None:
    activations, cells = (view.operand("input"), view.operand("prev_output")), (view.operand("prev_cell_state"),)
    expected = {_ACTIVATION: (*activations, view.outputs[1]), _CELL: (*cells, view.outputs[0])}
    for wanted, operands in expected.items():
        for operand in operands:
            if (operand.scale, operand.zero_point) != wanted:
                return f"{_spelled(operand)}, expected {wanted[0]} and {wanted[1]}"
    return None


def _weights(view: OperationView) -> str | None:
    found = {_spelled(view.operand(name)) for name in _WEIGHTS}
    return f"weights have {' or '.join(sorted(found))}" if len(found) > 1 else None


def _biases(view: OperationView) -> str | None:
    expected = view.operand("input_to_input_weights").scale / _ACTIVATION_STEPS
    for name in _BIASES:
        operand = view.operand(name)
        if not math.isclose(operand.scale, expected, rel_tol=BIAS_TOLERANCE) or operand.zero_point:
            return f"{name} has {_spelled(operand)}, expected {expected} and 0"
    return None


RULES = rules(
    "QUANTIZED_16BIT_LSTM",
    _output_shapes,
    general.ranks("C1"),
    recurrent.one_size("C2", "input size", *_INPUT_SIZE),
    recurrent.one_size("C3", "output size", *_OUTPUT_SIZE),
    recurrent.one_size("C4", "batch size", *_BATCH),
    clause("C5", "model", "Input and outputs have scale 1/128, zero point 128; cell states 1/2048 and 0.", _fixed),
    clause("C6", "model", "All weights have the same scale and zero point.", _weights),
    clause("C7", "model", "Biases have the scale of the weights divided by 128, and zero point 0.", _biases),
    general.empty("C8"),
    general.declared_outputs("C9", _output_shapes),
)
