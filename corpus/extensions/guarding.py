"""Runs the code of a vendor's extension in a process of its own first: rules and oracles may end it, or have no end."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TypeVar

from npu_conformance.corpus import extensions
from npu_conformance.specs.documents import DocumentError
from npu_conformance.specs.forked import Ended, in_child

Answer = TypeVar("Answer")
SECONDS = 60.0
"""How long the rules and oracles of a vendor may take."""


def tried(folders: Iterable[Path]) -> None:
    """Register extensions in another process. Raises DocumentError where one of them is bad, ends it, or has no end."""
    for number, folder in enumerate(known := list(folders)):
        before = known[:number]
        problem = guarded(lambda: _problem([*before, folder]), str, folder)  # noqa: B023  called at once
        if problem:
            raise DocumentError(problem, "", "")


def _problem(folders: list[Path]) -> str:
    try:
        with extensions.registered(folders):
            return ""
    except DocumentError as error:
        return str(error)


def guarded(work: Callable[[], Answer], kind: type[Answer], folder: Path) -> Answer:
    """Do the work in another process; returns what it returned. DocumentError, about the folder, where it does not."""
    answer = in_child(work, kind, SECONDS)
    if isinstance(answer, Ended):
        raise DocumentError(str(folder), "", f"the process that executes its rules and oracles {answer.reason}")
    return answer
