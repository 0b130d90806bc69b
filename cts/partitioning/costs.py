"""What an operation costs on a driver: the figure of its first input's type, or of control flow and what is inside."""

from __future__ import annotations

from collections.abc import Callable

from msgspec.structs import replace

from npu_conformance.corpus.vector_types import ChannelQuant, VectorOperand
from npu_conformance.cts.lib.runtime.control_flow_nets import if_net, while_net
from npu_conformance.cts.lib.runtime.nets import Net, NetBuilder, add, chain, net_of
from npu_conformance.cts.lib.runtime.scripted_app import ScriptedApp
from npu_conformance.cts.lib.runtime.scripts import LISTED, both, driver, per_type
from npu_conformance.harness.run.cases import CaseGroup
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.specs.neuralnetworks.enums import OperandType
from npu_conformance.specs.neuralnetworks.runtime.control import DriverScript
from npu_conformance.specs.versions import Version

cases = CaseGroup("cts.partitioning.costs", interface="runtime", since=Version.V1_2)

_GOOD, _EVEN, _BAD = 0.1, 0.5, 0.9


def _binary(kind: OperandType, scale: float = 0.0) -> Net:
    builder = NetBuilder()
    operand = VectorOperand(kind, (2, 2), scale)
    return builder.net(builder.binary("ADD", builder.input(operand), builder.input(operand)))


def _unary(operation: str, operand: VectorOperand, result: VectorOperand | None = None) -> Net:
    builder = NetBuilder()
    return builder.net(builder.apply(operation, builder.input(operand), result=result or operand))


_FLOATS = VectorOperand(OperandType.TENSOR_FLOAT32, (2, 2))
_OF_TYPE: dict[OperandType, Callable[[], Net]] = {
    OperandType.TENSOR_FLOAT32: lambda: _binary(OperandType.TENSOR_FLOAT32),
    OperandType.TENSOR_FLOAT16: lambda: _binary(OperandType.TENSOR_FLOAT16),
    OperandType.TENSOR_INT32: lambda: _unary("ABS", VectorOperand(OperandType.TENSOR_INT32, (2, 2))),
    OperandType.TENSOR_QUANT8_ASYMM: lambda: _binary(OperandType.TENSOR_QUANT8_ASYMM, 0.5),
    OperandType.TENSOR_QUANT8_ASYMM_SIGNED: lambda: _binary(OperandType.TENSOR_QUANT8_ASYMM_SIGNED, 0.5),
    OperandType.TENSOR_BOOL8: lambda: _unary("LOGICAL_NOT", VectorOperand(OperandType.TENSOR_BOOL8, (2, 2))),
    OperandType.TENSOR_QUANT8_SYMM: lambda: _unary(
        "DEQUANTIZE", VectorOperand(OperandType.TENSOR_QUANT8_SYMM, (2, 2), 0.5), _FLOATS
    ),
    OperandType.TENSOR_QUANT8_SYMM_PER_CHANNEL: lambda: _unary(
        "DEQUANTIZE",
        VectorOperand(OperandType.TENSOR_QUANT8_SYMM_PER_CHANNEL, (2, 2), channel_quant=ChannelQuant((0.5, 0.25), 0)),
        _FLOATS,
    ),
}
"""A model of one operation for each operand type that the first input of some operation can have alone."""


def _chosen(context: CaseContext, net: Net, chosen: str, *scripts: DriverScript) -> None:
    """Check that one driver gets the whole net, and the results are right."""
    app = ScriptedApp(context, *scripts)
    app.computes_rightly(app.compiled(net))
    everything = [operation.type for operation in net.vector.operations]
    app.gets(**{script.name: everything if script.name == chosen else () for script in scripts})
    app.close()


def _declare_type(kind: OperandType, make: Callable[[], Net]) -> None:
    @cases.case(f"type.{kind.name.lower()}", "FW-PRT-002", since=Version.V1_3)
    def of_type(context: CaseContext) -> None:
        """A driver's figure for the type of the first input decides, not those of other types."""
        even = driver("even", exec_time=_EVEN)
        better = driver("special", operand_performance=per_type(_BAD, **{kind.name: _GOOD}))
        worse = driver("special", operand_performance=per_type(_GOOD, **{kind.name: _BAD}))
        _chosen(context, make(), "special", even, better)
        _chosen(context, make(), "even", even, worse)

    @cases.case(f"unlisted.{kind.name.lower()}", "FW-PRT-002", since=Version.V1_3)
    def unlisted(context: CaseContext) -> None:
        """A type that a driver does not list costs more there than on the CPU and on any other driver."""
        others = tuple(each for each in LISTED if each is not kind)
        partial = driver("partial", exec_time=_GOOD, listed_types=tuple(map(int, others)))
        _chosen(context, make(), "", partial)
        _chosen(context, make(), "even", partial, driver("even", exec_time=_EVEN))


for _kind, _make in _OF_TYPE.items():
    _declare_type(_kind, _make)


@cases.case("first_input", "FW-PRT-002")
def first_input(context: CaseContext) -> None:
    """Of inputs of several types the first counts: GATHER of floats at indexes, EMBEDDING_LOOKUP by indexes."""
    builder = NetBuilder()
    gathered = builder.net(builder.apply("GATHER", builder.input(), builder.scalar(0), builder.ints(1, 0)))
    builder = NetBuilder()
    found = builder.net(builder.apply("EMBEDDING_LOOKUP", builder.ints(1, 0), builder.input()))
    even = driver("even", exec_time=_EVEN)
    for net, first in ((gathered, "TENSOR_FLOAT32"), (found, "TENSOR_INT32")):
        for good in ("TENSOR_FLOAT32", "TENSOR_INT32"):
            special = driver("special", operand_performance=per_type(_BAD, **{good: _GOOD}))
            _chosen(context, net, "special" if good == first else "even", even, special)


@cases.case("first_input_is_constant", "FW-PRT-002")
def first_input_is_constant(context: CaseContext) -> None:
    """The first input counts also where it is a constant: SELECT of floats by truth values that the model knows."""
    import numpy

    builder = NetBuilder()
    truth = VectorOperand(OperandType.TENSOR_BOOL8, (2, 2))
    chosen = builder.builder.constant(truth, numpy.array([[True, False], [False, True]]))
    selected = builder.net(builder.apply("SELECT", chosen, builder.input(), builder.input()))
    for good, winner in (("TENSOR_BOOL8", "special"), ("TENSOR_FLOAT32", "even")):
        special = driver("special", operand_performance=per_type(_BAD, **{good: _GOOD}))
        _chosen(context, selected, winner, driver("even", exec_time=_EVEN), special)


@cases.case("close", "FW-PRT-001")
def close(context: CaseContext) -> None:
    """A little better is better, also for the last device, and next to the CPU."""
    for better in (0.49, 0.499, 0.4999):
        _chosen(context, add(), "special", driver("even", exec_time=_EVEN), driver("special", exec_time=better))
    _chosen(context, add(), "special", driver("special", exec_time=0.9999))


@cases.case("relaxed", "FW-PRT-002")
def relaxed(context: CaseContext) -> None:
    """Where float32 may be computed as float16, the figure for that counts, and elsewhere it does not."""
    even = driver("even", exec_time=_EVEN, relaxed=both(_EVEN))
    good = driver("special", exec_time=_BAD, relaxed=both(_GOOD))
    bad = driver("special", exec_time=_GOOD, relaxed=both(_BAD))
    relaxed_add = _relaxed(add())
    _chosen(context, relaxed_add, "special", even, good)
    _chosen(context, relaxed_add, "even", even, bad)
    _chosen(context, add(), "even", even, good)
    _chosen(context, add(), "special", even, bad)


@cases.case("relaxed_is_for_floats", "FW-PRT-002")
def relaxed_is_for_floats(context: CaseContext) -> None:
    """The figure for relaxed floats says nothing of quantised operations in a relaxed model."""
    even = driver("even", exec_time=_EVEN, relaxed=both(_EVEN))
    bad = driver("special", exec_time=_GOOD, relaxed=both(_BAD))
    _chosen(context, _relaxed(_binary(OperandType.TENSOR_QUANT8_ASYMM, 0.5)), "special", even, bad)


@cases.case("figures_do_not_add_up", "FW-PRT-001")
def figures_do_not_add_up(context: CaseContext) -> None:
    """Costs are compared operation by operation: many of them on the better driver cost no more than one."""
    _chosen(context, chain(*["ADD"] * 8), "special", driver("special", exec_time=0.4), driver("even", exec_time=_EVEN))


def _control(name: str, flow: float, figure: float) -> DriverScript:
    """A driver with a figure for control flow and another for everything else."""
    return driver(name, exec_time=figure, if_performance=both(flow), while_performance=both(flow))


@cases.case("if_counts_halves", "FW-PRT-004", since=Version.V1_3)
def if_counts_halves(context: CaseContext) -> None:
    """IF costs itself and half of each branch: 0.2 + (0.6 + 3 * 0.6) / 2 is less than 1.0 + (0.3 + 3 * 0.3) / 2."""
    net = if_net(("ADD",), ("MUL", "SUB", "ADD"))
    _chosen(context, net, "cheap", _control("cheap", 0.2, 0.6), _control("dear", 1.0, 0.3))


@cases.case("if_counts_branches", "FW-PRT-004", since=Version.V1_3)
def if_counts_branches(context: CaseContext) -> None:
    """IF costs what its branches cost, each: 1.0 + (0.3 + 3 * 0.3) / 2 is less than 0.2 + (0.9 + 3 * 0.9) / 2."""
    for then, otherwise in ((("ADD",), ("MUL", "SUB", "ADD")), (("MUL", "SUB", "ADD"), ("ADD",))):
        _chosen(context, if_net(then, otherwise), "cheap", _control("dear", 0.2, 0.9), _control("cheap", 1.0, 0.3))


@cases.case("if_against_cpu", "FW-PRT-004", "FW-PRT-003", since=Version.V1_3)
def if_against_cpu(context: CaseContext) -> None:
    """On the CPU the IF and each operation inside cost 1.0: 2.85 + (0.05 + 3 * 0.05) / 2 is just less than 3."""
    _chosen(context, if_net(("ADD",), ("MUL", "SUB", "ADD")), "driver", _control("driver", 2.85, 0.05))


@cases.case("while_counts_body", "FW-PRT-004", since=Version.V1_3)
def while_counts_body(context: CaseContext) -> None:
    """WHILE costs itself, its condition and its body, whole: 1.0 + 3 * 0.3 is less than 0.2 + 3 * 0.7."""
    _chosen(context, while_net(), "cheap", _control("dear", 0.2, 0.7), _control("cheap", 1.0, 0.3))


@cases.case("while_counts_itself", "FW-PRT-004", since=Version.V1_3)
def while_counts_itself(context: CaseContext) -> None:
    """WHILE has a figure of its own: 0.2 + 3 * 0.5 is less than 1.0 + 3 * 0.3."""
    _chosen(context, while_net(), "cheap", _control("cheap", 0.2, 0.5), _control("dear", 1.0, 0.3))


def _relaxed(net: Net) -> Net:
    return net_of(replace(net.vector, relaxed=True))
