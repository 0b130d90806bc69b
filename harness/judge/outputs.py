"""Compares what a device computed with what was expected: the public floor decides, quality only warns."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from msgspec.structs import replace

from npu_conformance.corpus import distributions
from npu_conformance.corpus.vectors import Example, Vector, VectorOperand
from npu_conformance.corpus.wire_model import BuiltRequest
from npu_conformance.harness.judge import checks
from npu_conformance.harness.judge.compare import RunningCase, check_output
from npu_conformance.harness.judge.quality import Exact, one_sided
from npu_conformance.harness.judge.quality import judge as judge_quality
from npu_conformance.harness.judge.tolerance import Circumstances
from npu_conformance.harness.judge.value_requirements import accuracy, control_flow
from npu_conformance.harness.judge.verdicts import Failed
from npu_conformance.specs.neuralnetworks import catalogue
from npu_conformance.specs.neuralnetworks.enums import OperandType
from npu_conformance.specs.requirements import result_requirement

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from contextlib import AbstractContextManager

    from npu_conformance.corpus.vectors import Array

_FLOATS = (OperandType.TENSOR_FLOAT32, OperandType.TENSOR_FLOAT16)
_QUANTISED = (
    OperandType.TENSOR_QUANT8_ASYMM,
    OperandType.TENSOR_QUANT8_ASYMM_SIGNED,
    OperandType.TENSOR_QUANT8_SYMM,
    OperandType.TENSOR_QUANT16_SYMM,
    OperandType.TENSOR_QUANT16_ASYMM,
)
_REDUCTIONS = {"AVERAGE_POOL_2D", "L2_POOL_2D", "MEAN", "REDUCE_SUM", "REDUCE_PROD"}
_RECURRENT = {"RNN", "UNIDIRECTIONAL_SEQUENCE_RNN", "BIDIRECTIONAL_SEQUENCE_RNN", "SVDF"}
"""Operations that sum the products of two weights: of the input and the state, or of features and of time."""
_SUMS = _REDUCTIONS | _RECURRENT | {
    "CONV_2D", "DEPTHWISE_CONV_2D", "FULLY_CONNECTED", "GROUPED_CONV_2D", "TRANSPOSE_CONV_2D", "BATCH_MATMUL",
    "RESIZE_BILINEAR", "ROI_ALIGN",
}  # fmt: skip
"""Operations whose rounding error follows the sum of the absolute products, not the result."""
_BOXES = {"AXIS_ALIGNED_BBOX_TRANSFORM", "DETECTION_POSTPROCESSING", "GENERATE_PROPOSALS", "HEATMAP_MAX_KEYPOINT"}
"""Operations that give corners of boxes: centre less half of the size, so that the box's largest is the measure."""
_NEIGHBOURS = {"RESIZE_BILINEAR": 4, "ROI_ALIGN": 16}
"""How many elements one of the output is made of; in ROI_ALIGN with four samples."""

FILL = 0xA5
"""What output memory holds before an execution: a value left unwritten, or written outside its region, shows up."""
_UNWRITTEN = f"what is wrong was not written, and still holds the 0x{FILL:X} of the test"
_LEAST_UNWRITTEN = 4
"""Bytes: fewer are what they were by chance."""
ROUNDED = "aosp"
"""The witness of external collections: their values were typed with a few digits and say nothing about ULP."""


def judge(
    context: RunningCase,
    vector: Vector,
    example: Example,
    outputs: Mapping[str, Array],
    about: Callable[[Vector, str], tuple[str, ...]] | None = None,
    *,
    in_aosp: bool = True,
) -> None:
    """Compare every output that counts. Failed beyond the floor; quality warnings for single operations in floats.

    about: the requirements that a wrong output breaks, by its name; those of the HAL where it is not given. in_aosp:
    see Circumstances; operations of extensions never are.
    """
    about = about or _broken_requirements
    if vector.kind == "multinomial":
        with checks.about(*about(vector, vector.outputs[0])):
            _judge_samples(vector, example, outputs, in_aosp=in_aosp)
        return
    types = {operand.type for graph in vector.graphs for operand in graph.operands.values()}
    circumstances = Circumstances(
        relaxed=vector.relaxed,
        any_float16=OperandType.TENSOR_FLOAT16 in types,
        mobilenet="mobilenet" in vector.name,
        in_aosp=in_aosp and not catalogue.is_registered(vector.operation),
    )
    for name, actual in outputs.items():
        if name in vector.ignored:
            continue
        expected, operand_type = example.outputs[name], vector.operands[name].type
        broken = about(vector, name)
        with told_if_unwritten(partial(_wrong_bytes, actual, expected)):
            check_output(context, f"output '{name}'", actual, expected, operand_type, circumstances, broken)
        if len(vector.operations) == 1 and _has_quality(vector):
            _judge_quality(context, vector, example, name, actual)


def told_if_unwritten(wrong: Callable[[], bytes]) -> AbstractContextManager[None]:
    """Inside, a failure says so where the bytes of all wrong elements are what the memory was filled with."""

    def told(message: str) -> str:
        found = wrong()
        is_unwritten = len(found) >= _LEAST_UNWRITTEN and set(found) == {FILL}
        return f"{message}; {_UNWRITTEN}" if is_unwritten else message

    return checks.reworded(told)


def _wrong_bytes(actual: Array, expected: Array) -> bytes:
    return actual[actual != expected].tobytes() if actual.shape == expected.shape else b""


def _broken_requirements(vector: Vector, output: str) -> tuple[str, ...]:
    """What a driver breaks where this output is wrong."""
    result = result_requirement(vector.operation)
    if vector.kind == "multinomial":
        return (result, "NNHAL-ACCURACY-009")
    exact = accuracy((vector.operands[output].type.name,), relaxed=vector.relaxed)
    return (result, *exact, *control_flow(operation.type for operation in vector.operations))


def _judge_samples(vector: Vector, example: Example, outputs: Mapping[str, Array], *, in_aosp: bool) -> None:
    """Hold samples against the distribution that the logits give."""
    (samples,) = outputs.values()
    logits = distributions.logits_of(vector, example)
    problem = distributions.problem(samples, logits, vector.multinomial_tolerance)
    if problem:
        # AOSP's VTS mistakes where the logits of further rows begin, unless there are as many rows as classes.
        aosp = "yes" if len(logits) == 1 else "unknown"
        raise Failed(f"{problem}; AOSP's VTS would fail too: {aosp}" if in_aosp else problem)


def _has_quality(vector: Vector) -> bool:
    """Nobody says how good a result of an extension's operation could be: its catalogue has the floor alone."""
    return ROUNDED not in vector.witnesses and not catalogue.is_registered(vector.operation)


def _judge_quality(context: RunningCase, vector: Vector, example: Example, name: str, actual: Array) -> None:
    """Warn where the result is worse than it could be."""
    operand = vector.operands[name]
    if operand.type in _FLOATS:
        _judge_floats(context, vector, example, name, actual)
    elif operand.type in _QUANTISED:
        finding = one_sided(actual, example.outputs[name], operand.zero_point, vector.operation)
        if finding:
            context.warn_quality(finding)


def _judge_floats(context: RunningCase, vector: Vector, example: Example, name: str, actual: Array) -> None:
    """Floats. The magnitude of sums is worked out only if it matters."""
    import numpy

    exact = Exact(
        example.outputs[name].astype(numpy.float64),
        reduction_length=_reduction_length(vector, example, name),
        activation=_has_activation(vector),
    )
    findings = judge_quality(actual, exact, vector.operation, relaxed=vector.relaxed)
    if findings and vector.operation in _SUMS:
        exact = replace(exact, magnitude=_magnitude(vector, example, name))
        findings = judge_quality(actual, exact, vector.operation, relaxed=vector.relaxed)
    elif findings and vector.operation in _BOXES:
        largest = numpy.abs(exact.values).max(axis=-1, keepdims=True, initial=0.0)
        exact = replace(exact, magnitude=numpy.broadcast_to(largest, exact.values.shape))
        findings = judge_quality(actual, exact, vector.operation, relaxed=vector.relaxed)
    if findings and vector.relaxed:
        exact = replace(exact, lost=_lost_by_inputs(vector, example, name))
        findings = judge_quality(actual, exact, vector.operation, relaxed=True)
    for finding in findings:
        context.warn_quality(finding)


def _reduction_length(vector: Vector, example: Example, output: str) -> int:
    """How many products or elements one element of the output sums up; 1 where it sums nothing."""
    if vector.operation not in _SUMS:
        return 1
    sizes = [array.size for array in _values(vector, example).values()]
    if vector.operation in _NEIGHBOURS:
        return _NEIGHBOURS[vector.operation]
    if vector.operation in _REDUCTIONS:
        return max(sizes[0] // max(example.outputs[output].size, 1), 1)
    if vector.operation == "BATCH_MATMUL":
        values = _values(vector, example)
        first, _, turned, _ = (values[name] for name in vector.operations[0].inputs)
        inner: int = first.shape[-2 if turned else -1]
        return inner
    if vector.operation in _RECURRENT:
        values = _values(vector, example)
        return sum(int(values[name].shape[-1]) for name in vector.operations[0].inputs[1:3])
    weights = _values(vector, example)[vector.operations[0].inputs[1]]
    outputs: int = weights.shape[-1 if vector.operation == "DEPTHWISE_CONV_2D" else 0]
    return max(weights.size // max(outputs, 1), 1)


def _values(vector: Vector, example: Example) -> dict[str, Array]:
    """Values of the operation's inputs, constants included, by operand name in the operation's order."""
    constants = {name: operand.value for name, operand in vector.operands.items() if operand.value is not None}
    known = {**constants, **example.inputs}
    return {name: known[name] for name in vector.operations[0].inputs if name in known}


def _magnitude(vector: Vector, example: Example, output: str) -> Array:
    """The sum of the absolute products of each element: the oracle's answer for absolute inputs, without activation."""
    import numpy

    from npu_conformance.corpus import oracles

    activation = _activation(vector)

    def absolute(name: str, operand: VectorOperand) -> VectorOperand:
        if name == activation and operand.value is not None:
            return replace(operand, value=numpy.zeros_like(operand.value))
        if operand.value is None or operand.type not in _FLOATS:
            return operand
        return replace(operand, value=numpy.abs(operand.value))

    inputs = {
        name: numpy.abs(array) if vector.operands[name].type in _FLOATS else array
        for name, array in example.inputs.items()
    }
    graph = replace(vector.main, operands={name: absolute(name, operand) for name, operand in vector.operands.items()})
    return oracles.evaluate(graph, inputs)[output].astype(numpy.float64)


def _lost_by_inputs(vector: Vector, example: Example, output: str) -> Array:
    """How far each element is off where inputs are half floats: the sum of what it is off for each of them alone.

    Infinite where that cannot be said: a half float overflows, or what is chosen by it has another shape.
    """
    import numpy

    exact = example.outputs[output].astype(numpy.float64)
    lost = numpy.zeros_like(exact)
    for name, value in _values(vector, example).items():
        if vector.operands[name].type is OperandType.TENSOR_FLOAT32:
            with numpy.errstate(invalid="ignore", over="ignore"):
                half = value.astype(numpy.float16).astype(value.dtype)
                lost += numpy.abs(_with_input(vector, example, name, half, output) - exact)
    return numpy.where(numpy.isnan(lost), numpy.inf, lost)


def _with_input(vector: Vector, example: Example, name: str, value: Array, output: str) -> Array:
    """The oracle's answer where one input of the operation has another value; NaN where it has another shape."""
    import numpy

    from npu_conformance.corpus import oracles

    operands = {**vector.operands, name: replace(vector.operands[name], value=value)}
    inputs = {given: value if given == name else array for given, array in example.inputs.items()}
    try:
        found = oracles.evaluate(replace(vector.main, operands=operands), inputs, vector.referenced)[output]
    except ValueError:
        return numpy.asarray(numpy.nan)
    return found.astype(numpy.float64) if found.shape == example.outputs[output].shape else numpy.asarray(numpy.nan)


def _activation(vector: Vector) -> str | None:
    """Name of the operand that holds the fused activation; None for an operation without one."""
    arguments = vector.operations[0].inputs
    types = tuple(vector.operands[name].type for name in arguments)
    signature = catalogue.find_signature(vector.operation, types)
    position = signature.position("activation") if signature else -1
    return arguments[position] if 0 <= position < len(arguments) else None


def _has_activation(vector: Vector) -> bool:
    name = _activation(vector)
    if name is None:
        return False
    value = vector.operands[name].value
    return value is None or int(value.flat[0]) != 0


def untouched_outside(built: BuiltRequest, content: bytes, *, with_padding: bool) -> None:
    """Bytes outside the regions of the outputs keep what they held.

    A device may write into AIDL's padding while it works in chunks, but no output data (NNHAL-REQUEST-013), and these
    cannot be told apart. with_padding: look there too, where an output that does not fit could go on
    (NNHAL-SHAPE-008).
    """
    end = 0
    for name, region in built.outputs.items():
        checks.that(set(content[end : region.offset]) <= {FILL}, f"bytes in front of output {name} were written")
        end = region.offset + region.length + (0 if with_padding else region.padding)
    checks.that(set(content[end:]) <= {FILL}, "bytes after the last output were written")
