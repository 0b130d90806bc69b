"""How cases bring a manager to the end of its memory without knowing how much it has."""

from __future__ import annotations

from npu_conformance.cts.lib.buffer_fixture import MIB, BufferApp
from npu_conformance.harness.judge import checks
from npu_conformance.harness.judge.verdicts import NotApplicable

_LARGEST = 512 * MIB
_PROBE = 0x50_0BE0


def most(app: BufferApp) -> int:
    """Bytes of which one buffer fits but not two: the largest power of two that is given.

    NotApplicable where memory does not run short up to 512 MiB: nobody wants more of a phone for a test.
    """
    size = MIB
    while size <= _LARGEST:
        (answer,) = app.get(app.request(_PROBE, size))
        if answer.errno:
            break
        app.free(_PROBE)
        size *= 2
    else:
        raise NotApplicable("the manager's memory does not run short at 512 MiB")
    if size == MIB:
        raise NotApplicable("the manager has less than 1 MiB for a buffer")
    return size // 2


def gets_in_time(app: BufferApp, identifier: int, size: int, what: str = "memory of a dead client") -> None:
    """Ask until the deadline of a callback: a service may notice a death a little later. what: for the message."""
    attempts = iter(range(200))

    def asks() -> bool:
        (answer,) = app.get(app.request(identifier, size))
        return answer.errno == 0

    while not asks():
        if next(attempts, None) is None:
            checks.fail(what, "free for another", "still taken")
        context = app.context
        context.subject.wait_until(lambda: False, 0.01 * context.manifest.time_scale)
