"""Oracles of windows, sums of products and moved elements against values by hand; what their generators cover."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy
import pytest

from npu_conformance.corpus import oracles, vectors
from npu_conformance.corpus.generators._windows import PADDINGS, Window, pads
from npu_conformance.corpus.oracles import _large_sums
from npu_conformance.corpus.oracles._windows import Axis, padded_axis
from npu_conformance.corpus.oracles.base import OracleOperand, Result
from npu_conformance.specs.neuralnetworks import catalogue
from npu_conformance.specs.neuralnetworks.enums import OperandType
from npu_conformance.specs.neuralnetworks.operation_tables import Signature
from npu_conformance.specs.versions import NEWEST

FLOAT32, INT32, SCALAR = OperandType.TENSOR_FLOAT32, OperandType.TENSOR_INT32, OperandType.INT32
QUANT8, SIGNED = OperandType.TENSOR_QUANT8_ASYMM, OperandType.TENSOR_QUANT8_ASYMM_SIGNED
WINDOWS = ["CONV_2D", "DEPTHWISE_CONV_2D", "AVERAGE_POOL_2D", "MAX_POOL_2D", "FULLY_CONNECTED"]
MOVES = ["PAD", "PAD_V2", "RESHAPE", "SQUEEZE", "TRANSPOSE", "CONCATENATION", "SPLIT", "SLICE", "STRIDED_SLICE"]
OPERATIONS = [*WINDOWS, *MOVES]


def floats(*shape: int, data: Any) -> OracleOperand:
    return OracleOperand(FLOAT32, shape, array=numpy.array(data, numpy.float32).reshape(shape))


def quantized(*shape: int, data: Sequence[int], scale: float, zero_point: int, signed: bool = False) -> OracleOperand:
    array = numpy.array(data, numpy.int8 if signed else numpy.uint8).reshape(shape)
    return OracleOperand(SIGNED if signed else QUANT8, shape, scale, zero_point, array=array)


def ints(*values: int) -> OracleOperand:
    return OracleOperand(INT32, (len(values),), array=numpy.array(values, numpy.int32))


def numbers(*values: int) -> list[OracleOperand]:
    return [OracleOperand(SCALAR, (), array=numpy.array(value, numpy.int32)) for value in values]


def flag(value: bool) -> OracleOperand:
    return OracleOperand(OperandType.BOOL, (), array=numpy.array(value, numpy.uint8))


def run(operation: str, inputs: Sequence[OracleOperand | None], output: OracleOperand | None = None) -> Result:
    (result,) = oracles.oracle(operation)(inputs, [output or OracleOperand(FLOAT32)])
    return result


def values(result: Result) -> list[Any]:
    return numpy.array(result.raw).reshape(result.dimensions).ravel().tolist()


def test_same_padding_puts_the_odd_element_at_the_tail() -> None:
    axis = padded_axis(1, size=5, window=4, stride=1, dilation=1)
    assert (axis.head, axis.tail, axis.count) == (1, 2, 5)


def test_same_padding_reckons_with_the_dilated_window() -> None:
    axis = padded_axis(1, size=7, window=3, stride=1, dilation=2)
    assert (axis.head, axis.tail, axis.count) == (2, 2, 7)
    assert axis.taps(0) == [(1, 0), (2, 2)]


def test_same_padding_is_never_negative() -> None:
    axis = padded_axis(1, size=7, window=1, stride=3, dilation=1)
    assert (axis.head, axis.tail, axis.count) == (0, 0, 3)


def test_counted_places_are_what_the_size_formula_gives() -> None:
    for size, window, stride, dilation, head, tail in itertools.product(
        range(1, 7), (1, 2, 3), (1, 2, 3), (1, 2), (0, 1, 2), (0, 1)
    ):
        axis = Axis(size, window, stride, dilation, head, tail)
        formula = (size - axis.extent + stride + head + tail) // stride
        assert axis.count == max(formula, 0), axis


@pytest.mark.parametrize("padding", PADDINGS)
def test_plans_and_oracles_agree_on_output_sizes(padding: str) -> None:
    for size, window, stride, dilation in itertools.product(range(4, 9), (1, 2, 3), (1, 2, 3), (1, 2)):
        planned = Window(pads(padding, (window, window)), (stride, stride), (dilation, dilation), nchw=False)
        if isinstance(planned.padding, str):
            axis = padded_axis(1 if padding == "same" else 2, size, window, stride, dilation)
        else:
            axis = Axis(size, window, stride, dilation, *planned.padding[2:])
        assert planned.output_size((size, 1), (window, 1))[0] == axis.count


def test_convolution_worked_out_by_hand() -> None:
    # One row 1 2 3 4 of one channel; filter 1 10, SAME: the last place sees 4 and padding.
    image, weights = floats(1, 1, 4, 1, data=[1, 2, 3, 4]), floats(1, 1, 2, 1, data=[1, 10])
    result = run("CONV_2D", [image, weights, floats(1, data=[0.5]), *numbers(1, 1, 1, 0)])
    assert result.dimensions == (1, 1, 4, 1)
    assert values(result) == [21.5, 32.5, 43.5, 4.5]


def test_convolution_tells_the_variants_apart_by_the_type_of_input_7() -> None:
    image, weights = floats(1, 1, 5, 1, data=[1, 2, 3, 4, 5]), floats(1, 1, 2, 1, data=[1, 10])
    tensors = [image, weights, floats(1, data=[0])]
    dilated = [*tensors, *numbers(2, 1, 1, 0), flag(False), *numbers(3, 1)]
    padded = [*tensors, *numbers(1, 0, 0, 0, 2, 1, 0)]
    assert len(dilated) == len(padded) == 10
    assert values(run("CONV_2D", dilated)) == [41, 52]
    assert values(run("CONV_2D", padded)) == [10, 32, 54]


def test_convolution_in_nchw_is_the_one_in_nhwc_transposed() -> None:
    random = numpy.random.default_rng(3)
    image = random.integers(-8, 8, (2, 4, 5, 3)).astype(numpy.float32)
    rest = [floats(2, 2, 3, 3, data=random.integers(-8, 8, 36)), floats(2, data=[1, -1]), *numbers(1, 2, 1, 0)]
    usual = run("CONV_2D", [floats(2, 4, 5, 3, data=image), *rest, flag(False)])
    turned = run("CONV_2D", [floats(2, 3, 4, 5, data=image.transpose(0, 3, 1, 2)), *rest, flag(True)])
    back = numpy.array(turned.raw).reshape(turned.dimensions).transpose(0, 2, 3, 1)
    assert back.ravel().tolist() == values(usual)


def test_quantized_convolution_rounds_once_and_saturates() -> None:
    image = quantized(1, 1, 3, 1, data=[10, 13, 255], scale=0.5, zero_point=10)
    weights = quantized(1, 1, 1, 1, data=[7], scale=0.25, zero_point=2)
    bias = OracleOperand(INT32, (1,), 0.125, array=numpy.array([1], numpy.int32))
    output = OracleOperand(QUANT8, scale=1.0, zero_point=100)
    # Sums 1, 16 and 1226 of scale 1/8: 0.125, 2 and 153.25.
    assert values(run("CONV_2D", [image, weights, bias, *numbers(2, 1, 1, 0)], output)) == [100, 102, 253]
    # RELU1 leaves -1 to 1: 99 to 101.
    assert values(run("CONV_2D", [image, weights, bias, *numbers(2, 1, 1, 2)], output)) == [100, 101, 101]


def test_depthwise_output_channels_lie_multiplier_by_multiplier() -> None:
    image = floats(1, 1, 1, 2, data=[1, 100])
    weights = floats(1, 1, 1, 4, data=[1, 2, 3, 4])
    result = run("DEPTHWISE_CONV_2D", [image, weights, floats(4, data=[0] * 4), *numbers(2, 1, 1, 2, 0)])
    assert values(result) == [1, 2, 300, 400]


def test_average_leaves_padding_out_of_the_divisor() -> None:
    result = run("AVERAGE_POOL_2D", [floats(1, 1, 3, 1, data=[2, 4, 9]), *numbers(1, 1, 0, 0, 1, 1, 3, 1, 0)])
    assert values(result) == [3, 5, 6.5]


@pytest.mark.parametrize(("signed", "data", "expected"), [(False, [3, 4], 4), (True, [-3, -4], -4), (True, [3, 4], 4)])
def test_quantized_averages_round_halves_away_from_zero(signed: bool, data: list[int], expected: int) -> None:
    image = quantized(1, 1, 2, 1, data=data, scale=0.5, zero_point=0, signed=signed)
    output = OracleOperand(image.type, scale=0.5, zero_point=0)
    assert values(run("AVERAGE_POOL_2D", [image, *numbers(2, 1, 1, 2, 1, 0)], output)) == [expected]


def test_largest_of_negative_elements_is_not_the_padding() -> None:
    result = run("MAX_POOL_2D", [floats(1, 1, 2, 1, data=[-5, -7]), *numbers(1, 1, 1, 2, 1, 0)])
    assert values(result) == [-5, -7]


def test_fully_connected_regroups_the_input() -> None:
    source, weights = floats(2, 2, 1, data=[1, 2, 3, 4]), floats(1, 2, data=[1, 10])
    result = run("FULLY_CONNECTED", [source, weights, floats(1, data=[0]), *numbers(0)])
    assert (result.dimensions, values(result)) == ((2, 1), [21, 43])


def test_a_batch_without_images_gives_an_empty_result() -> None:
    image, tensors = floats(0, 4, 5, 3, data=[]), [floats(2, 2, 3, 3, data=[1] * 36), floats(2, data=[1, 2])]
    assert run("CONV_2D", [image, *tensors, *numbers(1, 2, 1, 0)]) == Result((0, 4, 3, 2), [])
    assert run("MAX_POOL_2D", [image, *numbers(2, 1, 1, 3, 2, 0)]) == Result((0, 3, 3, 3), [])
    assert run("AVERAGE_POOL_2D", [image, *numbers(2, 1, 1, 3, 2, 0)]) == Result((0, 3, 3, 3), [])
    weights = floats(2, 6, data=[1] * 12)
    assert run("FULLY_CONNECTED", [image, weights, tensors[1], *numbers(0)]) == Result((0, 2), [])
    assert run("TRANSPOSE", [image, ints(0, 3, 1, 2)]) == Result((0, 3, 4, 5), [])
    assert run("CONCATENATION", [image, image, *numbers(3)]) == Result((0, 4, 5, 6), [])


def test_fast_sums_are_the_slow_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    for operation, name in (("CONV_2D", "quant8_zero_points_all_low"), ("FULLY_CONNECTED", "float32_rank4_none")):
        vector = vectors.load(operation, name)
        slow = oracles.evaluate(vector.main, vector.examples[0].inputs)
        with monkeypatch.context() as patch:
            patch.setattr(_large_sums, "is_large", lambda source, weights: True)
            fast = oracles.evaluate(vector.main, vector.examples[0].inputs)
        assert fast["output"].tolist() == slow["output"].tolist(), operation


def test_pad_fills_with_the_zero_point_and_pad_v2_with_what_it_is_given() -> None:
    source = quantized(2, data=[1, 2], scale=0.5, zero_point=7)
    paddings = OracleOperand(INT32, (1, 2), array=numpy.array([[1, 2]], numpy.int32))
    assert values(run("PAD", [source, paddings])) == [7, 1, 2, 7, 7]
    assert values(run("PAD_V2", [source, paddings, *numbers(9)])) == [9, 1, 2, 9, 9]


def test_everything_squeezed_or_shrunk_leaves_one_dimension() -> None:
    assert run("SQUEEZE", [floats(1, 1, data=[4]), None]).dimensions == (1,)
    sliced = run("STRIDED_SLICE", [floats(3, data=[4, 5, 6]), ints(1), ints(2), ints(1), *numbers(0, 0, 1)])
    assert (sliced.dimensions, values(sliced)) == ((1,), [5])


def test_strided_slices_are_those_of_python() -> None:
    source = list(range(6))
    ends: Sequence[int | None] = (None, -9, -6, -2, 0, 3, 6, 9)
    for begin, end, stride in itertools.product(ends, ends, (-3, -1, 1, 2)):
        masks = numbers(begin is None, end is None, 0)
        result = run("STRIDED_SLICE", [floats(6, data=source), ints(begin or 0), ints(end or 0), ints(stride), *masks])
        assert list(result.raw) == source[begin:end:stride], (begin, end, stride)


def test_transposing_back_gives_the_input() -> None:
    source = floats(2, 3, 4, data=range(24))
    turned = run("TRANSPOSE", [source, ints(2, 0, 1)])
    assert turned.dimensions == (4, 2, 3)
    back = run("TRANSPOSE", [floats(4, 2, 3, data=turned.raw), ints(1, 2, 0)])
    assert list(back.raw) == source.raw


def test_concatenation_requantizes_to_the_output() -> None:
    first = quantized(2, data=[10, 14], scale=0.5, zero_point=10)
    second = quantized(2, data=[0, 255], scale=2.0, zero_point=1)
    output = OracleOperand(QUANT8, scale=1.0, zero_point=5)
    assert values(run("CONCATENATION", [first, second, *numbers(0)], output)) == [5, 7, 3, 255]


def test_reshape_infers_what_is_left() -> None:
    assert run("RESHAPE", [floats(2, 3, 4, data=range(24)), ints(4, -1)]).dimensions == (4, 6)


def test_split_and_slice_cut_where_they_are_told() -> None:
    source = floats(2, 4, data=range(8))
    parts = oracles.oracle("SPLIT")([source, *numbers(-1, 2)], [OracleOperand(FLOAT32)] * 2)
    assert [values(part) for part in parts] == [[0, 1, 4, 5], [2, 3, 6, 7]]
    assert values(run("SLICE", [source, ints(1, 1), ints(-1, 2)])) == [5, 6]


@pytest.mark.parametrize("operation", OPERATIONS)
def test_every_type_combination_of_every_variant_has_a_vector_that_must_run(operation: str) -> None:
    stored = [header for header in vectors.headers(operation) if header.rejected is None]
    kinds = {tuple(header.operands[name].type for name in header.arguments) for header in stored}
    for signature in catalogue.operation(operation).signatures:
        for combination in signature.combinations(NEWEST):
            assert any(_has(signature, combination, types) for types in kinds), (signature.variant, combination)


def _has(signature: Signature, combination: dict[str, str], types: tuple[str, ...]) -> bool:
    numbers_ = [OperandType[kind] for kind in types]
    arguments = catalogue.expand(signature.inputs, len(types)) if catalogue.fits(signature, numbers_) else None
    return arguments is not None and catalogue.all_match(arguments, combination, numbers_)


@pytest.mark.parametrize("operation", ["CONV_2D", "DEPTHWISE_CONV_2D"])
def test_sums_of_floats_are_exact_in_float16_in_any_order(operation: str) -> None:
    for header in vectors.headers(operation):
        if header.rejected or "TENSOR_FLOAT16" not in header.types or len(header.operations) > 1:
            continue
        vector = vectors.load(operation, header.name)
        weights = vector.operands["filter"].value
        assert weights is not None
        largest = float(abs(vector.examples[0].inputs["input"]).max()) * float(abs(weights).max())
        terms = weights.size // weights.shape[3 if operation.startswith("DEPTHWISE") else 0]
        # Products are sixteenths; float16 holds whole numbers of them exactly up to 2048.
        assert Fraction(largest) * terms + 2 <= Fraction(2048, 16), header.name
