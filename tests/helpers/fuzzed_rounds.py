"""Jobs of rounds that attack the hostile drivers."""

from __future__ import annotations

import msgspec

from npu_conformance.fuzz.lib.campaign.documents import RoundJob
from npu_conformance.specs.neuralnetworks.types import Model

DRIVERS = "fuzzed_drivers:plugin"


def job(bug: str, *inputs: bytes, **more: object) -> RoundJob:
    """A round of the drivers with a bug."""
    given = {"fuzzer": "models", "engine": "evolution", "runs": len(inputs) + 20, "inputs": inputs, **more}
    return RoundJob(**{"plugin": DRIVERS, "options": {"bug": bug}, "hal": None, "seed": 0, **given})  # type: ignore[arg-type]


def zero_points(data: bytes) -> list[int]:
    """Those of an input of the fuzzer of models."""
    return [operand.zero_point for operand in msgspec.json.decode(data, type=Model).main.operands]
