"""The report of a simulation. Times are in ms; the same scenario always has the same report."""

from __future__ import annotations

from msgspec import Struct


class Waits(Struct, frozen=True):
    """From request to grant, of the requests that were granted. band: importance of the app when it asked."""

    group: str
    band: str
    served: int
    p50_ms: float
    p95_ms: float
    p99_ms: float
    max_ms: float


class GroupReport(Struct, frozen=True):
    """One group of apps under one policy.

    parks, queued: decisions NOT_PRIORITIZED and WAIT_FOR_UNLOAD. never_served: requests that ended without a grant.
    waiting: requests that live without a grant at the end; longest_waiting_ms: the longest of them so far.
    starved_apps: apps that asked and never had a grant. unloads_ignored: not answered in time. preemptions: pauses of
    their work on the device. device_ms: what they had of it.
    fairness: Jain's index of the share of time that each app had its model of the time that it wanted it: 1 for all
    alike, one by the number of apps where one has all; None where nobody had it.
    """

    group: str
    apps: int
    requests: int
    grants: int
    parks: int
    queued: int
    never_served: int
    waiting: int
    longest_waiting_ms: float
    starved_apps: int
    unloads_asked: int
    unloads_answered: int
    unloads_ignored: int
    preemptions: int
    inferences: int
    device_ms: float
    fairness: float | None


class Sample(Struct, frozen=True):
    """A moment: requests without a grant, the budget that is used, and its ceiling (0 and 0 without a budget)."""

    time_ms: float
    waiting: int
    used: int
    ceiling: int


class PolicyReport(Struct, frozen=True):
    """One policy. events: actions of the virtual clock; decisions: of the manager; work_events: starts and ends.

    budget_used: what was used of the ceiling, on average over time; device_used: of the devices' time.
    wait_curve: the waiting time that each whole percentage of granted requests did not exceed, from 0 to 100.
    """

    policy: str
    events: int
    decisions: int
    work_events: int
    budget_used: float | None
    device_used: float
    waits: tuple[Waits, ...]
    groups: tuple[GroupReport, ...]
    wait_curve: tuple[float, ...]
    samples: tuple[Sample, ...]


class Report(Struct, frozen=True):
    """All policies of a scenario."""

    seed: int
    duration_ms: int
    apps: int
    policies: tuple[PolicyReport, ...]
