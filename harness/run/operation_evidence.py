"""What a verdict says about the execution of operations. Refusals of what is invalid say nothing about it."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence

from npu_conformance.harness.run.cases import Group
from npu_conformance.specs.documents.results import CaseResult
from npu_conformance.specs.documents.summary import OperationWork
from npu_conformance.specs.neuralnetworks.runtime.devices import CPU
from npu_conformance.specs.outcomes import Outcome

Operations = Mapping[str, Sequence[str]]
"""Names of operations, with the types of their tensors."""


def has_pass(result: CaseResult) -> bool:
    """True where the case, or one of its configurations, passed."""
    return result.outcome is Outcome.PASS or any(part.outcome is Outcome.PASS for part in result.configurations)


def named(result: CaseResult) -> Operations:
    """The operations that a case is about, each with the types that the case has."""
    return dict.fromkeys(result.operations, result.types)


def refused(result: CaseResult) -> Operations:
    """The operations that a device said no to, or did not execute; all of the case where no model was refused."""
    models = [*result.refused, *(model for part in result.configurations for model in part.refused)]
    found: dict[str, dict[str, None]] = {}
    for model in models:
        for use in [use for use in model if not use.supported] or model:
            found.setdefault(use.operation, {}).update(dict.fromkeys(use.types))
    return {operation: tuple(types) for operation, types in found.items()} or named(result)


def asked(result: CaseResult) -> Operations:
    """The operations whose execution the verdict is about.

    A pass is about what was executed; any other verdict about what the case would have executed. None where a model
    went through a runtime, whose own CPU may have done the work.
    """
    if result.interface != "device":
        return {}
    if result.outcome is Outcome.PASS:
        return result.executed
    if result.group == Group.VALIDATION.value or not result.operations:
        return {}
    return refused(result) if result.outcome is Outcome.NOT_SUPPORTED else named(result)


def coverage(verdicts: Iterable[CaseResult]) -> tuple[list[str], list[str]]:
    """The operations of which something was executed and is right, and those that were asked for in vain.

    Operations that are only in models of other ones' cases, such as SLICE before RELU6, are neither.
    """
    ran = [result for result in verdicts if result.outcome is not Outcome.NOT_APPLICABLE]
    subjects = set[str]().union(*map(_subjects, ran))
    executed = {name for result in ran if has_pass(result) for name in result.executed}
    tried = executed.union(*map(asked, ran))
    return sorted(executed & subjects), sorted((tried - executed) & subjects)


def _subjects(result: CaseResult) -> Iterable[str]:
    """The operations that a case is about: one where it is a case of that, all that it names or executes otherwise."""
    return [result.operation] if result.operation else result.operations or result.executed


def work(verdicts: Iterable[CaseResult]) -> tuple[OperationWork, ...]:
    """Who executed each operation under a runtime, sorted by operation. What the CPU did is no merit of a driver."""
    drivers: dict[str, dict[str, Counter[str]]] = defaultdict(lambda: defaultdict(Counter))
    alone: dict[str, Counter[str]] = defaultdict(Counter)
    both: Counter[str] = Counter()
    for result in verdicts:
        outcome = result.outcome.value
        if result.outcome is Outcome.NOT_APPLICABLE:
            continue
        for operation, devices in _devices_by_operation(result).items():
            for device in devices - {CPU}:
                drivers[operation][device][outcome] += 1
            if devices == {CPU}:
                alone[operation][outcome] += 1
            both[operation] += CPU in devices and len(devices) > 1
    return tuple(
        OperationWork(
            name, {device: dict(counts) for device, counts in drivers[name].items()}, dict(alone[name]), both[name]
        )
        for name in sorted({*drivers, *alone})
    )


def _devices_by_operation(result: CaseResult) -> Mapping[str, set[str]]:
    found: dict[str, set[str]] = defaultdict(set)
    for device, operations in result.executed_by.items():
        for operation in operations:
            found[operation].add(device)
    return found
