"""A simulated device: clock, scheduling HAL, manager and apps, put together for one policy and run to the end."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable

from npu_conformance.reference.clock import VirtualClock
from npu_conformance.reference.device.scheduler import Observer
from npu_conformance.reference.hal.scheduling import SchedulingService
from npu_conformance.reference.manager import policies, service
from npu_conformance.simulation import measures
from npu_conformance.simulation.app import SimulatedApp
from npu_conformance.simulation.measures import NS_PER_MS, AppMeter, WorkMeter
from npu_conformance.simulation.report import PolicyReport, Report, Sample
from npu_conformance.simulation.violation import BudgetWatch, Violation
from npu_conformance.specs.errors import Unsupported
from npu_conformance.specs.npu.scenario import Death, PolicyChoice, Pressure, Scenario
from npu_conformance.specs.npu.types import ROOT_UID, EndReason, ModelSize, Policy, PolicyParameters
from npu_conformance.specs.plugin import Caller, Context

SAMPLES = 200
"""How many moments are sampled, evenly over the duration."""
_FIRST_UID = 10_001
_ROOT = Caller(ROOT_UID, 1)


class _NoMemory:
    """A memory map without memory: simulated apps bring none."""

    def map(self, memory: object) -> memoryview:
        """Raise Unsupported."""
        raise Unsupported("shared memory")


def simulate(scenario: Scenario, on_report: Callable[[PolicyReport], None] = lambda report: None) -> Report:
    """Run the scenario under each of its policies. on_report: receives each policy's report as it is done.

    Raises Violation where manager or HAL break a promise; its text begins with the policy.
    """
    reports = []
    for choice in scenario.policies:
        try:
            reports.append(World(scenario, choice).run())
        except Violation as violation:
            violation.args = (f"policy {choice.title}, {violation}",)
            raise
        on_report(reports[-1])
    apps = sum(group.count for group in scenario.groups)
    return Report(scenario.seed, scenario.duration_ms, apps, tuple(reports))


class World:
    """One device under one policy. caller: who makes the present call."""

    def __init__(self, scenario: Scenario, choice: PolicyChoice) -> None:
        self._scenario = scenario
        self._choice = choice
        self.clock = VirtualClock()
        self.meter = AppMeter(self.clock)
        self.caller = _ROOT
        self.hal = SchedulingService(self.clock, scenario.devices, tap=self._tap)
        self._hal_back_ns = 0
        self._manager_back_ns = 0
        self._thermal = 0
        self._memory = 0
        self._parameters = PolicyParameters(choice.max_budget, choice.weights)
        self._begin_manager()
        self._watch = BudgetWatch(self._weights(), self.manager.policy.maximum)
        self.manager.watch = self._watch
        self._end_ns = scenario.duration_ms * NS_PER_MS
        self._samples: list[Sample] = []
        self._used_ns = 0
        self._ceiling_ns = 0
        self._events = 0
        self._arrange()

    def _tap(self, inner: Observer) -> Observer:
        self._work = WorkMeter(self.clock, inner)
        return self._work

    @property
    def hal_away_ns(self) -> int:
        """How long the HAL stays away; 0 while it is there."""
        return max(0, self._hal_back_ns - self.clock.now_ns())

    @property
    def manager_away_ns(self) -> int:
        """How long the manager stays away; 0 while it is there."""
        return max(0, self._manager_back_ns - self.clock.now_ns())

    def _begin_manager(self) -> None:
        """Start a manager, which knows the HAL, the policy and the pressure."""
        context = Context(_NoMemory(), lambda: self.caller, clock=self.clock)
        self.manager, self.control = service.create(context, self.hal)
        self.caller = _ROOT
        self.manager.set_policy(Policy[self._choice.policy.upper()], self._parameters)
        self.control.set_unload_timeout(self._scenario.unload_timeout_ms * NS_PER_MS)
        self._apply_pressure()
        if self.hal_away_ns:
            self.control.kill_hal()

    def _arrange(self) -> None:
        scenario = self._scenario
        for change in scenario.pressure:
            self._post_pressure(change)
        groups = [group for group in scenario.groups for _ in range(group.count)]
        self._apps = [
            SimulatedApp(self, _FIRST_UID + index, group, random.Random(f"{scenario.seed} {index}"))
            for index, group in enumerate(groups)
        ]
        for app in self._apps:
            app.install()
        for death in scenario.deaths:
            self._post_death(death)

    def _weights(self) -> dict[int, int]:
        if self._choice.policy == "budget":
            return policies.budget_of(self._parameters)[0]
        return dict.fromkeys(ModelSize, 1)

    def _post_pressure(self, change: Pressure) -> None:
        def change_pressure() -> None:
            self._thermal = self._thermal if change.thermal is None else change.thermal
            self._memory = self._memory if change.memory is None else change.memory
            self._apply_pressure()

        self.clock.post(change_pressure, change.at_ms * NS_PER_MS)

    def _apply_pressure(self) -> None:
        self.control.set_thermal_pressure(self._thermal)
        self.control.set_memory_pressure(self._memory)

    def _post_death(self, death: Death) -> None:
        def die() -> None:
            match death.who:
                case "app":
                    for app in self._apps:
                        if app.group.name == death.group:
                            app.die()
                case "hal":
                    self._lose_hal(death.back_ms * NS_PER_MS)
                case "manager":
                    self._lose_manager(death.back_ms * NS_PER_MS)

        self.clock.post(die, death.at_ms * NS_PER_MS)

    def _lose_hal(self, away_ns: int) -> None:
        """Let the HAL die: its work fails; the manager keeps its requests, and sends its table when the HAL is back."""
        self._hal_back_ns = max(self._hal_back_ns, self.clock.now_ns() + away_ns)
        for app in self._apps:
            self.hal.end_work(app.uid, EndReason.FAILED)
        self.control.kill_hal()

        def come_back() -> None:
            if not self.hal_away_ns and not self.manager_away_ns:
                self.control.connect_hal(None)

        self.clock.post(come_back, away_ns)

    def _lose_manager(self, away_ns: int) -> None:
        """Let the manager die: all requests are lost, for the next one too; the HAL goes on by its present configs."""
        self._manager_back_ns = max(self._manager_back_ns, self.clock.now_ns() + away_ns)
        self.manager.watch = None
        self.manager.hal.lost()
        self.hal.set_callback(None)
        for app in self._apps:
            self.control.kill_client(app.uid)
        self._watch.forget()
        for app in self._apps:
            app.lose_manager()

        def come_back() -> None:
            if not self.manager_away_ns:
                self._begin_manager()
                self.manager.watch = self._watch
                for app in self._apps:
                    app.enrol()

        self.clock.post(come_back, away_ns)

    def run(self) -> PolicyReport:
        """Run to the end, and report. Raises Violation."""
        self._sample(0)
        while self.clock.now_ns() < self._end_ns:
            self._run_until(len(self._samples) * self._end_ns // SAMPLES)
            self._sample(self.clock.now_ns())
            self._check()
        self._work.finish()
        for app in self._apps:
            app.expect_decision()
            if app.request is not None:
                self.meter.account(app)
        return self._report()

    def _run_until(self, time_ns: int) -> None:
        """Run the actions that fall due, and sum up the budget over time."""
        clock, policy = self.clock, self.manager.policy
        now, used, ceiling = clock.now_ns(), policy.used, policy.ceiling
        while clock.run_next(time_ns):
            self._events += 1
            if clock.now_ns() != now:
                passed, now = clock.now_ns() - now, clock.now_ns()
                self._used_ns += used * passed
                self._ceiling_ns += ceiling * passed
            used, ceiling = policy.used, policy.ceiling
        clock.advance(time_ns - clock.now_ns())
        self._used_ns += used * (time_ns - now)
        self._ceiling_ns += ceiling * (time_ns - now)

    def _check(self) -> None:
        """Check that nobody stays beyond the ceiling, or waits for a budget that nobody has (NPU-POL-021)."""
        ceiling = self.manager.policy.ceiling
        self._watch.check(self.clock.now_ns(), ceiling)
        if ceiling == 0 or self._watch.used or not self.meter.waiting:
            return
        for app in self._apps:
            if app.is_waiting and self._watch.weights[app.size] <= ceiling:
                raise Violation(self.clock.now_ns(), f"uid {app.uid} waits, and nobody has anything of the budget")

    def _sample(self, now_ns: int) -> None:
        policy = self.manager.policy
        self._samples.append(Sample(now_ns / NS_PER_MS, self.meter.waiting, policy.used, policy.ceiling))

    def _report(self) -> PolicyReport:
        names = [group.name for group in self._scenario.groups]
        ignored = Counter(self._watch.ignored)
        return PolicyReport(
            policy=self._choice.title,
            events=self._events,
            decisions=self._watch.decisions,
            work_events=self._work.events,
            budget_used=self._used_ns / self._ceiling_ns if self._ceiling_ns else None,
            device_used=sum(self._work.busy_ns.values()) / (self._end_ns * self._scenario.devices),
            waits=measures.waits(self.meter, names),
            groups=tuple(
                measures.group_report(
                    name,
                    [app for app in self._apps if app.group.name == name],
                    self.meter,
                    self._work,
                    ignored,
                    self._end_ns,
                )
                for name in names
            ),
            wait_curve=measures.curve(self.meter),
            samples=tuple(self._samples),
        )
