"""Execution hints: the forms with a configuration compute what the older ones do, whatever is hinted.

Each form that takes an ExecutionConfig is one entry of FORMS.
"""

from __future__ import annotations

from collections.abc import Callable

from msgspec.structs import replace

from npu_conformance.harness.judge import checks
from npu_conformance.harness.run.cases import CaseGroup
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.harness.run.executing.execution import Execution, answer_of, synchronous, timing_rules
from npu_conformance.specs.neuralnetworks.enums import MAXIMUM_LOOP_TIMEOUT_DURATION_NS, ErrorStatus
from npu_conformance.specs.neuralnetworks.hal import PreparedModel
from npu_conformance.specs.neuralnetworks.types import NO_DEADLINE, ExecutionConfig, Request
from npu_conformance.specs.versions import Version
from npu_conformance.vts.lib import addition
from npu_conformance.vts.lib.extensions import hints, models
from npu_conformance.vts.lib.extensions.hints import Hints

cases = CaseGroup("vts.extensions.execution_hints")

_NONE, _INVALID = ErrorStatus.NONE, ErrorStatus.INVALID_ARGUMENT
Form = Callable[[PreparedModel, Request, ExecutionConfig], Execution]
"""Executes a request with a configuration; a failure is an answer."""


def _synchronous(prepared_model: PreparedModel, request: Request, config: ExecutionConfig) -> Execution:
    return answer_of(lambda: prepared_model.execute_synchronously_with_config(request, config, NO_DEADLINE))


def _reusable(prepared_model: PreparedModel, request: Request, config: ExecutionConfig) -> Execution:
    """A rejection may come when the request is bound, or when it is run (NNHAL-EXECUTE-015)."""
    return answer_of(
        lambda: prepared_model.create_reusable_execution(request, config).execute_synchronously(NO_DEADLINE)
    )


FORMS: dict[str, Form] = {"synchronous": _synchronous, "reusable": _reusable}
"""Ways to execute with hints, by names that configurations begin with."""


@cases.case("none", "NNHAL-EXECUTE-012", since=Version.FL8)
def none(context: CaseContext) -> None:
    """Without hints a form computes what executeSynchronously does, with times where they are asked for."""
    chosen = addition.supported(context)
    prepared_model = chosen.prepared(context)
    for form, execute in FORMS.items():
        for measure in (False, True):
            with context.configuration(f"{form}.{'timed' if measure else 'untimed'}"):
                older, memory = _addition_memory(context, chosen), _addition_memory(context, chosen)
                expected = synchronous(prepared_model, older.request, measure=measure)
                checks.status(expected.status, {ErrorStatus.NONE}, "executeSynchronously")
                execution = execute(prepared_model, memory.request, ExecutionConfig(measure_timing=measure))
                checks.status(execution.status, {ErrorStatus.NONE}, "execution with a configuration without hints")
                if execution.output_shapes and expected.output_shapes:  # either may leave them out where they are known
                    checks.equal(execution.output_shapes, expected.output_shapes, "output shapes")
                checks.equal(memory.outputs(), older.outputs(), "outputs")
                timing_rules(context, execution, measured=measure)


@cases.case("refusals", "NNHAL-EXECUTE-012", since=Version.FL8)
def rejections(context: CaseContext) -> None:
    """Without hints a form rejects what executeSynchronously rejects: a bad request, a bad loop timeout."""
    chosen = addition.supported(context)
    prepared_model = chosen.prepared(context)
    request = _addition_memory(context, chosen).request
    beyond = replace(request.inputs[0], location=replace(request.inputs[0].location, pool_index=2))
    broken = {
        "missing_input": (replace(request, inputs=request.inputs[1:]), ExecutionConfig()),
        "pool_beyond": (replace(request, inputs=(beyond, *request.inputs[1:])), ExecutionConfig()),
        "negative_loop_timeout": (request, ExecutionConfig(loop_timeout_duration_ns=-2)),
        "long_loop_timeout": (request, ExecutionConfig(loop_timeout_duration_ns=MAXIMUM_LOOP_TIMEOUT_DURATION_NS + 1)),
    }
    for form, execute in FORMS.items():
        for name, (wrong, config) in broken.items():
            with context.configuration(f"{form}.{name}"):
                checks.status(execute(prepared_model, wrong, config).status, {_INVALID}, f"execution, {name}")


@cases.case("ignored", "NNHAL-EXECUTE-013", since=Version.FL8)
def ignored(context: CaseContext) -> None:
    """Hints of unknown extensions, with unknown prefixes or with garbage change nothing."""
    chosen = addition.supported(context)
    rows = list(hints.of_every_call(context))
    for form, execute in FORMS.items():
        for row in rows:
            with context.configuration(f"{form}.{row.name}"):
                memory, prepared_model = _addition_memory(context, chosen), chosen.prepared(context)
                if _succeeds(execute(prepared_model, memory.request, _config(row)), row):
                    chosen.check(memory.outputs()[0], addition.SUM, "sum of an execution with hints")


@cases.case("fibonacci", "NNHAL-EXECUTE-013", since=Version.FL8)
def fibonacci(context: CaseContext) -> None:
    """A hint of the fibonacci extension changes no result, be it followed, disregarded or invalid."""
    models.need(context, models.FIBONACCI)
    length = 12
    expected = models.packed_numbers(models.stored(length))
    for form, execute in FORMS.items():
        for row in hints.of_fibonacci():
            with context.configuration(f"{form}.{row.name}"):
                memory = models.RequestMemory(context, [models.packed_count(length)], [len(expected)])
                prepared_model = models.prepared(context, models.fibonacci(4, length))
                if _succeeds(execute(prepared_model, memory.request, _config(row)), row):
                    checks.equal(memory.outputs()[0].hex(), expected.hex(), "numbers of an execution with hints")


def _config(row: Hints) -> ExecutionConfig:
    return ExecutionConfig(execution_hints=row.hints, extension_name_to_prefix=row.mapping)


def _succeeds(execution: Execution, row: Hints) -> bool:
    """Whether the execution succeeded, which it has to unless the call may be rejected."""
    checks.status(execution.status, {_NONE, _INVALID} if row.rejectable else {_NONE}, "execution with hints")
    return execution.status == _NONE


def _addition_memory(context: CaseContext, chosen: addition.Addition) -> models.RequestMemory:
    return models.RequestMemory(context, [chosen.packed(addition.A), chosen.packed(addition.B)], [addition.SIZE])
