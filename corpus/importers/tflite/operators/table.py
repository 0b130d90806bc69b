"""Which function translates which builtin operator."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from npu_conformance.corpus.importers.tflite.operators import (
    activations,
    control_flow,
    elementwise,
    lookups,
    products,
    recurrent,
    reductions,
    resizing,
    resources,
    shapes,
    slicing,
    windows,
)
from npu_conformance.corpus.importers.tflite.step import Step

_SAME_NAME = (
    "ABS", "EXP", "FLOOR", "LOG", "LOGISTIC", "NEG", "RSQRT", "SIN", "SQRT", "TANH", "HARD_SWISH",
    "EQUAL", "NOT_EQUAL", "GREATER", "GREATER_EQUAL", "LESS", "LESS_EQUAL", "LOGICAL_AND", "LOGICAL_OR", "LOGICAL_NOT",
    "MAXIMUM", "MINIMUM", "POW", "PRELU", "EMBEDDING_LOOKUP",
)  # fmt: skip
"""Operators that take and give what NNAPI's operations of the same names do."""

OPERATORS: Mapping[str, Callable[[Step], None]] = {
    **{name: elementwise.plain(name) for name in _SAME_NAME},
    **{name: elementwise.arithmetic(name) for name in ("ADD", "SUB", "MUL", "DIV")},
    "SQUARE": elementwise.square,
    "SQUARED_DIFFERENCE": elementwise.squared_difference,
    "ADD_N": elementwise.add_n,
    "SELECT": elementwise.select,
    "SELECT_V2": elementwise.select,
    "CONV_2D": windows.conv_2d,
    "DEPTHWISE_CONV_2D": windows.depthwise_conv_2d,
    "TRANSPOSE_CONV": windows.transpose_conv,
    "AVERAGE_POOL_2D": windows.average_pool_2d,
    "MAX_POOL_2D": windows.max_pool_2d,
    "L2_POOL_2D": windows.l2_pool_2d,
    "FULLY_CONNECTED": products.fully_connected,
    "RELU": activations.rectifier("RELU"),
    "RELU6": activations.rectifier("RELU6"),
    "RELU_N1_TO_1": activations.rectifier("RELU1"),
    "RELU_0_TO_1": activations.relu_0_to_1,
    "LEAKY_RELU": activations.leaky_relu,
    "ELU": activations.elu,
    "SOFTMAX": activations.softmax,
    "LOG_SOFTMAX": activations.log_softmax,
    "L2_NORMALIZATION": activations.l2_normalization,
    "LOCAL_RESPONSE_NORMALIZATION": activations.local_response_normalization,
    "QUANTIZE": activations.quantize,
    "DEQUANTIZE": activations.dequantize,
    "CAST": activations.cast,
    "RESHAPE": shapes.reshape,
    "SQUEEZE": shapes.squeeze,
    "EXPAND_DIMS": shapes.expand_dims,
    "TRANSPOSE": shapes.transpose,
    "PACK": shapes.pack,
    "UNPACK": shapes.unpack,
    "PAD": shapes.pad,
    "PADV2": shapes.pad_v2,
    "TILE": shapes.tile,
    "BROADCAST_TO": shapes.broadcast_to,
    "DEPTH_TO_SPACE": shapes.blocks("DEPTH_TO_SPACE"),
    "SPACE_TO_DEPTH": shapes.blocks("SPACE_TO_DEPTH"),
    "BATCH_TO_SPACE_ND": shapes.batch_to_space_nd,
    "SPACE_TO_BATCH_ND": shapes.space_to_batch_nd,
    "CONCATENATION": slicing.concatenation,
    "SPLIT": slicing.split,
    "SPLIT_V": slicing.split_v,
    "SLICE": slicing.slice_,
    "STRIDED_SLICE": slicing.strided_slice,
    "GATHER": slicing.gather,
    "MEAN": reductions.reduction("MEAN"),
    "SUM": reductions.reduction("REDUCE_SUM"),
    "REDUCE_PROD": reductions.reduction("REDUCE_PROD"),
    "REDUCE_MAX": reductions.reduction("REDUCE_MAX"),
    "REDUCE_MIN": reductions.reduction("REDUCE_MIN"),
    "REDUCE_ANY": reductions.reduction("REDUCE_ANY"),
    "REDUCE_ALL": reductions.reduction("REDUCE_ALL"),
    "ARG_MAX": reductions.argument("ARGMAX"),
    "ARG_MIN": reductions.argument("ARGMIN"),
    "TOPK_V2": reductions.topk_v2,
    "FILL": reductions.fill,
    "RESIZE_BILINEAR": resizing.resize_bilinear,
    "RESIZE_NEAREST_NEIGHBOR": resizing.resize_nearest_neighbor,
    "HASHTABLE_LOOKUP": lookups.hashtable_lookup,
    "LSH_PROJECTION": lookups.lsh_projection,
    "SVDF": recurrent.svdf,
    "RNN": recurrent.rnn,
    "LSTM": recurrent.lstm,
    "UNIDIRECTIONAL_SEQUENCE_RNN": recurrent.unidirectional_sequence_rnn,
    "BIDIRECTIONAL_SEQUENCE_RNN": recurrent.bidirectional_sequence_rnn,
    "UNIDIRECTIONAL_SEQUENCE_LSTM": recurrent.unidirectional_sequence_lstm,
    "BIDIRECTIONAL_SEQUENCE_LSTM": recurrent.bidirectional_sequence_lstm,
    "IF": control_flow.if_,
    "WHILE": control_flow.while_,
    "VAR_HANDLE": resources.var_handle,
    "READ_VARIABLE": resources.read_variable,
    "ASSIGN_VARIABLE": resources.assign_variable,
}
"""By LiteRT's names. CALL_ONCE is not here: it runs before all others (translating)."""

REASONS: Mapping[str, str] = {
    "DENSIFY": "its input is sparse: NNAPI has dense tensors alone",
    "BATCH_MATMUL": "NNAPI has its counterpart since feature level 6, not in HAL 1.3",
    "MIRROR_PAD": "NNAPI has its counterpart since feature level 7, not in HAL 1.3",
    "REVERSE_V2": "NNAPI has its counterpart since feature level 7, not in HAL 1.3",
    "MULTINOMIAL": "it draws samples, and NNAPI's RANDOM_MULTINOMIAL draws others from the same seeds",
}
"""Why an operator that is not above cannot be expressed, where more can be said than that there is no counterpart."""

NO_COUNTERPART = "NNAPI has no counterpart"
