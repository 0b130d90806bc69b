"""What ends a process is made smaller in forks, one for each try."""

from __future__ import annotations

import os
import select
import signal
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, cast

import pytest
from patience import SECONDS

from npu_conformance.fuzz.lib import reducing
from npu_conformance.fuzz.lib.campaign.documents import Sighting
from npu_conformance.fuzz.lib.reducing import end_of

if TYPE_CHECKING:
    from npu_conformance.fuzz.lib.target import Target


def test_how_a_fork_ends() -> None:
    assert end_of(lambda: None, SECONDS) == ""
    assert end_of(lambda: 1 / 0, SECONDS) == ""
    assert end_of(lambda: os.kill(os.getpid(), signal.SIGKILL), SECONDS) == str(int(signal.SIGKILL))
    assert end_of(lambda: os._exit(0), SECONDS) == "0"
    assert end_of(lambda: os._exit(77), SECONDS) == str(77 << 8)
    assert end_of(signal.pause, 0.2) == "hang"


def test_a_fork_does_not_outlive_who_looks_at_it() -> None:
    reading, writing = os.pipe()

    def hang() -> None:
        os.write(writing, b"x")
        signal.pause()

    parent = os.fork()
    if parent == 0:
        end_of(hang, SECONDS)
        os._exit(0)
    os.close(writing)
    assert os.read(reading, 1) == b"x"
    os.kill(parent, signal.SIGKILL)
    os.waitpid(parent, 0)
    with os.fdopen(reading, "rb") as pipe:
        assert select.select([pipe], [], [], SECONDS)[0]
        assert pipe.read() == b""


class Slow:
    """A target that is slow with an x. pieces: without one character."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds

    def run(self, data: bytes) -> None:
        if b"x" in data:
            time.sleep(self._seconds)

    def pieces(self, data: bytes) -> Iterator[bytes]:
        yield from (data[:place] + data[place + 1 :] for place in range(len(data)))

    def readable(self, data: bytes) -> bytes:
        return data


@pytest.mark.parametrize(("seconds", "smallest"), [(SECONDS, b"x"), (0.8, b"abx")])
def test_a_hang_is_made_as_small_as_a_crash_and_stays_a_hang(
    seconds: float, smallest: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is only slow hangs in short tries, and is left as it was."""
    monkeypatch.setattr(reducing, "_LONGEST_TRY", 0.4)
    death = Sighting(kind="hang", where="no end", message="no end", data=b"abx", execution=1)
    assert reducing._smallest(cast("Target", Slow(seconds)), death, 0.5 if seconds == SECONDS else SECONDS) == smallest
