"""When a driver under stress goes wrong: each tells whether it is so far, for a model or a request or neither."""

from __future__ import annotations

import time
from typing import Any

from npu_conformance.faults.stress.driver import NTH, Load
from npu_conformance.specs.neuralnetworks import types

_ROOM = 40


def always(load: Load, about: Any) -> bool:
    """Every time."""
    return True


def inference_n(load: Load, about: Any) -> bool:
    """From the Nth inference on."""
    return load.inferences >= NTH


def preparation_n(load: Load, about: Any) -> bool:
    """From the Nth preparation on."""
    return load.preparations >= NTH


def inferring_at_once(load: Load, about: Any) -> bool:
    """While two clients infer."""
    return load.inferring > 1


def preparing_at_once(load: Load, about: Any) -> bool:
    """While two clients prepare."""
    return load.preparing > 1


def inferring_while_preparing(load: Load, about: Any) -> bool:
    """While a model is prepared, or was so a moment ago."""
    return time.monotonic() - load.last_preparation < 0.05


def two_models(load: Load, about: Any) -> bool:
    """While two models are loaded."""
    return load.models > 1


def eight_models(load: Load, about: Any) -> bool:
    """While eight models are loaded."""
    return load.models >= 8


def released_beside(load: Load, about: Any) -> bool:
    """While another client infers."""
    return load.inferring > 0


def release_n(load: Load, about: Any) -> bool:
    """From the Nth release of a model on."""
    return load.released >= NTH


def any_release(load: Load, about: Any) -> bool:
    """When a model was released before, as by a client that has gone."""
    return load.released > 0


def full(load: Load, about: Any) -> bool:
    """When there is room for no more models."""
    return load.preparations > _ROOM


def many_operations(load: Load, model: types.Model) -> bool:
    """For a model of more than 100 operations."""
    return len(model.main.operations) > 100


def some_operations(load: Load, model: types.Model) -> bool:
    """For a model of ten operations or more."""
    return len(model.main.operations) >= 10


def wide_operand(load: Load, model: types.Model) -> bool:
    """For a model of ten operations with a dimension of more than ten."""
    large = any(max(operand.dimensions, default=0) > 10 for operand in model.main.operands)
    return large and some_operations(load, model)


def mapped(load: Load, model: types.Model) -> bool:
    """For a model whose constants lie in a pool."""
    return bool(model.pools)
