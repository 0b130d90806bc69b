"""How cases bring a manager to the end of its memory without knowing how much it has."""

from __future__ import annotations

from npu_conformance.cts.lib.buffer_fixture import MIB, BufferApp
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
