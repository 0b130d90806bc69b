"""Outputs for which the app left too little room: the answer is the app's, with the shape to make room for."""

from __future__ import annotations

from itertools import product

from msgspec.structs import replace

from npu_conformance.cts.lib.runtime.control_flow_nets import if_of_open_output
from npu_conformance.cts.lib.runtime.nets import Net, NetBuilder, net_of, open_chain
from npu_conformance.cts.lib.runtime.scripted_app import ScriptedApp
from npu_conformance.cts.lib.runtime.scripts import FAST, driver, failing, misbehaving
from npu_conformance.harness.judge import checks
from npu_conformance.harness.run.cases import CaseGroup, Scope
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.specs.neuralnetworks.enums import ErrorStatus
from npu_conformance.specs.neuralnetworks.runtime.control import DriverScript
from npu_conformance.specs.neuralnetworks.runtime.devices import CPU
from npu_conformance.specs.neuralnetworks.runtime.result_codes import ResultCode
from npu_conformance.specs.versions import Version

cases = CaseGroup("cts.failing_drivers.insufficient", interface="runtime", since=Version.V1_2)

_WAYS = ("compute", "asynchronous", "burst")
_WITHOUT_SHAPES = failing("execute", ErrorStatus.OUTPUT_INSUFFICIENT_SIZE)


def _tight(name: str, *operations: str) -> DriverScript:
    """A driver that finds too little room wherever there is some."""
    return driver(name, *operations, exec_time=FAST, **misbehaving("execute", "tight"))


def _judge_short(app: ScriptedApp, net: Net, *devices: str) -> None:
    """Execute with too little room, and check the code and the shape."""
    compiled = app.compiled(net, *devices)
    for way in _WAYS:
        computed = app.prepared_execution(compiled, rooms=dict.fromkeys(net.vector.outputs, 4))
        result = app.run(compiled, computed.handle, way)
        app.expect(f"execution ({way})", result, ResultCode.OUTPUT_INSUFFICIENT_SIZE)
        found = app.call("execution_get_output_operand_dimensions", computed.handle, 0, True).values
        checks.equal(found, (2, 2), "dimensions of the output that had too little room")


def _declare_short(name: str, *devices: str) -> None:
    """Whoever computes finds too little room."""

    @cases.case(f"driver.{name}", "FW-PRT-012", scope=Scope.SMOKE)
    def on_driver(context: CaseContext) -> None:
        """A driver that finds too little room is believed."""
        app = ScriptedApp(context, driver("one", exec_time=FAST))
        _judge_short(app, open_chain("ADD"), *devices)
        checks.equal(len(app.executions("one")), len(_WAYS), "executions by the driver")

    @cases.case(f"in_parts.{name}", "FW-PRT-012")
    def in_parts(context: CaseContext) -> None:
        """So is one that has the last part of the model."""
        app = ScriptedApp(context, driver("one", "ADD", exec_time=FAST), driver("two", "MUL", exec_time=FAST))
        _judge_short(app, open_chain("ADD", "MUL"), *(("one", "two") if devices else ()))

    @cases.case(f"called_back.{name}", "FW-PRT-012", "FW-EXE-018")
    def called_back(context: CaseContext) -> None:
        """So is one of 1.2 or 1.3 that says so in a callback, with the shape."""
        for hal in (Version.V1_2, Version.V1_3):
            app = ScriptedApp(context, driver("one", hal=hal, exec_time=FAST))
            app.control.set_property("debug.nn.syncexec-hal", "0")
            _judge_short(app, open_chain("ADD"), *devices)
            app.close()

    @cases.case(f"of_an_if.{name}", "FW-PRT-012", "FW-EXE-018", since=Version.V1_3)
    def of_an_if(context: CaseContext) -> None:
        """So is whoever computes an IF of which the model leaves the size open; with enough room it is computed."""
        app = ScriptedApp(context, driver("one", "ADD", exec_time=FAST), driver("two", "MUL", exec_time=FAST))
        net, chosen = if_of_open_output(("ADD",), ("MUL",)), ("one", "two", CPU) if devices else ()
        _judge_short(app, net, *chosen)
        app.computes_rightly(app.compiled(net, *chosen))


def _declare_one_short_of_two(name: str, *devices: str) -> None:
    """One of two outputs has too little room."""

    @cases.case(f"one_of_two.{name}", "FW-EXE-018")
    def one_of_two(context: CaseContext) -> None:
        """One driver has the whole model with two outputs."""
        _judge_one_short(ScriptedApp(context, driver("one", exec_time=FAST)), *devices)

    @cases.case(f"one_of_two_in_parts.{name}", "FW-EXE-018")
    def one_of_two_in_parts(context: CaseContext) -> None:
        """The outputs come from two drivers."""
        app = ScriptedApp(context, driver("one", "ADD", exec_time=FAST), driver("two", "MUL", exec_time=FAST))
        _judge_one_short(app, *(("one", "two") if devices else ()))


def _declare_short_by_word(name: str, *devices: str) -> None:
    """There is room enough, and a driver says that there is too little."""

    @cases.case(f"only_driver_says_so.{name}", "FW-PRT-012")
    def only_driver_says_so(context: CaseContext) -> None:
        """The CPU, which would have found the room sufficient, is not asked instead."""
        app = ScriptedApp(context, _tight("one"))
        compiled = app.compiled(open_chain("ADD"), *devices)
        for way in _WAYS:
            computed = app.compute_net(compiled, way=way)
            app.expect(f"execution ({way})", computed.result, ResultCode.OUTPUT_INSUFFICIENT_SIZE)

    @cases.case(f"only_one_part_says_so.{name}", "FW-PRT-012")
    def only_one_part_says_so(context: CaseContext) -> None:
        """So it is where the driver has a part of the model alone."""
        app = ScriptedApp(context, driver("one", "ADD", exec_time=FAST), _tight("two", "MUL"))
        compiled = app.compiled(open_chain("ADD", "MUL"), *(("one", "two") if devices else ()))
        for way in _WAYS:
            computed = app.compute_net(compiled, way=way)
            app.expect(f"execution ({way})", computed.result, ResultCode.OUTPUT_INSUFFICIENT_SIZE)


def _declare_without_shapes(name: str, *devices: str) -> None:
    """A driver finds too little room, and does not say how much it needs."""

    @cases.case(f"without_shapes.{name}", "FW-PRT-012", "FW-VER-009")
    def without_shapes(context: CaseContext) -> None:
        """A driver that names no shape is believed up to feature level 4; from 5 on it has failed."""
        app = ScriptedApp(context, driver("one", exec_time=FAST, **_WITHOUT_SHAPES))
        _judge_without_shapes(app, open_chain("ADD"), *devices)

    @cases.case(f"without_shapes_in_parts.{name}", "FW-PRT-012", "FW-VER-009")
    def without_shapes_in_parts(context: CaseContext) -> None:
        """So it is where the driver has the first part of the model, or the last."""
        for broken, good in (("ADD", "MUL"), ("MUL", "ADD")):
            first = driver("one", broken, exec_time=FAST, **_WITHOUT_SHAPES)
            app = ScriptedApp(context, first, driver("two", good, exec_time=FAST))
            _judge_without_shapes(app, open_chain("ADD", "MUL"), *(("one", "two") if devices else ()))
            app.close()


def _judge_without_shapes(app: ScriptedApp, net: Net, *devices: str) -> None:
    """Execute where the driver says OUTPUT_INSUFFICIENT_SIZE and not of what; check the code and the values."""
    compiled = app.compiled(net, *devices)
    failed = ResultCode.OP_FAILED if devices else ResultCode.NO_ERROR
    expected = failed if app.level.is_aidl else ResultCode.OUTPUT_INSUFFICIENT_SIZE
    for way in _WAYS:
        computed = app.compute_net(compiled, way=way)
        app.expect(f"execution ({way})", computed.result, expected)
        if computed.result == ResultCode.NO_ERROR:
            app.judge(net, computed.outputs, net.expected())


def _open_outputs(*operations: str) -> Net:
    """A chain of operations, each result of which is an output whose rows the model does not count."""
    builder = NetBuilder()
    last, second = builder.input(), builder.input()
    results = [last := builder.binary(operation, last, second) for operation in operations]
    vector = builder.net(*results).vector
    unknown = {name: replace(vector.operands[name], dimensions=(0, 2)) for name in vector.outputs}
    return net_of(replace(vector, operands={**vector.operands, **unknown}))


def _judge_one_short(app: ScriptedApp, *devices: str) -> None:
    """Of two outputs one after the other has too little room: it alone is said to."""
    net = _open_outputs("ADD", "MUL")
    compiled = app.compiled(net, *devices)
    for short, name in enumerate(net.vector.outputs):
        for way in _WAYS:
            computed = app.prepared_execution(compiled, rooms={name: 4})
            result = app.run(compiled, computed.handle, way)
            app.expect(f"execution ({way})", result, ResultCode.OUTPUT_INSUFFICIENT_SIZE)
            function = "execution_get_output_operand_dimensions"
            found, other = (app.call(function, computed.handle, index, True) for index in (short, 1 - short))
            app.expect("the output that had too little room", found.result, ResultCode.OUTPUT_INSUFFICIENT_SIZE)
            checks.equal(found.values, (2, 2), "dimensions of the output that had too little room")
            app.expect("the output that had room enough", other.result)
            checks.member(other.values, ((2, 2), (0, 2)), "dimensions of the output that had room enough")


for _name, _devices in (("default", ()), ("named", ("one",))):
    for _declare in (_declare_short, _declare_one_short_of_two, _declare_short_by_word, _declare_without_shapes):
        _declare(_name, *_devices)


@cases.case("several_parts", "FW-EXE-018", "FW-PRT-012")
def several_parts(context: CaseContext) -> None:
    """Of outputs that three parts compute in turn one has too little room: those before it have the shapes they got."""
    net = _open_outputs("ADD", "MUL", "ADD")
    for name, devices in (("default", ()), ("named", ("one", "two")), ("named_with_cpu", ("two", CPU))):
        with context.configuration(name):
            app = ScriptedApp(context, driver("one", "ADD", exec_time=FAST), driver("two", "MUL", exec_time=FAST))
            compiled = app.compiled(net, *devices)
            for short, way in product(range(3), _WAYS):
                computed = app.prepared_execution(compiled, rooms={net.vector.outputs[short]: 4})
                result = app.run(compiled, computed.handle, way)
                app.expect(f"execution ({way})", result, ResultCode.OUTPUT_INSUFFICIENT_SIZE)
                _judge_shapes(app, computed.handle, short)
            app.close()


def _judge_shapes(app: ScriptedApp, execution: int, short: int) -> None:
    """The outputs up to the one that had too little room are known; those behind it may be."""
    for index in range(3):
        found = app.call("execution_get_output_operand_dimensions", execution, index, True)
        code = ResultCode.OUTPUT_INSUFFICIENT_SIZE if index == short else ResultCode.NO_ERROR
        app.expect(f"dimensions of output {index}, where output {short} had too little room", found.result, code)
        expected = ((2, 2),) if index <= short else ((2, 2), (0, 2))
        checks.member(found.values, expected, f"dimensions of output {index}")


@cases.case("taken_over", "FW-PRT-012", "FW-EXE-018", "FW-PRT-010")
def taken_over(context: CaseContext) -> None:
    """So it is where the CPU takes over, for whoever fails or dies, whichever of the parts or outputs it has."""
    for kind in ("status", "dies"):
        for failing_one in ("one", "two"):
            with context.configuration(f"{kind}.{failing_one}"):
                fails = {failing_one: misbehaving("execute", kind)}
                names = {"one": "ADD", "two": "MUL"}
                drivers = [driver(each, names[each], exec_time=FAST, **fails.get(each, {})) for each in names]
                app = ScriptedApp(context, *drivers)
                _judge_short(app, open_chain("ADD" if failing_one == "one" else "MUL"))
                _judge_short(app, open_chain("ADD", "MUL"))
                _judge_one_short(app)
                app.close()


@cases.case("cpu", "FW-PRT-012")
def cpu(context: CaseContext) -> None:
    """So it is on the runtime's own CPU."""
    _judge_short(ScriptedApp(context), open_chain("ADD"))
