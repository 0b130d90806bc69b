"""Turns what was recorded in the context of a case into the document that events and reports carry."""

from __future__ import annotations

import re
from collections.abc import Set

import msgspec
from msgspec.structs import replace

from npu_conformance.harness.judge.asked_models import operations_of
from npu_conformance.harness.run.cases import Case
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.harness.run.record import Record
from npu_conformance.specs.diagnostics import stacks
from npu_conformance.specs.documents.failures import Account
from npu_conformance.specs.documents.results import DRIVER_SAYS, CaseResult, ConfigurationResult, ModelUse
from npu_conformance.specs.errors import status_name
from npu_conformance.specs.outcomes import Disposition, Outcome, of_case
from npu_conformance.specs.requirements import applying

_REASON = re.compile(r'\{"code":-32001,"message":"(?P<reason>(?:[^"\\]|\\.)+)","data":\{"status":(?P<status>-?\d+)\}\}')
"""An answer with an ErrorStatus for which the driver gives a reason."""
_CHARACTERS = 4000
"""What a result keeps of each stream; the failure file keeps more."""


def case_result(case: Case, context: CaseContext, seconds: float) -> CaseResult:
    """The verdict of a case that ran: of its body and of its configurations."""
    own = context.own
    # Of what broke each is one, named or not.
    requirements = applying((*own.broken, *own.requirements), context.version)
    configurations = tuple(
        _configuration_result(case, context, record, frozenset(requirements))
        for record in context.configurations.values()
    )
    models = [one for record in (own, *context.configurations.values()) for one in record.models]
    named = _named(case, operations_of(models))
    return CaseResult(
        case=case.id,
        outcome=of_case(own.details.outcome, [configuration.outcome for configuration in configurations]),
        message=own.details.message,
        expected=own.details.expected,
        found=own.details.found,
        own_outcome=own.details.outcome,
        dispositions=_dispositions([own, *context.configurations.values()], waived=own.waived),
        configurations=configurations,
        requirements=requirements,
        broken=applying(own.broken, context.version),
        operations=tuple(named),
        types=tuple(dict.fromkeys(kind for types in named.values() for kind in types)),
        executed=operations_of(one for one in models if one.executed) if case.operations else {},
        executed_by=context.executed_by,
        refused=_refused(case, own),
        interface=case.interface,
        group=case.group.value if case.group else None,
        warnings=own.all_warnings,
        notes=context.notes,
        measurements=tuple(context.measurements),
        timeline=tuple(context.timeline),
        seed=context.seed,
        seconds=seconds,
        signal=own.details.signal,
        stderr=own.details.stderr,
        traceback=own.details.traceback,
    )


def with_output(result: CaseResult, account: Account) -> CaseResult:
    """Add the end of what the driver printed, and the last reason that it gave.

    The last words of one that died say more than what came after.
    """
    stderr = result.stderr or stacks.split(account.stderr)[0][-_CHARACTERS:]
    says = _last_reason(result, account)
    notes = {**result.notes, DRIVER_SAYS: says} if says else result.notes
    return replace(result, stdout=account.stdout[-_CHARACTERS:], stderr=stderr, notes=notes)


def _last_reason(result: CaseResult, account: Account) -> str:
    """The reason that the driver gave last for the status that the case complains of, where the complaint lacks it."""
    parts: list[CaseResult | ConfigurationResult] = [result, *result.configurations]
    complaints = [text for part in parts for text in (part.message, part.found) if text]
    for call in reversed(account.calls):
        found = _REASON.match(call.answer) if call.caller == "suite" and call.seconds >= 0 else None
        if found is not None:
            reason, status = msgspec.json.decode(f'"{found["reason"]}"'), status_name(int(found["status"]))
            is_new = not any(reason in text for text in complaints)
            return reason if is_new and any(f"found {status}" in f"found {text}" for text in complaints) else ""
    return ""


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
        interface=case.interface,
        group=case.group.value if case.group else None,
    )


def _named(case: Case, asked: dict[str, tuple[str, ...]]) -> dict[str, tuple[str, ...]]:
    """The operations that a case is about, with their types; none for a behaviour that any operation would show.

    Those that it is listed with come first; where no model was asked for, they are all that is known.
    """
    listed = dict.fromkeys(case.operations, case.types)
    if not case.operations or not asked:
        return listed
    return {name: asked[name] for name in dict.fromkeys((*listed, *asked)) if name in asked}


def _refused(case: Case, *records: Record) -> tuple[ModelUse, ...]:
    """The models that the last of the records, which ended as not-supported, could not go on with.

    Where the device said that it supports them all, it is the last one that it did not execute.
    """
    if records[-1].details.outcome is not Outcome.NOT_SUPPORTED:
        return ()
    refused = tuple(dict.fromkeys(one.uses for one in records[-1].models if one.is_refused))
    if refused or not case.operations:
        return refused
    return tuple(one.uses for record in records for one in record.models)[-1:]


def _configuration_result(case: Case, context: CaseContext, record: Record, common: Set[str]) -> ConfigurationResult:
    """The verdict of a configuration. common: the requirements of its case."""
    details = record.details
    return ConfigurationResult(
        name=record.name,
        outcome=details.outcome,
        message=details.message,
        expected=details.expected,
        found=details.found,
        dispositions=_dispositions([record], waived=record.waived),
        requirements=tuple(name for name in applying(record.requirements, context.version) if name not in common),
        broken=applying(record.broken, context.version),
        refused=_refused(case, context.own, record),
        warnings=record.all_warnings,
        seconds=record.seconds,
        signal=details.signal,
        stderr=details.stderr,
        traceback=details.traceback,
    )


def _dispositions(records: list[Record], *, waived: bool) -> tuple[Disposition, ...]:
    """waived: of a case, its body; whether the case as a whole is waived its waivers decide."""
    warned = (Disposition.QUALITY_WARNING,) if any(record.all_warnings for record in records) else ()
    return (Disposition.WAIVED, *warned) if waived else warned
