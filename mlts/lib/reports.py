"""What a client process of a stress test receives and what it sends: lines of JSON."""

from __future__ import annotations

import enum

import msgspec

from npu_conformance.specs.documents import Document
from npu_conformance.specs.documents.results import NpuPhase
from npu_conformance.specs.versions import Version

GO = b"\n"
"""What every client receives when all are ready."""
STOP = b"s"
"""What a client that goes on until it is stopped receives when the others have ended."""


class Verdict(enum.Enum):
    """How a client ended: exactly one of four (ML-CRS-001)."""

    SUCCESS = "success"
    FAILURE = "failure"
    HANG = "hang"
    CRASH = "crash"


class Work(enum.Enum):
    """What a client does in each of its rounds."""

    INFER = "infer"
    """An inference; the model stays loaded for as long as it is inferred, with every output compared."""
    LOAD = "load"
    """A model is prepared and released again."""
    GRAPH_LOAD = "graph load"
    """A new random graph is prepared and released again."""
    GRAPH_INFER = "graph infer"
    """A new random graph is prepared, executed once, and judged."""
    LATENCY = "latency"
    """A few inferences without, and as many with, another thread that prepares models all the time."""
    NPU = "npu"
    """A model is loaded when the NPU Manager allows it, executed, and unloaded at the latest when it asks."""


class StoredModel(Document, frozen=True):
    """A stored vector's model."""

    operation: str
    vector: str


class Graphs(Document, frozen=True):
    """Random graphs. seed: of the first; each has the next seed, or the next but seven where it is wide.

    size: operations of each. operations: their names. wide: the largest dimension, 0 for small ones only.
    """

    seed: int
    size: int
    operations: tuple[str, ...]
    wide: int = 0


class Plan(Document, frozen=True):
    """What a client does, in a thread and over a connection of its own for each of its tickets.

    address, tickets: where it connects to the implementation under test, and what binds each connection to a uid.
    transports: of memory, the preferred first. models: each thread begins with the next one. rounds: of each thread.
    seconds: how long instead, where that is given, from GO on. die_after: it kills itself after so many rounds of all
    threads together; 0 for never. die_at: after so many seconds. until_stopped: its one thread goes on until STOP, and
    does its rounds then. mapped: the models' constants lie in a file that is mapped. pause: seconds between two rounds.
    folder: whose files the tickets let it name; None for none. pre_empted: an app that keeps its model until it is
    asked to unload it. crowd: how many threads of all clients make calls at the same time.
    """

    address: str
    tickets: tuple[str, ...]
    transports: tuple[str, ...]
    version: Version
    models: tuple[StoredModel, ...]
    rounds: int
    work: Work = Work.INFER
    graphs: Graphs | None = None
    seconds: float = 0.0
    die_after: int = 0
    die_at: float = 0.0
    until_stopped: bool = False
    mapped: bool = False
    pause: float = 0.0
    folder: str | None = None
    pre_empted: bool = False
    crowd: int = 1

    @property
    def threads(self) -> int:
        """How many threads do rounds. Measuring latency has one, beside the load that it makes."""
        return 1 if self.work is Work.LATENCY else len(self.tickets)

    @property
    def is_victim(self) -> bool:
        """True where the client kills itself."""
        return bool(self.die_after or self.die_at)


class Moment(Document, frozen=True):
    """When an app of the NPU came into a phase, on time.monotonic(), which all processes share.

    inferences: that it had done by then.
    """

    at: float
    phase: NpuPhase
    inferences: int


class Progress(Document, frozen=True, tag="progress"):
    """A sign of life: so many rounds are done by all threads. The first is 0: ready, and waiting for GO.

    moments: that no line before has told of.
    """

    rounds: int
    moments: tuple[Moment, ...] = ()


class Report(Document, frozen=True, tag="report"):
    """The last word of a client. measured: numbers by name, and what it noticed. defect: what went wrong in the client
    program itself; it then has no verdict. lacking: why a client that did nothing wrong could not go on: the device
    does not support what it would do next. moments: as of Progress.
    """

    verdict: Verdict
    rounds: int
    message: str = ""
    defect: str = ""
    lacking: str = ""
    measured: dict[str, float] = msgspec.field(default_factory=dict)
    moments: tuple[Moment, ...] = ()


Line = Progress | Report
