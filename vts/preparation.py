"""Preparation: the callback is notified exactly once, legal arguments are taken, prepared models live side by side."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import msgspec

from npu_conformance.harness.judge import checks
from npu_conformance.harness.judge.verdicts import NotSupported
from npu_conformance.harness.run.cases import CaseGroup, Group, Scope
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.harness.run.preparation import NO_TOKEN, PreparationRecorder, model_of
from npu_conformance.harness.subject.pools import Pool
from npu_conformance.specs.neuralnetworks.enums import (
    ErrorStatus,
    ExecutionPreference,
    OperandLifeTime,
    OperandType,
    OperationType,
    Priority,
)
from npu_conformance.specs.neuralnetworks.hal import PreparedModel
from npu_conformance.specs.neuralnetworks.types import NO_DEADLINE, DataLocation, Model, Operation, Subgraph
from npu_conformance.specs.versions import Version
from npu_conformance.vts.lib import addition, near_models
from npu_conformance.vts.lib.addition import Addition, Pair
from npu_conformance.vts.lib.preparing import prepared_or_unsupported
from npu_conformance.vts.lib.structure_models import INPUT, OUTPUT, TEMPORARY, constant, graph, tensor

cases = CaseGroup("vts.preparation", group=Group.EXECUTION)

_LONG = (2049.25, -2051.75)
"""What float16 does not hold, and A plus which float32 does."""

_CONSTANTS = ((0.25, 4.0), (1.0, -2.5))


@cases.case(
    "callback.once",
    "NNHAL-PREPARE-003",
    "NNHAL-PREPARE-005",
    "NNHAL-PREPARE-007",
    "NNHAL-PREPARE-008",
    scope=Scope.SMOKE,
)
def callback_once(context: CaseContext) -> None:
    """A preparation that is accepted notifies its callback once, and not again while the device goes on."""
    recorder = PreparationRecorder()
    preparation = context.prepare(addition.model(), callback=recorder)
    checks.status(preparation.launch_status, {ErrorStatus.NONE}, "prepareModel of a valid model, returned")
    _notified_once(context, recorder)
    has_model = preparation.prepared_model is not None
    with checks.about("NNHAL-PREPARE-007"):
        checks.equal(has_model, preparation.status == ErrorStatus.NONE, "a prepared model comes with status NONE only")


@cases.case("callback.once_when_refused", "NNHAL-PREPARE-002", "NNHAL-PREPARE-005")
def callback_once_when_rejected(context: CaseContext) -> None:
    """A preparation that is rejected notifies its callback once, too."""
    recorder = PreparationRecorder()
    context.prepare(Model(main=Subgraph((), (), (), ())), callback=recorder)
    _notified_once(context, recorder)


@cases.case("callback.null", "NNHAL-PREPARE-022")
def callback_null(context: CaseContext) -> None:
    """A null callback is rejected with INVALID_ARGUMENT, and the device lives on."""

    def call() -> None:
        context.device.prepare_model(
            addition.model(),
            ExecutionPreference.FAST_SINGLE_ANSWER,
            Priority.MEDIUM,
            NO_DEADLINE,
            (),
            (),
            NO_TOKEN,
            None,
        )

    checks.raises_status(call, {ErrorStatus.INVALID_ARGUMENT}, "prepareModel with a null callback")


@cases.case("arguments.preferences", "NNHAL-PREPARE-003", since=Version.V1_1)
def preferences(context: CaseContext) -> None:
    """Every execution preference is taken, and the model computes the same."""
    chosen = addition.supported(context)
    for preference in ExecutionPreference:
        with context.configuration(preference.name.lower()):
            _prepared_adds(context, chosen, preference=preference)


@cases.case("arguments.priorities", "NNHAL-PREPARE-011", since=Version.V1_3)
def priorities(context: CaseContext) -> None:
    """Every priority is taken, and the model computes the same."""
    chosen = addition.supported(context)
    for priority in Priority:
        with context.configuration(priority.name.lower()):
            _prepared_adds(context, chosen, priority=priority)


@cases.case("models.side_by_side", "NNHAL-PREPARE-013")
def side_by_side(context: CaseContext) -> None:
    """Two prepared models of one device are executed in turn, each with its own constant."""
    chosen, constants = addition.supported(context), ((1.0, 2.0), (-8.0, 0.5))
    models = [chosen.prepared(context, _holding(context, chosen.packed(values)).memory) for values in constants]
    pool, what = context.pool(addition.POOL), "execution with the model's own constant"
    for _ in range(2):
        for prepared_model, values in zip(models, constants, strict=True):
            chosen.adds(context, prepared_model, pool, values, inputs=1, what=what)


@cases.case("models.told_apart", "NNHAL-PREPARE-013")
def told_apart(context: CaseContext) -> None:
    """Models that differ in the value of a constant alone are executed in turn, each as itself."""
    chosen, pool = addition.supported(context), context.pool(addition.POOL)
    for prepared_model, values in [*_with_constants(context, chosen)] * 2:
        what = f"execution of the model with the constant {values}"
        chosen.adds(context, prepared_model, pool, values, inputs=1, what=what)


@cases.case("models.of_rewritten_constants", "NNHAL-PREPARE-013", "NNHAL-EXECUTE-001")
def of_rewritten_constants(context: CaseContext) -> None:
    """A model is what its pools hold when it is prepared, though an equal one was prepared in that memory before."""
    chosen, pool = addition.supported(context), context.pool(addition.POOL)
    constant = _holding(context, chosen.packed(addition.B))
    for values in (addition.B, (-8.0, 0.5), addition.B):
        constant.write(0, chosen.packed(values))
        # The model before is let go of, since a device may read its constants as long as it lives.
        what = f"execution of the model with the constant {values}"
        chosen.adds(context, chosen.prepared(context, constant.memory), pool, values, inputs=1, what=what)


@cases.case("models.nearly_alike", "NNHAL-PREPARE-013", "NNHAL-EXECUTE-001")
def nearly_alike(context: CaseContext) -> None:
    """Models that differ in a late byte, a far operand, one pool or an order alone are executed each as itself."""
    for name, one, other in near_models.pairs(addition.supported(context)):
        with context.configuration(name), context.short_lived():
            both = [one, other]
            prepared = [prepared_or_unsupported(context, sums.model(context.filled_pool)) for sums in both]
            for sums, prepared_model in [*zip(both, prepared, strict=True)] * 2:
                sums.check(context, prepared_model, f"{'the other' if sums is other else 'one'} of two models")


@cases.case("models.of_other_quantization", "NNHAL-PREPARE-013")
def other_quantization(context: CaseContext) -> None:
    """Models that differ in a scale or a zero point alone are executed in turn, each as itself."""
    pool = context.pool(addition.POOL)
    for chosen in addition.ADDITIONS:
        if not chosen.scale or chosen.since > context.version:
            continue
        with context.configuration(chosen.operand_type.name.lower()):
            others = replace(chosen, zero_point=chosen.zero_point - 28), replace(chosen, scale=chosen.scale / 2)
            models = [(one, one.prepared(context)) for one in (chosen, *others)]
            for one, prepared_model in models * 2:
                what = f"execution with scale {one.scale} and zero point {one.zero_point}"
                one.adds(context, prepared_model, pool, what=what)


def _with_constants(context: CaseContext, chosen: Addition) -> Iterator[tuple[PreparedModel, Pair]]:
    """Models that hold constants of their own: among the values of the model."""
    for values in _CONSTANTS:
        model = chosen.model_with_constant(location=DataLocation(0, 4, addition.SIZE))
        main = model.main
        second = msgspec.structs.replace(main.operands[1], lifetime=OperandLifeTime.CONSTANT_COPY)
        main = msgspec.structs.replace(main, operands=(main.operands[0], second, *main.operands[2:]))
        copied = msgspec.structs.replace(model, main=main, operand_values=bytes(4) + chosen.packed(values))
        yield prepared_or_unsupported(context, copied), values


@cases.case("models.of_other_precision", "NNHAL-MODEL-058", "NNHAL-PREPARE-013", since=Version.V1_1)
def other_precision(context: CaseContext) -> None:
    """A model keeps its precision while a relaxed one is prepared, and executed, beside it."""
    chosen, pool = addition.FLOAT32, context.pool(addition.POOL)
    strict = chosen.prepared(context)
    preparation = context.prepare(msgspec.structs.replace(chosen.model(), relax_computation_float32_to_float16=True))
    chosen.adds(context, strict, pool, _LONG, what="execution in float32 beside a relaxed model")
    if preparation.prepared_model is not None:
        chosen.adds(context, preparation.prepared_model, pool, what="relaxed execution")
        chosen.adds(context, strict, pool, _LONG, what="execution in float32 behind a relaxed one")


@cases.case("executions.of_constants", "NNHAL-EXECUTE-018", "NNHAL-EXECUTE-001")
def of_constants(context: CaseContext) -> None:
    """An operation of whose inputs none comes with the request gives the same each time, early or late."""
    chosen, pool = addition.supported(context), context.pool(addition.POOL)
    preparation = context.prepare(_sum_of_constants(chosen))
    if preparation.prepared_model is None:
        raise NotSupported("an operation on constants alone is not supported")
    # What `adds` expects is A and the sum of both constants.
    total = (_CONSTANTS[0][0] + _CONSTANTS[1][0], _CONSTANTS[0][1] + _CONSTANTS[1][1])
    for turn in range(3):
        what = f"execution {turn} of a model with an operation on constants"
        chosen.adds(context, preparation.prepared_model, pool, total, inputs=1, what=what)


def _sum_of_constants(chosen: Addition) -> Model:
    """x + (first + second)."""
    quantization = {"scale": chosen.scale, "zero_point": chosen.zero_point}
    first, second = (
        constant(chosen.operand_type, (chosen.elements,), 4 + at * addition.SIZE, addition.SIZE, **quantization)
        for at in (0, 1)
    )
    x, between, result = (
        tensor(chosen.operand_type, (chosen.elements,), lifetime, **quantization)
        for lifetime in (INPUT, TEMPORARY, OUTPUT)
    )
    activation = constant(OperandType.INT32, (), 0, 4)
    additions = [Operation(OperationType.ADD, inputs, (output,)) for inputs, output in (((1, 2, 3), 4), ((0, 4, 3), 5))]
    values = bytes(4) + b"".join(map(chosen.packed, _CONSTANTS))
    return Model(main=graph([x, first, second, activation, between, result], additions), operand_values=values)


@cases.case("executions.fresh_results", "NNHAL-EXECUTE-001", "NNHAL-EXECUTE-002")
def fresh_results(context: CaseContext) -> None:
    """Executions of one prepared model with other inputs give other results: nothing of the last one is left."""
    chosen, pool = addition.supported(context), context.pool(addition.POOL)
    prepared_model = chosen.prepared(context)
    for values in ((1.0, 2.0), (-4.0, 0.25), (0.0, 0.0)):
        chosen.adds(context, prepared_model, pool, values)


@checks.about("NNHAL-PREPARE-005")
def _notified_once(context: CaseContext, recorder: PreparationRecorder) -> None:
    # A further round trip of the same connection brings whatever the device has sent before.
    context.supported_operations(addition.model())
    context.subject.wait_until(lambda: len(recorder.answers) > 1, 0.0)
    checks.equal(len(recorder.answers), 1, "number of notifications of one preparation")


def _prepared_adds(
    context: CaseContext,
    chosen: Addition,
    *,
    preference: int = ExecutionPreference.FAST_SINGLE_ANSWER,
    priority: int = Priority.MEDIUM,
) -> None:
    chosen.prepared(context)
    prepared_model = model_of(context.prepare(chosen.model(), preference=preference, priority=priority))
    chosen.adds(context, prepared_model, context.pool(addition.POOL))


def _holding(context: CaseContext, data: bytes) -> Pool:
    pool = context.pool(addition.SIZE)
    pool.write(0, data)
    return pool
