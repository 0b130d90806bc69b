"""Compilation caches of a history: saved, saved again in the same files, spoilt and put right, and restored.

A device may cache no model, or not this one; to restore it once and not again is a quality warning.
"""

from __future__ import annotations

import random
from collections.abc import Callable

from npu_conformance.harness.judge import checks
from npu_conformance.harness.run.caching import Handles, outcome
from npu_conformance.harness.run.executing.executors import execute
from npu_conformance.harness.run.preparation import Preparation, PreparationArguments, model_of
from npu_conformance.specs.neuralnetworks.enums import BYTE_SIZE_OF_CACHE_TOKEN, ErrorStatus
from npu_conformance.specs.versions import Version
from npu_conformance.vts.lib.caching.client import Client
from npu_conformance.vts.lib.deadlines import deadline
from npu_conformance.vts.lib.histories.asking import ask
from npu_conformance.vts.lib.histories.history import MOST, History
from npu_conformance.vts.lib.histories.options import drawn_beside
from npu_conformance.vts.lib.histories.recipes import Recipe
from npu_conformance.vts.lib.histories.things import Living, Saved

Restoring = Callable[[Handles, bytes], Preparation]

_MOST_SAVED = 3
_NONE, _GENERAL = ErrorStatus.NONE, ErrorStatus.GENERAL_FAILURE


def save(history: History, chance: random.Random) -> None:
    """Prepare a model with a cache of its own, and restore it, mostly."""
    client = history.cache_client()
    if client is None or len(history.saved) >= _MOST_SAVED:
        return
    likes = history.saved[-1].recipe if history.saved else None
    saved = Saved(_drawn(history, likes, chance), client.cache(), _token(history, chance))
    history.saved.append(saved)
    _save(history, client, saved, chance)
    if chance.random() < 0.7:
        _restore(history, client, saved, chance)


def save_again(history: History, chance: random.Random) -> None:
    """Prepare another model with the files of a cache, under another token, and restore it."""
    client, mine = history.cache_client(), _kept(history)
    if client is None or not mine:
        return
    saved = chance.choice(mine)
    _settle(client, saved)
    saved.recipe, saved.token = _drawn(history, saved.recipe, chance), _token(history, chance)
    _save(history, client, saved, chance)
    _restore(history, client, saved, chance)


def restore(history: History, chance: random.Random) -> None:
    """Prepare a model from a cache, where the driver has kept it."""
    client = history.cache_client()
    if client is not None and history.saved:
        _restore(history, client, chance.choice(history.saved), chance)


def spoil(history: History, chance: random.Random) -> None:
    """Change a bit of a model cache, which is rejected then, and put it right."""
    client, mine = history.cache_client(), [one for one in _kept(history) if one.cache.model]
    if client is None or not mine:
        return
    saved = chance.choice(mine)
    _settle(client, saved)
    file = chance.choice(saved.cache.model)
    content = file.read()
    if not content:
        return
    spoilt = bytearray(content)
    spoilt[chance.randrange(len(content))] ^= 1 << chance.randrange(8)
    history.say(f"spoil {saved}")
    file.write(bytes(spoilt))
    with checks.about("NNHAL-CACHE-015"):
        status = outcome(client.restore(saved.cache.handles(), saved.token))
        checks.status(status, {_GENERAL}, "prepareModelFromCache of a spoilt model cache")
    if chance.random() < 0.5:
        _save(history, client, saved, chance)
    else:
        file.write(content)
    _restore(history, client, saved, chance)


def wrong_token(history: History, chance: random.Random) -> None:
    """Ask for a cache by a token that is nearly its own, or of another cache, and then by its own."""
    client, mine = history.cache_client(), _kept(history)
    if client is None or not mine:
        return
    saved = chance.choice(mine)
    others = [one.token for one in history.saved if one.token != saved.token]
    token = chance.choice([_near(saved.token, chance), *others])
    history.say(f"a wrong token for {saved}")
    with checks.about("NNHAL-CACHE-018"):
        status = outcome(client.restore(saved.cache.handles(), token))
        checks.status(status, {_GENERAL}, "prepareModelFromCache by a wrong token")
    _restore(history, client, saved, chance)


def _kept(history: History) -> list[Saved]:
    """The caches of models that the device does cache."""
    return [one for one in history.saved if one.recipe in history.cached]


def _token(history: History, chance: random.Random) -> bytes:
    """A token that names one model, since two of one token a driver need not tell apart: often nearly another one."""
    known = [one.token for one in history.saved]
    near = [_near(one, chance) for one in known]
    drawn = chance.choice([_with_a_zero(chance), *near])
    return drawn if drawn not in known else _with_a_zero(chance)


def _with_a_zero(chance: random.Random) -> bytes:
    """A token with a byte of zero in its first half, where who takes tokens for text sees their ends."""
    drawn = bytearray(chance.randbytes(BYTE_SIZE_OF_CACHE_TOKEN))
    drawn[chance.randrange(len(drawn) // 2)] = 0
    return bytes(drawn)


def _near(token: bytes, chance: random.Random) -> bytes:
    """A token that differs in one bit, or behind a byte of zero that both have, where there is one."""
    at = chance.randrange(len(token))
    zero = token.find(b"\0", 0, -1)
    if zero >= 0 and chance.random() < 0.5:
        at = chance.randrange(zero + 1, len(token))
    return token[:at] + bytes([token[at] ^ 1 << chance.randrange(8)]) + token[at + 1 :]


def _drawn(history: History, other: Recipe | None, chance: random.Random) -> Recipe:
    """A model; mostly one that differs from another in a constant alone, rather one that has been restored before."""
    alike = [one for one in history.recipes if other is not None and one != other and one.is_like(other)]
    known = [one for one in alike if one in history.cached]
    return chance.choice(known or alike or history.recipes)


def _save(history: History, client: Client, saved: Saved, chance: random.Random) -> None:
    name = chance.choice(("none", "maximum", "hour")) if history.version >= Version.V1_3 else "none"
    with checks.telling(lambda: str(saved.recipe)):
        preparation = client.save(
            history.model(saved.recipe),
            saved.cache.handles(),
            saved.token,
            beside=PreparationArguments(
                deadline_ns=deadline(name, history.version),
                priority=chance.randrange(3),
                preference=chance.randrange(3),
                **drawn_beside(history.version, chance),
            ),
        )
        living = history.add(saved.recipe, model_of(preparation))
    history.say(f"prepare {living} and save it")
    _let_go(history, living)


def _settle(client: Client, saved: Saved) -> None:
    """See that nothing is written to the files any more."""
    client.restored(saved.cache.handles(), saved.token)


def _restore(history: History, client: Client, saved: Saved, chance: random.Random) -> None:
    # Whether files are still being written is of interest where the device is known to write them.
    ask_for: Restoring = client.restored if saved.recipe in history.cached else client.restore
    restored = ask_for(saved.cache.handles(), saved.token)
    with checks.about("NNHAL-CACHE-010"):
        checks.status(outcome(restored), {_NONE, _GENERAL}, f"prepareModelFromCache of {saved}")
    if restored.prepared_model is None:
        if saved.recipe in history.cached:
            history.context.warn_quality("a model that was restored from a cache before is not restored from another")
        return
    history.cached.add(saved.recipe)
    living = history.add(saved.recipe, restored.prepared_model)
    history.say(f"restore {living}")
    _run(history, living, chance)
    _let_go(history, living)


def _let_go(history: History, living: Living) -> None:
    """Let go of a model where there are many."""
    if len(history.models) > MOST:
        history.models.remove(living)


def _run(history: History, living: Living, chance: random.Random) -> None:
    """Execute a model once, in the usual way."""
    asked = ask(history, living, chance, with_buffers=False)
    if asked is not None:
        what = f"execution of {asked}"
        history.say(what)
        execution = execute(history.context, living.prepared_model, asked.request, measure=False)
        history.judge(asked, execution, "synchronous", measured=False, what=what)
