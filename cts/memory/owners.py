"""Whose memory from a descriptor is: of the compilations that its uses name, each in the uses that it has there."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping

from npu_conformance.cts.lib.runtime.described_sums import content_of, execution_between, fill, memory_of_roles
from npu_conformance.cts.lib.runtime.fixture import RuntimeApp
from npu_conformance.cts.lib.runtime.memories import Role
from npu_conformance.cts.lib.runtime.sums import TOTAL
from npu_conformance.harness.judge import checks
from npu_conformance.harness.run.cases import CaseGroup
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.specs.neuralnetworks.enums import ExecutionPreference
from npu_conformance.specs.neuralnetworks.runtime.result_codes import ResultCode, RuntimePriority
from npu_conformance.specs.versions import Version

cases = CaseGroup("cts.memory.owners", interface="runtime", since=Version.V1_3)

Compile = Callable[[RuntimeApp, int], int]
"""Compiles a model; returns the compilation."""
_USES = (("input", 0), ("input", 1), ("output", 0))
"""Each argument of the sum."""


def _default(app: RuntimeApp, model: int) -> int:
    return app.finished_compilation(model)


def _named(app: RuntimeApp, model: int) -> int:
    return app.finished_compilation(model, (app.cpu(),))


def _saying_more(app: RuntimeApp, model: int) -> int:
    compilation = app.compilation(model)
    app.succeed("compilation_set_preference", compilation, ExecutionPreference.LOW_POWER)
    app.succeed("compilation_set_priority", compilation, RuntimePriority.HIGH)
    app.succeed("compilation_finish", compilation)
    return compilation


_COMPILES: Mapping[str, Compile] = {"default": _default, "named": _named, "saying_more": _saying_more}


def _set(app: RuntimeApp, execution: int, use: tuple[str, int], memory: int, code: int) -> None:
    side, index = use
    function = f"execution_set_{side}_from_memory"
    app.refused(function, code, execution, index, None, memory, 0, 0)


@cases.case("another_compilation", "FW-MEM-003")
def another_compilation(context: CaseContext) -> None:
    """Another compilation of the model, however like the first and whichever is older, may not use the memory."""
    for (one, compile_one), (two, compile_two) in itertools.product(_COMPILES.items(), repeat=2):
        for is_older in (True, False):
            with context.configuration(f"{one}.{two}.{'older' if is_older else 'newer'}"):
                _judge_another(RuntimeApp(context), compile_one, compile_two, is_older=is_older)


def _judge_another(app: RuntimeApp, own: Compile, other: Compile, *, is_older: bool) -> None:
    model = app.finished_model()
    if is_older:
        foreign = other(app, model)
        owner = own(app, model)
    else:
        owner, foreign = own(app, model), other(app, model)
    for use in _USES:
        memory = memory_of_roles(app, [Role(use[0], owner, use[1])])
        _set(app, app.execution(foreign), use, memory, ResultCode.BAD_DATA)
        _set(app, app.execution(owner), use, memory, ResultCode.NO_ERROR)


@cases.case("uses_of_several", "FW-MEM-003")
def uses_of_several(context: CaseContext) -> None:
    """Of several compilations each has the uses of its own, and not those of the others, of one model or of two."""
    for is_same, (first, second) in itertools.product((True, False), itertools.permutations(_USES, 2)):
        models = "one_model" if is_same else "two_models"
        with context.configuration(f"{models}.{first[0]}{first[1]}.{second[0]}{second[1]}"):
            app = RuntimeApp(context)
            model = app.finished_model()
            owners = [app.finished_compilation(each) for each in (model, model if is_same else app.finished_model())]
            roles = [Role(use[0], owner, use[1]) for owner, use in zip(owners, (first, second), strict=True)]
            memory = memory_of_roles(app, roles)
            for owner, own in zip(owners, (first, second), strict=True):
                for use in _USES:
                    code = ResultCode.NO_ERROR if use == own else ResultCode.BAD_DATA
                    _set(app, app.execution(owner), use, memory, code)


@cases.case("refused_ones_change_nothing", "FW-MEM-003", "FW-MEM-004")
def refused_ones_change_nothing(context: CaseContext) -> None:
    """What another compilation was refused stays as it was, and computes where it belongs."""
    app = RuntimeApp(context)
    model = app.finished_model()
    owner, foreign = app.finished_compilation(model), app.finished_compilation(model)
    first, output = (memory_of_roles(app, [Role(side, owner, 0)]) for side in ("input", "output"))
    fill(app, first)
    wrong = app.execution(foreign)
    for side, memory in (("input", first), ("output", output)):
        _set(app, wrong, (side, 0), memory, ResultCode.BAD_DATA)
    app.expect("execution_compute", app.compute(execution_between(app, owner, first, output)))
    checks.equal(content_of(app, output), TOTAL, "the sum")
