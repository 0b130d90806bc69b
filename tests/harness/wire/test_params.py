"""Parameters of calls that JSON has no numbers for."""

from __future__ import annotations

import math

import msgspec
import pytest

from npu_conformance.harness.wire.binding import bound_methods
from npu_conformance.specs.neuralnetworks.runtime import Runtime
from npu_conformance.specs.wire_types import NonFinite


@pytest.mark.parametrize(("value", "spelling"), [(math.nan, "NaN"), (math.inf, "Infinity"), (-math.inf, "-Infinity")])
def test_a_float_parameter_may_be_any_float(value: float, spelling: str) -> None:
    params = bound_methods(Runtime)["runtime.memoryDescAddInputRole"].params
    sent = msgspec.structs.asdict(params(1, 2, 3, 0, value))["frequency"]
    assert isinstance(sent, NonFinite)
    assert sent.spelling == spelling
    received = msgspec.json.decode(
        f'{{"object":1,"desc":2,"compilation":3,"index":0,"frequency":"{spelling}"}}', type=params
    )
    assert repr(msgspec.structs.asdict(received)["frequency"]) == repr(value)
