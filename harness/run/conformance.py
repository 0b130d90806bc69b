"""When the word "conformant" may be printed: everything applicable was run and passed.

A waived failure is green, but not conformant.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence

from npu_conformance.harness.judge.outcome_table import is_red
from npu_conformance.harness.report import symptoms
from npu_conformance.harness.run import operation_evidence
from npu_conformance.harness.run.applicability import is_about_another_version
from npu_conformance.harness.run.cases import MANDATORY, Group
from npu_conformance.harness.run.events import Log
from npu_conformance.harness.run.missing_methods import missing_methods, missing_scheduling_methods
from npu_conformance.specs.diagnostics.counted import counted
from npu_conformance.specs.documents.results import CaseResult
from npu_conformance.specs.documents.summary import LISTED
from npu_conformance.specs.interfaces import NOT_IMPLEMENTED
from npu_conformance.specs.manifest import InterfaceName
from npu_conformance.specs.outcomes import Disposition, Outcome

_NAMED, _REASONS = 5, 2
_INTERFACES: Mapping[InterfaceName, str] = {
    "device": "the NN HAL",
    "scheduling": "the npu scheduling HAL",
    "manager": "the NPU Manager",
    "runtime": "the NNAPI runtime",
}
"""What has cases of its own, by the name of its interface."""

_COMPANIONS = ("workload", "scheduling_control", "manager_control", "runtime_control")
"""The interfaces by which cases of another interface arrange and drive what they judge."""
_TO_BRING = {
    "workload": "add a workload or a device to it, or an inference_tool to its manifest: docs/npu-scheduling.md",
    "manager_control": "add a manager_control to the plug-in",
    "runtime_control": "add a runtime_control to the plug-in: docs/cts-runtime.md",
}
"""How to make the cases of an interface apply, for the interfaces that whole groups need."""


def reasons(log: Log, verdicts: Sequence[CaseResult], red: Sequence[str], problems: Sequence[str]) -> list[str]:
    """Say why a run does not show that the subject conforms; none where it does."""
    interfaces = log.header.manifest.interfaces
    ending = log.footer.reason if log.footer is not None else ""
    found = [*_of_outcomes(verdicts, ending), *_of_groups(interfaces, verdicts), *_of_most(interfaces, verdicts)]
    executed, missing = operation_evidence.coverage(verdicts)
    if missing and not executed:
        found.append("no operation was executed with the right values")
    if lacking := missing_methods(verdicts, log.header.hal_version):
        found.append(f"methods of HAL {log.header.hal_version} that are not implemented: {' '.join(lacking)}")
    if lacking := missing_scheduling_methods(verdicts):
        found.append(f"methods of the scheduling HAL that are not implemented: {' '.join(lacking)}")
    if log.left_out:
        found.append(f"left out by the budget: {counted(len(log.left_out), 'case')}")
    if log.header.selection.deselected:
        found.append(f"not selected: {counted(log.header.selection.deselected, 'case')} that may apply")
    if log.header.selection.shard:
        found.append(f"only shard {log.header.selection.shard} was run")
    if log.footer is None:
        found.append("the run was cut off")
    if not any(result.outcome is Outcome.PASS for result in verdicts):
        found.append("nothing passed")
    return [*found, *red, *problems]


def thin_coverage(verdicts: Sequence[CaseResult]) -> list[str]:
    """Say aloud what the passes do not cover: what the subject has no interface for, and what it does not support."""
    ran = [result for result in verdicts if result.outcome is not Outcome.NOT_APPLICABLE]
    refused = [result for result in ran if result.outcome is Outcome.NOT_SUPPORTED]
    lines = [*_of_companions(verdicts), *_of_inapplicable(verdicts)]
    if not refused:
        return lines
    executed, missing = operation_evidence.coverage(ran)
    share = f"({len(refused) / len(ran):.0%}){_missing_method(refused)}"
    lines.append(f"{len(refused):,} of {counted(len(ran), 'case')} not supported {share}")
    if missing:
        count = f"{len(executed)} of {len(executed) + len(missing)} operations"
        lines.append(f"{count} have a passing case{LISTED}{' '.join(missing)}")
    return lines


def _missing_method(refused: Sequence[CaseResult]) -> str:
    """The method that most of these cases want and the subject has not; empty where there is no such one."""
    (message, count) = Counter(result.message for result in refused).most_common(1)[0]
    is_told = NOT_IMPLEMENTED in message and 2 * count > len(refused)
    return f", mostly since {message}" if is_told else ""


def _of_companions(verdicts: Sequence[CaseResult]) -> Iterator[str]:
    """Say of how many cases of an interface the subject brings nothing to ask them with, and how to bring it."""
    for interface, name in _INTERFACES.items():
        concerned = _concerned(interface, verdicts)
        for companion in _COMPANIONS:
            count = sum(_is_unasked(result) and _reason(result) == _lacks(companion) for result in concerned)
            if count:
                told = f"{count:,} of {counted(len(concerned), 'case')} of {name} could not be tested"
                yield f"{told}: {_with_hint(_lacks(companion))}"


def _of_inapplicable(verdicts: Sequence[CaseResult]) -> Iterator[str]:
    """Say of how many further cases of an interface not all was there that they need, and what most of them lack.

    Where nothing was asked at all, or little is left out, the line would tell nothing.
    """
    told = {_lacks(companion) for companion in _COMPANIONS}
    for interface, name in _INTERFACES.items():
        concerned = _concerned(interface, verdicts)
        unasked = [result for result in concerned if _is_unasked(result)]
        counts = _alike(reason for result in unasked if (reason := _reason(result)) not in told)
        if len(concerned) > len(unasked) and counts.total() > len(concerned) // 10:
            further = " more" if counts.total() < len(unasked) else ""
            count = f"{counts.total():,}{further} of {counted(len(concerned), 'case')}"
            yield f"{count} of {name} do not apply: {'; '.join(_most_common(counts))}"


def _most_common(counts: Counter[str]) -> Iterator[str]:
    shown = counts.most_common(_REASONS)
    yield from (f"{count:,} since {reason}" for reason, count in shown)
    if others := counts.total() - sum(count for _, count in shown):
        yield f"{others:,} for other reasons"


def _of_most(interfaces: Sequence[InterfaceName], verdicts: Sequence[CaseResult]) -> Iterator[str]:
    """Say of which interfaces that the subject offers most cases show nothing."""
    for interface, name in _INTERFACES.items():
        concerned = _concerned(interface, verdicts)
        unasked = [result for result in concerned if _is_unasked(result)]
        if interface in interfaces and 2 * len(unasked) > len(concerned):
            count = f"{len(unasked):,} of {counted(len(concerned), 'case')}"
            yield f"most of {name} could not be tested: {count}, mostly since {_mostly(unasked)}"


def _concerned(interface: InterfaceName, verdicts: Sequence[CaseResult]) -> list[CaseResult]:
    """The cases of an interface that are about the version that the subject has."""
    own = (result for result in verdicts if result.interface == interface)
    return [result for result in own if not (_is_unasked(result) and is_about_another_version(_reason(result)))]


def _is_unasked(result: CaseResult) -> bool:
    return result.outcome is Outcome.NOT_APPLICABLE


def _reason(result: CaseResult) -> str:
    """Why a case does not apply: its own reason, or that of its first configuration, none of which does."""
    return symptoms.reason_of(result) or "no reason is given"


def _lacks(interface: str) -> str:
    """How cases say that they do not apply for lack of an interface."""
    return f"the subject has no {interface} interface"


def _of_outcomes(verdicts: Sequence[CaseResult], ending: str) -> list[str]:
    """How many cases ended badly, and some of their names. ending: why the run ended before some were run."""
    lines = []
    for outcome in (Outcome.FAIL, Outcome.CRASH, Outcome.HANG, Outcome.NOT_RUN, Outcome.SUITE_ERROR):
        names = [result.case for result in verdicts if result.outcome is outcome]
        if names:
            why = f" ({ending})" if ending and outcome is Outcome.NOT_RUN else ""
            lines.append(f"{len(names):,} {outcome.value}{why}: {_some(names)}")
    touched = [result for result in verdicts if _has_waived(result)]
    partly = [result.case for result in touched if is_red(result.outcome, result.dispositions)]
    waived = [result.case for result in touched if result.case not in partly]
    for names, words in ((waived, "waived"), (partly, "waived in part")):
        if names:
            lines.append(f"{len(names):,} {words}: {_some(names)}")
    return lines


def _of_groups(interfaces: Sequence[InterfaceName], verdicts: Sequence[CaseResult]) -> list[str]:
    lines = []
    seen = {result.group for result in verdicts}
    for interface, groups in MANDATORY.items():
        # Where no case of the interface was selected at all, the selection is the reason.
        if interface in interfaces and any(group.value in seen for group in groups):
            lines += [line for group in groups if (line := _of_group(group, verdicts))]
    return lines


def _of_group(group: Group, verdicts: Sequence[CaseResult]) -> str:
    """Say why a mandatory group shows nothing of the subject; empty where something of it passed."""
    asked = [result for result in verdicts if result.group == group.value]
    if any(map(operation_evidence.has_pass, asked)):
        return ""
    if any(result.outcome is not Outcome.NOT_APPLICABLE for result in asked):
        return f"nothing of the mandatory group {group.value} passes"
    return f"no case of the mandatory group {group.value} was run{_why_not(asked)}"


def _why_not(inapplicable: Sequence[CaseResult]) -> str:
    """The reason of most; cases about another version tell nothing, since each version has some of each group."""
    telling = [result for result in inapplicable if not is_about_another_version(_reason(result))]
    return f": {_with_hint(_mostly(telling))}" if telling else ""


def _mostly(inapplicable: Sequence[CaseResult]) -> str:
    """What most of the cases say that do not apply."""
    ((reason, _),) = _alike(map(_reason, inapplicable)).most_common(1)
    return reason


def _alike(reasons: Iterable[str]) -> Counter[str]:
    """How often each reason was given. Those that only name something else behind a colon, such as a model, are one."""
    kinds: dict[str, Counter[str]] = defaultdict(Counter)
    for reason in reasons:
        kinds[reason.partition(": ")[0]][reason] += 1
    return Counter({_kind(head, given): given.total() for head, given in kinds.items()})


def _kind(head: str, given: Counter[str]) -> str:
    """The reason that most of a kind gave, in full; what all of them begin with where there is none."""
    ((reason, count),) = given.most_common(1)
    return reason if 2 * count > given.total() else head


def _with_hint(reason: str) -> str:
    """Add what a plug-in may bring so that cases apply that now say this."""
    wanted = next((hint for name, hint in _TO_BRING.items() if reason == _lacks(name)), "")
    return f"{reason} (to be judged, {wanted})" if wanted else reason


def _has_waived(result: CaseResult) -> bool:
    parts = (part.dispositions for part in result.configurations)
    return any(Disposition.WAIVED in dispositions for dispositions in (result.dispositions, *parts))


def _some(names: Sequence[str]) -> str:
    return " ".join(names[:_NAMED]) + (" ..." if len(names) > _NAMED else "")
