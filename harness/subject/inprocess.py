"""A subject in the harness's own process: calls are calls of it. Good for a debugger; a crash is the harness's."""

from __future__ import annotations

import os
import socket
import threading
import time
from collections.abc import Callable, Sequence

from npu_conformance.harness.judge.verdicts import CaseEnded, Crashed
from npu_conformance.harness.subject.checked_calls import checked
from npu_conformance.harness.subject.concurrency import Result, run_concurrently
from npu_conformance.harness.subject.endpoints import StartOptions
from npu_conformance.harness.subject.files import Files, ServedFiles
from npu_conformance.harness.subject.handle import Application
from npu_conformance.harness.subject.host import serve_in_thread
from npu_conformance.harness.subject.inference_tool import settled
from npu_conformance.harness.subject.memory_kinds import memory_of
from npu_conformance.harness.subject.plugin_loading import LoadError, load_plugin, manifest_of, with_version
from npu_conformance.harness.subject.pools import MappedPool, Pool, Pools, ReachedPool
from npu_conformance.harness.subject.remote import playing
from npu_conformance.harness.subject.remote_application import RemoteApplication, RemoteMemory
from npu_conformance.harness.subject.shared_files import FileStore
from npu_conformance.harness.wire.connection import marked_concurrent
from npu_conformance.harness.wire.framing import LineSocket, Lost
from npu_conformance.harness.wire.memory import HostMemory
from npu_conformance.harness.wire.paths import Paths
from npu_conformance.harness.wire.protocol import Attach, Detach, FileAttach, FileToken, MemoryRead, MemoryWrite
from npu_conformance.harness.wire.session import HostState
from npu_conformance.specs.diagnostics import stacks
from npu_conformance.specs.documents.failures import Account
from npu_conformance.specs.errors import InterfaceError
from npu_conformance.specs.manifest import InferenceTool
from npu_conformance.specs.neuralnetworks.types import Memory
from npu_conformance.specs.plugin import INTERFACES, Caller, Plugin, Subject
from npu_conformance.specs.versions import Version

_POLL_SECONDS = 0.0005
_LEAVING_SECONDS = 1.0
"""How long the end of a connection may take a subject; one that hangs takes longer."""


class InProcessPools:
    """Creates pools that are simply bytes of this process."""

    def __init__(self, host: HostState) -> None:
        self.transports: tuple[str, ...] = ("message",)
        self._memory = host.memory

    def create(self, kind: str, size: int) -> Pool:
        """Create a pool of `size` zero bytes."""
        memory = memory_of(kind, size)
        self._memory.attach(Attach(memory.token, size, "message"), None)
        return MappedPool(
            memory,
            self._memory.map(memory),
            lambda _: self._memory.detach(Detach(memory.token)),
            lambda _: self._memory.take_overrun(memory.token),
        )

    def reach(self, memory: Memory) -> Pool:
        """Open memory of the subject's own."""
        return ReachedPool(memory, _PlainLink(self._memory))


class _PlainLink:
    """Does by plain calls what messages about memory do."""

    def __init__(self, memory: HostMemory) -> None:
        self._memory = memory

    def attach(self, request: Attach, descriptor: int | None) -> None:
        self._memory.attach(request, descriptor)

    def detach(self, token: int) -> None:
        self._memory.detach(Detach(token))

    def write(self, token: int, offset: int, data: bytes) -> None:
        self._memory.write(MemoryWrite(token, offset, data))

    def read(self, token: int, offset: int, length: int) -> bytes:
        return self._memory.read(MemoryRead(token, offset, length))


class InProcessAttacher:
    """Makes files known by plain calls."""

    def __init__(self, host: HostState) -> None:
        self._files = host.files
        self.served = ServedFiles()

    def attach(self, request: FileAttach, descriptor: int | None) -> None:
        self._files.attach(request, None if descriptor is None else os.dup(descriptor), self.served)

    def detach(self, token: int) -> None:
        self._files.detach(FileToken(token))
        self.served.close(token)


class InProcessSubject:
    """The handle of a subject in this process. See SubjectHandle."""

    ignores_tool = False

    def __init__(
        self, spec: str, options: dict[str, str], version: Version | None, inference_tool: InferenceTool | None = None
    ) -> None:
        self._plugin: Plugin = load_plugin(spec)
        self._options = with_version(self._plugin, spec, options, version)
        self.manifest = settled(manifest_of(self._plugin, spec, self._options), inference_tool, is_loaded_here=True)
        self.version = version or self.manifest.hal_version
        if self.version > self.manifest.hal_version:
            raise LoadError(f"plug-in {spec}: asked for HAL {self.version}, it implements {self.manifest.hal_version}")
        self._applications: list[RemoteApplication] = []
        self._store: FileStore | None = None
        self._tested_as = self.version
        self._begin(self._options)

    def _begin(self, options: dict[str, str]) -> None:
        self._host = HostState(self._plugin, options)
        made = self._host.subject({})
        parts = {name: getattr(made, name) for name in INTERFACES}
        self.interfaces = Subject(**{name: part and checked(part, INTERFACES[name]) for name, part in parts.items()})
        self.memory: Pools = InProcessPools(self._host)
        self._attacher = InProcessAttacher(self._host)
        self.files = Files(self._attacher, lambda: self._private_store().place(), ("descriptor", "message"))

    def _private_store(self) -> FileStore:
        """The private directory, made when first needed."""
        if self._store is None:
            self._store = FileStore()
        return self._store

    def wait_until(self, predicate: Callable[[], bool], seconds: float) -> bool:
        """Wait until the predicate holds; return false where the time is over.

        Callbacks come from the subject's threads.
        """
        deadline = time.monotonic() + seconds
        while not predicate():
            if not self.serve_pending():
                if time.monotonic() > deadline:
                    return False
                time.sleep(_POLL_SECONDS)
        return True

    def serve_pending(self) -> bool:
        """Handle what an application's connection has brought; return false at once where there is nothing."""
        turns = [each.connection for each in self._applications if each.is_listening]
        ready = [connection for connection in turns if connection.ready()]
        for connection in ready:
            connection.serve_one()
        return bool(ready)

    def ping(self) -> None:
        """Do nothing: a call in this process is over when it returns."""

    def run_concurrently(self, calls: Sequence[Callable[[], Result]]) -> list[Result | InterfaceError]:
        """Make calls of the subject at once, each in a thread of its own."""
        return run_concurrently(calls, self.manifest.concurrent_calls, marked_concurrent)

    def application(self, uid: int, pid: int = 0) -> Application:
        """Connect as the app of a uid: through a socket, since a plain call has no caller."""
        endpoint = _LocalEndpoint(self._host, Caller(uid, pid), self._private_store(), self._soak)
        application = _LocalApplication(endpoint)
        open_ones = [each for each in self._applications if each.connection.broken is None]
        self._applications = [*open_ones, application]
        return application

    def _soak(self) -> None:
        """Read what the subject sends from within a call of the harness: nobody else reads it until the call ends."""
        while any(each.connection.soak() for each in tuple(self._applications) if each.is_listening):
            pass

    def begin_case(self, case: str) -> None:
        """Do nothing: what is printed here goes where the harness prints, and nothing crosses a wire."""

    def account(self) -> Account:
        """Return nothing."""
        return Account()

    def alive(self) -> bool:
        """Return true: its death would be this process's."""
        return True

    def process(self) -> int:
        """The number of this process."""
        return os.getpid()

    def restart(self, version: Version | None = None) -> None:
        """Make new objects."""
        options = self._options if version is None else playing(version, self.manifest, self._options)
        self._close_applications()
        self._attacher.served.close_all()
        self._begin(options)
        self.version = version or self._tested_as

    def close(self) -> None:
        """End the applications' connections."""
        self._close_applications()
        self._attacher.served.close_all()
        if self._store is not None:
            self._store.close()
            self._store = None

    def _close_applications(self) -> None:
        for application in self._applications:
            application.close()
        self._applications.clear()


class _LocalApplication(RemoteApplication):
    """An application whose disconnection the subject has handled when `close` returns.

    Handled later, it would disturb the next test.
    """

    def __init__(self, endpoint: _LocalEndpoint) -> None:
        super().__init__(endpoint, StartOptions(("path", "descriptor"), {}))
        self._serving = endpoint.serving

    def _reaches(self, link: RemoteMemory, store: FileStore) -> bool:
        return True

    def close(self) -> None:
        super().close()
        self._serving.join(_LEAVING_SECONDS)


class _LocalEndpoint:
    """The other end of an application's socket is a thread of this process."""

    spec = "inprocess"
    is_ours = False
    serving: threading.Thread
    """What serves the newest connection."""

    def __init__(self, host: HostState, caller: Caller, store: FileStore, soak: Callable[[], None]) -> None:
        self._host = host
        self._caller = caller
        self.store = store
        self._soak = soak

    def connect(self, address: str | None) -> socket.socket:
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
        lines = LineSocket(theirs)
        lines.meanwhile = self._soak
        own = Paths(self.store.directory)
        self.serving = serve_in_thread(
            lines, self._host, control=False, open_to_all=True, caller=self._caller, paths=own
        )
        return ours

    def renew(self) -> None:
        pass

    def usable(self, transports: list[str]) -> list[str]:
        return transports

    def has_ended(self) -> bool:
        return False

    def process(self) -> int:
        return os.getpid()

    def kill(self, *, with_stacks: bool = False) -> str:
        return stacks.of_thread(self.serving) if with_stacks else ""

    def forget_printed(self) -> None:
        pass

    def printed(self) -> tuple[str, str]:
        return "", ""

    def crash(self, problem: Lost, doing: str) -> CaseEnded:
        return Crashed(f"{doing}: {problem}")

    def close(self) -> None:
        self.store.close()
