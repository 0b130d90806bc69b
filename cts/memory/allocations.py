"""What a driver is told that has to allocate memory: its shape, and each use with its frequency; each time anew."""

from __future__ import annotations

from collections.abc import Sequence

from npu_conformance.cts.lib.runtime.memories import Role
from npu_conformance.cts.lib.runtime.nets import MATRIX, NetBuilder, net_of
from npu_conformance.cts.lib.runtime.scripted_app import ScriptedApp
from npu_conformance.cts.lib.runtime.scripts import driver
from npu_conformance.harness.judge import checks
from npu_conformance.harness.judge.verdicts import NotApplicable
from npu_conformance.harness.nnapi.app import UNKNOWN_DIMENSION
from npu_conformance.harness.run.cases import CaseGroup
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.specs.neuralnetworks.runtime.control import DriverCall
from npu_conformance.specs.neuralnetworks.types import BufferRole
from npu_conformance.specs.versions import Version

cases = CaseGroup("cts.memory.allocations", interface="runtime", since=Version.V1_3)

Use = tuple[Role, float]
"""A role with its frequency."""


def _described(app: ScriptedApp, uses: Sequence[Use], dimensions: tuple[int, ...] = ()) -> int:
    """A finished descriptor."""
    made = app.made("memory_desc_create", True)
    for role, frequency in uses:
        app.succeed(f"memory_desc_add_{role.role}_role", made, role.compilation, role.position, frequency)
    if dimensions:
        app.succeed("memory_desc_set_dimensions", made, len(dimensions), dimensions)
    app.succeed("memory_desc_finish", made)
    return made


def _allocated(app: ScriptedApp, descriptor: int) -> DriverCall:
    """Make memory; returns the call that the driver got. NotApplicable where it was not asked."""
    before = len(app.calls("one", "allocate"))
    memory = app.memory_if_given(descriptor)
    calls = app.calls("one", "allocate")[before:]
    if memory is None and not calls:
        raise NotApplicable("the runtime gives no memory from this descriptor")
    return checks.single(calls, "calls of allocate to the driver")


def _told(roles: Sequence[BufferRole]) -> list[tuple[int, float]]:
    return sorted((role.io_index, role.probability) for role in roles)


def _expected(uses: Sequence[Use], kind: str) -> list[tuple[int, float]]:
    return sorted((role.position, frequency) for role, frequency in uses if role.role == kind)


@cases.case("roles", "FW-MEM-002", "FW-MEM-011")
def roles(context: CaseContext) -> None:
    """The driver is told each use with its own frequency, of each descriptor and for each memory made from it."""
    app = ScriptedApp(context, driver("one"))
    one, other = (app.finished_compilation(app.finished_model(), app.named("one")) for _ in range(2))
    all_uses: list[list[Use]] = [
        [(Role("input", one, 0), 0.25), (Role("input", one, 1), 0.5), (Role("output", one, 0), 1.0)],
        [(Role("output", one, 0), 0.125), (Role("input", one, 1), 0.75)],
        [(Role("input", one, 0), 1.0), (Role("input", other, 1), 0.5), (Role("output", other, 0), 0.25)],
    ]
    for uses in (*all_uses, *all_uses[::-1]):
        descriptor = _described(app, uses)
        for _ in range(2):
            call = _allocated(app, descriptor)
            if not (call.input_roles or call.output_roles):
                raise NotApplicable("the runtime_control does not tell for which roles drivers allocate")
            for kind, found in (("input", call.input_roles), ("output", call.output_roles)):
                checks.equal(
                    _told(found), _expected(uses, kind), f"{kind}s that the driver allocates for, with frequency"
                )


@cases.case("roles_of_parts", "FW-MEM-011", "FW-MEM-002")
def roles_of_parts(context: CaseContext) -> None:
    """So it is where it has parts of the model: each use by a part has the frequency of the role."""
    builder = NetBuilder()
    first, second = builder.input(MATRIX), builder.input(MATRIX)
    total = builder.binary("ADD", first, second)
    net = builder.net(builder.binary("ADD", builder.binary("MUL", total, total), second))
    app = ScriptedApp(context, driver("one", "ADD"), driver("two", "MUL"))
    compiled = app.compiled(net_of(net.vector), "one", "two")
    for frequency in (0.25, 0.75, 0.25):
        call = _allocated(app, _described(app, [(Role("input", compiled.handle, 1), frequency)]))
        if not call.input_roles:
            raise NotApplicable("the runtime_control does not tell for which roles drivers allocate")
        found = [role.probability for role in call.input_roles]
        checks.equal(found, [frequency] * 2, "frequencies of the two parts that read the input")


@cases.case("dimensions", "FW-MEM-002", "FW-MEM-008")
def dimensions(context: CaseContext) -> None:
    """The driver is told the shape that the descriptor says, also where that of another memory was another one."""
    app = ScriptedApp(context, driver("one"))
    compilation = app.finished_compilation(app.finished_model(UNKNOWN_DIMENSION, UNKNOWN_DIMENSION), app.named("one"))
    for size in (3, 5, 3):
        call = _allocated(app, _described(app, [(Role("input", compilation, 0), 1.0)], (size,)))
        if not (call.input_roles or call.output_roles):
            raise NotApplicable("the runtime_control does not tell for which roles drivers allocate")
        checks.equal(call.dimensions, (size,), "dimensions that the driver allocates for")
