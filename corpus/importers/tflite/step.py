"""One operator on its way to operations: its tensors, options and results."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from msgspec.structs import replace

from npu_conformance.corpus.importers.tflite.contents import Operator, Tensor
from npu_conformance.corpus.importers.tflite.errors import Unsupported
from npu_conformance.corpus.importers.tflite.flatbuffer import Array
from npu_conformance.corpus.importers.tflite.tensors import narrowed, operand_of
from npu_conformance.corpus.importers.tflite.translation import Translation
from npu_conformance.corpus.importers.tflite.variables import State
from npu_conformance.corpus.vectors import VectorOperand
from npu_conformance.specs.neuralnetworks.enums import OperandType
from npu_conformance.specs.neuralnetworks.operand_types import OPERAND_TYPES

SEPARATE_ACTIVATIONS = {1: "RELU", 2: "RELU1", 3: "RELU6", 4: "TANH"}
"""The operation that does what a fused activation of LiteRT does, by its code."""
FUSED_IN_NNAPI = range(4)
"""Activation codes that mean the same to LiteRT and to NNAPI: NONE, RELU, RELU_N1_TO_1, RELU6."""


class Step:
    """An operator and the translation that it belongs to. Inputs and outputs go by their positions."""

    def __init__(self, translation: Translation, operator: Operator) -> None:
        self.translation, self.operator = translation, operator

    @property
    def input_count(self) -> int:
        """How many inputs there are, those that are left out included."""
        return len(self.operator.inputs)

    def has(self, position: int) -> bool:
        """True for an input that is given."""
        return position < self.input_count and self.operator.inputs[position] >= 0

    def tensor(self, position: int) -> Tensor:
        """An input that must be given. Raises TfliteError."""
        if not self.has(position):
            raise self.translation.error(f"{self.operator.name} has no input {position}", self.operator)
        return self.translation.subgraph.tensors[self.operator.inputs[position]]

    def output(self, position: int = 0) -> Tensor:
        """An output. Raises TfliteError where there is none."""
        if position >= len(self.operator.outputs):
            raise self.translation.error(f"{self.operator.name} has no output {position}", self.operator)
        return self.translation.subgraph.tensors[self.operator.outputs[position]]

    def name(self, position: int) -> str:
        """The operand of an input."""
        return self.translation.name(self.tensor(position))

    def names(self) -> list[str]:
        """The operands of all inputs."""
        return [self.name(position) for position in range(self.input_count)]

    def operand(self, position: int) -> VectorOperand:
        """What the operand of an input is."""
        return self.translation.builder.operand(self.name(position))

    def result(self, position: int = 0) -> VectorOperand:
        """The operand that an output becomes."""
        return operand_of(self.output(position))

    def constant(self, position: int) -> Array:
        """The elements of an input that has to be constant. Raises Unsupported."""
        tensor = self.tensor(position)
        value = self.translation.constant(tensor)
        if value is None:
            raise Unsupported(f"NNAPI needs its input {position}, {tensor}, at preparation, and it is not constant")
        return value

    def integers(self, position: int) -> list[int]:
        """The same, for integers; int64 has to fit into int32."""
        value = narrowed(self.tensor(position), self.constant(position))[1]
        if value.dtype.kind not in "iu":
            raise Unsupported(f"its input {position} is of {value.dtype.name}, where integers are expected")
        numbers: list[int] = value.reshape(-1).tolist()
        return numbers

    def integer(self, position: int) -> int:
        """The same, for one integer."""
        numbers = self.integers(position)
        if len(numbers) != 1:
            raise Unsupported(f"its input {position} has {len(numbers)} elements, where one is expected")
        return numbers[0]

    def int32(self, value: int) -> str:
        """A new constant scalar."""
        return self._scalar(OperandType.INT32, value)

    def boolean(self, value: object) -> str:
        """A new constant truth value."""
        return self._scalar(OperandType.BOOL, int(bool(value)))

    def real(self, value: float, like: VectorOperand) -> str:
        """A new constant scalar: of float16 beside a tensor of float16, else of float32."""
        is_half = like.type is OperandType.TENSOR_FLOAT16
        return self._scalar(OperandType.FLOAT16 if is_half else OperandType.FLOAT32, value)

    def vector(self, values: Sequence[int]) -> str:
        """A new constant tensor of int32, of one axis."""
        return self.filled(VectorOperand(OperandType.TENSOR_INT32, (len(values),)), values)

    def filled(self, operand: VectorOperand, value: float | Sequence[int]) -> str:
        """A new constant of an operand's type and shape, of as many elements as it has; a number fills it."""
        info, given = OPERAND_TYPES[operand.type], np.asarray(value)
        self.translation.take(math.prod(operand.dimensions) * info.size)
        shaped = given.reshape(operand.dimensions) if given.ndim else given
        with np.errstate(over="ignore"):  # to float16, which then has infinity
            array = np.broadcast_to(shaped, operand.dimensions).astype(info.dtype)
        return self.translation.builder.constant(operand, array)

    def omitted(self, operand: VectorOperand) -> str:
        """An optional input that is left out."""
        return self.translation.builder.omitted(operand)

    def emit(self, operation: str, arguments: Sequence[str], *results: VectorOperand) -> str:
        """Add an operation between others; returns its first result."""
        return self.translation.emit(operation, arguments, results)[0]

    def apply(self, operation: str, arguments: Sequence[str], *positions: int) -> None:
        """Add the operation whose results are outputs: all that the operator has, or those at `positions`."""
        chosen = positions or tuple(range(len(self.operator.outputs)))
        names = self.translation.emit(operation, arguments, [self.result(position) for position in chosen])
        for position, name in zip(chosen, names, strict=True):
            self.translation.bind(self.output(position), name)

    def deliver(self, name: str, position: int = 0) -> None:
        """Let an operand stand for an output, brought to its quantisation."""
        self.translation.bind(self.output(position), self.requantized(name, self.result(position)))

    def requantized(self, name: str, target: VectorOperand) -> str:
        """An operand in another quantisation: NNAPI has no operation for that but DEQUANTIZE with QUANTIZE."""
        if same_quantization(self.translation.builder.operand(name), target):
            return name
        return self.emit("QUANTIZE", [self.dequantized(name)], target)

    def dequantized(self, name: str) -> str:
        """A quantised operand as float32."""
        dimensions = self.translation.builder.operand(name).dimensions
        return self.emit("DEQUANTIZE", [name], VectorOperand(OperandType.TENSOR_FLOAT32, dimensions))

    def uniform(self, operation: str, arguments: Sequence[str]) -> None:
        """An operation whose result NNAPI wants in the quantisation of its first input, brought to the declared one."""
        source, target = self.translation.builder.operand(arguments[0]), self.result()
        if source.type is target.type:
            target = replace(target, scale=source.scale, zero_point=source.zero_point)
        self.deliver(self.emit(operation, arguments, target))

    def activated(self, operation: str, arguments: Sequence[str], *behind: str) -> None:
        """An operation with a fused activation. arguments, behind: what stands before and after its code."""
        code = self.activation()
        if code in FUSED_IN_NNAPI:
            self.apply(operation, [*arguments, self.int32(code), *behind])
            return
        inner = self.emit(operation, [*arguments, self.int32(0), *behind], self._before_activation())
        self.apply(SEPARATE_ACTIVATIONS[code], [inner])

    def and_activation(self, operation: str, arguments: Sequence[str]) -> None:
        """An operation to which LiteRT fuses an activation and NNAPI does not."""
        code = self.activation()
        if not code:
            self.apply(operation, arguments)
            return
        inner = self.emit(operation, arguments, self.result() if code in FUSED_IN_NNAPI else self._before_activation())
        self.apply(SEPARATE_ACTIVATIONS[code], [inner])

    def activation(self) -> int:
        """The code of the fused activation. Raises Unsupported for one that no operation of NNAPI has."""
        code: int = self.operator.option("FusedActivationFunction")
        if code not in SEPARATE_ACTIVATIONS and code:
            raise Unsupported(f"NNAPI has no activation like its fused {'SIGN_BIT' if code == 5 else code}")
        return code

    def _before_activation(self) -> VectorOperand:
        result = self.result()
        if OPERAND_TYPES[result.type].is_quantized:
            raise Unsupported("the file does not say how the value before its fused TANH is quantised")
        return result

    def state(self, position: int) -> str:
        """The model input for a variable tensor, which a run of LiteRT starts with zeros. See `keep`."""
        tensor = self.tensor(position)
        if not tensor.is_variable:
            raise Unsupported(f"its state, {tensor}, is no variable tensor")
        name = self.translation.builder.input(self.state_operand(position))
        self.translation.bind(tensor, name)
        return name

    def state_operand(self, position: int) -> VectorOperand:
        """What the operand of a variable tensor is."""
        return operand_of(self.tensor(position))

    def keep(self, before: str, after: str) -> None:
        """Give the next value of a state."""
        operand = self.translation.builder.operand(before)
        info = OPERAND_TYPES[operand.type]
        self.translation.take(math.prod(operand.dimensions) * info.size)
        initial = np.full(operand.dimensions, operand.zero_point, info.dtype)
        self.translation.variables.tensors.append(State(before, after, initial))

    def _scalar(self, kind: OperandType, value: float) -> str:
        return self.filled(VectorOperand(kind), value)


def same_quantization(one: VectorOperand, other: VectorOperand) -> bool:
    """True for operands whose stored values mean the same."""
    return (one.type, one.scale, one.zero_point) == (other.type, other.scale, other.zero_point)
