"""What a run records: verdicts of cases and of their configurations, the lines of events.jsonl, and results.json."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta, field

from npu_conformance.specs.documents import Document
from npu_conformance.specs.manifest import InterfaceName, Manifest
from npu_conformance.specs.outcomes import Disposition, Outcome

Format = Literal[1]
"""Number of the format of events, results and failure files; a reader refuses any other."""

FORMAT: Format = 1
Count = Annotated[int, Meta(ge=0, le=2**63 - 1)]
"""None is larger: what is read is divided by others, and no float has room for a number of any length."""
Seconds = Annotated[float, Meta(ge=0, le=1e12)]
"""Not so many that adding or multiplying them by something ends at infinity."""
GroupName = Literal[
    "queries", "validation", "execution", "memory",
    "scheduling-validation", "scheduling-events", "scheduling-decisions",
    "manager-queries", "manager-validation", "manager-requests", "manager-policies", "manager-priorities",
    "runtime-queries", "runtime-models", "runtime-compilations", "runtime-executions", "runtime-memories",
]  # fmt: skip
"""Mandatory groups of cases: of the device, of the scheduling HAL, of the NPU Manager, of the NNAPI runtime."""
Note = str | int | float | bool | None
FAILURE_FILE = "failure_file"
"""The note of a red result: the name of its failure file, or why there is none."""
NOT_WRITTEN = "not written: "
"""What that note begins with where there is none."""
DESCRIPTION = "description"
"""The note of a red result: what the case is about, in a line."""
HAZARDS = "hazards"
"""The note of a red result: where drivers go wrong that its vector looks at, in sentences."""
DRIVER_SAYS = "driver_says"
"""The note of a red result: the last reason that the driver gave with an ErrorStatus."""

Unit = Literal["ms", "per second", "bytes", "fraction", "dB", "steps", "absolute", "squared", "percent", "ratio"]
"""Units of measurements. steps: ULP of a float, one of the code of a quantised value."""


class Measurement(Document, frozen=True, omit_defaults=True):
    """A figure that a case measured; by itself it is no verdict.

    subject: model or operation that it is about. name: what was measured, such as inference or top_1. value: the best
    estimate, of times their median. low, high: its 95 % confidence interval. count: of samples. percentiles: by their
    numbers ("0", "50", "99.9"). buckets: least value and number of samples of each bucket of a histogram, ascending.
    mean, deviation: of the samples (ML-LAT-001). bound: the worst value that is allowed; None where nothing says.
    beside: name of the plug-in that it was measured on, where that is not the one under test.
    """

    subject: str
    name: str
    unit: Unit
    value: float
    low: float | None = None
    high: float | None = None
    count: Count = 1
    percentiles: dict[str, float] = field(default_factory=dict)
    buckets: tuple[tuple[float, Count], ...] = ()
    mean: float | None = None
    deviation: float | None = None
    bound: float | None = None
    beside: str = ""


NpuPhase = Literal["blocked", "loading", "running", "pre-empted", "unloading"]
"""What an app of the NPU does: it waits for the manager, prepares its model, infers, has to unload, has unloaded."""


class NpuSpan(Document, frozen=True, omit_defaults=True):
    """A time in which an app of the NPU was in one phase. start, end: since the first span of the case began.

    inferences: that the app did in it. death: it ended with the app's process.
    """

    app: str
    phase: NpuPhase
    start: Seconds
    end: Seconds
    inferences: Count = 0
    death: bool = False


Ending = Literal["complete", "interrupted", "subject-lost", "stopped"]


class OperationUse(Document, frozen=True, omit_defaults=True):
    """One operation in a model that a device was asked for.

    types: of its tensors, without the TENSOR_INT32 constants that are its parameters. rank: of its first input, and
    elements: of its largest tensor; null where the model leaves them open. supported: what the device said.
    """

    operation: str
    types: tuple[str, ...] = ()
    rank: int | None = None
    elements: int | None = None
    supported: bool = True


ModelUse = tuple[OperationUse, ...]
"""The operations of one model, those of its main graph first."""


class ConfigurationResult(Document, frozen=True, omit_defaults=True):
    """The verdict of one configuration or mutation, addressed as `case#name`. refused: as of CaseResult.

    requirements: what it is evidence for beside those of its case (CaseResult.requirements_of). broken: those that the
    check that failed is about, which is none of a pass.
    """

    name: str
    outcome: Outcome
    message: str = ""
    expected: str = ""
    found: str = ""
    dispositions: tuple[Disposition, ...] = ()
    requirements: tuple[str, ...] = ()
    broken: tuple[str, ...] = ()
    refused: tuple[ModelUse, ...] = ()
    warnings: tuple[str, ...] = ()
    seconds: Seconds = 0.0
    signal: int = 0
    stderr: str = ""
    traceback: str = ""


class CaseResult(Document, frozen=True, omit_defaults=True):
    """The verdict of one case: the worst of its own and of its configurations'.

    warnings: quality warnings. signal: of a host that died. traceback: of a bug of the suite, or where the
    plug-in was when it raised an exception, died or hung, as far as that is known.
    own_outcome: what the case's body itself ended as, before its configurations were counted in. broken: those of its
    requirements that the check of the body that failed is about; each configuration has its own.
    stdout, stderr: of a red case, the end of what the driver printed while it ran.

    operations, types: of a case about operations; those of the models that the device was asked for, and what the case
    is listed with where it was asked for none. executed: the types of each operation in models that were executed.
    executed_by: of a case about a runtime, the operations that each of its devices executed with success, the runtime's
    own CPU (nnapi-reference) among them; empty where the runtime cannot tell.
    refused: the models that the body, where it ended as not-supported, could not go on with.
    timeline: of a case with apps of the NPU, what each of them went through, app by app.
    """

    case: str
    outcome: Outcome
    message: str = ""
    expected: str = ""
    found: str = ""
    own_outcome: Outcome = Outcome.PASS
    dispositions: tuple[Disposition, ...] = ()
    configurations: tuple[ConfigurationResult, ...] = ()
    requirements: tuple[str, ...] = ()
    broken: tuple[str, ...] = ()
    operations: tuple[str, ...] = ()
    types: tuple[str, ...] = ()
    executed: dict[str, tuple[str, ...]] = field(default_factory=dict)
    executed_by: dict[str, tuple[str, ...]] = field(default_factory=dict)
    refused: tuple[ModelUse, ...] = ()
    interface: InterfaceName = "device"
    group: GroupName | None = None
    warnings: tuple[str, ...] = ()
    notes: dict[str, Note] = field(default_factory=dict)
    measurements: tuple[Measurement, ...] = ()
    timeline: tuple[NpuSpan, ...] = ()
    seed: int = 0
    seconds: Seconds = 0.0
    signal: int = 0
    stdout: str = ""
    stderr: str = ""
    traceback: str = ""

    def requirements_of(self, part: CaseResult | ConfigurationResult) -> tuple[str, ...]:
        """What the case itself, or one of its configurations, is evidence for; what broke stands first."""
        return tuple(dict.fromkeys((*part.broken, *self.requirements, *part.requirements)))

    @property
    def operation(self) -> str:
        """The operation that the case is about: the one that its id names, or its only one; empty without one."""
        words = self.case.split(".")
        named = [name for name in self.operations if name in words] or self.operations
        return named[0] if len(named) == 1 else ""


class Digests(Document, frozen=True):
    """Hexadecimal SHA-256 digests of what took part. Where runs are compared, different vectors are mentioned.

    subject: manifest, version and options. driver: the files that hold the plug-in's code, empty where none is known.
    """

    suite: str = ""
    vectors: str = ""
    subject: str = ""
    driver: str = ""


class Selection(Document, frozen=True, omit_defaults=True):
    """What was asked for. deselected: cases that the selection leaves out and that may apply.

    last_failed: only the cases that were red in an earlier run.
    """

    suites: tuple[str, ...] = ()
    scope: Literal["smoke", "default", "full"] = "default"
    expression: str = ""
    patterns: tuple[str, ...] = ()
    shard: str = ""
    deselected: Count = 0
    last_failed: bool = False


class RunStarted(Document, frozen=True, tag="run-started", tag_field="event"):
    """The header: first line of a run, and again of each resumption. cases: every id that owes a verdict.

    plugin_words: the options that name the plug-in, as on the command line of the run. waivers, baseline: digests of
    their files, empty where the run has none.
    """

    format: Format
    suite_version: str
    digests: Digests
    manifest: Manifest
    hal_version: str
    seed: int
    shuffled: bool
    selection: Selection
    cases: tuple[str, ...]
    time: Annotated[str, Meta(description="UTC, ISO 8601")]
    resumed: bool = False
    plugin_words: str = ""
    waivers: str = ""
    baseline: str = ""


class CaseStarted(Document, frozen=True, tag="case-started", tag_field="event"):
    """A case begins: if nothing follows, this is what the harness died in."""

    case: str


class CaseFinished(Document, frozen=True, tag="case-finished", tag_field="event"):
    """A case has its verdict."""

    result: CaseResult


class CaseLeftOut(Document, frozen=True, tag="case-left-out", tag_field="event"):
    """A case that the budget did not reach: not run, on the user's word."""

    case: str
    reason: str


class RunFinished(Document, frozen=True, tag="run-finished", tag_field="event"):
    """The footer. counts: verdicts by outcome, as the engine counted them itself."""

    counts: dict[str, Count]
    seconds: Seconds
    ending: Ending
    reason: str = ""


Event = RunStarted | CaseStarted | CaseFinished | CaseLeftOut | RunFinished
"""One line of events.jsonl."""
