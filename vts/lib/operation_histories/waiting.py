"""Fenced executions that wait: for fences of the client, and for each other."""

from __future__ import annotations

import random

from msgspec.structs import replace

from npu_conformance.harness.judge import checks
from npu_conformance.harness.run.executing import launching
from npu_conformance.specs.neuralnetworks.enums import EXHAUSTED
from npu_conformance.specs.neuralnetworks.hal import Fence
from npu_conformance.specs.versions import Version
from npu_conformance.vts.lib.fenced import BoundModel
from npu_conformance.vts.lib.histories.options import drawn_options
from npu_conformance.vts.lib.histories.things import Root, signal_open
from npu_conformance.vts.lib.load import is_too_much
from npu_conformance.vts.lib.operation_histories.asking import another_example, ask
from npu_conformance.vts.lib.operation_histories.history import History
from npu_conformance.vts.lib.operation_histories.things import Ask, Bound, Pending

_MOST = 4
"""That wait at once."""
_WAITS = 2
"""After so many calls of a case that have waited for a fence, fences are signalled before."""


def ready(history: History) -> list[Bound]:
    """The reusable executions that can be run."""
    return [one for one in history.bound if not one.is_busy and history.is_free(one.ask)]


def launch(history: History, chance: random.Random) -> None:
    """Launch an execution, of a model or a reusable one, that waits for a fence of the client, at last."""
    if history.version < Version.V1_3 or len(history.pending) >= _MOST:
        return
    said = [one for one in ready(history) if not one.ask.hides_shapes]
    bound = chance.choice(said) if said and chance.random() < 0.3 else None
    asked = bound.ask if bound is not None else ask(history, history.any_model(chance), chance)
    if asked is None:
        return
    if bound is not None:
        another_example(history, asked, chance)
    before = [one for one in history.pending if one.launched.fence is not None]
    before = chance.sample(before, min(len(before), chance.randrange(2)))
    own = [] if before and chance.random() < 0.5 else [Root(history.context.fence())]
    history.roots += own
    _launch(history, asked, bound, before, own, chance)


def _launch(
    history: History, asked: Ask, bound: Bound | None, before: list[Pending], own: list[Root], chance: random.Random
) -> None:
    """before: executions for which it waits. own: fences of the client for which nothing else has waited."""
    roots = [*own, *(root for one in before for root in one.roots)]
    fences: list[Fence | None] = [*(root.fence for root in own), *(one.launched.fence for one in before)]
    chance.shuffle(fences)
    if history.subject.waits >= _WAITS:
        signal_open(roots)
    options = drawn_options(history.version, asked.living.known, chance)
    options = options if bound is None else replace(options, measure=bound.options.measure)
    form = chance.choice(launching.forms(history.version))
    what = f"{'reusable ' if bound else ''}{form} with {len(fences)} fences of {asked}"
    history.say(what)
    launched = launching.launch(
        history.context,
        asked.living.prepared_model if bound is None else BoundModel(bound.execution),
        asked.request,
        tuple(fences),
        launching.fenced_options(options, form),
        settle=lambda: signal_open(roots),
        held_by=None if own else roots[0].fence,
    )
    if launched.status in EXHAUSTED or (history.under_way and is_too_much(history.context, launched.status)):
        history.leave_outputs(asked)
        if any(root.is_settled for root in roots):  # the call took so long that others need wait no longer
            settle(history, chance)
        return
    history.pending.append(Pending(asked, launched, roots, options.measure, bound))
    if bound is not None:
        bound.is_busy = True
    if not launched.is_waiting or launched.fence is None:
        history.subject.waits += 1
        settle(history, chance)


def settle(history: History, chance: random.Random) -> None:
    """Signal the fences of the client in any order, and see every execution end.

    Inputs may get the data of another example before: nobody may have read them yet.
    """
    for pending in history.pending:
        if not any(root.is_settled for root in pending.roots) and not pending.ask.buffers and chance.random() < 0.8:
            another_example(history, pending.ask, chance)
    for root in chance.sample(history.roots, len(history.roots)):
        if not root.is_settled:
            root.signal()
    history.roots = []
    for pending in list(history.pending):
        execution = launching.execution_of(history.context, pending.launched, measured=pending.is_measured)
        history.pending.remove(pending)
        if pending.bound is not None:
            pending.bound.is_busy = False
        with checks.about("NNHAL-FENCED-012", "NNHAL-FENCED-005"):
            history.judge(pending.ask, execution, "fenced", measured=pending.is_measured)
