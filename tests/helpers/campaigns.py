"""Made-up results of rounds of a campaign."""

from __future__ import annotations

from npu_conformance.fuzz.lib.campaign.documents import (
    EngineName,
    Kept,
    RoundJob,
    RoundLine,
    RoundResult,
    Settings,
    Sighting,
    Start,
)
from npu_conformance.fuzz.lib.campaign.shares import Arm
from npu_conformance.specs.manifest import Manifest
from npu_conformance.specs.versions import NEWEST

SETTINGS = Settings(format=1, plugin="driver:plugin", options={}, hal=None)
JOB = RoundJob(fuzzer="", plugin="driver:plugin", options={}, hal=None, engine="evolution", seed=3)
START = Start(hal_version=NEWEST, seconds=1.0, manifest=Manifest(name="driver", vendor="tests", version="1"))
MODELS, WIRE = Arm("models", "evolution"), Arm("wire", "evolution")


def result(fuzzer: str, *kept: Kept, found: tuple[Sighting, ...] = (), seconds: float = 1.0) -> RoundResult:
    return RoundResult(
        fuzzer=fuzzer,
        engine="evolution",
        executions=10,
        seconds=seconds,
        start_seconds=0.0,
        kept=kept,
        sightings=found,
        start=START,
    )


def sighting(where: str, data: bytes = b"{}") -> Sighting:
    return Sighting(kind="crash", where=where, message="it died", data=data, execution=1)


def line(arm: Arm, inputs: int, seconds: float = 1.0, engine: EngineName = "evolution") -> RoundLine:
    return RoundLine(
        at=0.0,
        fuzzer=arm.fuzzer,
        engine=engine,
        seconds=seconds,
        start_seconds=0.0,
        executions=1,
        inputs=inputs,
        corpus=inputs,
        features=inputs,
    )
