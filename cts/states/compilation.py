"""Compilations: unfinished, finished, failed."""

from __future__ import annotations

from npu_conformance.cts.lib.runtime.fixture import RuntimeApp
from npu_conformance.cts.lib.runtime.legal.compilations import computes, finish
from npu_conformance.cts.lib.runtime.refusals import refuses
from npu_conformance.harness.run.cases import CaseGroup, Group
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.specs.neuralnetworks.runtime.result_codes import ResultCode
from npu_conformance.specs.versions import Version

cases = CaseGroup("cts.states.compilation", interface="runtime", group=Group.RUNTIME_COMPILATIONS)

_SETTERS = (
    "compilation_set_preference",
    "compilation_set_caching",
    "compilation_set_priority",
    "compilation_set_timeout",
    "compilation_add_extension_attribute",
    "compilation_finish",
)
_USES = (
    "execution_create",
    "burst_create",
    "compilation_get_preferred_memory_alignment_for_input",
    "compilation_get_preferred_memory_padding_for_input",
    "compilation_get_preferred_memory_alignment_for_output",
    "compilation_get_preferred_memory_padding_for_output",
)
_ROLES = ("memory_desc_add_input_role", "memory_desc_add_output_role")


def _explicit(app: RuntimeApp) -> tuple[int, ...]:
    """The devices with which all setters are legal: one, where the feature level lets the app name it."""
    return (app.cpu(),) if app.level >= Version.V1_2 else ()


@cases.case("unfinished_cannot_be_used", "FW-EXE-001", "FW-CMP-008", "FW-MEM-002")
def unfinished_cannot_be_used(context: CaseContext) -> None:
    """A compilation that is not finished is used by nothing, and can then be finished."""
    app = RuntimeApp(context)
    compilation = app.compilation()
    refuses(app, _USES, "compilation", compilation, ResultCode.BAD_STATE)
    refuses(app, _ROLES, "compilation", compilation, ResultCode.BAD_DATA)
    finish(app, compilation)


@cases.case("finished_refuses_setters", "FW-CMP-003")
def finished_refuses_setters(context: CaseContext) -> None:
    """A finished compilation refuses every setter and a second finish, and still computes."""
    app = RuntimeApp(context)
    compilation = app.finished_compilation(devices=_explicit(app))
    refuses(app, _SETTERS, "compilation", compilation, ResultCode.BAD_STATE)
    computes(app, compilation)


@cases.case("failed_refuses_everything", "FW-CMP-003", "FW-EXE-001", "FW-CMP-008", "FW-MEM-002")
def failed_refuses_everything(context: CaseContext) -> None:
    """A compilation whose finish has failed refuses every setter, a second finish and every use."""
    app = RuntimeApp(context)
    compilation = app.failed_compilation()
    refuses(app, (*_SETTERS, *_USES), "compilation", compilation, ResultCode.BAD_STATE)
    refuses(app, _ROLES, "compilation", compilation, ResultCode.BAD_DATA)


@cases.case("freed_in_every_state", "FW-API-003")
def freed_in_every_state(context: CaseContext) -> None:
    """A compilation is freed unfinished, finished and failed, and disturbs no other of the same model."""
    app = RuntimeApp(context)
    model = app.finished_model()
    kept = app.finished_compilation(model)
    for compilation in (app.compilation(model), app.finished_compilation(model), app.failed_compilation()):
        app.free(compilation)
    computes(app, kept)


@cases.case("setters_may_be_repeated", "FW-CMP-004", "FW-CMP-006")
def setters_may_be_repeated(context: CaseContext) -> None:
    """Before finish, preference and priority may be set again and again, to each of their values."""
    app = RuntimeApp(context)
    compilation = app.compilation()
    for preference in (0, 1, 2, 1, 0):
        app.succeed("compilation_set_preference", compilation, preference)
    if app.level >= Version.V1_3:
        for priority in (90, 100, 110, 90):
            app.succeed("compilation_set_priority", compilation, priority)
    finish(app, compilation)
