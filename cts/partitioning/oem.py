"""OEM operations: a driver's alone."""

from __future__ import annotations

from npu_conformance.cts.lib.runtime.oem import oem_model
from npu_conformance.cts.lib.runtime.scripted_app import ScriptedApp
from npu_conformance.cts.lib.runtime.scripts import FAST, driver, failing
from npu_conformance.harness.judge import checks
from npu_conformance.harness.run.cases import CaseGroup
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.specs.neuralnetworks.enums import ErrorStatus, OperandType
from npu_conformance.specs.neuralnetworks.runtime.result_codes import ResultCode, result_of_status
from npu_conformance.specs.neuralnetworks.runtime.types import NULL, OperandDescription
from npu_conformance.specs.versions import Version

cases = CaseGroup("cts.partitioning.oem", interface="runtime", since=Version.V1_2)


def _finish(app: ScriptedApp, *devices: str) -> int:
    """The code with which the compilation of an OEM operation ends."""
    compilation = app.compilation(oem_model(app), app.named(*devices) if devices else ())
    result: int = app.call("compilation_finish", compilation)
    return result


@cases.case("driver_does_it", "FW-PRT-001")
def driver_does_it(context: CaseContext) -> None:
    """The driver that supports it gets it, named or not, also where it is slower than the CPU."""
    for time in (FAST, 2.0):
        app = ScriptedApp(context, driver("oem", "OEM_OPERATION", exec_time=time))
        app.expect("compilation_finish", _finish(app))
        app.expect("compilation_finish", _finish(app, "oem"))
        app.gets(oem=("OEM_OPERATION",) * 2)
        app.close()


@cases.case("operands", "FW-MDL-009", "FW-PRT-001")
def operands(context: CaseContext) -> None:
    """Operands of OEM types, whose parameters mean something to their driver alone, are operands of a valid model."""
    app = ScriptedApp(context, driver("oem", "OEM_OPERATION", exec_time=FAST))
    for name, described in (
        ("scalar", OperandDescription(int(OperandType.OEM))),
        ("tensor", OperandDescription(int(OperandType.TENSOR_OEM_BYTE), 1, (8,))),
        ("tensor_with_parameters", OperandDescription(int(OperandType.TENSOR_OEM_BYTE), 1, (8,), 0.5, 300)),
    ):
        with context.configuration(name):
            checks.that(oem_model(app, described) > NULL, "a finished model")


@cases.case("nobody_does_it", "FW-PRT-008", "FW-PRT-017")
def nobody_does_it(context: CaseContext) -> None:
    """Without a driver for it the compilation fails with BAD_DATA; the CPU does not stand in."""
    app = ScriptedApp(context, driver("adds", "ADD", exec_time=FAST))
    for devices in ((), ("adds",), ("nnapi-reference",)):
        app.expect("compilation_finish", _finish(app, *devices), ResultCode.BAD_DATA)


@cases.case("driver_fails", "FW-PRT-009")
def driver_fails(context: CaseContext) -> None:
    """Where its driver cannot prepare it, the driver's code is the app's."""
    for status in (ErrorStatus.GENERAL_FAILURE, ErrorStatus.DEVICE_UNAVAILABLE):
        app = ScriptedApp(context, driver("oem", "OEM_OPERATION", **failing("prepare_model", status)))
        app.expect("compilation_finish", _finish(app), result_of_status(status))
        app.close()
