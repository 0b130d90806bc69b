"""What a device must answer to any request whatever: the judgement of one fuzzed request."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from npu_conformance.corpus.vectors import Example, Vector
from npu_conformance.corpus.wire_model import BuiltRequest
from npu_conformance.fuzz.lib.findings import Found, Kind
from npu_conformance.fuzz.lib.minimal_execution import answer
from npu_conformance.fuzz.lib.model_judge import guarded
from npu_conformance.harness.judge import checks, outputs
from npu_conformance.harness.judge.outputs import FILL
from npu_conformance.harness.judge.verdicts import Failed
from npu_conformance.harness.subject.handle import SubjectHandle
from npu_conformance.harness.subject.pools import Pool
from npu_conformance.specs.interfaces import describe
from npu_conformance.specs.neuralnetworks.enums import ErrorStatus
from npu_conformance.specs.neuralnetworks.hal import PreparedModel, documented_statuses
from npu_conformance.specs.neuralnetworks.operand_types import OPERAND_TYPES
from npu_conformance.specs.neuralnetworks.types import DataLocation, Model, Request, RequestArgument, RequestMemoryPool
from npu_conformance.specs.neuralnetworks.validate import validate_request
from npu_conformance.specs.neuralnetworks.violations import Violation
from npu_conformance.specs.versions import Version

if TYPE_CHECKING:
    import numpy


@dataclass
class Loaded:
    """A vector with its model and request, of which no device has heard.

    fields: of its arguments, as edits change them, and the sizes of its pools; there once somebody has asked.
    """

    vector: Vector
    example: Example
    model: Model
    built: BuiltRequest
    fields: tuple[list[dict[str, Any]], list[dict[str, Any]], list[int]] | None = field(default=None, kw_only=True)


@dataclass
class Prepared(Loaded):
    """A vector whose model is prepared; None where the device does not support it.

    runs: whether an execution as the vector has it succeeds; None where nobody has looked.
    """

    prepared: PreparedModel | None
    runs: bool | None = None


class _Alone:
    """A comparison without a case: no waivers, and quality is nobody's concern here."""

    def waived_tolerances(self) -> tuple[()]:
        """There is no waiver."""
        return ()

    def excuse(self, failure: Failed) -> None:
        """There is no waiver that could."""
        raise failure

    def warn_quality(self, message: str) -> None:
        """A legal result is no finding."""


def judge(subject: SubjectHandle, found: Prepared, drafted: Request, sizes: Sequence[int]) -> Iterator[str]:
    """Execute a request over pools of these sizes; returns what was seen. Raises Found, Failed, Crashed, Hung."""
    assert found.prepared is not None
    pools = [subject.memory.create("ashmem", size) for size in sizes]
    try:
        request = replace(drafted, pools=tuple(RequestMemoryPool(pool=pool.memory) for pool in pools))
        before = _fill(found, request, pools)
        violations = validate_request(request, found.model, subject.version)
        prepared = found.prepared
        status, shapes = guarded("the execution", lambda: answer(subject, prepared, request))
        after = [pool.read(0, size) for pool, size in zip(pools, sizes, strict=True)]
        _judge_status(subject, found, request, status, violations)
        judge_memory(request, before, after)
        if status == ErrorStatus.NONE and is_ordinary(found, request, violations):
            judge_values(found, request, after)
    finally:
        for pool in pools:
            pool.close()
    return _seen(status, len(shapes), violations)


def _seen(status: int, shapes: int, violations: Sequence[Violation]) -> Iterator[str]:
    clauses = sorted({violation.clause for violation in violations}) or ["valid"]
    return iter([f"{status} {shapes} {clause}" for clause in clauses])


def _fill(found: Prepared, request: Request, pools: Sequence[Pool]) -> list[bytes]:
    """Fill the pools, put the example's inputs where the request says, and return what is in the pools."""
    contents = [bytearray([FILL]) * pool.memory.size for pool in pools]
    put_inputs(found, request, contents)
    for pool, content in zip(pools, contents, strict=True):
        pool.write(0, bytes(content))
    return [bytes(content) for content in contents]


def put_inputs(found: Prepared, request: Request, contents: Sequence[bytearray]) -> None:
    """Put the example's inputs where the request says, as far as they have room there. contents: of the pools."""
    for name, argument in zip(found.vector.inputs, request.inputs, strict=False):
        data = found.example.inputs[name].tobytes() if name in found.example.inputs else b""
        place = argument.location
        if _lies_inside(place, contents) and place.length >= len(data):
            contents[place.pool_index][place.offset : place.offset + len(data)] = data


def _lies_inside(place: DataLocation, contents: Sequence[bytes | bytearray]) -> bool:
    if not 0 <= place.pool_index < len(contents) or place.offset < 0 or place.length < 0:
        return False
    return place.offset + place.length <= len(contents[place.pool_index])


def _judge_status(
    subject: SubjectHandle, found: Prepared, request: Request, status: int, violations: Sequence[Violation]
) -> None:
    method = "execute_synchronously" if subject.version >= Version.V1_2 else "execute"
    statuses = documented_statuses(describe(PreparedModel)[method].mark.statuses + "O", subject.version)
    checks.status(status, statuses, "the execution")
    if violations and status != ErrorStatus.INVALID_ARGUMENT:
        kind: Kind = "invalid-accepted" if status == ErrorStatus.NONE else "wrong-status"
        told = f"the execution of a request that breaks {violations[0]}: expected INVALID_ARGUMENT, found {status}"
        raise Found(kind, told, violations[0].clause)
    if status == ErrorStatus.INVALID_ARGUMENT and is_ordinary(found, request, violations):
        name = found.vector.name
        raise Found("valid-refused", f"the execution of a valid request for {name}: found INVALID_ARGUMENT", name)


def is_ordinary(found: Prepared, request: Request, violations: Sequence[Violation]) -> bool:
    """True where nothing is open: all inputs as in the example, room for the outputs, and no argument over another."""
    if violations or any(argument.has_no_value for argument in (*request.inputs, *request.outputs)):
        return False
    given = [(name, found.example.inputs.get(name), argument) for name, argument in _named(found, request)]
    is_as_stored = all(data is not None and _is_as_stored(data, argument) for _, data, argument in given)
    has_room = all(
        argument.location.length >= found.example.outputs[name].nbytes and not argument.dimensions
        for name, argument in zip(found.vector.outputs, request.outputs, strict=True)
    )
    return is_as_stored and has_room and not _overlap(request)


def _named(found: Prepared, request: Request) -> Iterator[tuple[str, RequestArgument]]:
    return zip(found.vector.inputs, request.inputs, strict=True)


def _is_as_stored(data: numpy.ndarray, argument: RequestArgument) -> bool:
    return argument.location.length == data.nbytes and argument.dimensions in ((), data.shape)


def _overlap(request: Request) -> bool:
    """True where two arguments share a byte, padding included: what is there then depends on who wrote last."""
    places = [argument.location for argument in (*request.inputs, *request.outputs)]
    return any(
        one.pool_index == other.pool_index
        and one.offset < other.offset + other.length + other.padding
        and other.offset < one.offset + one.length + one.padding
        for one, other in itertools.combinations(places, 2)
    )


def judge_memory(request: Request, before: Sequence[bytes], after: Sequence[bytes]) -> None:
    """No byte outside the outputs and their padding may change; what is inside is open where the execution fails."""
    for index, (old, new) in enumerate(zip(before, after, strict=True)):
        if old == new:
            continue
        rest = bytearray(new)
        for argument in request.outputs:
            place = argument.location
            if place.pool_index == index and place.offset >= 0:
                end = min(place.offset + place.length + place.padding, len(old))
                rest[place.offset : end] = old[place.offset : end]
        if bytes(rest) != old:
            first = next(position for position, byte in enumerate(rest) if byte != old[position])
            raise Found("wrong-result", f"byte {first} of pool {index} was written, which no output has", "memory")


def judge_values(found: Prepared, request: Request, after: Sequence[bytes]) -> None:
    computed = {}
    for name, argument in zip(found.vector.outputs, request.outputs, strict=True):
        expected, place = found.example.outputs[name], argument.location
        data = after[place.pool_index][place.offset : place.offset + expected.nbytes]
        computed[name] = _array(data, OPERAND_TYPES[found.vector.operands[name].type].dtype, expected.shape)
    try:
        outputs.judge(_Alone(), found.vector, found.example, computed)
    except Failed as failed:
        raise Found("wrong-result", str(failed), found.vector.operation) from None


def _array(data: bytes, dtype: object, shape: tuple[int, ...]) -> numpy.ndarray:
    import numpy

    return numpy.frombuffer(data, dtype=dtype).reshape(shape)  # type: ignore[call-overload,no-any-return]
