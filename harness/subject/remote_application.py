"""One connection to a subject in another process: the part that the handle and the connections of apps share."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from msgspec import structs

import npu_conformance
from npu_conformance.harness.judge.verdicts import CaseEnded, Failed, Hung, Refused, breach
from npu_conformance.harness.subject.concurrency import Result, run_concurrently
from npu_conformance.harness.subject.endpoints import Endpoint, StartOptions
from npu_conformance.harness.subject.files import Files, ServedFiles
from npu_conformance.harness.subject.memory_kinds import new_token
from npu_conformance.harness.subject.patience import limited
from npu_conformance.harness.subject.pools import Pools, SharedPools
from npu_conformance.harness.subject.shared_files import FileStore
from npu_conformance.harness.wire import protocol
from npu_conformance.harness.wire.connection import Connection, marked_concurrent
from npu_conformance.harness.wire.framing import LineSocket, Lost, TimedOut, Unread, WireError, truncated
from npu_conformance.harness.wire.journal import Journal
from npu_conformance.harness.wire.outstanding import Waiter
from npu_conformance.harness.wire.starvation import Patience, starved_threads
from npu_conformance.specs.diagnostics import stacks
from npu_conformance.specs.errors import InterfaceError
from npu_conformance.specs.manifest import Deadlines
from npu_conformance.specs.plugin import INTERFACES, Subject


class RemoteApplication:
    """One connection to the subject: the part that the handle and applications share.

    meanwhile: called now and then while the handshake is awaited.
    """

    def __init__(
        self,
        endpoint: Endpoint,
        options: StartOptions,
        ticket: protocol.Ticket | None = None,
        journal: Journal | None = None,
        meanwhile: Callable[[], None] | None = None,
    ) -> None:
        """Connect and shake hands. ticket: whose bearer is an app; None for the control connection, and for an app of
        which the kernel says who it is.
        """
        self._endpoint = endpoint
        self._journal = journal or Journal()
        self._options = options
        self._is_app = ticket is not None
        self.is_deaf = False
        self.deadlines = Deadlines(start=options.handling.longest_start)
        self.scale = 1.0
        self.calls_at_once = 1
        socket = endpoint.connect(ticket.address if ticket else None)
        self.connection = Connection(
            LineSocket(
                socket,
                has_ended=endpoint.has_ended,
                patience=Patience(lambda: starved_threads(endpoint.process())),
            ),
            -1,
            strict=True,
            problem=self._verdict,
            deadline_of=self.seconds_for,
            page=self._journal.page(),
        )
        try:
            self.connection.lines.meanwhile = meanwhile
            self._begin(endpoint.store, ticket)
            self.connection.lines.meanwhile = None
        except BaseException:
            self.connection.close()
            raise

    def _begin(self, store: FileStore, ticket: protocol.Ticket | None) -> None:
        request = protocol.Initialize(
            protocol.PROTOCOL_VERSION,
            f"npu-conformance {npu_conformance.__version__}",
            self._options.transports,
            options=self._options.options,
            key=None if ticket else self._options.key or None,
            ticket=ticket.ticket if ticket else None,
        )
        answer = self.connection.call("initialize", request, protocol.Initialized)
        if answer.protocol_version != protocol.PROTOCOL_VERSION:
            expected = f"expected {protocol.PROTOCOL_VERSION}"
            raise Failed(f"initialize: protocol version {answer.protocol_version}: {expected}")
        handling = self._options.handling
        answer = structs.replace(answer, manifest=limited(answer.manifest, handling.longest_wait, handling.patience))
        self.initialized: protocol.Initialized = answer
        self.deadlines = answer.manifest.deadlines
        self.scale = answer.manifest.time_scale
        self.interfaces = self._roots(answer.objects)
        usable = [name for name in self._options.transports if name in answer.transports]
        link = RemoteMemory(self.connection)
        self.memory: Pools = SharedPools(link, store, self._endpoint.usable(usable))
        if self.memory.transports[:1] == ("path",) and not self._reaches(link, store):
            self.memory.transports = self.memory.transports[1:]
        self._attacher = _RemoteAttacher(self.connection)
        self.files = Files(self._attacher, store.place, self.memory.transports)

    def _reaches(self, link: RemoteMemory, store: FileStore) -> bool:
        """Whether the subject can open files of the private directory."""
        return link.reaches(store)

    def _roots(self, numbers: dict[str, int]) -> Subject:
        unknown = [f"{name}={number}" for name, number in numbers.items() if name not in INTERFACES or number <= 0]
        if unknown:
            expected = f"expected positive numbers of {', '.join(INTERFACES)}"
            raise Failed(f"initialize: objects: {expected}, found {unknown[0]}")
        objects = self.connection.objects
        try:
            return Subject(**{name: objects.object_of(number, INTERFACES[name]) for name, number in numbers.items()})
        except ValueError as error:
            raise Failed(f"initialize: objects: expected a number of its own for each interface: {error}") from None

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
            return Refused(f"{method}: {problem}", problem.code, problem.traceback)
        self._journal.keep()
        self.connection.hang_up()
        if isinstance(problem, Lost):
            return self._endpoint.crash(problem, f"{method} of an app" if self._is_app else method)
        partial = self.connection.lines.partial
        is_silent = isinstance(problem, TimedOut) and (not partial or isinstance(problem, Unread))
        stderr = self._endpoint.kill(with_stacks=is_silent)
        if is_silent:
            deaf = "; it did not read what it was sent" if isinstance(problem, Unread) else ""
            return self._hung(method, *stacks.split(stderr), deaf)
        if isinstance(problem, TimedOut):
            within = f"within {self.seconds_for(method):g} s"
            return breach(f"{method}: half a line, and not its end {within}: {truncated(partial)}")
        return breach(f"{method}: {problem}")

    def _hung(self, method: str, words: str, stack: str, deaf: str) -> Hung:
        place = stacks.place(stack)
        where = f"; it was at {place}" if place else ""
        within = f"{self.seconds_for(method):g} s"
        end = "host killed" if self._endpoint.is_ours else "connection closed"
        return Hung(f"{method}: no answer within {within} ({end}){deaf}{where}", words, stack)


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


class RemoteMemory:
    """Makes pools known over a connection. Attaching waits for no answer: an error shows at the next call."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._attached: dict[int, Waiter] = {}

    def attach(self, request: protocol.Attach, descriptor: int | None) -> None:
        self._attached[request.token] = self._connection.call_later("memory.attach", request, descriptor)

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
        """Forget a pool. Where nothing was sent since it was made, its file is gone when the subject looks for it."""
        if (waiter := self._attached.pop(token, None)) is not None:
            waiter.is_void = True
        if self._connection.broken is None:
            self._connection.notify_later("memory.detach", protocol.Detach(token))

    def write(self, token: int, offset: int, data: bytes) -> None:
        self._connection.call("memory.write", protocol.MemoryWrite(token, offset, data), None)

    def read(self, token: int, offset: int, length: int) -> bytes:
        request = protocol.MemoryRead(token, offset, length)
        data: bytes = self._connection.call("memory.read", request, bytes)
        if len(data) != length:
            raise breach(f"memory.read: expected {length} bytes, found {len(data)}")
        return data


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
