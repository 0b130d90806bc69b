"""Files that are broken, on purpose or not: one clear error, or a model; never a traceback, a hang or much memory."""

from __future__ import annotations

import functools
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pytest.importorskip("ai_edge_litert", exc_type=ImportError, reason="LiteRT is not installed")

from tflite_cases import CASES, STATEFUL
from tflite_files import File

from npu_conformance.corpus.importers.tflite.errors import TfliteError, UnsupportedModelError
from npu_conformance.corpus.importers.tflite.importing import TfliteModel, import_model, read

MEBIBYTE = 1 << 20


@functools.cache
def sound() -> bytes:
    """A model with most of what a file can hold: quantised weights, folded shapes, a variable tensor, two outputs."""
    file = File()
    graph = file.main
    image = graph.input("INT8", (1, 6, 6, 2), 0.05, 3)
    filters = graph.tensor("INT8", (3, 2, 2, 2), [0.01, 0.02, 0.03], value=np.arange(24).reshape(3, 2, 2, 2) - 12)
    bias = graph.tensor("INT32", (3,), [0.0005, 0.001, 0.0015], value=[1, 2, 3])
    options = {"padding": 1, "strideH": 1, "strideW": 1, "fusedActivationFunction": 1}
    windows = graph.operator("CONV_2D", [image, filters, bias], ("INT8", (1, 5, 5, 3), 0.1, -4), "Conv2D", **options)
    shape = graph.operator("SHAPE", [windows], ("INT32", (4,)), "Shape", outType=2)
    bounds = [graph.constant("INT32", [at]) for at in (0, 1, 1)]
    batch = graph.operator("STRIDED_SLICE", [shape, *bounds], ("INT32", ()), "StridedSlice", shrinkAxisMask=1)
    wanted = graph.operator("PACK", [batch, graph.constant("INT32", 75)], ("INT32", (2,)), "Pack", valuesCount=2)
    flat = graph.operator("RESHAPE", [windows, wanted], ("INT8", (1, 75), 0.1, -4), "Reshape")
    real = graph.operator("DEQUANTIZE", [flat], ("FLOAT32", (1, 75)))
    half = graph.operator("DEQUANTIZE", [graph.constant("FLOAT16", np.ones((4, 75)))], ("FLOAT32", (4, 75)))
    state, times = graph.tensor("FLOAT32", (1, 12), variable=True), graph.constant("FLOAT32", np.ones((4, 3)))
    last = graph.operator("SVDF", [real, half, times, -1, state], ("FLOAT32", (1, 2)), "SVDF", rank=2)
    return file.pack(graph.operator("SOFTMAX", [last], ("FLOAT32", (1, 2)), "Softmax", beta=1.0), flat)


def imported(data: bytes) -> TfliteModel | str:
    """The model, or the message."""
    try:
        return import_model(data, "broken.tflite")
    except TfliteError as error:
        return str(error)


def check(data: bytes) -> TfliteModel | str:
    found = imported(data)
    if isinstance(found, str):
        assert all(line.startswith("broken.tflite: ") and len(line) > 20 for line in found.split("\n"))
    return found


def test_the_file_is_sound() -> None:
    assert isinstance(imported(sound()), TfliteModel)


@pytest.mark.parametrize("part", range(50))
def test_a_file_that_ends_early_is_refused(part: int) -> None:
    data = sound()[: len(sound()) * part // 50]
    check(data)
    assert part or isinstance(imported(data), str)


def test_flipped_bits_end_in_an_error_or_a_model() -> None:
    """Both happen, or nothing would be said of the one that does not."""
    generator, found = np.random.default_rng(5), set()
    for _ in range(300):
        data = bytearray(sound())
        for at in generator.integers(8, len(data), generator.integers(1, 4)):
            data[at] ^= 1 << int(generator.integers(8))
        found.add(type(check(bytes(data))))
    assert found == {str, TfliteModel}


@functools.cache
def files() -> list[bytes]:
    """A file of each case."""
    packed = []
    for make in (CASES | STATEFUL).values():
        file = File()
        outputs = make(file.main)
        packed.append(file.pack(*([outputs] if isinstance(outputs, int) else outputs)))
    return packed


def test_no_operator_minds_what_its_options_and_tensors_say() -> None:
    """Words of a file of each operator become other small, large or negative numbers, or nearly what they were."""
    generator = np.random.default_rng(11)
    for flatbuffer in files() * 6:
        data = bytearray(flatbuffer)
        at = 8 + 4 * int(generator.integers(len(data) // 4 - 3))
        word = int.from_bytes(data[at : at + 4], "little")
        small, near = int(generator.integers(64)), word + int(generator.integers(-4, 9))
        wrong = (small, near, -1, 2**31 - 1, word ^ (1 << int(generator.integers(32))))[int(generator.integers(5))]
        data[at : at + 4] = (wrong & 0xFFFFFFFF).to_bytes(4, "little")
        check(bytes(data))


@settings(max_examples=100)
@given(st.integers(0, 2**20), st.integers(0, 2**32 - 1))
def test_any_offset_or_length_may_be_wrong(place: int, word: int) -> None:
    """A word of the file, aligned as offsets and lengths are, is replaced by any other."""
    data = bytearray(sound())
    at = 8 + 4 * (place % (len(data) // 4 - 2))
    data[at : at + 4] = word.to_bytes(4, "little")
    check(bytes(data))


@given(st.binary(max_size=200))
def test_any_bytes_behind_the_identifier(data: bytes) -> None:
    check(b"\x10\x00\x00\x00TFL3" + data)


def edited(edit: Callable[[Any, Any], None]) -> bytes:
    """A small file after an edit of its tables; gets the file, and its only graph."""
    file = File()
    graph = file.main
    given_ = graph.input("FLOAT32", (2, 3))
    result = graph.operator("ADD", [given_, graph.constant("FLOAT32", [1, 2, 3])], ("FLOAT32", (2, 3)), "Add")
    graph.outputs = [result]
    edit(file, graph)
    return file.pack(*graph.outputs)


def change(table: Any, **fields: Any) -> None:
    for name, value in fields.items():
        setattr(table, name, value)


def set_tensor(number: int, **fields: Any) -> Callable[[Any, Any], None]:
    return lambda file, graph: change(graph.tensors[number], **fields)


def set_operator(**fields: Any) -> Callable[[Any, Any], None]:
    return lambda file, graph: change(graph.operators[0], **fields)


@pytest.mark.parametrize(
    ("edit", "message"),
    [
        (set_tensor(1, buffer=99), "subgraphs[0].tensors[1].Buffer: there is no buffer 99"),
        (set_tensor(1, shape=[4]), "buffer 1 has 12 bytes, the shape [4] of FLOAT32 asks for 16"),
        (set_tensor(0, shape=[-1, 3]), "a tensor cannot have the shape [-1, 3]"),
        (set_tensor(0, shape=[65536] * 4), "a tensor cannot have the shape [65536, 65536, 65536, 65536]"),
        (set_tensor(0, type=99), "there is no tensor type 99"),
        (set_tensor(0, shape=[0, 3]), "tensor 0 (t0) has no elements"),
        (set_operator(inputs=[0, 7]), "subgraphs[0].operators[0].Inputs: there is no tensor 7"),
        (set_operator(inputs=[0]), "subgraphs[0].operators[0]: ADD has no input 1"),
        (set_operator(inputs=[0, -1]), "subgraphs[0].operators[0]: ADD has no input 1"),
        (set_operator(inputs=[0, 2]), "tensor 2 (t2) has no value"),
        (set_operator(outputs=[-1]), "subgraphs[0].operators[0].Outputs: there is no tensor -1"),
        (set_operator(outputs=[0]), "subgraphs[0].operators[0]: an output of it already has a value"),
        (set_operator(outputs=[]), "NNAPI's ADD has 1 results, here are 0"),
        (set_operator(opcodeIndex=5), "subgraphs[0].operators[0].OpcodeIndex: there is no operator code 5"),
        (lambda file, graph: change(graph, outputs=[]), "the model has no outputs"),
        (lambda file, graph: change(graph, inputs=[9]), "subgraphs[0].Inputs: there is no tensor 9"),
        (lambda file, graph: graph.operators.append(graph.operators[0]), "operators[1]: an output of it already has"),
    ],
)
def test_what_is_wrong_is_said_with_its_place(edit: Callable[[Any, Any], None], message: str) -> None:
    assert message in str(imported(edited(edit)))


def single(
    name: str, inputs: Callable[[Any], list[int]], result: tuple[Any, ...], kind: str = "", **options: Any
) -> str:
    """What is said of one operator."""
    file = File()
    output = file.main.operator(name, inputs(file.main), result, kind, **options)
    return str(imported(file.pack(output)))


ROW = ("FLOAT32", (2,))


def test_options_and_inputs_that_make_no_sense_are_refused() -> None:
    nan, negative = float("nan"), {"squeezeDims": [3]}
    assert "its slope is nan" in single("LEAKY_RELU", lambda g: [g.input(*ROW)], ROW, "LeakyRelu", alpha=nan)
    assert "it adds 0 tensors" in single("ADD_N", lambda g: [], ROW)
    assert "SQUEEZE.C" in single("SQUEEZE", lambda g: [g.input("FLOAT32", (1, 2))], ROW, "Squeeze", **negative)
    values = single("FILL", lambda g: [g.constant("INT32", [2]), g.constant("FLOAT32", [1, 2])], ROW)
    assert "it fills TENSOR_FLOAT32 with 2 elements of float32" in values
    axes = single("MEAN", lambda g: [g.input(*ROW), g.constant("FLOAT32", [0.5])], ("FLOAT32", ()), "Reducer")
    assert "its input 1 is of float32, where integers are expected" in axes
    bounds = single("SLICE", lambda g: [g.input(*ROW), *(g.input("INT32", (1,)) for _ in range(2))], ROW, "Slice")
    assert "NNAPI needs its input 1, tensor 1 (t1), at preparation, and it is not constant" in bounds
    empty = single("ABS", lambda g: [g.tensor("FLOAT32", (0, 2**31 - 1, 2**31 - 1))], ROW)
    assert "a tensor cannot have the shape [0, 2147483647, 2147483647]" in empty


def test_a_bias_of_another_scale_is_refused() -> None:
    """LiteRT refuses it, too; what the converter rounded is taken (CONV_2D.int8_per_tensor_rounded_bias_scale)."""

    def inputs(graph: Any) -> list[int]:
        weights = graph.tensor("INT8", (2, 3), 0.01, value=[[1, 2, 3]] * 2)
        return [graph.input("INT8", (1, 3), 0.5), weights, graph.tensor("INT32", (2,), 0.05, value=[1, 2])]

    found = single("FULLY_CONNECTED", inputs, ("INT8", (1, 2), 0.1), "FullyConnected")
    assert "its bias has the scale 0.05, its products have 0.005" in found


def test_loops_that_lead_back_to_themselves_are_refused() -> None:
    file = File()
    graph, body = file.main, file.graph()
    for one in (graph, body):
        given_ = one.input("BOOL", (1,))
        result = one.operator("WHILE", [given_], ("BOOL", (1,)), "While", condSubgraphIndex=1, bodySubgraphIndex=1)
        one.outputs = [result]
    assert "operator 0 WHILE of subgraph 1: subgraph 1 leads back to itself" in str(imported(file.pack(*graph.outputs)))


def test_operators_in_no_order_of_execution_are_refused() -> None:
    """So is a circle of operators, of which one must come before the other."""
    file = File()
    graph = file.main
    first, second = (graph.tensor("FLOAT32", (2,)) for _ in range(2))
    graph.apply("ABS", [second], [first])
    graph.apply("ABS", [first], [second])
    assert "tensor 1 (t1) has no value" in str(imported(file.pack(second)))


def test_a_small_file_that_stands_for_a_huge_one_takes_little_memory() -> None:
    """All operators share one vector of inputs, as a flatbuffer may: together they are some 10 million."""
    file = File()
    graph = file.main
    given_ = graph.input("FLOAT32", (2,))
    for _ in range(500):
        graph.operator("ADD_N", [given_], ("FLOAT32", (2,)))
    graph.operators[0].inputs = [given_] * 20_000
    data = bytearray(file.pack(1))
    _share_inputs(data)
    tracemalloc.start()
    try:
        message = imported(bytes(data))
        assert "the file refers to more elements than it can hold" in str(message)
        assert tracemalloc.get_traced_memory()[1] < 64 * MEBIBYTE
    finally:
        tracemalloc.stop()


def _share_inputs(data: bytearray) -> None:
    """Let the inputs of every operator be those of the first."""
    from ai_edge_litert.schema_py_generated import Model

    graph = Model.GetRootAs(bytes(data), 0).Subgraphs(0)
    shared = graph.Operators(0)._tab
    target = shared.Vector(shared.Offset(6)) - 4
    for number in range(graph.OperatorsLength()):
        table = graph.Operators(number)._tab
        at = table.Pos + table.Offset(6)
        if target > at:
            data[at : at + 4] = (target - at).to_bytes(4, "little")


def test_a_state_that_would_be_gigabytes_is_refused() -> None:
    """What the file does not hold is made here, and is limited."""
    file = File()
    graph = file.main
    parts = [graph.input("FLOAT32", (1, 1)), *(graph.tensor("FLOAT32", (2**15, 1)) for _ in range(2)), -1]
    graph.inputs += parts[1:3]
    graph.tensors[parts[2]].shape = [2**15, 2**13]
    state = graph.tensor("FLOAT32", (1, 2**28), variable=True)
    result = graph.operator("SVDF", [*parts, state], ("FLOAT32", (1, 2**15)), "SVDF", rank=1)
    assert "would take more than" in str(imported(file.pack(result)))


@pytest.mark.parametrize("operator", ["GATHER", "CONCATENATION", "PACK"])
def test_a_constant_that_would_be_larger_than_the_file_says_is_not_made(operator: str) -> None:
    file, count = File(), 3000
    graph = file.main
    given_ = graph.input("FLOAT32", (2,))
    many = graph.constant("INT32", np.zeros((1, count), "int32"))
    indexes = graph.constant("INT32", np.zeros(count, "int32"))
    inputs = [many, indexes] if operator == "GATHER" else [many] * count
    graph.operator(operator, inputs, ("INT32", (2,)), operator.capitalize(), axis=0)
    data = file.pack(graph.operator("ADD", [given_, given_], ("FLOAT32", (2,)), "Add"))
    tracemalloc.start()
    try:
        imported(data)
        assert tracemalloc.get_traced_memory()[1] < 16 * MEBIBYTE
    finally:
        tracemalloc.stop()


def test_all_that_cannot_be_expressed_is_said_at_once() -> None:
    file = File()
    graph = file.main
    row = ("FLOAT32", (1, 4))
    given_ = graph.input(*row)
    ceiled = graph.operator("CEIL", [given_], row)
    spectrum = graph.operator("RFFT2D", [ceiled, graph.constant("INT32", [1, 4])], ("COMPLEX64", (1, 3)))
    back = graph.operator("COMPLEX_ABS", [spectrum], ("FLOAT32", (1, 3)))
    signed = graph.operator("ADD", [back, back], ("FLOAT32", (1, 3)), "Add", fusedActivationFunction=5)
    custom = graph.operator("CUSTOM Ours", [signed], ("FLOAT32", (1, 3)))
    with pytest.raises(UnsupportedModelError) as caught:
        import_model(file.pack(custom), "made.tflite")
    assert caught.value.lines == (
        "operator 0 CEIL of subgraph 0: NNAPI has no counterpart",
        "operator 1 RFFT2D of subgraph 0: NNAPI has no counterpart",
        "operator 2 COMPLEX_ABS of subgraph 0: NNAPI has no counterpart",
        "operator 3 ADD of subgraph 0: NNAPI has no activation like its fused SIGN_BIT",
        "operator 4 CUSTOM Ours of subgraph 0: NNAPI has no counterpart",
    )
    assert str(caught.value).split("\n")[4] == f"made.tflite: {caught.value.lines[4]}"


def test_types_and_quantisations_that_nnapi_has_not_are_named() -> None:
    file = File()
    graph = file.main
    wide = graph.input("INT64", (3,))
    total = graph.operator("ADD", [wide, wide], ("INT64", (3,)), "Add")
    huge = graph.constant("INT64", [1 << 40])
    gathered = graph.operator("GATHER", [graph.input("FLOAT32", (3,)), huge], ("FLOAT32", (1,)), "Gather")
    hybrid = graph.tensor("INT8", (2, 1), 0.1, value=[[1], [2]])
    row = graph.operator("FULLY_CONNECTED", [gathered, hybrid, -1], ("FLOAT32", (1, 2)), "FullyConnected")
    with pytest.raises(UnsupportedModelError) as caught:
        import_model(file.pack(total, row), "made.tflite")
    assert caught.value.lines == (
        "input tensor 0 (t0) is of type INT64, which NNAPI does not have",
        "operator 0 ADD of subgraph 0: tensor 0 (t0) is of type INT64, which NNAPI does not have",
        "operator 1 GATHER of subgraph 0: tensor 2 (t2) is of type INT64, and has elements that do not fit into INT32",
        "operator 2 FULLY_CONNECTED of subgraph 0: NNAPI's FULLY_CONNECTED takes no inputs of TENSOR_FLOAT32, "
        "TENSOR_QUANT8_ASYMM_SIGNED, TENSOR_FLOAT32 for TENSOR_FLOAT32",
        "output 0: tensor 1 (t1) is of type INT64, which NNAPI does not have",
    )


def test_what_stands_in_for_a_refused_operator_is_not_spoken_of() -> None:
    file = File()
    wide = file.main.input("FLOAT32", (1, 2, 3, 2, 2))
    order = file.main.constant("INT32", [4, 0, 2, 1, 3])
    turned = file.main.operator("TRANSPOSE", [wide, order], ("FLOAT32", (2, 1, 3, 2, 2)), "Transpose")
    with pytest.raises(UnsupportedModelError) as caught:
        import_model(file.pack(turned), "made.tflite")
    (line,) = caught.value.lines
    assert line.startswith("operator 0 TRANSPOSE")


def test_sparse_tensors_are_refused_by_name() -> None:
    def make_sparse(file: File, graph: Any) -> None:
        graph.tensors[1].sparsity = file.schema.SparsityParametersT()

    assert "tensor 1 (t1) is sparse" in str(imported(edited(make_sparse)))


def test_a_file_that_is_not_there_or_not_a_file(tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "none.tflite"):
        with pytest.raises(TfliteError, match="there is no such file"):
            read(path)
    text = tmp_path / "text.tflite"
    text.write_text("no model at all")
    with pytest.raises(TfliteError, match=r"text\.tflite: no \.tflite file: expected the identifier TFL3 at byte 4"):
        read(text)


@pytest.mark.parametrize("shape", [(2,), (1, 1, 2)])
def test_a_state_of_another_rank_is_refused(shape: tuple[int, ...]) -> None:
    """The cell state of LSTM has batch and units."""
    file = File()
    outputs = STATEFUL["LSTM"](file.main)
    for tensor in file.main.tensors:
        if tensor.isVariable:
            tensor.shape = list(shape)
    assert "its cell state has" in str(imported(file.pack(*([outputs] if isinstance(outputs, int) else outputs))))
