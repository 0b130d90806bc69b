"""Each place where NNAPI and .tflite differ, and the lowering has to make up for it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from npu_conformance.adapters.litert_runtime import INSTALL_HINT
from npu_conformance.corpus.vectors import ChannelQuant, Example, Vector, VectorOperand, VectorOperation
from npu_conformance.specs.neuralnetworks import types
from npu_conformance.specs.neuralnetworks.enums import OperandLifeTime, OperandType, OperationType
from npu_conformance.specs.versions import Version

pytest.importorskip("ai_edge_litert", exc_type=ImportError, reason=INSTALL_HINT)

from npu_conformance.adapters.engine_witness import litert as witness
from npu_conformance.adapters.lowering.model import lower
from npu_conformance.adapters.lowering.operands import LoweringError
from npu_conformance.adapters.lowering.operations import LOWERINGS
from npu_conformance.adapters.lowering.pooling import Span, spans

FLOAT32 = OperandType.TENSOR_FLOAT32
FLOAT16 = OperandType.TENSOR_FLOAT16
INT32 = OperandType.TENSOR_INT32
QUANT8 = OperandType.TENSOR_QUANT8_ASYMM
SIGNED = OperandType.TENSOR_QUANT8_ASYMM_SIGNED
PER_CHANNEL = OperandType.TENSOR_QUANT8_SYMM_PER_CHANNEL
DTYPES: dict[object, Any] = {FLOAT32: np.float32, FLOAT16: np.float16, INT32: np.int32, QUANT8: np.uint8}


def integers(values: Any) -> VectorOperand:
    """A constant TENSOR_INT32."""
    array = np.array(values, np.int32)
    return VectorOperand(INT32, array.shape, value=array)


def scalar(value: int | bool) -> VectorOperand:
    """A constant INT32 or BOOL."""
    kind = OperandType.BOOL if isinstance(value, bool) else OperandType.INT32
    return VectorOperand(kind, (), value=np.array(value, np.uint8 if isinstance(value, bool) else np.int32))


def single(value: float) -> VectorOperand:
    """A constant FLOAT32."""
    return VectorOperand(OperandType.FLOAT32, (), value=np.array(value, np.float32))


def tensor(
    kind: OperandType, dimensions: tuple[int, ...] = (), scale: float = 0.0, zero_point: int = 0, value: Any = None
) -> VectorOperand:
    """A tensor; constant where it has a value."""
    array = None if value is None else np.array(value, DTYPES.get(kind, np.int8)).reshape(dimensions)
    return VectorOperand(kind, dimensions, scale, zero_point, value=array)


def run(operation: str, operands: list[VectorOperand], outputs: list[VectorOperand], *values: Any) -> Any:
    """What LiteRT makes of one operation; None where it was not asked. values: of the inputs that are not constant."""
    named = {f"in{position}": operand for position, operand in enumerate(operands)}
    results = {f"out{position}": operand for position, operand in enumerate(outputs)}
    given = [name for name, operand in named.items() if operand.value is None and not operand.omitted]
    inputs = {
        name: np.array(value, DTYPES.get(named[name].type, np.int8)).reshape(named[name].dimensions)
        for name, value in zip(given, values, strict=True)
    }
    vector = Vector(
        name="case",
        operation=operation,
        since=Version.V1_3,
        operands=named | results,
        operations=(VectorOperation(operation, tuple(named), tuple(results)),),
        inputs=tuple(given),
        outputs=tuple(results),
        examples=(Example(inputs, {}),),
    )
    found = witness(vector, vector.examples[0])
    return None if found is None else [found[name].tolist() for name in results]


def test_pad_fills_with_the_zero_point() -> None:
    kind = tensor(QUANT8, (1, 2), 0.5, 3)
    found = run("PAD", [kind, integers([[0, 0], [1, 2]])], [tensor(QUANT8, (1, 5), 0.5, 3)], [9, 7])
    assert found == [[[3, 9, 7, 3, 3]]]


def test_pad_v2_takes_the_stored_integer() -> None:
    operands = [tensor(QUANT8, (2,), 0.5, 3), integers([[1, 0]]), scalar(200)]
    assert run("PAD_V2", operands, [tensor(QUANT8, (3,), 0.5, 3)], [9, 7]) == [[200, 9, 7]]


def convolution(paddings: tuple[int, ...], *, nchw: bool = False) -> Any:
    """A 2x2 filter of ones over 1 to 4. paddings: left, right, top, bottom."""
    operands = [
        tensor(FLOAT32, (1, 1, 2, 2) if nchw else (1, 2, 2, 1)),
        tensor(FLOAT32, (1, 2, 2, 1), value=[1] * 4),
        tensor(FLOAT32, (1,), value=[0]),
        *map(scalar, (*paddings, 1, 1, 0)),
        scalar(nchw),
    ]
    return run("CONV_2D", operands, [tensor(FLOAT32)], [1, 2, 3, 4])


def test_convolution_with_paddings_of_no_scheme() -> None:
    assert np.squeeze(convolution((1, 0, 0, 0))[0]).tolist() == [4, 10]
    assert np.array(convolution((1, 0, 0, 0))[0]).shape == (1, 1, 2, 1)


def test_convolution_with_paddings_of_a_scheme() -> None:
    assert np.squeeze(convolution((0, 1, 0, 1))[0]).tolist() == [[10, 6], [7, 4]]


def test_convolution_with_channels_first() -> None:
    assert convolution((0, 1, 0, 1), nchw=True) == [[[[[10.0, 6.0], [7.0, 4.0]]]]]


@pytest.mark.parametrize("kind", [QUANT8, SIGNED])
def test_convolution_with_a_per_channel_filter(kind: OperandType) -> None:
    shift = 0 if kind == QUANT8 else 128
    quant = ChannelQuant((0.5, 2.0), 0)
    weights = VectorOperand(
        PER_CHANNEL, (2, 1, 1, 1), channel_quant=quant, value=np.array([2, 3], np.int8).reshape(2, 1, 1, 1)
    )
    operands = [
        tensor(kind, (1, 1, 2, 1), 0.5, 128 - shift),
        weights,
        tensor(INT32, (2,), value=[0, 4]),
        *map(scalar, (2, 1, 1, 0)),
    ]
    # 1.0 and -2.0 by 1.0 and 6.0, plus 0 and 4 (of 0.5 * 2.0): 1, 10, -2, -8.
    found = run("CONV_2D", operands, [tensor(kind, (1, 1, 2, 2), 1.0, 100 - shift)], [130 - shift, 124 - shift])
    assert np.ravel(found[0]).tolist() == [101 - shift, 110 - shift, 98 - shift, 92 - shift]


def test_a_signed_filter_with_a_zero_point() -> None:
    operands = [
        tensor(SIGNED, (1, 2), 1.0, 0),
        tensor(SIGNED, (1, 2), 1.0, -3, value=[-2, 0]),
        tensor(INT32, (1,), 1.0, value=[5]),
        scalar(0),
    ]
    # 4 * 1 + 6 * 3 + 5
    assert run("FULLY_CONNECTED", operands, [tensor(SIGNED, (1, 1), 1.0, -10)], [4, 6]) == [[[17]]]


def pool(operation: str, paddings: tuple[int, ...], kind: VectorOperand, *values: Any) -> Any:
    """A 2x2 pool with stride 1. paddings: left, right, top, bottom."""
    result = VectorOperand(kind.type, (), kind.scale, kind.zero_point)
    return run(operation, [kind, *map(scalar, (*paddings, 1, 1, 2, 2, 0))], [result], *values)


def test_padding_never_is_the_maximum() -> None:
    found = pool("MAX_POOL_2D", (1, 0, 1, 1), tensor(FLOAT32, (1, 1, 1, 1)), [-7])
    assert np.ravel(found[0]).tolist() == [-7, -7]
    found = pool("MAX_POOL_2D", (1, 0, 1, 1), tensor(QUANT8, (1, 1, 1, 1), 0.5, 200), [3])
    assert np.ravel(found[0]).tolist() == [3, 3]


def test_an_average_does_not_count_padding() -> None:
    found = pool("AVERAGE_POOL_2D", (0, 1, 0, 1), tensor(FLOAT32, (1, 1, 2, 1)), [2, 4])
    assert np.ravel(found[0]).tolist() == [3, 4]


def test_a_window_that_reaches_into_paddings_of_no_scheme_is_smaller() -> None:
    image, values = tensor(FLOAT32, (1, 2, 3, 1)), [1, 2, 3, 5, 6, 7]
    # Rows 0, 0 and 1, 1; columns 0, 0 and 1, 1 and 2, 2.
    average = pool("AVERAGE_POOL_2D", (1, 1, 1, 1), image, values)
    assert np.squeeze(average[0]).tolist() == [[1, 1.5, 2.5, 3], [3, 3.5, 4.5, 5], [5, 5.5, 6.5, 7]]
    largest = pool("MAX_POOL_2D", (1, 1, 1, 1), image, values)
    assert np.squeeze(largest[0]).tolist() == [[1, 2, 3, 3], [5, 6, 7, 7], [5, 6, 7, 7]]


def test_spans_of_windows() -> None:
    assert spans(7, 3, 2, (2, 1)) == [Span(0, 1, 1), Span(0, 7, 3)]
    assert spans(2, 4, 1, (1, 2)) == [Span(0, 2, 2), Span(0, 2, 2)]
    with pytest.raises(LoweringError, match="padding only"):
        spans(2, 1, 1, (1, 0))
    with pytest.raises(LoweringError, match="positions"):
        spans(2, 2**31 - 1, 1, (2**31 - 2, 2**31 - 2))


def test_float16_results_are_rounded_to_float16() -> None:
    kind = tensor(FLOAT16, (2,))
    assert run("ADD", [kind, kind, scalar(0)], [kind], [2048, 1], [1, 2]) == [[2048, 3]]


def test_integer_division_rounds_down_and_survives_every_divisor() -> None:
    kind = tensor(INT32, (5,))
    found = run("DIV", [kind, kind, scalar(0)], [kind], [7, -7, -(2**31), 5, 9], [2, 2, -1, -1, 0])
    assert found is not None
    assert found[0][:2] == [3, -4]
    assert found[0][3] == -5


def test_operands_of_other_quantisation_are_requantised() -> None:
    operands = [tensor(QUANT8, (2,), 1.0, 0), tensor(QUANT8, (2,), 2.0, 10)]
    assert run("MAXIMUM", operands, [tensor(QUANT8, (2,), 0.5, 20)], [3, 9], [11, 15]) == [[26, 40]]
    assert run("MINIMUM", operands, [tensor(QUANT8, (2,), 0.5, 20)], [3, 9], [11, 15]) == [[24, 38]]
    joined = run("CONCATENATION", [*operands, scalar(0)], [tensor(QUANT8, (4,), 0.5, 20)], [3, 9], [11, 15])
    assert joined == [[26, 38, 24, 40]]


def test_no_axis_left_is_one_axis() -> None:
    kind, one = tensor(FLOAT32, (2, 2)), tensor(FLOAT32, (1,))
    assert run("MEAN", [kind, integers([0, 1]), scalar(0)], [one], [1, 2, 3, 6]) == [[3.0]]
    omitted = VectorOperand(INT32, (1,), omitted=True)
    assert run("SQUEEZE", [tensor(FLOAT32, (1, 1)), omitted], [one], [5]) == [[5.0]]
    bounds = [integers([1, 0]), integers([2, 1]), integers([1, 1])]
    assert run("STRIDED_SLICE", [kind, *bounds, *map(scalar, (0, 0, 3))], [one], [1, 2, 3, 6]) == [[3.0]]


def test_a_shrunk_axis_must_keep_one_element() -> None:
    kind = tensor(FLOAT32, (2, 2))
    bounds = [integers([1, 0]), integers([0, 2]), integers([-1, 1])]
    assert run("STRIDED_SLICE", [kind, *bounds, *map(scalar, (0, 0, 1))], [tensor(FLOAT32)], [1, 2, 3, 6]) is None


def test_mean_of_the_axes_named() -> None:
    found = run(
        "MEAN", [tensor(FLOAT32, (2, 2)), integers([-1, 1]), scalar(1)], [tensor(FLOAT32, (2, 1))], [1, 2, 3, 6]
    )
    assert found == [[[1.5], [4.5]]]


def test_softmax_along_another_axis() -> None:
    operands = [tensor(FLOAT32, (2, 1)), single(1.0), scalar(0)]
    assert run("SOFTMAX", operands, [tensor(FLOAT32, (2, 1))], [1, 1]) == [[[0.5], [0.5]]]


def test_a_softmax_over_no_elements_is_kept_from_litert() -> None:
    """The optimised kernels, and XNNPACK's, end the process."""
    operands = (
        types.Operand(FLOAT32, (0,), lifetime=OperandLifeTime.SUBGRAPH_INPUT),
        types.Operand(OperandType.FLOAT32, lifetime=OperandLifeTime.CONSTANT_COPY),
        types.Operand(FLOAT32, (0,), lifetime=OperandLifeTime.SUBGRAPH_OUTPUT),
    )
    operation = types.Operation(OperationType.SOFTMAX, (0, 1), (2,))
    graph = types.Subgraph(operands, (operation,), (0,), (2,))
    with pytest.raises(LoweringError, match="no elements"):
        lower(graph, {1: np.ones((), np.float32)}, {0: (0,)})


def test_transpose_without_permutation_reverses() -> None:
    omitted = VectorOperand(INT32, (1,), omitted=True)
    assert run("TRANSPOSE", [tensor(FLOAT32, (1, 2)), omitted], [tensor(FLOAT32, (2, 1))], [1, 2]) == [[[1.0], [2.0]]]


def test_split_along_a_negative_axis() -> None:
    parts = [tensor(INT32, (1,)), tensor(INT32, (1,))]
    assert run("SPLIT", [tensor(INT32, (2,)), scalar(-1), scalar(2)], parts, [4, 5]) == [[4], [5]]


def test_slice_to_the_end() -> None:
    operands = [tensor(INT32, (4,)), integers([1]), integers([-1])]
    assert run("SLICE", operands, [tensor(INT32, (3,))], [4, 5, 6, 7]) == [[5, 6, 7]]


def test_cast_knows_nothing_of_quantisation() -> None:
    quantised, plain = tensor(QUANT8, (2,), 0.5, 10), tensor(FLOAT32, (2,))
    assert run("CAST", [quantised], [plain], [0, 200]) == [[0.0, 200.0]]
    assert run("CAST", [plain], [quantised], [-3.5, 300.0]) == [[0, 255]]
    assert run("CAST", [tensor(INT32, (2,))], [quantised], [-7, 256 + 7]) == [[0, 255]]
    assert run("CAST", [quantised], [tensor(QUANT8, (2,), 0.25, 1)], [7, 200]) == [[7, 200]]


def test_quantize_and_dequantize() -> None:
    quantised, plain = tensor(SIGNED, (2,), 0.5, -10), tensor(FLOAT32, (2,))
    assert run("QUANTIZE", [plain], [quantised], [1.0, -100.0]) == [[-8, -128]]
    assert run("DEQUANTIZE", [quantised], [plain], [-8, -128]) == [[1.0, -59.0]]


def test_an_operation_that_is_not_lowered_has_no_witness(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(LOWERINGS, OperationType.FLOOR)
    assert run("FLOOR", [tensor(FLOAT32, (2,))], [tensor(FLOAT32, (2,))], [1.5, 2.5]) is None


def detected(background: bool, threshold: float) -> Any:
    """One anchor of size 1 at (0.5, 0.5) with scores 0.25 and 0.5 of its two classes; two rows for detections."""
    scores = tensor(FLOAT32, (1, 1, 3), value=[0, 0.25, 0.5])
    anchors = tensor(FLOAT32, (1, 4), value=[0.5, 0.5, 1, 1])
    limits = [scalar(False), scalar(1), scalar(3), scalar(1), single(threshold), single(0.5), scalar(background)]
    operands = [scores, tensor(FLOAT32, (1, 1, 4)), anchors, *(single(1.0) for _ in range(4)), *limits]
    results = [tensor(FLOAT32, (1, 3)), tensor(FLOAT32, (1, 3, 4)), tensor(INT32, (1, 3)), tensor(INT32, (1,))]
    return run("DETECTION_POSTPROCESSING", operands, results, [0, 0, 0, 0])


@pytest.mark.parametrize("background", [False, True])
def test_detections_count_rows_and_may_count_the_background(background: bool) -> None:
    found = detected(background, 0.25)
    labels = [2, 1, 0] if background else [1, 0, 0]
    box = [0.0, 0.0, 1.0, 1.0]
    assert found == [[[0.5, 0.25, 0.0]], [[box, box, [0.0] * 4]], [labels], [2]]


def test_a_detection_has_to_be_above_the_threshold() -> None:
    assert detected(False, 0.5)[3] == [0]


def test_boxes_of_16_bits_are_moved_and_clipped() -> None:
    place = VectorOperand(
        OperandType.TENSOR_QUANT16_ASYMM, (1, 4), 0.125, 0, value=np.array([[8, 8, 24, 24]], np.uint16)
    )
    image = VectorOperand(OperandType.TENSOR_QUANT16_ASYMM, (1, 2), 0.125, 0, value=np.array([[30, 80]], np.uint16))
    deltas = tensor(QUANT8, (1, 4), 0.0625, 128)
    operands = [place, deltas, tensor(INT32, (1,), value=[0]), image]
    result = VectorOperand(OperandType.TENSOR_QUANT16_ASYMM, (1, 4), 0.125, 0)
    # A size of 2: to the right by a sixteenth of it, down by eleven, where the image ends at 3.75.
    assert run("AXIS_ALIGNED_BBOX_TRANSFORM", operands, [result], [[129, 139, 128, 128]]) == [[[9, 19, 25, 30]]]
