"""What a client process of a stress test receives and what it sends: lines of JSON."""

from __future__ import annotations

import enum

import msgspec

from npu_conformance.specs.documents import Document
from npu_conformance.specs.versions import Version

GO = b"\n"
"""What every client receives when all are ready."""


class Verdict(enum.Enum):
    """How a client ended: exactly one of four (ML-CRS-001)."""

    SUCCESS = "success"
    FAILURE = "failure"
    HANG = "hang"
    CRASH = "crash"


class Plan(Document, frozen=True):
    """What a client does: load one stored vector's model and execute it again and again.

    address, ticket: where it connects to the implementation under test, and what binds the connection to a uid.
    transports: of memory, the preferred first. die_after: it kills itself after that many inferences; 0 for never.
    folder: whose files the ticket lets it name; None for none.
    """

    address: str
    ticket: str
    transports: tuple[str, ...]
    version: Version
    operation: str
    vector: str
    inferences: int
    die_after: int = 0
    folder: str | None = None


class Progress(Document, frozen=True, tag="progress"):
    """A sign of life: so many inferences are done. The first is 0: ready, and waiting for GO."""

    inferences: int


class Report(Document, frozen=True, tag="report"):
    """The last word of a client. defect: what went wrong in the client program itself; it then has no verdict."""

    verdict: Verdict
    inferences: int
    message: str = ""
    defect: str = ""


Line = Progress | Report


def encode(line: Plan | Line) -> bytes:
    """One message with its line end."""
    return msgspec.json.encode(line) + b"\n"
