"""Memory from descriptors for the sum a + b: as its first input and its output, filled, read and computed with."""

from __future__ import annotations

from collections.abc import Sequence

from npu_conformance.cts.lib.runtime.fixture import RuntimeApp
from npu_conformance.cts.lib.runtime.memories import Role, described
from npu_conformance.cts.lib.runtime.sums import FIRST, SECOND, packed, unpacked
from npu_conformance.harness.judge.verdicts import NotApplicable
from npu_conformance.harness.nnapi.caller_memory import place

BOTH = ("input", "output")
"""The roles that memory can have."""


def memory_of_roles(app: RuntimeApp, roles: Sequence[Role], dimensions: tuple[int, ...] = ()) -> int:
    """Memory from a descriptor. NotApplicable where the runtime declines."""
    made = described(app, roles, dimensions)
    if made is None:
        raise NotApplicable("the runtime gives no memory from this descriptor")
    return made


def memory_for_sum(app: RuntimeApp, compilation: int, roles: Sequence[str] = BOTH) -> int:
    """Memory that can be the first input of the sum, and its output."""
    return memory_of_roles(app, [Role(role, compilation, 0) for role in roles])


def fill(app: RuntimeApp, memory: int, values: Sequence[float] = FIRST) -> None:
    """Copy floats into memory."""
    source, _ = app.shared_memory(4 * len(values), packed(values))
    app.succeed("memory_copy", source, memory)


def content_of(app: RuntimeApp, memory: int) -> tuple[float, ...]:
    """The two floats in memory, which are copied out."""
    target, pool = app.shared_memory(8)
    app.succeed("memory_copy", memory, target)
    return unpacked(pool.read(0, 8))


def execution_between(app: RuntimeApp, compilation: int, first: int, output: int) -> int:
    """An execution of the sum whose first input and output are memories from descriptors."""
    execution = app.execution(compilation)
    app.succeed("execution_set_input_from_memory", execution, 0, None, first, 0, 0)
    app.succeed("execution_set_input", execution, 1, None, place(app.memory, packed(SECOND)), 8)
    app.succeed("execution_set_output_from_memory", execution, 0, None, output, 0, 0)
    return execution
