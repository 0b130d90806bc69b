"""Case ids and the append-only list of ids that were ever given out.

A case id is `suite.area.subject.case` with optional `[variation,...]`; a sub-verdict adds `#configuration`:
`vts.generated.PAD.quant8_nonzero_zero_point[all_inputs_as_internal]#synchronous.timed`. Each dotted part is letters,
digits and underscores, so that ids are safe for -k, shells and file names.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping
from pathlib import Path

import msgspec

from npu_conformance.specs import documents
from npu_conformance.specs.documents import Document

_PART = r"[A-Za-z0-9_]+"
_ID = re.compile(
    rf"(?P<suite>[a-z][a-z0-9_]*)\.(?P<area>{_PART})\.(?P<subject>{_PART})\.(?P<name>{_PART}(?:\.{_PART})*)"
    rf"(?:\[(?P<variations>{_PART}(?:,{_PART})*)\])?"
    rf"(?:#(?P<configuration>{_PART}(?:\.{_PART})*))?"
)
LOCK = Path(__file__).parent / "ids.lock"
RETIRED = Path(__file__).parent / "ids.retired.json"


class Retirement(Document, frozen=True):
    """Ids that nothing carries any more. They stay in the lock and are never given out again. since: the version."""

    since: str
    reason: str
    ids: tuple[str, ...]

    def told(self) -> str:
        """Since when, and why."""
        return f"retired since {self.since}: {self.reason}"


class RetiredIds(Document, frozen=True):
    """The file of retired ids."""

    retired: tuple[Retirement, ...]


class CaseId(msgspec.Struct, frozen=True):
    """The parts of a case id; `str()` gives the id back."""

    suite: str
    area: str
    subject: str
    name: str
    variations: tuple[str, ...] = ()
    configuration: str | None = None

    def __str__(self) -> str:
        variations = f"[{','.join(self.variations)}]" if self.variations else ""
        configuration = f"#{self.configuration}" if self.configuration else ""
        return f"{self.suite}.{self.area}.{self.subject}.{self.name}{variations}{configuration}"


def parse(text: str) -> CaseId:
    """Return the parts of a case id; raises ValueError naming the grammar where `text` is not one."""
    match = _ID.fullmatch(text)
    if match is None:
        raise ValueError(f"not a case id: {text!r}; expected suite.area.subject.case[variation,...]#configuration")
    variations = match["variations"]
    return CaseId(
        match["suite"],
        match["area"],
        match["subject"],
        match["name"],
        tuple(variations.split(",")) if variations else (),
        match["configuration"],
    )


def locked() -> tuple[str, ...]:
    """Ids of requirements, clauses and cases in the order they were given out. None ever changes meaning or goes."""
    return tuple(line for line in LOCK.read_text().splitlines() if line and not line.startswith("#"))


def unlocked(ids: list[str]) -> list[str]:
    """The ids that are not in the lock yet, in the order given: what `--update-lock` appends."""
    known = set(locked())
    return [candidate for candidate in dict.fromkeys(ids) if candidate not in known]


@functools.cache
def retired() -> Mapping[str, Retirement]:
    """The retired ids, each with its retirement."""
    document = documents.read(RETIRED, RetiredIds)
    return {name: one for one in document.retired for name in one.ids}


def vanished(ids: list[str]) -> list[str]:
    """Locked ids that nothing carries any more, and that are not retired: an error, since an id must never go."""
    present = {*ids, *retired()}
    return [known for known in locked() if known not in present]


def append(ids: list[str]) -> list[str]:
    """Append new ids to the lock and return them."""
    fresh = unlocked(ids)
    with LOCK.open("a") as lock:
        lock.writelines(f"{new}\n" for new in fresh)
    return fresh
