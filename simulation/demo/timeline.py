"""Writes what happened on a shared NPU as a trace for Perfetto or chrome://tracing: Chrome's JSON array of events.

Each app is a process with three tracks: `model`, on which it waits, loads, has its model, and unloads, `inferences`,
and `NPU`, what the scheduling HAL reported of its work. The manager is a process with the used budget as a counter, and
with the user's acts as instants.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from npu_conformance.simulation.demo import npu_work
from npu_conformance.simulation.demo.npu_work import Span, WorkEvent
from npu_conformance.simulation.demo.reports import AppEvent, Kind
from npu_conformance.specs.npu.types import LoadStatus

_MODEL, _INFERENCES, _NPU = 1, 2, 3
_MANAGER = 1
"""The number of the manager's process in the trace, which no app has."""
_STATES = {
    Kind.ASKS: "asks",
    Kind.LOADED: "loaded",
    Kind.UNLOAD_ASKED: "unloads",
    Kind.UNLOADED: "",
    Kind.MANAGER_LOST: "",
}
"""What an app does after each event; empty where it does nothing with a model."""
_DECISIONS = {
    LoadStatus.CAN_LOAD_NOW: "loads",
    LoadStatus.WAIT_FOR_UNLOAD: "waits for unload",
    LoadStatus.NOT_PRIORITIZED: "not prioritized",
}


def trace(
    apps: Mapping[tuple[str, int], Sequence[AppEvent]],
    moments: Sequence[tuple[int, str]],
    budget: Sequence[tuple[int, int]],
    works: Mapping[str, Sequence[WorkEvent]],
) -> str:
    """The trace as text. apps: events by name and pid. moments: time in ns and text. budget: time in ns and use.

    works: what the scheduling HAL reported, by name.
    """
    events = [_named("process_name", _MANAGER, 0, "NPU Manager")]
    for time_ns, used in budget:
        events.append({"ph": "C", "name": "budget", "pid": _MANAGER, "ts": time_ns / 1000, "args": {"used": used}})
    for time_ns, text in moments:
        events.append({"ph": "i", "name": text, "pid": _MANAGER, "tid": 0, "ts": time_ns / 1000, "s": "g"})
    for (name, pid), happened in apps.items():
        events += [
            _named("process_name", pid, 0, name),
            _named("thread_name", pid, _MODEL, "model"),
            _named("thread_name", pid, _INFERENCES, "inferences"),
            _named("thread_name", pid, _NPU, "NPU"),
        ]
        events += [_complete(span, pid, _MODEL) for span in model_spans(happened)]
        events += [_complete(span, pid, _INFERENCES) for span in _inferences(happened)]
        events += [_complete(span, pid, _NPU) for span in npu_work.spans(works.get(name, ()))]
    return "[\n" + ",\n".join(map(json.dumps, events)) + "\n]\n"


def model_spans(happened: Sequence[AppEvent]) -> list[Span]:
    """The life of an app's model, one span after the other; the last one ends with the app's last event."""
    spans: list[Span] = []
    state, since = "", 0

    def turn(following: str, time_ns: int) -> None:
        nonlocal state, since
        if state:
            spans.append((state, since, time_ns))
        state, since = following, time_ns

    for event in happened:
        following = _state_after(event)
        if following is not None:
            turn(following, event.time_ns)
    if happened:
        turn("", happened[-1].time_ns)
    return spans


def _state_after(event: AppEvent) -> str | None:
    """What the app does from this event on; None: what it did before."""
    if event.kind is Kind.DECISION:
        return next((name for status, name in _DECISIONS.items() if status == event.status), None)
    return _STATES.get(event.kind)


def _inferences(happened: Sequence[AppEvent]) -> list[Span]:
    return [
        (f"inference {event.number}", event.time_ns - event.duration_ns, event.time_ns)
        for event in happened
        if event.kind is Kind.INFERENCE
    ]


def _complete(span: Span, pid: int, track: int) -> dict[str, Any]:
    name, began, ended = span
    return {"ph": "X", "name": name, "pid": pid, "tid": track, "ts": began / 1000, "dur": (ended - began) / 1000}


def _named(what: str, pid: int, track: int, name: str) -> dict[str, Any]:
    return {"ph": "M", "name": what, "pid": pid, "tid": track, "args": {"name": name}}
