"""Asks an engine in a process of its own, so that an engine that dies costs one vector only."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import islice
from typing import BinaryIO

import msgspec

from npu_conformance.corpus.vectors import Vector
from npu_conformance.corpus.witnesses import Disagreement, Engine, Testimony, taken, testify
from npu_conformance.harness.subject.plugin_loading import LoadError
from npu_conformance.specs.diagnostics.signal_name import how_it_ended
from npu_conformance.specs.forked import Child, write_all


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
        # One child says a line for each vector: its start costs more than most testimonies.
        child = Child(partial(_answer, islice(stored(), answered, None), name, engine))
        code = 0
        try:
            with os.fdopen(child.reading, "rb", closefd=False) as lines:
                for testimony in _read(lines):
                    answered += 1
                    yield testimony
        finally:
            code = child.end()
        if code == 0:
            return
        yield _death(next(islice(stored(), answered, None)), name, code)
        answered += 1


def _answer(vectors: Iterable[Vector], name: str, engine: Engine, writing: int) -> None:
    """In the child: write a line for each vector. The pipe is left open, so that its end is the child's."""
    for vector in vectors:
        answer = _asked(vector, name, engine)
        write_all(writing, msgspec.json.encode(answer) + b"\n")
        if answer.missing is not None:
            break


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


def _death(vector: Vector, name: str, code: int) -> Testimony:
    if vector.rejected is not None:
        return Testimony(ran=False)
    problem = f"{name}: its process {how_it_ended(code)}"
    return Testimony(True, (Disagreement(f"{vector.operation}.{vector.name}", name, "all outputs", problem),))
