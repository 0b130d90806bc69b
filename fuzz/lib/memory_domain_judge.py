"""What each call about buffers must answer: the judgement of allocate, of copies and of executions."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field

from npu_conformance.fuzz.lib.findings import Found, Kind
from npu_conformance.fuzz.lib.memory_domain_models import BufferModel
from npu_conformance.fuzz.lib.memory_domain_states import BufferState, Content, Role, Side
from npu_conformance.fuzz.lib.request_judge import judge_memory
from npu_conformance.harness.judge import checks
from npu_conformance.harness.judge.shape_count import check_shape_count
from npu_conformance.harness.run.executing.execution import Execution, shape_rules
from npu_conformance.specs.errors import status_name
from npu_conformance.specs.neuralnetworks.enums import EXHAUSTED, ErrorStatus
from npu_conformance.specs.neuralnetworks.hal import documented_statuses
from npu_conformance.specs.neuralnetworks.types import Request, RequestArgument
from npu_conformance.specs.neuralnetworks.validate import validate_request
from npu_conformance.specs.versions import Version

_NONE, _INVALID, _GENERAL = ErrorStatus.NONE, ErrorStatus.INVALID_ARGUMENT, ErrorStatus.GENERAL_FAILURE
_EXECUTION = "NUGOAMR"


def expect(what: str, status: int, wanted: Collection[int], clause: str) -> None:
    """Found unless the status is one of those wanted. clause: the requirement that decides."""
    if status in wanted:
        return
    kind: Kind = "wrong-status"
    if status == _NONE:
        kind = "invalid-accepted"
    elif _NONE in wanted:
        kind = "valid-refused"
    names = " or ".join(sorted(map(status_name, wanted)))
    raise Found(kind, f"{what} ({clause}): expected {names}, found {status_name(status)}", clause)


def judge_allocation(status: int, clause: str, *, is_open: bool) -> None:
    """A legal wish is granted or declined, an illegal one refused: devices without buffers need not look why.

    is_open: it may be refused as well.
    """
    if clause:
        expect(f"allocate of what breaks {clause}", status, {_INVALID, _GENERAL}, clause)
    elif status == _INVALID and not is_open:
        raise Found("valid-refused", "allocate of legal roles: found INVALID_ARGUMENT", "allocate")


def judge_buffer(token: int, has_buffer: bool, living: Collection[int]) -> None:
    """What a successful allocate gives."""
    if not has_buffer or token <= 0:
        told = f"allocate: expected a buffer and a positive token, found {has_buffer} and {token}"
        raise Found("wrong-status", told, "NNHAL-MEMDOMAIN-003")
    if token in living:
        raise Found("wrong-result", f"allocate: token {token} is that of a living buffer", "NNHAL-MEMDOMAIN-004")


def judge_fill(status: int, clause: str) -> None:
    """copyFrom takes what is right, and nothing else."""
    what = f"copyFrom of what breaks {clause}" if clause else "copyFrom"
    expect(what, status, {_INVALID} if clause else {_NONE}, clause or "NNHAL-MEMDOMAIN-015")


def judge_read(state: BufferState, size: int, status: int, before: bytes, after: bytes) -> None:
    """copyTo gives the content, or leaves the memory as it is."""
    content = state.content
    if content is None:
        is_right_size = state.is_known and state.size_of(state.dimensions) == size
        wanted = {_GENERAL} if is_right_size else {_GENERAL, _INVALID}
        expect("copyTo of a buffer without content", status, wanted, "NNHAL-MEMDOMAIN-014")
    else:
        is_right_size = content.array.nbytes == size
        wanted = {_NONE if is_right_size else _INVALID} | ({_GENERAL} if state.is_loose else set())
        clause = "NNHAL-MEMDOMAIN-015" if is_right_size else "NNHAL-MEMDOMAIN-020"
        expect(f"copyTo of {content.array.nbytes} bytes to {size}", status, wanted, clause)
    if status == _NONE and content is not None and not content.is_like(after):
        told = f"copyTo: expected {content.array.reshape(-1)[:8]}, found the bytes {after[:32].hex()}"
        raise Found("wrong-result", told, "NNHAL-MEMDOMAIN-022")
    if status != _NONE and before != after:
        raise Found("wrong-result", "a copyTo that failed has changed its target", "memory")


@dataclass
class Asked:
    """An execution as it was asked for.

    states: the buffer of each pool, None for shared memory and for an unknown token. results: of the outputs; empty
    where these inputs have none. is_edited: what the request means nobody says, unless it is invalid.
    """

    model: BufferModel
    way: str
    request: Request
    states: Sequence[BufferState | None]
    results: Sequence[Content] = ()
    is_edited: bool = False
    clauses: list[str] = field(default_factory=list)

    @property
    def what(self) -> str:
        """What is executed, and how."""
        return f"the execution of {self.model.kind.name} by {self.way}"

    def uses(self) -> Iterator[tuple[Side, int, RequestArgument, BufferState]]:
        """The arguments in buffers."""
        sides: tuple[tuple[Side, Sequence[RequestArgument]], ...] = (
            ("input", self.request.inputs),
            ("output", self.request.outputs),
        )
        for side, arguments in sides:
            for number, argument in enumerate(arguments):
                state = self._state(argument)
                if state is not None:
                    yield side, number, argument, state

    def _state(self, argument: RequestArgument) -> BufferState | None:
        index = argument.location.pool_index
        return self.states[index] if not argument.has_no_value and 0 <= index < len(self.states) else None

    @property
    def targets(self) -> list[BufferState]:
        """The buffers of outputs."""
        return [state for side, _, _, state in self.uses() if side == "output"]

    def contradicting(self) -> list[BufferState]:
        """The buffers that were not allocated for the result that they get (NNHAL-MEMDOMAIN-028)."""
        if self.is_edited or not self.results:
            return []
        uses = [(number, state) for side, number, _, state in self.uses() if side == "output"]
        return [state for number, state in uses if not state.takes(self.results[number].array.shape)]


class ExecutionJudge:
    """Judges executions. See `judge`."""

    def __init__(self, version: Version) -> None:
        self._version = version

    def clauses(self, asked: Asked) -> list[str]:
        """The clauses that an execution breaks, each of them a reason for INVALID_ARGUMENT."""
        fenced = "fenced" in asked.way
        violations = validate_request(asked.request, asked.model.model, self._version, fenced=fenced)
        return list(dict.fromkeys((*self._of_buffers(asked), *(found.clause for found in violations))))

    def _of_buffers(self, asked: Asked) -> Iterator[str]:
        for argument in (*asked.request.inputs, *asked.request.outputs):
            index = argument.location.pool_index
            if not argument.has_no_value and 0 <= index < len(asked.states):
                is_token = asked.request.pools[index].pool is None
                if is_token and asked.states[index] is None:
                    yield "NNHAL-MEMDOMAIN-023"
        seen: dict[BufferState, set[Side]] = {}
        for side, number, argument, state in asked.uses():
            role: Role = (asked.model, side, number)
            clause = state.use_clause(role, argument.dimensions)
            if clause:
                yield clause
            if "output" in seen.get(state, set()) or (side == "output" and state in seen):
                yield "NNHAL-MEMDOMAIN-025"
            seen.setdefault(state, set()).add(side)

    def judge(self, asked: Asked, answer: Execution, before: Sequence[bytes], after: Sequence[bytes]) -> str:
        """Judge an execution, and change the states of its buffers; returns what was seen. before, after: of pools."""
        checks.status(answer.status, documented_statuses(_EXECUTION, self._version), asked.what)
        asked.clauses = self.clauses(asked)
        empty = [state for side, _, _, state in asked.uses() if side == "input" and state.content is None]
        self._judge_status(asked, answer.status, bool(empty))
        shape_rules(answer)
        judge_memory(asked.request, before, after)
        if answer.status == _NONE:
            self._succeeded(asked, answer, after)
        else:
            self._failed(asked, answer.status)
        reason = asked.clauses[0] if asked.clauses else "empty" if empty else "valid"
        return f"{answer.status} {reason}{' 028' if asked.contradicting() else ''}"

    def _judge_status(self, asked: Asked, status: int, has_empty: bool) -> None:
        freed = {_INVALID} if any(state.is_freed for _, _, _, state in asked.uses()) else set()
        if asked.clauses:
            clause = asked.clauses[0]
            wanted = {_INVALID} | ({_GENERAL} if has_empty or _may_be_empty(asked) else set())
            expect(f"{asked.what}, which breaks {clause}", status, wanted, clause)
        elif has_empty:
            what = f"{asked.what} on a buffer without content"
            expect(what, status, {_GENERAL} | freed, "NNHAL-MEMDOMAIN-014")
        elif asked.is_edited or not asked.results:
            return
        elif asked.contradicting():
            expect(f"{asked.what}, whose result contradicts", status, {_GENERAL} | freed, "NNHAL-MEMDOMAIN-028")
        else:
            self._judge_valid(asked, status, freed)

    def _judge_valid(self, asked: Asked, status: int, freed: Collection[int]) -> None:
        if not asked.model.runs:
            if status == _INVALID and not freed:
                raise Found(
                    "valid-refused", f"{asked.what}: found INVALID_ARGUMENT", f"{asked.model.kind.name} refused"
                )
            return
        loose = {_GENERAL, _INVALID} if _may_be_empty(asked) else set()
        expect(asked.what, status, {_NONE, *loose, *freed, *EXHAUSTED}, "NNHAL-MEMDOMAIN-032")

    def _succeeded(self, asked: Asked, answer: Execution, after: Sequence[bytes]) -> None:
        for side, _, _, state in asked.uses():
            if side == "input":
                state.is_loose = False
        if asked.is_edited or not asked.results:
            for state in asked.targets:
                state.is_lost = True
            return
        self._judge_shapes(asked, answer)
        for number, (argument, result) in enumerate(zip(asked.request.outputs, asked.results, strict=True)):
            place = argument.location
            target = asked.states[place.pool_index]
            if target is not None:
                target.write(result)
                continue
            found = after[place.pool_index][place.offset : place.offset + result.array.nbytes]
            if not result.is_like(found):
                told = (
                    f"{asked.what}, output {number}: expected {result.array.reshape(-1)[:8]}, found {found[:32].hex()}"
                )
                raise Found("wrong-result", told, f"NNHAL-MEMDOMAIN-032 {asked.model.kind.name}")

    def _judge_shapes(self, asked: Asked, answer: Execution) -> None:
        shapes = answer.output_shapes
        check_shape_count(len(shapes), len(asked.results), specified=_may_tell_no_shapes(asked))
        for number, (shape, result) in enumerate(zip(shapes, asked.results, strict=bool(shapes))):
            if tuple(shape.dimensions) != result.array.shape or not shape.is_sufficient:
                told = f"{asked.what}, output {number}: expected shape {result.array.shape}, found {shape}"
                raise Found("wrong-result", told, "NNHAL-SHAPE-001")

    def _failed(self, asked: Asked, status: int) -> None:
        """A failed execution leaves its outputs without content; where it was refused, it may leave them as they are.

        A driver of AOSP's leaves them so, too, where an input has no content, or another output does not fit.
        """
        contradicting = asked.contradicting() if not asked.clauses and status == _GENERAL else []
        for state in asked.targets:
            is_certain = state in contradicting and len(contradicting) == 1 and not _may_be_empty(asked)
            if is_certain or state.content is None:
                state.write(None)
            else:
                state.is_loose = True


def _may_tell_no_shapes(asked: Asked) -> bool:
    """True where no output needs a shape in the answer, or where the way has none."""
    graph = asked.model.model.main
    declared = (graph.operands[index].dimensions for index in graph.output_indexes)
    requested = (argument.dimensions for argument in asked.request.outputs)
    known = all(any(one and 0 not in one for one in pair) for pair in zip(declared, requested, strict=True))
    return known or "fenced" in asked.way


def _may_be_empty(asked: Asked) -> bool:
    return any(state.is_loose for side, _, _, state in asked.uses() if side == "input")
