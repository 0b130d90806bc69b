"""The apps of one case: they are installed, run in processes of their own, and watched while the clock goes."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

from npu_conformance.harness.judge import checks
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.mlts.lib import clients, timeline
from npu_conformance.mlts.lib.clients import Load
from npu_conformance.mlts.lib.driver import Watch
from npu_conformance.mlts.lib.reports import Plan, Work
from npu_conformance.mlts.lib.supervision import ClientEnd, run_clients, run_here
from npu_conformance.specs.npu.types import PERMISSION, SHELL_UID, Importance

_FIRST_UID = 10_301
_TARGET_SDK = 37
_TICK_SECONDS = 0.005
"""How often a virtual clock is set to what has passed on the wall."""


class NpuApps:
    """Apps under the budget policy, each with a model that needs all of the budget. ends: of those that have run."""

    def __init__(self, context: CaseContext) -> None:
        self.ends: list[ClientEnd] = []
        self._context = context
        self._control = context.present(context.subject.interfaces.manager_control, "manager_control")
        self._models = clients.supported_models(context, 1)
        shell = context.application(SHELL_UID).interfaces.manager
        result = context.present(shell, "manager").shell_command(("set-budget-policy",))
        checks.equal(result.exit_code, 0, "exit code of the shell command set-budget-policy")
        self._visitor = clients.visitor(context, self._models)
        self._install(clients.VISITOR_UID, Importance.FOREGROUND)
        self._watch = Watch(context, self._visitor)
        self._before = time.monotonic()

    def plan(self, number: int, load: Load, **more: Any) -> Plan:
        """Install an app, and return what it does. One that is to be pre-empted is in the background."""
        uid = self._context.case_uid(_FIRST_UID) + number
        self._install(uid, Importance.CACHED if more.get("pre_empted") else Importance.FOREGROUND)
        more = {"work": Work.NPU, "crowd": load.clients, **more}
        return clients.ticketed(self._context, uid, self._models, load, **more)

    def run(self, plans: Sequence[Plan]) -> None:
        """Run the apps, and judge them, the driver, its leaks, and whether another app can have the NPU afterwards."""
        context = self._context
        self._watch.expect_plans(plans)
        patience = clients.patience(context, plans)
        self._before = time.monotonic()
        self.ends = run_clients(plans, patience, observe=self._observe, every=_TICK_SECONDS)
        context.timeline.extend(timeline.spans(self.ends))
        clients.judge_all(context, plans, self.ends)
        if not context.restarts:
            with context.configuration("afterwards"):
                last = self.plan(len(plans), Load(1, 1, 1))
                self._before = time.monotonic()
                clients.judge(run_here(last, self._observe), 1)
        self._watch.judge()

    def _observe(self, rounds: int) -> None:
        self._watch.observe(rounds)
        now = time.monotonic()
        if self._context.manifest.virtual_clock and now - self._before >= _TICK_SECONDS:
            self._control.advance_clock(int((now - self._before) * 1e9))
            self._before = now

    def _install(self, uid: int, importance: Importance) -> None:
        self._control.install_app(uid, f"stress{uid}", True, _TARGET_SDK)
        self._control.grant_permission(uid, PERMISSION, True)
        self._control.set_importance(uid, importance)
