"""The models that drivers get: the whole one where a device runs it all, else parts that fit together again."""

from __future__ import annotations

from npu_conformance.corpus.vector_types import VectorOperand
from npu_conformance.cts.lib.runtime.model_form import constant_bytes, form
from npu_conformance.cts.lib.runtime.nets import MATRIX, NetBuilder, chain
from npu_conformance.cts.lib.runtime.scripted_app import ScriptedApp
from npu_conformance.cts.lib.runtime.scripts import ADDS, FAST, MIDDLING, MULTIPLIES, driver
from npu_conformance.cts.lib.runtime.ways import ways
from npu_conformance.harness.judge import checks
from npu_conformance.harness.run.cases import CaseGroup, Scope
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.specs.neuralnetworks.enums import OperandLifeTime, OperandType
from npu_conformance.specs.neuralnetworks.types import Model
from npu_conformance.specs.versions import Version

cases = CaseGroup("cts.partitioning.plans", interface="runtime", since=Version.V1_2)

_RELU6 = 3
_CONSTANTS = (OperandLifeTime.CONSTANT_COPY, OperandLifeTime.CONSTANT_POOL)


def _lifetimes(model: Model, indexes: tuple[int, ...]) -> set[int]:
    return {model.main.operands[index].lifetime for index in indexes}


@cases.case("whole_model", "FW-PRT-005", scope=Scope.SMOKE)
def whole_model(context: CaseContext) -> None:
    """A model that one driver runs comes to it as the app built it, once, with an input that nobody reads."""
    app = ScriptedApp(context, driver("one", exec_time=FAST))
    builder = NetBuilder()
    first, _unused, second = builder.input(), builder.input(), builder.input()
    total = builder.binary("ADD", first, builder.constant(first=4), 1)
    net = builder.net(builder.binary("MUL", total, second), total)
    app.computes_rightly(app.compiled(net))
    model = app.prepared_once("one")
    checks.equal(form(model), form(net.wire), "the model that the driver was given")


@cases.case("whole_relaxed_model", "FW-PRT-005")
def whole_relaxed_model(context: CaseContext) -> None:
    """The permission to compute float32 as float16 reaches the driver, and so it does with parts of a model."""
    app = ScriptedApp(context, driver("adds", "ADD", exec_time=FAST), driver("all", exec_time=MIDDLING))
    for operations in (("ADD",), ("ADD", "MUL")):
        builder = NetBuilder()
        last, second = builder.input(), builder.input()
        for name in operations:
            last = builder.binary(name, last, second)
        app.computes_rightly(app.compiled(builder.net(last, relaxed=True)))
    models = [*app.prepared("adds"), *app.prepared("all")]
    flags = [model.relax_computation_float32_to_float16 for model in models]
    checks.equal(flags, [True] * 3, "whether the models that drivers got are relaxed")


@cases.case("whole_model_named", "FW-PRT-005")
def whole_model_named(context: CaseContext) -> None:
    """So does a model for a driver that the app names."""
    app = ScriptedApp(context, driver("one", exec_time=5.0), driver("two", exec_time=FAST))
    net = chain("ADD", "MUL", "SUB")
    app.computes_rightly(app.compiled(net, "one"))
    model = app.prepared_once("one")
    checks.equal(form(model), form(net.wire), "the model that the driver was given")


@cases.case("two_drivers", "FW-PRT-006", "FW-PRT-001", scope=Scope.SMOKE)
def two_drivers(context: CaseContext) -> None:
    """A chain over two drivers and the CPU: each part has its operation, and what leads in and out of it."""
    app = ScriptedApp(context, ADDS, MULTIPLIES)
    app.computes_rightly(app.compiled(chain("ADD", "MUL", "SUB", "ADD")))
    app.gets(adds=("ADD", "ADD"), multiplies=("MUL",))
    model = app.prepared_once("multiplies")
    checks.equal(_lifetimes(model, model.main.input_indexes), {OperandLifeTime.SUBGRAPH_INPUT}, "inputs of the part")
    checks.equal(_lifetimes(model, model.main.output_indexes), {OperandLifeTime.SUBGRAPH_OUTPUT}, "outputs of the part")
    checks.equal(
        (len(model.main.input_indexes), len(model.main.output_indexes)), (2, 1), "number of inputs and outputs"
    )


@cases.case("executed_as_prepared", "FW-PRT-006", "FW-PRT-001")
def executed_as_prepared(context: CaseContext) -> None:
    """Each driver that was given a part executes it: as many executions as parts, for each computation."""
    app = ScriptedApp(context, ADDS, MULTIPLIES)
    compiled = app.compiled(chain("ADD", "MUL", "ADD"))
    for count in (1, 2):
        app.computes_rightly(compiled)
        for name in ("adds", "multiplies"):
            parts = len(app.prepared(name))
            checks.equal(len(app.executions(name)), parts * count, f"executions by {name} of {parts} parts")


@cases.case("constants", "FW-PRT-006")
def constants(context: CaseContext) -> None:
    """A constant is one in the part that uses it, with its bytes, and no part has those of others."""
    app = ScriptedApp(context, ADDS, MULTIPLIES)
    builder = NetBuilder()
    small, large = builder.constant(first=3), builder.constant(VectorOperand(OperandType.TENSOR_FLOAT32, (8, 8)))
    total = builder.binary("ADD", builder.input(), small)
    product = builder.binary("MUL", builder.input(VectorOperand(OperandType.TENSOR_FLOAT32, (8, 8))), large)
    net = builder.net(total, product)
    app.computes_rightly(app.compiled(net))
    for name, length in (("adds", 16), ("multiplies", 256)):
        model = app.prepared_once(name)
        found = [_length(model, index) for index in range(len(model.main.operands)) if _is_matrix(model, index)]
        checks.equal(found, [length], f"bytes of the constant matrices that {name} got")


def _is_matrix(model: Model, index: int) -> bool:
    operand = model.main.operands[index]
    return operand.lifetime in _CONSTANTS and operand.type == OperandType.TENSOR_FLOAT32


def _length(model: Model, index: int) -> int:
    found = constant_bytes(model, model.main, index)
    return found if isinstance(found, int) else len(found)


@cases.case("shared_constant", "FW-PRT-006")
def shared_constant(context: CaseContext) -> None:
    """A constant that parts of several devices use is in each of them."""
    app = ScriptedApp(context, ADDS, MULTIPLIES)
    builder = NetBuilder()
    shared = builder.constant(first=2)
    total = builder.binary("ADD", builder.input(), shared)
    product = builder.binary("MUL", total, shared)
    app.computes_rightly(app.compiled(builder.net(builder.binary("SUB", product, shared))))


@cases.case("omitted_operand", "FW-PRT-006")
def omitted_operand(context: CaseContext) -> None:
    """An operand without value is one in the part that uses it: the weights of LSH_PROJECTION."""
    app = ScriptedApp(
        context, driver("adds", "ADD", exec_time=FAST), driver("hashes", "LSH_PROJECTION", exec_time=FAST)
    )
    builder = NetBuilder()
    total = builder.binary("ADD", builder.input(), builder.input())
    weights = builder.builder.omitted(VectorOperand(OperandType.TENSOR_FLOAT32))
    result = VectorOperand(OperandType.TENSOR_INT32)
    net = builder.net(
        builder.apply("LSH_PROJECTION", builder.constant(), total, weights, builder.scalar(3), result=result)
    )
    app.computes_rightly(app.compiled(net))
    model = app.prepared_once("hashes")
    third = model.main.operands[model.main.operations[0].inputs[2]]
    checks.equal(third.lifetime, int(OperandLifeTime.NO_VALUE), "lifetime of the omitted weights")


@cases.case("output_read_later", "FW-PRT-006")
def output_read_later(context: CaseContext) -> None:
    """An output of the model that later parts read has its value for the app and for them."""
    app = ScriptedApp(context, ADDS, MULTIPLIES)
    builder = NetBuilder()
    first, second = builder.input(), builder.input()
    total = builder.binary("ADD", first, second)
    product = builder.binary("MUL", total, second)
    rest = builder.binary("SUB", total, product)
    app.computes_rightly(app.compiled(builder.net(total, rest, product)))
    app.gets(adds=("ADD",), multiplies=("MUL",))


@cases.case("input_of_several_parts", "FW-PRT-006")
def input_of_several_parts(context: CaseContext) -> None:
    """An input of the model may be one of every part, and more than once of one operation."""
    app = ScriptedApp(context, ADDS, MULTIPLIES)
    builder = NetBuilder()
    only = builder.input()
    total, product = builder.binary("ADD", only, only), builder.binary("MUL", only, only)
    app.computes_rightly(app.compiled(builder.net(builder.binary("SUB", total, product))))


@cases.case("order_of_inputs_and_outputs", "FW-PRT-006")
def order_of_inputs_and_outputs(context: CaseContext) -> None:
    """Inputs and outputs keep their order and their shapes, also where the parts meet them in another."""
    app = ScriptedApp(context, ADDS, MULTIPLIES)
    builder = NetBuilder()
    shapes = [VectorOperand(OperandType.TENSOR_FLOAT32, shape) for shape in ((3,), (1, 4), (2, 2))]
    inputs = [builder.input(shape) for shape in shapes]
    totals = [builder.binary("ADD", name, name) for name in reversed(inputs)]
    products = [builder.binary("MUL", name, name) for name in totals]
    app.computes_rightly(app.compiled(builder.net(*products[1:], *totals, products[0])))


@cases.case("dead_operations", "FW-PRT-006")
def dead_operations(context: CaseContext) -> None:
    """Operations whose results nobody reads do no harm, on whichever device."""
    app = ScriptedApp(context, ADDS, MULTIPLIES)
    builder = NetBuilder()
    first, second = builder.input(), builder.input()
    for name in ("MUL", "SUB", "ADD"):
        builder.binary(name, first, second)
    app.computes_rightly(app.compiled(builder.net(builder.binary("ADD", first, second))))


@cases.case("operands_of_several_types", "FW-PRT-006")
def operands_of_several_types(context: CaseContext) -> None:
    """Temporaries between parts may be of any type: float32, then bool, then float32 again."""
    app = ScriptedApp(context, driver("compares", "LESS", exec_time=FAST), driver("selects", "SELECT", exec_time=FAST))
    builder = NetBuilder()
    first, second = builder.input(), builder.input()
    smaller = builder.apply("LESS", first, second, result=VectorOperand(OperandType.TENSOR_BOOL8))
    least = builder.apply("SELECT", smaller, first, second)
    app.computes_rightly(app.compiled(builder.net(least)))
    app.gets(compares=("LESS",), selects=("SELECT",))


@cases.case("quantised_parameters", "FW-PRT-006")
def quantised_parameters(context: CaseContext) -> None:
    """Scale and zero point of temporaries between parts reach both sides."""
    app = ScriptedApp(context, driver("quantises", "QUANTIZE", exec_time=FAST), driver("adds", "ADD", exec_time=FAST))
    builder = NetBuilder()
    operand = VectorOperand(OperandType.TENSOR_QUANT8_ASYMM, (2, 2), 0.5, 100)
    quantised = builder.apply("QUANTIZE", builder.input(), result=operand)
    total = builder.binary("ADD", quantised, quantised)
    app.computes_rightly(app.compiled(builder.net(builder.apply("DEQUANTIZE", total, result=MATRIX))))
    model = app.prepared_once("adds")
    found = {(each.scale, each.zero_point) for each in model.main.operands if each.type == operand.type}
    checks.equal(found, {(0.5, 100)}, "scale and zero point in the part that adds")


@cases.case("every_way", "FW-PRT-006")
def every_way(context: CaseContext) -> None:
    """A model in parts computes the same by every way of executing."""
    app = ScriptedApp(context, ADDS, MULTIPLIES)
    compiled = app.compiled(chain("ADD", "MUL", "SUB", "ADD"))
    for way in ways(app.level):
        app.computes_rightly(compiled, way)


@cases.case("many_parts", "FW-PRT-006", "FW-PRT-001")
def many_parts(context: CaseContext) -> None:
    """A model of more operations than a word has bits, in as many parts as it alternates, is computed as any other."""
    app = ScriptedApp(context, ADDS, MULTIPLIES)
    operations = [("ADD", _RELU6), ("ADD", _RELU6), ("ADD", _RELU6), ("MUL", _RELU6)] * 17
    app.computes_rightly(app.compiled(chain(*operations), "adds", "multiplies"))
    app.gets(adds=["ADD"] * 51, multiplies=["MUL"] * 17)


@cases.case("again_with_other_inputs", "FW-PRT-006")
def again_with_other_inputs(context: CaseContext) -> None:
    """Nothing of one computation is left in the next: temporaries are written anew."""
    app = ScriptedApp(context, ADDS, MULTIPLIES)
    net = chain("ADD", "MUL", "SUB")
    compiled = app.compiled(net)
    for factor in (1, 2, -3):
        inputs = {name: array * factor for name, array in net.inputs.items()}
        computed = app.compute_net(compiled, inputs)
        app.expect("execution_compute", computed.result)
        app.judge(net, computed.outputs, net.expected_of(inputs))


@cases.case("several_executions", "FW-PRT-006")
def several_executions(context: CaseContext) -> None:
    """Executions of one compilation that are open at once do not touch each other's temporaries."""
    app = ScriptedApp(context, ADDS, MULTIPLIES)
    net = chain("ADD", "MUL", "SUB")
    compiled = app.compiled(net)
    inputs = [{name: array * factor for name, array in net.inputs.items()} for factor in (1, 5)]
    executions = [app.prepared_execution(compiled, each) for each in inputs]
    for each, computed in zip(inputs, executions, strict=True):
        app.finish(compiled, computed, "asynchronous")
        app.expect("execution_start_compute", computed.result)
        app.judge(net, computed.outputs, net.expected_of(each))
