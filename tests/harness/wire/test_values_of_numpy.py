"""What a driver written with numpy hands over by mistake is called by its name, with what to write instead."""

from __future__ import annotations

import socket
from fractions import Fraction

import numpy as np
import pytest

from npu_conformance.harness.wire.framing import LineSocket
from npu_conformance.harness.wire.objects import ObjectTable
from npu_conformance.harness.wire.outbox import Outbox


@pytest.mark.parametrize(
    ("value", "told"),
    [
        (np.bool_(True), "numpy.bool_ cannot cross the wire: use bool(x)"),
        (np.int32(1), "numpy.int32 cannot cross the wire: use int(x)"),
        (np.uint8(1), "numpy.uint8 cannot cross the wire: use int(x)"),
        (np.float32(1), "numpy.float32 cannot cross the wire: use float(x)"),
        (np.str_("a"), "numpy.str_ cannot cross the wire: use str(x)"),
        (np.complex64(1), "numpy.complex64 cannot cross the wire"),
        (
            np.zeros(2, np.int32),
            "numpy.ndarray cannot cross the wire: use x.tolist(), or x.tobytes() for the bytes of a tensor",
        ),
        (np.array(True), "numpy.ndarray cannot cross the wire: use bool(x)"),
        (Fraction(1, 2), "fractions.Fraction cannot cross the wire"),
        (np.s_, "numpy.IndexExpression cannot cross the wire"),
        (range(2), "range cannot cross the wire"),
    ],
)
def test_a_value_that_can_not_cross_the_wire(value: object, told: str) -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs, pytest.raises(TypeError) as caught:
        Outbox(LineSocket(ours), ObjectTable(None, 1)).add([value])
    assert str(caught.value) == told
