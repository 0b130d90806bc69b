"""Runs made by hand, for what shows runs: verdicts with everything that a page has a section for."""

from __future__ import annotations

import datetime
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from npu_conformance.harness.judge.waivers import Waivers
from npu_conformance.harness.report import page
from npu_conformance.harness.report.lines import ReplayCommands
from npu_conformance.harness.report.shown_run import Section
from npu_conformance.harness.run import results
from npu_conformance.harness.run.events import EventLog, Log
from npu_conformance.harness.run.session import Summary
from npu_conformance.specs.documents.results import (
    FORMAT,
    CaseFinished,
    CaseResult,
    ConfigurationResult,
    Digests,
    Event,
    Measurement,
    NpuSpan,
    RunFinished,
    RunStarted,
    Selection,
)
from npu_conformance.specs.documents.waivers import Waiver
from npu_conformance.specs.manifest import Manifest
from npu_conformance.specs.outcomes import Disposition, Outcome

PLUGIN = "--plugin my_vendor --hal 1.2"
TODAY = datetime.date(2030, 1, 15)


def events(
    verdicts: Iterable[CaseResult], name: str = "toy", time: str = "2030-01-15T08:00:00Z", **header: Any
) -> list[Event]:
    """What a run records that came to its end with these verdicts."""
    seen = list(verdicts)
    given: dict[str, Any] = {
        "suite_version": "0", "digests": Digests(), "hal_version": "1.2", "selection": Selection(),
        "plugin_words": PLUGIN, **header,
    }  # fmt: skip
    counts = Counter(result.outcome.value for result in seen)
    return [
        RunStarted(
            format=FORMAT, manifest=Manifest(name=name, vendor="tests", version="1"), seed=0, shuffled=False,
            cases=tuple(each.case for each in seen), time=time, **given,
        ),
        *(CaseFinished(result=result) for result in seen),
        RunFinished(counts=dict(counts), seconds=1.0, ending="complete"),
    ]  # fmt: skip


def log(verdicts: Iterable[CaseResult], **header: Any) -> Log:
    """The record of such a run."""
    made = Log()
    for event in events(verdicts, **header):
        made.add(event)
    return made


def summary(*verdicts: CaseResult, waivers: Iterable[Waiver] = (), **header: Any) -> Summary:
    """Such a run, with its waivers applied."""
    applied = Waivers(tuple(waivers), TODAY)
    marked = tuple(applied.apply(result) for result in verdicts)
    return Summary(results.build(log(marked, **header), applied), marked, Path("folder"), PLUGIN)


def keep(folder: Path, *verdicts: CaseResult, **header: Any) -> Path:
    """Write such a run into a report folder."""
    folder.mkdir(parents=True)
    file = EventLog(folder / "events.jsonl")
    for event in events(verdicts, **header):
        file.write(event)
    file.close()
    results.write(results.build(log(verdicts, **header)), folder / "results.json")
    return folder


def html(verdicts: Iterable[CaseResult], *, further: Sequence[Section] = (), **run: Any) -> str:
    """The page of a run with these verdicts. further: sections of it."""
    told, replays = summary(*verdicts, **run), ReplayCommands("folder/failures", PLUGIN)
    return page.document(told.results, told.verdicts, replays, further=further)


def case(name: str, outcome: Outcome = Outcome.PASS, **fields: object) -> CaseResult:
    """A verdict on an operation."""
    operation, _, _ = name.partition(".")
    given: dict[str, Any] = {
        "requirements": (f"NNHAL-OPERATION-{operation}-RESULT",),
        "types": ("TENSOR_FLOAT32",),
        "executed": {operation: ("TENSOR_FLOAT32",)} if outcome is Outcome.PASS else {},
    }
    return CaseResult(
        case=f"vts.generated.{name}",
        outcome=outcome,
        own_outcome=outcome,
        operations=(operation,),
        **{**given, **fields},
    )


FAILED = case(
    "PAD.b",
    Outcome.FAIL,
    message="output: expected 3, found <0>",
    notes={"failure_file": "vts.generated.PAD.b.json"},
)
CRASHED = case("PAD.c", Outcome.CRASH, message="prepareModel: killed by SIGSEGV", signal=11, stderr="assert x")
WARNED = case("ADD.w", dispositions=(Disposition.QUALITY_WARNING,), warnings=("ADD: 3 ULP, allowed 2",))
UNSUPPORTED = case("SOFTMAX.u", Outcome.NOT_SUPPORTED, message="the device does not take SOFTMAX")
MIXED = (case("PAD.a"), FAILED, CRASHED, WARNED, UNSUPPORTED)


def latency(subject: str, value: float, beside: str = "", **fields: Any) -> Measurement:
    """The time of an inference, with an interval around it and percentiles above it."""
    percentiles = {"50": value, "90": value * 1.1, "99": value * 1.3}
    given: dict[str, Any] = {"low": value * 0.97, "high": value * 1.04, "count": 400, "percentiles": percentiles}
    return Measurement(subject=subject, name="inference", unit="ms", value=value, beside=beside, **{**given, **fields})


def measured(name: str, *measurements: Measurement) -> CaseResult:
    """A verdict that measures."""
    return CaseResult(
        case=f"mlts.{name}", outcome=Outcome.PASS, requirements=("ML-LAT-001",), measurements=measurements
    )


LATENCIES = tuple(
    measured(f"latency.{model}", latency(model, value), latency(model, other, "litert"))
    for model, value, other in (("digits_float", 1.8, 2.4), ("digits_int8", 0.9, 1.1), ("residual_float", 14.2, 9.7))
)
ERRORS = Measurement(
    subject="digits_int8", name="largest_error", unit="steps", value=2, count=1000, bound=1,
    buckets=((-2, 3), (-1, 40), (0, 900), (1, 55), (2, 2)),
)  # fmt: skip
TOP_1 = (
    Measurement(subject="digits_int8", name="top_1", unit="fraction", value=0.94, low=0.92, high=0.96, bound=0.9),
    Measurement(subject="digits_int8", name="top_1", unit="fraction", value=0.95, low=0.93, high=0.97, beside="litert"),
)
ACCURACY = measured("accuracy.digits_int8", *TOP_1, ERRORS)
CRASHES = (
    CaseResult(
        case="mlts.stress.parallel_inference.processes",
        outcome=Outcome.CRASH,
        requirements=("ML-CRS-001",),
        configurations=(
            ConfigurationResult(name="client_1", outcome=Outcome.PASS),
            ConfigurationResult(name="client_2", outcome=Outcome.CRASH, message="killed by SIGSEGV in inference 7"),
            ConfigurationResult(name="client_3", outcome=Outcome.HANG, message="no report within 20 s"),
        ),
    ),
    CaseResult(
        case="mlts.stress.parallel_inference.early_termination",
        outcome=Outcome.PASS,
        requirements=("ML-CRS-004",),
        configurations=(ConfigurationResult(name="victim", outcome=Outcome.PASS),),
    ),
)


def waiver(case_id: str, expires: datetime.date = datetime.date(2030, 6, 1), **fields: Any) -> Waiver:
    """A waiver of failures of PAD."""
    given = {"requirement": "NNHAL-OPERATION-PAD-RESULT", "owner": "ada", "link": "https://bugs.example/1"}
    return Waiver(**{"id": case_id, "reason": "known", "expires": expires, **given, **fields})


WAIVERS = (
    waiver("vts.generated.PAD.c"),
    waiver("vts.generated.PAD.z"),
    waiver("vts.generated.PAD.*", datetime.date(2029, 12, 31), owner="eve", link="javascript:alert(1)"),
)
APPS = CaseResult(
    case="mlts.npu_apps.death.while_loaded", outcome=Outcome.PASS, requirements=("ML-CRS-017",),
    timeline=(
        NpuSpan("app 1", "blocked", 0.0, 0.1), NpuSpan("app 1", "loading", 0.1, 0.3),
        NpuSpan("app 1", "running", 0.3, 0.5, inferences=5, death=True),
        NpuSpan("app 2", "blocked", 0.1, 0.5), NpuSpan("app 2", "running", 0.5, 0.8, inferences=7),
        NpuSpan("app 2", "pre-empted", 0.8, 0.9, inferences=1), NpuSpan("app 2", "unloading", 0.9, 1.0),
    ),
)  # fmt: skip
EVERYTHING = (*MIXED, *LATENCIES, ACCURACY, *CRASHES, APPS)
