"""What a campaign writes and reads: the job of a round, what came of it, and the lines of the campaign's folder."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta, field

from npu_conformance.fuzz.lib.findings import Kind
from npu_conformance.specs.documents import Document
from npu_conformance.specs.documents.results import Count, Seconds
from npu_conformance.specs.manifest import Manifest
from npu_conformance.specs.versions import Version

EngineName = Literal["evolution", "atheris", "hypothesis"]
"""evolution: guided by what is answered. atheris: by coverage of Python code. hypothesis: not guided at all."""

Digest = Annotated[str, Meta(pattern=r"^[0-9a-f]{20}$(?!\n)")]
"""The name of an input, which is also that of its file: a campaign's folder may be a stranger's."""
Shown = Annotated[str, Meta(pattern=r"^[^\x00-\x1f\x7f-\x9f]*$(?!\n)")]
"""Text that a terminal only shows."""
FileName = Annotated[str, Meta(pattern=r"^[A-Za-z0-9_-]+\.json$(?!\n)")]


class Doubt(Document, frozen=True):
    """The input of a known finding, and its fuzzer: where it passes, what is met by this name has another cause."""

    fuzzer: str
    data: bytes


class RoundJob(Document, frozen=True):
    """One round of one fuzzer, whole: it can be done in any process of any machine that has the plug-in.

    Either runs or seconds limit it. inputs: the corpus to start from, beside the fuzzer's own seeds. shown: what each
    of them is known to show, empty where it has to be run for that; left out where that is all of them. seeds_run: how
    many of the seeds were run in earlier rounds. features: what has been seen before. known: signatures of findings
    that need no second report; doubted: those of them whose cause may have been mended since. skip: digests of inputs
    that have ended a process before: they are not run again, or no round would come past them. beside: see Attacked.
    at_once: how many rounds use the plug-in at a time. longest_wait: as of `run`; None for what small models need.
    ends: seconds after the first input at which the round ends, whatever it is doing; None for no end.
    """

    fuzzer: str
    plugin: str
    options: dict[str, str]
    hal: str | None
    engine: EngineName
    seed: int
    runs: int | None = None
    seconds: float | None = None
    inputs: tuple[bytes, ...] = ()
    shown: tuple[tuple[int, ...], ...] = ()
    seeds_run: int = 0
    features: tuple[int, ...] = ()
    known: tuple[str, ...] = ()
    doubted: dict[str, Doubt] = field(default_factory=dict)
    skip: tuple[str, ...] = ()
    beside: str = ""
    beside_options: dict[str, str] = field(default_factory=dict)
    at_once: int = 1
    longest_wait: float | None = None
    ends: float | None = None

    def seeds_run_after(self, tried: int) -> int:
        """How many of the seeds were run once this round has tried so many inputs: two for each that it begins with."""
        unknown = len(self.inputs) - sum(map(bool, self.shown))
        return self.seeds_run + max(tried // 2 - unknown, 0)


class Start(Document, frozen=True):
    """What the process of a round says once it has begun. seconds: after which one input counts as a hang."""

    hal_version: Version
    seconds: float
    manifest: Manifest


class Kept(Document, frozen=True):
    """An input with something new. features: what it shows; none where only coverage of code is new."""

    data: bytes
    features: tuple[int, ...] = ()


class Sighting(Document, frozen=True):
    """A finding as a round made it. where: what findings of one cause have in common. execution: of the round.
    after: seconds since the round began, until it was met; how long it took to make it small does not count.
    is_another: the input of the finding that is known by this signature passes.

    where and message are lines that a terminal only shows: strangers have chosen their words.
    """

    kind: Kind
    where: str
    message: str
    data: bytes
    execution: int
    after: Seconds = 0.0
    is_another: bool = False

    @property
    def signature(self) -> str:
        """Kind and place."""
        return f"{self.kind}: {self.where}"


class Tally(Document, frozen=True):
    """What the process of a round leaves at its end. repeats: how often known findings came again.

    inapplicable: why the subject cannot be attacked so, where no input at all could be tried. tried: inputs that the
    engine has chosen; those by which a finding was made smaller are not among them.
    """

    repeats: dict[str, int] = field(default_factory=dict)
    inapplicable: str = ""
    tried: Count = 0


class RoundResult(Document, frozen=True):
    """What came of a round. seconds: from the first input on; start_seconds: until then; start: None without any.

    reducing_seconds: spent on making the inputs smaller that had ended a process.

    killers: digests of the inputs that ended a process. problem: why the round ended early, where that is nobody's
    finding. seeds_run: as in a job, for the next one.
    """

    fuzzer: str
    engine: EngineName
    executions: Count
    seconds: Seconds
    start_seconds: Seconds
    reducing_seconds: Seconds = 0.0
    kept: tuple[Kept, ...] = ()
    sightings: tuple[Sighting, ...] = ()
    repeats: dict[str, int] = field(default_factory=dict)
    inapplicable: str = ""
    start: Start | None = None
    killers: tuple[str, ...] = ()
    problem: str = ""
    seeds_run: Count = 0

    @property
    def all_seconds(self) -> float:
        """How long it took."""
        return self.start_seconds + self.seconds + self.reducing_seconds


class Unmerged(Document, frozen=True):
    """A line of unmerged.jsonl: a finding of a round, by its job's seed, that has not ended. at: as in Finding."""

    fuzzer: str
    engine: EngineName
    seed: int
    start: Start
    sighting: Sighting
    at: Seconds = 0.0


class Settings(Document, frozen=True):
    """campaign.json: what the folder is about. A campaign of something else does not go on in it."""

    format: Literal[1]
    plugin: str
    options: dict[str, str]
    hal: str | None
    beside: str = ""


class RoundLine(Document, frozen=True):
    """A line of rounds.jsonl. at: seconds of the campaign, in all its runs, up to its end. inputs: newly kept.

    lost: why nothing came of the round. inapplicable: why the fuzzer cannot attack the subject, which is no loss.
    killers: digests of the inputs that ended a process.
    """

    at: Seconds
    fuzzer: str
    engine: EngineName
    seconds: Seconds
    start_seconds: Seconds
    executions: Count
    inputs: Count
    corpus: Count
    features: Count
    findings: tuple[FileName, ...] = ()
    repeats: dict[str, int] = field(default_factory=dict)
    lost: str = ""
    inapplicable: str = ""
    killers: tuple[Digest, ...] = ()


class Finding(Document, frozen=True):
    """A line of findings.jsonl. name: of the replay file in failures/. at: seconds of the campaign, in all its runs."""

    name: FileName
    fuzzer: Shown
    kind: Kind
    where: Shown
    message: Shown
    plugin: str
    hal_version: Version
    seed: int
    at: Seconds
    bytes: Count

    @property
    def signature(self) -> str:
        """Kind and place."""
        return f"{self.kind}: {self.where}"


class CorpusLine(Document, frozen=True):
    """A line of corpus/FUZZER.jsonl: an input's file and what it shows."""

    name: Digest
    features: tuple[int, ...] = ()
