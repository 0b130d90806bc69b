"""What an app says a second time counts as it was said last: what is wider than before, narrower, or the default."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

from npu_conformance.corpus.vector_types import VectorOperand
from npu_conformance.cts.lib.runtime.cache_folder import CacheFolder
from npu_conformance.cts.lib.runtime.fixture import VECTOR_BYTES, RuntimeApp
from npu_conformance.cts.lib.runtime.net_app import Compiled
from npu_conformance.cts.lib.runtime.nets import Net, NetBuilder, add
from npu_conformance.cts.lib.runtime.scripted_app import ScriptedApp
from npu_conformance.cts.lib.runtime.scripts import driver
from npu_conformance.cts.lib.runtime.sums import packed, unpacked
from npu_conformance.cts.lib.runtime.vendor import PARAMETERS, FibonacciModel, lists
from npu_conformance.harness.judge import checks
from npu_conformance.harness.nnapi.caller_memory import place
from npu_conformance.harness.nnapi.models import ModelBuilder
from npu_conformance.harness.run.cases import CaseGroup, Group
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.harness.wire.binding import MethodCall
from npu_conformance.specs.neuralnetworks.enums import (
    ExecutionPreference,
    OperandLifeTime,
    OperandType,
    OperationType,
    Priority,
)
from npu_conformance.specs.neuralnetworks.runtime.control import DriverCall
from npu_conformance.specs.neuralnetworks.runtime.result_codes import (
    BYTE_SIZE_OF_CACHE_TOKEN,
    ResultCode,
    RuntimePriority,
)
from npu_conformance.specs.neuralnetworks.runtime.types import OperandDescription
from npu_conformance.specs.neuralnetworks.types import Model, NumberOfCacheFiles, Operand, OperandExtraParams
from npu_conformance.specs.versions import Version

cases = CaseGroup("cts.states.said_again", interface="runtime", group=Group.RUNTIME_EXECUTIONS)

_MODELS, _COMPILATIONS = Group.RUNTIME_MODELS, Group.RUNTIME_COMPILATIONS
_HOUR, _SECOND = 3600 * 10**9, 10**9
_NO_TIME = Version.V1_3.unavailable_time


@dataclass(frozen=True)
class _Setting:
    """Two values, said one after the other, and what the driver of 1.3 is told."""

    function: str
    first: int | bool
    last: int | bool
    told: Callable[[DriverCall], object]
    expected: object


_OF_COMPILATIONS = {
    "priority": _Setting(
        "priority", RuntimePriority.HIGH, RuntimePriority.MEDIUM, lambda call: call.priority, Priority.MEDIUM
    ),
    "priority_lower": _Setting(
        "priority", RuntimePriority.HIGH, RuntimePriority.LOW, lambda call: call.priority, Priority.LOW
    ),
    "preference": _Setting(
        "preference",
        ExecutionPreference.LOW_POWER,
        ExecutionPreference.FAST_SINGLE_ANSWER,
        lambda call: call.preference,
        ExecutionPreference.FAST_SINGLE_ANSWER,
    ),
    "preference_lower": _Setting(
        "preference",
        ExecutionPreference.SUSTAINED_SPEED,
        ExecutionPreference.LOW_POWER,
        lambda call: call.preference,
        ExecutionPreference.LOW_POWER,
    ),
    "timeout": _Setting("timeout", _HOUR, 0, lambda call: call.deadline_ns, _NO_TIME),
}
_OF_EXECUTIONS = {
    "timeout": _Setting("timeout", _HOUR, 0, lambda call: call.deadline_ns, _NO_TIME),
    "loop_timeout": _Setting("loop_timeout", 5 * _SECOND, 9 * _SECOND, lambda call: call.loop_timeout_ns, 9 * _SECOND),
    "loop_timeout_shorter": _Setting(
        "loop_timeout", 9 * _SECOND, 5 * _SECOND, lambda call: call.loop_timeout_ns, 5 * _SECOND
    ),
    "measure_timing": _Setting("measure_timing", True, False, lambda call: call.measure_timing, False),
}


@cases.case("of_compilations", "FW-CMP-003", "FW-CMP-006", "FW-QOS-001", since=Version.V1_3, group=_COMPILATIONS)
def of_compilations(context: CaseContext) -> None:
    """Of a compilation: preference, priority, and timeout, which 0 takes back."""
    for name, setting in _OF_COMPILATIONS.items():
        with context.configuration(name):
            app = ScriptedApp(context, driver("one", hal=Version.V1_3))
            compilation = app.compilation(app.model(add()), app.named("one"))
            for value in (setting.first, setting.last):
                app.succeed(f"compilation_set_{setting.function}", compilation, int(value))
            app.succeed("compilation_finish", compilation)
            call = app.called_once("one", "prepare_model")
            checks.equal(setting.told(call), setting.expected, f"{setting.function} that the driver was told")


@cases.case("of_executions", "FW-EXE-010", "FW-EXE-019", "FW-QOS-001", since=Version.V1_3)
def of_executions(context: CaseContext) -> None:
    """Of an execution: timeout, which 0 takes back, loop timeout, and whether to measure."""
    for name, setting in _OF_EXECUTIONS.items():
        with context.configuration(name):
            app = ScriptedApp(context, driver("one", hal=Version.V1_3))
            compiled = app.compiled(add(), "one")
            made = app.prepared_execution(compiled)
            for value in (setting.first, setting.last):
                app.succeed(f"execution_set_{setting.function}", made.handle, value)
            app.expect("execution_compute", app.run(compiled, made.handle, "compute"))
            found = setting.told(app.executed_once("one"))
            checks.equal(found, setting.expected, f"{setting.function} that the driver was told")


@cases.case("padding", "FW-EXE-007", "FW-EXE-008", since=Version.FL5)
def padding(context: CaseContext) -> None:
    """Of an execution: padding that was enabled and disabled again is not allowed."""
    app = RuntimeApp(context)
    execution = app.execution()
    for enabled in (True, False):
        app.succeed("execution_enable_input_and_output_padding", execution, enabled)
    longer = place(app.memory, bytes(2 * VECTOR_BYTES))
    app.refused("execution_set_input", ResultCode.BAD_DATA, execution, 0, None, longer, 2 * VECTOR_BYTES)


@cases.case("cache_token", "FW-CAC-004", since=Version.V1_2, group=_COMPILATIONS)
def cache_token(context: CaseContext) -> None:
    """Of a compilation: the driver gets the token that belongs to the app's last one, and its files."""
    tokens = [bytes([number]) * BYTE_SIZE_OF_CACHE_TOKEN for number in (1, 2)]
    found = []
    for said in (tokens[1:], tokens):
        app = ScriptedApp(context, driver("one", cache_files=NumberOfCacheFiles(1, 1)))
        compilation = app.compilation(app.model(add()), app.named("one"))
        for token in said:
            app.succeed("compilation_set_caching", compilation, CacheFolder(context).argument, token)
        app.succeed("compilation_finish", compilation)
        found.append(app.called_once("one", "prepare_model").token)
    checks.equal(found[1], found[0], "token that the driver got")


@cases.case("relaxed", "FW-MDL-026", since=Version.V1_2, group=_MODELS)
def relaxed(context: CaseContext) -> None:
    """Of a model: whether it may be computed in float16."""
    app = ScriptedApp(context, driver("one"))
    for number, last in enumerate((False, True)):
        model = app.building_model()
        for allowed in (not last, last):
            app.succeed("model_relax_computation_float32_to_float16", model, allowed)
        app.succeed("model_finish", model)
        app.finished_compilation(model, app.named("one"))
        found = app.prepared("one")[number].relax_computation_float32_to_float16
        checks.equal(found, last, "whether the driver's model is relaxed")


@cases.case("values", "FW-MDL-014", "FW-MDL-015", "FW-MDL-016", group=_MODELS)
def values(context: CaseContext) -> None:
    """Of an operand: its value, which was copied, kept by its pointer, placed in memory, or omitted before."""
    app = RuntimeApp(context)
    for before in ("copied", "kept", "placed", "omitted"):
        for after in ("copied", "kept", "placed"):
            if {before, after} == {"copied", "kept"}:
                continue  # One operand has one size.
            if (before, after) == ("kept", "placed"):
                continue  # Android's runtime reads the kept pointer at finish nevertheless, and no document forbids it.
            elements = 40 if "kept" in (before, after) else 2
            with context.configuration(f"{before}_{after}"):
                _judge_value(app, before, after, elements)


@cases.case("omitted_at_last", "FW-MDL-014", since=Version.V1_2, group=_MODELS)
def omitted_at_last(context: CaseContext) -> None:
    """Of an optional operand: that it is omitted, whose value was copied, kept by its pointer, or placed before."""
    app = ScriptedApp(context)
    for before, units in (("copied", 2), ("kept", 40), ("placed", 2)):
        with context.configuration(before):
            net = _features(units)
            value = packed((5.0,) * units)
            model = _Hesitating(app, net.wire, partial(_call_for_value, app, how=before, content=value)).build().handle
            app.computes_rightly(Compiled(net, app.finished_compilation(app.owns("model_create", model)), 0))


class _Hesitating(ModelBuilder):
    """Gives a value to what is omitted before it omits it. call: the one for an operand of a model."""

    def __init__(self, app: RuntimeApp, model: Model, call: Callable[[int, int], MethodCall]) -> None:
        super().__init__(app.runtime, app.memory, model)
        self._call = call

    def _operand(self, model: int, index: int, operand: Operand) -> Iterator[MethodCall]:
        first, *others = super()._operand(model, index, operand)
        yield first
        if operand.lifetime == OperandLifeTime.NO_VALUE:
            yield self._call(model, index)
        yield from others


def _features(units: int) -> Net:
    """SVDF of so many units without a bias, and with a memory of one step: the products of input and weights."""
    builder = NetBuilder()
    weights, times = (builder.constant(_floats(units, size), 1) for size in (2, 1))
    bias = builder.builder.omitted(_floats(units))
    state = builder.input(_floats(1, units))
    arguments = builder.input(_floats(1, 2)), weights, times, bias, state, builder.scalar(1), builder.scalar(0)
    _, result = builder.builder.apply("SVDF", arguments, [VectorOperand(OperandType.TENSOR_FLOAT32)] * 2)
    return builder.net(result)


def _floats(*dimensions: int) -> VectorOperand:
    return VectorOperand(OperandType.TENSOR_FLOAT32, dimensions)


def _judge_value(app: RuntimeApp, before: str, after: str, elements: int) -> None:
    size = 4 * elements
    model = app.operands_of_add(OperandDescription(OperandType.TENSOR_FLOAT32, 1, (elements,)))
    _set_value(app, model, 1, how=before, content=packed((3.0,) * elements))
    _set_value(app, model, 1, how=after, content=packed((5.0,) * elements))
    app.succeed("model_add_operation", model, OperationType.ADD, (0, 1, 2), (3,))
    app.succeed("model_identify_inputs_and_outputs", model, (0,), (3,))
    app.succeed("model_finish", model)
    execution = app.execution(app.finished_compilation(model))
    app.succeed("execution_set_input", execution, 0, None, place(app.memory, packed((1.0,) * elements)), size)
    output = place(app.memory, bytes(size))
    app.succeed("execution_set_output", execution, 0, None, output, size)
    app.expect("compute", app.compute(execution))
    checks.equal(set(unpacked(app.memory.read(output, size))), {6.0}, "sums of 1 and the last value")


def _set_value(app: RuntimeApp, model: int, index: int, *, how: str, content: bytes) -> None:
    """Give an operand a value."""
    function, arguments = _call_for_value(app, model, index, how=how, content=content)
    app.succeed(function, *arguments)


def _call_for_value(app: RuntimeApp, model: int, index: int, *, how: str, content: bytes) -> MethodCall:
    """The call that gives an operand a value."""
    if how == "omitted":
        return "model_set_operand_value", (model, index, None, 0)
    if how == "placed":
        memory, _ = app.shared_memory(len(content), content)
        return "model_set_operand_value_from_memory", (model, index, memory, 0, len(content))
    return "model_set_operand_value", (model, index, place(app.memory, content), len(content))


@cases.case("extension_data", "FW-EXT-012", since=Version.FL5, group=_MODELS)
def extension_data(context: CaseContext) -> None:
    """Of an extension's operand: its data; a null pointer takes it back."""
    for name, said in {"another": (PARAMETERS[:1], PARAMETERS), "nothing": (PARAMETERS, b"")}.items():
        with context.configuration(name):
            app = ScriptedApp(context, lists("one"))
            app.supported(FibonacciModel(app, said).built(), "one")
            expected = [OperandExtraParams(extension=said[-1])] if said[-1] else []
            for asked in app.asked_about("one"):
                kept = [operand.extra_params for operand in asked.main.operands if operand.extra_params is not None]
                checks.equal(kept, expected, "extra parameters in the model that the driver got")
