"""The target whose inputs are models with a request: numbers of one or two implementations, and those of the oracles.

The oracles are the third party: where two implementations differ they say which of them is wrong, and where nobody can
say, since operations in front may have erred as much as they may, nothing is wrong.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import closing
from typing import TYPE_CHECKING

from npu_conformance.corpus.random_graphs.shrinking import cut, values_of
from npu_conformance.corpus.wire_model import BuiltRequest, build_model, build_request
from npu_conformance.fuzz.lib import differential_models
from npu_conformance.fuzz.lib.choices import Choices
from npu_conformance.fuzz.lib.differential_models import decoded
from npu_conformance.fuzz.lib.findings import Found, Kind
from npu_conformance.fuzz.lib.minimal_execution import answer
from npu_conformance.fuzz.lib.model_class import classify
from npu_conformance.fuzz.lib.model_judge import NEUTRAL, guarded
from npu_conformance.fuzz.lib.request_judge import judge_memory
from npu_conformance.harness.judge.graphs import QUICKLY, THOROUGHLY, judgement
from npu_conformance.harness.judge.outputs import FILL
from npu_conformance.harness.judge.verdicts import NoRoom
from npu_conformance.harness.run.preparation import PreparationRecorder, needs_room, prepare
from npu_conformance.harness.subject.handle import SubjectHandle
from npu_conformance.specs.errors import ServiceError, status_name
from npu_conformance.specs.neuralnetworks.enums import ErrorStatus
from npu_conformance.specs.neuralnetworks.hal import PreparedModel
from npu_conformance.specs.neuralnetworks.types import RequestMemoryPool

if TYPE_CHECKING:
    from npu_conformance.corpus.vectors import Array, Vector

_REFUSALS: tuple[Kind, ...] = ("valid-refused", "wrong-status")
"""What may be said of a model that is not valid, as a file from elsewhere may have one."""
_NOT_TAKEN = ("newer", "unsupported")
_TENSOR = "TENSOR_"
_BETWEEN = "between operations"
"""Where a graph is wrong whose operations are right by themselves."""


class DifferentialTarget:
    """Inputs are files of one vector. See Target."""

    name = "differential"

    def __init__(self, subject: SubjectHandle, beside: SubjectHandle | None = None, *, one_each: bool = False) -> None:
        """beside: a second implementation. one_each: begin without stored vectors, which take time to load."""
        self._sides = [_Side(subject, "")]
        if beside is not None:
            self._sides.append(_Side(beside, f" ({beside.manifest.name})"))
        self._version = subject.version
        self._supported: defaultdict[str, set[str]] = defaultdict(set)
        self.seeds: Sequence[bytes] = differential_models.seeds(self._version, with_stored=not one_each)

    def mutate(self, data: bytes, choices: Choices, max_size: int) -> bytes:
        """Draw a model or a graph, or change values, parameters, sizes and operations."""
        made = differential_models.mutated(data, choices, self._version, self._supported)
        return made if len(made) <= max_size else data

    def run(self, data: bytes) -> tuple[str, ...]:
        """Execute on each side, and judge what comes back."""
        vector = decoded(data)
        if vector is None or vector.since > self._version:
            return ()
        try:
            seen = [side.judge(vector) for side in self._sides]
        except Found as found:
            model = build_model(vector, self._version).model
            if found.kind in _REFUSALS and not classify(model, self._version).is_valid:
                return ("invalid",)
            raise
        if seen[0] not in _NOT_TAKEN:
            self._learn(vector)
        return tuple(f"{feature} {' '.join(seen)}" for feature in differential_models.features(vector))

    def _learn(self, vector: Vector) -> None:
        """Note operations that the subject has taken, with their types."""
        for operation in vector.operations:
            operands = (vector.operands[name] for name in (*operation.inputs, *operation.outputs) if name)
            self._supported[operation.type] |= {one.type.name for one in operands if one.type.name.startswith(_TENSOR)}

    def pieces(self, data: bytes) -> Iterator[bytes]:
        """Fewer operations and outputs, smaller tensors, plainer values."""
        return differential_models.pieces(data)

    def readable(self, data: bytes) -> bytes:
        """Inputs are a few lines a vector already."""
        return data

    def forget(self) -> None:
        """Each input prepares its own model."""


class _Side:
    """One implementation. label: how a finding names it; the subject needs no name."""

    def __init__(self, subject: SubjectHandle, label: str) -> None:
        self._subject, self._label = subject, label

    def judge(self, vector: Vector) -> str:
        """Judge its answer to a vector; returns it as a word. Raises Found."""
        if vector.since > self._subject.version:
            return "newer"
        outputs = self._outputs(vector)
        if outputs is None:
            return "unsupported"
        found = judgement(vector, outputs, QUICKLY)
        if found.findings:
            found = judgement(vector, outputs, THOROUGHLY)
        if found.findings:
            where = self._culprit(vector)
            raise Found("wrong-result", f"{where}{self._label}: {found.findings[0].message}", f"{where}{self._label}")
        return "undecided" if found.undecided else "widened" if found.widened else "right"

    def _culprit(self, vector: Vector) -> str:
        """The operation that is wrong by itself, of the values that it should have had."""
        values = values_of(vector)
        for operation in vector.operations:
            alone = cut(vector, (operation,), (), values) if len(vector.operations) > 1 else vector
            if not alone.inputs:
                continue
            outputs = self._outputs(alone)
            if outputs is not None and judgement(alone, outputs, THOROUGHLY).findings:
                return operation.type
        return _BETWEEN

    def _outputs(self, vector: Vector) -> dict[str, Array] | None:
        """What it computes; None where it does not support all of the model."""
        names = " ".join(operation.type for operation in vector.operations)
        prepared = self._prepared(vector, names)
        if prepared is None:
            return None
        built = build_request(vector, vector.examples[0], self._subject.version)
        return built.read_like(vector.examples[0], self._executed(prepared, built, names))

    def _prepared(self, vector: Vector, names: str) -> PreparedModel | None:
        device, model = self._subject.interfaces.device, build_model(vector, self._subject.version).model
        assert device is not None
        try:
            supported = guarded("getSupportedOperations", lambda: device.get_supported_operations(model), ServiceError)
        except ServiceError as error:
            raise self._failed("getSupportedOperations", names, error.status) from None
        if not all(supported):
            return None
        found = guarded("prepareModel", lambda: prepare(self._subject, device, model, NEUTRAL, PreparationRecorder()))
        try:
            needs_room(found)
        except NoRoom:
            return None
        if found.prepared_model is None:
            raise self._failed("prepareModel of supported operations", names, found.status or found.launch_status)
        return found.prepared_model

    def _executed(self, prepared: PreparedModel, built: BuiltRequest, names: str) -> bytes:
        """The pool of outputs after an execution."""
        size = max(built.output_size, 1)
        with (
            closing(self._subject.memory.create("ashmem", len(built.input_data) or 1)) as inputs,
            closing(self._subject.memory.create("ashmem", size)) as outputs,
        ):
            inputs.write(0, built.input_data)
            outputs.write(0, bytes([FILL]) * size)
            before = [pool.read(0, pool.memory.size) for pool in (inputs, outputs)]
            request = built.request(RequestMemoryPool(pool=inputs.memory), RequestMemoryPool(pool=outputs.memory))
            status, _ = guarded("the execution", lambda: answer(self._subject, prepared, request))
            if status != ErrorStatus.NONE:
                raise self._failed("the execution", names, status)
            after = [pool.read(0, pool.memory.size) for pool in (inputs, outputs)]
            judge_memory(request, before, after)
            return after[1]

    def _failed(self, what: str, names: str, status: int) -> Found:
        told = f"{what}{self._label} of {names}: expected NONE, found {status_name(status)}"
        kind: Kind = "valid-refused" if status == ErrorStatus.INVALID_ARGUMENT else "wrong-status"
        return Found(kind, told, f"{what}{self._label}: {status_name(status)}")
