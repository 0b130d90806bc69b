"""Requests that fenced execution rejects: all that other executions reject, and outputs whose size is not known."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace

from npu_conformance.harness.judge import checks
from npu_conformance.harness.judge.verdicts import NotSupported
from npu_conformance.harness.run.cases import Case, CaseGroup, Group
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.harness.run.executing.launching import FencedOptions, finish, forms, launch
from npu_conformance.specs.neuralnetworks.enums import ErrorStatus
from npu_conformance.specs.neuralnetworks.hal import PreparedModel
from npu_conformance.specs.neuralnetworks.types import Request
from npu_conformance.specs.versions import Version
from npu_conformance.vts.lib import addition
from npu_conformance.vts.lib.fenced import FencedFixture
from npu_conformance.vts.lib.preparing import prepared_or_unsupported
from npu_conformance.vts.lib.request_edits import EDITS, RequestEdit

_behaviours = CaseGroup("vts.fenced.refusals", group=Group.VALIDATION)

_SINCE = Version.V1_3
_OUTPUT = 3
"""The operand that is the sum."""


def cases() -> Iterator[Case]:
    """One case for each edit of vts.requests, then those of outputs."""
    for edit in EDITS:
        yield _case(edit)
    yield from _behaviours()


def _case(edit: RequestEdit) -> Case:
    def run(context: CaseContext) -> None:
        fixture = FencedFixture(context)
        for form in forms(context.version):
            with context.configuration(form):
                total = fixture.sum()
                request = edit.apply(total.request, fixture.chosen.elements)
                _expect_rejected(context, fixture.prepared_model, request, form)
                total.check_untouched("the request was rejected")

    return Case(
        f"vts.fenced.refusals.ADD.{edit.name}",
        run,
        ("NNHAL-FENCED-001", *edit.requirements),
        f"A fenced execution rejects an invalid request: {edit.name.replace('_', ' ')}.",
        since=max(edit.since, _SINCE),
        group=Group.VALIDATION,
        operations=("ADD",),
        types=("TENSOR_FLOAT32",),
    )


@_behaviours.case("open_fence", "NNHAL-FENCED-001", since=_SINCE)
def open_fence(context: CaseContext) -> None:
    """An invalid request is rejected by the call even where a wait fence is open: nobody has to wait for that."""
    fixture = FencedFixture(context)
    total, fence = fixture.sum(), context.fence()
    request = replace(total.request, inputs=total.request.inputs[:1])
    launched = launch(context, fixture.prepared_model, request, (fence,), settle=fence.signal)
    checks.status(launched.status, {ErrorStatus.INVALID_ARGUMENT}, "executeFenced of an invalid request")
    launched.settle()
    total.check_untouched("the request was rejected")


@_behaviours.case("outputs_unknown", "NNHAL-FENCED-001", "NNHAL-FENCED-002", since=_SINCE)
def outputs_unknown(context: CaseContext) -> None:
    """An output whose size or rank neither model nor request gives, or that has size zero, is rejected."""
    fixture = FencedFixture(context)
    for name, declared, given in (
        ("size", (0,), ()),
        ("rank", (), ()),
        ("size_zero", (0,), (0,)),
        ("rank_and_zero", (), (0,)),
    ):
        for form in forms(context.version):
            with context.configuration(f"{form}.{name}"):
                total = fixture.sum()
                output = replace(total.request.outputs[0], dimensions=given)
                prepared_model = _with_output(context, fixture, declared)
                with checks.about("NNHAL-FENCED-002"):
                    _expect_rejected(context, prepared_model, replace(total.request, outputs=(output,)), form)
                total.check_untouched("the request was rejected")


@_behaviours.case("outputs_of_the_request", "NNHAL-FENCED-002", "NNHAL-FENCED-006", since=_SINCE)
def outputs_of_the_request(context: CaseContext) -> None:
    """An output that the model leaves open is fully specified where the request gives its dimensions."""
    fixture = FencedFixture(context)
    for name, declared in {"size": (0,), "rank": ()}.items():
        with context.configuration(name):
            total = fixture.sum()
            output = replace(total.request.outputs[0], dimensions=(fixture.chosen.elements,))
            request = replace(total.request, outputs=(output,))
            outcome = finish(context, launch(context, _with_output(context, fixture, declared), request))
            if outcome.status == ErrorStatus.GENERAL_FAILURE:
                raise NotSupported("the device does not execute models with outputs of unknown size")
            checks.status(outcome.status, {ErrorStatus.NONE}, "fenced execution")
            total.check()


@_behaviours.case("output_too_small", "NNHAL-FENCED-017", since=_SINCE)
def output_too_small(context: CaseContext) -> None:
    """Memory too small for an output is a failure, of whatever name but OUTPUT_INSUFFICIENT_SIZE; nothing goes beyond.

    AIDL's request is invalid; HIDL's text leaves open whether the call or the callback reports it.
    """
    fixture = FencedFixture(context)
    for form in forms(context.version):
        with context.configuration(form):
            fixture.executes(form)
            total = fixture.sum()
            output = total.request.outputs[0]
            short = replace(output, location=replace(output.location, length=addition.SIZE - 1))
            request = replace(total.request, outputs=(short,))
            outcome = finish(
                context, launch(context, fixture.prepared_model, request, options=FencedOptions(form=form))
            )
            checks.that(
                outcome.status != ErrorStatus.NONE, "an output has too little memory: expected a failure, found NONE"
            )
            total.check_untouched("an output had too little memory", from_byte=addition.SIZE - 1)


def _expect_rejected(context: CaseContext, prepared_model: PreparedModel, request: Request, form: str) -> None:
    launched = launch(context, prepared_model, request, options=FencedOptions(form=form))
    checks.status(launched.status, {ErrorStatus.INVALID_ARGUMENT}, f"{form} of the invalid request")


def _with_output(context: CaseContext, fixture: FencedFixture, dimensions: tuple[int, ...]) -> PreparedModel:
    """The addition with an output of other dimensions."""
    model = fixture.chosen.model()
    operands = list(model.main.operands)
    operands[_OUTPUT] = replace(operands[_OUTPUT], dimensions=dimensions)
    return prepared_or_unsupported(context, replace(model, main=replace(model.main, operands=tuple(operands))))
