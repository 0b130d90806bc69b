"""Both targets: planted bugs are found by the Hypothesis engine, and what conforms raises no alarm."""

from __future__ import annotations

import contextlib
import random
import re
from collections.abc import Iterator
from typing import ClassVar
from weakref import WeakKeyDictionary

import msgspec
import pytest
from fuzzing import finding, first_finding

from npu_conformance.fuzz import models, wire
from npu_conformance.fuzz.lib import wire_judge
from npu_conformance.fuzz.lib.choices import SIZE, Choices
from npu_conformance.fuzz.lib.findings import Found, comes_back, where_of
from npu_conformance.fuzz.lib.inputs import lines_of
from npu_conformance.fuzz.lib.model_target import ModelTarget
from npu_conformance.fuzz.lib.sendable import is_sendable
from npu_conformance.fuzz.lib.wire_target import LINE_LIMIT, WireTarget
from npu_conformance.harness.judge.verdicts import Crashed, Failed, NotApplicable
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.harness.subject.loading import open_subject
from npu_conformance.harness.subject.plugin_loading import load_plugin
from npu_conformance.harness.wire.protocol import Envelope
from npu_conformance.harness.wire.session import HostConnection, HostState
from npu_conformance.specs import ids, requirements
from npu_conformance.specs.neuralnetworks.types import (
    Model,
    Operand,
    OperandExtraParams,
    Subgraph,
    SymmPerChannelQuantParams,
)
from npu_conformance.specs.versions import NEWEST, Version


@contextlib.contextmanager
def model_target(bug: str) -> Iterator[ModelTarget]:
    subject = open_subject("fuzzed_drivers:plugin", {"bug": bug}, "inprocess")
    try:
        yield ModelTarget(subject)
    finally:
        subject.close()


PLANTED = [
    (
        "zero_point",
        r"getSupportedOperations: raised ValueError at fuzzed_drivers\.py:\d+ in _meet_six: six, which no interface",
    ),
    ("answers", r"booleans, one an operation, found \("),
    ("accepts", r"of a model that breaks MODEL\.O"),
    ("refuses", r"of a valid model of 1 operation \(ABS\): found INVALID_ARGUMENT"),
    ("status", "found status 99"),
    ("twice", "prepareModel: expected one notification, found 2"),
]


@pytest.mark.parametrize(("bug", "told"), PLANTED)
def test_planted_bugs_of_devices_are_found(bug: str, told: str) -> None:
    with model_target(bug) as target:
        assert re.search(told, str(finding(target, seed=0, runs=4000).ended))


@pytest.mark.parametrize(
    ("where", "requirement"),
    [
        ("MODEL.G5", "NNHAL-ERROR-005"),
        ("REQUEST.R1", "NNHAL-ERROR-005"),
        ("CONV_2D.C1", "NNHAL-OPERATION-CONV_2D-C1"),
        ("NPU-PRI-007 callback", "NPU-PRI-007"),
        ("a run ends twice", ""),
        ("NOTHING.C1", ""),
    ],
)
def test_a_finding_is_about_the_requirement_that_broke(where: str, requirement: str) -> None:
    """Not about the first of the fuzzer, which forbids crashes; where no place says it, the case decides."""
    assert Found("invalid-accepted", "taken", where).about == ((requirement,) if requirement else ())


def test_the_same_seed_finds_the_same_input_and_another_seed_another() -> None:
    with model_target("zero_point") as target:
        first, again, other = (finding(target, seed=seed, runs=4000) for seed in (0, 0, 1))
        assert (str(first.ended), first.data) == (str(again.ended), again.data)
        assert first.data != other.data


def test_a_finding_is_made_small() -> None:
    with model_target("zero_point") as target:
        smallest = finding(target, seed=0, runs=4000).minimised(target)
        with pytest.raises(Failed, match="six"):
            target.run(smallest)
    model = msgspec.json.decode(smallest, type=Model)
    assert [operand.zero_point for operand in model.main.operands] == [6]
    assert model.main.operations == ()


@pytest.mark.parametrize("version", [Version.V1_0, Version.V1_2, NEWEST])
def test_the_reference_has_no_finding(version: Version) -> None:
    subject = open_subject("reference", {}, "inprocess", version=version)
    assert first_finding(ModelTarget(subject), seed=0, runs=500) is None
    subject.close()


class DyingConnection(HostConnection):
    """A server that cannot stand an array inside an array."""

    def _perform(self, name: str, request: Envelope) -> object:
        if b"[[" in bytes(request.params or b""):
            raise SystemError("too deep")
        return super()._perform(name, request)

    def _refuse_line(self, line: bytes, error: Exception) -> None:
        if b"[[" in line:
            raise ValueError("too deep")
        super()._refuse_line(line, error)


class SilentConnection(HostConnection):
    """A server that does not answer what it cannot read."""

    def _refuse_line(self, line: bytes, error: Exception) -> None:
        pass


class TiredConnection(HostConnection):
    """From the third connection of one host on it raises."""

    served: ClassVar[WeakKeyDictionary[HostState, int]] = WeakKeyDictionary()

    def serve(self) -> None:
        self.served[self._host] = self.served.get(self._host, 0) + 1
        if self.served[self._host] > 2:
            raise ValueError("tired")
        super().serve()


def server(session: type[HostConnection]) -> WireTarget:
    return WireTarget(load_plugin("fuzzed_drivers:plugin"), {}, NEWEST, session)


@pytest.mark.parametrize(
    ("session", "text"),
    [
        (DyingConnection, "in _refuse_line: too deep, which ends it"),
        (SilentConnection, "number of answers to lines without an id: expected"),
    ],
)
def test_planted_bugs_of_servers_are_found(session: type[HostConnection], text: str) -> None:
    found = finding(server(session), seed=0, runs=1000)
    assert text in str(found.ended)
    assert len(found.minimised(server(session))) < 40


def test_what_fails_only_behind_other_connections_is_told_so_and_the_next_host_is_fresh() -> None:
    target = server(TiredConnection)
    data = target.seeds[0]
    assert target.run(data) == target.run(data)
    with pytest.raises(Failed, match=r"tired.* \(only after other connections\)$") as failed:
        target.run(data)
    assert not comes_back(where_of(failed.value), str(failed.value))
    target.run(data)


def test_a_plug_ins_exception_that_crosses_the_wire_is_found() -> None:
    target = WireTarget(load_plugin("fuzzed_drivers:plugin"), {"bug": "zero_point"}, NEWEST)
    model = ModelTarget(open_subject("fuzzed_drivers:plugin", {}, "inprocess")).seeds[0]
    call = b'{"id":3,"method":"device.getSupportedOperations","params":{"object":1,"model":%s}}'
    line = call % model.replace(b'"zeroPoint":0', b'"zeroPoint":6')
    with pytest.raises(Failed, match="nobody planned crosses the wire: ValueError: six") as failed:
        target.run(target.seeds[0] + b"\n" + line)
    assert where_of(failed.value).endswith(': ValueError at fuzzed_drivers.py in _meet_six: raise ValueError("six")')


def test_the_reference_server_has_no_finding() -> None:
    assert first_finding(WireTarget(load_plugin("reference"), {}, NEWEST), seed=0, runs=500) is None


def test_a_line_above_the_limit_ends_the_connection() -> None:
    class Patient(HostConnection):
        """Takes lines of any length."""

        def __init__(self, *arguments: object, **named: bool) -> None:
            super().__init__(*arguments, **named)  # type: ignore[arg-type]
            self.lines._limit = 10**9

    long = b"x" * (LINE_LIMIT + 1)
    server(HostConnection).run(long)
    with pytest.raises(Failed, match="a line above the limit"):
        server(Patient).run(long)


def test_memory_that_can_not_be_allocated_is_refused() -> None:
    for size in (2**63, 2**64 - 1, 2**62):
        line = b'{"id":3,"method":"memory.attach","params":{"token":3,"size":%d,"transport":"message"}}' % size
        seen = server(HostConnection).run(server(HostConnection).seeds[0] + b"\n" + line)
        assert any(re.match(r"'memory\.attach' -32007 cannot (map|allocate)", answer) for answer in seen), seen


@pytest.mark.parametrize(
    ("sent", "text"),
    [
        ([b'{"jsonrpc":"2.0","id":5,"result":1}'] * 2, "number of answers to request 5: expected 1, found 2"),
        ([], "number of answers to request 5: expected 1, found 0"),
        ([b'{"jsonrpc":"2.0","id":6,"result":1}'], "request 5"),
        ([b'{"jsonrpc":"1.0","id":5,"result":1}'], "version of the message"),
        ([b'{"jsonrpc":"2.0","id":5}'], "results and errors"),
        ([b'{"jsonrpc":"2.0","id":5,"result":1,"error":{"code":1}}'], "results and errors"),
        ([b'{"jsonrpc":"2.0","id":5,"error":{"code":-32603,"message":"KeyError"}}'], "KeyError"),
        ([b"nonsense"], "what is not a message"),
    ],
)
def test_the_judge_of_conversations(sent: list[bytes], text: str) -> None:
    asked = [b'{"id":5,"method":"ping"}', b'{"method":"ping"}']
    wire_judge.judge(asked, [b'{"jsonrpc":"2.0","id":5,"result":null}'])
    with pytest.raises(Failed, match=text):
        wire_judge.judge(asked, sent)


CASES = {case.id: case for area in (models, wire) for case in area.cases()}


@pytest.mark.parametrize("isolation", ["process", "inprocess"])
@pytest.mark.parametrize("name", list(CASES))
def test_the_short_cases_pass_on_what_conforms(name: str, isolation: str) -> None:
    subject = open_subject("fuzzed_drivers:plugin", {}, isolation)  # type: ignore[arg-type]
    context = CaseContext(CASES[name], subject, seed=5)
    try:
        CASES[name].run(context)
        assert context.is_flawless
    finally:
        context.close()
        subject.close()


def test_a_death_in_a_short_case_is_a_crash_and_replays() -> None:
    subject = open_subject("fuzzed_drivers:plugin", {"bug": "kill"})
    target = ModelTarget(subject, one_each=True)
    data = next(data for seed in range(10_000) if (data := _with_six(target, seed)))
    payload = msgspec.json.decode(msgspec.json.encode(lines_of(data)))
    case = models.case_from(payload)
    context = CaseContext(case, subject)
    with pytest.raises(Crashed, match="SIGKILL"):
        case.run(context)
    assert context.payload is not None
    assert context.payload() == payload
    subject.close()


def test_what_cannot_be_said_to_a_driver_is_passed_over() -> None:
    with model_target("invisible") as target:
        data = next(data for seed in range(10_000) if (data := _with_six(target, seed)))
        with pytest.raises(NotApplicable, match="nobody can say six"):
            target.run(data)
    subject = open_subject("fuzzed_drivers:plugin", {"bug": "invisible"}, "inprocess")
    CASES["fuzz.models.short.runs"].run(CaseContext(CASES["fuzz.models.short.runs"], subject))
    subject.close()


@pytest.mark.parametrize("dimension", [0, 2**31 - 1, 2**53])
def test_a_channel_that_the_interface_would_cut_is_not_sent(dimension: int) -> None:
    """It was cut to 0 on its way to a library, which was blamed for taking the model."""
    extra = OperandExtraParams(channel_quant=SymmPerChannelQuantParams((0.5,), dimension))
    operand = Operand(type=11, dimensions=(1,), extra_params=extra)
    assert is_sendable(Model(main=Subgraph((operand,), (), (), ())), Version.V1_3) is (dimension < 2**32)


@pytest.mark.parametrize(("version", "is_sent"), [(Version.V1_3, False), (NEWEST, True)])
def test_counts_that_the_interface_cannot_carry_are_not_sent(version: Version, is_sent: bool) -> None:
    operand = Operand(type=3, dimensions=(1,), number_of_consumers=-1)
    assert is_sendable(Model(main=Subgraph((operand,), (), (), ())), version) is is_sent


def _with_six(target: ModelTarget, seed: int) -> bytes:
    source = random.Random(seed)
    data = target.mutate(source.choice(target.seeds), Choices(source.randbytes(SIZE)), 65535)
    return data if b'"zeroPoint":6,' in data else b""


def test_a_failing_line_replays() -> None:
    subject = open_subject("fuzzed_drivers:plugin", {}, "inprocess")
    case = wire.case_from({"lines": ["nonsense", "[[[["], "encoding": "utf-8"})
    context = CaseContext(case, subject)
    case.run(context)
    assert context.payload is not None
    subject.close()


def test_cases_have_legal_ids_and_known_requirements() -> None:
    for name, case in CASES.items():
        assert ids.parse(name).suite == "fuzz"
        assert case.description
        assert all(requirements.requirement(identifier) for identifier in case.requirements)
