"""Whose call a thread serves."""

from __future__ import annotations

import contextvars
import threading
from collections.abc import Callable

from npu_conformance.harness.wire.session import Callers
from npu_conformance.specs.plugin import Caller


def in_thread(run: Callable[[], None]) -> None:
    thread = threading.Thread(target=run)
    thread.start()
    thread.join()


def test_threads_of_a_call_serve_its_caller_where_they_take_its_context_along() -> None:
    callers, app, seen = Callers(), Caller(1, 2), list[Caller]()
    host = callers.current()

    def note() -> None:
        seen.append(callers.current())

    with callers.acting(app):
        in_thread(lambda: note())
        taken = contextvars.copy_context()
        in_thread(lambda: taken.run(note))
        with callers.acting(host):
            note()
        note()
    note()
    assert seen == [host, app, host, app, host]
