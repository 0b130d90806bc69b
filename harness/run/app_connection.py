"""How a client process reaches the implementation under test: a connection of its own, as an app of its own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NoReturn

from msgspec.structs import replace

from npu_conformance.harness.judge.verdicts import Crashed, NotApplicable
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.harness.subject.concurrency import Result
from npu_conformance.harness.subject.endpoints import ListeningEndpoint, StartOptions
from npu_conformance.harness.subject.plugin_loading import LoadError
from npu_conformance.harness.subject.remote import RemoteSubject
from npu_conformance.harness.subject.remote_application import RemoteApplication, run_remotely_concurrently
from npu_conformance.harness.subject.shared_files import FileStore
from npu_conformance.harness.wire.protocol import Ticket
from npu_conformance.specs.documents.failures import Account
from npu_conformance.specs.errors import IllegalState, InterfaceError
from npu_conformance.specs.versions import Version


class ClientSubject:
    """The subject handle of a client process. It cannot restart the host, nor speak for other apps."""

    ignores_tool = False

    def __init__(
        self,
        address: str,
        ticket: str | None,
        transports: tuple[str, ...],
        version: Version,
        folder: str | None = None,
        patience: float = 0.0,
        crowd: int = 1,
    ) -> None:
        """Connect. ticket: None where the client is who the kernel says it is.

        folder: the folder whose files the ticket lets it name; None for a folder of its own. patience: the seconds that
        an execution may take at least, for apps whose work waits for that of others. crowd: how many make calls at
        the same time: a driver may handle them one after the other. Raises Crashed where nobody listens.
        """
        self._endpoint = ListeningEndpoint(address, FileStore(folder))
        try:
            self._application = RemoteApplication(
                self._endpoint, StartOptions(transports, {}), Ticket(ticket) if ticket else None
            )
        except LoadError as error:
            self._endpoint.close()
            raise Crashed(f"the driver was gone before this client reached it: {error}") from None
        except BaseException:
            self._endpoint.close()
            raise
        deadlines = self._application.deadlines
        self._application.deadlines = replace(deadlines, execute=max(deadlines.execute, patience))
        self._application.scale *= crowd
        self.manifest = replace(self._application.initialized.manifest, time_scale=self._application.scale)
        self.version = version
        self.interfaces = self._application.interfaces
        self.memory = self._application.memory
        self.files = self._application.files

    def ping(self) -> None:
        """One empty round trip."""
        self._application.ping()

    def wait_until(self, predicate: Callable[[], bool], seconds: float) -> bool:
        """Handle incoming callbacks until the predicate holds; return false where the time is over before that."""
        return self._application.connection.serve_until(predicate, seconds)

    def serve_pending(self) -> bool:
        """Handle a callback that has arrived; return false at once where there is none."""
        connection = self._application.connection
        ready = connection.broken is None and connection.ready()
        if ready:
            connection.serve_one()
        return ready

    def run_concurrently(self, calls: Sequence[Callable[[], Result]]) -> list[Result | InterfaceError]:
        """Make calls at once over this connection."""
        return run_remotely_concurrently(calls, self._application)

    def application(self, uid: int, pid: int = 0) -> NoReturn:
        """Raise NotApplicable: a client is one app only."""
        raise NotApplicable("a client process is one app only")

    def begin_case(self, case: str) -> None:
        """Do nothing: the case is the harness's."""

    def account(self) -> Account:
        """Return nothing: what the host prints is the harness's to keep."""
        return Account()

    def alive(self) -> bool:
        """True while the connection is whole."""
        return self._application.connection.broken is None

    def process(self) -> int:
        """Return 0: a client does not know the host's process."""
        return 0

    def restart(self, version: Version | None = None) -> NoReturn:
        """Raise NotApplicable: the host is not the client's to restart."""
        raise NotApplicable("a client process cannot restart the host")

    def close(self) -> None:
        """End the connection and give the memory back."""
        self._application.close()
        self._endpoint.close()


def ticket_for(context: CaseContext, uid: int) -> tuple[str, str, str | None]:
    """Return where another process connects to the context's subject, its ticket, and the folder of the ticket.

    NotApplicable where none can.
    """
    subject = context.subject
    if not isinstance(subject, RemoteSubject):
        raise NotApplicable("client processes need a subject in a process of its own")
    try:
        return *ticket_of(subject, uid), subject.shared_folder
    except IllegalState as error:
        raise NotApplicable(f"client processes cannot connect: {error}") from None


def ticket_of(subject: RemoteSubject, uid: int, pid: int = 0) -> tuple[str, str]:
    """Return where a process connects to a subject as this uid and pid, and its ticket; IllegalState where none can."""
    ticket = subject.ticket(uid, pid)
    return ticket.address or subject.spec, ticket.ticket
