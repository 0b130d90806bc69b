"""Documents to begin with: small ones, made by what writes them, or stored where that is not installed everywhere.

document_seeds.json has .tflite files (base64), lines of a collection and the folder of an extension.
"""

from __future__ import annotations

import base64
import datetime
import functools
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from npu_conformance.corpus import vectors
from npu_conformance.corpus.vectors.writing import document_of
from npu_conformance.corpus.zoo import manifest as zoo
from npu_conformance.fuzz.lib.campaign.documents import CorpusLine, Finding, RoundLine, Settings
from npu_conformance.fuzz.lib.inputs import digest, lines_of
from npu_conformance.harness.run import results
from npu_conformance.harness.run.events import Log
from npu_conformance.specs import documents
from npu_conformance.specs.documents.failures import Account, FailureFile, LastCall
from npu_conformance.specs.documents.results import (
    FORMAT,
    CaseFinished,
    CaseLeftOut,
    CaseResult,
    CaseStarted,
    ConfigurationResult,
    Digests,
    Event,
    Measurement,
    RunFinished,
    RunStarted,
    Selection,
)
from npu_conformance.specs.documents.vectors import VectorDocument, VectorFile
from npu_conformance.specs.documents.waivers import WaivedTolerance, Waiver, WaiverFile
from npu_conformance.specs.manifest import Claim, InferenceTool, Manifest
from npu_conformance.specs.npu.scenario import AppGroup, Counts, Death, Phase, PolicyChoice, Pressure, Scenario, Times
from npu_conformance.specs.outcomes import Outcome
from npu_conformance.specs.versions import Version

FUZZER = "models"
"""Of the lines of a campaign."""
_FILE = Path(__file__).with_suffix(".json")
_DIGESTS = Digests(suite="0" * 64, vectors="1" * 64, subject="2" * 64)
_VECTORS = (
    ("GREATER", "bool8_row"),
    ("GREATER", "result_of_the_input_type"),
    ("RESHAPE", "int32_one_element"),
    ("IF", "int32_condition_0_constant_same_branch"),
    ("CONV_2D", "per_channel_signed_pointwise_valid_stride1x3_relu6"),
)


class _Stored(documents.Document, frozen=True):
    """The file: files by operator, lines, and the files of a folder by their paths."""

    tflite: dict[str, str]
    collection: tuple[msgspec.Raw, ...]
    extension: dict[str, Any]


@functools.cache
def _stored() -> _Stored:
    return documents.read(_FILE, _Stored)


def manifests() -> list[bytes]:
    """Two manifests as JSON: one with a name alone, and one with every field."""
    return [msgspec.json.encode(MANIFEST), msgspec.json.encode(_RICH)]


MANIFEST = Manifest(name="acme", vendor="Acme", version="1")
_CLAIMS = (
    Claim(operations=("ADD", "CONV_2D"), types=("TENSOR_FLOAT32",), ranks=(1, 4), max_elements=4096, known_sizes=True),
    Claim(operations=(), since=Version.V1_2),
)
_RICH = Manifest(
    name="acme-npu", vendor="Acme", version="1.2", interfaces=("device", "scheduling", "manager"), instance="acme-0",
    hal_version=Version.V1_3, reset_command=("adb", "reboot"), reset_seconds=1.5, concurrent_calls=4, max_instances=8,
    options={"speed": "how fast"}, npu_checkpoint_ms=5, constants={"DEBOUNCE_DURATION_MS": 100},
    inference_tool=InferenceTool(("run-test-inference", "{uid}")), claims=_CLAIMS,
)  # fmt: skip


def claims() -> list[bytes]:
    """What `check --write-claims` writes."""
    return [msgspec.json.encode(_CLAIMS)]


def waivers() -> list[bytes]:
    """A waiver of each kind, for cases of `results`."""
    common: dict[str, Any] = {
        "requirement": "FUZ-001",
        "reason": "known",
        "owner": "ada",
        "link": "https://bugs.example/1",
    }
    day = datetime.date(2030, 6, 1)
    made = (
        Waiver(id="vts.generated.PAD.*", expires=day, **common),
        Waiver(id="vts.generated.PAD.b#first", expires=day, flaky=True, **common),
        Waiver(id="vts.generated.A?D.[x]", expires=day, tolerance=WaivedTolerance(atol=0.5, lsb=1), **common),
        Waiver(id="vts.*", expires=datetime.date(2020, 1, 1), **common),
    )
    return [msgspec.json.encode(WaiverFile(format=1, waivers=made))]


VERDICTS = (
    CaseResult(
        case="vts.generated.PAD.b", outcome=Outcome.FAIL, message="expected 3, found 4", requirements=("FUZ-001",),
        operations=("PAD",), types=("TENSOR_FLOAT32",), notes={"failure_file": "vts.generated.PAD.b.json"},
        configurations=(
            ConfigurationResult(name="first", outcome=Outcome.FAIL, message="expected 3", requirements=("FUZ-001",)),
        ),
    ),
    CaseResult(
        case="mlts.latency.digits", outcome=Outcome.PASS, requirements=("ML-LAT-001",), seconds=0.5,
        executed={"ADD": ("TENSOR_FLOAT32",)},
        measurements=(
            Measurement(subject="digits", name="inference", unit="ms", value=1.5, low=1.4, high=1.6, count=9,
                        percentiles={"50": 1.5, "99": 1.9}, buckets=((1, 4), (2, 5)), bound=3.0, beside="litert"),
        ),
    ),
)  # fmt: skip


def events() -> list[bytes]:
    """What a run writes down: to its end, and before a kill."""
    lines = [msgspec.json.encode(event) for event in _events()]
    return [b"\n".join([*lines, b""]), b"\n".join(lines[:3])]


def _events() -> list[Event]:
    began = RunStarted(
        format=FORMAT, suite_version="1", digests=_DIGESTS, manifest=MANIFEST, hal_version="fl8", seed=7,
        shuffled=False, selection=Selection(suites=("vts",)), cases=(*(one.case for one in VERDICTS), "vts.a.b.c"),
        time="2026-11-22T18:51:56Z",
    )  # fmt: skip
    done = [event for one in VERDICTS for event in (CaseStarted(case=one.case), CaseFinished(result=one))]
    left = CaseLeftOut(case="vts.a.b.c", reason="the budget of 5 s")
    counts = {"fail": 1, "pass": 1}
    return [began, *done, left, RunFinished(counts=counts, seconds=0.7, ending="complete")]


def result_files() -> list[bytes]:
    """The results.json of that run."""
    log = Log()
    for event in _events():
        log.add(event)
    return [msgspec.json.encode(results.build(log))]


def failures() -> list[bytes]:
    """A case of a vector, one of random calls, one of a fuzzer, and one without payload."""
    vector = vectors.load("RESHAPE", "int32_one_element")
    case = "vts.generated.RESHAPE.int32_one_element"
    of_vector = {"id": case, "operation": "RESHAPE", "vector": document_of(vector), "extensions": []}
    calls = {"id": "cts.random_calls.api.of_memories", "steps": [{"call": "compile", "value": 1}]}
    told = (
        _failure("vts.external.RESHAPE.x", of_vector),
        _failure("cts.random_calls.api.of_memories", calls),
        _failure("fuzz.models.short.runs", lines_of(b"[\n1]")),
        _failure(case, None),
    )
    return list(map(msgspec.json.encode, told))


def promoted() -> list[bytes]:
    """A finding of a fuzzer."""
    return [msgspec.json.encode(_failure("fuzz.wire.short.runs", lines_of(b'{"jsonrpc":"2.0"}\n{}')))]


def _failure(case: str, payload: Any) -> FailureFile:
    return FailureFile(
        format=FORMAT, case=case, description="It adds.", requirements=("FUZ-001",), configurations=("first",),
        scope="default", hal_version=Version.V1_3, suite_version="1", digests=_DIGESTS, manifest=MANIFEST,
        result=CaseResult(case=case, outcome=Outcome.FAIL, message="expected 3", seed=5, notes={"replay": "replay x"}),
        driver=Account(stdout="hello", calls=(LastCall(seconds=0.1, caller="suite", method="ping"),)),
        payload=payload,
    )  # fmt: skip


def vector_files() -> list[bytes]:
    """Files of one stored vector each: refused, generated, with a graph below it, quantised by channels."""
    found = [(operation, vectors.load_document(operation, name)) for operation, name in _VECTORS]
    given = [*found, ("GREATER", _small(vectors.load_document("GREATER", "float32_realistic")))]
    return [msgspec.json.encode(VectorFile(operation=operation, vectors=[vector])) for operation, vector in given]


def _small(vector: VectorDocument) -> VectorDocument:
    """A vector of generated values with few of them."""
    sizes = {1: [16], 4: [1, 1, 1, 16]}
    operands = {
        name: msgspec.structs.replace(operand, dimensions=sizes[len(operand.dimensions)])
        for name, operand in vector.operands.items()
    }
    return msgspec.structs.replace(vector, operands=operands)


def collections() -> list[bytes]:
    """One line, and two."""
    lines = [bytes(line) for line in _stored().collection]
    return [lines[0], b"\n".join(lines)]


def extensions() -> list[bytes]:
    """A folder without Python files."""
    return [msgspec.json.encode(_stored().extension)]


def models() -> list[bytes]:
    """The .tflite files."""
    return [base64.b64decode(text) for text in _stored().tflite.values()]


def scenarios() -> list[bytes]:
    """A short one, and one with all that there is."""
    group = AppGroup(name="camera", inferences=Counts(least=1, most=3), inference_ms=Times(least=5, most=9))
    other = AppGroup(name="voice", phases=(Phase(importance=100, lasts_ms=50), Phase(importance=400)), restart_ms=10)
    rich = Scenario(
        duration_ms=1000,
        groups=(group, other),
        devices=2,
        policies=(PolicyChoice(policy="budget", name="b", max_budget=4, weights={"0": 1, "2": 4}),),
        pressure=(Pressure(at_ms=5, thermal=3), Pressure(at_ms=9, memory=10)),
        deaths=(Death(at_ms=7, who="app", group="voice"), Death(at_ms=8, who="hal")),
    )
    return [msgspec.json.encode(Scenario(duration_ms=9, groups=(group,))), msgspec.json.encode(rich)]


def zoos() -> list[bytes]:
    """The manifest of the models, of which one model for each data set is kept."""
    whole = zoo.zoo()
    kept = {entry.inputs.data: entry for entry in whole.models}
    return [msgspec.json.encode(msgspec.structs.replace(whole, models=tuple(kept.values())))]


def campaigns() -> list[bytes]:
    """campaign.json of a folder."""
    return [msgspec.json.encode(Settings(format=1, plugin="acme", options={"speed": "2"}, hal="1.3"))]


def rounds() -> list[bytes]:
    """rounds.jsonl: a plain line, and one with all that there is."""
    plain = RoundLine(
        at=1.5, fuzzer=FUZZER, engine="evolution", seconds=1.0, start_seconds=0.5,
        executions=9, inputs=2, corpus=2, features=5,
    )  # fmt: skip
    rich = msgspec.structs.replace(
        plain, at=3.0, findings=("models-crash-x-0.json",), repeats={"crash: x": 2}, lost="gone", killers=(digest(b""),)
    )
    return [_lines([plain, rich])]


def findings() -> list[bytes]:
    """findings.jsonl."""
    found = Finding(
        name="models-crash-x-0.json", fuzzer=FUZZER, kind="crash", where="x", message="it died", plugin="acme",
        hal_version=Version.V1_3, seed=7, at=3.0, bytes=2,
    )  # fmt: skip
    return [_lines([found])]


def corpora() -> list[bytes]:
    """The index of a corpus, of inputs that are gone."""
    return [_lines([CorpusLine(name=digest(b"1"), features=(1, 2)), CorpusLine(name=digest(b"2"))])]


def _lines(found: Sequence[documents.Document]) -> bytes:
    return b"".join(map(documents.encode_line, found))


TEXTS: Mapping[str, Sequence[bytes]] = {
    "expression": [b"pad and not (quant8 or conv_2d)", b"vts.generated.ADD.*", b"((a))"],
    "budget": [b"90s", b"15m", b"2.5h"],
    "shard": [b"1/4", b"3/3"],
    "tool": [b"run-test-inference '{uid}' --x", b'su "a b" {uid}'],
}
"""Words of command lines."""
