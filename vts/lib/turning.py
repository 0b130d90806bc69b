"""Kinds of models whose requests differ, in shapes, data, parameters or what they leave out, by operation."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from npu_conformance.corpus import turns
from npu_conformance.corpus.other_parameters import other_parameters
from npu_conformance.corpus.several_shapes import several_shapes
from npu_conformance.corpus.vectors import Vector
from npu_conformance.specs.versions import Version

_WITHOUT = {
    "DETECTION_POSTPROCESSING", "FILL", "GATHER", "GENERATE_PROPOSALS", "IF", "PAD", "PAD_V2", "RANDOM_MULTINOMIAL",
    "RESHAPE", "SLICE", "SQUEEZE", "STRIDED_SLICE", "TILE", "WHILE",
}  # fmt: skip
"""Operations whose vectors differ in more than shapes, and that do not work on each batch by itself."""


_OF_FIXED_SIZE = {
    "AXIS_ALIGNED_BBOX_TRANSFORM", "BIDIRECTIONAL_SEQUENCE_LSTM", "BIDIRECTIONAL_SEQUENCE_RNN",
    "BOX_WITH_NMS_LIMIT", "DETECTION_POSTPROCESSING", "EMBEDDING_LOOKUP", "FILL", "GENERATE_PROPOSALS",
    "HASHTABLE_LOOKUP", "HEATMAP_MAX_KEYPOINT", "IF", "LSH_PROJECTION", "LSTM", "QUANTIZED_16BIT_LSTM",
    "QUANTIZED_LSTM", "RANDOM_MULTINOMIAL", "RNN", "ROI_ALIGN", "ROI_POOLING", "SVDF",
    "UNIDIRECTIONAL_SEQUENCE_LSTM", "UNIDIRECTIONAL_SEQUENCE_RNN", "WHILE",
}  # fmt: skip
"""Operations of whose inputs no other shape of as many elements is known, or is as good."""

_BEHIND_RESHAPE = {
    "ADD", "ARGMAX", "AVERAGE_POOL_2D", "BATCH_MATMUL", "BATCH_TO_SPACE_ND", "CONCATENATION", "CONV_2D",
    "DEPTHWISE_CONV_2D", "DEPTH_TO_SPACE", "EXPAND_DIMS", "FULLY_CONNECTED", "GATHER", "L2_NORMALIZATION", "MEAN",
    "PAD", "PRELU", "REDUCE_MAX", "RESIZE_BILINEAR", "SOFTMAX", "SPACE_TO_BATCH_ND", "SPACE_TO_DEPTH", "SPLIT",
    "SQUEEZE", "STRIDED_SLICE", "TILE", "TOPK_V2", "TRANSPOSE",
}  # fmt: skip
"""Operations that are given a temporary of several shapes: one or two of each family, since a plan is the driver's."""

_EMPTIED = {
    "ADD", "AVERAGE_POOL_2D", "CONCATENATION", "CONV_2D", "DEPTHWISE_CONV_2D", "DEQUANTIZE", "FULLY_CONNECTED",
    "HARD_SWISH", "L2_POOL_2D", "LOGISTIC", "MAX_POOL_2D", "MUL", "QUANTIZE", "RELU", "RELU1", "RELU6",
    "RESIZE_BILINEAR", "RESIZE_NEAREST_NEIGHBOR", "SLICE", "SOFTMAX", "TANH", "TRANSPOSE", "TRANSPOSE_CONV_2D",
}  # fmt: skip
"""Operations that are given tensors without elements."""

OF_SEVERAL_TENSORS = {
    "ADD", "BATCH_MATMUL", "BIDIRECTIONAL_SEQUENCE_LSTM", "BIDIRECTIONAL_SEQUENCE_RNN", "CONCATENATION", "CONV_2D",
    "DEPTHWISE_CONV_2D", "DIV", "EQUAL", "FULLY_CONNECTED", "GREATER", "GREATER_EQUAL", "GROUPED_CONV_2D", "LESS",
    "LESS_EQUAL", "LOGICAL_AND", "LOGICAL_OR", "LSTM", "MAXIMUM", "MINIMUM", "MUL", "NOT_EQUAL", "PACK", "POW", "PRELU",
    "RNN", "SELECT", "SUB", "SVDF", "TRANSPOSE_CONV_2D", "UNIDIRECTIONAL_SEQUENCE_LSTM", "UNIDIRECTIONAL_SEQUENCE_RNN",
}  # fmt: skip
"""Operations of two tensors of data or more, of which any elements are legal and far from every limit."""

_WITHOUT_PARAMETERS = {
    "ABS", "BOX_WITH_NMS_LIMIT", "CAST", "DEQUANTIZE", "EQUAL", "EXP", "FLOOR", "GENERATE_PROPOSALS", "GREATER",
    "GREATER_EQUAL", "HARD_SWISH", "IF", "LESS", "LESS_EQUAL", "LOG", "LOGICAL_AND", "LOGICAL_NOT", "LOGICAL_OR",
    "LOGISTIC", "MAXIMUM", "MINIMUM", "NEG", "NOT_EQUAL", "POW", "PRELU", "QUANTIZE", "QUANTIZED_16BIT_LSTM",
    "QUANTIZED_LSTM", "RANDOM_MULTINOMIAL", "RANK", "RELU", "RELU1", "RELU6", "RSQRT", "SELECT", "SIN", "SQRT", "TANH",
    "WHILE",
}  # fmt: skip
"""Operations that have no parameters or none that are legal beside each other; of QUANTIZED_LSTM they are scales, with
which devices that compute in fixed point are as far off as they may be."""

_WITH_OPTIONAL = {
    "BIDIRECTIONAL_SEQUENCE_LSTM",
    "BIDIRECTIONAL_SEQUENCE_RNN",
    "LSTM",
    "SQUEEZE",
    "SVDF",
    "UNIDIRECTIONAL_SEQUENCE_LSTM",
}
"""Operations with inputs that a request may leave out."""


@dataclass(frozen=True, slots=True)
class Kind:
    """What differs from one execution to the next. requirements: beside those of every kind."""

    name: str
    find: Callable[[str, Version], list[Vector]]
    has: Callable[[str], bool]
    requirements: tuple[str, ...]
    description: str
    since: Version = Version.V1_2


_SHAPES = ("NNHAL-PREPARE-014", "NNHAL-SHAPE-002")
KINDS = (
    Kind(
        "executed",
        several_shapes,
        lambda operation: operation not in _WITHOUT,
        _SHAPES,
        "A model whose sizes come with the requests computes one shape, another one, and the first one again.",
    ),
    Kind(
        "same_size",
        turns.same_size,
        lambda operation: operation not in _OF_FIXED_SIZE,
        _SHAPES,
        "A model computes several shapes of as many elements, one after the other, each as if it was the only one.",
    ),
    Kind(
        "same_size_behind",
        turns.same_size_behind,
        lambda operation: operation in _BEHIND_RESHAPE,
        _SHAPES,
        "A temporary has other sizes and as many elements in each execution, where requests differ in values alone.",
    ),
    Kind(
        "emptied",
        turns.emptied,
        lambda operation: operation in _EMPTIED,
        (*_SHAPES, "NNHAL-SHAPE-010", "NNHAL-ACCURACY-008"),
        "Tensors of a model are empty in one execution and not in the next; a further output is there in each.",
    ),
    Kind(
        "other_data",
        turns.other_data,
        lambda operation: operation in OF_SEVERAL_TENSORS,
        ("NNHAL-EXECUTE-018",),
        "Weights and other tensors that come with the request count anew in each: what an earlier one gave is gone.",
        Version.V1_0,
    ),
    Kind(
        "other_parameters",
        other_parameters,
        lambda operation: operation not in _WITHOUT_PARAMETERS,
        (*_SHAPES, "NNHAL-EXECUTE-018"),
        "Scalars and tensors of parameters that come with the request count anew in each, as do the shapes they give.",
    ),
    Kind(
        "omitted",
        turns.omitted,
        lambda operation: operation in _WITH_OPTIONAL,
        ("NNHAL-REQUEST-003", "NNHAL-EXECUTE-018"),
        "An optional input that a request leaves out has no value, whatever an earlier request gave it.",
        Version.V1_0,
    ),
)
