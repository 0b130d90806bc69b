"""Measures the cost of the NPU Manager's decisions on the virtual clock, its growth with the apps, and their memory."""

from __future__ import annotations

import gc
import random
import time
import tracemalloc
from collections.abc import Iterator
from statistics import quantiles

from benchmarks.figures import Figure
from npu_conformance.reference.clock import VirtualClock
from npu_conformance.reference.manager import service
from npu_conformance.reference.manager.decisions import Record
from npu_conformance.specs.npu.manager import ModelLoadRequestCallback, ModelLoadStatusListener
from npu_conformance.specs.npu.types import PERMISSION, ModelLoadRequest, Policy, PolicyParameters
from npu_conformance.specs.plugin import Caller, Context

_FIRST_UID, _STEPS = 10_000, 4_000
_APPS = (10, 100, 1000, 10_000, 100_000)
_MANY_APPS = 10_000
_GROWTH = 5.0
"""The logarithm of 100,000 is five times that of 10."""


class _NoMemory:
    def map(self, memory: object) -> memoryview:
        raise NotImplementedError


class _Client(ModelLoadRequestCallback):
    def on_can_load_model(self, request: ModelLoadRequest, status: int, listener: ModelLoadStatusListener) -> None:
        pass

    def on_request_unload_model(self, request: ModelLoadRequest, reason: int | None) -> None:
        pass

    def on_model_load_request_complete(self, request: ModelLoadRequest, status: int) -> None:
        pass


class _Device:
    """A manager under the budget policy and many apps, each with a request that is live."""

    def __init__(self, apps: int) -> None:
        self.uid, self.clock, self._random, self._apps = _FIRST_UID, VirtualClock(), random.Random(1), apps
        context = Context(_NoMemory(), lambda: Caller(self.uid, 1), clock=self.clock)
        self.manager, self.control = service.create(context)
        self._client = _Client()
        self.decisions = 0
        for uid in range(_FIRST_UID, _FIRST_UID + apps):
            self.control.install_app(uid, f"com.example.app{uid}", True, 37)
            self.control.grant_permission(uid, PERMISSION, True)
            self.control.set_importance(uid, 100 + uid % 300)
        self.manager.set_policy(Policy.BUDGET, PolicyParameters(8))
        for self.uid in range(_FIRST_UID, _FIRST_UID + apps):
            self.manager.request_can_load_model(ModelLoadRequest(0, self.uid % 3), self._client)
        self.clock.advance(0)
        self.manager.watch = self._count

    def step(self, number: int) -> float:
        """A request, another importance, completed work and a cancellation; the seconds of the request."""
        self.uid = _FIRST_UID + self._random.randrange(self._apps)
        request = ModelLoadRequest(number, number % 3)
        started = time.perf_counter()
        self.manager.request_can_load_model(request, self._client)
        seconds = time.perf_counter() - started
        self.manager.importance_changed(self.uid, self._random.randrange(100, 401))
        self.manager.work_completed(self.uid)
        self.manager.cancel_model_load(request)
        self.clock.advance(0)
        return seconds

    def _count(self, record: Record) -> None:
        self.decisions += 1


def figures() -> Iterator[Figure]:
    """The time of a load decision, decisions a second, the growth of a step's cost, and the memory of an app."""
    yield Figure("p99 of a load decision, 200 apps", _percentile(200) * 1000, "ms", aim=1.0)
    cost = {apps: seconds_a_step(apps) for apps in _APPS}
    yield Figure("load decisions, 1,000 apps", _decisions_a_second(1000), "/s", aim=20_000, at_least=True)
    for apps in _APPS[1:]:
        aim = _GROWTH if apps == _APPS[-1] else None
        yield Figure(f"four events of one in {apps:,} apps", cost[apps] / cost[10], "x", "those in 10", aim)
    yield Figure("memory of an app with a live request", _bytes_an_app(), "bytes", aim=2000)


def _percentile(apps: int) -> float:
    device = _Device(apps)
    return quantiles([device.step(number) for number in range(1, _STEPS)], n=100)[98]


def seconds_a_step(apps: int) -> float:
    """Seconds of processor of one request, importance, completion and cancellation, among so many apps."""
    device = _Device(apps)
    started = time.process_time()
    for number in range(1, _STEPS):
        device.step(number)
    return (time.process_time() - started) / _STEPS


def _decisions_a_second(apps: int) -> float:
    device = _Device(apps)
    started = time.process_time()
    for number in range(1, _STEPS):
        device.step(number)
    return device.decisions / (time.process_time() - started)


def _bytes_an_app() -> float:
    gc.collect()
    tracemalloc.start()
    device = _Device(_MANY_APPS)
    device.control.take_metrics()
    gc.collect()
    size, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return size / _MANY_APPS
