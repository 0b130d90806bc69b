"""What a device says that it supports."""

from __future__ import annotations

from npu_conformance.harness.trial import Trial
from npu_conformance.specs.neuralnetworks.build import build_model
from npu_conformance.specs.vectors import Vector


def supports(trial: Trial, vector: Vector) -> bool:
    """True where getSupportedOperations says yes to every operation of the vector's model."""
    return all(trial.supported_operations(build_model(vector, trial.version).model))
