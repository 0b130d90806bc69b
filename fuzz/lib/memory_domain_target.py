"""The target whose inputs are histories of buffers that a driver manages, judged by the states that the HAL documents.

After each history every buffer that lives is copied out: what an earlier step has broken shows then at the latest.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from contextlib import closing
from functools import partial
from typing import TYPE_CHECKING

from msgspec.structs import replace

from npu_conformance.fuzz.lib.histories import HistoryTarget, Traces
from npu_conformance.fuzz.lib.memory_domain_judge import (
    Asked,
    ExecutionJudge,
    judge_allocation,
    judge_buffer,
    judge_fill,
    judge_read,
)
from npu_conformance.fuzz.lib.memory_domain_models import (
    ARITHMETIC,
    LARGEST,
    OPERATIONS,
    USUAL,
    BufferModel,
    Kind,
    Shape,
    differences,
    elements,
    prepared,
    sensible,
    stored,
)
from npu_conformance.fuzz.lib.memory_domain_requests import request_of
from npu_conformance.fuzz.lib.memory_domain_states import BufferState, Content, Wish
from npu_conformance.fuzz.lib.memory_domain_steps import (
    BUFFERS,
    IMPOSTOR,
    MEMORIES,
    MODELS,
    NAMES,
    Allocate,
    Execute,
    Fill,
    Free,
    Prepare,
    Read,
    Step,
    histories_of,
    is_sendable,
    seeds_of,
)
from npu_conformance.fuzz.lib.model_judge import allowed, guarded
from npu_conformance.harness.judge import checks
from npu_conformance.harness.judge.outputs import FILL
from npu_conformance.harness.judge.verdicts import NotApplicable, NotSupported
from npu_conformance.harness.run.executing.execution import ExecutionOptions
from npu_conformance.harness.run.executing.executors import EXECUTORS, naming_buffers
from npu_conformance.harness.subject.handle import SubjectHandle
from npu_conformance.harness.subject.memory_kinds import aidl_form
from npu_conformance.harness.subject.pools import Pool
from npu_conformance.specs.errors import ServiceError
from npu_conformance.specs.manifest import Manifest
from npu_conformance.specs.neuralnetworks import hal
from npu_conformance.specs.neuralnetworks.enums import ErrorStatus
from npu_conformance.specs.neuralnetworks.types import BufferDesc, BufferRole
from npu_conformance.specs.versions import Version

if TYPE_CHECKING:
    from collections.abc import Callable

_DEFAULTS = ("difference", "open", "difference", "two", "quantised")
"""The models that the numbers mean at first; the first and the third are equal."""


class Impostor(hal.PreparedModel):
    """A prepared model of the client's own making."""


class MemoryDomainTarget(HistoryTarget[Step]):
    """Inputs are histories. See Target."""

    name = "memory_domain"

    def __init__(self, subject: SubjectHandle) -> None:
        if subject.version < Version.V1_3:
            raise NotApplicable("there are no memory domains before HAL 1.3")
        self._kinds = differences(ARITHMETIC[0]) | stored(subject.version, one_each=False)
        self._ways = naming_buffers(subject.version)
        self._models: dict[int, BufferModel | None] = {}
        first = [*differences(ARITHMETIC[0]), *stored(subject.version, one_each=True)]
        super().__init__(subject, histories_of(list(self._kinds), len(self._ways)), seeds_of(first, len(self._ways)))

    def _play(self, steps: list[Step]) -> tuple[str, ...]:
        self._prepare_defaults()
        fixture = _Fixture(self._subject)
        try:
            return _Play(fixture, self._kinds, dict(self._models), self._ways).run(steps)
        finally:
            fixture.close()

    def _require(self) -> None:
        """Allocate a buffer, for the first model that the device prepares."""
        self._prepare_defaults()
        number = next((number for number, model in self._models.items() if model is not None), None)
        if number is None:
            operations = ", ".join((*ARITHMETIC, *OPERATIONS))
            raise NotApplicable(
                f"the device prepares no model of those that buffers are allocated for, of any type: {operations}"
            )
        self._play([Allocate(models=[number], inputs=[(0, 0)])])

    def _prepare_defaults(self) -> None:
        """Prepare the models that the numbers mean at first, of differences if the device has them."""
        if self._models:
            return
        for operation in ARITHMETIC:
            self._kinds |= differences(operation)
            found = [prepared(self._subject, self._kinds[name]) for name in _DEFAULTS]
            if any(found):
                break
        else:
            others = (prepared(self._subject, kind) for kind in self._kinds.values() if kind.vector is not None)
            found = [*itertools.islice(filter(None, others), len(_DEFAULTS))]
        self._models = dict(enumerate(found))

    def forget(self) -> None:
        """Forget the models that were prepared."""
        self._models.clear()


class _Fixture:
    """The memory of one history, and what executions want to know of who makes them."""

    def __init__(self, subject: SubjectHandle) -> None:
        self.subject = subject
        self._pools: list[Pool] = []

    @property
    def version(self) -> Version:
        """The version that is tested."""
        return self.subject.version

    @property
    def manifest(self) -> Manifest:
        """The subject's manifest."""
        return self.subject.manifest

    def pool(self, size: int, kind: str = "ashmem") -> Pool:
        """Memory until the history ends; the caller may close it before."""
        pool = self.subject.memory.create(kind, max(size, 1))
        pool.memory = aidl_form(pool.memory, self.version)
        self._pools.append(pool)
        return pool

    def filled(self, size: int, kind: str = "ashmem") -> Pool:
        """Memory that holds nothing of interest."""
        pool = self.pool(size, kind)
        pool.write(0, bytes([FILL]) * pool.memory.size)
        return pool

    def close(self) -> None:
        """Free all memory."""
        for pool in self._pools:
            pool.close()


class _Play:
    """One history. models: those that are prepared, by their numbers."""

    def __init__(
        self, fixture: _Fixture, known: dict[str, Kind], models: dict[int, BufferModel | None], ways: Sequence[str]
    ) -> None:
        self._fixture, self._kinds, self._models, self._ways = fixture, known, models, ways
        self._version = fixture.version
        self._judge = ExecutionJudge(fixture.version)
        self._living: dict[int, BufferState] = {}
        self._freed: dict[int, BufferState] = {}
        self._seen: set[str] = set()

    def run(self, steps: Sequence[Step]) -> tuple[str, ...]:
        """Let it happen; returns what was seen."""
        traces = Traces(NAMES)
        for step in steps:
            if is_sendable(step, self._version):
                self._seen.update(traces.features(step, self._perform(step)))
                self._let_go_of_the_lost()
        for number in list(self._living):
            self._read(Read(number))
        return tuple(self._seen)

    def _perform(self, step: Step) -> str:
        match step:
            case Prepare():
                return self._prepare(step)
            case Allocate():
                return self._allocate(step)
            case Free(buffer):
                return str(self._free(buffer % BUFFERS))
            case Fill():
                return self._fill(step)
            case Read():
                return self._read(step)
            case Execute():
                return self._execute(step)

    def _prepare(self, step: Prepare) -> str:
        kind = self._kinds.get(step.kind)
        if kind is None:
            return "nothing"
        found = prepared(self._fixture.subject, kind)
        if found is None:
            return "nothing"
        self._models[step.model % MODELS] = found
        return kind.name

    def _free(self, number: int) -> bool:
        """Let go of a buffer; the number stands for its token still."""
        state = self._living.pop(number, None)
        if state is not None:
            state.made, state.is_freed = None, True
            self._freed[number] = state
        return state is not None

    def _let_go_of_the_lost(self) -> None:
        for number in [number for number, state in self._living.items() if state.is_lost]:
            self._free(number)
        self._freed = {number: state for number, state in self._freed.items() if not state.is_lost}

    def _allocate(self, step: Allocate) -> str:
        self._free(step.buffer % BUFFERS)
        odd = [number for number in step.models if number < 0]
        chosen = [None if number < 0 else self._models.get(number % MODELS) for number in step.models]
        if sum(model is None for model in chosen) > len(odd):
            return "no model"
        wish = Wish(step, tuple(chosen))
        clause, status = wish.clause(), int(ErrorStatus.NONE)
        objects = [
            model.prepared if model is not None else Impostor() if number == IMPOSTOR else None
            for model, number in zip(chosen, step.models, strict=True)
        ]
        try:
            made = guarded("allocate", lambda: self._ask(step, objects), ServiceError)
        except ServiceError as error:
            status = error.status
        checks.status(status, allowed(self._fixture.subject, hal.Device, "allocate"), "allocate")
        judge_allocation(status, clause, is_open=bool(odd))
        if status == ErrorStatus.NONE:
            judge_buffer(made.token, made.buffer is not None, [state.token for state in self._living.values()])
            self._living[step.buffer % BUFFERS] = wish.state(made)
            self._freed.pop(step.buffer % BUFFERS, None)
        return f"{status} {clause}"

    def _ask(self, step: Allocate, models: Sequence[hal.PreparedModel | None]) -> hal.DeviceBuffer:
        device = self._fixture.subject.interfaces.device
        assert device is not None
        roles = [tuple(BufferRole(*pair, step.probability) for pair in pairs) for pairs in (step.inputs, step.outputs)]
        return device.allocate(BufferDesc(tuple(step.dimensions)), tuple(models), roles[0], roles[1])

    def _fill(self, step: Fill) -> str:
        state = self._living.get(step.buffer % BUFFERS)
        if state is None:
            return "nothing"
        shape = tuple(step.dimensions) or self._shape(state)
        array = elements(state.operand.type, sensible(shape), step.values)
        data = (array.tobytes() + bytes(LARGEST))[: max(array.nbytes + min(step.more, LARGEST), 1)]
        with closing(self._fixture.pool(len(data), MEMORIES[step.memory % len(MEMORIES)])) as pool:
            pool.write(0, data)
            status = self._copied("copy_from", partial(_of(state).copy_from, pool.memory, tuple(step.dimensions)))
            kept = pool.read(0, len(data))
            pool.write(0, bytes([FILL]) * len(data))  # what was copied is the driver's, and this is not
        checks.that(kept == data, "copyFrom has changed its source")
        clause = state.copy_clause(step.dimensions, len(data))
        state.write(Content(array) if status == ErrorStatus.NONE else None)
        judge_fill(status, clause)
        return f"{status} {clause}"

    def _shape(self, state: BufferState) -> Shape:
        """The shape of the content, or else one that the buffer may have."""
        if state.content is not None and not state.is_known:
            return tuple(state.content.array.shape)
        if state.is_tensor and not state.dimensions:
            return USUAL
        return tuple(size or USUAL[0] for size in state.dimensions)

    def _read(self, step: Read) -> str:
        state = self._living.get(step.buffer % BUFFERS)
        if state is None:
            return "nothing"
        size = state.size_of(self._shape(state)) if state.content is None else state.content.array.nbytes
        size = max(min(size, LARGEST) + max(min(step.more, LARGEST), -LARGEST), 1)
        with closing(self._fixture.filled(size, MEMORIES[step.memory % len(MEMORIES)])) as pool:
            before = pool.read(0, size)
            status = self._copied("copy_to", partial(_of(state).copy_to, pool.memory))
            after = pool.read(0, size)
        judge_read(state, size, status, before, after)
        if status == ErrorStatus.NONE and state.content is not None:
            state.write(state.content.read_as(after))
        elif status == ErrorStatus.GENERAL_FAILURE:
            state.write(None)
        return f"{status} {'content' if state.content is not None else 'none'}"

    def _copied(self, method: str, call: Callable[[], None]) -> int:
        """Copy; returns the status."""
        status = int(ErrorStatus.NONE)
        try:
            guarded(method, call, ServiceError)
        except ServiceError as error:
            status = error.status
        checks.status(status, allowed(self._fixture.subject, hal.Buffer, method), method)
        return status

    def _execute(self, step: Execute) -> str:
        model = self._models.get(step.model % MODELS)
        if model is None:
            return "nothing"
        if model.runs is None:
            model.runs = False
            plain = replace(step, inputs=[], outputs=[], way=0, shape=list(USUAL), claims=[], edits=[])
            model.runs = self._run(model, plain).startswith(f"{int(ErrorStatus.NONE)} valid")
        return f"{model.kind.name} {self._run(model, step)}"

    def _run(self, model: BufferModel, step: Execute) -> str:
        way = self._ways[step.way % len(self._ways)]
        laid_out = request_of(model, step, self._state, self._version, is_fenced="fenced" in way)
        if laid_out is None:
            return "no request"
        pools = [self._fixture.filled(size) for size in laid_out.sizes]
        try:
            pools[0].write(0, laid_out.input_data)
            request = laid_out.request(pools)
            asked = Asked(model, way, request, laid_out.states, laid_out.results, laid_out.is_edited)
            before = [pool.read(0, pool.memory.size) for pool in pools]
            try:
                answer = guarded(
                    asked.what, EXECUTORS[way].bind(self._fixture, model.prepared, request, ExecutionOptions())
                )
            except NotSupported:
                return "no burst"
            return self._judge.judge(asked, answer, before, [pool.read(0, pool.memory.size) for pool in pools])
        finally:
            for pool in pools:
                pool.close()

    def _state(self, place: int) -> BufferState | int | None:
        """What a place means: a buffer, a token of none, or None for shared memory."""
        if place == -1:
            return None
        if place < 0:
            token = -2 - place
            return next((state for state in self._living.values() if state.token == token), token)
        number = place % BUFFERS
        state = self._living.get(number) or self._freed.get(number)
        if state is None or not state.is_freed:
            return state
        return next((living for living in self._living.values() if living.token == state.token), state)


def _of(state: BufferState) -> hal.Buffer:
    assert state.made is not None
    return state.made.buffer
