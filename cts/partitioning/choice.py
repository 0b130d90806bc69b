"""Which device gets an operation: the cheapest of those that support it."""

from __future__ import annotations

from npu_conformance.cts.lib.runtime.net_app import Options
from npu_conformance.cts.lib.runtime.nets import chain
from npu_conformance.cts.lib.runtime.scripted_app import ScriptedApp
from npu_conformance.cts.lib.runtime.scripts import FAST, MIDDLING, SLOW, driver, failing, misbehaving
from npu_conformance.harness.judge import checks
from npu_conformance.harness.run.cases import CaseGroup, Scope
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.specs.neuralnetworks.enums import ExecutionPreference
from npu_conformance.specs.neuralnetworks.runtime.control import DriverScript
from npu_conformance.specs.neuralnetworks.runtime.result_codes import ResultCode
from npu_conformance.specs.versions import Version

cases = CaseGroup("cts.partitioning.choice", interface="runtime", since=Version.V1_2)

_THREE = ("ADD", "MUL", "SUB")
_FRUGAL = Options(preference=int(ExecutionPreference.LOW_POWER))


def _runs(context: CaseContext, *scripts: DriverScript, options: Options | None = None) -> ScriptedApp:
    """Compile and compute a chain of ADD, MUL and SUB over these drivers."""
    app = ScriptedApp(context, *scripts)
    app.computes_rightly(app.compiled(chain(*_THREE), options=options))
    return app


@cases.case("fastest", "FW-PRT-001", "FW-PRT-005", scope=Scope.SMOKE)
def fastest(context: CaseContext) -> None:
    """Of drivers that support everything the fastest gets everything, wherever it stands in the order."""
    for order in ((FAST, MIDDLING, SLOW), (SLOW, FAST, MIDDLING), (SLOW, MIDDLING, FAST)):
        app = _runs(context, *(driver(f"driver-{time}", exec_time=time) for time in order))
        app.gets(**{f"driver-{FAST}": _THREE, f"driver-{MIDDLING}": (), f"driver-{SLOW}": ()})
        app.close()


@cases.case("each_operation", "FW-PRT-001", "FW-PRT-006", scope=Scope.SMOKE)
def each_operation(context: CaseContext) -> None:
    """Each operation is chosen for by itself, not the model as a whole."""
    app = _runs(
        context,
        driver("slow", exec_time=SLOW),
        driver("adds", "ADD", exec_time=FAST),
        driver("multiplies", "MUL", "ADD", exec_time=MIDDLING),
    )
    app.gets(adds=("ADD",), multiplies=("MUL",), slow=("SUB",))


@cases.case("cpu_does_the_rest", "FW-PRT-001", "FW-PRT-006", scope=Scope.SMOKE)
def cpu_does_the_rest(context: CaseContext) -> None:
    """What no driver supports the CPU computes."""
    app = _runs(context, driver("adds", "ADD", exec_time=FAST))
    app.gets(adds=("ADD",))


@cases.case("slower_than_cpu", "FW-PRT-003")
def slower_than_cpu(context: CaseContext) -> None:
    """A driver that is slower than the CPU gets nothing."""
    _runs(context, driver("slower", exec_time=1.1, power_usage=0.1)).gets(slower=())


@cases.case("barely_faster_than_cpu", "FW-PRT-003")
def barely_faster_than_cpu(context: CaseContext) -> None:
    """The CPU's cost is 1.0 for every operation: a driver just below gets everything."""
    _runs(context, driver("faster", exec_time=0.99, power_usage=2.0)).gets(faster=_THREE)


@cases.case("tie_with_cpu", "FW-PRT-003")
def tie_with_cpu(context: CaseContext) -> None:
    """The CPU wins against a driver of the same cost."""
    _runs(context, driver("equal", exec_time=1.0, power_usage=0.1)).gets(equal=())


@cases.case("cpu_named_ties", "FW-PRT-003")
def cpu_named_ties(context: CaseContext) -> None:
    """The CPU wins a tie also where the app names the devices, in whichever order."""
    app = ScriptedApp(context, driver("equal", exec_time=1.0))
    for devices in (("equal", "nnapi-reference"), ("nnapi-reference", "equal")):
        app.computes_rightly(app.compiled(chain(*_THREE), *devices))
    app.gets(equal=())


@cases.case("cpu_named_ties_in_the_middle", "FW-PRT-003")
def cpu_named_ties_in_the_middle(context: CaseContext) -> None:
    """The CPU wins a tie where other devices are named behind it."""
    app = ScriptedApp(context, driver("equal", exec_time=1.0), driver("slower", exec_time=1.1))
    app.computes_rightly(app.compiled(chain(*_THREE), "equal", "nnapi-reference", "slower"))
    app.gets(equal=(), slower=())


@cases.case("tie_of_drivers", "FW-PRT-001")
def tie_of_drivers(context: CaseContext) -> None:
    """Of drivers with the same cost some get everything, and a slower one nothing."""
    app = _runs(context, driver("first", exec_time=FAST), driver("second", exec_time=FAST), driver("slow"))
    app.gets(slow=())
    given = sorted(app.operations("first") + app.operations("second"))
    checks.equal(given, sorted(_THREE), "operations given to the two fastest drivers")


def _declare_preference(preference: ExecutionPreference, chosen: str, other: str) -> None:
    @cases.case(f"preference.{preference.name.lower()}", "FW-PRT-001")
    def by_preference(context: CaseContext) -> None:
        """LOW_POWER looks at the power that drivers state, the other preferences at the time."""
        swift = driver("swift", exec_time=FAST, power_usage=SLOW)
        frugal = driver("frugal", exec_time=SLOW, power_usage=FAST)
        for order in ((swift, frugal), (frugal, swift)):
            app = _runs(context, *order, options=Options(preference=int(preference)))
            app.gets(**{chosen: _THREE, other: ()})
            app.close()


for _preference in ExecutionPreference:
    _names = ("frugal", "swift") if _preference is ExecutionPreference.LOW_POWER else ("swift", "frugal")
    _declare_preference(_preference, *_names)


@cases.case("preference.of_each_compilation", "FW-PRT-001", "FW-CMP-004")
def of_each_compilation(context: CaseContext) -> None:
    """Each compilation of one model is planned by its own preference."""
    swift = driver("swift", exec_time=FAST, power_usage=SLOW)
    app = ScriptedApp(context, swift, driver("frugal", exec_time=SLOW, power_usage=FAST))
    net = chain(*_THREE)
    model = app.model(net)
    for preference in (0, 1, 0, 2):
        compiled = app.compile(net, options=Options(preference=preference), model=model)
        app.expect("compilation_finish", compiled.result)
        app.computes_rightly(compiled)
    app.gets(frugal=_THREE * 2, swift=_THREE * 2)


@cases.case("power_against_cpu", "FW-PRT-001", "FW-PRT-003")
def power_against_cpu(context: CaseContext) -> None:
    """The CPU's power is 1.0 too: a driver that is fast and hungry gets nothing where power counts."""
    hungry = driver("hungry", exec_time=0.1, power_usage=1.5)
    _runs(context, hungry, options=_FRUGAL).gets(hungry=())


@cases.case("power_ties_with_cpu", "FW-PRT-001", "FW-PRT-003")
def power_ties_with_cpu(context: CaseContext) -> None:
    """The CPU wins against a driver of the same power, as fast as that may be; one just below gets everything."""
    for power, chosen in ((1.0, ()), (0.99, _THREE)):
        app = _runs(context, driver("swift", exec_time=0.1, power_usage=power), options=_FRUGAL)
        app.gets(swift=chosen)
        app.close()


@cases.case("by_arguments", "FW-PRT-001", "FW-PRT-006")
def by_arguments(context: CaseContext) -> None:
    """A driver that supports an operation with some arguments only gets those."""
    app = ScriptedApp(context, driver("plain", ("ADD", 0), exec_time=FAST), driver("relu", ("ADD", 1), exec_time=FAST))
    app.computes_rightly(app.compiled(chain("ADD", ("ADD", 1), ("ADD", 3), "ADD")))
    app.gets(plain=("ADD", "ADD"), relu=("ADD",))


@cases.case("failing_answer", "FW-PRT-007")
def failing_answer(context: CaseContext) -> None:
    """A driver that fails to say what it supports gets nothing; the others do the work."""
    broken = driver("broken", exec_time=0.1, **failing("get_supported_operations"))
    _runs(context, broken, driver("good", exec_time=FAST)).gets(broken=(), good=_THREE)


@cases.case("short_answer", "FW-PRT-007")
def short_answer(context: CaseContext) -> None:
    """A driver that answers for too few operations gets nothing; the others do the work."""
    broken = driver("broken", exec_time=0.1, **misbehaving("get_supported_operations", "length"))
    _runs(context, broken, driver("good", exec_time=FAST)).gets(broken=(), good=_THREE)


@cases.case("long_answer", "FW-PRT-007")
def long_answer(context: CaseContext) -> None:
    """A driver that answers for too many operations gets nothing; the others do the work."""
    broken = driver("broken", exec_time=0.1, **misbehaving("get_supported_operations", "excess"))
    _runs(context, broken, driver("good", exec_time=FAST)).gets(broken=(), good=_THREE)


@cases.case("named_devices_only", "FW-PRT-011", "FW-PRT-001")
def named_devices_only(context: CaseContext) -> None:
    """Devices that the app does not name get nothing, however fast; the order of naming does not matter."""
    app = ScriptedApp(
        context, driver("fast", exec_time=0.1), driver("slow", exec_time=SLOW), driver("mid", exec_time=MIDDLING)
    )
    for devices in (("slow", "mid"), ("mid", "slow")):
        app.computes_rightly(app.compiled(chain("ADD"), *devices))
    app.gets(fast=(), slow=(), mid=("ADD", "ADD"))


@cases.case("worse_than_cpu_named", "FW-PRT-001", "FW-PRT-011")
def worse_than_cpu_named(context: CaseContext) -> None:
    """A driver that is slower than the CPU gets everything where the app names it alone."""
    app = ScriptedApp(context, driver("slower", exec_time=3.0))
    app.computes_rightly(app.compiled(chain(*_THREE), "slower"))
    app.gets(slower=_THREE)


@cases.case("nobody", "FW-PRT-008")
def nobody(context: CaseContext) -> None:
    """An operation that none of the named devices supports fails the compilation, and no device prepares anything."""
    app = ScriptedApp(context, driver("adds", "ADD"), driver("subtracts", "SUB"))
    result = app.compile(chain(*_THREE), "adds", "subtracts").result
    app.expect("compilation_finish", result, ResultCode.BAD_DATA)
    app.gets(adds=(), subtracts=())
