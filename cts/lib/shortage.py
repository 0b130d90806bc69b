"""How cases bring a manager to the end of its memory without knowing how much it has."""

from __future__ import annotations

from functools import partial

from npu_conformance.cts.lib.buffer_fixture import MIB, PAGE, BufferApp, is_rejected
from npu_conformance.cts.lib.manager_client import pass_time
from npu_conformance.harness.judge import checks
from npu_conformance.harness.judge.verdicts import NotApplicable
from npu_conformance.specs.npu.buffers import NpuBuffer, Protection

_LARGEST = 512 * MIB
_PROBE = 0x50_0BE0


def most(app: BufferApp) -> int:
    """Bytes of which one buffer fits but not two: the largest power of two that is given.

    NotApplicable where memory does not run short up to 512 MiB, as nobody wants more of a phone for a test, or where
    it is a limit of one buffer that ends the search (NPU-BUF-008): two of that size are there at once.
    """
    size = MIB
    while size <= _LARGEST:
        (answer,) = app.get(app.request(_PROBE, size))
        if answer.errno:
            break
        app.free(_PROBE)
        pass_time(app.context)  # no rule says how soon freed memory is there again
        size *= 2
    else:
        raise NotApplicable("the manager's memory does not run short at 512 MiB")
    if size == MIB:
        raise NotApplicable("the manager has less than 1 MiB for a buffer")
    if _has_two(app, size // 2):
        raise NotApplicable(f"no buffer may have {size} bytes, and two of {size // 2} fit: memory does not run short")
    return size // 2


def is_supported(app: BufferApp, size: int) -> bool:
    """Whether a buffer may have so many bytes, be there memory for it or not."""
    return all(app.allocator.is_supported((app.request(_PROBE, size),)))


def _has_two(app: BufferApp, size: int) -> bool:
    """Whether a second buffer of this size is given beside the first, which is not taken away for it."""
    first = app.allocated(app.request(_PROBE, size))
    (answer,) = app.get(app.request(_PROBE + 1, size))
    app.flush()
    is_lost = app.recorder.count("preempted", _PROBE) > 0 or is_rejected(partial(_map, first))
    app.free(_PROBE, *([_PROBE + 1] if answer.errno == 0 else []))
    app.flush()
    pass_time(app.context)
    return answer.errno == 0 and not is_lost


def _map(buffer: NpuBuffer) -> None:
    buffer.unmap(buffer.map(PAGE, Protection.READ, 0).token)


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
