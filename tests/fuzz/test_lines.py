"""The fuzzer of lines: planted bugs of decoders are found, and what the wire's own ends read is right."""

from __future__ import annotations

import os
import runpy
import zlib
from contextlib import closing

import msgspec
import pytest
from places import HOSTILE

from npu_conformance.fuzz import lines
from npu_conformance.fuzz.lib import line_samples
from npu_conformance.fuzz.lib.choices import Choices
from npu_conformance.fuzz.lib.engines import evolution
from npu_conformance.fuzz.lib.findings import Defect, kind_of, where_of
from npu_conformance.fuzz.lib.inputs import lines_of
from npu_conformance.fuzz.lib.line_ends import HarnessEnd, HostEnd
from npu_conformance.fuzz.lib.line_target import LineTarget
from npu_conformance.fuzz.lib.memory_limit import MemoryLimit
from npu_conformance.fuzz.lib.target import LARGEST_INPUT, failure, minimised
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.harness.subject.loading import open_subject
from npu_conformance.harness.wire.binding import bound_methods
from npu_conformance.specs.neuralnetworks.hal import Buffer, Fence

MODULE = "decoders_with_bugs"
BUGS = runpy.run_path(str(HOSTILE / f"{MODULE}.py"), run_name=MODULE)["BUGS"]
RANK = b"harness runtime.executionGetOutputOperandRank\n"
SCALE = b'host\n{"id":5,"method":"device.allocate","params":{"object":1,"desc":{"dimensions":[]},"preparedModels":[],'
FOUND = {
    "float-for-int": (RANK + b'{"id":1,"result":{"result":0,"value":2.5}}', "reading what it may not"),
    "bool-for-int": (RANK + b'{"id":1,"result":{"result":0,"value":true}}', "reading what it may not"),
    "loses-sign": (RANK + b'{"id":1,"result":{"result":0,"value":-2147483649}}', "reading"),
    "cut-to-64-bits": (RANK + b'{"id":1,"result":{"result":0,"value":18446744073709551616}}', "reading"),
    "plus-zero": (
        SCALE + b'"inputRoles":[{"modelIndex":0,"ioIndex":0,"probability":-0.0}],"outputRoles":[]}}',
        "reading",
    ),
    "takes-nan": (
        SCALE + b'"inputRoles":[{"modelIndex":0,"ioIndex":0,"probability":NaN}],"outputRoles":[]}}',
        "reading what it may not",
    ),
    "no-status": (b'harness device.getType\n{"id":1,"error":{"code":-32001}}', "AssertionError in "),
    "unknown-status": (
        b'harness device.getType\n{"id":1,"error":{"code":-32001,"data":{"status":99}}}',
        "ValueError in ",
    ),
    "deep-traceback": (
        b'harness ping\n{"id":1,"error":{"code":5,"data":{"traceback":' + b"[" * 600 + b"]" * 600 + b"}}}",
        "RecursionError in ",
    ),
    "unknown-object": (b'host\n{"id":5,"method":"device.getType","params":{"object":99}}', "an internal error"),
    "missing-object": (b'host\n{"id":5,"method":"device.getType","params":{"objekt":1}}', "an internal error"),
    "loose-base64": (b'harness memory.read\n{"id":1,"result":"AA?=="}', "reading what it may not"),
    "believes-length": (
        b'harness\n{"id":5,"method":"file.read","params":{"token":3,"offset":0,"length":4294967296}}',
        "memory in ",
    ),
}
"""By bug: a line that shows it, and the beginning of the place that the finding names."""
SOON = ("float-for-int", "loses-sign", "unknown-status", "unknown-object", "missing-object")
"""What a search of a tenth of a second finds."""


@pytest.fixture
def target() -> LineTarget:
    return LineTarget()


def plant(bug: str, monkeypatch: pytest.MonkeyPatch) -> None:
    owner, name, made = BUGS[bug]
    monkeypatch.setattr(owner, name, made(getattr(owner, name)))


@pytest.mark.parametrize("bug", BUGS)
def test_a_planted_bug_shows_in_its_line(bug: str, target: LineTarget, monkeypatch: pytest.MonkeyPatch) -> None:
    data, where = FOUND[bug]
    assert target.run(data)
    plant(bug, monkeypatch)
    with pytest.raises(Defect) as found:
        target.run(data)
    assert kind_of(found.value) == "harness-defect"
    assert where_of(found.value).startswith(where)


@pytest.mark.parametrize("bug", SOON)
def test_a_search_finds_planted_bugs_and_makes_them_small(
    bug: str, target: LineTarget, monkeypatch: pytest.MonkeyPatch
) -> None:
    plant(bug, monkeypatch)
    found: list[bytes] = []

    def attack(data: bytes) -> frozenset[int]:
        try:
            return frozenset(zlib.crc32(feature.encode()) for feature in target.run(data))
        except Defect:
            found.append(data)
            raise

    with pytest.raises(Defect):
        evolution.search(target, attack, seed=1, runs=4000)
    signature = failure(target.run, found[0])
    smallest = minimised(found[0], target.pieces, lambda piece: failure(target.run, piece), 60)
    assert failure(target.run, smallest) == signature
    assert len(smallest) <= len(found[0])


def test_every_line_to_begin_with_is_read_or_tells_an_error(target: LineTarget) -> None:
    told = [feature.partition(": ")[2] for data in target.seeds for feature in target.run(data)]
    assert len(told) == len(target.seeds)
    assert len([one for one in told if not one.startswith("read ")]) == 7, (
        "five errors, and two tokens that nobody has attached"
    )


def test_the_lines_to_begin_with_call_every_method_that_can_be_called(target: LineTarget) -> None:
    called = b"\n".join(target.seeds)
    for interface in line_samples.interfaces():
        for name in bound_methods(interface):
            assert f'"method":"{name}"'.encode() in called


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\xff",
        b"nobody device.getType\n{}",
        b'host\n{"id":5,"method":"memory.attach","params":{"token":1,"size":1099511627776,"transport":"message"}}',
    ],
)
def test_what_is_no_line_or_asks_for_too_much_is_passed_over(data: bytes, target: LineTarget) -> None:
    assert target.run(data) == ()


@pytest.mark.parametrize(
    ("data", "seen"),
    [
        (
            b'host\n{"id":"x","id":5,"method":"device.getType","params":{"object":1}}',
            "not a message:  Expected",
        ),
        (b'host\n{"\xff":1,"id":5,"method":"device.getType","params":{"object":1}}', "read"),
        (b'host device.getType\n{"id":1,"result":"three"}', "DeadObject"),
        (b"harness device.getType\n" + b"[" * 20000, "EndedError device.getType: a line longer than the limit"),
        (b'host\n{"id":5,"concurrent":true,"method":"device.getType","params":{"object":1}}', "read"),
        (b'harness\n{"method":"object.release","params":{"object":-3,"count":1}}', "read"),
    ],
)
def test_what_the_wire_leaves_open_or_refuses_is_no_finding(data: bytes, seen: str, target: LineTarget) -> None:
    for _ in range(2):
        (feature,) = target.run(data)
        assert feature.partition(": ")[2].startswith(seen)


def test_a_nan_beside_defaults_of_enumerations_comes_back(target: LineTarget) -> None:
    script = b'{"name":"","execTime":"NaN","misbehaviours":[{"method":"word","kind":"word"}]}'
    line = b'{"method":"runtimeControl.setDrivers","params":{"object":8,"drivers":[%s]}}' % script
    assert target.run(b"host\n" + line) == ("host: read RuntimeControl_set_drivers",)


def test_a_right_line_that_is_refused_is_found(target: LineTarget, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(self: object, kind: object, raw: bytes) -> None:
        raise msgspec.ValidationError("not today")

    monkeypatch.setattr("npu_conformance.harness.wire.decoding.Decoders.decode", refuse)
    with pytest.raises(Defect, match="int: a right value was refused"):
        target.run(b'harness device.getType\n{"id":1,"result":3}')
    with pytest.raises(Defect, match="Device_get_type: a right value was refused"):
        target.run(b'host\n{"id":5,"method":"device.getType","params":{"object":1}}')


def test_one_number_is_no_object_of_two_interfaces() -> None:
    """What the fuzzer found: the second one was an object of the first interface, whatever the method expected."""
    objects = HostEnd().objects
    fence = objects.object_of(-99, Fence)
    with pytest.raises(ValueError, match="object -99 is no Buffer"):
        objects.object_of(-99, Buffer)
    assert objects.object_of(-99, Fence) is fence


def test_an_end_forgets_what_a_line_has_done() -> None:
    end = HarnessEnd()
    assert end.take(b'{"id":1,"result":3}', "device.getType")
    assert end.read.values == [(int, 3)]
    assert end.take(b'{"id":1,"result":4}', "device.getType")
    assert end.read.values == [(int, 4)]
    end.let_go()


@pytest.mark.parametrize(
    "data",
    [
        b'harness\n{"method":"object.release","params":{"object":-3,"count":1}}',
        b'harness\n{"id":5,"method":"file.duplicate","params":{"token":3}}',
        b'host\n{"id":5,"method":"memory.attach","params":{"token":3,"size":8,"transport":"message"}}',
    ],
)
def test_what_is_made_anew_leaves_nothing_open(data: bytes, target: LineTarget) -> None:
    target.run(data)
    before = len(os.listdir("/proc/self/fd"))
    for _ in range(5):
        target.run(data)
    assert len(os.listdir("/proc/self/fd")) <= before


def test_memory_beyond_a_limit_is_refused_inside_of_it() -> None:
    limit = MemoryLimit(32 << 20)
    for _ in range(100):
        with limit:
            assert bytearray(1 << 20)
        with limit, pytest.raises(MemoryError):
            bytearray(1 << 28)
    assert len(bytearray(1 << 27)) == 1 << 27


def test_mutations_keep_to_a_size(target: LineTarget) -> None:
    data = target.seeds[0]
    for seed in range(300):
        data = target.mutate(data, Choices.seeded(seed), 400)
        assert len(data) <= 400
    assert target.mutate(b"", Choices.seeded(1), LARGEST_INPUT) is not None


def test_a_finding_replays(monkeypatch: pytest.MonkeyPatch) -> None:
    data, _ = FOUND["no-status"]
    case = lines.case_from(msgspec.to_builtins(lines_of(data)))
    with closing(open_subject("reference", isolation="inprocess")) as subject:
        case.run(CaseContext(case, subject))
        plant("no-status", monkeypatch)
        with pytest.raises(Defect):
            case.run(CaseContext(case, subject))
