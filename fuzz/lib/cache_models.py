"""The models that are cached: sums with constants, which only their values tell apart, and stored vectors."""

from __future__ import annotations

from dataclasses import replace

import numpy
from msgspec import structs

from npu_conformance.corpus import oracles
from npu_conformance.corpus.model_builder import ModelBuilder
from npu_conformance.corpus.vectors import Example, Vector, VectorOperand
from npu_conformance.fuzz.lib.findings import Found
from npu_conformance.fuzz.lib.prepared_vectors import PreparedVectors, prepared_vector
from npu_conformance.fuzz.lib.request_edits import draft_of
from npu_conformance.fuzz.lib.request_judge import Prepared, judge
from npu_conformance.harness.subject.handle import SubjectHandle
from npu_conformance.specs.errors import status_name
from npu_conformance.specs.neuralnetworks.enums import ErrorStatus, OperandType
from npu_conformance.specs.neuralnetworks.hal import PreparedModel
from npu_conformance.specs.neuralnetworks.types import Request

_OPERATIONS = ("CONV_2D", "PAD", "LSTM", "IF")
"""Of stored vectors: weights, parameters that are tensors, omitted operands, several graphs."""
_SHAPE = (2, 3)


def _sum(name: str, length: int, constant: float) -> Vector:
    """The input and `length` times a constant."""
    builder, tensor = ModelBuilder(), VectorOperand(OperandType.TENSOR_FLOAT32, _SHAPE)
    found = builder.input(tensor, numpy.arange(6, dtype=numpy.float32).reshape(_SHAPE))
    summand = builder.constant(tensor, numpy.full(_SHAPE, constant, numpy.float32))
    none = builder.constant(VectorOperand(OperandType.INT32), numpy.zeros((), numpy.int32))
    for _ in range(length):
        (found,) = builder.apply("ADD", (found, summand, none), (VectorOperand(OperandType.TENSOR_FLOAT32),))
    vector = builder.vector(name, "ADD", [found])
    given = vector.examples[0].inputs
    return structs.replace(vector, examples=(Example(given, oracles.evaluate(vector.main, given)),))


class CachedModels:
    """The models by name; each is prepared without a cache when it is first asked for."""

    def __init__(self, subject: SubjectHandle) -> None:
        self._subject = subject
        self._sums = {f"sum/{name}": _sum(name, length, constant) for name, length, constant in _SUMS}
        self._vectors = PreparedVectors(subject, lambda header: header.operation in _OPERATIONS)
        self._found: dict[str, Prepared] = {}
        self.names = [*self._sums, *self._vectors.names]

    def get(self, name: str) -> Prepared | None:
        """A model; None for an unknown one, and for one that the device does not prepare or execute."""
        if name in self._sums and name not in self._found:
            self._found[name] = prepared_vector(self._subject, self._sums[name])
        found = self._found.get(name) or self._vectors.get(name)
        if found is None or found.prepared is None:
            return None
        if not found.runs:
            found.runs = self._status(found, found.prepared) == ErrorStatus.NONE
        return found if found.runs else None

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


_SUMS = (("one", 1, 1.0), ("two", 2, 1.0), ("other", 1, 4.0))
