"""An app that uses the NPU Manager's allocator, as the cases drive it: its buffers, and the record of its callbacks."""

from __future__ import annotations

import copy
import itertools
import time
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass
from functools import partial

from msgspec.structs import replace

from npu_conformance.cts.lib.manager_client import moved_clock, pass_time, renew
from npu_conformance.harness.judge import checks
from npu_conformance.harness.judge.verdicts import CaseEnded, NotApplicable
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.harness.subject.pools import Pool
from npu_conformance.specs.errors import DeadObject, InterfaceError, ServiceError, Unsupported
from npu_conformance.specs.neuralnetworks.types import CacheHandle, Memory
from npu_conformance.specs.npu.buffers import (
    Allocator,
    AllocatorCallback,
    AllocRequest,
    BufferType,
    Errno,
    FileSegment,
    NpuBuffer,
    Protection,
    errno_of,
)

CAMERA = 10_201
ASSISTANT = 10_202
PAGE = 4096
"""A small size. No page of a device is smaller, but many are larger."""
LARGEST_PAGE = 1 << 16
"""Pages of Arm's processors have 4, 16 or 64 KiB: this is a whole number of them wherever the subject runs."""
MIB = 1 << 20
READ_WRITE = Protection.READ | Protection.WRITE
CALLBACK_SECONDS = 5.0
"""How long a callback may take, before time_scale, as in CtsNpuManagerBufferTest; of a virtual clock as much."""
_SURE_MAPPINGS = 8
"""So many mappings a buffer has at once; no document says how many more."""
NO_ROOM = (Errno.ENOMEM, 24, 28)
"""What a request ends in that is supported and finds no room, which no document names: also EMFILE and ENOSPC."""
PLACES = tuple(itertools.product(range(4), tuple(BufferType)[1:]))
"""Devices and types of buffers at which a case looks for support."""
_PRIORITY = 500
_MARKER = 0x7EAD_BEA7_0000
"""First of the ids with which `BufferApp.flush` asks for nothing; no case uses them."""


@dataclass(frozen=True)
class Answer:
    """How a request ended: the arguments of onGetBuffer."""

    id: int
    buffer: NpuBuffer | None
    errno: int


class AllocatorRecorder(AllocatorCallback):
    """Keeps every callback in the order of arrival. events: (which, id, errno)."""

    def __init__(self) -> None:
        self.answers: list[Answer] = []
        self.events: list[tuple[str, int, int]] = []

    def on_get_buffer(self, id: int, buffer: NpuBuffer | None, errno: int, message: str | None) -> None:
        """Keep the answer to a request."""
        self.answers.append(Answer(id, buffer, errno))
        self.events.append(("allocated", id, errno))

    def on_load(self, id: int, errno: int, message: str | None) -> None:
        """Keep the answer to a load."""
        self.events.append(("loaded", id, errno))

    def on_notify_preempted(self, id: int) -> None:
        """Keep a preemption."""
        self.events.append(("preempted", id, 0))

    def of(self, identifier: int) -> list[tuple[str, int]]:
        """The callbacks about a buffer, in order: which, with which errno."""
        return [(which, errno) for which, id, errno in self.events if id == identifier]

    def count(self, which: str, identifier: int) -> int:
        """How often a callback came for a buffer."""
        return sum(found == which for found, _ in self.of(identifier))

    def has_come(self, which: str, identifier: int, before: int = 0) -> bool:
        """True where a callback has come for a buffer more often than before."""
        return self.count(which, identifier) > before


_turn: ContextVar[int | None] = ContextVar("turn", default=None)
"""See at_another_place."""


@contextmanager
def at_another_place(turn: int) -> Iterator[None]:
    """Let apps ask meanwhile for buffers of another device or type than the preferred one: which, goes by the turn."""
    token = _turn.set(turn)
    try:
        yield
    finally:
        _turn.reset(token)


def _in_turn(places: list[tuple[int, int]]) -> tuple[int, int]:
    turn, (preferred, *others) = _turn.get(), places
    if turn is None:
        return preferred
    if not others:
        raise NotApplicable("the manager supports buffers of one device and one type alone")
    return others[turn % len(others)]


class BufferApp:
    """A process of an app: its connection, its allocator, its callbacks. place: of its buffers, device and type."""

    def __init__(self, context: CaseContext, uid: int = CAMERA, pid: int = 0) -> None:
        self.context = context
        self.uid = uid
        self.recorder = AllocatorRecorder()
        self.application = context.application(uid, pid)
        self._markers = itertools.count(_MARKER)
        self.allocator = self._create()
        self.place: tuple[int, int] = (-1, 0)
        self.places = [self.place]
        self._asked: set[int] = set()
        self._living: list[int] = []
        """Ids of the buffers that its allocators were given, and that it has not freed."""
        context.close_later(self)

    def supported(self) -> BufferApp:
        """This app, which from here on asks for what the manager supports; NotApplicable where that is nothing."""
        forms = [*itertools.product((READ_WRITE, Protection.READ), _preferred())]
        asked = [AllocRequest(0, *place, PAGE, protection=protection) for protection, place in forms]
        answers = self.allocator.is_supported(tuple(asked))
        found = [form for form, answer in zip(forms, answers, strict=False) if answer]
        if not found:
            raise NotApplicable("the manager supports no buffers of devices 0 to 3")
        first, _ = found[0]
        self.places = [place for protection, place in found if protection == first]
        self.place = _in_turn(self.places)
        return self

    def another(self) -> BufferApp:
        """The same process with one more allocator, and a recorder of its own."""
        other = copy.copy(self)
        other.recorder, other._asked = AllocatorRecorder(), set()
        other.allocator = other._create()
        self.context.close_later(other)
        return other

    def supports(self, request: AllocRequest) -> bool:
        """Whether the manager supports a size, a protection and a file, which is its choice (NPU-BUF-008).

        The priority of the request is left out: those of 0 to 1000 serve (NPU-BUF-014).
        """
        return self.allocator.is_supported((replace(request, priority=_PRIORITY),)) == (True,)

    def need_supported(self, request: AllocRequest) -> None:
        """NotApplicable where the manager denies support to a request."""
        if not self.supports(request):
            file = "" if request.file_segment is None else " and a file"
            what = f"{request.size} bytes with protection {request.protection:d}{file}"
            raise NotApplicable(f"the manager supports no {what}")

    def request(
        self,
        identifier: int,
        size: int = PAGE,
        *,
        protection: int = READ_WRITE,
        priority: int = _PRIORITY,
        segment: FileSegment | None = None,
    ) -> AllocRequest:
        """A request for a buffer where the manager supports one."""
        device, kind = self.place
        self._asked.add(identifier)
        return AllocRequest(identifier, device, kind, size, priority, segment, protection)

    def get(self, *requests: AllocRequest) -> list[Answer]:
        """Ask for buffers and wait for the answers, in the order of the requests; Failed where one does not come."""
        counts = {one.id: self.recorder.count("allocated", one.id) for one in requests}
        checks.succeeds(lambda: self.allocator.get_buffers(requests), "getBuffers")
        for one in requests:
            came = partial(self.recorder.has_come, "allocated", one.id, counts[one.id])
            self.awaited(came, f"answer to request {one.id}")
        answers = [self._last(one.id) for one in requests]
        self._living += [answer.id for answer in answers if answer.errno == 0]
        return answers

    def allocated(self, request: AllocRequest) -> NpuBuffer:
        """Ask for a buffer and check that it comes, as `all_allocated` does."""
        return self.all_allocated(request)[0]

    def all_allocated(self, *requests: AllocRequest) -> list[NpuBuffer]:
        """Ask for buffers and check that they come.

        NotApplicable where one does not as it is not supported, or as there is no room for it beside others:
        support is no promise (NPU-BUF-008).
        """
        answers = self.get(*requests)
        return [self._buffer_of(answer, request) for answer, request in zip(answers, requests, strict=True)]

    def _buffer_of(self, answer: Answer, request: AllocRequest) -> NpuBuffer:
        if answer.errno != 0:
            self.need_supported(request)
        if answer.errno in NO_ROOM and self._living:
            raise NotApplicable(f"the manager has no room for a buffer beside {len(self._living)} others")
        checks.equal(answer.errno, 0, f"errno of onGetBuffer for request {request.id}")
        if answer.buffer is None:
            checks.fail(f"onGetBuffer for request {request.id}", "a buffer", "None")
        return answer.buffer

    def rejected(self, request: AllocRequest, errnos: Collection[int], what: str) -> None:
        """Ask for a buffer and check that it does not come, with one of the errors; empty: with any."""
        (answer,) = self.get(request)
        checks.that(answer.errno != 0, f"{what}: expected an error in onGetBuffer, found success")
        checks.that(answer.buffer is None, f"{what}: expected no buffer with an error, found one")
        if errnos:
            check_errno(answer.errno, errnos, what)

    def loaded(self, identifier: int, segment: FileSegment) -> int:
        """Load a file and return the errno, of the callback or of the call itself."""
        before = self.recorder.count("loaded", identifier)
        errno = errno_raised(lambda: self.allocator.load_file_segment_to_buffer(identifier, segment))
        if errno:
            return errno
        what = f"answer to the load of buffer {identifier}"
        self.awaited(lambda: self.recorder.count("loaded", identifier) > before, what)
        return next(errno for which, errno in reversed(self.recorder.of(identifier)) if which == "loaded")

    def awaited(self, predicate: Callable[[], bool], what: str) -> None:
        """Let time pass until something has happened; Failed where it does not in time."""
        if not self.happens(predicate):
            checks.fail(what, "a callback in time", "none")

    def happens(self, predicate: Callable[[], bool]) -> bool:
        """Let time pass until something has happened; false where it does not in time."""
        seconds = CALLBACK_SECONDS * self.context.manifest.time_scale
        if moved_clock(self.context) is not None:
            self._pass_time_until(predicate, time.monotonic() + seconds)
        return self.context.subject.wait_until(predicate, seconds)

    def _pass_time_until(self, predicate: Callable[[], bool], deadline: float) -> None:
        """Move the clock second by second, as long as each callback comes within its time behind the one before."""
        told, quiet_seconds = len(self.recorder.events), 0
        while quiet_seconds < CALLBACK_SECONDS and time.monotonic() < deadline:
            pass_time(self.context)
            if self.context.subject.wait_until(predicate, 0.0):
                return
            quiet_seconds = quiet_seconds + 1 if len(self.recorder.events) == told else 0
            told = len(self.recorder.events)

    def flush(self) -> None:
        """Wait for what has been sent: the answer to a request that asks for nothing comes behind it."""
        self.get(AllocRequest(next(self._markers)))

    def open(self, memory: Memory) -> Pool:
        """Reach the bytes of a mapping."""
        return self.application.memory.reach(memory)

    def read(self, memory: Memory, length: int) -> bytes:
        """The first bytes of a mapping."""
        return self.open(memory).read(0, length)

    def left(self, memory: Memory, length: int) -> bytes:
        """The first bytes that a mapping of a freed buffer still shows; none where it has ended with the buffer.

        No requirement ends it (NPU-BUF-013), and one of mmap outlives its file; but best nobody reaches what is freed.
        """
        shown: list[bytes] = []
        if errno_raised(lambda: shown.append(self.read(memory, length))):
            return b""
        self.context.warn_quality("a mapping outlives its buffer, which is freed")
        return shown[0]

    def content(self, buffer: NpuBuffer, length: int, offset: int = 0) -> bytes:
        """Map, read and unmap."""
        memory = checks.succeeds(lambda: buffer.map(length, Protection.READ, offset), "map for reading")
        data = self.read(memory, length)
        checks.succeeds(lambda: buffer.unmap(memory.token), "unmap")
        return data

    def mapped(self, buffer: NpuBuffer, count: int) -> list[Memory]:
        """So many mappings of a page for reading, or as many as there is room for: more than a few is free."""
        found: list[Memory] = []
        for _ in range(count):
            errno = errno_raised(lambda: found.append(buffer.map(PAGE, Protection.READ, 0)))
            if errno in NO_ROOM and len(found) >= _SURE_MAPPINGS:
                break
            check_errno(errno, [0], f"map of a buffer that is mapped {len(found)} times")
        return found

    def fill(self, buffer: NpuBuffer, data: bytes) -> None:
        """Map, write and unmap."""
        memory = checks.succeeds(lambda: buffer.map(len(data), READ_WRITE, 0), "map for writing")
        self.open(memory).write(0, data)
        checks.succeeds(lambda: buffer.unmap(memory.token), "unmap")

    def segment(
        self, content: bytes, file_offset: int, length: int, buffer_offset: int, *, position: int = 0
    ) -> FileSegment:
        """A part of a new file with this content, opened for reading at a position of its own."""
        file = self.context.cache_file(content)
        token = self.application.files.open(file, "read", position)
        return FileSegment(CacheHandle((token,)), file_offset, length, buffer_offset)

    def free(self, *identifiers: int) -> None:
        """Free buffers."""
        checks.succeeds(lambda: self.allocator.put_buffers(identifiers), f"putBuffers of {identifiers}")
        for identifier in identifiers:
            if identifier in self._living:
                self._living.remove(identifier)

    def close(self) -> None:
        """Free what a case has left, so that the next finds it free, however late the service notices a death."""
        identifiers = (*self._asked, *(answer.id for answer in self.recorder.answers))
        with suppress(InterfaceError, CaseEnded):
            self.allocator.put_buffers(identifiers)

    def _last(self, identifier: int) -> Answer:
        return next(answer for answer in reversed(self.recorder.answers) if answer.id == identifier)

    def _create(self) -> Allocator:
        manager = self.context.present(self.application.interfaces.manager, "manager")
        try:
            return manager.create_allocator(self.recorder)
        except Unsupported:
            raise NotApplicable("the manager has no allocator of buffers") from None
        except ServiceError as error:
            if error.status == Errno.ENOSYS:
                raise NotApplicable("the device has no protected buffers: createAllocator says ENOSYS") from None
            raise


def errno_raised(call: Callable[[], object]) -> int:
    """The errno that a C client sees of a call; 0: success. A dead subject stays a crash."""
    try:
        call()
    except DeadObject:
        raise
    except InterfaceError as error:
        return errno_of(error)
    return 0


def check_errno(actual: int, allowed: Collection[int], what: str) -> None:
    """Fail unless an errno is one of the allowed ones; 0 is success."""
    if actual not in allowed:
        checks.fail(what, " or ".join(_spelled(one) for one in allowed), _spelled(actual))


GONE = (Errno.ENOMEM, Errno.ENOENT)
"""What mapping a preempted buffer ends in: the header's, and what a later text names."""


def raises_errno(call: Callable[[], object], allowed: Collection[int], what: str) -> None:
    """Fail unless a call ends with one of these errnos."""
    check_errno(errno_raised(call), allowed, what)


def is_rejected(call: Callable[[], object]) -> bool:
    """True where a call ends in an error."""
    return errno_raised(call) != 0


def whole_pages(size: int) -> int:
    """The bytes of the pages of which a buffer needs at least one byte: mmap grants no byte beyond them."""
    return -(-size // LARGEST_PAGE) * LARGEST_PAGE


def fresh_process(context: CaseContext, uid: int) -> None:
    """Have an app installed where the subject can install apps: its earlier process is gone with what it had."""
    manager_control = context.subject.interfaces.manager_control
    if manager_control is not None:
        renew(manager_control, uid)


def pattern(seed: int, length: int) -> bytes:
    """Bytes that repeat late: byte i depends on i modulo 251 and on the seed."""
    period = bytes((seed + 7 * i) % 251 for i in range(251))
    return (period * (length // 251 + 1))[:length]


def _preferred() -> list[tuple[int, int]]:
    return sorted(PLACES, key=lambda place: (place[0], place[1] != BufferType.MODEL_WEIGHTS))


def _spelled(errno: int) -> str:
    if errno == 0:
        return "success"
    return Errno(errno).name if errno in tuple(Errno) else f"errno {errno}"
