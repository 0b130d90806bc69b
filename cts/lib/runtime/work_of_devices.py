"""Who did the work of a case: the drivers, or the runtime's own CPU, which is no merit of theirs."""

from __future__ import annotations

from npu_conformance.cts.lib.runtime.fixture import CPU
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.specs.neuralnetworks.model_text import operation_name
from npu_conformance.specs.neuralnetworks.runtime.control import RuntimeControl


def begin(context: CaseContext) -> None:
    """Forget what was executed before the case."""
    control: RuntimeControl | None = context.subject.interfaces.runtime_control
    if control is not None:
        control.executed_operations()


def note(context: CaseContext) -> None:
    """Note which operations drivers executed in the case, and which only the CPU did.

    Nothing where the runtime cannot tell. Drivers that were never used are not named.
    """
    control: RuntimeControl | None = context.subject.interfaces.runtime_control
    if control is None:
        return
    found = {one.device: set(one.operations) for one in control.executed_operations()}
    on_cpu = found.pop(CPU, set())
    for operations in found.values():
        on_cpu -= operations
    for device, operations in found.items():
        if operations:
            context.note(f"executed by {device}", _names(operations))
    if on_cpu:
        context.note("executed by the runtime's CPU alone", _names(on_cpu))


def _names(operations: set[int]) -> str:
    return " ".join(sorted(map(operation_name, operations)))
