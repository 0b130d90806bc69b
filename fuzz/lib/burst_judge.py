"""What an execution through a burst, or beside it, must answer: the judgement of one execution of a history."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from msgspec.structs import replace

from npu_conformance.fuzz.lib.burst_steps import FAR_NS, SURE_NS, Execute
from npu_conformance.fuzz.lib.findings import Found, Kind
from npu_conformance.fuzz.lib.request_judge import Prepared, is_ordinary, judge_memory, judge_values
from npu_conformance.harness.judge import checks
from npu_conformance.harness.judge.shape_count import check_shape_count
from npu_conformance.harness.run.executing.execution import Execution, shape_rules, timing_rules
from npu_conformance.harness.subject.handle import SubjectHandle
from npu_conformance.specs.errors import status_name
from npu_conformance.specs.interfaces import describe
from npu_conformance.specs.neuralnetworks.enums import MAXIMUM_LOOP_TIMEOUT_DURATION_NS, MISSED, ErrorStatus
from npu_conformance.specs.neuralnetworks.hal import Burst, PreparedModel, documented_statuses
from npu_conformance.specs.neuralnetworks.types import Request, RequestArgument
from npu_conformance.specs.neuralnetworks.validate import validate_request
from npu_conformance.specs.versions import Version

_NOWHERE = -1


@dataclass(frozen=True)
class Asked:
    """An execution as it was asked for. serials: of the memory of each pool, None for device memory.

    step: with its times and flags. error: the clause of what must end in some error. is_misused: a token may stand
    for another memory; is_open: HIDL's packet is neither well-formed nor malformed. In both nothing can be expected.
    """

    found: Prepared
    request: Request
    serials: tuple[int | None, ...]
    step: Execute
    error: str = ""
    is_misused: bool = False
    is_open: bool = False

    @property
    def what(self) -> str:
        """What is executed, and where."""
        return f"the execution of {self.found.vector.name} {'beside' if self.step.plain else 'in'} a burst"


class BurstJudge:
    """Judges executions. See `judge`."""

    def __init__(self, subject: SubjectHandle) -> None:
        self.version: Version = subject.version

    def judge(self, asked: Asked, answer: Execution, before: dict[int, bytes], after: dict[int, bytes]) -> list[str]:
        """Judge one execution; returns what was seen. before, after: all memories by serial number."""
        clauses = (asked.error,) if asked.error else tuple(dict.fromkeys(self._clauses(asked)))
        self._judge_status(asked, answer, clauses)
        shape_rules(answer)
        if not asked.is_open:
            timing_rules(self, answer, measured=asked.step.measure)
        if asked.is_misused or asked.is_open:
            return [f"{answer.status} open"]
        serials = list(before)
        placed = self._placed(asked, serials)
        judge_memory(placed, [before[serial] for serial in serials], [after[serial] for serial in serials])
        if self._is_ordinary(asked, placed, clauses):
            self._judge_ordinary(asked, placed, answer, [after[serial] for serial in serials])
        return [f"{answer.status} {clause}" for clause in clauses or ("valid",)]

    def _clauses(self, asked: Asked) -> Iterator[str]:
        """The clauses that the execution breaks, each of them a reason for INVALID_ARGUMENT."""
        step, request = asked.step, asked.request
        if self.version.is_aidl and not step.plain:
            if len(step.tokens) != len(request.pools):
                yield "NNHAL-BURST-013"
            if any(token < -1 for token in step.tokens):
                yield "NNHAL-BURST-014"
        if self.version.is_aidl:
            if step.deadline < -1:
                yield "NNHAL-QOS-008"
            if step.loop < -1:
                yield "NNHAL-CONTROLFLOW-014"
            if step.loop > MAXIMUM_LOOP_TIMEOUT_DURATION_NS:
                yield "NNHAL-CONTROLFLOW-013"
        for violation in validate_request(request, asked.found.model, self.version):
            yield violation.clause
        if self._uses_device_memory(request):
            yield "NNHAL-MEMDOMAIN-023"

    def _uses_device_memory(self, request: Request) -> bool:
        """True where an argument lies in device memory, of which there is none."""
        pools = request.pools
        return any(
            not argument.has_no_value
            and 0 <= argument.location.pool_index < len(pools)
            and pools[argument.location.pool_index].pool is None
            for argument in (*request.inputs, *request.outputs)
        )

    def _judge_status(self, asked: Asked, answer: Execution, clauses: Sequence[str]) -> None:
        interface: type = Burst if self.version.is_aidl and not asked.step.plain else PreparedModel
        letters = describe(interface)["execute_synchronously"].mark.statuses + "O"
        checks.status(answer.status, documented_statuses(letters, self.version), asked.what)
        may_be_late = -1 <= asked.step.deadline < FAR_NS and asked.step.deadline != -1
        if asked.is_open or (may_be_late and answer.status in MISSED):
            return
        kind: Kind = "invalid-accepted" if answer.status == ErrorStatus.NONE else "wrong-status"
        found = status_name(answer.status)
        if asked.error:
            if answer.status == ErrorStatus.NONE:
                told = f"{asked.what}, which breaks {asked.error}: expected an error, found {found}"
                raise Found(kind, told, asked.error)
        elif clauses and answer.status != ErrorStatus.INVALID_ARGUMENT and not asked.is_misused:
            told = f"{asked.what}, which breaks {clauses[0]}: expected INVALID_ARGUMENT, found {found}"
            raise Found(kind, told, clauses[0])

    def _placed(self, asked: Asked, serials: list[int]) -> Request:
        """The request over the list of memories: two pools of one memory are one."""

        def place(argument: RequestArgument) -> RequestArgument:
            index, found = argument.location.pool_index, _NOWHERE
            serial = asked.serials[index] if 0 <= index < len(asked.serials) else None
            if serial is not None:
                found = serials.index(serial)
            return replace(argument, location=replace(argument.location, pool_index=found))

        request = asked.request
        return replace(request, inputs=tuple(map(place, request.inputs)), outputs=tuple(map(place, request.outputs)))

    def _is_ordinary(self, asked: Asked, placed: Request, clauses: Sequence[str]) -> bool:
        """True where the result must be that of the vector's example, or there must be a reason that is told."""
        if clauses or asked.step.blank:
            return False
        has_device_memory = any(serial is None for serial in asked.serials)
        return not has_device_memory and is_ordinary(asked.found, placed, ())

    def _judge_ordinary(self, asked: Asked, placed: Request, answer: Execution, after: list[bytes]) -> None:
        name, status = asked.found.vector.name, answer.status
        is_as_laid_out = not asked.step.edits and not asked.step.packet
        has_time = asked.step.loop == -1 or asked.step.loop >= SURE_NS
        if status == ErrorStatus.INVALID_ARGUMENT or (
            status == ErrorStatus.GENERAL_FAILURE and is_as_laid_out and asked.found.runs
        ):
            told = f"{asked.what}, which is valid: found {status_name(status)}"
            raise Found("valid-refused", told, f"{name} {status_name(status)}")
        if status in MISSED and has_time and not 0 <= asked.step.deadline < FAR_NS:
            raise Found(
                "wrong-status", f"{asked.what}: found {status_name(status)} without a deadline", "NNHAL-QOS-002"
            )
        if status == ErrorStatus.NONE:
            judge_values(asked.found, placed, after)
            self._judge_shapes(asked, answer)

    def _judge_shapes(self, asked: Asked, answer: Execution) -> None:
        expected = [asked.found.example.outputs[name].shape for name in asked.found.vector.outputs]
        specified = all(
            operand.dimensions and 0 not in operand.dimensions
            for operand in (asked.found.model.main.operands[index] for index in asked.found.model.main.output_indexes)
        )
        check_shape_count(len(answer.output_shapes), len(expected), specified=specified)
        for shape, dimensions in zip(answer.output_shapes, expected, strict=False):
            if tuple(shape.dimensions) != dimensions or not shape.is_sufficient:
                told = f"{asked.what}: expected output shape {dimensions}, found {shape}"
                raise Found("wrong-result", told, "NNHAL-SHAPE-001")
