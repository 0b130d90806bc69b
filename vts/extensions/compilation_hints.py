"""Compilation hints: prepareModelWithConfig prepares what prepareModel prepares, whatever is hinted."""

from __future__ import annotations

from collections.abc import Iterable

from npu_conformance.harness.judge import checks
from npu_conformance.harness.run.cases import CaseGroup
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.harness.run.preparation import needs_room
from npu_conformance.specs.neuralnetworks.enums import ErrorStatus
from npu_conformance.specs.neuralnetworks.hal import PreparedModel
from npu_conformance.specs.neuralnetworks.types import Model
from npu_conformance.specs.versions import Version
from npu_conformance.vts.lib import addition
from npu_conformance.vts.lib.edits import with_operand
from npu_conformance.vts.lib.extensions import hints, models
from npu_conformance.vts.lib.extensions.hints import Hints, hint

cases = CaseGroup("vts.extensions.compilation_hints")

_NONE, _INVALID = ErrorStatus.NONE, ErrorStatus.INVALID_ARGUMENT
_LENGTH = 12

_NO_HINTS = Hints("none", (), ())


@cases.case("none", "NNHAL-PREPARE-018", since=Version.FL8)
def none(context: CaseContext) -> None:
    """Without hints the model is prepared and computes as after prepareModel."""
    _ignored(context, [_NO_HINTS])


@cases.case("ignored", "NNHAL-PREPARE-019", "NNHAL-PREPARE-020", since=Version.FL8)
def ignored(context: CaseContext) -> None:
    """Hints of unknown extensions, with unknown prefixes or with garbage change nothing."""
    _ignored(context, hints.of_every_call(context))


@cases.case("fibonacci", "NNHAL-PREPARE-020", since=Version.FL8)
def fibonacci(context: CaseContext) -> None:
    """A hint of the fibonacci extension changes no result, be it followed, disregarded or invalid."""
    models.need(context, models.FIBONACCI)
    for row in hints.of_fibonacci():
        with context.configuration(row.name):
            prepared_model = prepare(context, models.fibonacci(4, _LENGTH), row)
            if prepared_model is not None:
                _computes_numbers(context, prepared_model)


@cases.case("prefix_of_the_call", "NNHAL-EXTENSION-005", "NNHAL-PREPARE-019", since=Version.FL8)
def prefix_of_the_call(context: CaseContext) -> None:
    """The mapping of the hints is not the model's: the same prefix may stand for another extension there."""
    models.need(context, models.FIBONACCI)
    crossing = {
        "another_prefix": (8, Hints("", (hint(3, 0, hints.VALID_COUNT),), models.mapping(fibonacci=3))),
        "another_extension": (3, Hints("", (hint(3, 0, b"?"),), models.mapping(unknown=3))),
    }
    for name, (prefix, row) in crossing.items():
        with context.configuration(name):
            _computes_numbers(context, prepare(context, models.fibonacci(prefix, _LENGTH), row))


@cases.case("of_invalid_models", "NNHAL-PREPARE-018", since=Version.FL8)
def of_invalid_models(context: CaseContext) -> None:
    """A hint makes no invalid model valid: it is rejected as by prepareModel, by return value and callback."""
    invalid = with_operand(addition.model(), 0, zero_point=1)
    for row in (_NO_HINTS, Hints("unknown", (hint(1, 0, b"?"),), models.mapping(unknown=1))):
        with context.configuration(row.name):
            preparation = context.prepare(invalid, with_config=True, hints=row.hints, extensions=row.mapping)
            what = "prepareModelWithConfig of an invalid model"
            checks.status(preparation.launch_status, {_INVALID}, f"{what}, returned")
            checks.equal(preparation.recorder.answers, [(_INVALID, None)], f"{what}, notified")


def prepare(context: CaseContext, model: Model, row: Hints) -> PreparedModel | None:
    """Prepare a supported model with hints; None where the call may be rejected, and is."""
    preparation = context.prepare(model, with_config=True, hints=row.hints, extensions=row.mapping)
    launched = preparation.launch_status
    allowed = {_NONE, _INVALID} if row.rejectable else {_NONE}
    checks.status(launched, allowed, "prepareModelWithConfig with hints, returned")
    needs_room(preparation)
    checks.status(preparation.status, {launched}, "prepareModelWithConfig with hints, notified")
    is_null = preparation.prepared_model is None
    checks.equal(is_null, launched != _NONE, "prepareModelWithConfig with hints: whether the model is null")
    return preparation.prepared_model


def _ignored(context: CaseContext, rows: Iterable[Hints]) -> None:
    chosen = addition.supported(context)
    chosen.prepared(context)
    for row in rows:
        with context.configuration(row.name):
            prepared_model = prepare(context, chosen.model(), row)
            if prepared_model is not None:
                memory = models.RequestMemory(
                    context, [chosen.packed(addition.A), chosen.packed(addition.B)], [addition.SIZE]
                )
                models.executed(context, prepared_model, memory)
                chosen.check(memory.outputs()[0], addition.SUM, "sum after a preparation with hints")


def _computes_numbers(context: CaseContext, prepared_model: PreparedModel | None) -> None:
    if prepared_model is None:
        checks.fail("prepareModelWithConfig with hints", "a prepared model", "null")
    expected = [models.packed_numbers(models.stored(_LENGTH))]
    models.computes(context, prepared_model, [models.packed_count(_LENGTH)], expected, "FIBONACCI with a hint")
