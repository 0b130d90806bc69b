"""Vectors of somebody's own, `--vectors PATH`, as `vectors witness` checks them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

from npu_conformance.cli.commands import _stored_vectors
from npu_conformance.cli.errors import UsageError
from npu_conformance.corpus.vectors import Vector, broken_clauses
from npu_conformance.harness.run import external_vectors


def read(path: Path, asked: list[str]) -> tuple[list[str], Callable[..., Iterator[Vector]], int]:
    """The operations of the vectors, what yields these, and how many problems of them were printed.

    asked: the operations that are meant; all where it is empty. Raises UsageError, DocumentError.
    """
    found = list(external_vectors.found(path))
    if not found:
        raise UsageError(f"--vectors {path}: no vectors are there")
    problems = [str(one.problem) for one in found if one.problem is not None]
    known = dict.fromkeys(one.header.operation for one in found if one.header is not None)
    operations = _stored_vectors.operations(asked, known)
    chosen = [one.load for one in found if one.header and one.load and one.header.operation in operations]

    def given(*, refused: bool) -> Iterator[Vector]:
        return (vector for vector in (load() for load in chosen) if refused or vector.rejected is None)

    for vector in given(refused=True):
        name = f"{vector.operation}.{vector.name}"
        problems += [f"{name}: {problem}" for problem in broken_clauses.contradictions(vector)]
    print("".join(f"{problem}\n" for problem in problems), end="")
    return operations, given, len(problems)
