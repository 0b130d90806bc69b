"""A subject in another process, behind a connection, and the connections of further apps."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Sequence

from msgspec.structs import replace

from npu_conformance.harness.judge.verdicts import CaseEnded, Crashed, Failed, NoSharedMemory, NotApplicable, breach
from npu_conformance.harness.subject.concurrency import Result
from npu_conformance.harness.subject.endpoints import Endpoint, StartOptions, is_within_reach
from npu_conformance.harness.subject.files import Files
from npu_conformance.harness.subject.first_words import SilenceHint, hint_after
from npu_conformance.harness.subject.handle import Application
from npu_conformance.harness.subject.inference_tool import settled
from npu_conformance.harness.subject.plugin_loading import LoadError
from npu_conformance.harness.subject.pools import Pools
from npu_conformance.harness.subject.remote_application import RemoteApplication, run_remotely_concurrently
from npu_conformance.harness.subject.reset import hint, reset_of
from npu_conformance.harness.wire import protocol
from npu_conformance.harness.wire.connection import Connection
from npu_conformance.harness.wire.framing import is_readable
from npu_conformance.harness.wire.journal import Journal
from npu_conformance.specs import errors
from npu_conformance.specs.documents.failures import Account
from npu_conformance.specs.errors import InterfaceError
from npu_conformance.specs.manifest import Manifest
from npu_conformance.specs.plugin import Subject
from npu_conformance.specs.versions import Version

_LOOK_AGAIN_SECONDS = 0.1
"""Between two attempts to connect to a driver that somebody else starts."""

_KEY = "--plugin-option key-file=FILE"


class RemoteSubject:
    """The handle of a subject in another process. See SubjectHandle."""

    def __init__(self, endpoint: Endpoint, options: StartOptions, version: Version | None) -> None:
        self._endpoint = endpoint
        self._options = options
        self._applications: list[RemoteApplication] = []
        with contextlib.ExitStack() as undo:
            undo.callback(endpoint.close)
            self._journal = Journal()
            undo.callback(self._journal.close)
            self._main = self._first_connection()
            undo.callback(self._close_connections)
            self._accept(self._main.initialized.manifest, version)
            undo.pop_all()

    def _first_connection(self) -> RemoteApplication:
        """Start the subject and shake hands with it. Raises LoadError, NoSharedMemory."""
        spec = self._endpoint.spec
        try:
            return self._connect(self._options, meanwhile=SilenceHint(spec) if spec.startswith("exec:") else None)
        except (NoSharedMemory, LoadError):
            raise
        except CaseEnded as ended:
            raise LoadError(f"plug-in {spec}: {ended}{hint_after(spec, ended)}") from None
        except (errors.InterfaceError, OSError) as error:
            hint_of_key = f" (it is given with {_KEY})" if isinstance(error, errors.SecurityDenied) else ""
            raise LoadError(f"plug-in {spec}: {error}{hint_of_key}") from None

    def _accept(self, manifest: Manifest, version: Version | None) -> None:
        """Take the manifest's word, and that of the options. Raises LoadError where it cannot be tested as asked."""
        spec, options = self._endpoint.spec, self._options
        self.manifest = settled(manifest, options.handling.inference_tool, is_loaded_here=options.is_loaded_here)
        self._reset = reset_of(manifest, options.handling.reset, is_loaded_here=options.is_loaded_here)
        _check_transports(spec, manifest, options.transports)
        self.ignores_tool = self.manifest.inference_tool is None and manifest.inference_tool is not None
        self.version = self._tested_as = version or self.manifest.hal_version
        if self.version > self.manifest.hal_version:
            raise LoadError(f"plug-in {spec}: asked for HAL {self.version}, it implements {self.manifest.hal_version}")

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
        return self._endpoint.store.place() if "path" in self._main.memory.transports else None

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
        try:
            application = self._connect(self._options, ticket)
        except LoadError as error:
            raise breach(f"control.ticket: expected null or an address where the driver listens: {error}") from None
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
        if ticket.address is None and self._endpoint.is_ours:
            raise breach("control.ticket: expected the address where the driver listens for its apps, found null")
        if ticket.address is not None and not is_within_reach(self.spec, ticket.address):
            raise Failed(f"control.ticket: expected null or an address on the driver's host, found {ticket.address}")
        return ticket

    def _soak(self) -> None:
        while any(each.connection.soak() for each in self._applications if each.is_listening):
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
        """Replace the host by a new one. Raises Crashed, Hung, Failed or LoadError where it does not come up."""
        options = self._options
        if version is not None:
            options = replace(options, options=playing(version, self.manifest, options.options))
        is_lost = self._is_lost()
        self._close_connections()
        if is_lost and self._reset is not None:
            self._endpoint.kill()
            self._reset.run()
        self._main = self._connected_again(options)
        self.version = version or self._tested_as
        found = self._main.initialized.manifest.hal_version
        if version is not None and found != version:
            raise NotApplicable(f"the subject serves HAL {found} also after it was asked for {version}")

    def _is_lost(self) -> bool:
        """True where the host has ended or its connection is broken, unlike where a new one is asked for."""
        try:
            return not self.alive()
        except LoadError:
            return True

    def _connected_again(self, options: StartOptions) -> RemoteApplication:
        """Connect to a new host; whoever is to start one elsewhere has as long as a driver may take to start.

        A host of ours that does not come up may suffer from what an earlier one did to the process that starts hosts,
        as with prlimit(2): a new one of these gets a try.
        """
        if self._endpoint.is_ours:
            try:
                return self._connect(options)
            except (LoadError, CaseEnded):
                self._endpoint.renew()
                return self._connect(options)
        last = time.monotonic() + self.manifest.deadlines.start * self.manifest.time_scale
        while True:
            try:
                return self._connect(options)
            except (LoadError, Crashed) as error:
                if time.monotonic() >= last:
                    raise LoadError("; ".join(filter(None, (str(error), hint(self.manifest, self._reset))))) from None
            time.sleep(_LOOK_AGAIN_SECONDS)

    def close(self) -> None:
        """End the host and remove everything it owns."""
        self._close_connections()
        self._journal.close()
        self._endpoint.close()

    def _connect(
        self,
        options: StartOptions,
        ticket: protocol.Ticket | None = None,
        meanwhile: Callable[[], None] | None = None,
    ) -> RemoteApplication:
        return RemoteApplication(self._endpoint, options, ticket, self._journal, meanwhile)

    def _close_connections(self) -> None:
        for application in (*self._applications, self._main):
            application.close()
        self._applications.clear()


def _check_transports(spec: str, manifest: Manifest, asked: tuple[str, ...]) -> None:
    """Raise LoadError where the user asked for transports of memory that the manifest does not name."""
    named = manifest.memory_transports
    if named and not set(named) & set(asked):
        raise LoadError(
            f"plug-in {spec}: transport {' '.join(asked)}: its manifest has memory_transports {' '.join(named)} alone"
        )


def playing(version: Version, manifest: Manifest, options: dict[str, str]) -> dict[str, str]:
    """Return the options with which a plug-in serves a version. Raises NotApplicable where it has none for that."""
    if "hal" not in manifest.options:
        raise NotApplicable("the subject serves one version of the HAL only")
    return {**options, "hal": version.value}
