"""Stored vectors whose models were restored from a cache: whatever a model is made of, the restored one is the same.

Constants lie in three pools of odd sizes when the model is saved. The client forgets them, and restores from the files.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from typing import TYPE_CHECKING

from npu_conformance.corpus.wire_model import BuiltRequest, build_model, build_request
from npu_conformance.harness.judge import checks
from npu_conformance.harness.judge.outputs import FILL
from npu_conformance.harness.judge.verdicts import NotApplicable
from npu_conformance.harness.run.caching import TOKEN, outcome
from npu_conformance.harness.run.cases import Case, Group
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.harness.run.executing.executors import bind, executors
from npu_conformance.harness.run.preparation import model_of
from npu_conformance.harness.run.vector_verdicts import Verdicts
from npu_conformance.harness.subject.pools import Pool
from npu_conformance.specs.neuralnetworks.enums import ErrorStatus
from npu_conformance.specs.neuralnetworks.hal import PreparedModel
from npu_conformance.specs.neuralnetworks.types import Memory, Model, Request, RequestMemoryPool
from npu_conformance.specs.versions import Version
from npu_conformance.vts.lib.caching.client import client
from npu_conformance.vts.lib.constant_pools import PooledConstants
from npu_conformance.vts.lib.memory_domains.buffered_requests import request_in_buffers
from npu_conformance.vts.lib.preparing import prepared
from npu_conformance.vts.lib.vector_cases import chosen_cases

if TYPE_CHECKING:
    from npu_conformance.corpus.vectors import Vector

_VECTORS = {
    "CONV_2D": ("per_channel_scales_spread", "float32_wide_same_stride1x1"),
    "FULLY_CONNECTED": ("quant8_saturates",),
    "LSTM": ("float32_cifg_peephole_norm_projection_relu_cell_clip",),
    "GATHER": ("quant8_rank2_axis1",),
    "SELECT": ("float32_condition_of_every_byte",),
    "TRANSPOSE": ("quant8_order_120",),
    "IF": ("float32_condition_1_constant_same_branch", "no_inputs_then", "no_inputs_else"),
    "WHILE": ("two_results_crossed",),
}
"""Per-channel quantisation, constants of every element size, omitted inputs, axes, and graphs in a graph.

Graphs that differ in their constants alone are both asked for.
"""

_LAYOUT = "three_pools"
_ODD = b"\xa5"
"""Makes the length of a pool odd."""


def cases() -> Iterator[Case]:
    """One case for each vector."""
    return chosen_cases(
        "vts.caching",
        _VECTORS,
        _run,
        ("NNHAL-CACHE-010", "NNHAL-EXECUTE-008"),
        "A model that was restored from a cache computes what it computed before, by each way to execute it.",
        since=Version.V1_2,
        group=Group.EXECUTION,
    )


def _run(context: CaseContext, vector: Vector) -> None:
    pools = _Pools(context)
    prepared(context, vector, constants=PooledConstants(_LAYOUT, pools.create))
    restored = _restored(context, vector, pools)
    built = build_request(vector, vector.examples[0], context.version)
    with (
        closing(context.pool(len(built.input_data) or 1)) as inputs,
        closing(context.pool(built.output_size)) as outputs,
    ):
        inputs.write(0, built.input_data)
        memory = RequestMemoryPool(pool=inputs.memory), RequestMemoryPool(pool=outputs.memory)
        for executor in executors(context.version):
            with context.configuration(executor):
                _executed(context, restored, built, built.request(*memory), outputs, executor)
        if context.version >= Version.V1_3:
            with context.configuration("buffers"), checks.about("NNHAL-MEMDOMAIN-032"):
                _executed_in_buffers(context, restored, built, inputs, outputs)


def _restored(context: CaseContext, vector: Vector, pools: _Pools) -> PreparedModel:
    """The model, saved and restored. NotApplicable where the device does not cache it, as it may (CACHE-008)."""
    caching = client(context)
    cache = caching.cache()
    saved = caching.save(_pooled(context, vector, pools), cache.handles())
    model_of(saved, "prepareModel with cache files")
    # Once it can be restored the cache is complete, and nobody needs the pools any more.
    if outcome(caching.restored(cache.handles(), TOKEN)) == ErrorStatus.GENERAL_FAILURE:
        raise NotApplicable("the device does not cache this model")
    del saved
    pools.close()
    return model_of(caching.restore(cache.handles()), "prepareModelFromCache of what was saved")


def _pooled(context: CaseContext, vector: Vector, pools: _Pools) -> Model:
    return build_model(vector, context.version, create_pool=pools.create, constants=_LAYOUT).model


class _Pools:
    """The pools of a model's constants, which the client gives up once the model is prepared."""

    def __init__(self, context: CaseContext) -> None:
        self._context = context
        self._made: list[Pool] = []

    def create(self, data: bytes) -> Memory:
        """A pool of an odd number of bytes, with the data at its beginning."""
        odd = data + _ODD * (1 + len(data) % 2)
        pool = self._context.pool(len(odd))
        pool.write(0, odd)
        self._made.append(pool)
        return pool.memory

    def close(self) -> None:
        """Overwrite and release them."""
        for pool in self._made:
            pool.write(0, _ODD * pool.memory.size)
            pool.close()


def _executed(
    context: CaseContext,
    prepared_model: PreparedModel,
    built: BuiltRequest,
    request: Request,
    outputs: Pool,
    executor: str,
) -> None:
    outputs.write(0, bytes([FILL]) * built.output_size)
    execution = bind(context, prepared_model, request, executor=executor)()
    checks.status(execution.status, {ErrorStatus.NONE}, "execution of a restored model")
    Verdicts(context, built.vector).judge(0, built, outputs.read(0, built.output_size))


def _executed_in_buffers(
    context: CaseContext, prepared_model: PreparedModel, built: BuiltRequest, inputs: Pool, outputs: Pool
) -> None:
    """A restored model may have roles like any other (NNHAL-MEMDOMAIN-007)."""
    example = built.vector.examples[0]
    buffered = request_in_buffers(context, prepared_model, built, example, inputs, outputs)
    # Before the execution: an output for which the device declined a buffer is written right into this pool.
    outputs.write(0, bytes([FILL]) * built.output_size)
    execution = bind(context, prepared_model, buffered.request, executor=executors(context.version)[0])()
    checks.status(execution.status, {ErrorStatus.NONE}, "execution of a restored model with buffers")
    buffered.collect()
    Verdicts(context, built.vector).judge(0, built, outputs.read(0, built.output_size))
