"""Faults of single operations that only large shapes show, for the metamorphic relations of vts to detect."""

from __future__ import annotations

import inspect

from npu_conformance.faults import large_tensors
from npu_conformance.faults.factories import fault
from npu_conformance.faults.fault import Edited, Fault
from npu_conformance.faults.source_edits import SourceEdit
from npu_conformance.specs.neuralnetworks.enums import OperationType

_EXECUTOR = "reference.device.executor"
_CALL = "results = kernel(operation.type)(inputs, infos)"
_GRAPHS = "results = control_flow(operation.type)((first, second), given, limits.begin_loop())"

_OPERATIONS = (
    ("tail", "TRANSPOSE", "TRANSPOSE.twice"),
    ("oblong", "TRANSPOSE", "TRANSPOSE.two_steps"),
    ("tail", "RESHAPE", "RESHAPE.there_and_back"),
    ("oblong", "EXPAND_DIMS", "EXPAND_DIMS.squeezed_again"),
    ("tail", "PAD", "PAD.sliced_again"),
    ("oblong", "PAD_V2", "PAD_V2.sliced_again"),
    ("oblong", "MIRROR_PAD", "MIRROR_PAD.sliced_again"),
    ("tail", "REVERSE", "MIRROR_PAD.mirrors_are_reversed"),
    ("oblong", "SPLIT", "SPLIT.concatenated_again"),
    ("tail", "CONCATENATION", "CONCATENATION.sliced_again"),
    ("tail", "PACK", "PACK.concatenated"),
    ("oblong", "GATHER", "GATHER.all_indices"),
    ("second_batch", "REVERSE", "REVERSE.twice"),
    ("oblong", "REVERSE", "REVERSE.gathered_backwards"),
    ("tail", "SPACE_TO_DEPTH", "SPACE_TO_DEPTH.there_and_back"),
    ("oblong", "SPACE_TO_BATCH_ND", "SPACE_TO_BATCH_ND.there_and_back"),
    ("asymmetric", "SPACE_TO_BATCH_ND", "SPACE_TO_BATCH_ND.padded_before"),
    ("tail", "CHANNEL_SHUFFLE", "CHANNEL_SHUFFLE.there_and_back CHANNEL_SHUFFLE.transposed"),
    ("oblong", "STRIDED_SLICE", "STRIDED_SLICE.sliced"),
    ("tail", "STRIDED_SLICE", "STRIDED_SLICE.interleaved"),
    ("second_batch", "TILE", "TILE.copies"),
    ("oblong", "RESIZE_NEAREST_NEIGHBOR", "RESIZE_NEAREST_NEIGHBOR.same_size RESIZE_NEAREST_NEIGHBOR.twice_as_large"),
    ("oblong", "RESIZE_BILINEAR", "RESIZE_BILINEAR.same_size"),
    ("oblong", "DEQUANTIZE", "DEQUANTIZE.there_and_back"),
    ("second_batch", "CAST", "CAST.through_float32"),
    ("tail", "EMBEDDING_LOOKUP", "EMBEDDING_LOOKUP.gathered"),
    ("tail", "HASHTABLE_LOOKUP", "HASHTABLE_LOOKUP.all_keys"),
    ("tail", "LOGICAL_NOT", "SELECT.exchanged"),
    ("tail", "TOPK_V2", "TOPK_V2.indices_and_values"),
    ("tail", "FILL", "FILL.tiled"),
    ("uneven", "ADD", "ADD.commutes"),
    ("uneven", "MUL", "MUL.commutes"),
    ("uneven", "MAXIMUM", "MAXIMUM.commutes"),
    ("uneven", "MINIMUM", "MINIMUM.commutes"),
    ("uneven", "EQUAL", "EQUAL.commutes"),
    ("uneven", "NOT_EQUAL", "NOT_EQUAL.commutes"),
    ("uneven", "LOGICAL_AND", "LOGICAL_AND.commutes"),
    ("uneven", "LOGICAL_OR", "LOGICAL_OR.commutes"),
    ("tail", "LESS", "LESS.complement LESS.mirrored"),
    ("tail", "GREATER", "GREATER.complement"),
    ("tail", "EQUAL", "EQUAL.complement"),
    ("tail", "LESS_EQUAL", "LESS_EQUAL.mirrored"),
    ("late", "EQUAL", "EQUAL.of_itself"),
    ("tail", "LOGICAL_AND", "LOGICAL_AND.de_morgan"),
    ("second_batch", "LOGICAL_NOT", "LOGICAL_NOT.twice"),
    ("oblong", "REDUCE_ALL", "REDUCE_ALL.de_morgan"),
    ("second_batch", "NEG", "NEG.twice ARGMAX.of_the_negative"),
    ("oblong", "ABS", "ABS.larger_of_both"),
    ("tail", "SUB", "SUB.added_negative"),
    ("tail", "MINIMUM", "MINIMUM.negated"),
    ("second_batch", "MAXIMUM", "MAXIMUM.selected"),
    ("tail", "ARGMAX", "ARGMAX.gathers_the_greatest"),
    ("tail", "ARGMIN", "ARGMIN.gathers_the_smallest"),
    ("tail", "REDUCE_MIN", "REDUCE_MIN.negated"),
    ("tail", "REDUCE_MAX", "REDUCE_MAX.transposed"),
    ("oblong", "SQRT", "SQRT.of_a_square"),
    ("oblong", "RSQRT", "RSQRT.inverse_root"),
    ("oblong", "POW", "POW.root"),
    ("oblong", "LOG", "LOG.of_the_exponential"),
    ("lifted", "SIN", "SIN.odd"),
    ("late", "FLOOR", "FLOOR.moved_by_integers"),
    ("tail", "DIV", "DIV.by_a_reciprocal"),
    ("oblong", "RELU", "RELU.maximum_and_minimum RELU.fused"),
    ("oblong", "RELU1", "RELU1.maximum_and_minimum RELU1.fused"),
    ("oblong", "RELU6", "RELU6.maximum_and_minimum RELU6.fused"),
    ("oblong", "HARD_SWISH", "HARD_SWISH.expanded"),
    ("oblong", "PRELU", "PRELU.expanded PRELU.slope_1"),
    ("oblong", "ELU", "ELU.expanded"),
    ("oblong", "LOGISTIC", "LOGISTIC.expanded"),
    ("oblong", "TANH", "TANH.by_logistic"),
    ("tail", "SOFTMAX", "SOFTMAX.exponential"),
    ("short_tail", "SOFTMAX", "SOFTMAX.expanded SOFTMAX.sum_of_1"),
    ("short_tail", "L2_NORMALIZATION", "L2_NORMALIZATION.expanded"),
    ("oblong", "L2_POOL_2D", "L2_POOL_2D.expanded"),
    ("oblong", "INSTANCE_NORMALIZATION", "INSTANCE_NORMALIZATION.expanded"),
    ("tail", "LOCAL_RESPONSE_NORMALIZATION", "LOCAL_RESPONSE_NORMALIZATION.identity"),
    ("oblong", "LOCAL_RESPONSE_NORMALIZATION", "LOCAL_RESPONSE_NORMALIZATION.expanded"),
    ("short_tail", "MAX_POOL_2D", "MAX_POOL_2D.over_the_image"),
    ("tail", "AVERAGE_POOL_2D", "AVERAGE_POOL_2D.over_the_image"),
    ("tail", "REDUCE_SUM", "REDUCE_SUM.mean_times_count"),
    ("tail", "REDUCE_PROD", "REDUCE_PROD.of_parts"),
    ("tail", "BATCH_MATMUL", "BATCH_MATMUL.fully_connected BATCH_MATMUL.transposed"),
    ("tail", "FULLY_CONNECTED",
     "FULLY_CONNECTED.one_by_one FULLY_CONNECTED.fused_relu FULLY_CONNECTED.fused_relu1 "
     "FULLY_CONNECTED.fused_relu6"),
    ("tail", "CONV_2D",
     "CONV_2D.whole_image CONV_2D.output_channels CONV_2D.fused_relu CONV_2D.fused_relu1 "
     "CONV_2D.fused_relu6"),
    ("tail", "GROUPED_CONV_2D", "GROUPED_CONV_2D.one_group"),
    ("oblong", "GROUPED_CONV_2D", "GROUPED_CONV_2D.by_groups"),
    ("tail", "DEPTHWISE_CONV_2D",
     "DEPTHWISE_CONV_2D.as_many_groups DEPTHWISE_CONV_2D.fused_relu "
     "DEPTHWISE_CONV_2D.fused_relu1 DEPTHWISE_CONV_2D.fused_relu6"),
    ("oblong", "TRANSPOSE_CONV_2D", "TRANSPOSE_CONV_2D.flipped"),
    ("asymmetric", "CONV_2D", "CONV_2D.padded_before"),
    ("late", "CONV_2D", "CONV_2D.identity"),
    ("short_tail", "RNN", "RNN.without_recurrence"),
    ("short_tail", "UNIDIRECTIONAL_SEQUENCE_RNN", "UNIDIRECTIONAL_SEQUENCE_RNN.steps"),
    ("short_tail", "BIDIRECTIONAL_SEQUENCE_RNN", "BIDIRECTIONAL_SEQUENCE_RNN.forward_half"),
    ("short_tail", "LSTM", "LSTM.without_recurrence"),
    ("short_tail", "UNIDIRECTIONAL_SEQUENCE_LSTM", "UNIDIRECTIONAL_SEQUENCE_LSTM.steps"),
    ("short_tail", "BIDIRECTIONAL_SEQUENCE_LSTM", "BIDIRECTIONAL_SEQUENCE_LSTM.forward_half"),
    ("short_tail", "SVDF", "SVDF.memory_of_one"),
    ("far", "CAST", "CAST.far_elements"),
    ("far", "CONCATENATION", "CONCATENATION.far_elements"),
    ("far", "DEQUANTIZE", "DEQUANTIZE.far_elements"),
    ("far", "GREATER", "GREATER.far_elements"),
    ("far", "GREATER_EQUAL", "GREATER_EQUAL.far_elements"),
    ("far", "LESS", "LESS.far_elements"),
    ("far", "LESS_EQUAL", "LESS_EQUAL.far_elements"),
    ("far", "LOGICAL_OR", "LOGICAL_OR.far_elements"),
    ("far", "NOT_EQUAL", "NOT_EQUAL.far_elements"),
    ("far", "PACK", "PACK.far_elements"),
    ("far", "PAD_V2", "PAD_V2.far_elements"),
    ("far", "QUANTIZE", "QUANTIZE.far_elements"),
    ("far", "SELECT", "SELECT.far_elements"),
    ("far", "STRIDED_SLICE", "STRIDED_SLICE.far_elements"),
)  # fmt: skip
"""Mistake, operation, and the relations that detect it, as `operation.relation`."""

_OF_300 = (
    "ADD ARGMAX ARGMIN AXIS_ALIGNED_BBOX_TRANSFORM BATCH_MATMUL BATCH_TO_SPACE_ND CHANNEL_SHUFFLE CONCATENATION "
    "CONV_2D DEPTHWISE_CONV_2D DEPTH_TO_SPACE DIV EQUAL FULLY_CONNECTED GATHER GROUPED_CONV_2D HASHTABLE_LOOKUP "
    "HEATMAP_MAX_KEYPOINT INSTANCE_NORMALIZATION L2_NORMALIZATION L2_POOL_2D LESS LOCAL_RESPONSE_NORMALIZATION "
    "LOG_SOFTMAX MAXIMUM MAX_POOL_2D MEAN MIRROR_PAD MUL PACK PAD PAD_V2 POW PRELU REDUCE_MAX REDUCE_MIN REDUCE_PROD "
    "RESIZE_BILINEAR RESIZE_NEAREST_NEIGHBOR REVERSE ROI_ALIGN ROI_POOLING SLICE SOFTMAX SPACE_TO_BATCH_ND "
    "SPACE_TO_DEPTH SPLIT STRIDED_SLICE SUB TILE TOPK_V2 TRANSPOSE"
)
"""Operations with vectors of an axis that eight bits cannot count."""

_INTEGERS_OF_300 = (
    "ADD ARGMAX ARGMIN AVERAGE_POOL_2D AXIS_ALIGNED_BBOX_TRANSFORM BATCH_MATMUL BATCH_TO_SPACE_ND CHANNEL_SHUFFLE "
    "CONCATENATION CONV_2D DEPTHWISE_CONV_2D DEPTH_TO_SPACE DEQUANTIZE DIV EQUAL FULLY_CONNECTED GATHER GREATER "
    "GREATER_EQUAL GROUPED_CONV_2D HEATMAP_MAX_KEYPOINT L2_NORMALIZATION LESS LESS_EQUAL MAXIMUM MAX_POOL_2D MEAN "
    "MINIMUM MIRROR_PAD MUL NOT_EQUAL PACK PAD PAD_V2 PRELU REDUCE_ALL REDUCE_ANY REDUCE_MAX REDUCE_MIN "
    "RESIZE_BILINEAR RESIZE_NEAREST_NEIGHBOR REVERSE ROI_ALIGN ROI_POOLING SLICE SOFTMAX SPACE_TO_BATCH_ND "
    "SPACE_TO_DEPTH SPLIT STRIDED_SLICE SUB TILE TRANSPOSE"
)
"""Operations with such vectors of quantised types, int32 or booleans."""
_INTEGERS = "values[operation.inputs[0]].dtype.kind != 'f'"

_GRAPH_OPERATIONS = (("short_tail", "IF", "IF.branch"), ("short_tail", "WHILE", "WHILE.unrolled"))
"""The same for operations that execute graphs."""

_ALWAYS = "True"
_EXECUTIONS = (
    ("nchw", "AVERAGE_POOL_2D", "nchw_average_pool_2d", _ALWAYS),
    ("nchw", "CONV_2D", "nchw_conv_2d", _ALWAYS),
    ("second_batch", "DEPTHWISE_CONV_2D", "batches_depthwise_conv_2d", _ALWAYS),
    ("second_batch", "FULLY_CONNECTED", "batches_fully_connected", _ALWAYS),
    ("short_tail", "TRANSPOSE", "open_shapes_transpose", "0 in operands[operation.outputs[0]].dimensions"),
    ("tail", "CONV_2D", "open_shapes_conv_2d", "0 in operands[operation.outputs[0]].dimensions"),
    ("signed", "MAXIMUM", "unsigned_twin_maximum", _ALWAYS),
    ("signed", "DEPTHWISE_CONV_2D", "unsigned_twin_depthwise_conv_2d", _ALWAYS),
    ("tail", "ADD", "constants_as_inputs_add", "operation.inputs[1] not in self._constants"),
    ("tail", "CONV_2D", "constants_as_inputs_conv_2d", "operation.inputs[1] not in self._constants"),
    ("coarse", "CONV_2D", "relaxed_conv_2d", "self._relaxed"),
    ("coarse", "TANH", "relaxed_tanh", "self._relaxed"),
)
"""Mistake, operation, the relation that detects it, and in which executions it is made."""

_BREAKS = {
    "open_shapes": "NNHAL-SHAPE-002",
    "unsigned_twin": "NNHAL-EXECUTE-017",
    "relaxed": "NNHAL-ACCURACY-002",
}
_WHEN = {
    "open_shapes": "with open output shapes",
    "constants_as_inputs": "with filters or second operands that are model inputs",
    "relaxed": "in relaxed models",
}


def _edit(function: str, call: str, mistake: str, operation: str, condition: str = _ALWAYS) -> SourceEdit:
    arguments = "given" if call is _GRAPHS else "inputs"
    is_it = f"operation.type == {int(OperationType[operation])}"
    replacement = "\n".join(
        (
            call,
            f"if {is_it} and {condition}:" if condition is not _ALWAYS else f"if {is_it}:",
            "    from npu_conformance.faults import large_tensors",
            f"    results = large_tensors.{mistake}({arguments}, results)",
        )
    )
    return SourceEdit(_EXECUTOR, f"_GraphExecutor.{function}", call, replacement)


_KNOWS_RELAXED = SourceEdit(
    _EXECUTOR,
    "_GraphExecutor.__init__",
    "self._graph = graph",
    "self._graph = graph\nself._relaxed = model.relax_computation_float32_to_float16",
)


def _fault(mistake: str, operation: str, relations: str, edit: SourceEdit) -> Fault:
    return fault(
        f"{mistake}-of-{operation.lower()}".replace("_", "-"),
        f"{operation}: {_says(mistake)}",
        f"NNHAL-OPERATION-{operation}-RESULT",
        " ".join(f"{relation}_*" for relation in relations.split()),
        Edited((edit,)),
        area="vts.relations",
    )


def _wrapping(operation: str) -> Fault:
    """Vectors show it, not relations: both sides of a relation may be wrong alike."""
    return _wrapped("wrapped", operation, operation, f"{operation}.float32_*_of_300", _ALWAYS)


def _wrapping_integers(operation: str) -> Fault:
    """Kernels for integers are often code of their own."""
    what = f"{operation} of anything but floats"
    return _wrapped("wrapped-integers", operation, what, f"{operation}.*_of_300", _INTEGERS)


def _wrapped(name: str, operation: str, what: str, cases: str, condition: str) -> Fault:
    return fault(
        f"{name}-of-{operation.lower()}".replace("_", "-"),
        f"{what}: {_says('wrapped')}",
        f"NNHAL-OPERATION-{operation}-RESULT",
        cases,
        Edited((_edit("_execute", _CALL, "wrapped", operation, condition),)),
        area="vts.generated",
    )


def _says(mistake: str) -> str:
    return inspect.getdoc(getattr(large_tensors, mistake)) or ""


def _execution_fault(mistake: str, operation: str, relation: str, condition: str) -> Fault:
    kind = next((one for one in (*_BREAKS, *_WHEN) if relation.startswith(one)), "")
    edit = _edit("_execute", _CALL, mistake, operation, condition)
    when = f" {_WHEN[kind]}" if kind in _WHEN else ""
    return fault(
        relation.replace("_", "-") + "-differs",
        f"{operation}{when}: {_says(mistake)}",
        _BREAKS.get(kind, f"NNHAL-OPERATION-{operation}-RESULT"),
        f"{operation}.{relation}_*",
        Edited((edit, _KNOWS_RELAXED) if kind == "relaxed" else (edit,)),
        area="vts.relations",
    )


FAULTS = (
    *(_fault(*row, _edit("_execute", _CALL, *row[:2])) for row in _OPERATIONS),
    *map(_wrapping, _OF_300.split()),
    *map(_wrapping_integers, _INTEGERS_OF_300.split()),
    *(_fault(*row, _edit("_execute_graphs", _GRAPHS, *row[:2])) for row in _GRAPH_OPERATIONS),
    *(_execution_fault(*row) for row in _EXECUTIONS),
)
"""Faults that relations between executions show."""
