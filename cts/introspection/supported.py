"""Which operations an app is told that devices support."""

from __future__ import annotations

from msgspec.structs import replace

from npu_conformance.cts.lib.runtime.control_flow_nets import if_net, while_net
from npu_conformance.cts.lib.runtime.fixture import CPU
from npu_conformance.cts.lib.runtime.nets import Net, chain
from npu_conformance.cts.lib.runtime.oem import oem_model
from npu_conformance.cts.lib.runtime.scripted_app import ScriptedApp
from npu_conformance.cts.lib.runtime.scripts import driver, failing, misbehaving, useless
from npu_conformance.harness.judge import checks
from npu_conformance.harness.run.cases import CaseGroup, Scope
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.specs.neuralnetworks.runtime.result_codes import ResultCode
from npu_conformance.specs.versions import Version

cases = CaseGroup("cts.introspection.supported", interface="runtime", since=Version.V1_2)

_NAMES = ("ADD", "MUL", "SUB", "DIV")


def _turned(net: Net) -> Net:
    """The net with its operations in the opposite order, so that none comes before its inputs are there."""
    main = net.wire.main
    return Net(net.vector, replace(net.wire, main=replace(main, operations=main.operations[::-1])))


@cases.case("each_alone", "FW-MDL-027", scope=Scope.SMOKE)
def each_alone(context: CaseContext) -> None:
    """The answer for one driver names what that driver supports, and nothing else."""
    app = ScriptedApp(context, driver("one", "ADD", "DIV"), driver("two", "MUL"), useless("none"))
    model = app.model(chain(*_NAMES))
    expected = {"one": (True, False, False, True), "two": (False, True, False, False), "none": (False,) * 4}
    for name, answer in expected.items():
        checks.equal(app.supported(model, name), answer, f"operations that {name} supports")


@cases.case("union", "FW-MDL-027")
def union(context: CaseContext) -> None:
    """The answer for several devices is true where one of them supports the operation."""
    app = ScriptedApp(context, driver("one", "ADD", "DIV"), driver("two", "MUL"))
    model = app.model(chain(*_NAMES))
    checks.equal(app.supported(model, "one", "two"), (True, True, False, True), "operations that one or two supports")
    checks.equal(app.supported(model, "two", "one"), (True, True, False, True), "operations that two or one supports")
    checks.equal(app.supported(model, "two", CPU), (True,) * 4, "operations that two or the CPU supports")


@cases.case("insertion_order", "FW-MDL-027")
def insertion_order(context: CaseContext) -> None:
    """Answers come in the order in which the app added the operations, also where that is none of execution."""
    app = ScriptedApp(context, driver("one", "ADD", "MUL"), driver("two", "DIV"))
    model = app.model(_turned(chain(*_NAMES)))
    checks.equal(app.supported(model, "one"), (False, False, True, True), "operations that one supports")
    checks.equal(app.supported(model, "two"), (True, False, False, False), "operations that two supports")


@cases.case("turned_model_computes", "FW-PRT-006")
def turned_model_computes(context: CaseContext) -> None:
    """A model whose operations were added in the opposite order of execution computes the same."""
    app = ScriptedApp(context, driver("one", "ADD", "MUL"))
    app.computes_rightly(app.compiled(_turned(chain(*_NAMES))))


@cases.case("by_activation", "FW-MDL-027")
def by_activation(context: CaseContext) -> None:
    """A driver may support an operation with some arguments only."""
    app = ScriptedApp(context, driver("one", ("ADD", 1)))
    model = app.model(chain("ADD", ("ADD", 1), ("ADD", 2)))
    checks.equal(app.supported(model, "one"), (False, True, False), "operations that one supports")


@cases.case("cpu_does_all", "FW-PRT-017", since=Version.V1_3)
def cpu_does_all(context: CaseContext) -> None:
    """The CPU supports every operation of the standard, control flow too."""
    app = ScriptedApp(context)
    for net, count in ((if_net(("ADD",), ("MUL",), before=("SUB",)), 2), (while_net(), 1)):
        checks.equal(app.supported(app.model(net), CPU), (True,) * count, "operations that the CPU supports")


@cases.case("cpu_does_no_oem", "FW-PRT-017")
def cpu_does_no_oem(context: CaseContext) -> None:
    """The CPU does not support OEM_OPERATION."""
    app = ScriptedApp(context)
    model = oem_model(app)
    checks.equal(app.supported(model, CPU), (False,), "operations that the CPU supports")


@cases.case("failing_answer", "FW-PRT-007", "FW-MDL-027")
def failing_answer(context: CaseContext) -> None:
    """A driver that answers with an error supports nothing, and asking succeeds."""
    app = ScriptedApp(context, driver("one", **failing("get_supported_operations")))
    checks.equal(app.supported(app.model(chain("ADD", "MUL")), "one"), (False, False), "operations that it supports")


@cases.case("short_answer", "FW-PRT-007")
def short_answer(context: CaseContext) -> None:
    """A driver whose answer has the wrong length supports nothing, and asking succeeds."""
    app = ScriptedApp(context, driver("one", **misbehaving("get_supported_operations", "length")))
    checks.equal(app.supported(app.model(chain("ADD", "MUL")), "one"), (False, False), "operations that it supports")


@cases.case("long_answer", "FW-PRT-007")
def long_answer(context: CaseContext) -> None:
    """So it is where the answer is about more operations than there are."""
    app = ScriptedApp(context, driver("one", **misbehaving("get_supported_operations", "excess")))
    checks.equal(app.supported(app.model(chain("ADD", "MUL")), "one"), (False, False), "operations that it supports")


@cases.case("partly_supported", "FW-PRT-008", "FW-PRT-011")
def partly_supported(context: CaseContext) -> None:
    """A model of which the named devices support a part alone does not compile for them; with one more it does."""
    app = ScriptedApp(context, driver("one", "ADD"), driver("two", "MUL"))
    net = chain("ADD", "MUL")
    app.expect("compilation_finish", app.compile(net, "one").result, ResultCode.BAD_DATA)
    app.computes_rightly(app.compiled(net, "one", "two"))
    app.computes_rightly(app.compiled(net, CPU))
    app.gets(one=["ADD"], two=["MUL"])
