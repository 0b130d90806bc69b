"""Bursts: executions of one compilation over one object, and the order in which objects are freed."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from npu_conformance.cts.lib.runtime.fixture import RuntimeApp
from npu_conformance.cts.lib.runtime.lasting import outlasting, pending
from npu_conformance.cts.lib.runtime.nets import add
from npu_conformance.cts.lib.runtime.scripted_app import ScriptedApp
from npu_conformance.cts.lib.runtime.scripts import FAST, driver, misbehaving
from npu_conformance.cts.lib.runtime.sums import (
    FIRST,
    SECOND,
    Sum,
    compilation_of_sum,
    execution_of_sum,
    packed,
    unpacked,
)
from npu_conformance.harness.judge import checks
from npu_conformance.harness.nnapi.machine_told import Watched
from npu_conformance.harness.run.cases import CaseGroup
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.harness.subject.pools import Pool
from npu_conformance.specs.errors import InterfaceError
from npu_conformance.specs.neuralnetworks.enums import ExecutionPreference
from npu_conformance.specs.neuralnetworks.runtime.result_codes import ResultCode
from npu_conformance.specs.versions import Version

cases = CaseGroup("cts.executions.bursts", interface="runtime")

_MANY = 50
"""More memories than a burst of HIDL has slots for in Android's runtime, or a driver keeps mapped."""


@cases.case("many", "FW-GEN-001", since=Version.V1_2)
def many(context: CaseContext) -> None:
    """Executions one after the other over one burst give their own results, whatever the preference."""
    app = RuntimeApp(context)
    model = app.finished_model()
    for preference in ExecutionPreference:
        with context.configuration(preference.name.lower()):
            compilation = app.compilation(model)
            app.succeed("compilation_set_preference", compilation, preference)
            app.succeed("compilation_finish", compilation)
            burst = app.made("burst_create", compilation, True)
            for number in range(8):
                made = execution_of_sum(app, compilation, (float(number), 1.0))
                app.succeed("execution_burst_compute", made.execution, burst)
                made.check((number + SECOND[0], 1.0 + SECOND[1]))


@cases.case("new_memories", "FW-GEN-001", "FW-EXE-016", since=Version.V1_2)
def new_memories(context: CaseContext) -> None:
    """Executions over one burst, each with memories of its own for all arguments, have their own values."""
    for hal in (Version.V1_2, Version.V1_3, Version.FL8):
        app = ScriptedApp(context, driver("one", hal=hal, exec_time=FAST))
        compiled = app.compiled(add(), "one")
        burst = app.made("burst_create", compiled.handle, True)
        for turn in range(_MANY // 3):
            made, inputs = pending(app, compiled), {name: array * turn for name, array in compiled.net.inputs.items()}
            made.fill(inputs)
            app.succeed("execution_burst_compute", made.execution, burst)
            made.check(inputs)
        app.close()


@cases.case("measured_now_and_then", "FW-EXE-019", "FW-GEN-001", since=Version.V1_2)
def measured_now_and_then(context: CaseContext) -> None:
    """Whether an execution over a burst is measured is said for each, also where all arguments are those of before."""
    for hal in (Version.V1_2, Version.V1_3, Version.FL8):
        with context.configuration(hal.name.lower()):
            app = ScriptedApp(context, driver("one", hal=hal, exec_time=FAST))
            compiled = app.compiled(add(), "one")
            burst, made = app.made("burst_create", compiled.handle, True), pending(app, compiled)
            asked = (False, True, True, False, True)
            for number, measure in enumerate(asked):
                execution = made.again() if number else made.execution
                app.succeed("execution_set_measure_timing", execution, measure)
                app.succeed("execution_burst_compute", execution, burst)
                made.check(compiled.net.inputs)
            found = tuple(call.measure_timing for call in app.executions("one"))
            checks.equal(found, asked, "whether the driver was asked to measure")
            app.close()


@cases.case("several", "FW-GEN-001", since=Version.V1_2)
def several(context: CaseContext) -> None:
    """Two bursts of one compilation take turns; what one has computed the other does not touch."""
    app = RuntimeApp(context)
    compilation = compilation_of_sum(app)
    bursts = [app.made("burst_create", compilation, True) for _ in range(2)]
    made = [execution_of_sum(app, compilation, (float(number), 1.0)) for number in range(6)]
    for number, each in enumerate(made):
        app.succeed("execution_burst_compute", each.execution, bursts[number % 2])
    for number, each in enumerate(made):
        each.check((number + SECOND[0], 1.0 + SECOND[1]))


@cases.case("reusable", "FW-EXE-003", since=Version.FL5)
def reusable(context: CaseContext) -> None:
    """A reusable execution computes again over the same burst, and over another one."""
    app = RuntimeApp(context)
    compilation = compilation_of_sum(app)
    bursts = [app.made("burst_create", compilation, True) for _ in range(2)]
    made = execution_of_sum(app, compilation, reusable=True)
    for number in range(6):
        made.put((float(number), 1.0))
        app.succeed("execution_burst_compute", made.execution, bursts[number // 2 % 2])
        made.check((number + SECOND[0], 1.0 + SECOND[1]))


@cases.case("other_compilation", "FW-EXE-014", since=Version.V1_2)
def other_compilation(context: CaseContext) -> None:
    """A burst of another compilation, even of the same model, is refused; the execution can still be computed."""
    app = RuntimeApp(context)
    model = app.finished_model()
    compilations = [app.finished_compilation(model) for _ in range(2)]
    burst = app.made("burst_create", compilations[0], True)
    made = execution_of_sum(app, compilations[1])
    app.refused("execution_burst_compute", ResultCode.BAD_DATA, made.execution, burst)
    made.computes()


def _computing(app: RuntimeApp, made: Sum, burst: int) -> Callable[[], int]:
    return lambda: int(app.call("execution_burst_compute", made.execution, burst))


@cases.case("in_use", "FW-EXE-015", since=Version.V1_2)
def in_use(context: CaseContext) -> None:
    """Of executions that are computed at once over one burst each succeeds, or is refused with BAD_STATE."""
    app = RuntimeApp(context)
    compilation = compilation_of_sum(app)
    burst = app.made("burst_create", compilation, True)
    made = [execution_of_sum(app, compilation) for _ in range(4)]
    results = context.run_concurrently([_computing(app, each, burst) for each in made])
    for each, result in zip(made, results, strict=True):
        if isinstance(result, InterfaceError):
            raise result
        app.expect("execution_burst_compute", result, ResultCode.NO_ERROR, ResultCode.BAD_STATE)
        if result == ResultCode.NO_ERROR:
            each.check()
    checks.that(ResultCode.NO_ERROR in results, "four executions over one burst: expected that one succeeds")
    after = execution_of_sum(app, compilation)
    app.succeed("execution_burst_compute", after.execution, burst)
    after.check()


@cases.case("two_at_once", "FW-EXE-015", "FW-GEN-008", since=Version.V1_2)
def two_at_once(context: CaseContext) -> None:
    """A burst that is in use keeps no other one of its compilation from executing, on a driver of each generation."""
    for hal in (Version.V1_2, Version.V1_3, Version.FL8):
        with context.configuration(hal.name.lower()):
            holds = driver("one", hal=hal, exec_time=FAST, **misbehaving("execute", "blocks"))
            app = ScriptedApp(context, holds)
            compilation = compilation_of_sum(app, devices=app.named("one"))
            made = [execution_of_sum(app, compilation, (float(number), 1.0)) for number in range(2)]
            calls = [_computing(app, each, app.made("burst_create", compilation, True)) for each in made]
            codes = outlasting(app, calls, partial(app.control.release, "one"), asked="one")
            checks.equal(codes, [ResultCode.NO_ERROR] * 2, "results of executions over two bursts at once")
            for number, each in enumerate(made):
                each.check((number + SECOND[0], 1.0 + SECOND[1]))
            app.close()


def _computed_in_memory(app: RuntimeApp, compilation: int, burst: int) -> tuple[int, Pool]:
    """Compute over a burst with all arguments in one memory object; returns the memory."""
    memory, pool = app.shared_memory(24)
    _compute_in(app, compilation, burst, (memory, pool), FIRST)
    return memory, pool


def _compute_in(
    app: RuntimeApp, compilation: int, burst: int, memory_of_pool: tuple[int, Pool], first: tuple[float, float]
) -> None:
    """Compute over a burst with all arguments in a memory object, check the sum, and free the execution."""
    memory, pool = memory_of_pool
    pool.write(0, packed(first) + packed(SECOND))
    execution = app.execution(compilation)
    for index in range(2):
        app.succeed("execution_set_input_from_memory", execution, index, None, memory, 8 * index, 8)
    app.succeed("execution_set_output_from_memory", execution, 0, None, memory, 16, 8)
    app.succeed("execution_burst_compute", execution, burst)
    app.free(execution)
    expected = tuple(one + two for one, two in zip(first, SECOND, strict=True))
    checks.equal(unpacked(pool.read(16, 8)), expected, "the sum")


@cases.case("freed_in_any_order", "FW-EXE-016", since=Version.V1_2)
def freed_in_any_order(context: CaseContext) -> None:
    """Memory that was used over a burst is freed before the burst, or behind it."""
    app = RuntimeApp(context)
    compilation = compilation_of_sum(app)
    for first in ("memory", "burst"):
        with context.configuration(f"{first}_first"):
            burst = app.made("burst_create", compilation, True)
            memory, _ = _computed_in_memory(app, compilation, burst)
            for handle in (memory, burst) if first == "memory" else (burst, memory):
                app.free(handle)
            execution_of_sum(app, compilation).computes("burst")


@cases.case("memory_comes_and_goes", "FW-EXE-016", since=Version.V1_2)
def memory_comes_and_goes(context: CaseContext) -> None:
    """A burst goes on with new memory where that of earlier executions is freed."""
    app = RuntimeApp(context)
    compilation = compilation_of_sum(app)
    burst = app.made("burst_create", compilation, True)
    for _ in range(6):
        memory, _ = _computed_in_memory(app, compilation, burst)
        app.free(memory)


@cases.case("names_of_memories", "FW-EXE-016", since=Version.FL5)
def names_of_memories(context: CaseContext) -> None:
    """Over a burst of AIDL one name is of one memory, whichever argument lies in it and however large it is."""
    app = ScriptedApp(context, driver("one", exec_time=FAST))
    watched = Watched(Version.FL8, lambda: app.control.driver_calls("one"))
    compilation = compilation_of_sum(app, devices=app.named("one"))
    burst = app.made("burst_create", compilation, True)
    memories = [app.shared_memory(size)[0] for size in (8, 8, 8, 64, 64)]
    known: dict[int, int] = {}
    for order in ((0, 1, 2), (2, 1, 0), (1, 0, 2), (3, 1, 4), (2, 4, 0), (4, 3, 1)):
        execution = app.execution(compilation)
        for role, index, number in (("input", 0, 0), ("input", 1, 1), ("output", 0, 2)):
            function = f"execution_set_{role}_from_memory"
            app.succeed(function, execution, index, None, memories[order[number]], 0, 8)
        app.succeed("execution_burst_compute", execution, burst)
        watched.judge_names(known)


@cases.case("unknown_slot", "FW-EXE-016", "FW-VER-001", since=Version.V1_2)
def unknown_slot(context: CaseContext) -> None:
    """A driver of HIDL that asks for the memory of a slot that was never given is refused, and the burst goes on."""
    for hal in (Version.V1_2, Version.V1_3):
        with context.configuration(hal.name.lower()):
            asks = misbehaving("configure_execution_burst_on_queues", "slots")
            app = ScriptedApp(context, driver("one", hal=hal, **asks))
            compilation = compilation_of_sum(app, devices=app.named("one"))
            burst = app.made("burst_create", compilation, True)
            for _ in range(2):
                made = execution_of_sum(app, compilation)
                app.succeed("execution_burst_compute", made.execution, burst)
                made.check()


@cases.case("many_memories", "FW-EXE-016", "FW-GEN-001", since=Version.V1_2)
def many_memories(context: CaseContext) -> None:
    """A burst on a driver of each generation sees more memories than one keeps, new ones and those of the beginning."""
    newer = (Version.V1_3, Version.FL5, Version.FL8)
    for hal in (Version.V1_2, *(hal for hal in newer if hal <= context.manifest.feature_level)):
        with context.configuration(hal.name.lower()):
            app = ScriptedApp(context, driver("one", hal=hal, exec_time=FAST))
            compilation = compilation_of_sum(app, devices=app.named("one"))
            burst = app.made("burst_create", compilation, True)
            memories = [app.shared_memory(24) for _ in range(_MANY)]
            for turn, number in enumerate((*range(_MANY), *range(_MANY // 2), 0, _MANY - 1)):
                _compute_in(app, compilation, burst, memories[number], (float(turn), 1.0))
            app.close()
