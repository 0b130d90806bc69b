"""Models of extensions that come back from a compilation cache."""

from __future__ import annotations

from npu_conformance.harness.judge.verdicts import NotApplicable
from npu_conformance.harness.run.caching import TOKEN, outcome
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.harness.run.preparation import model_of
from npu_conformance.specs.neuralnetworks.enums import ErrorStatus
from npu_conformance.specs.neuralnetworks.types import Model
from npu_conformance.vts.lib.caching.client import client
from npu_conformance.vts.lib.extensions import models


def restores(context: CaseContext, model: Model, other: Model, given: list[bytes], expected: list[bytes]) -> None:
    """Save a model, prepare another one, restore the first, and see that it computes."""
    caching = client(context)
    cache = caching.cache()
    model_of(caching.save(model, cache.handles()), "prepareModel with cache files")
    if outcome(caching.restored(cache.handles(), TOKEN)) == ErrorStatus.GENERAL_FAILURE:
        raise NotApplicable("the device does not cache this model")
    models.prepared(context, other)
    restored_model = model_of(caching.restored(cache.handles(), TOKEN), "prepareModelFromCache of what was saved")
    models.computes(context, restored_model, given, expected, "a restored model behind another one")
