"""Compilation caches: models are saved to files and restored from them, where the device keeps them."""

from __future__ import annotations

import random

from npu_conformance.harness.judge import checks
from npu_conformance.harness.run.caching import outcome
from npu_conformance.harness.run.preparation import PreparationArguments, model_of
from npu_conformance.specs.neuralnetworks.enums import BYTE_SIZE_OF_CACHE_TOKEN, ErrorStatus
from npu_conformance.specs.versions import Version
from npu_conformance.vts.lib.caching.client import Client
from npu_conformance.vts.lib.histories.options import drawn_beside
from npu_conformance.vts.lib.operation_histories.history import MOST, History
from npu_conformance.vts.lib.operation_histories.running import run_model
from npu_conformance.vts.lib.operation_histories.things import Saved

_MOST_SAVED, _RUNS = 3, 2


def save(history: History, chance: random.Random) -> None:
    """Prepare a model with a cache: new files, or those of another model, and under another token."""
    client = _client(history)
    if client is None or len(history.models) >= MOST:
        return
    known, token = history.drawn(chance), chance.randbytes(BYTE_SIZE_OF_CACHE_TOKEN)
    model = history.build(known, chance)
    if len(history.saved) < _MOST_SAVED:
        saved = Saved(known, model, client.cache(), token)
        history.saved.append(saved)
    else:
        saved = chance.choice(history.saved)
        client.restored(saved.cache.handles(), saved.token)  # nothing is written to the files any more
        saved.known, saved.model, saved.token = known, model, token
    beside = PreparationArguments(priority=chance.randrange(3), **drawn_beside(history.version, chance))
    with checks.telling(lambda: str(known)):
        preparation = client.save(model, saved.cache.handles(), token, beside=beside)
        history.say(f"prepare {history.add(known, model_of(preparation), model)} and save it")
    if chance.random() < 0.7:
        _restore(history, client, saved, chance)


def restore(history: History, chance: random.Random) -> None:
    """Prepare a model from a cache, where the driver has kept it."""
    client = _client(history)
    if client is not None and history.saved:
        _restore(history, client, chance.choice(history.saved), chance)


def _client(history: History) -> Client | None:
    if history.version < Version.V1_2:
        return None
    client = Client(history.context)
    return client if client.caches else None


def _restore(history: History, client: Client, saved: Saved, chance: random.Random) -> None:
    """A model that the device has restored before it mostly restores again; `vts.caching` asks for that."""
    ask_for = client.restored if saved.known in history.cached else client.restore
    restored = ask_for(saved.cache.handles(), saved.token)
    allowed = {ErrorStatus.NONE, ErrorStatus.GENERAL_FAILURE}
    with checks.about("NNHAL-CACHE-010"):
        checks.status(outcome(restored), allowed, f"prepareModelFromCache of {saved.known}")
    if restored.prepared_model is None:
        return
    history.cached.add(saved.known)
    living = history.add(saved.known, restored.prepared_model, saved.model)
    history.say(f"restore {living}")
    for _ in range(_RUNS):
        run_model(history, living, chance)
