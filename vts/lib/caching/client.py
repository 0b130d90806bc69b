"""An app that caches chains of additions, and what it asks of every answer."""

from __future__ import annotations

import random
from collections.abc import Iterator

from npu_conformance.harness.judge import checks
from npu_conformance.harness.judge.verdicts import NotApplicable, NotSupported
from npu_conformance.harness.run.caching import TOKEN, Cache, CacheClient, Handles, outcome
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.harness.run.preparation import Preparation, needs_room
from npu_conformance.harness.subject.files import CacheFile
from npu_conformance.specs.neuralnetworks.enums import ErrorStatus
from npu_conformance.vts.lib import addition
from npu_conformance.vts.lib.caching.chains import Chain

NONE, GENERAL, INVALID = ErrorStatus.NONE, ErrorStatus.GENERAL_FAILURE, ErrorStatus.INVALID_ARGUMENT
Statuses = frozenset[ErrorStatus]
REJECTED: Statuses = frozenset({GENERAL, INVALID})
ONLY_GENERAL: Statuses = frozenset({GENERAL})
OTHER_TOKEN = bytes([TOKEN[0] + 1]) + TOKEN[1:]
_LATE_SECONDS, _GLANCE_SECONDS, _MOST_TRIES = 0.2, 0.01, 20


class Client(CacheClient):
    """An app that caches chains of additions, and knows what they compute."""

    def prepared_right(self, chain: Chain, preparation: Preparation, what: str) -> None:
        """The preparation gave a model that computes the chain. NotSupported as of `needs_room`."""
        needs_room(preparation)
        checks.status(outcome(preparation), {NONE}, what)
        if preparation.prepared_model is None:
            checks.fail(what, "a prepared model", "null")
        memory = None if self._application is None else self._application.memory
        chain.check(self.context, preparation.prepared_model, f"the model of {what}", memory)

    def right_or_rejected(self, chain: Chain, preparation: Preparation, what: str) -> None:
        """The preparation was rejected, or gave a model that computes the chain."""
        if outcome(preparation) not in REJECTED:
            self.prepared_right(chain, preparation, what)

    def saved(self, chain: Chain, token: bytes = TOKEN) -> Cache:
        """A cache from which the chain can be restored. NotSupported for no such chain, NotApplicable for no cache."""
        cache = self.cache()
        before = cache.contents()
        preparation = self.save(chain.model(), cache.handles(), token)
        if outcome(preparation) != NONE and not all(self.context.supported_operations(chain.model())):
            raise NotSupported(f"a model of {chain.length} additions, one on the other, is not supported")
        self.prepared_right(chain, preparation, "prepareModel with cache files")
        self._may_restore(chain, cache, token, before)
        return cache

    def goes_by_message(self, file: CacheFile) -> bool:
        """True where the device has to ask the harness for what is in the file."""
        for transport in self.files.transports:
            try:
                self.files.close(self.files.open(file, transport=transport))
            except NotApplicable:
                continue
            return transport == "message"
        return False

    def must_restore(
        self, chain: Chain, cache: Cache, before: list[bytes], token: bytes = TOKEN, *, offset: int = 0
    ) -> None:
        """Restore from files to which a model has just been saved that the device does cache.

        before: what the files held then. offset: where the descriptors stand. NotApplicable as of `require_saved`.
        """
        restored = self.restored(cache.handles(offset=offset), token)
        self.require_saved(restored, cache, before)
        self.prepared_right(chain, restored, "prepareModelFromCache of what was saved")

    def require_saved(self, restored: Preparation, cache: Cache, before: list[bytes]) -> None:
        """NotApplicable where a model was not saved this time: a driver decides each time (NNHAL-CACHE-008).

        One that has written to the files has saved it.
        """
        if outcome(restored) == GENERAL and cache.contents() == before:
            self.context.warn_quality("a model that the device has saved before was not saved this time")
            raise NotApplicable("the device did not save the model this time")

    def _may_restore(self, chain: Chain, cache: Cache, token: bytes, before: list[bytes]) -> None:
        restored = self.restored(cache.handles(), token)
        if outcome(restored) == GENERAL:
            if any(now != then for now, then in zip(cache.contents(), before, strict=True)):
                self.context.warn_quality("the device wrote cache files from which it does not restore the model")
            raise NotApplicable("the device does not cache this model")
        self.prepared_right(chain, restored, "prepareModelFromCache of what was saved")

    def restored(self, handles: Handles, token: bytes) -> Preparation:
        """Restore; a device may still be writing when it has notified: while the files change, it is asked again."""
        restored = self.restore(handles, token)
        for _ in range(_MOST_TRIES):
            if outcome(restored) != GENERAL or not self._changes(handles):
                break
            restored = self.restore(handles, token)
        return restored

    def _changes(self, handles: Handles) -> bool:
        """Wait for files that are still being written."""
        files = [one.file for handle in (*handles.model, *handles.data) for one in handle]
        seconds, before = _LATE_SECONDS * self.context.manifest.time_scale, [file.read() for file in files]
        for _ in range(round(seconds / _GLANCE_SECONDS)):
            if [file.read() for file in files] != before:
                return True
            self.context.subject.wait_until(lambda: False, _GLANCE_SECONDS)
        return False


def client(context: CaseContext) -> Client:
    """A client of a device that caches; NotApplicable where it wants no files."""
    found = Client(context)
    if not found.caches:
        raise NotApplicable("the device wants no cache files: it does not cache")
    return found


def chain_of(context: CaseContext, length: int = 2) -> Chain:
    """A chain with a constant in the first type in which the device supports it. NotSupported where there is none."""
    for one in addition.ADDITIONS:
        chain = Chain(one, length, constant=STEP_OF_CONSTANT)
        if one.since <= context.version and all(context.supported_operations(chain.model())):
            return chain
    raise NotSupported(f"a model of {length} additions, one on the other, with a constant is supported of no type")


STEP_OF_CONSTANT = (0.5, -0.25)


def expect_rejected(preparation: Preparation, statuses: Statuses, what: str) -> None:
    """The preparation failed with one of the statuses, and without a model."""
    checks.status(outcome(preparation), statuses, what)
    checks.that(preparation.prepared_model is None, f"{what}: expected no prepared model, found one")


def seeds(context: CaseContext, count: int = 10) -> Iterator[tuple[str, random.Random]]:
    """Names and generators of the rounds of a security case, as many as in AOSP's VTS."""
    for number in range(count):
        yield f"seed_{number}", random.Random(context.seed + number)
