"""The host's side of one connection: handshake, identity of the caller, memory, and calls of the plug-in."""

from __future__ import annotations

import contextlib
import dataclasses
import itertools
import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from npu_conformance.harness.wire import protocol
from npu_conformance.harness.wire.binding import BoundMethod
from npu_conformance.harness.wire.connection import Connection
from npu_conformance.harness.wire.files import HostFiles, RemoteFiles
from npu_conformance.harness.wire.framing import LineSocket
from npu_conformance.harness.wire.memory import HostMemory
from npu_conformance.harness.wire.paths import EVERYWHERE, NOWHERE, Paths
from npu_conformance.specs.diagnostics import signatures
from npu_conformance.specs.errors import IllegalState, SecurityDenied
from npu_conformance.specs.interfaces import Interface
from npu_conformance.specs.manifest import InterfaceName, Manifest
from npu_conformance.specs.plugin import Caller, Context, Plugin, Subject

ROOTS: tuple[InterfaceName, ...] = ("device", "scheduling", "workload", "manager", "runtime")
CONTROLS = ("scheduling_control", "manager_control", "runtime_control")
"""Roots that only the harness may reach."""

_DEFAULT_INTERFACES = Manifest(name="default", vendor="", version="").interfaces
"""This very object is in a manifest that names no interfaces."""
_MOST_TICKETS = 1000


class Callers:
    """Whose call each thread is serving. Threads that serve none act for the host process itself.

    A thread that a plug-in starts for a call serves it too where it runs in a copy of the call's context (contextvars).
    """

    def __init__(self) -> None:
        self._current: ContextVar[Caller | None] = ContextVar("caller", default=None)

    def current(self) -> Caller:
        """The caller of the current call."""
        return self._current.get() or Caller(os.getuid(), os.getpid())

    @contextmanager
    def acting(self, caller: Caller) -> Iterator[None]:
        """Serve a call of this caller."""
        before = self._current.set(caller)
        try:
            yield
        finally:
            self._current.reset(before)


class HostState:
    """What the connections of one host share: the plug-in's objects, memory, tickets.

    address: starts listening at its first call, and returns where applications connect (None: as the control
    connection did). key: what makes a connection the control connection, None where none can be. own_process: see
    Context.
    """

    def __init__(
        self,
        plugin: Plugin,
        options: dict[str, str] | None = None,
        *,
        key: str | None = None,
        address: Callable[[], str | None] | None = None,
        own_process: bool = False,
    ) -> None:
        self.plugin = plugin
        self.options = options or {}
        self.key = key
        self.callers = Callers()
        self.memory = HostMemory()
        self.files = HostFiles()
        self._address = address
        self._own_process = own_process
        self._tickets: dict[str, tuple[Caller, Paths]] = {}
        self._hang_up_listeners: list[Callable[[Caller], None]] = []
        self._connections = itertools.count(1)
        self._subject: Subject | None = None
        self._creating = threading.Lock()

    @property
    def gives_identity(self) -> bool:
        """True where tickets can be used."""
        return self._address is not None

    def subject(self, options: dict[str, str]) -> Subject:
        """The plug-in's objects, created at the first call; options given there come on top of the host's."""
        with self._creating:
            if self._subject is None:
                manifest = self.plugin.describe(self.options)
                known = manifest.options
                # `hal` comes with every run at a chosen version, also to plug-ins that have only one.
                chosen = {name: value for name, value in options.items() if name != "hal" or name in known}
                self.options = {**self.options, **chosen}
                context = Context(
                    self.memory,
                    self.callers.current,
                    self.options,
                    own_process=self._own_process,
                    files=self.files,
                    on_hang_up=self._hang_up_listeners.append,
                    exports=self.memory,
                    descriptors=self.memory,
                )
                made = _require_subject(self._created(context))
                _require_named(made, manifest)
                self._subject = made
            return self._subject

    def _created(self, context: Context) -> object:
        try:
            return self.plugin.create(context)
        except TypeError as error:
            signatures.explain(error, self.plugin.create, "a factory is called with a Context")
            raise

    def connected(self, caller: Caller) -> Caller:
        """The caller of a new connection."""
        return dataclasses.replace(caller, connection=next(self._connections))

    def hung_up(self, caller: Caller) -> None:
        """Tell the plug-in that a caller's connection has closed: all who listen, also where one of them raises."""
        with contextlib.ExitStack() as told:
            for listener in reversed(self._hang_up_listeners):
                told.callback(listener, caller)

    def issue_ticket(self, request: protocol.TicketRequest) -> protocol.Ticket:
        """Return a ticket that binds one connection to a uid, and lets it name the files of a folder."""
        if self._address is None:
            raise IllegalState("this host gives no tickets")
        if len(self._tickets) >= _MOST_TICKETS:
            raise IllegalState(f"{_MOST_TICKETS} tickets are outstanding")
        ticket = os.urandom(16).hex()
        self._tickets[ticket] = Caller(request.uid, request.pid), Paths(request.folder)
        return protocol.Ticket(ticket, self._address())

    def redeem(self, ticket: str) -> tuple[Caller, Paths]:
        """Return who the bearer of a ticket is, and which files it may name, once."""
        found = self._tickets.pop(ticket, None)
        if found is None:
            raise SecurityDenied("the ticket is not valid")
        return found


def _require_subject(made: object) -> Subject:
    """Return what a plug-in's factory made. Raises IllegalState where that is something else than a subject."""
    if not isinstance(made, Subject):
        found = "None" if made is None else f"an object of {type(made).__name__}"
        raise IllegalState(f"its factory returned {found}: expected a Subject, such as Subject(device=...)")
    for field in dataclasses.fields(made):
        part = getattr(made, field.name)
        if part is not None and Interface not in type(part).__mro__:
            wanted = str(field.type).partition(" ")[0]
            if isinstance(part, type):
                raise IllegalState(f"its {field.name} is the class {part.__name__}: expected {part.__name__}(...)")
            raise IllegalState(f"its {field.name}, an object of {type(part).__name__}, does not inherit from {wanted}")
    _require_objects_of_their_own(made)
    return made


def _require_named(made: Subject, manifest: Manifest) -> None:
    """Raise IllegalState where a manifest that names no interfaces, and so the device alone, has others beside it."""
    if manifest.interfaces is not _DEFAULT_INTERFACES:
        return
    has = tuple(field.name for field in dataclasses.fields(made) if getattr(made, field.name) is not None)
    if unnamed := [name for name in has if name not in manifest.interfaces]:
        told = f"its Subject has a {' and a '.join(unnamed)}, and its manifest names no interfaces"
        raise IllegalState(f"{told}: write Manifest(..., interfaces={has!r})")


def _require_objects_of_their_own(made: Subject) -> None:
    """Raise IllegalState where two interfaces have one object: by the wire an object has one interface."""
    names: dict[int, str] = {}
    for field in dataclasses.fields(made):
        part = getattr(made, field.name)
        if part is None:
            continue
        if id(part) in names:
            raise IllegalState(f"its {names[id(part)]} and {field.name} are one object: they need two objects")
        names[id(part)] = field.name


class HostConnection(Connection):
    """One connection at the host. control: only the harness can hold its other end. open: needs no key or ticket.

    paths: the files of this machine that the other end may name; on a control connection any.
    """

    def __init__(
        self,
        lines: LineSocket,
        host: HostState,
        peer: Caller,
        *,
        control: bool,
        open_to_all: bool,
        paths: Paths = NOWHERE,
    ) -> None:
        super().__init__(lines, +1, strict=False)
        self._host = host
        self._caller = peer
        self._control = control
        self._open = open_to_all
        self._named = paths
        self._initialized = False
        self._attached: set[int] = set()
        self._attached_files: set[int] = set()
        self.builtins = {"initialize": (protocol.Initialize, self._initialize)}

    def perform_call(self, interface: type, method: BoundMethod, params: Any) -> object:
        """Call the plug-in as the connection's caller."""
        if not self._initialized:
            raise IllegalState("initialize comes first")
        with self._host.callers.acting(self._caller):
            return super().perform_call(interface, method, params)

    def _initialize(self, request: protocol.Initialize) -> protocol.Initialized:
        if request.protocol_version < 1:
            raise IllegalState(f"protocol version {request.protocol_version} is not known")
        self._identify(request)
        subject = self._host.subject(request.options)
        roots = (*ROOTS, *CONTROLS) if self._control else ROOTS
        names = [name for name in roots if getattr(subject, name) is not None]
        self.builtins = self._builtins()
        self._caller = self._host.connected(self._caller)
        self._initialized = True
        manifest = self._host.plugin.describe(self._host.options)
        return protocol.Initialized(
            protocol_version=protocol.PROTOCOL_VERSION,
            manifest=manifest,
            objects={name: self.objects.number_of(getattr(subject, name)) for name in names},
            transports=tuple(name for name in self._transports() if name in manifest.memory_transports),
            identity=self._control and self._host.gives_identity,
        )

    @property
    def _paths(self) -> Paths:
        return EVERYWHERE if self._control else self._named

    def _transports(self) -> list[str]:
        possible = {"path": bool(self._paths), "descriptor": self.lines.carries_descriptors, "message": True}
        return [name for name in protocol.TRANSPORTS if possible[name]]

    def _identify(self, request: protocol.Initialize) -> None:
        if request.ticket is not None:
            (self._caller, self._named), self._control = self._host.redeem(request.ticket), False
        elif request.key is not None:
            from hmac import compare_digest

            if self._host.key is None or not compare_digest(request.key.encode(), self._host.key.encode()):
                raise SecurityDenied("the key is wrong")
            self._control = True
        elif not self._open:
            raise SecurityDenied("this address needs a key or a ticket")

    def _builtins(self) -> dict[str, Any]:
        memory = self._host.memory
        common: dict[str, Any] = {
            "ping": (protocol.Nothing, lambda _: None),
            "object.release": (protocol.Release, self.objects.release),
            "fence.state": (protocol.FenceNews, self.objects.fence_news),
            "memory.attach": (protocol.Attach, self._attach),
            "memory.detach": (protocol.Detach, self._detach),
            "memory.write": (protocol.MemoryWrite, memory.write),
            "memory.read": (protocol.MemoryRead, memory.read),
            "file.attach": (protocol.FileAttach, self._attach_file),
            "file.detach": (protocol.FileToken, self._detach_file),
        }
        control = {"control.ticket": (protocol.TicketRequest, self._host.issue_ticket)} if self._control else {}
        return {**common, **control}

    def _attach(self, request: protocol.Attach) -> None:
        self._host.memory.attach(request, self._descriptor(request.transport), self._paths)
        self._attached.add(request.token)

    def _detach(self, request: protocol.Detach) -> None:
        self._host.memory.detach(request)
        self._attached.discard(request.token)

    def _attach_file(self, request: protocol.FileAttach) -> None:
        descriptor = self._descriptor(request.transport)
        self._host.files.attach(request, descriptor, RemoteFiles(self), self._paths)
        self._attached_files.add(request.token)

    def _detach_file(self, request: protocol.FileToken) -> None:
        self._host.files.detach(request)
        self._attached_files.discard(request.token)

    def _descriptor(self, transport: str) -> int | None:
        """The descriptor that came with a request of this transport."""
        received = self.lines.descriptors
        return received.popleft() if transport == "descriptor" and received else None

    def close(self) -> None:
        """End the connection, forget the memory and the files that were attached over it, and tell the plug-in."""
        super().close()
        while self._attached:
            self._host.memory.detach(protocol.Detach(self._attached.pop()))
        while self._attached_files:
            self._host.files.detach(protocol.FileToken(self._attached_files.pop()))
        if self._initialized:
            self._initialized = False
            self._host.hung_up(self._caller)
