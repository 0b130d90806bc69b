"""Asks an engine in a process of its own, so that an engine that dies costs one vector only."""

from __future__ import annotations

import os
import signal
import traceback
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import BinaryIO

import msgspec

from npu_conformance.corpus.vectors import Vector
from npu_conformance.corpus.witnesses import Disagreement, Engine, Testimony, taken, testify
from npu_conformance.harness.subject.plugin_loading import LoadError

FAILED = 1


class Answer(msgspec.Struct, frozen=True):
    """One line from the child: a testimony, or why the engine cannot be loaded at all."""

    testimony: Testimony | None = None
    missing: str | None = None


def testimonies(stored: Callable[[], Iterator[Vector]], name: str, engine: Engine) -> Iterator[Testimony]:
    """What an engine says of each of the vectors, in order; where it ends its process, that is its disagreement.

    Raises LoadError where the engine is not installed.
    """
    answered = 0
    while True:
        reader, writer = os.pipe()
        child = os.fork()
        if child == 0:
            os.close(reader)
            _answer(islice(stored(), answered, None), name, engine, writer)
        os.close(writer)
        try:
            with os.fdopen(reader, "rb") as lines:
                for testimony in _read(lines):
                    answered += 1
                    yield testimony
        finally:
            _, status = os.waitpid(child, 0)
        if status == 0:
            return
        yield _death(next(islice(stored(), answered, None)), name, status)
        answered += 1


def _answer(vectors: Iterable[Vector], name: str, engine: Engine, writer: int) -> None:
    """In the child: write a line for each vector, and leave without any of the parent's clean-up."""
    status = FAILED
    try:
        with os.fdopen(writer, "wb", buffering=0) as lines:
            for vector in vectors:
                answer = _asked(vector, name, engine)
                lines.write(msgspec.json.encode(answer) + b"\n")
                if answer.missing is not None:
                    break
        status = 0
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(status)


def _asked(vector: Vector, name: str, engine: Engine) -> Answer:
    try:
        return Answer(testify(vector, name, engine) if vector.rejected is None else taken(vector, engine))
    except LoadError as error:
        return Answer(missing=str(error))


def _read(lines: BinaryIO) -> Iterator[Testimony]:
    for line in lines:
        answer = msgspec.json.decode(line, type=Answer)
        if answer.missing is not None:
            raise LoadError(answer.missing)
        if answer.testimony is not None:
            yield answer.testimony


def _death(vector: Vector, name: str, status: int) -> Testimony:
    if vector.rejected is not None:
        return Testimony(ran=False)
    code = os.waitstatus_to_exitcode(status)
    problem = f"killed by {signal.Signals(-code).name}" if code < 0 else f"its process left with status {code}"
    return Testimony(True, (Disagreement(f"{vector.operation}.{vector.name}", name, "all outputs", problem),))
