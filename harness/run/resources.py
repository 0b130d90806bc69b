"""What a running case makes and does not have to close: pools of memory, fences, files, apps."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Protocol

from npu_conformance.harness.judge import checks
from npu_conformance.harness.judge.verdicts import Failed
from npu_conformance.harness.subject.memory_kinds import aidl_form
from npu_conformance.harness.subject.pools import Pool
from npu_conformance.specs.errors import DeadObject
from npu_conformance.specs.neuralnetworks.fences import SettableFence
from npu_conformance.specs.neuralnetworks.types import Memory

if TYPE_CHECKING:
    from npu_conformance.harness.subject.files import CacheFile
    from npu_conformance.harness.subject.handle import Application, SubjectHandle


class Closeable(Protocol):
    """A resource that lasts as long as its case."""

    def close(self) -> None:
        """Release it."""
        ...


class Resources:
    """What lasts as long as a case.

    subject: the implementation under test. restarts: how often it was restarted since the case began.
    """

    def __init__(self, subject: SubjectHandle) -> None:
        self.subject = subject
        self.restarts = 0
        self._to_close: list[Closeable] = []

    def pool(self, size: int, kind: str = "ashmem", application: Application | None = None) -> Pool:
        """Create a memory pool of `size` bytes, closed when the case ends.

        kind: HIDL's name, ashmem, mmap_fd, hardware_buffer_blob or hardware_buffer (pixels). In AIDL the
        memory has the name of the union's member. application: whose it is, for calls that it makes itself.
        """
        pool = (application or self.subject).memory.create(kind, size)
        pool.memory = aidl_form(pool.memory, self.subject.version)
        self._to_close.append(pool)
        return pool

    def filled_pool(self, data: bytes) -> Memory:
        """Create a memory pool with these bytes."""
        pool = self.pool(len(data))
        pool.write(0, data)
        return pool.memory

    def mapped_pool(self, data: bytes) -> Memory:
        """Create a memory pool with these bytes in a file that is mapped, as an app hands over a file of weights."""
        pool = self.pool(len(data), "mmap_fd")
        pool.write(0, data)
        return pool.memory

    def fence(self) -> SettableFence:
        """Create a fence that the case settles; one that it leaves unsignalled fails when the case ends."""
        fence = SettableFence()
        self._to_close.append(fence)
        return fence

    def cache_file(self, content: bytes = b"") -> CacheFile:
        """Make a file, deleted when the case ends; `subject.files` hands it over."""
        file = self.subject.files.create(content)
        self._to_close.append(file)
        return file

    def application(self, uid: int, pid: int = 0) -> Application:
        """Connect as another app, which dies when the case ends. NotApplicable where the transport cannot."""
        application = self.subject.application(uid, pid)
        self._to_close.append(application)
        return application

    def close_later(self, thing: Closeable) -> None:
        """Close something of the case's own when the case ends, before what was made earlier."""
        self._to_close.append(thing)

    @contextmanager
    def short_lived(self) -> Iterator[None]:
        """Close what is made inside at the end of it already: a case of many parts would hold hundreds of pools.

        What uses it, such as a prepared model with constants there, has to be gone by then.
        """
        outer, self._to_close = self._to_close, []
        try:
            yield
        except BaseException:
            with suppress(Exception):  # what ended the inside says more
                self.close()
            raise
        else:
            self.close()
        finally:
            self._to_close = outer

    def close(self) -> None:
        """Close the pools, fences, files and applications of the case, the newest first, whatever one of them raises.

        What was made before a restart is dead afterwards. Raises the first problem, else Failed where something was
        written behind a pool.
        """
        pools = [one for one in self._to_close if isinstance(one, Pool)]
        problems = [problem for problem in map(self._closed, self._taken()) if problem is not None]
        overrun = [str(pool.memory.size) for pool in pools if pool.take_overrun()]
        if problems:
            raise problems[0]
        if overrun:
            with checks.about("NNHAL-REQUEST-013"):
                raise Failed(f"memory: the implementation wrote past the end of pools of {' and '.join(overrun)} bytes")

    def _taken(self) -> Iterator[Closeable]:
        while self._to_close:
            yield self._to_close.pop()

    def _closed(self, one: Closeable) -> Exception | None:
        """Close one resource; returns what it raised, which must not keep the others open."""
        try:
            one.close()
        except DeadObject as problem:
            return None if self.restarts else problem
        except Exception as problem:
            return problem
        return None
