"""What a plug-in is: a manifest that says what it has, and a factory that makes it.

An entry point of the group `npu_conformance.plugins`, or `package.module:name`, yields a Plugin.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Protocol

from npu_conformance.specs.diagnostics import signatures
from npu_conformance.specs.errors import Unsupported
from npu_conformance.specs.interfaces import Interface
from npu_conformance.specs.manifest import Manifest, require_valid
from npu_conformance.specs.neuralnetworks.hal import Device
from npu_conformance.specs.neuralnetworks.runtime import Runtime
from npu_conformance.specs.neuralnetworks.runtime.control import RuntimeControl
from npu_conformance.specs.neuralnetworks.types import Memory
from npu_conformance.specs.npu.manager import Manager, ManagerControl
from npu_conformance.specs.npu.scheduling import Scheduling
from npu_conformance.specs.npu.workload import SchedulingControl, Workload


class MemoryMap(Protocol):
    """Reaches the bytes of shared memory, however they travelled."""

    def map(self, memory: Memory) -> memoryview:
        """Return the pool's bytes, from memory.offset of its file on, writable unless memory.prot forbids it.

        Raises ServiceError for an unknown token.
        """
        ...


class Descriptors(Protocol):
    """Hands out descriptors of shared memory, for an implementation that maps it itself."""

    def descriptor(self, memory: Memory) -> int:
        """Return a new descriptor of the file that holds the pool; the caller closes it.

        Raises ServiceError for an unknown token.
        """
        ...


class NoDescriptors:
    """The descriptors of hosts whose memory lies in no files."""

    def descriptor(self, memory: Memory) -> int:
        """Raise Unsupported: there is no file."""
        raise Unsupported("this host has no descriptors of shared memory")


class File(Protocol):
    """A descriptor of the driver's own for a cache file. Every operation raises OSError where its mode forbids it.

    position: the file offset that the descriptor came with, in bytes. Cache files are read and written from their
    beginning, whatever it is (NNHAL-CACHE-006).
    """

    position: int

    def is_readable(self) -> bool:
        """True where the access mode allows reading."""
        ...

    def is_writable(self) -> bool:
        """True where the access mode allows writing."""
        ...

    def size(self) -> int:
        """Bytes of the file at this moment."""
        ...

    def read(self, offset: int, length: int) -> bytes:
        """Return at most `length` bytes; less at the end of the file."""
        ...

    def write(self, offset: int, data: bytes) -> None:
        """Store bytes; the file grows where they lie behind its end."""
        ...

    def truncate(self, size: int) -> None:
        """Cut the file, or fill it up with zeros."""
        ...

    def close(self) -> None:
        """Give the descriptor back; again is harmless."""
        ...


class Files(Protocol):
    """Reaches the files of cache handles, however they travelled."""

    def open(self, token: int) -> File:
        """Duplicate the descriptor of a token. It stays open when the client closes its own (NNHAL-CACHE-007).

        Raises OSError for a token that names no open file.
        """
        ...


class NoFiles:
    """The files of hosts that hand none over."""

    def open(self, token: int) -> File:
        """Raise OSError: there are no files."""
        raise OSError(f"no file has the token {token}")


class Exports(Protocol):
    """Lets clients reach memory of the service's own."""

    def export(self, data: memoryview, protection: int) -> int:
        """Return a new token under which clients read and write these bytes, as far as PROT_READ and PROT_WRITE go."""
        ...

    def withdraw(self, token: int) -> None:
        """Forget a token and let its bytes go; an unknown one is ignored."""
        ...


class NoExports:
    """The exports of hosts whose clients have no means to reach the service's memory."""

    def export(self, data: memoryview, protection: int) -> int:
        """Raise Unsupported: no memory can be exported."""
        raise Unsupported("this host shares no memory of the service's own")

    def withdraw(self, token: int) -> None:
        """Do nothing: no memory was exported."""


class Clock(Protocol):
    """Source of time, real or virtual."""

    def now_ns(self) -> int:
        """Nanoseconds of a monotonic clock."""
        ...


class RealClock:
    """CLOCK_BOOTTIME, the clock of AIDL deadlines."""

    def now_ns(self) -> int:
        """Nanoseconds since boot, suspended time included."""
        return time.clock_gettime_ns(time.CLOCK_BOOTTIME)


@dataclass(frozen=True)
class Caller:
    """Who makes the current call, as the transport knows it; never taken from arguments.

    connection: tells the connections of one process apart, so that each can be forgotten when it closes.
    """

    uid: int
    pid: int
    connection: int = 0

    @property
    def process(self) -> tuple[int, int]:
        """What all connections of one process share: uid and pid."""
        return self.uid, self.pid


def _without_connections(listener: Callable[[Caller], None]) -> None:
    """Ignore the listener: where there are no connections, none closes."""


@dataclass(frozen=True)
class Context:
    """What the host gives to a plug-in's factory.

    memory: `memory.map(pool.pool)` reaches the bytes of a pool. files: `files.open(token)` opens a cache file.
    descriptors: `descriptors.descriptor(memory)` is a descriptor of a pool's file, for who hands it on.
    exports: lets clients reach bytes of the plug-in's own. caller: says which uid and process call, in the call.
    options: those of --plugin-option, and `hal`. clock: on which the harness's deadlines lie.
    own_process: whether nothing but the plug-in lives in its process (not with --isolation inprocess).
    on_hang_up: takes a listener to call with each caller whose connection has closed, as binder notifies of deaths.
    """

    memory: MemoryMap
    caller: Callable[[], Caller]
    options: Mapping[str, str] = field(default_factory=dict)
    clock: Clock = field(default_factory=RealClock)
    own_process: bool = False
    files: Files = field(default_factory=NoFiles)
    on_hang_up: Callable[[Callable[[Caller], None]], None] = _without_connections
    exports: Exports = field(default_factory=NoExports)
    descriptors: Descriptors = field(default_factory=NoDescriptors)


@dataclass(frozen=True)
class Subject:
    """The interfaces of one implementation; None where it has none of a kind."""

    device: Device | None = None
    scheduling: Scheduling | None = None
    workload: Workload | None = None
    scheduling_control: SchedulingControl | None = None
    manager: Manager | None = None
    manager_control: ManagerControl | None = None
    runtime: Runtime | None = None
    runtime_control: RuntimeControl | None = None


INTERFACES: Mapping[str, type[Interface]] = {
    "device": Device,
    "scheduling": Scheduling,
    "workload": Workload,
    "scheduling_control": SchedulingControl,
    "manager": Manager,
    "manager_control": ManagerControl,
    "runtime": Runtime,
    "runtime_control": RuntimeControl,
}
"""The interface of each field of a Subject."""


@dataclass(frozen=True)
class Plugin:
    """An implementation that the suites can test. `create` is called once in every host process."""

    manifest: Manifest | Callable[[Mapping[str, str]], Manifest]
    create: Callable[[Context], Subject]

    def describe(self, options: Mapping[str, str]) -> Manifest:
        """The manifest under these options (a version, a kernel set). Raises ValueError where it breaks a rule."""
        found: object = self.manifest if isinstance(self.manifest, Manifest) else self._described(options)
        if not isinstance(found, Manifest):
            words = "None" if found is None else f"an object of {type(found).__name__}"
            raise ValueError(f"expected a Manifest, found {words}")
        require_valid(found)
        return found

    def _described(self, options: Mapping[str, str]) -> object:
        assert not isinstance(self.manifest, Manifest)
        try:
            return self.manifest(options)
        except TypeError as error:
            signatures.explain(error, self.manifest, "a function that gives a manifest is called with the options")
            raise
