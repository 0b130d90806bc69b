"""The waiver file: failures that are known, owned and dated."""

from __future__ import annotations

import datetime
from typing import Annotated, Literal

from msgspec import Meta

from npu_conformance.specs.documents import Document

Text = Annotated[str, Meta(min_length=1, max_length=2000)]
NotNegative = Annotated[float, Meta(ge=0)]


class WaivedTolerance(Document, frozen=True, omit_defaults=True):
    """How far a waived output may be off: floats and types of extensions by atol + rtol * |expected|.

    Other numbers may be off by lsb steps, booleans not at all.
    """

    atol: NotNegative = 0.0
    rtol: NotNegative = 0.0
    lsb: Annotated[int, Meta(ge=0)] = 0


class Waiver(Document, frozen=True, omit_defaults=True):
    """One waiver.

    id: a glob over case ids; with `#` over ids of configurations. Without one, a case and all its configurations.
    requirement: only cases that are evidence for it. expires: the last day on which the waiver holds.
    tolerance: waives no more than this. flaky: may pass without turning the run red.
    """

    id: Text
    requirement: Text
    reason: Text
    owner: Text
    link: Text
    expires: datetime.date
    tolerance: WaivedTolerance | None = None
    flaky: bool = False


class WaiverFile(Document, frozen=True):
    """All waivers of a vendor."""

    format: Literal[1]
    waivers: tuple[Waiver, ...]


class WaiverUse(Document, frozen=True, omit_defaults=True):
    """A waiver in a run. matched: cases that it is about. excused: those that it excused, alone or with other waivers.

    in_part: those of which it excused a part, and something else is red still. left: the requirements that this is
    about. too_far: where it has excused nothing, the cases whose outputs are further off than its tolerance says.
    problem: what is wrong with it, if anything. is_about_to_expire: it holds for a week at most.
    """

    waiver: Waiver
    matched: Annotated[int, Meta(ge=0)] = 0
    excused: Annotated[int, Meta(ge=0)] = 0
    in_part: Annotated[int, Meta(ge=0)] = 0
    too_far: Annotated[int, Meta(ge=0)] = 0
    left: tuple[str, ...] = ()
    problem: str = ""
    is_about_to_expire: bool = False
