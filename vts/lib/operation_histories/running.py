"""Executes a model in one of the ways that end at once."""

from __future__ import annotations

import random

from npu_conformance.harness.run.executing.executors import bind, executors
from npu_conformance.vts.lib.histories.options import drawn_options
from npu_conformance.vts.lib.operation_histories import bursts
from npu_conformance.vts.lib.operation_histories.asking import ask
from npu_conformance.vts.lib.operation_histories.history import History
from npu_conformance.vts.lib.operation_histories.things import Living


def run_model(history: History, living: Living, chance: random.Random) -> None:
    """Execute a model in any way that ends at once."""
    executor = chance.choice(bursts.ways(history, living))
    names_buffers = history.version.is_aidl or executor != "burst"
    may_hide = executor in executors(history.version, finding_shapes=True)
    asked = ask(history, living, chance, with_buffers=names_buffers, may_hide=may_hide)
    if asked is None:
        return
    options = drawn_options(history.version, living.known, chance)
    history.say(f"{executor} execution of {asked}")
    execution = bind(history.context, living.prepared_model, asked.request, options, executor)()
    history.judge(asked, execution, executor, measured=options.measure)
