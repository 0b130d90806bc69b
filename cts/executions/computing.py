"""The ways to compute give the same results, of the values that lie there when the computation starts."""

from __future__ import annotations

from npu_conformance.cts.lib.runtime.fixture import VECTOR_BYTES, RuntimeApp
from npu_conformance.cts.lib.runtime.sums import (
    FIRST,
    SECOND,
    compilation_of_sum,
    devices_to_name,
    execution_of_sum,
    failing_compilation,
    failing_execution,
    need_sum,
)
from npu_conformance.cts.lib.runtime.ways import WAYS, compute, ways
from npu_conformance.harness.judge import checks
from npu_conformance.harness.run.cases import CaseGroup, Scope
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.specs.neuralnetworks.runtime.result_codes import ResultCode
from npu_conformance.specs.versions import Version

cases = CaseGroup("cts.executions.computing", interface="runtime")

_OTHER, _OTHER_TOTAL = (8.0, 16.0), (8.25, 20.0)


@cases.case("ways", "FW-GEN-001", "FW-EXE-012", "FW-EXE-013", scope=Scope.SMOKE)
def every_way(context: CaseContext) -> None:
    """Every way to compute gives the sum."""
    app = RuntimeApp(context)
    compilation = compilation_of_sum(app)
    for way in ways(app.level):
        with context.configuration(way, requirements=WAYS[way].requirements):
            execution_of_sum(app, compilation).computes(way)


@cases.case("explicit_device", "FW-GEN-001", "FW-PRT-017", since=Version.V1_2)
def explicit_device(context: CaseContext) -> None:
    """Every way gives the sum on each device that is named alone, where it supports ADD; the CPU does."""
    app = RuntimeApp(context)
    model = app.finished_model()
    for name, device in devices_to_name(app).items():
        for way in ways(app.level):
            with context.configuration(f"{name}.{way}"):
                need_sum(app, model, device)
                compilation = app.finished_compilation(model, (device,))
                execution_of_sum(app, compilation).computes(way)


@cases.case("late_values", "FW-GEN-001")
def late_values(context: CaseContext) -> None:
    """What lies behind the pointers when the computation starts is computed, not what lay there when they were set."""
    app = RuntimeApp(context)
    compilation = compilation_of_sum(app)
    for way in ways(app.level):
        with context.configuration(way):
            made = execution_of_sum(app, compilation)
            made.put(_OTHER)
            made.computes(way, _OTHER_TOTAL)


@cases.case("one_after_the_other", "FW-GEN-001", "FW-GEN-002")
def one_after_the_other(context: CaseContext) -> None:
    """Executions of one compilation in turn, each in another way and with other values, do not disturb each other."""
    app = RuntimeApp(context)
    compilation = compilation_of_sum(app)
    for number, way in enumerate((*ways(app.level), *reversed(ways(app.level)))):
        first = (float(number), number + 0.5)
        execution_of_sum(app, compilation, first).computes(way, (number + 0.25, number + 4.5))


@cases.case("once", "FW-EXE-002")
def once(context: CaseContext) -> None:
    """An execution that was computed is not computed again, in whichever way; its result stays."""
    app = RuntimeApp(context)
    compilation = compilation_of_sum(app)
    for first in ways(app.level):
        with context.configuration(first):
            made = execution_of_sum(app, compilation)
            made.computes(first)
            for second in ways(app.level):
                code = compute(app, second, made.execution, compilation)
                app.expect(f"{second} of an execution that {first} has computed", code, ResultCode.BAD_STATE)
            made.check()


@cases.case("reusable", "FW-EXE-003", since=Version.FL5)
def reusable(context: CaseContext) -> None:
    """A reusable execution computes again and again, in any way, what then lies behind its pointers."""
    app = RuntimeApp(context)
    compilation = compilation_of_sum(app)
    for first in ways(app.level):
        with context.configuration(first):
            made = execution_of_sum(app, compilation, reusable=True)
            made.computes(first)
            for second in ways(app.level):
                made.put(_OTHER)
                made.computes(second, _OTHER_TOTAL)
                made.put(FIRST)
                made.computes(first)


@cases.case("reusable_is_frozen", "FW-EXE-003", since=Version.FL5)
def reusable_is_frozen(context: CaseContext) -> None:
    """The arguments of a reusable execution stay as they are once it was computed."""
    app = RuntimeApp(context)
    made = execution_of_sum(app, compilation_of_sum(app), reusable=True)
    made.computes()
    app.refused("execution_set_input", ResultCode.BAD_STATE, made.execution, 0, None, made.first, VECTOR_BYTES)
    app.refused("execution_set_output", ResultCode.BAD_STATE, made.execution, 0, None, made.output, VECTOR_BYTES)
    app.refused("execution_set_reusable", ResultCode.BAD_STATE, made.execution, False)
    made.computes()


@cases.case("inputs_are_kept", "FW-GEN-001")
def inputs_are_kept(context: CaseContext) -> None:
    """An execution leaves its inputs as they are."""
    app = RuntimeApp(context)
    compilation = compilation_of_sum(app)
    for way in ways(app.level):
        with context.configuration(way):
            made = execution_of_sum(app, compilation)
            before = [app.memory.read(pointer, VECTOR_BYTES) for pointer in (made.first, made.second)]
            made.computes(way)
            after = [app.memory.read(pointer, VECTOR_BYTES) for pointer in (made.first, made.second)]
            checks.equal(after, before, "bytes of the inputs")


@cases.case("same_input_twice", "FW-GEN-001")
def same_input_twice(context: CaseContext) -> None:
    """Both inputs may lie at the same place."""
    app = RuntimeApp(context)
    compilation = compilation_of_sum(app)
    for way in ways(app.level):
        with context.configuration(way):
            made = execution_of_sum(app, compilation, FIRST)
            twice = execution_of_sum(app, compilation, made.first, made.first)
            twice.computes(way, (3.0, -4.0))


@cases.case("unset_arguments", "FW-EXE-011")
def unset_arguments(context: CaseContext) -> None:
    """An execution without one of its arguments is refused in every way."""
    app = RuntimeApp(context)
    compilation = compilation_of_sum(app)
    for way in ways(app.level):
        with context.configuration(way):
            for missing in ("input", "output"):
                execution = app.execution(compilation)
                app.set_inputs(execution) if missing == "output" else app.set_output(execution)
                code = compute(app, way, execution, compilation)
                app.expect(f"{way} without an {missing}", code, ResultCode.BAD_DATA)


@cases.case("failure_is_told", "FW-EXE-013", "FW-EXE-012", "FW-GEN-005")
def failure_is_told(context: CaseContext) -> None:
    """A failure at run time is told in every way, and neither the compilation nor later executions suffer."""
    app = RuntimeApp(context)
    compilation = failing_compilation(app)
    for way in ways(app.level):
        with context.configuration(way):
            code = compute(app, way, failing_execution(app, compilation), compilation)
            checks.that(code != ResultCode.NO_ERROR, f"{way} of what cannot be computed: expected a failure")
            good = failing_execution(app, compilation, elements=4)
            app.expect(f"{way} after a failure", compute(app, way, good, compilation))


@cases.case("unrelated_sums", "FW-GEN-001", "FW-EXE-016")
def unrelated_sums(context: CaseContext) -> None:
    """Executions of two compilations of one model take turns."""
    app = RuntimeApp(context)
    model = app.finished_model()
    compilations = [app.finished_compilation(model) for _ in range(2)]
    for way in ways(app.level):
        with context.configuration(way):
            made = [execution_of_sum(app, each) for each in compilations]
            made[1].put(_OTHER, SECOND)
            made[0].computes(way)
            made[1].computes(way, _OTHER_TOTAL)
            made[0].check()
