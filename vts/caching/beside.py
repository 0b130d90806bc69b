"""Caches beside everything else that a preparation takes: its hints, preference, priority and deadline."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace

from npu_conformance.harness.judge import checks
from npu_conformance.harness.judge.verdicts import NotApplicable, NotSupported
from npu_conformance.harness.run.caching import TOKEN, outcome
from npu_conformance.harness.run.cases import CaseGroup, Group
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.harness.run.preparation import (
    NO_TOKEN,
    PreparationArguments,
    model_of,
    needs_room,
)
from npu_conformance.specs.neuralnetworks.types import Model
from npu_conformance.specs.versions import Version
from npu_conformance.vts.lib import addition
from npu_conformance.vts.lib.caching.client import (
    GENERAL,
    NONE,
    ONLY_GENERAL,
    OTHER_TOKEN,
    Client,
    client,
    expect_rejected,
)
from npu_conformance.vts.lib.deadlines import deadline
from npu_conformance.vts.lib.extensions import models
from npu_conformance.vts.lib.extensions.hints import hint
from npu_conformance.vts.lib.near_models import COPIED, LAYOUTS, POOLED, Sums

cases = CaseGroup("vts.caching", group=Group.EXECUTION)

_CONSTANTS = (((0.5, 1.0),), ((-1.5, 3.0),), ((2.5, -2.0),))
_HINTS, _NOBODY = (hint(1, 0, b"?"), hint(1, 7, b"")), models.mapping(unknown=1)


def _beside(version: Version) -> Iterator[tuple[str, PreparationArguments]]:
    """What a preparation may say beside its cache, and in which no result depends on it."""
    yield "nothing", PreparationArguments()
    yield from ((f"preference_{one}", PreparationArguments(preference=one)) for one in (0, 2))
    if version >= Version.V1_3:
        yield from ((f"priority_{one}", PreparationArguments(priority=one)) for one in (0, 2))
        hour, last = (deadline(name, version) for name in ("hour", "maximum"))
        yield "a_deadline", PreparationArguments(deadline_ns=hour)
        yield "the_last_deadline", PreparationArguments(deadline_ns=last)
        yield "all_of_1_3", PreparationArguments(preference=0, priority=2, deadline_ns=hour)
    if version >= Version.FL8:
        yield "a_config", PreparationArguments(with_config=True)
        hinted = PreparationArguments(with_config=True, hints=_HINTS, extensions=_NOBODY)
        yield "hints", hinted
        yield "a_mapping", PreparationArguments(with_config=True, extensions=_NOBODY)
        yield "all", replace(hinted, preference=2, priority=0, deadline_ns=hour)


@cases.case(
    "saving.beside_others", "NNHAL-CACHE-010", "NNHAL-CACHE-018", "NNHAL-PREPARE-018", "NNHAL-PREPARE-019",
    since=Version.V1_2,
)  # fmt: skip
def beside_others(context: CaseContext) -> None:
    """Whatever else a preparation says, its cache is restored by its token and by no other, and computes the same."""
    caching, chosen = client(context), addition.supported(context)
    for layout in LAYOUTS:
        sums = Sums(chosen, _CONSTANTS, layout)
        for name, arguments in _beside(context.version):
            if layout not in (COPIED, POOLED) and not name.startswith(("nothing", "all")):
                continue
            with context.configuration(f"{layout}.{name}"):
                _saved_and_restored(caching, sums, arguments)


def _saved_and_restored(caching: Client, sums: Sums, arguments: PreparationArguments) -> None:
    context = caching.context
    model = sums.model(context.filled_pool)
    _needs_caching(caching, model)
    cache = caching.cache()
    before = cache.contents()
    what = "prepareModel with cache files beside other arguments"
    saved = caching.save(model, cache.handles(), beside=arguments)
    sums.check(context, model_of(saved, what), "the saved model")
    restored = caching.restored(cache.handles(), TOKEN)
    caching.require_saved(restored, cache, before)
    with checks.about("NNHAL-CACHE-010"):
        what = "prepareModelFromCache of what was saved"
        needs_room(restored)
        checks.status(outcome(restored), {NONE}, what)
        sums.check(context, model_of(restored, what), "the restored model")
    with checks.about("NNHAL-CACHE-018"):
        for token in (NO_TOKEN, OTHER_TOKEN):
            restored = caching.restore(cache.handles(), token)
            expect_rejected(restored, ONLY_GENERAL, "prepareModelFromCache by another token")


def _needs_caching(caching: Client, model: Model) -> None:
    """See that the device caches the model where nothing is said beside it."""
    if not all(caching.context.supported_operations(model)):
        raise NotSupported("a model of several additions is not supported")
    cache = caching.cache()
    model_of(caching.save(model, cache.handles()), "prepareModel with cache files")
    if outcome(caching.restored(cache.handles(), TOKEN)) == GENERAL:
        raise NotApplicable("the device does not cache this model")
