"""Wrong handles: they never disturb prepareModel, and prepareModelFromCache rejects them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from npu_conformance.harness.judge import checks
from npu_conformance.harness.run.caching import TOKEN, Cache, Handle, Handles, Opening, outcome
from npu_conformance.harness.run.cases import CaseGroup, Group
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.harness.run.preparation import Preparation
from npu_conformance.harness.subject.files import Access
from npu_conformance.specs.neuralnetworks.enums import MAX_NUMBER_OF_CACHE_FILES
from npu_conformance.specs.neuralnetworks.types import NO_DEADLINE
from npu_conformance.specs.versions import HIDL_LAST, Version
from npu_conformance.vts.lib.caching.chains import Chain
from npu_conformance.vts.lib.caching.client import (
    INVALID,
    ONLY_GENERAL,
    REJECTED,
    Client,
    Statuses,
    chain_of,
    client,
    expect_rejected,
)

cases = CaseGroup("vts.caching", group=Group.EXECUTION)


@cases.case("saving.wrong_number", "NNHAL-CACHE-001", "NNHAL-CACHE-003", "NNHAL-CACHE-011", since=Version.V1_2)
def saving_wrong_number(context: CaseContext) -> None:
    """With a file too many or too few the model is prepared; prepareModelFromCache rejects the same files."""
    caching, chain = Client(context), chain_of(context)
    for name, handles in _wrong_numbers(caching, caching.cache()):
        with context.configuration(name):
            _disturbs_nothing(caching, chain, handles, "NNHAL-CACHE-011")


@cases.case("restoring.wrong_number", "NNHAL-CACHE-011", "NNHAL-CACHE-001", since=Version.V1_2)
def restoring_wrong_number(context: CaseContext) -> None:
    """A model that is in the cache is not restored from a file too many or too few."""
    caching, chain = client(context), chain_of(context)
    cache = caching.saved(chain)
    for name, handles in _wrong_numbers(caching, cache):
        with context.configuration(name):
            _rejected_then_prepared(caching, chain, handles, REJECTED)


@cases.case(
    "saving.wrong_descriptors",
    "NNHAL-CACHE-001",
    "NNHAL-CACHE-003",
    "NNHAL-CACHE-012",
    since=Version.V1_2,
    until=HIDL_LAST,
)
def saving_wrong_descriptors(context: CaseContext) -> None:
    """With two descriptors or none in a handle the model is prepared; restoring from it is rejected."""
    caching, chain = Client(context), chain_of(context)
    for name, handles in _wrong_descriptors(caching, caching.cache()):
        with context.configuration(name):
            _disturbs_nothing(caching, chain, handles, "NNHAL-CACHE-012")


@cases.case("restoring.wrong_descriptors", "NNHAL-CACHE-012", since=Version.V1_2, until=HIDL_LAST)
def restoring_wrong_descriptors(context: CaseContext) -> None:
    """A model that is in the cache is not restored where one handle holds two descriptors or none."""
    caching, chain = client(context), chain_of(context)
    cache = caching.saved(chain)
    for name, handles in _wrong_descriptors(caching, cache):
        with context.configuration(name):
            _rejected_then_prepared(caching, chain, handles, REJECTED)


@cases.case("saving.read_only", "NNHAL-CACHE-001", "NNHAL-CACHE-002", "NNHAL-CACHE-003", since=Version.V1_2)
def saving_read_only(context: CaseContext) -> None:
    """With a file that is open for reading alone the model is prepared, and is not in the cache."""
    caching, chain = client(context), chain_of(context)
    for number in range(len(caching.cache().files)):
        with context.configuration(f"file_{number}"):
            _disturbs_nothing(caching, chain, _one_opened(caching.cache(), number, "read"))


@cases.case("saving.write_only", "NNHAL-CACHE-001", "NNHAL-CACHE-003", since=Version.V1_2)
def saving_write_only(context: CaseContext) -> None:
    """With a file that is open for writing alone the model is prepared, whether or not it is saved."""
    caching, chain = client(context), chain_of(context)
    for number in range(len(caching.cache().files)):
        with context.configuration(f"file_{number}"):
            cache = caching.cache()
            preparation = caching.save(chain.model(), _one_opened(cache, number, "write"))
            caching.prepared_right(chain, preparation, "prepareModel with a write-only cache file")
            caching.right_or_rejected(chain, caching.restore(cache.handles()), "prepareModelFromCache")


@cases.case("restoring.write_only", "NNHAL-CACHE-013", since=Version.V1_2, until=HIDL_LAST)
def restoring_write_only_hidl(context: CaseContext) -> None:
    """In HIDL a file that is open for writing alone is rejected with GENERAL_FAILURE."""
    _restoring_write_only(context, ONLY_GENERAL)


@cases.case("restoring.write_only_aidl", "NNHAL-CACHE-014", since=Version.FL5)
def restoring_write_only_aidl(context: CaseContext) -> None:
    """In AIDL a file that is open for writing alone is rejected with INVALID_ARGUMENT or GENERAL_FAILURE."""
    _restoring_write_only(context, REJECTED)


@cases.case("restoring.read_only", "NNHAL-CACHE-010", since=Version.V1_2)
def restoring_read_only(context: CaseContext) -> None:
    """A device may reject files that are open for reading alone; else it restores the model."""
    caching, chain = client(context), chain_of(context)
    cache = caching.saved(chain)
    caching.right_or_rejected(chain, caching.restore(cache.handles("read")), "prepareModelFromCache, read-only files")


@cases.case("arguments.token_length", "NNHAL-PREPARE-023", since=Version.FL5)
def token_length(context: CaseContext) -> None:
    """A token that does not have 32 bytes should be rejected with INVALID_ARGUMENT, and never does harm.

    The rule is AOSP's adapter's, and a SHOULD: a device that takes such tokens gets a warning.
    """
    caching, chain = Client(context), chain_of(context)
    for name, token in {"empty": b"", "short": TOKEN[:31], "long": TOKEN + b"\0"}.items():
        for with_files in (False, True):
            with context.configuration(f"{name}.{'files' if with_files else 'no_files'}"):
                cache = caching.cache() if with_files else Cache((), ())
                preparation = caching.save(chain.model(), cache.handles(), token)
                _expect_token_rejected(caching, chain, preparation, "prepareModel")
                _expect_token_rejected(caching, chain, caching.restore(cache.handles(), token), "prepareModelFromCache")


@cases.case("arguments.null_callback", "NNHAL-CACHE-022", "NNHAL-PREPARE-022", since=Version.V1_2)
def null_callback(context: CaseContext) -> None:
    """prepareModelFromCache with a null callback is rejected with INVALID_ARGUMENT, and the device lives on."""
    caching, chain = Client(context), chain_of(context)
    cache = caching.cache()
    caching.save(chain.model(), cache.handles())
    with caching.opened(cache.handles()) as (model_cache, data_cache):
        # A device that does not cache may find that out first.
        allowed = {INVALID} if caching.caches else REJECTED
        checks.raises_status(
            lambda: context.device.prepare_model_from_cache(NO_DEADLINE, model_cache, data_cache, TOKEN, None),
            allowed,
            "prepareModelFromCache with a null callback",
        )
    checks.that(context.is_alive(), "the device is gone after prepareModelFromCache with a null callback")


def _restoring_write_only(context: CaseContext, allowed: Statuses) -> None:
    caching, chain = client(context), chain_of(context)
    cache = caching.saved(chain)
    for number in range(len(cache.files)):
        with context.configuration(f"file_{number}"):
            _rejected_then_prepared(caching, chain, _one_opened(cache, number, "write"), allowed)


def _disturbs_nothing(caching: Client, chain: Chain, handles: Handles, restored: str = "NNHAL-CACHE-002") -> None:
    """restored: the requirement that a model breaks which comes from such files."""
    caching.prepared_right(chain, caching.save(chain.model(), handles), "prepareModel with wrong cache files")
    with checks.about(restored):
        expect_rejected(caching.restore(handles), REJECTED, "prepareModelFromCache with the same wrong files")


def _rejected_then_prepared(caching: Client, chain: Chain, handles: Handles, allowed: Statuses) -> None:
    """As the framework does it: what cannot be restored is prepared, with the same files."""
    expect_rejected(caching.restore(handles), allowed, "prepareModelFromCache with wrong files")
    with checks.about("NNHAL-CACHE-001"):
        caching.prepared_right(chain, caching.save(chain.model(), handles), "prepareModel with the same wrong files")


def _expect_token_rejected(caching: Client, chain: Chain, preparation: Preparation, what: str) -> None:
    if outcome(preparation) == INVALID:
        expect_rejected(preparation, frozenset({INVALID}), f"{what} with a token of the wrong length")
        return
    caching.right_or_rejected(chain, preparation, f"{what} with a token of the wrong length")
    caching.context.warn_quality(f"{what} takes a token of the wrong length")


def _wrong_numbers(caching: Client, cache: Cache) -> Iterator[tuple[str, Handles]]:
    right = cache.handles()
    for kind in ("model", "data"):
        own: tuple[Handle, ...] = getattr(right, kind)
        extra = (Opening(caching.context.cache_file()),)
        if len(own) < MAX_NUMBER_OF_CACHE_FILES:
            yield f"{kind}_one_more", replace(right, **{kind: (*own, extra)})
        if own:
            yield f"{kind}_one_less", replace(right, **{kind: own[:-1]})


def _wrong_descriptors(caching: Client, cache: Cache) -> Iterator[tuple[str, Handles]]:
    right = cache.handles()
    if not caching.caches:
        right = Handles(((Opening(caching.context.cache_file()),),), ())
    for kind in ("model", "data"):
        own: tuple[Handle, ...] = getattr(right, kind)
        for at in sorted({0, len(own) - 1} if own else ()):
            (opening,) = own[at]
            for name, handle in (("none", ()), ("two", (opening, Opening(caching.context.cache_file())))):
                changed = (*own[:at], handle, *own[at + 1 :])
                yield f"{kind}_{at}.{name}", replace(right, **{kind: changed})


def _one_opened(cache: Cache, number: int, access: Access) -> Handles:
    """The right handles, except that one file of all is opened in this way."""
    openings = [(Opening(file, access if at == number else "read_write"),) for at, file in enumerate(cache.files)]
    count = len(cache.model)
    return Handles(tuple(openings[:count]), tuple(openings[count:]))
