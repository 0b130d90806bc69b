"""A driver of an older HAL is asked about, and given, what it can express; the rest is for others."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from msgspec.structs import replace

from npu_conformance.corpus.vector_types import Graph, VectorOperand
from npu_conformance.cts.lib.runtime.control_flow_nets import branch, ifs_side_by_side
from npu_conformance.cts.lib.runtime.nets import MATRIX, Net, NetBuilder, add, chain, net_of
from npu_conformance.cts.lib.runtime.scripted_app import ScriptedApp, names_of
from npu_conformance.cts.lib.runtime.scripts import FAST, both, driver
from npu_conformance.harness.judge import checks
from npu_conformance.harness.run.cases import CaseGroup, Scope
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.specs.neuralnetworks.enums import OperandType
from npu_conformance.specs.versions import HIDL_LAST, Version

cases = CaseGroup("cts.version_adaptation.slices", interface="runtime", since=Version.V1_3)

_SINCE = {
    "ADD": Version.V1_0,
    "SUB": Version.V1_1,
    "MAXIMUM": Version.V1_2,
    "HARD_SWISH": Version.V1_3,
    "LOGISTIC": Version.V1_0,
}
"""A chain with an operation of each HAL, the oldest at both ends."""

_HALS = tuple(hal for hal in Version if hal <= HIDL_LAST)


def _every_age() -> Net:
    builder = NetBuilder()
    first, second = builder.input(), builder.input()
    last = builder.binary("SUB", builder.binary("ADD", first, second), second)
    last = builder.apply("HARD_SWISH", builder.apply("MAXIMUM", last, second))
    return builder.net(builder.apply("LOGISTIC", last))


def _of_types() -> tuple[Net, dict[str, Version]]:
    """Operations as old as HALs get, on operands of newer types; the HAL that brought each type."""
    ages = {
        "TENSOR_FLOAT32": Version.V1_0,
        "TENSOR_QUANT8_ASYMM": Version.V1_0,
        "TENSOR_FLOAT16": Version.V1_2,
        "TENSOR_QUANT8_ASYMM_SIGNED": Version.V1_3,
    }
    builder = NetBuilder()
    results = []
    for name in ages:
        operand = VectorOperand(OperandType[name], (2, 2), 0.5 if "QUANT8" in name else 0.0)
        results.append(builder.binary("ADD", builder.input(operand), builder.input(operand)))
    return builder.net(*results), ages


def _asked(app: ScriptedApp, name: str) -> list[str]:
    """The names of all operations that a driver was asked about."""
    models = [call.model for call in app.calls(name, "get_supported_operations") if call.model is not None]
    return [name for model in models for name in names_of(model.main.operations)]


def _declare(hal: Version) -> None:
    word = f"v{hal.value.replace('.', '_')}"

    @cases.case(f"operations.{word}", "FW-PRT-013", "FW-VER-001", scope=Scope.SMOKE)
    def operations(context: CaseContext) -> None:
        """Operations that came after the driver's HAL are not asked about, and answered with no."""
        app = ScriptedApp(context, driver("old", hal=hal, exec_time=FAST))
        net = _every_age()
        expected = tuple(_SINCE[operation.type] <= hal for operation in net.vector.operations)
        checks.equal(app.supported(app.model(net), "old"), expected, f"operations that a driver of {hal} supports")
        newest = max(_SINCE[name] for name in _asked(app, "old"))
        checks.that(newest <= hal, f"operations that a driver of {hal} was asked about: expected none of {newest}")

    @cases.case(f"types.{word}", "FW-PRT-013", "FW-VER-001")
    def types(context: CaseContext) -> None:
        """Operations on operands of types that came after the driver's HAL are not asked about."""
        app = ScriptedApp(context, driver("old", hal=hal, exec_time=FAST))
        net, ages = _of_types()
        expected = tuple(since <= hal for since in ages.values())
        checks.equal(app.supported(app.model(net), "old"), expected, f"additions that a driver of {hal} supports")
        for call in app.calls("old", "get_supported_operations"):
            kinds = {operand.type for operand in call.model.main.operands} if call.model else set()
            newer = [name for name, since in ages.items() if since > hal and OperandType[name] in kinds]
            checks.equal(newer, [], f"newer types that a driver of {hal} was asked about")

    @cases.case(f"execution.{word}", "FW-VER-001", "FW-PRT-013", "FW-PRT-006")
    def execution(context: CaseContext) -> None:
        """The driver computes the part that it can express, and the others the rest."""
        app = ScriptedApp(context, driver("old", hal=hal, exec_time=FAST))
        net = _every_age()
        app.computes_rightly(app.compiled(net))
        given = [operation.type for operation in net.vector.operations if _SINCE[operation.type] <= hal]
        app.gets(old=given)


for _hal in _HALS:
    _declare(_hal)


_SINCE_OF_AIDL = {"ADD": Version.V1_0, "ELU": Version.V1_3, "BATCH_MATMUL": Version.FL6, "REVERSE": Version.FL7}


@cases.case("operations.of_aidl", "FW-PRT-013", "FW-VER-001", "FW-PRT-006", since=Version.FL7)
def operations_of_aidl(context: CaseContext) -> None:
    """Operations of feature levels 6 and 7 are for drivers of that level and later, which compute them."""
    builder = NetBuilder()
    last = builder.apply(
        "ELU", builder.binary("ADD", builder.input(), builder.input()), builder.scalar(1.0, OperandType.FLOAT32)
    )
    no = builder.scalar(0, OperandType.BOOL)
    last = builder.apply("BATCH_MATMUL", last, last, no, no)
    net = builder.net(builder.apply("REVERSE", last, builder.ints(1)))
    for hal in (hal for hal in Version if hal.is_aidl or hal is HIDL_LAST):
        with context.configuration(hal.name.lower()):
            app = ScriptedApp(context, driver("old", hal=hal, exec_time=FAST))
            known = [operation.type for operation in net.vector.operations if _SINCE_OF_AIDL[operation.type] <= hal]
            expected = tuple(operation.type in known for operation in net.vector.operations)
            checks.equal(app.supported(app.model(net), "old"), expected, f"operations that a driver of {hal} supports")
            app.computes_rightly(app.compiled(net))
            app.gets(old=known)
            app.close()


@cases.case("strict", "FW-PRT-013", "FW-PRT-006")
def strict(context: CaseContext) -> None:
    """debug.nn.strict-slicing is no obstacle to slices that are valid."""
    for hal in _HALS:
        app = ScriptedApp(context, driver("old", hal=hal, exec_time=FAST))
        app.control.set_property("debug.nn.strict-slicing", "1")
        net = _every_age()
        app.computes_rightly(app.compiled(net))
        app.gets(old=[operation.type for operation in net.vector.operations if _SINCE[operation.type] <= hal])
        app.close()


@cases.case("all_ages_at_once", "FW-VER-001", "FW-PRT-001", "FW-PRT-006")
def all_ages_at_once(context: CaseContext) -> None:
    """Drivers of all HALs share a model: the older its HAL the cheaper each is, and gets what it can."""
    times = {hal: 0.1 * (place + 1) for place, hal in enumerate(_HALS)}
    app = ScriptedApp(context, *(driver(f"of-{hal}", hal=hal, exec_time=time) for hal, time in times.items()))
    app.computes_rightly(app.compiled(_every_age()))
    app.gets(**{
        "of-1.0": ("ADD", "LOGISTIC"), "of-1.1": ("SUB",), "of-1.2": ("MAXIMUM",), "of-1.3": ("HARD_SWISH",),
    })  # fmt: skip


@cases.case("nothing_left", "FW-PRT-013")
def nothing_left(context: CaseContext) -> None:
    """Where nothing of a model can be expressed the driver supports nothing."""
    app = ScriptedApp(context, driver("old", hal=Version.V1_0, exec_time=FAST))
    builder = NetBuilder()
    net = builder.net(builder.apply("MAXIMUM", builder.input(), builder.input()))
    checks.equal(app.supported(app.model(net), "old"), (False,), "operations that a driver of 1.0 supports")
    app.computes_rightly(app.compiled(net))


@cases.case("defaults_stripped", "FW-PRT-014", "FW-VER-001")
def defaults_stripped(context: CaseContext) -> None:
    """An operation whose newer inputs have their defaults is one that an old driver can do."""
    app = ScriptedApp(context, driver("old", hal=Version.V1_0, exec_time=FAST))
    for is_first, expected in ((False, True), (True, False)):
        builder = NetBuilder()
        cube = VectorOperand(OperandType.TENSOR_FLOAT32, (1, 2, 2, 2))
        arguments = [builder.input(cube), *(builder.scalar(value) for value in (1, 1, 1, 1, 1, 0))]
        layout = builder.scalar(is_first, OperandType.BOOL)
        net = builder.net(builder.apply("MAX_POOL_2D", *arguments, layout, result=cube))
        found = app.supported(app.model(net), "old")
        checks.equal(found, (expected,), f"MAX_POOL_2D with layout {is_first} on a driver of 1.0")
        app.computes_rightly(app.compiled(net))


@cases.case("relaxed", "FW-VER-001")
def relaxed(context: CaseContext) -> None:
    """A driver of 1.0 knows nothing of relaxed models, and computes them as strictly as all others."""
    app = ScriptedApp(context, driver("old", hal=Version.V1_0, exec_time=FAST))
    net = net_of(replace(add().vector, relaxed=True))
    app.computes_rightly(app.compiled(net, "old"))
    model = app.prepared_once("old")
    checks.equal(model.relax_computation_float32_to_float16, False, "relaxed computation for a driver of 1.0")


@cases.case("relaxed_in_parts", "FW-VER-001", "FW-MDL-026")
def relaxed_in_parts(context: CaseContext) -> None:
    """Drivers of 1.1 and later are told that a model is relaxed, however many operations of it they have."""
    for hal in _HALS[1:]:
        for operations in (("ADD",), ("ADD", "SUB"), ("ADD", "MUL", "SUB")):
            app = ScriptedApp(context, driver("old", "ADD", "SUB", hal=hal, exec_time=FAST))
            app.computes_rightly(app.compiled(net_of(replace(chain(*operations).vector, relaxed=True))))
            found = {model.relax_computation_float32_to_float16 for model in app.prepared("old")}
            checks.equal(found, {True}, f"relaxed computation for a driver of {hal}")
            app.close()


@cases.case("rank_zero", "FW-VER-001", "FW-PRT-013")
def rank_zero(context: CaseContext) -> None:
    """Tensors of unknown rank came with 1.2: a driver of 1.1 is not asked about them."""
    app = ScriptedApp(context, driver("old", hal=Version.V1_1, exec_time=FAST))
    vector = add().vector
    (output,) = vector.outputs
    operands = {**vector.operands, output: replace(MATRIX, dimensions=())}
    net = net_of(replace(vector, operands=operands))
    checks.equal(app.supported(app.model(net), "old"), (False,), "an ADD with an output of unknown rank")
    app.computes_rightly(app.compiled(net))


def _declare_alike(name: str, hal: Version, old: VectorOperand, new: VectorOperand, operation: str) -> None:
    @cases.case(f"alike.{name}", "FW-PRT-013", "FW-VER-001")
    def alike(context: CaseContext) -> None:
        """Of two operations that differ in a property of one operand a driver is asked about the older one alone."""
        for order in ((old, new), (new, old)):
            app = ScriptedApp(context, driver("old", hal=hal, exec_time=FAST))
            builder = NetBuilder()
            net = _opened(builder.net(*(_alike(builder, operation, result) for result in order)), order)
            expected = tuple(result is old for result in order)
            checks.equal(app.supported(app.model(net), "old"), expected, f"operations that a driver of {hal} supports")
            app.computes_rightly(app.compiled(net))
            app.close()


_QUANT8 = VectorOperand(OperandType.TENSOR_QUANT8_ASYMM, (2, 2), 0.5, 3)
_ALIKE = {
    "rank": (Version.V1_1, MATRIX, replace(MATRIX, dimensions=()), "ADD"),
    "zero_point": (Version.V1_1, _QUANT8, replace(_QUANT8, zero_point=4), "CONCATENATION"),
    "scale": (Version.V1_1, _QUANT8, replace(_QUANT8, scale=1.0), "CONCATENATION"),
}
"""What an older HAL has for one value of a property and not for another: the result of each, and the operation."""


def _alike(builder: NetBuilder, operation: str, result: VectorOperand) -> str:
    if operation == "ADD":
        return builder.binary("ADD", builder.input(), builder.input())
    inputs = [builder.input(replace(_QUANT8, dimensions=(1, 2))) for _ in range(2)]
    return builder.apply("CONCATENATION", *inputs, builder.scalar(0), result=result)


def _opened(net: Net, results: Sequence[VectorOperand]) -> Net:
    """The net with outputs of the dimensions of these results: the builder knows all sizes."""
    vector = net.vector
    opened = {
        name: replace(vector.operands[name], dimensions=result.dimensions)
        for name, result in zip(vector.outputs, results, strict=True)
    }
    return net_of(replace(vector, operands={**vector.operands, **opened}))


for _name, _row in _ALIKE.items():
    _declare_alike(_name, *_row)


def _pooled(builder: NetBuilder, is_first: bool) -> str:
    """MAX_POOL_2D of a layout: that with channels first came with 1.2."""
    cube = VectorOperand(OperandType.TENSOR_FLOAT32, (1, 2, 2, 2))
    numbers = (builder.scalar(value) for value in (1, 1, 1, 1, 1, 0))
    layout = builder.scalar(is_first, OperandType.BOOL)
    return builder.apply("MAX_POOL_2D", builder.input(cube), *numbers, layout, result=cube)


def _softmax(builder: NetBuilder, is_other_axis: bool) -> str:
    """SOFTMAX over an axis: another one than the last came with 1.2."""
    beta = builder.scalar(1.0, OperandType.FLOAT32)
    return builder.apply("SOFTMAX", builder.input(), beta, builder.scalar(0 if is_other_axis else -1))


def _dilated(builder: NetBuilder, is_dilated: bool) -> str:
    """DEPTHWISE_CONV_2D of one channel: steps between the elements of a filter came with 1.2."""
    image, filters, bias = (
        builder.input(VectorOperand(OperandType.TENSOR_FLOAT32, shape)) for shape in ((1, 3, 3, 1), (1, 2, 2, 1), (1,))
    )
    width = 2 if is_dilated else 1
    numbers = [builder.scalar(value) for value in (2, 1, 1, 1, 0)]
    layout, dilation = builder.scalar(False, OperandType.BOOL), [builder.scalar(width) for _ in range(2)]
    result = VectorOperand(OperandType.TENSOR_FLOAT32, (1, 3 - width, 3 - width, 1))
    return builder.apply("DEPTHWISE_CONV_2D", image, filters, bias, *numbers, layout, *dilation, result=result)


def _projected(builder: NetBuilder, is_new: bool) -> str:
    """LSH_PROJECTION without weights: its type 1 is called SPARSE before 1.2, and 3 from then on."""
    hashes = builder.input(MATRIX)
    looked_up = builder.input(VectorOperand(OperandType.TENSOR_INT32, (3, 2)))
    weights = builder.builder.omitted(VectorOperand(OperandType.TENSOR_FLOAT32, (3,)))
    result = VectorOperand(OperandType.TENSOR_INT32, (2,))
    return builder.apply(
        "LSH_PROJECTION", hashes, looked_up, weights, builder.scalar(3 if is_new else 1), result=result
    )


_BY_VALUE = {"layout": _pooled, "axis": _softmax, "dilation": _dilated, "projection": _projected}
"""Operations of which one constant decides how old they are, by the name of the constant."""


def _declare_alike_by_value(name: str, apply: Callable[[NetBuilder, bool], str]) -> None:
    @cases.case(f"alike_but_for_values.{name}", "FW-PRT-013", "FW-PRT-014")
    def alike_but_for_values(context: CaseContext) -> None:
        """So it is where they differ in the value of a constant alone, in whichever order they come."""
        for order in ((False, True), (True, False), (False, True, False)):
            for hal in (Version.V1_0, Version.V1_1, Version.V1_2):
                app = ScriptedApp(context, driver("old", hal=hal, exec_time=FAST))
                builder = NetBuilder()
                net = builder.net(*(apply(builder, is_new) for is_new in order))
                expected = tuple(not is_new or hal == Version.V1_2 for is_new in order)
                checks.equal(
                    app.supported(app.model(net), "old"), expected, f"operations that a driver of {hal} supports"
                )
                app.computes_rightly(app.compiled(net))
                app.close()


for _constant, _apply in _BY_VALUE.items():
    _declare_alike_by_value(_constant, _apply)


@cases.case("alike_but_for_graphs", "FW-PRT-013", "FW-VER-001", since=Version.FL7)
def alike_but_for_graphs(context: CaseContext) -> None:
    """So it is of IFs that differ in one of their branches alone, in any order: REVERSE came with feature level 7."""
    old, new = (branch("ADD"), branch("SUB")), _reversing()
    for pairs in ((old, new), (new, old), (old, new[::-1]), (new[::-1], old), (old, new, old)):
        for hal in (Version.V1_3, Version.FL6):
            app = ScriptedApp(context, driver("old", hal=hal, exec_time=FAST, if_performance=both(FAST)))
            net = ifs_side_by_side(*pairs)
            expected = tuple(pair is old for pair in pairs)
            checks.equal(app.supported(app.model(net), "old"), expected, f"IFs that a driver of {hal} supports")
            app.computes_rightly(app.compiled(net))
            app.close()


def _reversing() -> tuple[Graph, Graph]:
    """Branches of which the first reverses a matrix before it adds the other one."""
    builder = NetBuilder()
    first, second = builder.input(), builder.input()
    reversed_ = builder.apply("REVERSE", first, builder.ints(0))
    return builder.graph(builder.binary("ADD", reversed_, second)), branch("SUB")
