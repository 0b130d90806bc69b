"""One execution of a fuzzed model with the smallest request that fits it: zeros in, whatever comes out."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from msgspec.structs import replace

from npu_conformance.corpus.constant_layouts import CONSTANT_ALIGNMENT
from npu_conformance.corpus.wire_model import AIDL_ALIGNMENT
from npu_conformance.harness.judge import checks
from npu_conformance.harness.judge.shape_count import check_shape_count
from npu_conformance.harness.judge.verdicts import Hung
from npu_conformance.harness.subject.handle import SubjectHandle
from npu_conformance.harness.subject.pools import Pool
from npu_conformance.specs.errors import ServiceError
from npu_conformance.specs.interfaces import describe
from npu_conformance.specs.neuralnetworks.enums import ErrorStatus
from npu_conformance.specs.neuralnetworks.hal import ExecutionCallback, PreparedModel, documented_statuses
from npu_conformance.specs.neuralnetworks.operand_types import OPERAND_TYPES, byte_size
from npu_conformance.specs.neuralnetworks.types import (
    DataLocation,
    Model,
    Operand,
    OutputShape,
    Request,
    RequestArgument,
    RequestMemoryPool,
    Timing,
)
from npu_conformance.specs.neuralnetworks.validate import validate_request
from npu_conformance.specs.versions import Version

if TYPE_CHECKING:
    pass

LARGEST_POOL = 65535
"""Bytes of one buffer (FUZ-006); a model that needs more is not executed."""

LARGEST_OPERAND = 1 << 20
"""Bytes of an operand anywhere in the model; a model with a larger one is not executed (FUZ-005)."""

_NOTHING = -1


class _Recorder(ExecutionCallback):
    """Keeps the notifications of an asynchronous execution."""

    def __init__(self) -> None:
        self.answers: list[tuple[int, tuple[OutputShape, ...]]] = []

    def notify(self, status: int, output_shapes: tuple[OutputShape, ...], timing: Timing | None) -> None:
        """Keep the answer."""
        self.answers.append((status, output_shapes))


@dataclass
class Layout:
    """Arguments one behind the other."""

    alignment: int
    has_padding: bool
    pool: int
    arguments: list[RequestArgument] = field(default_factory=list)
    size: int = 0

    def append(self, length: int, dimensions: tuple[int, ...]) -> None:
        """Give an argument the next `length` bytes."""
        end = self.size + length
        end += -end % self.alignment
        padding = end - self.size - length if self.has_padding else 0
        location = DataLocation(self.pool, self.size, length, padding)
        self.arguments.append(RequestArgument(location=location, dimensions=dimensions))
        self.size = end


def execute(subject: SubjectHandle, model: Model, prepared: PreparedModel) -> str:
    """Execute once and judge status, shapes and callbacks; returns the status, `large` where the model is too large."""
    inputs, outputs = _laid_out(subject.version, model)
    largest = max(_size(operand) for graph in (model.main, *model.referenced) for operand in graph.operands)
    if max(inputs.size, outputs.size) > LARGEST_POOL or largest > LARGEST_OPERAND:
        return "large"
    with _Pools(subject, inputs.size, outputs.size) as pools:
        request = Request(tuple(inputs.arguments), tuple(outputs.arguments), pools)
        status, shapes = answer(subject, prepared, request)
    method = "execute_synchronously" if subject.version >= Version.V1_2 else "execute"
    statuses = documented_statuses(describe(PreparedModel)[method].mark.statuses + "O", subject.version)
    checks.status(status, statuses, "the execution of a minimal request")
    if validate_request(request, model, subject.version):
        checks.status(status, {ErrorStatus.INVALID_ARGUMENT}, "the execution of an invalid request")
    if status == ErrorStatus.NONE and subject.version >= Version.V1_2:
        specified = all(_is_specified(model.main.operands[index]) for index in model.main.output_indexes)
        check_shape_count(len(shapes), len(outputs.arguments), specified=specified)
    return str(status)


def layouts_of(version: Version) -> tuple[Layout, Layout]:
    """Layouts of pool 0, with inputs, and of pool 1, with outputs."""
    alignment = AIDL_ALIGNMENT if version.is_aidl else CONSTANT_ALIGNMENT
    return Layout(alignment, version.is_aidl, 0), Layout(alignment, version.is_aidl, 1)


def _laid_out(version: Version, model: Model) -> tuple[Layout, Layout]:
    layouts = layouts_of(version)
    graph = model.main
    for layout, indexes in zip(layouts, (graph.input_indexes, graph.output_indexes), strict=True):
        for index in indexes:
            operand = _known(graph.operands[index])
            is_input = layout.pool == 0
            is_open = not _is_specified(graph.operands[index])
            layout.append(max(_size(operand), 1), operand.dimensions if is_input and is_open else ())
    return layouts


def _is_specified(operand: Operand) -> bool:
    """Whether the model says the whole shape."""
    return _known(operand).dimensions == operand.dimensions


def _known(operand: Operand) -> Operand:
    """The operand with 1 for every size that is unknown, and one dimension where the rank is."""
    info = OPERAND_TYPES.get(operand.type)
    if info is None or not info.is_tensor:
        return operand
    return replace(operand, dimensions=tuple(size or 1 for size in operand.dimensions) or (1,))


def _size(operand: Operand) -> int:
    return byte_size(operand.type, operand.dimensions)


class _Pools:
    """The two pools of a request, closed behind it."""

    def __init__(self, subject: SubjectHandle, *sizes: int) -> None:
        self._subject = subject
        self._sizes = sizes
        self._pools: list[Pool] = []

    def __enter__(self) -> tuple[RequestMemoryPool, ...]:
        self._pools = [self._subject.memory.create("ashmem", max(size, 1)) for size in self._sizes]
        return tuple(RequestMemoryPool(pool=pool.memory) for pool in self._pools)

    def __exit__(self, *_: object) -> None:
        for pool in self._pools:
            pool.close()


def answer(subject: SubjectHandle, prepared: PreparedModel, request: Request) -> tuple[int, tuple[OutputShape, ...]]:
    """Execute in the way of the version; returns status and shapes, also of a failure. Raises Failed, Hung."""
    try:
        if subject.version < Version.V1_2:
            return _asynchronous(subject, prepared, request)
        result = prepared.execute_synchronously(request, False, _NOTHING, _NOTHING)
    except ServiceError as error:
        return error.status, ()
    return result.status, result.output_shapes


def _asynchronous(
    subject: SubjectHandle, prepared: PreparedModel, request: Request
) -> tuple[int, tuple[OutputShape, ...]]:
    recorder = _Recorder()
    launched = int(ErrorStatus.NONE)
    try:
        prepared.execute(request, False, _NOTHING, _NOTHING, recorder)
    except ServiceError as error:
        launched = error.status
    seconds = subject.manifest.deadlines.execute * subject.manifest.time_scale
    if not subject.wait_until(lambda: bool(recorder.answers), seconds):
        raise Hung(f"execute was launched, but its callback was not notified within {seconds:g} s")
    checks.equal(len(recorder.answers), 1, "the execution: number of notifications")
    if launched != ErrorStatus.NONE:
        checks.status(recorder.answers[0][0], {launched}, "the execution, notified after a failed launch")
    return recorder.answers[0]
