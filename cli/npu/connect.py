"""Connects a command to a running manager."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator

from npu_conformance.cli.streams import tell
from npu_conformance.harness.judge.outcome_table import WRONG
from npu_conformance.harness.judge.verdicts import CaseEnded, NotApplicable
from npu_conformance.harness.subject.handle import SubjectHandle
from npu_conformance.harness.subject.loading import open_subject
from npu_conformance.harness.subject.plugin_loading import LoadError
from npu_conformance.specs.diagnostics.one_line import one_line
from npu_conformance.specs.errors import InterfaceError
from npu_conformance.specs.npu.manager import Manager


@contextlib.contextmanager
def reached(address: str, key_file: str | None) -> Iterator[SubjectHandle]:
    """Connect to unix:PATH or tcp:HOST:PORT. Raises LoadError where no manager can be reached."""
    if not address.startswith(("unix:", "tcp:")):
        raise LoadError(f"not an address: {address!r}: expected unix:PATH or tcp:HOST:PORT")
    subject = open_subject(address, {"key-file": key_file} if key_file else None)
    try:
        if subject.interfaces.manager is None:
            raise LoadError(f"{address}: {subject.manifest.name} has no NPU Manager")
        yield subject
    finally:
        subject.close()


def told_of(address: str, act: Callable[[], int]) -> int:
    """Do something with the manager at an address, and return the exit code of that.

    WRONG, and one line, where the manager refuses, lacks the method, breaks the protocol or dies.
    """
    try:
        return act()
    except (CaseEnded, InterfaceError) as ended:
        tell(f"{address}: {one_line(str(ended))}")
        return WRONG


def manager_as(subject: SubjectHandle, uid: int) -> Manager:
    """Return the manager, called as this uid, or as the kernel's caller where this is no control connection."""
    try:
        found = subject.application(uid).interfaces.manager
    except NotApplicable:
        found = subject.interfaces.manager
    assert found is not None
    return found
