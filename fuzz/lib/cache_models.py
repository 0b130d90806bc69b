"""The models that are cached: sums with constants, which only their values tell apart, and stored vectors."""

from __future__ import annotations

from dataclasses import replace

import numpy
from msgspec import structs

from npu_conformance.corpus import oracles
from npu_conformance.corpus.model_builder import ModelBuilder
from npu_conformance.corpus.vectors import Example, Vector, VectorOperand
from npu_conformance.fuzz.lib.choices import Choices
from npu_conformance.fuzz.lib.findings import Found
from npu_conformance.fuzz.lib.prepared_vectors import PreparedVectors, load, prepared_on
from npu_conformance.fuzz.lib.request_edits import draft_of
from npu_conformance.fuzz.lib.request_judge import Prepared, judge
from npu_conformance.harness.subject.handle import SubjectHandle
from npu_conformance.specs.errors import status_name
from npu_conformance.specs.neuralnetworks.enums import ErrorStatus, OperandType
from npu_conformance.specs.neuralnetworks.hal import PreparedModel
from npu_conformance.specs.neuralnetworks.operand_types import OPERAND_TYPES
from npu_conformance.specs.neuralnetworks.types import Request

OPERATIONS = ("CONV_2D", "PAD", "LSTM", "IF")
"""Of stored vectors: weights, parameters that are tensors, omitted operands, several graphs."""
_SHAPE = (2, 3)


def _sum(name: str, length: int, constant: int, result: VectorOperand) -> Vector:
    """The input and `length` times a constant. result: of what type they are."""
    builder, tensor = ModelBuilder(), structs.replace(result, dimensions=_SHAPE)
    dtype = OPERAND_TYPES[tensor.type].dtype
    found = builder.input(tensor, numpy.arange(6).astype(dtype).reshape(_SHAPE))
    summand = builder.constant(tensor, numpy.full(_SHAPE, constant, dtype))
    none = builder.constant(VectorOperand(OperandType.INT32), numpy.zeros((), numpy.int32))
    for _ in range(length):
        (found,) = builder.apply("ADD", (found, summand, none), (result,))
    vector = builder.vector(name, "ADD", [found])
    given = vector.examples[0].inputs
    return structs.replace(vector, examples=(Example(given, oracles.evaluate(vector.main, given)),))


class CachedModels:
    """The models by name; each is prepared without a cache when it is first asked for."""

    def __init__(self, subject: SubjectHandle) -> None:
        self._subject = subject
        self._types = [one for one in _TYPES if _sum("one", 1, 1, one).since <= subject.version]
        self._vectors = PreparedVectors(subject, OPERATIONS)
        self._found: dict[str, Prepared] = {}
        sums = [f"sum/{name}" for name in _SUMS]
        self.names, self.first_names = [*sums, *self._vectors.names], [*sums, *self._vectors.first_names]

    def get(self, name: str) -> Prepared | None:
        """A model; None for an unknown one, and for one that the device does not prepare or execute."""
        kind, _, which = name.partition("/")
        if kind == "sum" and which in _SUMS and name not in self._found:
            self._found[name] = self._prepared_sum(which)
        found = self._found.get(name) or self._vectors.get(name)
        if found is None:
            return None
        if found.prepared is None:
            self._look_around(name)
            return None
        if found.runs is None:
            found.runs = self._status(found, found.prepared) == ErrorStatus.NONE
        return found if found.runs else None

    def instead(self, name: str, choices: Choices) -> str:
        """A vector that is known to be prepared in place of one that the device refuses; else the same name."""
        return self._vectors.instead(name, choices)

    def _prepared_sum(self, name: str) -> Prepared:
        """A sum in the first type that the device adds: all are of the same one."""
        while True:
            vector = _sum(name, *_SUMS[name], self._types[0])
            found = prepared_on(self._subject, load(vector, self._subject.version))
            if found.prepared is not None or len(self._types) == 1:
                return found
            del self._types[0]

    def are_there(self) -> bool:
        """Whether the device prepares and executes one of the models."""
        return any(self.get(name) is not None for name in self.names)

    def _look_around(self, name: str) -> None:
        if name in self._vectors.names:
            self._vectors.look_around(name)

    def clear(self) -> None:
        """Forget what is prepared, since the subject has begun anew."""
        self._found.clear()
        self._vectors.clear()

    def computes(self, name: str, prepared: PreparedModel) -> None:
        """Found unless a prepared model computes this model."""
        found = self.get(name)
        assert found is not None
        status = self._status(found, prepared)
        if status != ErrorStatus.NONE:
            raise Found("wrong-result", f"the execution of {name}: found {status_name(status)}", "NNHAL-CACHE-010")

    def executes(self, name: str, prepared: PreparedModel) -> None:
        """Execute a model of which only the process must survive: its data are not those that were saved."""
        try:
            self.computes(name, prepared)
        except Found as found:
            if found.kind != "wrong-result" or found.where == "memory":
                raise

    def _status(self, found: Prepared, prepared: PreparedModel) -> int:
        draft = draft_of(found, self._subject.version)
        arguments = draft.arguments()
        assert arguments is not None
        seen = judge(self._subject, replace(found, prepared=prepared), Request(*arguments, ()), draft.pools)
        return int(next(iter(seen)).partition(" ")[0])


_SUMS = {"one": (1, 1), "two": (2, 1), "other": (1, 4)}
"""How often they add, and which number."""
_TYPES = (
    VectorOperand(OperandType.TENSOR_FLOAT32),
    VectorOperand(OperandType.TENSOR_QUANT8_ASYMM, scale=1.0),
    VectorOperand(OperandType.TENSOR_FLOAT16),
    VectorOperand(OperandType.TENSOR_QUANT8_ASYMM_SIGNED, scale=1.0),
    VectorOperand(OperandType.TENSOR_INT32),
)
"""What they add, the first that the device has."""
