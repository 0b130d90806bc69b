"""A subject in another process, behind a connection, and the connections of further apps."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from msgspec import structs

import npu_conformance
from npu_conformance.harness.judge.verdicts import CaseEnded, Failed, Hung, NoSharedMemory, NotApplicable, Refused
from npu_conformance.harness.subject.concurrency import Result, run_concurrently
from npu_conformance.harness.subject.endpoints import Endpoint, StartOptions, is_within_reach
from npu_conformance.harness.subject.files import Files, ServedFiles
from npu_conformance.harness.subject.first_words import SilenceHint, hint_after
from npu_conformance.harness.subject.handle import Application
from npu_conformance.harness.subject.inference_tool import settled
from npu_conformance.harness.subject.patience import limited
from npu_conformance.harness.subject.plugin_loading import LoadError
from npu_conformance.harness.subject.pools import Pools, SharedPools, new_token
from npu_conformance.harness.subject.shared_files import FileStore
from npu_conformance.harness.wire import protocol
from npu_conformance.harness.wire.connection import Connection, marked_concurrent
from npu_conformance.harness.wire.framing import LineSocket, Lost, TimedOut, Unread, WireError, is_readable, truncated
from npu_conformance.harness.wire.journal import Journal
from npu_conformance.harness.wire.starvation import Patience, starved
from npu_conformance.specs import errors
from npu_conformance.specs.diagnostics import stacks
from npu_conformance.specs.documents.failures import Account
from npu_conformance.specs.errors import InterfaceError
from npu_conformance.specs.manifest import Deadlines, Manifest
from npu_conformance.specs.plugin import INTERFACES, Subject
from npu_conformance.specs.versions import Version


class RemoteApplication:
    """One connection to the subject: the part that the handle and applications share.

    meanwhile: called now and then while the handshake is awaited.
    """

    def __init__(
        self,
        endpoint: Endpoint,
        store: FileStore,
        options: StartOptions,
        initialize: dict[str, Any],
        journal: Journal | None = None,
        meanwhile: Callable[[], None] | None = None,
    ) -> None:
        self._endpoint = endpoint
        self._journal = journal or Journal()
        self._options = options
        self.is_deaf = False
        self.deadlines = Deadlines(start=options.start_seconds)
        self.scale = 1.0
        self.calls_at_once = 1
        socket = endpoint.connect(initialize.pop("address", None))
        self.connection = Connection(
            LineSocket(socket, has_ended=endpoint.has_ended, patience=Patience(lambda: starved(endpoint.process()))),
            -1,
            strict=True,
            problem=self._verdict,
            deadline_of=self.seconds_for,
            page=self._journal.page(),
        )
        try:
            self.connection.lines.meanwhile = meanwhile
            self._begin(store, initialize)
            self.connection.lines.meanwhile = None
        except BaseException:
            self.connection.close()
            raise

    def _begin(self, store: FileStore, initialize: dict[str, Any]) -> None:
        request = protocol.Initialize(
            protocol.PROTOCOL_VERSION,
            f"npu-conformance {npu_conformance.__version__}",
            self._options.transports,
            options=self._options.options,
            **initialize,
        )
        answer = self.connection.call("initialize", request, protocol.Initialized)
        if answer.protocol_version != protocol.PROTOCOL_VERSION:
            raise Failed(f"initialize: protocol version {answer.protocol_version}: expected 1")
        answer = structs.replace(answer, manifest=limited(answer.manifest, self._options.longest_wait))
        self.initialized: protocol.Initialized = answer
        self.deadlines = answer.manifest.deadlines
        self.scale = answer.manifest.time_scale
        self.interfaces = self._roots(answer.objects)
        usable = [name for name in self._options.transports if name in answer.transports]
        link = _RemoteMemory(self.connection)
        self.memory: Pools = SharedPools(link, store, self._endpoint.usable(usable))
        if self.memory.transports[:1] == ("path",) and not link.reaches(store):
            self.memory.transports = self.memory.transports[1:]
        self._attacher = _RemoteAttacher(self.connection)
        self.files = Files(self._attacher, store.place, self.memory.transports)

    def _roots(self, numbers: dict[str, int]) -> Subject:
        unknown = [f"{name}={number}" for name, number in numbers.items() if name not in INTERFACES or number <= 0]
        if unknown:
            expected = f"expected positive numbers of {', '.join(INTERFACES)}"
            raise Failed(f"initialize: objects: {expected}, found {unknown[0]}")
        objects = self.connection.objects
        return Subject(**{name: objects.object_of(number, INTERFACES[name]) for name, number in numbers.items()})

    def seconds_for(self, method: str) -> float:
        """The deadline of a call, by the manifest; of calls made at once, that of all one after the other."""
        return self._seconds_for(method) * self.calls_at_once

    def _seconds_for(self, method: str) -> float:
        name = method.rpartition(".")[2]
        if name == "initialize":
            return self.deadlines.start * self.scale
        if name.startswith("prepareModel"):
            return self.deadlines.prepare * self.scale
        return (self.deadlines.execute if name.startswith("execute") else self.deadlines.call) * self.scale

    @property
    def is_listening(self) -> bool:
        """True where what the subject sends is read."""
        return self.connection.broken is None and not self.is_deaf

    def ping(self) -> None:
        """One empty round trip: its answer comes behind all that was sent over the connection before."""
        self.connection.call("ping", protocol.Nothing(), None)

    def catch_up(self) -> None:
        """Handle what was sent before the newest answer over another connection of the subject.

        Where both sides name the same files they are on one host, and what was sent can be read at once. From further
        away it may be on its way still, and the answer to a ping comes behind it.
        """
        if self.memory.transports[:1] != ("path",):
            self.ping()
        while self.is_listening and self.connection.ready():
            self.connection.serve_one()

    def close(self) -> None:
        """End the connection."""
        self.connection.close()
        self._attacher.served.close_all()

    def _verdict(self, problem: WireError | protocol.RemoteError, method: str) -> CaseEnded:
        if isinstance(problem, protocol.RemoteError):
            return Refused(f"{method}: answered with {problem}", problem.code, problem.traceback)
        self._journal.keep()
        self.connection.lines.close()
        if isinstance(problem, Lost):
            return self._endpoint.crash(problem, method)
        partial = self.connection.lines.partial
        is_silent = isinstance(problem, TimedOut) and (not partial or isinstance(problem, Unread))
        stderr = self._endpoint.kill(with_stacks=is_silent)
        if is_silent:
            deaf = "; it did not read what it was sent" if isinstance(problem, Unread) else ""
            return self._hung(method, *stacks.split(stderr), deaf)
        if isinstance(problem, TimedOut):
            within = f"within {self.seconds_for(method):g} s"
            return Failed(f"{method}: half a line, and not its end {within}: {truncated(partial)}")
        return Failed(f"{method}: {problem}")

    def _hung(self, method: str, words: str, stack: str, deaf: str) -> Hung:
        place = stacks.place(stack)
        where = f"; it was at {place}" if place else ""
        within = f"{self.seconds_for(method):g} s"
        return Hung(f"{method}: no answer within {within} (host killed){deaf}{where}", words, stack)


def run_remotely_concurrently(
    calls: Sequence[Callable[[], Result]], *connections: RemoteApplication
) -> list[Result | InterfaceError]:
    """Make calls at once over connections to one subject; a driver may still handle them one after the other."""
    for each in connections:
        each.calls_at_once = len(calls)
    try:
        return run_concurrently(calls, connections[0].initialized.manifest.concurrent_calls, marked_concurrent)
    finally:
        for each in connections:
            each.calls_at_once = 1


class RemoteSubject:
    """The handle of a subject in another process. See SubjectHandle."""

    def __init__(self, endpoint: Endpoint, options: StartOptions, version: Version | None) -> None:
        self._endpoint = endpoint
        self._options = options
        self._store = endpoint.store
        self._applications: list[RemoteApplication] = []
        try:
            self._journal = Journal()
            hint = SilenceHint(endpoint.spec) if endpoint.spec.startswith("exec:") else None
            self._main = self._connect({"key": options.key} if options.key else {}, meanwhile=hint)
        except NoSharedMemory:
            self._endpoint.close()
            raise
        except CaseEnded as ended:
            self._endpoint.close()
            raise LoadError(f"plug-in {endpoint.spec}: {ended}{hint_after(endpoint.spec, ended)}") from None
        except (errors.InterfaceError, LoadError, OSError) as error:
            self._endpoint.close()
            raise error if isinstance(error, LoadError) else LoadError(f"plug-in {endpoint.spec}: {error}") from None
        manifest = self._main.initialized.manifest
        self.manifest = settled(manifest, options.inference_tool, is_loaded_here=options.is_loaded_here)
        self.ignores_tool = self.manifest.inference_tool is None and manifest.inference_tool is not None
        self.version = self._tested_as = version or self.manifest.hal_version
        if self.version > self.manifest.hal_version:
            self.close()
            raise LoadError(
                f"plug-in {endpoint.spec}: asked for HAL {self.version}, it implements {self.manifest.hal_version}"
            )

    @property
    def interfaces(self) -> Subject:
        """Proxies of the interfaces; new ones after a restart."""
        return self._main.interfaces

    @property
    def memory(self) -> Pools:
        """Creates pools."""
        return self._main.memory

    @property
    def files(self) -> Files:
        """Hands cache files over."""
        return self._main.files

    @property
    def connection(self) -> Connection:
        """The control connection."""
        return self._main.connection

    @property
    def spec(self) -> str:
        """How it was named: also where applications connect, if their ticket names no other address."""
        return self._endpoint.spec

    @property
    def shared_folder(self) -> str | None:
        """The private folder, where memory travels by the paths of its files; else None."""
        return self._store.place() if "path" in self._main.memory.transports else None

    def ping(self) -> None:
        """One empty round trip."""
        self._main.ping()

    def wait_until(self, predicate: Callable[[], bool], seconds: float) -> bool:
        """Handle callbacks of every connection until the predicate holds; return false where the time is over."""
        if not self._applications:
            return self._main.connection.serve_until(predicate, seconds)
        deadline = time.monotonic() + seconds
        turns = [each.connection for each in (self._main, *self._applications) if each.is_listening]
        while not predicate():
            if not self.serve_pending():
                remaining = deadline - time.monotonic()
                if remaining <= 0:
                    return False
                is_readable(*(connection.lines.socket for connection in turns), seconds=remaining)
        return True

    def serve_pending(self) -> bool:
        """Handle a callback that has arrived; return false at once where there is none."""
        turns = [each.connection for each in (self._main, *self._applications) if each.is_listening]
        ready = [connection for connection in turns if connection.ready()]
        for connection in ready:
            connection.serve_one()
        return bool(ready)

    def run_concurrently(self, calls: Sequence[Callable[[], Result]]) -> list[Result | InterfaceError]:
        """Make calls of the subject at once, each in a thread of its own that waits for its answers."""
        return run_remotely_concurrently(calls, self._main, *self._applications)

    def application(self, uid: int, pid: int = 0) -> Application:
        """Connect as the app of a uid."""
        if not self._main.initialized.identity:
            raise NotApplicable("the subject's connection cannot bind callers to a uid")
        ticket = self.ticket(uid, pid)
        application = self._connect({"ticket": ticket.ticket, "address": ticket.address})
        open_ones = [each for each in self._applications if each.connection.broken is None]
        self._applications = [*open_ones, application]
        # A subject that fills an application's socket with callbacks would never get to answer the control connection.
        self._main.connection.lines.meanwhile = self._soak
        return application

    def ticket(self, uid: int, pid: int = 0) -> protocol.Ticket:
        """Ask for a ticket that binds one connection to a uid and a pid; the bearer may name the files of the shared
        folder. Raises Failed where its address is not one that such a driver may name.
        """
        request = protocol.TicketRequest(uid, pid, self.shared_folder)
        ticket: protocol.Ticket = self._main.connection.call("control.ticket", request, protocol.Ticket)
        if ticket.address is not None and not is_within_reach(self.spec, ticket.address):
            raise Failed(f"control.ticket: expected null or an address on the driver's host, found {ticket.address}")
        return ticket

    def _soak(self) -> None:
        while any(application.connection.soak() for application in self._applications):
            if self._main.connection.ready():
                return

    def begin_case(self, case: str) -> None:
        """What the host prints and is asked counts from here."""
        self._endpoint.forget_printed()
        self._journal.begin(case)

    def account(self) -> Account:
        """What the host has printed since the case began, and the last calls."""
        stdout, stderr = self._endpoint.printed()
        return Account(stdout=stdout, stderr=stderr, calls=self._journal.calls())

    def alive(self) -> bool:
        """True where the host runs and the connection is whole."""
        return self._main.connection.broken is None and not self._endpoint.has_ended()

    def process(self) -> int:
        """Number of the host's process; 0 where it is not ours."""
        return self._endpoint.process()

    def restart(self, version: Version | None = None) -> None:
        """Replace the host by a new one. Raises Crashed, Hung or Failed where it does not come up."""
        options = self._options
        if version is not None:
            options = replace(options, options=playing(version, self.manifest, options.options))
        self._close_connections()
        self._main = self._connect({"key": options.key} if options.key else {}, options)
        self.version = version or self._tested_as
        found = self._main.initialized.manifest.hal_version
        if version is not None and found != version:
            raise NotApplicable(f"the subject serves HAL {found} also after it was asked for {version}")

    def close(self) -> None:
        """End the host and remove everything it owns."""
        self._close_connections()
        self._journal.close()
        self._endpoint.close()

    def _connect(
        self,
        initialize: dict[str, Any],
        options: StartOptions | None = None,
        meanwhile: Callable[[], None] | None = None,
    ) -> RemoteApplication:
        return RemoteApplication(
            self._endpoint, self._store, options or self._options, initialize, self._journal, meanwhile
        )

    def _close_connections(self) -> None:
        for application in (*self._applications, self._main):
            application.close()
        self._applications.clear()


class _RemoteMemory:
    """Makes pools known over a connection. Attaching waits for no answer: an error shows at the next call."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def attach(self, request: protocol.Attach, descriptor: int | None) -> None:
        self._connection.call_later("memory.attach", request, descriptor)

    def reaches(self, store: FileStore) -> bool:
        """Try whether the subject can open a file of the private directory: it may be on another machine."""
        file = store.take(1, named=True)
        token = new_token()
        try:
            self._connection.call("memory.attach", protocol.Attach(token, 1, "path", file.path), None)
        except protocol.MemoryUnreachableError:
            return False
        finally:
            store.give_back(file)
        self.detach(token)
        return True

    def detach(self, token: int) -> None:
        if self._connection.broken is None:
            self._connection.notify_later("memory.detach", protocol.Detach(token))

    def write(self, token: int, offset: int, data: bytes) -> None:
        self._connection.call("memory.write", protocol.MemoryWrite(token, offset, data), None)

    def read(self, token: int, offset: int, length: int) -> bytes:
        request = protocol.MemoryRead(token, offset, length)
        data: bytes = self._connection.call("memory.read", request, bytes)
        if len(data) != length:
            raise Failed(f"memory.read: expected {length} bytes, found {len(data)}")
        return data


def playing(version: Version, manifest: Manifest, options: dict[str, str]) -> dict[str, str]:
    """Return the options with which a plug-in serves a version. Raises NotApplicable where it has none for that."""
    if "hal" not in manifest.options:
        raise NotApplicable("the subject serves one version of the HAL only")
    return {**options, "hal": version.value}


class _RemoteAttacher:
    """Makes files known over a connection."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self.served = ServedFiles()
        connection.builtins.update(self.served.builtins())

    def attach(self, request: protocol.FileAttach, descriptor: int | None) -> None:
        self._connection.call("file.attach", request, None, descriptor=descriptor)

    def detach(self, token: int) -> None:
        if self._connection.broken is None:
            self._connection.notify_later("file.detach", protocol.FileToken(token))
        self.served.close(token)
