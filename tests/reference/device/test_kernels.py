"""The kernels against results that can be worked out by hand; whole vectors are the suites' work."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy
import pytest

from npu_conformance.reference.device.quantization import round_half_away
from npu_conformance.reference.device.registry import has_kernel, kernel, names
from npu_conformance.reference.device.tensors import Array, OutputInfo, Tensor, element_type
from npu_conformance.specs.neuralnetworks.enums import OperandType, OperationType
from npu_conformance.specs.neuralnetworks.types import SymmPerChannelQuantParams

FLOAT = OperandType.TENSOR_FLOAT32
HALF = OperandType.TENSOR_FLOAT16
QUANT = OperandType.TENSOR_QUANT8_ASYMM
SIGNED = OperandType.TENSOR_QUANT8_ASYMM_SIGNED
INT32 = OperandType.TENSOR_INT32


def tensor(values: Any, kind: OperandType = FLOAT, scale: float = 0.0, zero_point: int = 0) -> Tensor:
    return Tensor(kind, numpy.array(values, dtype=element_type(kind)), scale, zero_point)


def number(value: int) -> Tensor:
    return tensor(value, OperandType.INT32)


def flag(value: bool) -> Tensor:
    return tensor(value, OperandType.BOOL)


def output(
    dimensions: Sequence[int] = (), kind: OperandType = FLOAT, scale: float = 0.0, zero_point: int = 0
) -> OutputInfo:
    return OutputInfo(kind, tuple(dimensions), scale, zero_point)


def run(name: str, inputs: Sequence[Tensor | None], result: OutputInfo | None = None) -> Array:
    with numpy.errstate(all="ignore"):
        (found,) = kernel(OperationType[name])(inputs, [result or output()])
    return found


def test_every_module_has_the_kernel_of_its_name() -> None:
    assert len(names()) >= 30
    for name in names():
        assert callable(kernel(OperationType[name])), name
        assert has_kernel(OperationType[name])
    assert not has_kernel(OperationType.OEM_OPERATION)
    assert not has_kernel(-1)


@pytest.mark.parametrize(("value", "rounded"), [(0.5, 1), (-0.5, -1), (2.5, 3), (0.49999999999999994, 0), (-1.4, -1)])
def test_ties_are_rounded_away_from_zero(value: float, rounded: int) -> None:
    assert round_half_away(numpy.array([value]))[0] == rounded


def test_float16_is_rounded_once() -> None:
    # 2048 + 1.5 lies between the float16 neighbours 2048 and 2050: to the nearer one.
    assert run("ADD", [tensor([2048.0], HALF), tensor([1.5], HALF), number(0)], output(kind=HALF)).tolist() == [2050.0]


@pytest.mark.parametrize(("activation", "expected"), [(0, [-9, 0, 9]), (1, [0, 0, 9]), (2, [-1, 0, 1]), (3, [0, 0, 6])])
def test_fused_activations(activation: int, expected: list[float]) -> None:
    assert run("SUB", [tensor([-9, 0, 9]), tensor([0]), number(activation)]).tolist() == expected


def test_quantised_activation_is_a_limit_of_real_values() -> None:
    inputs = [tensor([0, 10, 255], QUANT, 1.0, 10), tensor([10], QUANT, 1.0, 10), number(3)]
    assert run("ADD", inputs, output(kind=QUANT, scale=0.5, zero_point=20)).tolist() == [20, 20, 32]


def test_signed_and_unsigned_differ_by_128() -> None:
    values, shifted = numpy.arange(256), numpy.arange(256) - 128
    unsigned = run(
        "MUL", [tensor(values, QUANT, 0.3, 77), tensor([200], QUANT, 0.7, 9), number(0)], output((), QUANT, 0.9, 31)
    )
    signed = run(
        "MUL",
        [tensor(shifted, SIGNED, 0.3, -51), tensor([72], SIGNED, 0.7, -119), number(0)],
        output((), SIGNED, 0.9, -97),
    )
    assert (unsigned.astype(int) - 128).tolist() == signed.tolist()


def test_int32_wraps_and_divides_down() -> None:
    whole = output(kind=INT32)
    largest = 2**31 - 1
    assert run("ADD", [tensor([largest], INT32), tensor([1], INT32), number(0)], whole).tolist() == [-(2**31)]
    assert run("MUL", [tensor([65537], INT32), tensor([65537], INT32), number(0)], whole).tolist() == [131073]
    quotients = run("DIV", [tensor([-5, 5, 7], INT32), tensor([2, -2, 0], INT32), number(0)], whole)
    assert quotients.tolist() == [-3, -3, 0]


def test_the_sign_of_zero_is_kept() -> None:
    for name, values in {"TANH": [-0.0], "RELU1": [-0.0]}.items():
        assert numpy.signbit(run(name, [tensor(values)])).all(), name
    assert numpy.signbit(run("MUL", [tensor([-0.0]), tensor([2.0]), number(0)])).all()


def test_maximum_compares_real_values() -> None:
    inputs = [tensor([4], QUANT, 1.0, 0), tensor([9], QUANT, 0.25, 1)]
    assert run("MAXIMUM", inputs, output(kind=QUANT, scale=0.5, zero_point=3)).tolist() == [11]
    assert run("MINIMUM", inputs, output(kind=QUANT, scale=0.5, zero_point=3)).tolist() == [7]


def test_padding_holds_the_zero_point_or_the_stored_value() -> None:
    paddings = tensor([[1, 2]], INT32)
    assert run("PAD", [tensor([5], QUANT, 0.5, 3), paddings]).tolist() == [3, 5, 3, 3]
    assert run("PAD_V2", [tensor([5], QUANT, 0.5, 3), paddings, number(9)]).tolist() == [9, 5, 9, 9]


def explicit(*numbers: int) -> list[Tensor]:
    return [number(value) for value in numbers]


def test_convolution_strides_pads_and_dilates_in_both_layouts() -> None:
    data = numpy.arange(2 * 5 * 4 * 2, dtype=numpy.float32).reshape(2, 5, 4, 2)
    filters = numpy.arange(3 * 2 * 2 * 2, dtype=numpy.float32).reshape(3, 2, 2, 2) - 7
    bias = numpy.array([1, 2, 3], dtype=numpy.float32)
    # Pads left 1, right 0, top 0, bottom 1; strides width 1, height 2; dilations width 2, height 3.
    padded = numpy.pad(data, ((0, 0), (0, 1), (1, 0), (0, 0)))
    expected = numpy.zeros((2, 2, 3, 3), numpy.float32)
    for n, y, x, o in numpy.ndindex(expected.shape):
        window = padded[n, 2 * y : 2 * y + 4 : 3, x : x + 3 : 2]
        expected[n, y, x, o] = (window * filters[o]).sum() + bias[o]
    shared = [tensor(filters), tensor(bias), *explicit(1, 0, 0, 1, 1, 2, 0)]
    dilations = explicit(2, 3)
    found = run("CONV_2D", [tensor(data), *shared, flag(False), *dilations])
    assert found.tolist() == expected.tolist()
    nchw = run("CONV_2D", [tensor(data.transpose(0, 3, 1, 2)), *shared, flag(True), *dilations])
    assert nchw.tolist() == expected.transpose(0, 3, 1, 2).tolist()


def test_ten_inputs_are_implicit_where_the_eighth_is_a_flag() -> None:
    data, filters, bias = tensor(numpy.ones((1, 3, 3, 1))), tensor(numpy.ones((1, 2, 2, 1))), tensor([0])
    implicit = run("CONV_2D", [data, filters, bias, *explicit(1, 1, 1, 0), flag(False), *explicit(1, 1)])
    # SAME puts the one row and column of padding behind the data.
    assert implicit[0, :, :, 0].tolist() == [[4, 4, 2], [4, 4, 2], [2, 2, 1]]
    valid = run("CONV_2D", [data, filters, bias, *explicit(0, 0, 0, 0, 1, 1, 0)])
    assert valid.shape == (1, 2, 2, 1)


def test_each_channel_has_its_own_scale() -> None:
    quant = SymmPerChannelQuantParams((0.5, 2.0), 0)
    weights = numpy.array([1, 1], dtype=numpy.int8).reshape(2, 1, 1, 1)
    filters = Tensor(OperandType.TENSOR_QUANT8_SYMM_PER_CHANNEL, weights, channel_quant=quant)
    data = tensor([[[[14]]]], QUANT, 0.5, 10)
    inputs = [data, filters, tensor([0, 1], INT32), *explicit(2, 1, 1, 0)]
    # (14 - 10) * 0.5 times 0.5 and times 2, the second plus a bias of 1 * 0.5 * 2.
    assert run("CONV_2D", inputs, output(kind=QUANT, scale=0.5, zero_point=1)).ravel().tolist() == [3, 11]


def test_depthwise_channels_are_grouped_by_input_channel() -> None:
    data = tensor([[[[1.0, 10.0]]]])
    filters = tensor([[[[1.0, 2.0, 3.0, 4.0]]]])
    found = run("DEPTHWISE_CONV_2D", [data, filters, tensor([0, 0, 0, 0.5]), *explicit(2, 1, 1, 2, 0)])
    assert found.ravel().tolist() == [1.0, 2.0, 30.0, 40.5]


def test_pooling_leaves_padding_out() -> None:
    data = tensor(-numpy.arange(1.0, 5.0).reshape(1, 2, 2, 1))
    same = explicit(1, 1, 1, 2, 2, 0)
    assert run("AVERAGE_POOL_2D", [data, *same]).ravel().tolist() == [-2.5, -3.0, -3.5, -4.0]
    assert run("MAX_POOL_2D", [data, *same]).ravel().tolist() == [-1.0, -2.0, -3.0, -4.0]


def test_an_empty_batch_gives_an_empty_batch() -> None:
    data = tensor(numpy.zeros((0, 4, 4, 2)))
    convolved = run("CONV_2D", [data, tensor(numpy.ones((3, 2, 2, 2))), tensor([0, 0, 0]), *explicit(2, 1, 1, 0)])
    assert convolved.shape == (0, 3, 3, 3)
    assert run("AVERAGE_POOL_2D", [data, *explicit(2, 1, 1, 2, 2, 0)]).shape == (0, 3, 3, 2)
    connected = run("FULLY_CONNECTED", [tensor(numpy.zeros((0, 2))), tensor([[1, 2]]), tensor([0]), number(0)])
    assert connected.shape == (0, 1)


def test_concatenation_requantises_to_the_output() -> None:
    inputs = [tensor([5], QUANT, 1.0, 0), tensor([5], QUANT, 2.0, 1), number(0)]
    assert run("CONCATENATION", inputs, output(kind=QUANT, scale=1.0, zero_point=2)).tolist() == [7, 10]


def test_strided_slice_counts_from_the_end_and_backwards() -> None:
    data = tensor([0, 1, 2, 3, 4])
    masks = explicit(0, 0, 0)
    backwards = [data, *(tensor([value], INT32) for value in (-1, 0, -2)), *masks]
    assert run("STRIDED_SLICE", backwards, output([2])).tolist() == [4, 2]
    open_end = [data, *(tensor([value], INT32) for value in (-1, 0, -2)), *explicit(0, 1, 0)]
    assert run("STRIDED_SLICE", open_end, output([3])).tolist() == [4, 2, 0]
    beyond = [data, *(tensor([value], INT32) for value in (3, 100, 1)), *masks]
    assert run("STRIDED_SLICE", beyond, output([2])).tolist() == [3, 4]


def test_an_omitted_permutation_reverses_the_axes() -> None:
    assert run("TRANSPOSE", [tensor(numpy.zeros((2, 3, 4))), None]).shape == (4, 3, 2)


def test_split_gives_equal_slices() -> None:
    parts = kernel(OperationType.SPLIT)([tensor([[1, 2], [3, 4]]), number(-1), number(2)], [output(), output()])
    assert [part.ravel().tolist() for part in parts] == [[1, 3], [2, 4]]


def test_mean_counts_a_repeated_axis_once() -> None:
    inputs = [tensor([[1, 3], [5, 9]]), tensor([1, -1], INT32), number(0)]
    assert run("MEAN", inputs, output([2])).tolist() == [2, 7]


def test_softmax_of_large_values_is_finite() -> None:
    found = run("SOFTMAX", [tensor([[1e30, 1e30], [0, -1e30]]), tensor(1.0, OperandType.FLOAT32)])
    assert found.tolist() == [[0.5, 0.5], [1.0, 0.0]]


def test_cast_converts_stored_values() -> None:
    assert run("CAST", [tensor([-1.5, 3.9, 300], FLOAT)], output(kind=QUANT, scale=0.5)).tolist() == [0, 3, 255]
    assert run("CAST", [tensor([200], QUANT, 0.5, 3)]).tolist() == [200.0]
    assert run("CAST", [tensor([-2.9, 2.9])], output(kind=INT32)).tolist() == [-2, 2]


def test_quantise_and_dequantise() -> None:
    quantised = run("QUANTIZE", [tensor([0.25, -0.25, 1e9])], output(kind=QUANT, scale=0.5, zero_point=10))
    assert quantised.tolist() == [11, 9, 255]
    per_channel = Tensor(
        OperandType.TENSOR_QUANT8_SYMM_PER_CHANNEL,
        numpy.array([[1, 2], [3, 4]], dtype=numpy.int8),
        channel_quant=SymmPerChannelQuantParams((1.0, 0.5), 1),
    )
    assert run("DEQUANTIZE", [per_channel]).tolist() == [[1.0, 1.0], [3.0, 2.0]]


def test_elu_of_a_large_input_without_alpha_is_a_number() -> None:
    nothing = tensor(0.0, OperandType.FLOAT32)
    with numpy.errstate(over="ignore", invalid="ignore"):
        (found,) = kernel(OperationType.ELU)([tensor([72293.0, 2.0, -2.0]), nothing], [output([3])])
    assert found.tolist() == [72293.0, 2.0, 0.0]


@pytest.mark.parametrize("name", ["CONV_2D", "DEPTHWISE_CONV_2D", "GROUPED_CONV_2D"])
def test_padding_is_left_out_whatever_its_weights_are(name: str) -> None:
    # A column of padding on each side: the first weight meets padding at the first element alone.
    data, weights = tensor([[[[2.0], [3.0]]]]), tensor([[[[float("inf")], [10.0], [1.0]]]])
    own = {"CONV_2D": [], "DEPTHWISE_CONV_2D": [number(1)], "GROUPED_CONV_2D": [number(1)]}[name]
    pads, strides = [number(one) for one in (1, 1, 0, 0)], [number(1), number(1)]
    found = run(name, [data, weights, tensor([0.5]), *pads, *strides, *own, number(0)], output((1, 1, 2, 1)))
    assert found.ravel().tolist() == [23.5, float("inf")]
