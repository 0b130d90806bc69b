"""Several caches, several apps: what is restored is what is in the files, whoever saved something else before."""

from __future__ import annotations

from dataclasses import replace

from npu_conformance.harness.judge.verdicts import NotApplicable, NotSupported
from npu_conformance.harness.run.caching import TOKEN, Cache, outcome
from npu_conformance.harness.run.cases import CaseGroup, Group
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.harness.run.preparation import model_of
from npu_conformance.specs.versions import Version
from npu_conformance.vts.lib import addition, near_models
from npu_conformance.vts.lib.caching.chains import Chain
from npu_conformance.vts.lib.caching.client import GENERAL, OTHER_TOKEN, Client, chain_of, client
from npu_conformance.vts.lib.near_models import Sums

cases = CaseGroup("vts.caching", group=Group.EXECUTION)
_THIRD_TOKEN = bytes([TOKEN[0] + 2]) + TOKEN[1:]
_APPS = (10_101, 10_102)


@cases.case("sharing.side_by_side", "NNHAL-CACHE-010", since=Version.V1_2)
def side_by_side(context: CaseContext) -> None:
    """Models in files of their own are each restored as themselves, under their own tokens and under one token."""
    caching, chain = client(context), chain_of(context)
    tokens = {"own_tokens": (TOKEN, OTHER_TOKEN), "one_token": (TOKEN, TOKEN)}
    for name, (first, second) in tokens.items():
        with context.configuration(name):
            chains = (chain, replace(chain, length=7))
            pairs = list(zip(chains, (first, second), strict=True))
            caches = [caching.saved(each, token) for each, token in pairs]
            restored = [
                caching.restore(cache.handles(), token) for cache, (_, token) in zip(caches, pairs, strict=True)
            ]
            for each, preparation in zip(chains, restored, strict=True):
                caching.prepared_right(each, preparation, f"prepareModelFromCache of length {each.length}")


@cases.case("sharing.constants", "NNHAL-CACHE-010", since=Version.V1_2)
def constants(context: CaseContext) -> None:
    """Models that differ in nothing but a constant are each restored as themselves."""
    caching, chain = client(context), chain_of(context)
    chains = (chain, replace(chain, constant=(1.0, 2.0)))
    caches = [caching.saved(each, token) for each, token in zip(chains, (TOKEN, OTHER_TOKEN), strict=True)]
    for each, cache, token in zip(chains, caches, (TOKEN, OTHER_TOKEN), strict=True):
        caching.prepared_right(each, caching.restore(cache.handles(), token), "prepareModelFromCache")


@cases.case("sharing.nearly_alike", "NNHAL-CACHE-010", since=Version.V1_2)
def nearly_alike(context: CaseContext) -> None:
    """Models that differ in a late byte, a far operand, one pool or an order alone are each restored as themselves."""
    caching = client(context)
    for name, one, other in near_models.pairs(addition.supported(context)):
        with context.configuration(name), context.short_lived():
            _are_told_apart(caching, one, other)


def _are_told_apart(caching: Client, one: Sums, other: Sums) -> None:
    context = caching.context  # no model is kept: there may be no room for another one
    caches = [_saved(caching, sums, token) for sums, token in ((one, TOKEN), (other, OTHER_TOKEN))]
    for sums, cache, token in ((one, caches[0], TOKEN), (other, caches[1], OTHER_TOKEN)):
        model = model_of(caching.restored(cache.handles(), token), "prepareModelFromCache")
        sums.check(context, model, "the restored model")
        del model
    # Once more in the files of the first, under a token that neither of them had.
    before = caches[0].contents()
    model = model_of(
        caching.save(other.model(context.filled_pool), caches[0].handles(), _THIRD_TOKEN),
        "prepareModel in files of another model",
    )
    other.check(context, model, "the saved model")
    del model
    restored = caching.restored(caches[0].handles(), _THIRD_TOKEN)
    caching.require_saved(restored, caches[0], before)
    other.check(context, model_of(restored, "prepareModelFromCache"), "the model of files used twice")


def _saved(caching: Client, sums: Sums, token: bytes) -> Cache:
    """A cache of a model. NotSupported, or NotApplicable, where the device does not take it or does not cache it."""
    model, cache = sums.model(caching.context.filled_pool), caching.cache()
    if not all(caching.context.supported_operations(model)):
        raise NotSupported("a model of several additions is not supported")
    sums.check(caching.context, model_of(caching.save(model, cache.handles(), token)), "the saved model")
    if outcome(caching.restored(cache.handles(), token)) == GENERAL:
        raise NotApplicable("the device does not cache this model")
    return cache


@cases.case("sharing.versions", "NNHAL-CACHE-010", since=Version.V1_3)
def versions(context: CaseContext) -> None:
    """A driver that was updated or downgraded restores the right model, or none, from its other version's files.

    This is for subjects that can run as an earlier version of the HAL.
    """
    own, chain = client(context), chain_of(context)
    cache, earlier = own.saved(chain), list(Version)[list(Version).index(context.version) - 1]
    with context.playing(earlier):
        other = Client(context)
        if other.wanted == own.wanted:
            other.right_or_rejected(chain, other.restore(cache.handles()), f"prepareModelFromCache as HAL {earlier}")
        cache_of_earlier = other.saved(chain)
    if other.wanted == own.wanted:
        restored = own.restore(cache_of_earlier.handles())
        own.right_or_rejected(chain, restored, f"prepareModelFromCache of files of HAL {earlier}")


@cases.case("sharing.applications", "NNHAL-CACHE-010", "NNHAL-CACHE-017", since=Version.V1_2)
def applications(context: CaseContext) -> None:
    """Two apps that use the same token each restore their own model.

    Whether an app may restore what another one handed over is not specified: it gets the right model or a rejection.
    """
    apps = [Client(context, context.application(uid)) for uid in _APPS]
    own = client(context)
    chain = chain_of(context)
    chains = (chain, replace(chain, length=7))
    caches = [_alone(app, each) for app, each in zip((own, *apps), (chain, *chains), strict=True)][1:]
    for app, each, cache in zip(apps, chains, caches, strict=True):
        app.prepared_right(each, app.restore(cache.handles()), "prepareModelFromCache of the app's own model")
    apps[1].right_or_rejected(chain, apps[1].restore(caches[0].handles()), "prepareModelFromCache of another app's")


def _alone(app: Client, chain: Chain) -> Cache:
    """A cache of the chain, whose models the device has let go of: it may have room for two."""
    cache = app.saved(chain)
    app.device.get_type()  # takes along that nobody has the models any more
    return cache
