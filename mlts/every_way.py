"""What a driver holds behind each way of executing, and behind models that it has restored from a cache.

The crash tests infer in one way only, many times. Here each way is taken a few times, with objects of its own:
what a burst, a reusable or a fenced execution needs is gone when the client has let go of it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from npu_conformance.harness.run.cases import CaseGroup, Group
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.specs.versions import Version

if TYPE_CHECKING:
    from npu_conformance.corpus.vectors import Vector

cases = CaseGroup("mlts.every_way", group=Group.EXECUTION)


@cases.case("executions.left_behind", "ML-CRS-016")
def executions_left_behind(context: CaseContext) -> None:
    """Executions in each way, and models restored from a cache, leave nothing behind in the driver."""
    from functools import partial

    from npu_conformance.harness.run.caching import CacheClient
    from npu_conformance.harness.run.executing.executors import executors
    from npu_conformance.mlts.lib import clients
    from npu_conformance.mlts.lib.driver import Watch
    from npu_conformance.mlts.lib.rounds import load_vector

    models = clients.supported_models(context, 1)
    visitor = clients.visitor(context, models)
    vector, watch = load_vector(visitor.models[0]), Watch(context, visitor)
    for executor in executors(context.version):
        watch.judge_repeated(executor, partial(_execute, context, vector, executor))
    if context.version >= Version.V1_2 and CacheClient(context).caches:
        watch.judge_repeated("restored", partial(_restore, context, vector))


def _execute(context: CaseContext, vector: Vector, executor: str) -> None:
    """Prepare, execute once, and let go of everything."""
    from npu_conformance.corpus.wire_model import build_model, build_request
    from npu_conformance.harness.judge import checks
    from npu_conformance.harness.run.executing import executors
    from npu_conformance.harness.run.executing.execution import in_pools
    from npu_conformance.harness.run.preparation import model_of
    from npu_conformance.specs.neuralnetworks.enums import ErrorStatus

    own = CaseContext(context.case, context.subject)
    try:
        prepared_model = model_of(own.prepare(build_model(vector, own.version).model))
        request, _ = in_pools(own, build_request(vector, vector.examples[0], own.version))
        status = executors.execute(own, prepared_model, request, measure=False, executor=executor).status
        checks.status(status, {ErrorStatus.NONE}, f"execution by {executor}")
    finally:
        own.close()


def _restore(context: CaseContext, vector: Vector) -> None:
    """Save a model, restore it, and let go of both."""
    from npu_conformance.corpus.wire_model import build_model
    from npu_conformance.harness.run.caching import CacheClient
    from npu_conformance.harness.run.preparation import model_of

    own = CaseContext(context.case, context.subject)
    try:
        client = CacheClient(own)
        cache = client.cache()
        saved = client.save(build_model(vector, own.version).model, cache.handles(), bytes(32))
        model_of(saved, "prepareModel with cache files")
        client.restore(cache.handles(), bytes(32))
    finally:
        own.close()
