"""The target whose inputs are histories of bursts: several at once, memory under tokens, and executions beside them.

After each history every burst that is open executes once more, with tokens that nobody has used: what an earlier step
has broken shows then at the latest.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Sequence
from functools import partial

from msgspec.structs import replace

from npu_conformance.fuzz.lib import burst_packets
from npu_conformance.fuzz.lib.burst_fixture import SIZE, BurstFixture, OpenBurst
from npu_conformance.fuzz.lib.burst_judge import Asked, BurstJudge
from npu_conformance.fuzz.lib.burst_steps import (
    BURSTS,
    FIRST,
    HALF,
    MEMORIES,
    NAMES,
    OPERATIONS,
    SECOND,
    Close,
    Execute,
    Open,
    Release,
    Renew,
    Step,
    histories_of,
    is_sendable,
    seeds_of,
)
from npu_conformance.fuzz.lib.choices import Choices
from npu_conformance.fuzz.lib.findings import Found, Kind
from npu_conformance.fuzz.lib.histories import HistoryTarget, Traces
from npu_conformance.fuzz.lib.model_judge import allowed, guarded
from npu_conformance.fuzz.lib.prepared_vectors import PreparedVectors
from npu_conformance.fuzz.lib.request_edits import draft_of
from npu_conformance.fuzz.lib.request_judge import Prepared, put_inputs
from npu_conformance.fuzz.lib.sendable import are_sendable
from npu_conformance.harness.judge import checks
from npu_conformance.harness.judge.verdicts import NotApplicable, NotSupported
from npu_conformance.harness.run.executing.burst import call
from npu_conformance.harness.run.executing.burst_channel import Channel
from npu_conformance.harness.run.executing.execution import Execution, ExecutionOptions, answer_of
from npu_conformance.harness.subject.handle import SubjectHandle
from npu_conformance.specs.errors import ServiceError, Unsupported
from npu_conformance.specs.neuralnetworks.burst_packets import pack, request_elements
from npu_conformance.specs.neuralnetworks.enums import ErrorStatus
from npu_conformance.specs.neuralnetworks.hal import Burst, PreparedModel
from npu_conformance.specs.neuralnetworks.types import ExecutionConfig, Request, RequestMemoryPool
from npu_conformance.specs.versions import Version

_PROBE = [1_000_001, 1_000_002]
"""Tokens that no history uses."""


class BurstTarget(HistoryTarget[Step]):
    """Inputs are histories. See Target."""

    name = "burst"

    def __init__(self, subject: SubjectHandle) -> None:
        if subject.version < Version.V1_2:
            raise NotApplicable("there are no bursts before HAL 1.2")
        self._vectors = [PreparedVectors(subject, OPERATIONS) for _ in range(2)]
        self._meant: dict[str, str] = {}
        names = self._vectors[0].names
        super().__init__(subject, histories_of(names), seeds_of(self._vectors[0].first_names, subject.version))

    def _possible(self, step: Step, choices: Choices) -> Step:
        if not isinstance(step, Open):
            return step
        return replace(step, vector=self._vectors[0].instead(step.vector, choices))

    def readable(self, data: bytes) -> bytes:
        """The history with the names of its vectors: which are first may change with what a device has.

        The device is not asked: what no history has met stays what it is.
        """
        return self.histories.with_each(data, self._named)

    def _named(self, step: Step) -> Step:
        return replace(step, vector=self._meant.get(step.vector, step.vector)) if isinstance(step, Open) else step

    def _play(self, steps: list[Step]) -> tuple[str, ...]:
        fixture = BurstFixture(self._subject)
        play = _Play(fixture, self._vectors, self._meant)
        try:
            return play.run(steps)
        finally:
            play.bursts.clear()
            fixture.close()

    def _require(self) -> None:
        """Configure a burst of the first model that the device prepares."""
        found = self._vectors[0].get(_name_of(FIRST, self._vectors[0]))
        if found is None:
            raise NotApplicable(
                f"the device prepares no model of those that bursts are made for, of any type: {', '.join(OPERATIONS)}"
            )
        fixture = BurstFixture(self._subject)
        try:
            _Play(fixture, self._vectors, self._meant).configure(found)
        finally:
            fixture.close()

    def forget(self) -> None:
        """Forget both models of each vector."""
        for vectors in self._vectors:
            vectors.clear()


class _Play:
    """One history on a fixture. vectors: the prepared models of each vector, twice.

    meant: the vectors that names of a place stand for, which grows.
    """

    def __init__(self, fixture: BurstFixture, vectors: Sequence[PreparedVectors], meant: dict[str, str]) -> None:
        self._fixture, self._vectors, self._meant = fixture, vectors, meant
        self._version = fixture.subject.version
        self._judge = BurstJudge(fixture.subject)
        self.bursts: dict[int, OpenBurst] = {}
        self._seen: set[str] = set()

    def run(self, steps: Sequence[Step]) -> tuple[str, ...]:
        """Let it happen; returns what was seen."""
        traces = Traces(NAMES)
        for step in steps:
            if is_sendable(step, self._version):
                for feature in self._perform(step):
                    self._seen.update(traces.features(step, feature))
        for number in self.bursts:
            self._execute(Execute(number, _PROBE))
        return tuple(self._seen)

    def _perform(self, step: Step) -> list[str]:
        match step:
            case Open():
                return [self._open(step)]
            case Close(burst):
                return ["" if self.bursts.pop(burst % BURSTS, None) is None else "open"]
            case Execute():
                return self._execute(step)
            case Release():
                return [self._release(step)]
            case Renew(memory):
                self._fixture.renew(memory % MEMORIES)
                return [""]

    def _open(self, step: Open) -> str:
        self.bursts.pop(step.burst % BURSTS, None)
        name = _name_of(step.vector, self._vectors[0])
        if name != step.vector:
            self._meant[step.vector] = name
        found = self._vectors[int(step.twin)].get(name)
        if found is None or not _is_small(found):
            return "nothing"
        if found.prepared is None:
            self._vectors[0].look_around(name)
            return "nothing"
        if found.runs is None:
            found.runs = self._try(found)
        opened, status = self.configure(found)
        if status != ErrorStatus.NONE:
            return f"status {status}"
        self.bursts[step.burst % BURSTS] = opened
        return f"{len(self.bursts)} with {sum(other.found is found for other in self.bursts.values())}"

    def configure(self, found: Prepared) -> tuple[OpenBurst, int]:
        """Configure a burst of a prepared model; returns the status, too. NotSupported where the device has none."""
        prepared, opened = found.prepared, OpenBurst(found)
        assert prepared is not None
        what = "configureExecutionBurst"
        method = "configure_execution_burst" if self._version.is_aidl else "configure_execution_burst_on_queues"
        status = int(ErrorStatus.NONE)
        try:
            if self._version.is_aidl:
                opened.calls = guarded(what, prepared.configure_execution_burst, ServiceError)
            else:
                opened.channel = Channel(self._fixture, prepared)
        except ServiceError as error:
            status = error.status
        except NotSupported as error:  # HIDL's channel says so; a device may have one burst at a time
            if isinstance(error.__context__, Unsupported):
                raise
            return opened, ErrorStatus.GENERAL_FAILURE
        statuses = allowed(self._fixture.subject, PreparedModel, method)
        checks.status(status, statuses, what)
        if status == ErrorStatus.INVALID_ARGUMENT:
            raise Found("valid-refused", f"{what}: found INVALID_ARGUMENT", what)
        return opened, status

    def _try(self, found: Prepared) -> bool:
        """Whether the vector runs at all, outside of a burst."""
        step = Execute(plain=True)
        asked = self._asked(OpenBurst(found), step)
        assert asked is not None
        return self._judged(asked, OpenBurst(found)) == [f"{int(ErrorStatus.NONE)} valid"]

    def _release(self, step: Release) -> str:
        burst = self.bursts.get(step.burst % BURSTS)
        if burst is None:
            return "nothing"
        what, status = f"release of token {step.token}", int(ErrorStatus.NONE)
        try:
            guarded(what, partial(burst.release, step.token), ServiceError)
        except ServiceError as error:
            status = error.status
        was_known = burst.tokens.pop(step.token, None) is not None
        if burst.channel is not None:
            checks.status(status, {ErrorStatus.NONE}, what)
        elif step.token < -1:
            _judge_refused(what, status)
        else:
            checks.status(status, allowed(self._fixture.subject, Burst, "release_memory_resource"), what)
            if status != ErrorStatus.NONE and step.token >= 0:
                raise Found("valid-refused", f"{what}: found status {status}", "NNHAL-BURST-015")
        return f"{status} {was_known}"

    def _execute(self, step: Execute) -> list[str]:
        burst = self.bursts.get(step.burst % BURSTS)
        if burst is None:
            return ["nothing"]
        asked = self._asked(burst, step)
        if asked is None:
            return ["no request"]
        return self._judged(asked, burst)

    def _asked(self, burst: OpenBurst, step: Execute) -> Asked | None:
        """The request of a step; None where it is none, or cannot be sent."""
        draft = draft_of(burst.found, self._version)
        for argument in draft.outputs:
            argument["offset"] += 0 if argument["hasNoValue"] else HALF
        for edit in step.edits:
            draft.apply(edit)
        arguments = draft.arguments()
        if arguments is None or not are_sendable((*arguments[0], *arguments[1]), self._version):
            return None
        if not self._version.is_aidl:
            step = replace(step, deadline=-1, loop=-1, config=False)
        numbers = step.memories
        if burst.channel is not None and not step.plain:
            numbers = [numbers[min(place, len(numbers) - 1)] if numbers else 0 for place in range(len(step.tokens))]
            last = dict(zip(step.tokens, numbers, strict=True))
            numbers = [last[token] for token in step.tokens]  # a slot is one memory
        serials = tuple(None if number < 0 else self._fixture.serials[number % MEMORIES] for number in numbers)
        request = Request(*arguments, tuple(map(self._pool, serials, numbers)))
        return Asked(burst.found, request, serials, step)

    def _pool(self, serial: int | None, number: int) -> RequestMemoryPool:
        return RequestMemoryPool(token=-number) if serial is None else self._memory(serial)

    def _memory(self, serial: int) -> RequestMemoryPool:
        return RequestMemoryPool(pool=self._fixture.pools[serial].memory)

    def _judged(self, asked: Asked, burst: OpenBurst) -> list[str]:
        """Execute with fresh contents, and judge the answer and all memory."""
        packet = b""
        if burst.channel is not None and not asked.step.plain:
            packet = self._packet(asked, burst.channel)
            asked = self._as_sent(asked, burst, packet)
        elif not asked.step.plain:
            is_misused = burst.note(asked.step.tokens, asked.serials)
            asked = dataclasses.replace(asked, is_misused=is_misused)
        contents = self._fixture.blank()
        self._put_inputs(asked, contents)
        self._fixture.fill(contents)
        before = {serial: bytes(content) for serial, content in contents.items()}
        answer = guarded(asked.what, lambda: self._answer(asked, burst, packet))
        features = self._judge.judge(asked, answer, before, self._fixture.read())
        return [f"{feature}{' plain' if asked.step.plain else ''}" for feature in features]

    def _put_inputs(self, asked: Asked, contents: dict[int, bytearray]) -> None:
        nothing = bytearray()
        pools = [nothing if serial is None else contents[serial] for serial in asked.serials]
        if not asked.step.blank:
            put_inputs(asked.found, asked.request, pools)
            return
        for argument in asked.request.inputs:
            place = argument.location
            if 0 <= place.pool_index < len(pools) and 0 <= place.offset <= place.offset + place.length <= SIZE:
                pools[place.pool_index][place.offset : place.offset + place.length] = bytes(place.length)

    def _answer(self, asked: Asked, burst: OpenBurst, packet: bytes) -> Execution:
        step, request, prepared = asked.step, asked.request, asked.found.prepared
        assert prepared is not None
        with_config = step.config and self._version >= Version.FL8
        if burst.channel is not None and not step.plain:
            return burst.channel.exchange(packet)
        if not step.plain and burst.calls is not None:
            options = ExecutionOptions(step.measure, step.loop, step.deadline)
            return call(burst.calls, request, tuple(step.tokens), options, with_config=with_config)
        if with_config:
            config = ExecutionConfig(step.measure, step.loop)
            return answer_of(lambda: prepared.execute_synchronously_with_config(request, config, step.deadline))
        return answer_of(lambda: prepared.execute_synchronously(request, step.measure, step.deadline, step.loop))

    def _packet(self, asked: Asked, channel: Channel) -> bytes:
        """HIDL's packet. Its slots are known to the client from now on, or, where the step says so, not any more."""
        step = asked.step
        for slot, pool in zip(step.tokens, asked.request.pools, strict=True):
            channel.slots.memories.pop(slot, None)
            if pool.pool is not None and not step.unknown:
                channel.slots.memories[slot] = pool.pool
        elements = request_elements(asked.request, step.tokens, measure=step.measure)
        return burst_packets.edited(pack(elements), step.packet)

    def _as_sent(self, asked: Asked, burst: OpenBurst, packet: bytes) -> Asked:
        """What the driver is asked by an edited packet."""
        found = burst_packets.read(packet)
        if isinstance(found, str):
            # Which slots a driver has asked for meanwhile nobody knows.
            burst.note(asked.step.tokens, asked.serials)
            error = "NNHAL-BURST-004" if found == "malformed" else ""
            return dataclasses.replace(asked, error=error, is_open=found == "open")
        assert burst.channel is not None
        table = burst.channel.slots.memories
        of_token = {pool.memory.token: serial for serial, pool in self._fixture.pools.items()}
        memories = [table.get(slot) for slot in found.slots]
        serials = tuple(None if memory is None else of_token.get(memory.token) for memory in memories)
        is_unknown = any(slot not in table and slot not in burst.tokens for slot in found.slots)
        is_open = any(serial is None for serial in serials) and not is_unknown
        pools = tuple(RequestMemoryPool() if serial is None else self._memory(serial) for serial in serials)
        step = replace(asked.step, measure=found.measure)
        request = Request(found.inputs, found.outputs, pools)
        is_misused = False if is_unknown else burst.note(found.slots, serials)
        error = "NNHAL-BURST-011" if is_unknown else ""
        return Asked(asked.found, request, serials, step, error=error, is_misused=is_misused, is_open=is_open)


def _name_of(vector: str, vectors: PreparedVectors) -> str:
    """The name that a step means; that of another where it means one that the device does not have."""
    if vector not in (FIRST, SECOND):
        return vector
    small = (name for name in vectors.all_prepared() if (found := vectors.get(name)) and _is_small(found))
    names = list(itertools.islice(small, 2))
    return names[-1 if vector == SECOND else 0] if names else vector


def _is_small(found: Prepared) -> bool:
    return max(len(found.built.input_data), found.built.output_size) <= HALF


def _judge_refused(what: str, status: int) -> None:
    if status != ErrorStatus.INVALID_ARGUMENT:
        kind: Kind = "invalid-accepted" if status == ErrorStatus.NONE else "wrong-status"
        raise Found(kind, f"{what}: expected INVALID_ARGUMENT, found status {status}", "NNHAL-BURST-015")
