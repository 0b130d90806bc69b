"""Where a subject's connections come from: a host of our own, or an address somebody else listens on."""

from __future__ import annotations

import ipaddress
import socket
import struct
from typing import Protocol

import msgspec

from npu_conformance.harness.judge.verdicts import CaseEnded, Crashed
from npu_conformance.harness.subject.addresses import host_and_port, within_reach
from npu_conformance.harness.subject.plugin_loading import LoadError
from npu_conformance.harness.subject.reset import Reset
from npu_conformance.harness.subject.shared_files import FileStore
from npu_conformance.harness.subject.supervisor import Supervisor
from npu_conformance.harness.subject.zygote import Load
from npu_conformance.harness.wire.framing import Lost
from npu_conformance.specs.manifest import Deadlines, InferenceTool

_CONNECT_SECONDS = 10.0
"""How long who listens may take to accept a connection."""


class Handling(msgspec.Struct, frozen=True):
    """How the user wants a subject to be handled: what its manifest says otherwise, or may not say.

    start_seconds: how long it may take to come up. patience: how many times as long as usual everything may take, that
    too. longest_wait: seconds that no wait exceeds, also for its import, whatever the manifest says; None for no
    limit. inference_tool: to be run instead of what the manifest names, which counts only where a Python plug-in is
    loaded here. reset: to be run after a crash or a hang, likewise.
    """

    start_seconds: float = Deadlines().start
    longest_wait: float | None = None
    patience: float = 1.0
    inference_tool: InferenceTool | None = None
    reset: Reset | None = None

    @property
    def longest_start(self) -> float:
        """Seconds that it may take to come up: nothing is known of its manifest by then."""
        usual = self.start_seconds * self.patience
        return usual if self.longest_wait is None else min(usual, self.longest_wait)


USUAL = Handling()
"""How a subject is handled of which the user says nothing."""


class StartOptions(msgspec.Struct, frozen=True):
    """What a connection is opened with. transports: allowed ones, the preferred first; key: of a listening server.

    is_loaded_here: the other end is a Python plug-in that this user's own process imports: its manifest may name what
    the harness runs.
    """

    transports: tuple[str, ...]
    options: dict[str, str]
    key: str | None = None
    handling: Handling = USUAL
    is_loaded_here: bool = False


class Endpoint(Protocol):
    """Makes connections and knows what became of the process at the other end."""

    spec: str
    store: FileStore
    is_ours: bool
    """Whether hosts are processes that are started and killed here; where they are not, it takes its time until
    somebody else has started one.
    """

    def connect(self, address: str | None) -> socket.socket:
        """Connect to an application's address, or with None open the control connection: a new host where hosts are
        ours.
        """
        ...

    def renew(self) -> None:
        """Have the next host of ours started by a new process: the one that started them may be spoilt by a host."""
        ...

    def usable(self, transports: list[str]) -> list[str]:
        """The transports that can work over such a connection."""
        ...

    def has_ended(self) -> bool:
        """True where the host is known to be dead. Raises LoadError where it never came to life."""
        ...

    def process(self) -> int:
        """Number of the host's process; 0 where it is not ours."""
        ...

    def kill(self, *, with_stacks: bool = False) -> str:
        """Kill the host where it is ours; return its last stderr.

        with_stacks: it may first write there where its threads are, if it is a Python host of ours.
        """
        ...

    def forget_printed(self) -> None:
        """What the host prints counts from here on."""
        ...

    def printed(self) -> tuple[str, str]:
        """The end of the host's standard output and standard error since then; empty where it is not ours."""
        ...

    def crash(self, problem: Lost, doing: str) -> CaseEnded:
        """The verdict on a connection that has ended."""
        ...

    def close(self) -> None:
        """End the host and release everything."""
        ...


class SpawnedEndpoint:
    """Hosts of our own, under a zygote."""

    is_ours = True

    def __init__(self, spec: str, load: Load, store: FileStore) -> None:
        self.spec = spec
        self.store = store
        self._load = load
        self._supervisor = Supervisor(load)

    def connect(self, address: str | None) -> socket.socket:
        """Start a host, or connect to the running one as an application."""
        if address is not None:
            return connect_to(address)
        if self._supervisor.gone:
            self.renew()
        return self._supervisor.start()

    def renew(self) -> None:
        """Replace the zygote."""
        self._supervisor.close()
        self.store.place()
        self._supervisor = Supervisor(self._load)

    def usable(self, transports: list[str]) -> list[str]:
        """Return all of them: the host is on this machine."""
        return transports

    def has_ended(self) -> bool:
        """True where the host is dead."""
        return self._supervisor.has_ended()

    def process(self) -> int:
        """Number of the host's process."""
        return self._supervisor.process()

    def kill(self, *, with_stacks: bool = False) -> str:
        """Kill the host."""
        return self._supervisor.kill(with_stacks=with_stacks)

    def forget_printed(self) -> None:
        """What hosts print counts from here on."""
        self._supervisor.forget_printed()

    def printed(self) -> tuple[str, str]:
        """The end of what hosts have printed."""
        return self._supervisor.printed()

    def crash(self, problem: Lost, doing: str) -> CaseEnded:
        """The verdict on how the host died."""
        return self._supervisor.crash(problem, doing)

    def close(self) -> None:
        """End the zygote."""
        self._supervisor.close()
        self.store.close()


_NOT_OURS = "the harness did not start this process: why it ended, if it did, is reported where it was started"


class ListeningEndpoint:
    """Somebody else's server. A hang or a breach can only be answered by a new connection."""

    is_ours = False

    def __init__(self, spec: str, store: FileStore) -> None:
        self.spec = spec
        self.store = store

    def connect(self, address: str | None) -> socket.socket:
        """Connect."""
        return connect_to(address or self.spec)

    def renew(self) -> None:
        """Do nothing: the server is not ours to start."""

    def usable(self, transports: list[str]) -> list[str]:
        """Return all but `descriptor` over tcp, where no descriptors travel."""
        return [name for name in transports if name != "descriptor" or self.spec.startswith("unix:")]

    def has_ended(self) -> bool:
        """Return false: nothing but the connection shows the server's end."""
        return False

    def process(self) -> int:
        """Return 0: the process may be on another machine."""
        return 0

    def kill(self, *, with_stacks: bool = False) -> str:
        """Do nothing: the server is not ours to kill."""
        return ""

    def forget_printed(self) -> None:
        """Do nothing: what the server prints goes elsewhere."""

    def printed(self) -> tuple[str, str]:
        """Return nothing."""
        return "", ""

    def crash(self, problem: Lost, doing: str) -> CaseEnded:
        """The connection's end is all that is seen of a crash: the process is not the harness's, and may live on."""
        return Crashed(f"{doing}: {problem}; {_NOT_OURS}")

    def close(self) -> None:
        """Release the shared memory."""
        self.store.close()


def is_within_reach(spec: str, address: str) -> bool:
    """True where a driver may send its apps there; one that is reached over tcp may name only ports of its own host.

    What it names is where the harness connects, and the harness can reach more than such a driver may.
    """
    if not spec.startswith("tcp:"):
        return True
    scheme, own, other = address.partition(":")[0], _host(spec), _host(address)
    return scheme == "tcp" and (own == other or (_is_loopback(own) and _is_loopback(other)))


def _host(address: str) -> str:
    return address.partition(":")[2].rpartition(":")[0].strip("[]")


def _is_loopback(host: str) -> bool:
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def connect_to(address: str) -> socket.socket:
    """Connect to unix:PATH or tcp:HOST:PORT. Raises LoadError."""
    scheme, _, rest = address.partition(":")
    try:
        if scheme == "unix":
            return _connect_unix(rest)
        if scheme == "tcp":
            return socket.create_connection(host_and_port(rest), timeout=_CONNECT_SECONDS)
    except (OSError, ValueError, OverflowError) as error:
        raise LoadError(f"cannot connect to {address}: {getattr(error, 'strerror', None) or error}") from None
    raise LoadError(f"not an address: {address!r}: expected unix:PATH or tcp:HOST:PORT")


def _connect_unix(path: str) -> socket.socket:
    """Where the queue of who listens there is full, the kernel waits as for sending; Python's own timeout would not."""
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, _time_of_kernel(_CONNECT_SECONDS))
        with within_reach(path) as name:
            connection.connect(name)
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, _time_of_kernel(0))
    except BlockingIOError:
        connection.close()
        raise TimeoutError(f"nobody accepts the connection within {_CONNECT_SECONDS:g} s") from None
    except BaseException:
        connection.close()
        raise
    return connection


def _time_of_kernel(seconds: float) -> bytes:
    """A struct timeval; of no seconds it means for ever."""
    return struct.pack("@ll", int(seconds), int(seconds % 1 * 1e6))
