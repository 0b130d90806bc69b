"""The steps of random scenarios about crowds: floods of requests, rights that are away for long, works beside works."""

from __future__ import annotations

from npu_conformance.cts.lib.manager_fixture import ManagerFixture
from npu_conformance.cts.lib.scenario_step import Step
from npu_conformance.cts.lib.scheduling_hal import RecordingHal
from npu_conformance.cts.lib.upheaval_runner import UpheavalRunner
from npu_conformance.specs.errors import IllegalState
from npu_conformance.specs.npu.types import PERMISSION

_FIRST_OF_A_FLOOD, _IN_A_FLOOD = 1000, 100
"""The ids of floods: each has so many of its own."""
_BY_ITSELF = ("ask", "load", "unload", "cancel", "flood", "fill")
"""What an app says to the manager, for which it needs the permission (NPU-ACC-005)."""


class BustleRunner(UpheavalRunner):
    """A scenario runner that knows these steps as well.

    barred: apps without the permission, which say nothing meanwhile. What they have asked for goes on: the permission
    is one to call. at_work: apps whose work has begun, in the order in which it has.
    """

    def __init__(self, fixture: ManagerFixture, hal: RecordingHal) -> None:
        super().__init__(fixture, hal)
        self.barred: set[int] = set()
        self.at_work: list[int] = []
        self._floods = 0

    def run(self, step: Step) -> None:
        """Let it happen; who may not say anything does not."""
        if step.uid not in self.barred or step.do not in _BY_ITSELF:
            super().run(step)

    def drain(self) -> None:
        """Let everybody have the permission, all work end, and all that fit have their turn."""
        for uid in sorted(self.barred):
            self.run(Step("admit", uid))
        for uid in [*self.at_work]:
            self.run(Step("finish", uid))
        super().drain()

    def _flood(self, step: Step) -> None:
        """An app asks for many models before anything has arrived; it may have fewer."""
        first = _FIRST_OF_A_FLOOD + _IN_A_FLOOD * self._floods
        self._floods += 1
        self.model.busy = True
        try:
            for identifier in range(first, first + step.number):
                self._ask(Step("ask", step.uid, identifier, identifier % 3 if step.own else 0))
        except IllegalState:
            self.model.requests.pop()

    def _fill(self, step: Step) -> None:
        for tracked in self.model.live:
            if tracked.uid == step.uid and tracked.holds and not tracked.loaded:
                self._load(Step("load", step.uid, tracked.request.id))

    def _bar(self, step: Step) -> None:
        self.barred.add(step.uid)
        self.fixture.control.grant_permission(step.uid, PERMISSION, False)

    def _admit(self, step: Step) -> None:
        self.barred.discard(step.uid)
        self.fixture.control.grant_permission(step.uid, PERMISSION, True)

    def _begin(self, step: Step) -> None:
        """Work begins: it is no turn yet (NPU-POL-018)."""
        if step.uid not in self.at_work:
            self.at_work.append(step.uid)
            self.hal.begins(step.uid)

    def _finish(self, step: Step) -> None:
        """Work that has begun is completed, whoever has begun since."""
        if step.uid in self.at_work:
            self.at_work.remove(step.uid)
            self.model.complete_work(step.uid)
            self.hal.ends(step.uid, arrives=not step.soon)
