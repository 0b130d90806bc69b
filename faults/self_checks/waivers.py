"""Self-checks of what makes a failure acceptable: waivers, and the floors of comparisons."""

from __future__ import annotations

import datetime
from collections.abc import Iterator

from npu_conformance.faults.self_checks.bookkeeping import expect
from npu_conformance.faults.self_checks.fakes import Little, passing, raising, run
from npu_conformance.harness.judge.verdicts import Failed
from npu_conformance.harness.judge.waivers import Waivers
from npu_conformance.harness.run.cases import Case, CaseGroup
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.specs.documents.waivers import WaivedTolerance, Waiver
from npu_conformance.specs.neuralnetworks.enums import OperandType

_checks = CaseGroup("self.bookkeeping")
_TODAY = datetime.date(2030, 1, 15)


def cases() -> Iterator[Case]:
    """Every self-check of waivers and comparisons."""
    return iter(_checks())


def _waiver(**fields: object) -> Waivers:
    given = {"id": "self.little.run.*", "requirement": "REQ-1", "expires": datetime.date(2030, 2, 1), **fields}
    return Waivers([Waiver(reason="known", owner="me", link="there", **given)], _TODAY)  # type: ignore[arg-type]


@_checks.case("waivers.valid")
def valid_waiver(_: CaseContext) -> None:
    """A valid waiver makes a known failure green."""
    expect(run({"case": raising(Failed("wrong"))}, waivers=_waiver()).results.exit_code, 0, "exit code")


@_checks.case("waivers.expired")
def expired_waiver(_: CaseContext) -> None:
    """An expired waiver excuses nothing and is reported."""
    late = _waiver(expires=datetime.date(2030, 1, 14))
    little = run({"case": raising(Failed("wrong"))}, waivers=late)
    expect((little.results.exit_code, little.results.waived), (1, 0), "exit code and waived")
    expect(len(little.results.red), 1, "reports of expired waivers")


@_checks.case("waivers.not_needed")
def waiver_not_needed(_: CaseContext) -> None:
    """A waiver for a case that passes, or for one that does not exist, turns the run red."""
    expect(run({"case": passing}, waivers=_waiver()).results.exit_code, 1, "exit code with a waiver of a pass")
    other = _waiver(id="self.little.run.other")
    expect(run({"case": passing}, waivers=other).results.exit_code, 1, "exit code with a waiver of nothing")


@_checks.case("waivers.other_requirement")
def waiver_of_other_requirement(_: CaseContext) -> None:
    """A waiver excuses its own requirement only, and a case only as far as it goes."""
    other = _waiver(requirement="REQ-2")
    expect(run({"case": raising(Failed("wrong"))}, waivers=other).results.exit_code, 1, "exit code")

    def body(context: CaseContext) -> None:
        for name in ("one", "two"):
            with context.configuration(name):
                raise Failed("wrong")

    partly = _waiver(id="self.little.run.case#one")
    expect(run({"case": body}, waivers=partly).results.exit_code, 1, "exit code with one of two waived")


def _compared(actual: float, expected: float, kind: OperandType, waivers: Waivers | None = None) -> Little:
    import numpy

    from npu_conformance.harness.judge.compare import check_output

    def body(context: CaseContext) -> None:
        check_output(context, "output", numpy.array([1.0, actual]), numpy.array([1.0, expected]), kind)

    return run({"case": body}, waivers=waivers)


@_checks.case("comparison.floor")
def comparison_floor(_: CaseContext) -> None:
    """The public floor by type: just inside passes, just outside fails."""
    nan, infinity = float("nan"), float("inf")
    for kind, actual, expected, outcome in (
        (OperandType.TENSOR_FLOAT32, 1.000009, 1.0, "pass"),
        (OperandType.TENSOR_FLOAT32, 1.00002, 1.0, "fail"),
        (OperandType.TENSOR_FLOAT16, 1.009, 1.0, "pass"),
        (OperandType.TENSOR_FLOAT16, 1.011, 1.0, "fail"),
        (OperandType.TENSOR_QUANT8_ASYMM, 101, 100, "pass"),
        (OperandType.TENSOR_QUANT8_ASYMM, 98, 100, "fail"),
        (OperandType.TENSOR_INT32, 102, 100, "fail"),
        (OperandType.TENSOR_BOOL8, 0, 1, "fail"),
        (OperandType.TENSOR_FLOAT32, nan, nan, "pass"),
        (OperandType.TENSOR_FLOAT32, 0.0, nan, "fail"),
        (OperandType.TENSOR_FLOAT32, nan, 0.0, "fail"),
        (OperandType.TENSOR_FLOAT32, infinity, -infinity, "fail"),
        (OperandType.TENSOR_FLOAT32, 3e38, infinity, "fail"),
    ):
        found = _compared(actual, expected, kind).outcomes()["case"]
        expect(found, outcome, f"{kind.name}: {actual} for {expected}")


@_checks.case("comparison.waived_tolerance")
def waived_tolerance(_: CaseContext) -> None:
    """A waiver's tolerance excuses a failure as far as it says, and the failure is shown."""
    waiver = _waiver(tolerance=WaivedTolerance(atol=0.5))
    near = _compared(1.25, 1.0, OperandType.TENSOR_FLOAT32, waiver)
    expect((near.outcomes()["case"], near.results.waived), ("fail", 1), "inside the waived tolerance")
    expect(near.results.exit_code, 0, "exit code inside of it")
    expect(_compared(1.75, 1.0, OperandType.TENSOR_FLOAT32, waiver).results.exit_code, 1, "exit code outside of it")
