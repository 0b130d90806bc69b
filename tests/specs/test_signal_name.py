"""Names of signals, also of those that Python has no name for."""

from __future__ import annotations

import signal

import pytest

from npu_conformance.specs.diagnostics.signal_name import how_it_ended, signal_name


@pytest.mark.parametrize(
    ("number", "name"),
    [
        (signal.SIGSEGV, "SIGSEGV"),
        (signal.SIGRTMIN, "SIGRTMIN"),
        (signal.SIGRTMIN + 1, "SIGRTMIN+1"),
        (signal.SIGRTMAX, "SIGRTMAX"),
        (99, "SIG99"),
    ],
)
def test_every_signal_has_a_name(number: int, name: str) -> None:
    assert signal_name(number) == name


def test_an_end_is_a_signal_or_a_status() -> None:
    assert (how_it_ended(-signal.SIGSEGV), how_it_ended(3)) == ("was killed by SIGSEGV", "exited with status 3")
