"""Who did the work of a case that went through a runtime: its drivers, or its own CPU, which is no merit of theirs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from npu_conformance.specs.errors import Unsupported
from npu_conformance.specs.neuralnetworks.model_text import operation_name

if TYPE_CHECKING:
    from npu_conformance.harness.subject.handle import SubjectHandle

_MOST = 1000
"""How many operations of a device are kept: a runtime may say what it likes."""


def taken(subject: SubjectHandle) -> dict[str, tuple[str, ...]]:
    """The operations that each device has executed since this was asked last; nothing of a runtime that cannot tell.

    Devices that executed nothing are left out.
    """
    control = subject.interfaces.runtime_control
    if control is None:
        return {}
    try:
        work = control.executed_operations()
    except Unsupported:
        return {}
    return {one.device: tuple(sorted(map(operation_name, one.operations[:_MOST]))) for one in work if one.operations}
