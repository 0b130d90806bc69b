"""Temporaries between parts of a model, of a size that the model does not say."""

from __future__ import annotations

from functools import partial
from itertools import product
from typing import TYPE_CHECKING

from msgspec.structs import replace

from npu_conformance.corpus import vectors
from npu_conformance.corpus.vector_types import Example, Vector, VectorOperand
from npu_conformance.cts.lib.runtime import ways
from npu_conformance.cts.lib.runtime.control_flow_nets import (
    flow_in_branch,
    if_of_unknown_size,
    while_around_if,
    while_net,
)
from npu_conformance.cts.lib.runtime.net_app import Compiled, Computed
from npu_conformance.cts.lib.runtime.nets import Net, NetBuilder, chain, net_of
from npu_conformance.cts.lib.runtime.scripted_app import ScriptedApp
from npu_conformance.cts.lib.runtime.scripts import ADDS, FAST, MULTIPLIES, driver, misbehaving
from npu_conformance.harness.judge import checks
from npu_conformance.harness.judge.verdicts import NotApplicable
from npu_conformance.harness.run.cases import CaseGroup
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.specs.neuralnetworks.enums import OperandType
from npu_conformance.specs.neuralnetworks.runtime.result_codes import ResultCode
from npu_conformance.specs.versions import Version

if TYPE_CHECKING:
    from npu_conformance.corpus.vector_types import Array

cases = CaseGroup("cts.partitioning.temporaries", interface="runtime", since=Version.V1_2)


def _unknown(dimensions: tuple[int, ...], *, output: tuple[int, ...] = ()) -> Net:
    """ADD, MUL and SUB over a vector whose size is in the request alone. dimensions: of every operand between."""
    builder = NetBuilder()
    last, second = (builder.input(VectorOperand(OperandType.TENSOR_FLOAT32, (4, 3))) for _ in range(2))
    for name in ("ADD", "MUL", "SUB"):
        last = builder.binary(name, last, second)
    vector = builder.net(last).vector
    opened = {
        name: _opened(operand, output if name in vector.outputs and output else dimensions)
        for name, operand in vector.operands.items()
    }
    return net_of(
        Vector(
            "net", "ADD", vector.since, opened, vector.operations, vector.inputs, vector.outputs,
            (Example(vector.examples[0].inputs, {}),),
        )
    )  # fmt: skip


def _opened(operand: VectorOperand, dimensions: tuple[int, ...]) -> VectorOperand:
    return replace(operand, dimensions=dimensions) if operand.type == OperandType.TENSOR_FLOAT32 else operand


def _declare(name: str, dimensions: tuple[int, ...], output: tuple[int, ...] = ()) -> None:
    @cases.case(f"default.{name}", "FW-PRT-015", "FW-PRT-006")
    def falls_back_at_worst(context: CaseContext) -> None:
        """A default compilation computes a model whose temporaries have no known size, in parts or on the CPU."""
        app = ScriptedApp(context, ADDS, MULTIPLIES)
        compiled = app.compiled(_unknown(dimensions, output=output))
        for _ in range(2):
            app.computes_rightly(compiled)

    @cases.case(f"named.{name}", "FW-PRT-015")
    def in_parts(context: CaseContext) -> None:
        """Named devices compute such a model in parts; a runtime that cannot says OP_FAILED."""
        app = ScriptedApp(context, ADDS, MULTIPLIES)
        compiled = app.compile(_unknown(dimensions, output=output), "adds", "multiplies", "nnapi-reference")
        if compiled.result == ResultCode.NO_ERROR:
            _computes_or_refuses(app, compiled)
        else:
            app.expect("compilation_finish", compiled.result, ResultCode.OP_FAILED)
            context.warn_quality("temporaries of unknown size between devices are not supported")


def _computes_or_refuses(app: ScriptedApp, compiled: Compiled) -> None:
    computed = app.compute_net(compiled)
    if computed.result == ResultCode.NO_ERROR:
        app.judge(compiled.net, computed.outputs, compiled.net.expected())
    else:
        app.expect("execution_compute", computed.result, ResultCode.OP_FAILED)
        app.context.warn_quality("temporaries of unknown size between devices are not supported")


_declare("unknown_size", (0, 3))
_declare("unknown_sizes", (0, 0))
_declare("known_output", (0, 3), (4, 3))


@cases.case("unknown_rank", "FW-PRT-015", "FW-PRT-006")
def unknown_rank(context: CaseContext) -> None:
    """A default compilation computes a model whose operands have no known rank."""
    app = ScriptedApp(context, ADDS, MULTIPLIES)
    app.computes_rightly(app.compiled(_unknown(())))


@cases.case("in_one_branch", "FW-PRT-015", "FW-PRT-006", since=Version.V1_3)
def in_one_branch(context: CaseContext) -> None:
    """An IF of which one branch has temporaries of unknown size is computed in every way, by default."""
    app = ScriptedApp(context, ADDS, MULTIPLIES)
    compiled = app.compiled(_one_branch_unknown())
    for way, taken in product(ways.ways(app.level), (True, False)):
        with context.configuration(f"{way}.{taken}".lower()):
            computed = _branch(app, compiled, way, taken)
            app.expect(f"execution ({way})", computed.result)


@cases.case("in_one_branch_of_named", "FW-PRT-015", "FW-EXE-012", since=Version.V1_3)
def in_one_branch_of_named(context: CaseContext) -> None:
    """Named devices that compute such an IF in parts do so in every way."""
    app = ScriptedApp(context, ADDS, MULTIPLIES)
    compiled = app.compile(_one_branch_unknown(), "adds", "multiplies", "nnapi-reference")
    if compiled.result != ResultCode.NO_ERROR or _branch(app, compiled, "compute", True).result != ResultCode.NO_ERROR:
        raise NotApplicable("temporaries of unknown size between devices are not supported")
    for way, taken in product(ways.ways(app.level), (True, False)):
        with context.configuration(f"{way}.{taken}".lower()):
            app.expect(f"execution ({way})", _branch(app, compiled, way, taken).result)


@cases.case("in_a_branch_of_a_branch", "FW-PRT-015", "FW-PRT-006", since=Version.V1_3)
def in_a_branch_of_a_branch(context: CaseContext) -> None:
    """So is an IF or WHILE around such an IF, by default and, where that is supported, on named devices."""
    for name, net in (("if", flow_in_branch(_one_branch_unknown())), ("while", while_around_if(_one_branch_unknown()))):
        app = ScriptedApp(context, ADDS, MULTIPLIES)
        for devices in ((), ("adds", "multiplies", "nnapi-reference")):
            compiled = app.compile(net, *devices)
            if devices and (
                compiled.result != ResultCode.NO_ERROR or app.compute_net(compiled).result != ResultCode.NO_ERROR
            ):
                continue  # a runtime need not support that (FW-PRT-015)
            for way, (outer, inner) in product(ways.ways(app.level), product((True, False), repeat=2)):
                with context.configuration(f"{name}.{'named' if devices else 'default'}.{way}.{outer}_{inner}".lower()):
                    _judge_flags(app, compiled, way, outer, inner)
        app.close()


def _judge_flags(app: ScriptedApp, compiled: Compiled, way: str, *flags: bool) -> None:
    """Compute with these truth values for its first inputs; a counter starts from them, and ends at 1."""
    import numpy

    net = compiled.net
    inputs = dict(net.inputs)
    for name, flag in zip(net.vector.inputs, flags, strict=False):
        inputs[name] = numpy.full_like(inputs[name], flag)
    computed = app.compute_net(compiled, inputs, way)
    app.expect(f"execution ({way})", computed.result)
    app.judge(net, computed.outputs, net.expected_of(inputs))


def _one_branch_unknown() -> Net:
    return if_of_unknown_size(("ADD", "MUL", "SUB"), ("MUL",))


def _branch(app: ScriptedApp, compiled: Compiled, way: str, taken: bool) -> Computed:
    """Compute with one branch taken or the other; outputs are judged where it succeeds."""
    import numpy

    net = compiled.net
    inputs = {**net.inputs, net.vector.inputs[0]: numpy.array([taken])}
    computed = app.compute_net(compiled, inputs, way)
    app.judge(net, computed.outputs, net.expected_of(inputs))
    return computed


@cases.case("of_one_byte", "FW-PRT-006")
def of_one_byte(context: CaseContext) -> None:
    """Temporaries of a single byte pass between devices, named by the app or not."""
    app = ScriptedApp(context, ADDS, MULTIPLIES)
    for devices in ((), ("adds", "multiplies", "nnapi-reference")):
        with context.configuration("named" if devices else "default"):
            app.computes_rightly(app.compiled(_one_byte(), *devices))


def _one_byte() -> Net:
    """ADD and MUL of quantised vectors of one element."""
    builder = NetBuilder()
    byte = VectorOperand(OperandType.TENSOR_QUANT8_ASYMM, (1,), 0.5, 0)
    last, second = builder.input(byte), builder.input(byte)
    for name in ("ADD", "MUL", "ADD"):
        last = builder.binary(name, last, second)
    return builder.net(last)


@cases.case("of_several_sizes", "FW-PRT-006")
def of_several_sizes(context: CaseContext) -> None:
    """Temporaries of one execution, from one byte to more than a page, do not lie over each other."""
    import numpy

    app = ScriptedApp(context, ADDS, MULTIPLIES)
    builder = NetBuilder()
    outputs = []
    for size in (1, 63, 64, 65, 1023, 9000, 3):
        flat = VectorOperand(OperandType.TENSOR_QUANT8_ASYMM, (size,), 0.5, 0)
        first, second = builder.input(flat), builder.input(flat)
        sums = builder.binary("ADD", first, second), builder.binary("ADD", second, second)
        outputs.append(builder.binary("MUL", *sums))
    compiled = app.compiled(builder.net(*outputs))
    for step in (0, 2):
        inputs = {name: array + numpy.uint8(step) for name, array in compiled.net.inputs.items()}
        computed = app.compute_net(compiled, inputs)
        app.expect("execution_compute", computed.result)
        app.judge(compiled.net, computed.outputs, compiled.net.expected_of(inputs))


@cases.case("empty", "FW-PRT-006")
def empty(context: CaseContext) -> None:
    """Tensors without elements between devices: a default compilation computes them, and named devices may refuse."""
    app = ScriptedApp(context, driver("slices", "SLICE", exec_time=FAST), driver("adds", "ADD", exec_time=FAST))
    net = net_of(vectors.load("ADD", "float32_zero_sized"))
    app.computes_rightly(app.compiled(net))
    named = app.compile(net, "slices", "adds", "nnapi-reference")
    if named.result != ResultCode.NO_ERROR:
        app.expect("compilation_finish", named.result, ResultCode.OP_FAILED)
        return
    computed = app.compute_net(named)
    app.expect("execution_compute", computed.result, ResultCode.NO_ERROR, ResultCode.OP_FAILED)
    app.judge(net, computed.outputs, net.expected())


@cases.case("growing", "FW-PRT-015", "FW-PRT-006")
def growing(context: CaseContext) -> None:
    """The next computation may have larger temporaries, or smaller ones."""
    import numpy

    app = ScriptedApp(context, ADDS, MULTIPLIES)
    net = _unknown((0, 3))
    compiled = app.compiled(net)
    for rows in (1, 20, 2):
        inputs = {name: numpy.arange(rows * 3, dtype=numpy.float32).reshape(rows, 3) for name in net.inputs}
        computed = app.compute_net(compiled, inputs)
        app.expect("execution_compute", computed.result)
        app.judge(net, computed.outputs, net.expected_of(inputs))


@cases.case("never_enough", "FW-PRT-015", since=Version.FL5)
def never_enough(context: CaseContext) -> None:
    """A driver that finds every room for a temporary too little is not asked for ever: the execution fails."""
    insatiable = driver("adds", "ADD", exec_time=FAST, **misbehaving("execute", "tight"))
    app = ScriptedApp(context, insatiable, driver("multiplies", "MUL", exec_time=FAST))
    compiled = app.compile(_unknown((0, 3)), "adds", "multiplies", "nnapi-reference")
    if compiled.result != ResultCode.NO_ERROR:
        raise NotApplicable("temporaries of unknown size between devices are not supported")
    result = app.compute_net(compiled).result
    checks.that(result != ResultCode.NO_ERROR, "an execution for which no room is ever enough: expected a failure")


@cases.case("of_executions_at_once", "FW-GEN-008", "FW-MDL-029", "FW-PRT-006")
def of_executions_at_once(context: CaseContext) -> None:
    """Executions of one compilation in parts that run at once have temporaries of their own."""
    _judge_at_once(context, chain("ADD", "MUL", "ADD"))


@cases.case("of_loops_at_once", "FW-GEN-008", "FW-MDL-029", "FW-PRT-006", since=Version.V1_3)
def of_loops_at_once(context: CaseContext) -> None:
    """So have loops, of the values that one round hands on to the next."""
    for first in (2, 3):
        _judge_at_once(context, while_net(("MUL", "SUB")), first=first)


def _judge_at_once(context: CaseContext, net: Net, *, first: int = 1) -> None:
    """Two executions with other matrices, of which the driver holds one. first: the call that it holds."""
    blocks = misbehaving("execute", "blocks", first=first, count=1)
    app = ScriptedApp(context, driver("holds", "MUL", exec_time=FAST, **blocks))
    compiled = app.compiled(net)
    all_inputs = [_stepped(net, step) for step in (0, 3)]
    made = [app.prepared_execution(compiled, inputs) for inputs in all_inputs]

    def finish(computed: Computed) -> None:
        """The driver holds the first that reaches it between its steps; that the other is over sets it free."""
        try:
            app.finish(compiled, computed, "compute")
        finally:
            app.control.release("holds")

    context.run_concurrently([partial(finish, each) for each in made])
    for computed, inputs in zip(made, all_inputs, strict=True):
        app.expect("execution_compute", computed.result)
        app.judge(net, computed.outputs, net.expected_of(inputs))
    app.close()


def _stepped(net: Net, step: int) -> dict[str, Array]:
    """Inputs whose matrices are larger by a step; the first number counts from 0, and the second one bounds it by 3."""
    import numpy

    counters = [name for name in net.vector.inputs if net.vector.operands[name].type == OperandType.TENSOR_INT32]
    return {
        name: numpy.full_like(array, 3 * counters.index(name)) if name in counters else array + numpy.float32(step)
        for name, array in net.inputs.items()
    }
