"""Saving: whatever the files are like, the preparation succeeds, and what was saved can be restored."""

from __future__ import annotations

import itertools
from dataclasses import replace

from npu_conformance.corpus import turns, vectors
from npu_conformance.corpus.constant_layouts import COPIED, POOLED
from npu_conformance.corpus.vectors import Vector
from npu_conformance.corpus.wire_model import build_model, build_request
from npu_conformance.harness.judge import checks
from npu_conformance.harness.judge.outputs import judge
from npu_conformance.harness.judge.verdicts import Hung, NotApplicable, NotSupported
from npu_conformance.harness.run.caching import TOKEN, Cache, Handles, outcome
from npu_conformance.harness.run.cases import CaseGroup, Group
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.harness.run.executing.execution import in_pools
from npu_conformance.harness.run.executing.executors import execute
from npu_conformance.harness.run.preparation import PreparationRecorder, model_of
from npu_conformance.specs.neuralnetworks.enums import ExecutionPreference, Priority
from npu_conformance.specs.neuralnetworks.hal import PreparedModel
from npu_conformance.specs.neuralnetworks.types import NO_DEADLINE, PrepareModelConfig
from npu_conformance.specs.versions import Version
from npu_conformance.vts.lib import addition
from npu_conformance.vts.lib.addition import ADDITIONS
from npu_conformance.vts.lib.caching.chains import Chain
from npu_conformance.vts.lib.caching.client import (
    GENERAL,
    NONE,
    OTHER_TOKEN,
    STEP_OF_CONSTANT,
    Client,
    chain_of,
    client,
)
from npu_conformance.vts.lib.caching.large import LAYOUTS, LargeSum

cases = CaseGroup("vts.caching", group=Group.EXECUTION)
_PRIOR = bytes(range(256)) * 256
"""Content that files have before: longer than what is saved of a small model."""

_VECTORS = {
    "float32_dense": ("FULLY_CONNECTED", "float32_rank2_none"),
    "quant8_dense": ("FULLY_CONNECTED", "quant8_rank2_relu6_dyadic"),
    "float32_convolution": ("CONV_2D", "float32_wide_same_stride1x2"),
    "per_channel_convolution": ("CONV_2D", "per_channel_wide_tails_stride2x1_relu1"),
    "float32_loop": ("WHILE", "one_value_from_0_5"),
}
"""Stored models with weights, by the names of their configurations."""

_WITH_OPTIONAL_INPUTS = ("BIDIRECTIONAL_SEQUENCE_RNN", "SVDF", "UNIDIRECTIONAL_SEQUENCE_LSTM")


@cases.case("saving.every_type", "NNHAL-CACHE-010", since=Version.V1_2)
def every_type(context: CaseContext) -> None:
    """A model is saved and restored, in every type that the device adds; both compute the same."""
    caching = client(context)
    for one in (one for one in ADDITIONS if one.since <= context.version):
        with context.configuration(one.operand_type.name.lower()):
            chain = Chain(one, 2, STEP_OF_CONSTANT)
            if not all(context.supported_operations(chain.model())):
                raise NotSupported(f"ADD is not supported of {one.operand_type.name}")
            caching.saved(chain)


@cases.case("saving.large_constants", "NNHAL-CACHE-010", since=Version.V1_2)
def large_constants(context: CaseContext) -> None:
    """A model whose constants take more than 64 KiB, within it and in two pools of one size, is saved and restored."""
    caching, large = client(context), LargeSum(addition.supported(context))
    for layout in LAYOUTS:
        with context.configuration(layout):
            large.saved(caching, layout)


@cases.case("saving.stored_models", "NNHAL-CACHE-010", since=Version.V1_2)
def stored_models(context: CaseContext) -> None:
    """Models with weights, within the model and in pools, give the stored results after they were restored."""
    caching = client(context)
    for (name, stored), layout in itertools.product(_VECTORS.items(), (COPIED, POOLED)):
        vector = vectors.load(*stored)
        if vector.since <= context.version:
            with context.configuration(name if layout == COPIED else f"{name}.{layout}"):
                _stored_model(context, caching, vector, layout)


@cases.case("saving.omitted_inputs", "NNHAL-CACHE-010", "NNHAL-REQUEST-003", since=Version.V1_2)
def omitted_inputs(context: CaseContext) -> None:
    """A restored model takes an optional input that a request leaves out for none, as the saved one does."""
    caching = client(context)
    for operation in _WITH_OPTIONAL_INPUTS:
        for vector in turns.omitted(operation, context.version):
            with context.configuration(operation.lower()):
                _stored_model(context, caching, vector, COPIED)


@cases.case("saving.nonzero_offset", "NNHAL-CACHE-006", since=Version.V1_2)
def nonzero_offset(context: CaseContext) -> None:
    """A model is saved to files whose offset is 2, and restored from descriptors with offset 0 and 1."""
    caching, chain = client(context), chain_of(context)
    caching.saved(chain)
    cache = caching.cache(b"\x01\x02")
    before = cache.contents()
    caching.prepared_right(chain, caching.save(chain.model(), cache.handles(offset=2)), "prepareModel")
    caching.must_restore(chain, cache, before)
    caching.must_restore(chain, cache, before, offset=1)


@cases.case("saving.truncates", "NNHAL-CACHE-005", since=Version.V1_2)
def truncates(context: CaseContext) -> None:
    """The old content of a file is gone when a model has been saved to it, also where it was longer."""
    caching, chain = client(context), chain_of(context)
    caching.saved(chain)
    cache = caching.cache(_PRIOR)
    before = cache.contents()
    caching.prepared_right(chain, caching.save(chain.model(), cache.handles()), "prepareModel with long cache files")
    caching.must_restore(chain, cache, before)
    for number, file in enumerate(cache.files):
        left = file.read()[-64:] == _PRIOR[-64:]
        checks.that(not left, f"cache file {number} ends with what it held before: expected it to be truncated")


@cases.case("saving.over_another_model", "NNHAL-CACHE-005", "NNHAL-CACHE-010", since=Version.V1_2)
def over_another_model(context: CaseContext) -> None:
    """Files that hold a longer model are used again for a shorter one, which is then restored."""
    caching, shorter = client(context), chain_of(context)
    caching.saved(shorter)
    cache = caching.saved(replace(shorter, length=20))
    before = cache.contents()
    preparation = caching.save(shorter.model(), cache.handles(), OTHER_TOKEN)
    caching.prepared_right(shorter, preparation, "prepareModel with used files")
    caching.must_restore(shorter, cache, before, OTHER_TOKEN)


@cases.case("saving.closed_descriptors", "NNHAL-CACHE-007", since=Version.V1_2)
def closed_descriptors(context: CaseContext) -> None:
    """The client closes its descriptors when the preparation has ended: the model executes all the same, twice."""
    caching, chain = client(context), chain_of(context)
    cache = caching.cache()
    preparation = caching.save(chain.model(), cache.handles())
    for _ in range(2):
        caching.prepared_right(chain, preparation, "prepareModel with cache files")
    caching.right_or_rejected(chain, caching.restore(cache.handles()), "prepareModelFromCache")


@cases.case("saving.with_config", "NNHAL-CACHE-010", since=Version.FL8)
def with_config(context: CaseContext) -> None:
    """prepareModelWithConfig saves as prepareModel does."""
    caching, chain = client(context), chain_of(context)
    caching.saved(chain)
    cache = caching.cache()
    before = cache.contents()
    _prepare_with_config(context, caching, chain, cache)
    caching.must_restore(chain, cache, before)


@cases.case("saving.token_ignored", "NNHAL-CACHE-004", since=Version.V1_2)
def token_ignored(context: CaseContext) -> None:
    """Without cache files the token means nothing: two models with the same one are prepared, each as itself."""
    caching = Client(context)
    for token in (bytes(len(TOKEN)), TOKEN, bytes([255]) * len(TOKEN)):
        for length in (2, 5):
            chain = chain_of(context, length)
            preparation = caching.save(chain.model(), Handles((), ()), token)
            caching.prepared_right(chain, preparation, f"prepareModel with a token, but no files, length {length}")


@cases.case("saving.no_room", "NNHAL-CACHE-002", "NNHAL-CACHE-003", "NNHAL-QUERY-021", since=Version.V1_2)
def no_room(context: CaseContext) -> None:
    """Files that cannot be written, as on a full disk, do not disturb the preparation."""
    caching, chain = client(context), chain_of(context)
    for number in range(len(caching.cache().files)):
        with context.configuration(f"file_{number}"):
            cache = caching.cache()
            cache.files[number].stop_growing()
            preparation = caching.save(chain.model(), cache.handles(), transport=_transport(caching))
            caching.prepared_right(chain, preparation, "prepareModel with a cache file that cannot grow")
            restored = caching.restore(cache.handles(), transport=_transport(caching))
            caching.right_or_rejected(chain, restored, "prepareModelFromCache of what could not be saved")


@cases.case("saving.late_deadline", "NNHAL-QOS-015", "NNHAL-CACHE-010", since=Version.V1_3)
def late_deadline(context: CaseContext) -> None:
    """A model that is saved beside a far deadline is restored."""
    caching, chain = client(context), chain_of(context)
    caching.saved(chain)
    cache, far = caching.cache(), 2**62
    before = cache.contents()
    caching.prepared_right(chain, caching.save(chain.model(), cache.handles(), deadline=far), "prepareModel")
    caching.must_restore(chain, cache, before)


def _stored_model(context: CaseContext, caching: Client, vector: Vector, layout: str) -> None:
    create_pool = context.filled_pool if layout != COPIED else None
    model = build_model(vector, context.version, create_pool=create_pool, constants=layout).model
    if not all(context.supported_operations(model)):
        raise NotSupported(f"{vector.operation} is not supported in the types of {vector.name}, or with pools")
    cache = caching.cache()
    what = "prepareModel of a supported model with cache files"
    _judge(context, vector, model_of(caching.save(model, cache.handles()), what))
    restored = caching.restore(cache.handles())
    if outcome(restored) == GENERAL:
        raise NotApplicable("the device does not cache this model, or not yet")
    checks.status(outcome(restored), {NONE}, "prepareModelFromCache of what was saved")
    assert restored.prepared_model is not None
    _judge(context, vector, restored.prepared_model)


def _judge(context: CaseContext, vector: Vector, prepared_model: PreparedModel) -> None:
    for example in vector.examples:
        built = build_request(vector, example, context.version)
        request, outputs = in_pools(context, built)
        execution = execute(context, prepared_model, request, measure=False)
        checks.status(execution.status, {NONE}, "execution")
        judge(context, vector, example, built.read_like(example, outputs.read(0, built.output_size)))


def _prepare_with_config(context: CaseContext, caching: Client, chain: Chain, cache: Cache) -> None:
    recorder = PreparationRecorder()
    with caching.opened(cache.handles()) as (model_cache, data_cache):
        config = PrepareModelConfig(
            ExecutionPreference.FAST_SINGLE_ANSWER, Priority.MEDIUM, NO_DEADLINE, model_cache, data_cache, TOKEN
        )
        context.device.prepare_model_with_config(chain.model(), config, recorder)
        seconds = context.manifest.deadlines.prepare * context.manifest.time_scale
        if not context.subject.wait_until(lambda: bool(recorder.answers), seconds):
            raise Hung(f"prepareModelWithConfig did not notify its callback within {seconds:g} s")
    status, prepared_model = recorder.answers[0]
    checks.status(status, {NONE}, "prepareModelWithConfig with cache files")
    if prepared_model is None:
        checks.fail("prepareModelWithConfig with cache files", "a prepared model", "null")
    chain.check(context, prepared_model, "the model of prepareModelWithConfig")


def _transport(caching: Client) -> str:
    """Sealed files have no path: they go by descriptor, or are kept here."""
    return "descriptor" if "descriptor" in caching.files.transports else "message"
