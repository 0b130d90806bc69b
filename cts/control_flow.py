"""IF and WHILE through the runtime: nested, without rounds, of shapes that are found, and loops that never end."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from npu_conformance.corpus.vectors import Example, Graph, Vector, VectorOperand, VectorOperation
from npu_conformance.corpus.wire_model import build_model, build_request
from npu_conformance.cts.lib.runtime.arguments import Arguments
from npu_conformance.cts.lib.runtime.fixture import RuntimeApp
from npu_conformance.cts.lib.runtime.results import output_shape
from npu_conformance.cts.lib.runtime.vector_run import MISSED, run
from npu_conformance.cts.lib.runtime.ways import compute, ways
from npu_conformance.harness.judge import checks
from npu_conformance.harness.run.cases import CaseGroup
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.specs.neuralnetworks.enums import OperandType
from npu_conformance.specs.neuralnetworks.runtime.result_codes import (
    DEFAULT_LOOP_TIMEOUT_NS,
    MAXIMUM_LOOP_TIMEOUT_NS,
    ResultCode,
)
from npu_conformance.specs.versions import Version

if TYPE_CHECKING:
    from npu_conformance.corpus.vectors import Array

cases = CaseGroup("cts.control_flow", interface="runtime")

_SINCE = Version.V1_3
_MILLISECOND = 1_000_000
_FLOAT = VectorOperand(OperandType.TENSOR_FLOAT32, (1,))
_OPEN = VectorOperand(OperandType.TENSOR_FLOAT32, (0,))
_TRUTH = VectorOperand(OperandType.TENSOR_BOOL8, (1,))


def _number(value: int) -> VectorOperand:
    import numpy

    return VectorOperand(OperandType.INT32, value=numpy.array(value, numpy.int32))


def _floats(*values: float) -> Array:
    import numpy

    return numpy.array(values, numpy.float32)


def _graph(operands: Mapping[str, VectorOperand], *operations: VectorOperation, inputs: str, outputs: str) -> Graph:
    return Graph(dict(operands), operations, tuple(inputs.split()), tuple(outputs.split()))


def _step(kind: str, inputs: str, outputs: str) -> VectorOperation:
    return VectorOperation(kind, tuple(inputs.split()), tuple(outputs.split()))


def _reference(number: int) -> VectorOperand:
    return VectorOperand(OperandType.SUBGRAPH, subgraph=number)


def _model(name: str, main: Graph, referenced: Sequence[Graph], examples: Sequence[Example] = ()) -> Vector:
    return Vector(
        name, "WHILE", _SINCE, main.operands, main.operations, main.inputs, main.outputs, tuple(examples),
        referenced=tuple(referenced),
    )  # fmt: skip


_BELOW = _graph({"a": _FLOAT, "b": _FLOAT, "is": _TRUTH}, _step("LESS", "a b", "is"), inputs="a b", outputs="is")
"""The condition a < b."""


def _plus() -> Graph:
    """The body a += b."""
    operands = {"a": _FLOAT, "b": _FLOAT, "act": _number(0), "more": _FLOAT}
    return _graph(operands, _step("ADD", "a b act", "more"), inputs="a b", outputs="more")


def _loop(examples: Sequence[tuple[float, float, float]] = ()) -> Vector:
    """WHILE a < b: a += b. examples: a, b, and a after the loop. Without end where b is 0 and a is below."""
    operands = {"condition": _reference(0), "body": _reference(1), "a": _FLOAT, "b": _FLOAT, "end": _FLOAT}
    main = _graph(operands, _step("WHILE", "condition body a b", "end"), inputs="a b", outputs="end")
    made = [Example({"a": _floats(a), "b": _floats(b)}, {"end": _floats(end)}) for a, b, end in examples]
    return _model("loop", main, (_BELOW, _plus()), made)


class _Loop:
    """A compilation of the loop, and executions of it."""

    def __init__(self, context: CaseContext, vector: Vector, devices: tuple[int, ...] = ()) -> None:
        self.app = RuntimeApp(context)
        self._vector = vector
        self._wire = build_model(vector, self.app.level).model
        self._compilation = self.app.finished_compilation(self.app.built(self._wire), devices)

    def run(self, a: float, b: float, timeout: int | None = None, way: str = "compute") -> tuple[int, float]:
        """Execute; returns the result code, and a after the loop. timeout: nanoseconds, None for the default."""
        example = Example({"a": _floats(a), "b": _floats(b)}, {"end": _floats(0)})
        built = build_request(self._vector, example, self.app.level)
        arguments, execution = Arguments(self.app, self._wire, built), self.app.execution(self._compilation)
        arguments.set(execution)
        if timeout is not None:
            self.app.succeed("execution_set_loop_timeout", execution, timeout)
        code = compute(self.app, way, execution, self._compilation)
        return code, float(built.read("end", arguments.collect(), (1,))[0])

    def aborts(self, timeout: int | None, longest_ns: int, way: str = "compute") -> float:
        """See a loop that never ends aborted before the longest time; returns the seconds that it ran."""
        started = time.monotonic()
        code, _ = self.run(-1, 0, timeout, way)
        elapsed = time.monotonic() - started
        checks.member(code, MISSED, "result of a loop without end")
        latest = longest_ns / 1e9 * max(self.app.context.manifest.time_scale, 1.0)
        checks.that(elapsed < latest, f"aborted after {elapsed:.3f} s: expected less than {latest:g} s")
        return elapsed

    def ends(self, timeout: int | None = None, way: str = "compute") -> None:
        """See a loop that ends by itself end."""
        code, end = self.run(0, 1, timeout, way)
        self.app.expect("the loop of one round", code)
        checks.equal(end, 1.0, "a after the loop")


@cases.case("WHILE.rounds", "FW-GEN-001", since=_SINCE)
def rounds(context: CaseContext) -> None:
    """One compiled loop runs without any round, for one, and for many, as its inputs say."""
    run(context, _loop([(5, 1, 5), (1, 1, 1), (0, 3, 3), (-7, 2, 3), (-50, 0.5, 0.5), (2, -1, 2)]))


@cases.case("WHILE.endless_is_aborted", "FW-QOS-003", "FW-PRT-012", since=_SINCE)
def endless_is_aborted(context: CaseContext) -> None:
    """A loop that never ends is aborted by its timeout of a millisecond, long before the default one would."""
    loop = _Loop(context, _loop())
    for way in ways(loop.app.level):
        with context.configuration(way):
            loop.aborts(_MILLISECOND, DEFAULT_LOOP_TIMEOUT_NS, way)
            loop.ends(way=way)


@cases.case("WHILE.endless_on_cpu", "FW-QOS-003", "FW-PRT-012", since=_SINCE)
def endless_on_cpu(context: CaseContext) -> None:
    """The same where the app names the CPU."""
    app = RuntimeApp(context)
    loop = _Loop(context, _loop(), (app.cpu(),))
    loop.aborts(_MILLISECOND, DEFAULT_LOOP_TIMEOUT_NS)
    loop.ends()


@cases.case("WHILE.default_timeout", "FW-QOS-004", "FW-QOS-003", since=_SINCE)
def default_timeout(context: CaseContext) -> None:
    """Without a timeout of its own an endless loop runs for two seconds, and not for the longest timeout."""
    elapsed = _Loop(context, _loop()).aborts(None, MAXIMUM_LOOP_TIMEOUT_NS)
    checks.that(elapsed >= DEFAULT_LOOP_TIMEOUT_NS / 1e9, f"aborted after {elapsed:.3f} s: expected 2 s")


@cases.case("WHILE.timeouts", "FW-QOS-004", since=_SINCE)
def timeouts(context: CaseContext) -> None:
    """The default timeout of loops is two seconds, the longest one fifteen."""
    app = RuntimeApp(context)
    checks.equal(app.call("get_default_loop_timeout"), DEFAULT_LOOP_TIMEOUT_NS, "default loop timeout in ns")
    checks.equal(app.call("get_maximum_loop_timeout"), MAXIMUM_LOOP_TIMEOUT_NS, "longest loop timeout in ns")


@cases.case("WHILE.long_timeouts", "FW-EXE-010", since=_SINCE)
def long_timeouts(context: CaseContext) -> None:
    """A timeout above the longest is lowered without error, and a loop that ends is not disturbed by any."""
    loop = _Loop(context, _loop())
    for name, timeout in {
        "second": 1000 * _MILLISECOND,
        "maximum": MAXIMUM_LOOP_TIMEOUT_NS,
        "above": MAXIMUM_LOOP_TIMEOUT_NS + 1,
        "largest": 2**64 - 1,
    }.items():
        with context.configuration(name):
            loop.ends(timeout)


@cases.case("WHILE.last_timeout_counts", "FW-QOS-003", "FW-EXE-010", since=_SINCE)
def last_timeout_counts(context: CaseContext) -> None:
    """Of two timeouts the one that was set last counts, and each execution has its own."""
    loop = _Loop(context, _loop())
    app, vector = loop.app, _loop()
    wire = build_model(vector, app.level).model
    compilation = app.finished_compilation(app.built(wire))
    example = Example({"a": _floats(-1), "b": _floats(0)}, {"end": _floats(0)})
    arguments, execution = (
        Arguments(app, wire, build_request(vector, example, app.level)),
        app.execution(compilation),
    )
    arguments.set(execution)
    for timeout in (MAXIMUM_LOOP_TIMEOUT_NS, _MILLISECOND):
        app.succeed("execution_set_loop_timeout", execution, timeout)
    started = time.monotonic()
    checks.member(app.compute(execution), MISSED, "result of a loop without end")
    latest = DEFAULT_LOOP_TIMEOUT_NS / 1e9 * max(context.manifest.time_scale, 1.0)
    checks.that(time.monotonic() - started < latest, "the loop ran longer than its last timeout allows")


@cases.case("WHILE.endless_inside", "FW-QOS-003", since=_SINCE)
def endless_inside(context: CaseContext) -> None:
    """An endless loop in the branch of an IF is aborted; the other branch ends."""
    import numpy

    loop = _loop()
    branch = Graph(loop.operands, loop.operations, loop.inputs, loop.outputs)
    first = _graph(
        {"a": _FLOAT, "b": _FLOAT, "act": _number(0), "end": _FLOAT},
        _step("ADD", "a b act", "end"),
        inputs="a b",
        outputs="end",
    )
    operands = {"is": _TRUTH, "then": _reference(2), "else": _reference(3), "a": _FLOAT, "b": _FLOAT, "end": _FLOAT}
    main = _graph(operands, _step("IF", "is then else a b", "end"), inputs="is a b", outputs="end")
    vector = _model("endless_inside", main, (_BELOW, _plus(), branch, first))
    app = RuntimeApp(context)
    wire = build_model(vector, app.level).model
    compilation = app.finished_compilation(app.built(wire))
    for name, is_loop in {"loop": True, "other": False}.items():
        with context.configuration(name):
            inputs = {"is": numpy.array([is_loop]), "a": _floats(-1), "b": _floats(0)}
            built = build_request(vector, Example(inputs, {"end": _floats(0)}), app.level)
            arguments, execution = Arguments(app, wire, built), app.execution(compilation)
            arguments.set(execution)
            app.succeed("execution_set_loop_timeout", execution, _MILLISECOND)
            code = app.compute(execution)
            checks.member(code, MISSED if is_loop else (ResultCode.NO_ERROR,), "result")


@cases.case("WHILE.nested", "FW-GEN-001", "FW-PRT-006", since=_SINCE)
def nested(context: CaseContext) -> None:
    """An IF in the body of a WHILE in the branch of an IF: which branch runs differs from round to round."""
    run(context, _nested())


def _nested() -> Vector:
    """IF is: WHILE a < b: (IF a < -1: a += 3, else a += 1); else a + b."""
    import numpy

    below = {"a": _FLOAT, "b": _FLOAT, "bound": _constant(-1), "is": _TRUTH}
    then, otherwise = _plus_constant(3), _plus_constant(1)
    body = _graph(
        {**below, "then": _reference(1), "else": _reference(2), "more": _FLOAT},
        _step("LESS", "a bound", "is"),
        _step("IF", "is then else a", "more"),
        inputs="a b",
        outputs="more",
    )
    looping = _graph(
        {"condition": _reference(0), "body": _reference(3), "a": _FLOAT, "b": _FLOAT, "end": _FLOAT},
        _step("WHILE", "condition body a b", "end"),
        inputs="a b",
        outputs="end",
    )
    operands = {"is": _TRUTH, "then": _reference(4), "else": _reference(5), "a": _FLOAT, "b": _FLOAT, "end": _FLOAT}
    main = _graph(operands, _step("IF", "is then else a b", "end"), inputs="is a b", outputs="end")
    rows = ((True, -8.0, 4.0, 4.0), (True, -2.5, 1.0, 1.5), (True, 3.0, 1.0, 3.0), (False, -8.0, 4.0, -4.0))
    examples = [
        Example({"is": numpy.array([is_so]), "a": _floats(a), "b": _floats(b)}, {"end": _floats(end)})
        for is_so, a, b, end in rows
    ]
    return _model("nested", main, (_BELOW, then, otherwise, body, looping, _plus()), examples)


def _constant(value: float) -> VectorOperand:
    return VectorOperand(OperandType.TENSOR_FLOAT32, (1,), value=_floats(value))


def _plus_constant(value: float) -> Graph:
    operands = {"a": _FLOAT, "one": _constant(value), "act": _number(0), "more": _FLOAT}
    return _graph(operands, _step("ADD", "a one act", "more"), inputs="a", outputs="more")


@cases.case("IF.shapes_of_branches", "FW-GEN-004", "FW-EXE-017", since=_SINCE)
def shapes_of_branches(context: CaseContext) -> None:
    """The shape of an output is that of the branch that ran: the input, or the input twice over."""
    import numpy

    vector = _doubling_branch()
    app = RuntimeApp(context)
    wire = build_model(vector, app.level).model
    compilation = app.finished_compilation(app.built(wire))
    for name, is_twice in {"twice": True, "once": False}.items():
        with context.configuration(name):
            data = (1.0, 2.0, 3.0)
            expected = data * 2 if is_twice else data
            inputs = {"is": numpy.array([is_twice]), "a": _floats(*data)}
            built = build_request(vector, Example(inputs, {"end": _floats(*data * 2)}), app.level)
            arguments, execution = Arguments(app, wire, built), app.execution(compilation)
            arguments.set(execution)
            app.expect("execution_compute", app.compute(execution))
            checks.equal(output_shape(app, execution, 0, rank=1), (len(expected),), "dimensions of the output")
            found = tuple(built.read("end", arguments.collect(), (len(expected),)))
            checks.equal(found, expected, "the output")


def _doubling_branch() -> Vector:
    twice = _graph(
        {"a": _OPEN, "axis": _number(0), "end": _OPEN},
        _step("CONCATENATION", "a a axis", "end"),
        inputs="a",
        outputs="end",
    )
    once = _graph(
        {"a": _OPEN, "zero": _constant(0), "act": _number(0), "end": _OPEN},
        _step("ADD", "a zero act", "end"),
        inputs="a",
        outputs="end",
    )
    operands = {"is": _TRUTH, "then": _reference(0), "else": _reference(1), "a": _OPEN, "end": _OPEN}
    main = _graph(operands, _step("IF", "is then else a", "end"), inputs="is a", outputs="end")
    return _model("doubling_branch", main, (twice, once))


@cases.case("WHILE.growing", "FW-GEN-004", "FW-PRT-015", since=_SINCE)
def growing(context: CaseContext) -> None:
    """A loop whose body doubles a vector of open size: how long it becomes the number of rounds says."""
    run(context, _growing())


def _growing() -> Vector:
    """WHILE count < bound: data = data ++ data, count += 1."""
    condition = _graph(
        {"data": _OPEN, "count": _FLOAT, "bound": _FLOAT, "is": _TRUTH},
        _step("LESS", "count bound", "is"),
        inputs="data count bound",
        outputs="is",
    )
    body = _graph(
        {
            "data": _OPEN, "count": _FLOAT, "bound": _FLOAT, "axis": _number(0), "one": _constant(1), "act": _number(0),
            "longer": _OPEN, "more": _FLOAT,
        },
        _step("CONCATENATION", "data data axis", "longer"), _step("ADD", "count one act", "more"),
        inputs="data count bound", outputs="longer more",
    )  # fmt: skip
    operands = {
        "condition": _reference(0),
        "body": _reference(1),
        "data": VectorOperand(OperandType.TENSOR_FLOAT32, (2,)),
        "count": _FLOAT,
        "bound": _FLOAT,
        "end": _OPEN,
    }
    operands["data"] = _OPEN
    main = _graph(
        operands, _step("WHILE", "condition body data count bound", "end"), inputs="data count bound", outputs="end"
    )
    examples = [
        Example(
            {"data": _floats(1, 2), "count": _floats(0), "bound": _floats(rounds)},
            {"end": _floats(*(1.0, 2.0) * 2**rounds)},
        )
        for rounds in (0, 1, 4)
    ]
    return _model("growing", main, (condition, body), examples)
