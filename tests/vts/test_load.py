"""A load on the device: who waits for its executions does not wait for runners that have ended."""

from __future__ import annotations

import threading
import time
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace
from typing import cast

import pytest

from npu_conformance.vts.lib import load
from npu_conformance.vts.lib.chain import Runner


def test_the_end_of_all_runners_ends_the_wait() -> None:
    may_die = threading.Event()

    def die() -> None:
        may_die.wait()
        with one._went_on:  # whoever waits does so by now
            raise ConnectionError("dead")

    with ThreadPoolExecutor(1) as pool:
        one = load.Load([cast(Runner, SimpleNamespace(execute=die))], pool, 5)
        began = time.monotonic()
        with one._went_on:
            may_die.set()
            one.wait_for_executions(1)
        assert time.monotonic() - began < load._LONGEST_SECONDS
        with pytest.raises(ConnectionError, match="dead"):
            one.statuses()
