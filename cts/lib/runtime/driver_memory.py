"""Memory of a scripted driver, as an app gets it from a descriptor: made, computed with, and looked at."""

from __future__ import annotations

from npu_conformance.cts.lib.runtime.described_sums import execution_between
from npu_conformance.cts.lib.runtime.memories import Role, described, object_of
from npu_conformance.cts.lib.runtime.scripted_app import ScriptedApp
from npu_conformance.cts.lib.runtime.sums import TOTAL, unpacked
from npu_conformance.harness.judge import checks
from npu_conformance.harness.judge.verdicts import NotApplicable
from npu_conformance.specs.neuralnetworks.enums import ErrorStatus


def allocations(app: ScriptedApp, name: str) -> int:
    """How many buffers a driver has given."""
    calls = app.control.driver_calls(name)
    return sum(call.method == "allocate" and call.status == ErrorStatus.NONE for call in calls)


def _given(app: ScriptedApp) -> int:
    return sum(allocations(app, name) for name in app.driver_names)


def driver_memory(app: ScriptedApp, *roles: Role) -> int:
    """Memory for these roles. NotApplicable where the runtime gives none; no driver may have given any then."""
    before = _given(app)
    made = described(app, roles)
    if made is None:
        checks.equal(_given(app) - before, 0, "buffers that drivers gave, where the app got no memory")
        raise NotApplicable("the runtime gives no memory from this descriptor")
    return made


def compute_between(app: ScriptedApp, compilation: int, first: int, output: int) -> None:
    """Compute a sum from one memory to the other, which has to succeed."""
    app.expect("execution_compute", app.compute(execution_between(app, compilation, first, output)))


def check_content(app: ScriptedApp, memory: int, expected: tuple[float, ...] = TOTAL) -> None:
    """Check the floats in memory, which are copied out."""
    pool = app.context.pool(4 * len(expected))
    app.succeed("memory_copy", memory, object_of(app, pool.memory))
    checks.equal(unpacked(pool.read(0, 4 * len(expected))), expected, "the sum")
