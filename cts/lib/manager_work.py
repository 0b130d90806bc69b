"""Inferences that the apps of a fixture run on the device's own NPU, where the subject has a workload."""

from __future__ import annotations

import itertools

from npu_conformance.cts.lib.manager_fixture import ClientApp, ManagerFixture
from npu_conformance.harness.judge import checks
from npu_conformance.specs.errors import SecurityDenied
from npu_conformance.specs.npu.workload import InferenceRun, WorkloadCallback

_SECONDS = 30
"""How long the Mobly tests wait for inferences."""
_finished = itertools.count()


class Run(WorkloadCallback):
    """One run of an app. finished_as: when it ended, among all runs."""

    def __init__(self, fixture: ManagerFixture, app: ClientApp) -> None:
        workload = fixture.context.present(app.client.process.interfaces.workload, "workload")
        self._fixture = fixture
        self.succeeded: bool | None = None
        self.finished_as = -1
        fixture.settle()
        try:
            workload.run_test_inference(InferenceRun(), self)
        except SecurityDenied:
            self.on_run_ended(False)

    def on_run_ended(self, succeeded: bool) -> None:
        """Keep how it ended."""
        self.succeeded = succeeded
        self.finished_as = next(_finished)

    def finishes(self) -> None:
        """Wait for the end."""
        step = self._fixture.settle if self._fixture.context.manifest.virtual_clock else self._wait
        for _ in range(10 * _SECONDS):
            step()
            if self.succeeded is not None:
                self._fixture.settle()  # its end comes a debounce time later by way of the HAL: not in the next case
                return
        checks.fail("a run of inferences", f"an end within {_SECONDS} s", "none")

    def _wait(self) -> None:
        self._fixture.context.subject.wait_until(lambda: self.succeeded is not None, 0.1)


def inferences_succeed(fixture: ManagerFixture, app: ClientApp) -> bool:
    """Run an app's inferences; true where they succeeded."""
    run = Run(fixture, app)
    run.finishes()
    return bool(run.succeeded)
