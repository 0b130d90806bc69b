"""Stored vectors whose inputs and outputs lie in buffers of the device: results are those of shared memory."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from msgspec.structs import replace

from npu_conformance.corpus.wire_model import build_request
from npu_conformance.harness.judge import checks
from npu_conformance.harness.judge.outputs import FILL
from npu_conformance.harness.run.cases import Case, Group
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.harness.run.executing.execution import timing_rules
from npu_conformance.harness.run.executing.executors import execute, executors
from npu_conformance.harness.run.vector_verdicts import Verdicts
from npu_conformance.specs.neuralnetworks.enums import ErrorStatus
from npu_conformance.specs.neuralnetworks.hal import PreparedModel
from npu_conformance.specs.neuralnetworks.types import Request, RequestArgument
from npu_conformance.specs.versions import Version
from npu_conformance.vts.lib.memory_domains.buffered_requests import request_in_buffers
from npu_conformance.vts.lib.preparing import prepared
from npu_conformance.vts.lib.vector_cases import chosen_cases

if TYPE_CHECKING:
    from npu_conformance.corpus.vectors import Vector

_VECTORS = {
    "ADD": ("float32_relu_row", "float16_relu_same"),
    "CONV_2D": ("quant8_wide_heads_stride1x1_nchw_dilation1x2_relu", "float32_wide_same_stride1x1"),
    "SOFTMAX": ("quant8_signed_rank3_beta0_25",),
    "TOPK_V2": ("float32_rank2_some",),
    "SPLIT": ("float32_rank2_axis1",),
    "EMBEDDING_LOOKUP": ("float32_repeated",),
    "EQUAL": ("int32_same",),
    "LSTM": ("float32_cifg_peephole_norm_projection_relu_cell_clip", "omitted_in_request_cifg"),
    "SVDF": ("float32_rank2_relu6_bias_left_out",),
    "TRANSPOSE": ("quant8_order_120",),
    "IF": ("float32_condition_1_constant_same_branch",),
}
"""Several inputs and outputs, each element size, states, booleans, omitted inputs, and a graph in a graph."""


def cases() -> Iterator[Case]:
    """One case for each vector; each executor is a configuration."""
    return chosen_cases(
        "vts.memory_domains",
        _VECTORS,
        _run,
        ("NNHAL-MEMDOMAIN-032", "NNHAL-MEMDOMAIN-022"),
        "With inputs and outputs in buffers of the device, results are those of shared memory.",
        since=Version.V1_3,
        group=Group.MEMORY,
    )


def _run(context: CaseContext, vector: Vector) -> None:
    for executor in executors(context.version):
        with context.configuration(executor):
            _executed(context, vector, prepared(context, vector, unspecified=False), executor)


def _executed(context: CaseContext, vector: Vector, prepared_model: PreparedModel, executor: str) -> None:
    example = vector.examples[0]
    built = build_request(vector, example, context.version)
    inputs, outputs = context.pool(len(built.input_data) or 1), context.pool(built.output_size)
    inputs.write(0, built.input_data)
    buffered = request_in_buffers(context, prepared_model, built, example, inputs, outputs)
    # Twice: inputs keep their content, outputs take a new one. Buffers may come first among the pools.
    for request in (buffered.request, _turned(buffered.request)):
        # Before the execution: an output for which the device declined a buffer is written right into this pool.
        outputs.write(0, bytes([FILL]) * built.output_size)
        execution = execute(context, prepared_model, request, measure=False, executor=executor)
        timing_rules(context, execution, measured=False)
        checks.status(execution.status, {ErrorStatus.NONE}, "execution with buffers of the device")
        buffered.collect()
        Verdicts(context, vector).judge(0, built, outputs.read(0, built.output_size))


def _turned(request: Request) -> Request:
    """The request with its pools in the inverse order."""
    last = len(request.pools) - 1

    def moved(argument: RequestArgument) -> RequestArgument:
        if argument.has_no_value:
            return argument
        return replace(argument, location=replace(argument.location, pool_index=last - argument.location.pool_index))

    return Request(tuple(map(moved, request.inputs)), tuple(map(moved, request.outputs)), request.pools[::-1])
