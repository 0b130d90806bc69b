"""Fenced executions that wait: for fences of the client, and for each other."""

from __future__ import annotations

import random
from collections.abc import Iterable

from msgspec.structs import replace

from npu_conformance.harness.judge import checks
from npu_conformance.harness.run.executing import launching
from npu_conformance.harness.run.executing.launching import Launched
from npu_conformance.specs.neuralnetworks.enums import EXHAUSTED, ErrorStatus, FenceState
from npu_conformance.specs.neuralnetworks.hal import Fence
from npu_conformance.specs.versions import Version
from npu_conformance.vts.lib.addition import Values
from npu_conformance.vts.lib.fenced import BoundModel
from npu_conformance.vts.lib.histories.asking import all_live, any_model, ask, clear, drawn_values, set_activation
from npu_conformance.vts.lib.histories.history import History
from npu_conformance.vts.lib.histories.memory import Place, is_input, rows_of
from npu_conformance.vts.lib.histories.options import drawn_options
from npu_conformance.vts.lib.histories.recipes import Recipe
from npu_conformance.vts.lib.histories.things import Ask, Bound, Held, Pending, Root, signal_open
from npu_conformance.vts.lib.load import is_too_much

_MOST = 8
"""That wait at once."""
_WAITS = 3
"""After so many calls that have waited for a fence, fences are signalled before."""


def _is_free(history: History, bound: Bound) -> bool:
    """True where a reusable execution can be run: nothing that it touches waits, its buffers live and are filled."""
    arguments = (*bound.ask.inputs, *bound.ask.outputs)
    if not all_live(history, bound.ask) or any(one in history.busy for one in arguments if isinstance(one, Held)):
        return False
    inputs = zip(bound.ask.inputs, bound.ask.rows, strict=True)
    if any(not _is_input(one, rows, bound.ask.columns) for one, rows in inputs if isinstance(one, Held)):
        return False
    return not bound.is_busy and not any(one in history.memories.busy for one in bound.ask.places)


def ready(history: History) -> list[Bound]:
    """The reusable executions that can be run."""
    return [one for one in history.bound if _is_free(history, one)]


def ready_sometimes(history: History, chance: random.Random) -> Bound | None:
    """A reusable execution that can be run, sometimes."""
    found = ready(history)
    return chance.choice(found) if found and chance.random() < 0.4 else None


def _is_input(held: Held, rows: int, columns: int) -> bool:
    """True for a buffer of this shape with content that can be added to again."""
    is_filled = held.values is not None and is_input(held.values) and rows_of(held.values) == rows
    return is_filled and held.columns == columns


def is_droppable(history: History, one: object) -> bool:
    """True for what no execution that waits needs."""
    needed = [(pending.ask.living, pending.bound) for pending in history.pending]
    return one not in history.busy and not any(one is other for pair in needed for other in pair)


def refill(history: History, asked: Ask, chance: random.Random) -> None:
    """Give the inputs of an execution new values, mostly, and overwrite its outputs."""
    memories, chosen = history.memories, asked.living.recipe.chosen
    for place, rows in zip(asked.inputs, asked.rows, strict=True):
        if isinstance(place, Place) and (place not in memories.known(rows, chosen) or chance.random() < 0.7):
            memories.write(place, drawn_values(chance, rows), chosen)
    if asked.activation is not None:
        set_activation(history, asked.activation, chance.random() < 0.5)
    clear(history, asked.outputs)


def launch(history: History, chance: random.Random) -> None:
    """Launch an execution that waits for a fence of the client, at last."""
    if history.version < Version.V1_3 or len(history.pending) >= _MOST:
        return
    before = [one for one in history.pending if one.launched.fence is not None]
    before = chance.sample(before, chance.randint(0, min(2, len(before))))
    before = _with_a_buffer(history, before, chance)
    bound = ready_sometimes(history, chance)
    asked = bound.ask if bound is not None else _reading_earlier_results(history, before, chance)
    if asked is None:
        return
    if bound is not None:
        refill(history, asked, chance)
    own = _roots(history, chance) if not before or chance.random() < 0.5 else []
    roots = [*own, *(root for one in before for root in one.roots if root not in own)]
    fences: list[Fence | None] = [*(root.fence for root in own), *(one.launched.fence for one in before)]
    if chance.random() < 0.2:
        fences.append(history.context.fence())
        fences[-1].signal()  # type: ignore[union-attr]
    chance.shuffle(fences)
    _launch(history, asked, bound, fences, own, roots, chance)


def _launch(
    history: History,
    asked: Ask,
    bound: Bound | None,
    fences: list[Fence | None],
    own: list[Root],
    roots: list[Root],
    chance: random.Random,
) -> None:
    if history.known.waits >= _WAITS:
        signal_open(roots)
    drawn = drawn_options(history.version, asked.living.recipe, chance)
    measured = bound.options.measure if bound is not None else drawn.measure
    form = chance.choice(launching.forms(history.version))
    model = BoundModel(bound.execution) if bound is not None else asked.living.prepared_model
    what = f"{'reusable ' if bound else ''}{form} with {len(fences)} fences of {asked}"
    history.say(what)
    launched = launching.launch(
        history.context,
        model,
        asked.request,
        tuple(fences),
        launching.fenced_options(replace(drawn, measure=measured), form),
        settle=lambda: signal_open(roots),
        held_by=None if own else roots[0].fence,
    )
    is_busy = bool(history.pending or history.launched)
    if launched.status in EXHAUSTED or (is_busy and is_too_much(history.context, launched.status)):
        history.leave_outputs(asked)
        finish_early(history, roots, chance)
        return
    checks.status(launched.status, {ErrorStatus.NONE}, what)
    late, turns = _late(history, asked, chance), asked.activation is not None and chance.random() < 0.5
    history.pending.append(Pending(asked, launched, roots, late, turns, measured, bound))
    if bound is not None:
        bound.is_busy = True
    _mark(history)
    if not launched.is_waiting or launched.fence is None:
        history.known.waits += 1
        finish(history, chance, may_fail=False)
    elif chance.random() < 0.3:
        _asked_too_early(launched)


@checks.about("NNHAL-FENCED-013")
def _asked_too_early(launched: Launched) -> None:
    """Ask how an execution that waits has ended."""
    assert launched.callback is not None
    status = launched.callback.get_execution_info().status
    checks.status(status, {ErrorStatus.GENERAL_FAILURE}, "getExecutionInfo while a wait fence is open")


def _late(history: History, asked: Ask, chance: random.Random) -> dict[Place, Values]:
    """Inputs that the client writes once more before it signals: nobody may have read them yet."""
    produced = {one for pending in history.pending for one in pending.ask.outputs if isinstance(one, Place)}
    return {
        place: drawn_values(chance, rows)
        for place, rows in zip(asked.inputs, asked.rows, strict=True)
        if isinstance(place, Place) and place not in produced and chance.random() < 0.7
    }


def _with_a_buffer(history: History, before: list[Pending], chance: random.Random) -> list[Pending]:
    """Mostly one more to wait for that writes to a buffer, which has content already and can be read then."""
    more = [
        one
        for one in history.pending
        if one.launched.fence is not None and one not in before
        if any(isinstance(held, Held) and held.values is not None for held in one.ask.outputs)
    ]
    return [*before, chance.choice(more)] if more and chance.random() < 0.7 else before


def _reading_earlier_results(history: History, before: list[Pending], chance: random.Random) -> Ask | None:
    """An execution that reads what one before it writes, where its sum is not too large."""
    coming = {
        place: (one.ask.living.recipe, values)
        for one in before
        for place, values in zip(one.ask.outputs, _coming(history, one), strict=True)
        if values is not None and is_input(values)
    }
    in_buffers = [
        (living, index, held)
        for living in history.models
        for held, (_, values) in coming.items()
        if isinstance(held, Held) and _has_as_many(held, values)  # a driver may look for content at the launch
        if all(held.columns == one.ask.columns for one in before if held in one.ask.outputs)
        for index in range(living.recipe.inputs)
        if (living.number, "input", index) in held.roles
    ]
    if in_buffers and chance.random() < 0.7:
        living, index, held = chance.choice(in_buffers)
        return ask(history, living, chance, given={index: held}, rows=rows_of(coming[held][1]))
    living = any_model(history, chance)
    places = [one for one, written in coming.items() if isinstance(one, Place) and _takes(living.recipe, *written)]
    if not places:
        return ask(history, living, chance)
    place = chance.choice(places)
    given = {chance.randrange(living.recipe.inputs): place}
    return ask(history, living, chance, given=given, rows=rows_of(coming[place][1]))


def _has_as_many(held: Held, values: Values) -> bool:
    """True for a buffer that has content of as many rows already."""
    return held.values is not None and len(held.values) == len(values)


def _takes(recipe: Recipe, of: Recipe, values: Values) -> bool:
    """True for a model that can add to what another one gives."""
    return recipe.chosen == of.chosen and (recipe.is_open or rows_of(values) == 1)


def _coming(history: History, pending: Pending) -> list[Values | None]:
    """What an execution that waits is going to give."""
    known: dict[Place | Held, Values | None] = dict((*history.memories.values.items(), *pending.late.items()))
    for one in history.pending:
        if one is pending:
            break
        if any(place in one.ask.outputs for place in pending.ask.inputs):
            known |= zip(one.ask.outputs, _coming(history, one), strict=True)
    inputs = [known.get(one, one.values if isinstance(one, Held) else None) for one in pending.ask.inputs]
    if any(one is None for one in inputs):
        return [None] * len(pending.ask.outputs)
    activation = pending.ask.activation
    is_clipped = activation is not None and activation.is_relu != pending.turns_activation
    return list(pending.ask.living.recipe.expected([one for one in inputs if one is not None], is_clipped=is_clipped))


def _roots(history: History, chance: random.Random) -> list[Root]:
    """One or two fences of the client, new ones or such as others wait for."""
    open_ones = [one for one in history.roots if not one.is_settled]
    if open_ones and chance.random() < 0.4:
        return [chance.choice(open_ones)]
    made = [Root(history.context.fence()) for _ in range(chance.choice((1, 1, 2)))]
    history.roots += made
    return made


def settle(history: History, chance: random.Random) -> None:
    """Signal the fences of the client, or let one fail, in any order, and see every execution end."""
    finish(history, chance, may_fail=True)


def finish_early(history: History, roots: Iterable[Root], chance: random.Random) -> None:
    """See every execution end where a call took so long that fences were signalled for which others wait, too."""
    if any(root.is_settled for root in roots):
        finish(history, chance, may_fail=False)


def finish(history: History, chance: random.Random, *, may_fail: bool) -> None:
    """See every execution end. may_fail: fences of the client may."""
    failed: list[Root] = []
    for root in chance.sample(history.roots, len(history.roots)):
        if root.is_settled:
            continue
        for pending in history.pending:
            if [one for one in pending.roots if not one.is_settled] == [root]:
                _write_late(history, pending)
        if may_fail and chance.random() < 0.2:
            history.say("a fence fails")
            failed.append(root)
            root.is_settled = True
            root.fence.fail()
        else:
            root.signal()
    history.roots = []
    for pending in list(history.pending):
        _end(history, pending, has_failed=any(root in failed for root in pending.roots))
        history.pending.remove(pending)
        _mark(history)


def _write_late(history: History, pending: Pending) -> None:
    for place, values in pending.late.items():
        history.memories.write(place, values, pending.ask.living.recipe.chosen)
    if pending.turns_activation and pending.ask.activation is not None:
        set_activation(history, pending.ask.activation, not pending.ask.activation.is_relu)
        pending.turns_activation = False


def _end(history: History, pending: Pending, *, has_failed: bool) -> None:
    """See one execution end."""
    if pending.bound is not None:
        pending.bound.is_busy = False
    what = f"fenced execution of {pending.ask}"
    if has_failed and pending.launched.fence is not None:
        with checks.about("NNHAL-FENCED-010"):
            state = launching.wait(history.context, pending.launched.fence)
            checks.equal(state, FenceState.ERROR, f"state of the returned fence after a wait fence has failed, {what}")
    outcome = launching.finish(history.context, pending.launched, measured=pending.is_measured)
    if has_failed:
        with checks.about("NNHAL-FENCED-014"):
            checks.that(outcome.status != ErrorStatus.NONE, f"a wait fence has failed, found NONE: {what}")
        history.leave_outputs(pending.ask)  # to keep what buffers held is a warning of vts.memory_domains
        for one in pending.ask.inputs:
            if isinstance(one, Held) and one.values is not None and not _is_written(history, one):
                history.read(one, f"an input of a {what} that failed")
        return
    with checks.about("NNHAL-FENCED-012"):
        checks.status(outcome.status, {ErrorStatus.NONE}, what)
    if all(isinstance(one, Held) or one in history.memories.values for one in pending.ask.inputs):
        with checks.about("NNHAL-FENCED-005"):
            history.take(pending.ask, what)
    else:
        history.forget_outputs(pending.ask)


def _is_written(history: History, held: Held) -> bool:
    """True for a buffer that an execution before, which has failed as well, or behind has written."""
    return any(held in pending.ask.outputs for pending in history.pending)


def _mark(history: History) -> None:
    """Note what waiting executions touch."""
    history.memories.busy = {place for pending in history.pending for place in pending.ask.places}
