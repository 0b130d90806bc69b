"""Scenarios from a seed: a phone's mix of apps, most of them in the background most of the time."""

from __future__ import annotations

import random

from npu_conformance.specs.npu.scenario import HOUR_MS, AppGroup, Counts, Phase, Pressure, Scenario, Times
from npu_conformance.specs.npu.types import Importance, ModelPriority, ThermalStatus

_MINUTE = 60_000
_IN_USE = 6
"""About how many apps are in the foreground at a time, at any number of apps; chats and cameras ask only then."""
_SHARES = {"llm": 35, "camera": 40, "indexer": 20, "stubborn": 3, "fragile": 2}
"""The share of each kind of app in percent, give or take a quarter."""


def generate(apps: int, seed: int, minutes: int) -> Scenario:
    """A scenario with so many apps, at least one, that lasts so long. A thermal peak comes in the middle."""
    rng = random.Random(seed)
    duration = minutes * _MINUTE
    kinds = {"llm": _llm, "camera": _camera, "indexer": _indexer, "stubborn": _stubborn, "fragile": _fragile}
    counts = _counts(apps, rng)
    return Scenario(
        duration_ms=duration,
        groups=tuple(kinds[name](count, _phases(apps, rng)) for name, count in counts.items() if count),
        pressure=(
            Pressure(at_ms=duration * 4 // 10, thermal=ThermalStatus.SEVERE),
            Pressure(at_ms=duration * 5 // 10, thermal=ThermalStatus.NONE),
        ),
        seed=seed,
    )


def _counts(apps: int, rng: random.Random) -> dict[str, int]:
    """The first kind takes what rounding leaves."""
    weights = {name: share * rng.uniform(0.75, 1.25) for name, share in _SHARES.items()}
    whole = sum(weights.values())
    counts = {name: int(apps * weight / whole) for name, weight in weights.items()}
    counts["llm"] += apps - sum(counts.values())
    return counts


def _phases(apps: int, rng: random.Random) -> tuple[Phase, ...]:
    """An app that a person uses now and then."""
    visit = rng.randint(30_000, 60_000)
    rest = max(visit, min(visit * apps // _IN_USE, 12 * HOUR_MS))
    return (
        Phase(importance=Importance.FOREGROUND, lasts_ms=Times(least=visit // 2, most=visit * 3 // 2)),
        Phase(importance=Importance.SERVICE, lasts_ms=Times(least=10_000, most=30_000)),
        Phase(importance=Importance.CACHED, lasts_ms=Times(least=rest // 2, most=rest * 3 // 2)),
    )


def _llm(count: int, phases: tuple[Phase, ...]) -> AppGroup:
    """A chat has a large model, answers of many inferences one after the other, and pauses to read them."""
    return AppGroup(
        name="llm", count=count, phases=phases, shuffled=True, asks_up_to=Importance.FOREGROUND, size="greater_than_2g",
        start_ms=Times(least=0, most=2 * _MINUTE), load_ms=Times(least=1500, most=4000),
        bursts=Counts(least=1, most=3), inferences=Counts(least=10, most=60), inference_ms=Times(least=20, most=60),
        think_ms=Times(least=2000, most=15_000), again_ms=Times(least=5000, most=30_000),
    )  # fmt: skip


def _camera(count: int, phases: tuple[Phase, ...]) -> AppGroup:
    """A view-finder has a small model and an inference for each frame, 30 per second; it gives a request up soon."""
    return AppGroup(
        name="camera", count=count, phases=phases, shuffled=True, asks_up_to=Importance.FOREGROUND,
        size="less_than_1gb", start_ms=Times(least=0, most=2 * _MINUTE), load_ms=Times(least=50, most=200),
        bursts=Counts(least=1, most=2), inferences=Counts(least=60, most=600), inference_ms=Times(least=4, most=12),
        period_ms=33, job_priority=200, think_ms=Times(least=500, most=5000),
        again_ms=Times(least=2000, most=20_000), patience_ms=Times(least=10_000, most=30_000),
    )  # fmt: skip


def _indexer(count: int, phases: tuple[Phase, ...]) -> AppGroup:
    """An indexer has work that can wait: long bursts, never in the foreground, and slow unloads."""
    return AppGroup(
        name="indexer", count=count, phases=phases[1:], shuffled=True, size="between_1gb_and_2gb",
        model_priority=ModelPriority.BACKGROUND, start_ms=Times(least=0, most=5 * _MINUTE),
        load_ms=Times(least=500, most=2000), inferences=Counts(least=50, most=400),
        inference_ms=Times(least=30, most=80), job_priority=900, again_ms=Times(least=_MINUTE, most=5 * _MINUTE),
        on_unload="late", late_ms=Times(least=200, most=3000),
    )  # fmt: skip


def _stubborn(count: int, phases: tuple[Phase, ...]) -> AppGroup:
    """A stubborn app does not answer when it is asked to unload."""
    return AppGroup(
        name="stubborn", count=count, phases=phases, shuffled=True, start_ms=Times(least=0, most=2 * _MINUTE),
        load_ms=100, inferences=Counts(least=500, most=2000), inference_ms=Times(least=20, most=40),
        think_ms=1000, again_ms=Times(least=_MINUTE, most=3 * _MINUTE), on_unload="never",
    )  # fmt: skip


def _fragile(count: int, phases: tuple[Phase, ...]) -> AppGroup:
    """A fragile app dies when it is asked to unload, and is started anew."""
    return AppGroup(
        name="fragile", count=count, phases=phases, shuffled=True, start_ms=Times(least=0, most=2 * _MINUTE),
        load_ms=100, inferences=Counts(least=100, most=500), inference_ms=Times(least=10, most=30),
        again_ms=Times(least=_MINUTE, most=3 * _MINUTE), on_unload="dies", restart_ms=Times(least=5000, most=_MINUTE),
    )  # fmt: skip
