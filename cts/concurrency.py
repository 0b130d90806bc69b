"""Several threads of one app at once: own and shared compilations, bursts, models that are built."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import cast

from npu_conformance.corpus import vectors
from npu_conformance.corpus.vectors import Vector
from npu_conformance.corpus.wire_model import build_model, build_request
from npu_conformance.cts.lib.runtime.arguments import Arguments
from npu_conformance.cts.lib.runtime.fixture import RuntimeApp
from npu_conformance.cts.lib.runtime.sums import Sum, compilation_of_sum, execution_of_sum
from npu_conformance.cts.lib.runtime.ways import WAYS, compute, ways
from npu_conformance.harness.judge import checks
from npu_conformance.harness.judge.outputs import judge
from npu_conformance.harness.run.cases import CaseGroup
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.specs.neuralnetworks.runtime.result_codes import ResultCode
from npu_conformance.specs.versions import Version

cases = CaseGroup("cts.concurrency", interface="runtime")

_THREADS = 10
_OPERATIONS = ("ADD", "CONV_2D", "SOFTMAX", "LSTM", "RESHAPE", "WHILE", "TOPK_V2", "MAX_POOL_2D")


class _Work:
    """One vector: its model, and executions of it that threads can make."""

    def __init__(self, context: CaseContext, app: RuntimeApp, vector: Vector) -> None:
        self._context, self._app, self._vector = context, app, vector
        self._wire = build_model(vector, app.level).model
        self._built = build_request(vector, vector.examples[0], app.level)

    def compiled(self) -> int:
        """Build and compile the model."""
        return self._app.finished_compilation(self._app.built(self._wire))

    def executed(self, compilation: int, way: str) -> Callable[[], bytes]:
        """Make ready to execute; the call computes, and returns the bytes of the outputs."""
        execution, arguments = self._app.execution(compilation), Arguments(self._app, self._wire, self._built)
        arguments.set(execution)
        arguments.clear()

        def run() -> bytes:
            self._app.expect(way, compute(self._app, way, execution, compilation))
            return arguments.collect()

        return run

    def judged(self, contents: Sequence[object]) -> None:
        """Compare what all threads have computed with the expected values, and with each other."""
        example = self._vector.examples[0]
        for content in contents:
            checks.that(isinstance(content, bytes), f"a call at once with others failed: {content!r}")
            assert isinstance(content, bytes)
            shapes = {name: array.shape for name, array in example.outputs.items()}
            outputs = {name: self._built.read(name, content, shape) for name, shape in shapes.items()}
            judge(self._context, self._vector, example, outputs, about=lambda vector, output: ("FW-GEN-008",))


def _works(context: CaseContext, app: RuntimeApp) -> dict[str, _Work]:
    """The first vector of each of several operations, as far as the feature level has them."""
    found = {}
    for operation in _OPERATIONS:
        headers = [each for each in vectors.headers(operation) if not each.rejected and each.since <= app.level]
        if headers:
            found[operation] = _Work(context, app, vectors.load(operation, headers[0].name))
    return found


@cases.case("threads.shared_compilation", "FW-GEN-008")
def shared_compilation(context: CaseContext) -> None:
    """Ten threads execute one compilation at once, and all get the right values."""
    app = RuntimeApp(context)
    for name, work in _works(context, app).items():
        with context.configuration(name):
            compilation = work.compiled()
            known = ways(app.level, finding_shapes=True)
            calls = [work.executed(compilation, known[number % len(known)]) for number in range(_THREADS)]
            work.judged(context.run_concurrently(calls))


@cases.case("threads.own_compilations", "FW-GEN-008", "FW-MDL-029")
def own_compilations(context: CaseContext) -> None:
    """Ten threads build, compile and execute models of their own at once, and all get the right values."""
    app = RuntimeApp(context)
    for name, work in _works(context, app).items():
        with context.configuration(name):

            def run(work: _Work = work) -> bytes:
                return work.executed(work.compiled(), ways(app.level)[0])()

            work.judged(context.run_concurrently([run] * _THREADS))


@cases.case("threads.different_models", "FW-GEN-008")
def different_models(context: CaseContext) -> None:
    """Threads that execute different models at once do not disturb each other."""
    app = RuntimeApp(context)
    works = list(_works(context, app).values())
    calls = [work.executed(work.compiled(), ways(app.level)[0]) for work in works]
    for work, content in zip(works, context.run_concurrently(calls), strict=True):
        work.judged([content])


@cases.case("threads.shared_model", "FW-MDL-029", "FW-GEN-008")
def shared_model(context: CaseContext) -> None:
    """Ten threads compile one finished model at once, and execute their compilations."""
    app = RuntimeApp(context)
    model = app.finished_model()

    def run() -> int:
        execution_of_sum(app, app.finished_compilation(model)).computes()
        return ResultCode.NO_ERROR

    checks.equal(context.run_concurrently([run] * _THREADS), [ResultCode.NO_ERROR] * _THREADS, "results")


@cases.case("threads.ways_at_once", "FW-GEN-008", "FW-GEN-001")
def ways_at_once(context: CaseContext) -> None:
    """Executions of one compilation in all ways at once give their own sums."""
    app = RuntimeApp(context)
    compilation, rounds = compilation_of_sum(app), 3
    made = [execution_of_sum(app, compilation, (float(number), 1.0)) for number in range(rounds * len(ways(app.level)))]
    known = ways(app.level) * rounds
    calls = [_computing(app, each, way) for each, way in zip(made, known, strict=True)]
    results = context.run_concurrently(calls)
    checks.equal(results, [ResultCode.NO_ERROR] * len(calls), "results of executions at once")
    for number, each in enumerate(made):
        each.check((number + 0.25, 5.0))


def _computing(app: RuntimeApp, made: Sum, way: str) -> Callable[[], int]:
    return lambda: compute(app, way, made.execution, made.compilation)


@cases.case("threads.parallel_bursts", "FW-GEN-008", "FW-EXE-015", since=Version.V1_2)
def parallel_bursts(context: CaseContext) -> None:
    """Threads with bursts of their own over one compilation execute at once, several times each."""
    app = RuntimeApp(context)
    compilation = compilation_of_sum(app)
    bursts = [app.made("burst_create", compilation, True) for _ in range(4)]

    def worker(number: int) -> Callable[[], int]:
        made = [execution_of_sum(app, compilation, (float(number), float(turn))) for turn in range(5)]

        def run() -> int:
            for turn, each in enumerate(made):
                app.succeed("execution_burst_compute", each.execution, bursts[number])
                each.check((number + 0.25, turn + 4.0))
            return ResultCode.NO_ERROR

        return run

    results = context.run_concurrently([worker(number) for number in range(len(bursts))])
    checks.equal(results, [ResultCode.NO_ERROR] * len(bursts), "results of parallel bursts")


@cases.case("threads.started_by_threads", "FW-GEN-008", "FW-EXE-013")
def started_by_threads(context: CaseContext) -> None:
    """Threads start executions, and other threads wait for their events."""
    app = RuntimeApp(context)
    compilation = compilation_of_sum(app)
    made = [execution_of_sum(app, compilation, (float(number), 1.0)) for number in range(6)]
    starts = [_starting(app, each) for each in made]
    events = context.run_concurrently(starts)
    waits = [partial(app.call, "event_wait", event) for event in reversed(events) if isinstance(event, int)]
    results = context.run_concurrently(waits)
    checks.equal(results, [ResultCode.NO_ERROR] * len(made), "results of events")
    for number, each in enumerate(made):
        each.check((number + 0.25, 5.0))


def _starting(app: RuntimeApp, made: Sum) -> Callable[[], int]:
    return lambda: app.made("execution_start_compute", made.execution, True)


@cases.case("threads.reusable_while_running", "FW-EXE-003", since=Version.FL5)
def reusable_while_running(context: CaseContext) -> None:
    """Of calls that compute one reusable execution at once, each succeeds alone or is refused with BAD_STATE."""
    app = RuntimeApp(context)
    made = execution_of_sum(app, compilation_of_sum(app), reusable=True)
    for way in WAYS:
        with context.configuration(way):
            results = context.run_concurrently([_computing(app, made, way)] * 4)
            for result in results:
                app.expect("one of four calls", cast(int, result), ResultCode.NO_ERROR, ResultCode.BAD_STATE)
            checks.that(ResultCode.NO_ERROR in results, "four calls at once: expected that one succeeds")
            made.computes(way)
