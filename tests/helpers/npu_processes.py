"""A running reference manager in a process of its own, and what its tests do with it."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from patience import SECONDS

from npu_conformance.corpus import vectors
from npu_conformance.corpus.vectors import VectorHeader
from npu_conformance.harness.run.app_connection import ticket_of
from npu_conformance.harness.subject.loading import open_subject
from npu_conformance.harness.subject.remote import RemoteSubject
from npu_conformance.simulation.demo import processes
from npu_conformance.simulation.demo.processes import AppProcess, ManagerProcess
from npu_conformance.simulation.demo.reports import ASK, AppPlan, Kind
from npu_conformance.specs.npu.manager import ManagerControl
from npu_conformance.specs.npu.types import PERMISSION, ModelSnapshot, Policy
from npu_conformance.specs.versions import NEWEST

CAMERA, ASSISTANT = 10_001, 10_002
OURS = os.getuid()


class Device:
    """A running manager and driver, and a control connection to it."""

    def __init__(self, folder: Path, name: str = "npu.socket") -> None:
        self.path = folder / name
        self.process = ManagerProcess("reference", f"unix:{self.path}", ["clock=real"], SECONDS)
        subject = open_subject(self.process.address)
        assert isinstance(subject, RemoteSubject)
        self.subject = subject
        for uid in (OURS, CAMERA, ASSISTANT):
            self.control.install_app(uid, f"app{uid}", True, 37)
            self.control.grant_permission(uid, PERMISSION, True)

    @property
    def control(self) -> ManagerControl:
        """The control of the manager."""
        control = self.subject.interfaces.manager_control
        assert control is not None
        return control

    def take_turns(self, policy: Policy = Policy.TURN_TAKING) -> None:
        """One model at a time, or another policy."""
        manager = self.subject.interfaces.manager
        assert manager is not None
        manager.set_policy(policy, None)

    def models(self) -> tuple[ModelSnapshot, ...]:
        """The live requests."""
        return self.control.take_snapshot().models

    def start(self, app: AppProcess, uid: int | None = None) -> None:
        """Let an app connect, and ask for its model; None: as the kernel knows it."""
        found = ticket_of(self.subject, uid, app.pid) if uid is not None else (self.process.address, None)
        model = small_model()
        app.start(
            AppPlan(
                address=found[0],
                ticket=found[1],
                transports=("path", "descriptor", "message"),
                version=NEWEST,
                first_request=app.pid,
                operation=model.operation,
                vector=model.name,
            )
        )
        app.send(ASK)

    def close(self) -> None:
        """End the process."""
        self.subject.close()
        self.process.close()


def small_model() -> VectorHeader:
    """The model that apps use."""
    return next(each for each in vectors.headers("ADD") if each.rejected is None and not each.relaxed)


def listen(apps: list[AppProcess], until: Callable[[], bool]) -> None:
    """Wait until the apps have reported what is expected."""
    processes.listen("what the test expects", apps, until, SECONDS, lambda app, event: None)


def works(app: AppProcess) -> bool:
    """True where it has loaded its model and run inferences."""
    return app.has(Kind.LOADED) and app.inferences > 2
