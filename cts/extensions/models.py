"""Models with operations of an extension: computed by the drivers that have it, and by nobody else."""

from __future__ import annotations

import struct
from collections.abc import Sequence

from npu_conformance.cts.lib.runtime.fixture import CPU
from npu_conformance.cts.lib.runtime.scripted_app import ScriptedApp
from npu_conformance.cts.lib.runtime.scripts import FAST, both, driver, failing, misbehaving
from npu_conformance.cts.lib.runtime.vendor import (
    ECHO,
    FIBONACCI,
    NUMBERS_TYPE,
    PARAMETERS,
    PREFIX_BITS,
    VALUES,
    FibonacciModel,
    branching_model,
    fibonacci_numbers,
    lists,
    type_code,
)
from npu_conformance.cts.lib.runtime.ways import compute, ways
from npu_conformance.harness.judge import checks
from npu_conformance.harness.nnapi.caller_memory import place
from npu_conformance.harness.run.cases import CaseGroup, Scope
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.specs.neuralnetworks.enums import ErrorStatus
from npu_conformance.specs.neuralnetworks.runtime.control import DriverCall, SupportedOperation
from npu_conformance.specs.neuralnetworks.runtime.result_codes import ResultCode, result_of_status
from npu_conformance.specs.neuralnetworks.runtime.types import OperandDescription
from npu_conformance.specs.versions import Version

cases = CaseGroup("cts.extensions.models", interface="runtime", since=Version.V1_2)


def _computes(app: ScriptedApp, *devices: str, has_add: bool = False) -> int:
    """Compile and compute the numbers rightly; returns the compilation."""
    model = FibonacciModel(app, has_add=has_add).built()
    compilation = app.compilation(model, app.named(*devices) if devices else ())
    app.succeed("compilation_finish", compilation)
    result, numbers = fibonacci_numbers(app, compilation)
    app.expect("execution_compute", result)
    checks.equal(numbers, VALUES, "Fibonacci numbers")
    return compilation


def _refused(app: ScriptedApp, code: int, *devices: str, parameters: bytes = PARAMETERS) -> None:
    """Check that a compilation fails with this code."""
    model = FibonacciModel(app, parameters).built()
    compilation = app.compilation(model, app.named(*devices) if devices else ())
    app.refused("compilation_finish", code, compilation)


@cases.case("computes", "FW-EXT-011", "FW-EXT-005", scope=Scope.SMOKE)
def computes(context: CaseContext) -> None:
    """The driver that has the extension computes it, named or not."""
    app = ScriptedApp(context, driver("other"), lists("one"))
    _computes(app)
    _computes(app, "one")


@cases.case("in_parts", "FW-EXT-011", "FW-PRT-006")
def in_parts(context: CaseContext) -> None:
    """Other operations of the model may be those of other devices."""
    app = ScriptedApp(context, driver("adds", "ADD", exec_time=0.1), lists("one"))
    _computes(app, has_add=True)
    app.gets(adds=("ADD",))
    model = app.prepared_once("adds")
    checks.equal(model.extension_name_to_prefix, (), "extensions of the part without any")


@cases.case("between_drivers", "FW-EXT-011", "FW-PRT-006")
def between_drivers(context: CaseContext) -> None:
    """A value of the extension's type, and its data, pass from one driver that has the extension to another."""
    scripts = [lists(name, operations=_coded(code)) for name, code in (("counts", 0), ("reads", 1))]
    app = ScriptedApp(context, *scripts)
    for devices in ((), ("counts", "reads")):
        _computes(app, *devices)
        checks.equal([len(app.executions(name)) for name in ("counts", "reads")], [1 + bool(devices)] * 2, "executions")


def _coded(code: int) -> tuple[SupportedOperation, ...]:
    """An operation of the extension, whichever prefix the process has given it."""
    return tuple(SupportedOperation(prefix << PREFIX_BITS | code) for prefix in range(1, 9))


@cases.case("supported_operations", "FW-EXT-011", "FW-PRT-017")
def supported_operations(context: CaseContext) -> None:
    """Operations of the extension are supported by the driver that has it, and not by the others nor the CPU."""
    app = ScriptedApp(context, driver("other"), lists("one"))
    model = FibonacciModel(app, has_add=True).built()
    expected = {"one": (True,) * 3, "other": (False, False, True), CPU: (False, False, True)}
    for name, answers in expected.items():
        checks.equal(app.supported(model, name), answers, f"operations that {name} supports")


@cases.case("data_reaches_driver", "FW-EXT-012")
def data_reaches_driver(context: CaseContext) -> None:
    """The data set on an operand reaches the driver byte by byte."""
    app = ScriptedApp(context, lists("one"))
    _computes(app)
    model = app.prepared_once("one")
    found = [each.extra_params.extension for each in model.main.operands if each.extra_params]
    checks.equal(found, [PARAMETERS], "extension data of the operands")


@cases.case("data_of_any_length", "FW-EXT-012", since=Version.FL5)
def data_of_any_length(context: CaseContext) -> None:
    """Data of any length reaches the driver byte by byte, whatever it makes of it."""
    for length in (1, 3, 5, 16):
        with context.configuration(f"bytes{length}"):
            app, data = ScriptedApp(context, lists("one")), bytes(range(1, length + 1))
            compilation = app.compilation(FibonacciModel(app, data).built(), app.named("one"))
            app.call("compilation_finish", compilation)
            checks.equal(_data_seen(app), {data}, "extension data of the operands")
            app.close()


@cases.case("judged_by_drivers", "FW-EXT-007", "FW-VER-001")
def judged_by_drivers(context: CaseContext) -> None:
    """A driver of any HAL is asked about operands without the data that its extension wants: only it knows that."""
    for hal in (Version.V1_2, Version.V1_3, Version.FL5, Version.FL8):
        app = ScriptedApp(context, lists("one", hal=hal))
        with context.configuration(hal.name.lower()):
            app.supported(FibonacciModel(app, b"").built(), "one")
            asked = [call.model for call in app.calls("one", "get_supported_operations") if call.model is not None]
            types = {operand.type >> PREFIX_BITS > 0 for model in asked for operand in model.main.operands}
            checks.member(True, types, f"whether a driver of {hal} is asked about operands of its extension")
        app.close()


@cases.case("data_is_copied", "FW-EXT-012")
def data_is_copied(context: CaseContext) -> None:
    """Short data is copied at once; set again it is replaced, and null removes it."""
    other = PARAMETERS[::-1]
    for name, contents, expected in (
        ("again", (other, PARAMETERS), {PARAMETERS}),
        ("null", (PARAMETERS, b""), set()),
        ("after_null", (PARAMETERS, b"", other), {other}),
    ):
        with context.configuration(name):
            app = ScriptedApp(context, lists("one"))
            app.call("compilation_finish", app.compilation(FibonacciModel(app, contents).built(), app.named("one")))
            checks.equal(_data_seen(app), expected, "extension data of the operands")
            app.close()


def _data_seen(app: ScriptedApp) -> set[bytes | None]:
    """The extension data of all operands that the driver has been told of."""
    models = [call.model for call in app.calls("one") if call.model is not None]
    operands = [operand for model in models for operand in model.main.operands]
    return {each.extra_params.extension for each in operands if each.extra_params}


@cases.case("no_driver", "FW-EXT-006", "FW-PRT-008")
def no_driver(context: CaseContext) -> None:
    """Where the named devices do not have the extension the compilation fails with BAD_DATA."""
    app = ScriptedApp(context, driver("other"), lists("one"))
    for devices in (("other",), (CPU,), ("other", CPU)):
        _refused(app, ResultCode.BAD_DATA, *devices)


@cases.case("driver_refuses_operation", "FW-EXT-006", "FW-PRT-008")
def driver_refuses_operation(context: CaseContext) -> None:
    """A driver that lists the extension and says that it does not support an operation is not asked to prepare it."""
    app = ScriptedApp(context, lists("one", **failing("get_supported_operations")))
    _refused(app, ResultCode.BAD_DATA)
    app.gets(one=())


def _declare_no_fallback(status: ErrorStatus) -> None:
    @cases.case(f"no_fallback.{status.name.lower()}", "FW-EXT-006", "FW-PRT-009", since=max(status.since, Version.V1_2))
    def no_fallback(context: CaseContext) -> None:
        """Where its driver cannot prepare it, the driver's code is the app's, also in a default compilation."""
        app = ScriptedApp(context, lists("one", **failing("prepare_model", status)))
        for devices in ((), ("one",)):
            _refused(app, result_of_status(status), *devices)


for _status in (
    ErrorStatus.GENERAL_FAILURE,
    ErrorStatus.DEVICE_UNAVAILABLE,
    ErrorStatus.INVALID_ARGUMENT,
    ErrorStatus.RESOURCE_EXHAUSTED_TRANSIENT,
):
    _declare_no_fallback(_status)


@cases.case("no_fallback_of_branch", "FW-EXT-006", "FW-PRT-009", since=Version.V1_3)
def no_fallback_of_branch(context: CaseContext) -> None:
    """So it is where the operation is in a branch alone."""
    fails = failing("prepare_model", ErrorStatus.RESOURCE_EXHAUSTED_TRANSIENT)
    app = ScriptedApp(context, lists("one", if_performance=both(FAST), **fails))
    for devices in ((), ("one",)):
        compilation = app.compilation(branching_model(app), app.named(*devices) if devices else ())
        app.refused("compilation_finish", ResultCode.RESOURCE_EXHAUSTED_TRANSIENT, compilation)


@cases.case("no_fallback_in_execution", "FW-EXT-006")
def no_fallback_in_execution(context: CaseContext) -> None:
    """Where its driver cannot execute it nobody can: the execution fails."""
    for fields in (failing("execute"), misbehaving("execute", "shapes")):
        app = ScriptedApp(context, lists("one", **fields))
        compilation = app.compilation(FibonacciModel(app).built())
        app.succeed("compilation_finish", compilation)
        result, _ = fibonacci_numbers(app, compilation)
        codes = [code for code in ResultCode if code is not ResultCode.NO_ERROR]
        app.expect("execution_compute", result, *codes)
        app.close()


@cases.case("operand_too_large", "FW-MDL-010")
def operand_too_large(context: CaseContext) -> None:
    """An operand of a type of the extension has less than 2^32 bytes, of eight for each element."""
    app = ScriptedApp(context, lists("one"))
    model = app.empty_model()
    code = type_code(app, model, NUMBERS_TYPE)
    for elements in (1 << 29, 1 << 31):
        too_large = OperandDescription(code, 1, (elements,))
        app.refused("model_add_operand", ResultCode.BAD_DATA, model, too_large)
    app.succeed("model_add_operand", model, OperandDescription(code, 1, ((1 << 29) - 1,)))


@cases.case("attributes_of_older_drivers", "FW-VER-001", "FW-EXT-008", since=Version.FL8)
def attributes_of_older_drivers(context: CaseContext) -> None:
    """Hints for a driver whose HAL has none are taken, and not told to it."""
    for hal in (Version.V1_3, Version.FL5, Version.FL7):
        app = ScriptedApp(context, lists("one", hal=hal))
        compilation = app.compilation(app.finished_model(), app.named("one"))
        function = "compilation_add_extension_attribute"
        app.expect(function, _attribute(app, function, compilation))
        app.succeed("compilation_finish", compilation)
        for way in ways(app.level):
            with context.configuration(f"{hal.name.lower()}.{way}"):
                execution = app.ready_execution(compilation)
                function = "execution_add_extension_attribute"
                app.expect(function, _attribute(app, function, execution))
                app.expect(way, compute(app, way, execution, compilation))
                app.check_sum(execution)
        told = [call.method for call in app.calls("one") if call.hints or "with_config" in call.method]
        checks.equal(told, [], f"calls with hints to a driver of HAL {hal}")
        app.close()


@cases.case("invalid_parameters", "FW-EXT-007")
def invalid_parameters(context: CaseContext) -> None:
    """Parameters that only the driver can judge: it says no, and goes on with what is right."""
    app = ScriptedApp(context, lists("one"))
    for parameters in (b"short", struct.pack("<dq", -1.0, 0), struct.pack("<dq", 0.0, 0)):
        model = FibonacciModel(app, parameters).built()
        compilation = app.compilation(model, app.named("one"))
        codes = (ResultCode.BAD_DATA, ResultCode.OP_FAILED)
        app.expect("compilation_finish", app.call("compilation_finish", compilation), *codes)
    _computes(app)


@cases.case("invalid_value", "FW-EXT-007")
def invalid_value(context: CaseContext) -> None:
    """A value that only the driver can judge, at the time of execution: it fails, and goes on with what is right."""
    app = ScriptedApp(context, lists("one"))
    compilation = _computes(app, "one")
    for count in (-1, 0, 1000):
        result, _ = fibonacci_numbers(app, compilation, count)
        app.expect("execution_compute", result, ResultCode.OP_FAILED, ResultCode.BAD_DATA)
    result, numbers = fibonacci_numbers(app, compilation)
    checks.equal((result, numbers), (0, VALUES), "code and Fibonacci numbers")


def _attribute(app: ScriptedApp, function: str, target: int, code: int = 0, extension: str = FIBONACCI) -> int:
    data = place(app.memory, bytes(8))
    result: int = app.call(function, target, extension, code, data, 8)
    return result


@cases.case("compilation_attributes", "FW-EXT-008", since=Version.FL8)
def compilation_attributes(context: CaseContext) -> None:
    """A hint for the compilation is taken once for each code, for one named device."""
    app = ScriptedApp(context, lists("one"), lists("two"))
    function, model = "compilation_add_extension_attribute", FibonacciModel(app).built()
    alone = app.compilation(model, app.named("one"))
    app.expect(function, _attribute(app, function, alone))
    app.expect(function, _attribute(app, function, alone, code=1))
    app.expect(function, _attribute(app, function, alone), ResultCode.BAD_DATA)
    for devices in ((), ("one", "two")):
        compilation = app.compilation(model, app.named(*devices) if devices else ())
        app.expect(function, _attribute(app, function, compilation), ResultCode.BAD_DATA)
    app.succeed("compilation_finish", alone)
    call = app.called_once("one", "prepare_model")
    checks.equal([len(hint.value) for hint in call.hints], [8, 8], "bytes of the hints that the driver got")


@cases.case("attributes_of_two_extensions", "FW-EXT-008", "FW-EXT-005", since=Version.FL8)
def attributes_of_two_extensions(context: CaseContext) -> None:
    """Hints of one code of two extensions are two: the driver gets both, with the names of both extensions."""
    app = ScriptedApp(context, lists("one"))
    given = ((FIBONACCI, 0), (ECHO, 0), (ECHO, 1), (FIBONACCI, 1))
    compilation = app.compilation(FibonacciModel(app).built(), app.named("one"))
    for name, code in given:
        app.expect(name, _attribute(app, "compilation_add_extension_attribute", compilation, code, name))
    app.succeed("compilation_finish", compilation)
    _judge_hints(app.called_once("one", "prepare_model"), given)
    execution = app.execution(compilation)
    for name, code in given:
        app.expect(name, _attribute(app, "execution_add_extension_attribute", execution, code, name))
    result, _ = fibonacci_numbers(app, compilation, execution=execution)
    app.expect("execution_compute", result)
    _judge_hints(app.executed_once("one"), given)


def _judge_hints(call: DriverCall, given: Sequence[tuple[str, int]]) -> None:
    """Check the hints that a driver got, each by the name of its extension and its code."""
    names = {entry.prefix: entry.name for entry in call.extensions}
    found = {(names.get(hint.token >> PREFIX_BITS, ""), hint.token % (1 << PREFIX_BITS)) for hint in call.hints}
    checks.equal(found, set(given), "extensions and codes of the hints that the driver got")
    checks.equal(sorted(names.values()), sorted({name for name, _ in given}), "extensions beside the hints")


@cases.case("execution_attributes", "FW-EXT-008", since=Version.FL8)
def execution_attributes(context: CaseContext) -> None:
    """A hint for the execution is taken once for each code, for one named device."""
    app = ScriptedApp(context, lists("one"), lists("two"))
    function, model = "execution_add_extension_attribute", FibonacciModel(app).built()
    for devices, allowed in ((("one",), True), (("one", "two"), False), ((), False)):
        compilation = app.compilation(model, app.named(*devices) if devices else ())
        app.succeed("compilation_finish", compilation)
        execution = app.execution(compilation)
        first = ResultCode.NO_ERROR if allowed else ResultCode.BAD_DATA
        app.expect(function, _attribute(app, function, execution), first)
        app.expect(function, _attribute(app, function, execution), ResultCode.BAD_DATA)
