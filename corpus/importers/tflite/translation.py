"""One subgraph on its way to a model: which tensors are known constants, which have operands, and what failed."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from npu_conformance.corpus.importers.tflite.contents import Contents, Operator, Subgraph, Tensor
from npu_conformance.corpus.importers.tflite.errors import TfliteError, Unsupported
from npu_conformance.corpus.importers.tflite.flatbuffer import Array
from npu_conformance.corpus.importers.tflite.tensors import elements, narrowed, operand_of
from npu_conformance.corpus.importers.tflite.variables import Variables
from npu_conformance.corpus.model_builder import IllegalOperationError, ModelBuilder
from npu_conformance.corpus.vectors import VectorOperand
from npu_conformance.specs.neuralnetworks import catalogue
from npu_conformance.specs.neuralnetworks.combinations import combination_since
from npu_conformance.specs.neuralnetworks.enums import OperandType
from npu_conformance.specs.versions import HIDL_LAST

MOST_MADE = 2**28
"""Bytes that a translation may make which are not in the file: folded constants, zeros of states."""


class Translation:
    """A subgraph's tensors as they get values, and the operands and operations that they become.

    problems: a line for each operator that cannot be expressed. substitutes: operands that stand for what these give.
    variables: what the model keeps between two runs.
    """

    def __init__(self, contents: Contents, subgraph: Subgraph, call: Callable[[int], int]) -> None:
        """call: makes a subgraph a graph of the model, and returns its number there. Raises Unsupported."""
        self.contents, self.subgraph, self._call = contents, subgraph, call
        self.builder = ModelBuilder(HIDL_LAST)
        self.problems: list[str] = []
        self.substitutes: set[str] = set()
        self.variables = Variables()
        self._constants: dict[int, Array] = {}
        self._names: dict[int, str] = {}
        self._left = MOST_MADE
        self._produced = {number for operator in subgraph.operators for number in operator.outputs}
        self._given = self._produced | set(subgraph.inputs)

    def error(self, rule: str, operator: Operator | None = None) -> TfliteError:
        """The file is wrong. operator: where."""
        place = f"subgraphs[{self.subgraph.index}]"
        return TfliteError(self.contents.document, f"{place}.operators[{operator.index}]" if operator else place, rule)

    def take(self, size: int) -> None:
        """Account for bytes that are about to be made. Raises TfliteError for too many."""
        self._left -= size
        if self._left < 0:
            raise self.error(f"constants and states that the file does not hold would take more than {MOST_MADE} bytes")

    def constant(self, tensor: Tensor) -> Array | None:
        """The value of a tensor that is known now, in the element type of the file."""
        if tensor.index in self._constants:
            return self._constants[tensor.index]
        if tensor.index in self._given or tensor.is_variable:
            return None
        if tensor.data is None and 0 in tensor.shape and tensor.type in ("INT32", "INT64", "FLOAT32"):
            return np.empty(tensor.shape, tensor.type.lower())
        return tensor.data

    def know(self, tensor: Tensor, value: Array) -> None:
        """Take the value of a tensor as computed."""
        self._constants[tensor.index] = value

    def is_known(self, tensor: Tensor) -> bool:
        """True for a tensor that has a value or an operand already."""
        return tensor.index in self._names or tensor.index in self._constants

    def bind(self, tensor: Tensor, name: str) -> None:
        """Let an operand stand for a tensor."""
        self._names[tensor.index] = name

    def name(self, tensor: Tensor) -> str:
        """The operand that stands for a tensor; a constant becomes one here. Raises Unsupported for one without."""
        if tensor.index not in self._names:
            value = self.constant(tensor)
            if value is None:
                operand_of(tensor)
                raise Unsupported(f"{tensor} has no value: it is no constant, no input and no earlier result")
            self._names[tensor.index] = self.constant_operand(*narrowed(tensor, value))
        return self._names[tensor.index]

    def constant_operand(self, tensor: Tensor, value: Array) -> str:
        """A new constant with the elements of a tensor."""
        operand = operand_of(tensor)
        return self.builder.constant(operand, elements(operand, value))

    def called(self, number: int, operator: Operator) -> int:
        """The number that a subgraph has among the graphs of the model. Raises TfliteError where there is none."""
        if number not in range(len(self.contents.subgraphs)):
            raise self.error(f"there is no subgraph {number}", operator)
        return self._call(number)

    def emit(self, operation: str, arguments: Sequence[str], results: Sequence[VectorOperand]) -> list[str]:
        """Add an operation. Raises Unsupported where HAL 1.3 has none for these types, or a clause is broken."""
        builder = self.builder
        inputs = tuple(builder.operand(name).type.name for name in arguments)
        outputs = tuple(result.type.name for result in results)
        self._check_count(operation, inputs, len(results))
        since = combination_since(operation, inputs, outputs)
        if since is None or since > HIDL_LAST:
            kinds = ", ".join(_short(builder, arguments))
            raise Unsupported(f"NNAPI's {operation} takes no inputs of {kinds} for {', '.join(outputs)}")
        try:
            names = builder.apply(operation, arguments, results)
        except IllegalOperationError as error:
            raise Unsupported(f"NNAPI's {operation} cannot do it: {error}") from None
        for name, result in zip(names, results, strict=True):
            found = builder.operand(name).dimensions
            if result.dimensions and found != result.dimensions:
                raise Unsupported(
                    f"NNAPI's {operation} has a result of the shape {list(found)}, the file {list(result.dimensions)}"
                )
        return names

    def _check_count(self, operation: str, inputs: tuple[str, ...], count: int) -> None:
        signature = catalogue.find_signature(operation, tuple(OperandType[kind] for kind in inputs))
        if signature is None or any(output.repeat for output in signature.outputs):
            return
        versions = signature.output_counts or {HIDL_LAST: (len(signature.outputs),)}
        counts = {number for numbers in versions.values() for number in numbers}
        if count not in counts:
            raise Unsupported(f"NNAPI's {operation} has {max(counts)} results, here are {count}")


def _short(builder: ModelBuilder, arguments: Sequence[str]) -> list[str]:
    operands = [builder.operand(name) for name in arguments]
    return [one.type.name for one in operands if one.type.name.startswith("TENSOR") and not one.omitted] or [
        OperandType.INT32.name
    ]
