"""What the supervisor tells the fuzzer's process."""

from __future__ import annotations

from typing import Literal

from npu_conformance.fuzz.lib.inputs import Lines
from npu_conformance.specs.documents import Document

TargetName = Literal["models", "wire"]
EngineName = Literal["atheris", "hypothesis"]
MEMORY_LIMIT = 2 << 30
"""Bytes of private memory that a fuzzer may take: beyond, the subject gets MemoryError and has to cope."""


class Job(Document, frozen=True):
    """One run. Either runs or seconds limit it. work: a folder of its own. input: run this alone (replay)."""

    target: TargetName
    plugin: str
    options: dict[str, str]
    hal: str | None
    engine: EngineName
    runs: int | None
    seconds: float | None
    seed: int
    corpus: str | None
    work: str
    input: Lines | None = None


class Report(Document, frozen=True):
    """What the fuzzer's process leaves behind where it has found something that it survived, in its run-th input."""

    run: int
    message: str
    input: Lines


class Start(Document, frozen=True):
    """What the fuzzer's process leaves behind once it has begun. seconds: after which one input counts as a hang."""

    hal_version: str
    seconds: float
