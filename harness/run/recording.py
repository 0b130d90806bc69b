"""Turns what was recorded in the context of a case into the document that events and reports carry."""

from __future__ import annotations

from npu_conformance.harness.run.cases import Case
from npu_conformance.harness.run.context import CaseContext, Record
from npu_conformance.specs.documents.results import CaseResult, ConfigurationResult
from npu_conformance.specs.outcomes import Disposition, Outcome, worst


def case_result(case: Case, context: CaseContext, seconds: float) -> CaseResult:
    """The verdict of a case that ran: the worst of its own and of its configurations'.

    A body that ended well adds no verdict of its own where it opened configurations.
    """
    own = context.own
    configurations = tuple(_configuration_result(record) for record in context.configurations.values())
    outcomes = [configuration.outcome for configuration in configurations]
    if own.details.outcome is not Outcome.PASS or not outcomes:
        outcomes.append(own.details.outcome)
    return CaseResult(
        case=case.id,
        outcome=worst(*outcomes),
        message=own.details.message,
        expected=own.details.expected,
        found=own.details.found,
        own_outcome=own.details.outcome,
        dispositions=_dispositions([own, *context.configurations.values()]),
        configurations=configurations,
        requirements=own.requirements,
        operations=case.operations,
        types=case.types,
        group=case.group.value if case.group else None,
        warnings=tuple(own.warnings),
        notes=context.notes,
        seed=context.seed,
        seconds=seconds,
        signal=own.details.signal,
        stderr=own.details.stderr,
        traceback=own.details.traceback,
    )


def unexecuted(case: Case, outcome: Outcome, reason: str) -> CaseResult:
    """The verdict of a case whose body never ran: not-applicable or not-run."""
    return CaseResult(
        case=case.id,
        outcome=outcome,
        own_outcome=outcome,
        message=reason,
        requirements=case.requirements,
        operations=case.operations,
        types=case.types,
        group=case.group.value if case.group else None,
    )


def _configuration_result(record: Record) -> ConfigurationResult:
    details = record.details
    return ConfigurationResult(
        name=record.name,
        outcome=details.outcome,
        message=details.message,
        expected=details.expected,
        found=details.found,
        dispositions=_dispositions([record]),
        requirements=record.requirements,
        warnings=tuple(record.warnings),
        seconds=record.seconds,
        signal=details.signal,
        stderr=details.stderr,
        traceback=details.traceback,
    )


def _dispositions(records: list[Record]) -> tuple[Disposition, ...]:
    waived = (Disposition.WAIVED,) if any(record.waived for record in records) else ()
    warned = (Disposition.QUALITY_WARNING,) if any(record.warnings for record in records) else ()
    return waived + warned
