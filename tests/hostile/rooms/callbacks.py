"""In a callback: what tells the end of a preparation tells it too often, never, late, wrongly or from elsewhere."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from typing import Any

from npu_conformance.specs.errors import ServiceError
from npu_conformance.specs.neuralnetworks import hal
from rooms.kind import LATER, Call, Kind, Verdict, sleep


def _notify(status: Any = 0, model: Any = hal.PreparedModel, times: int = 1) -> Callable[[Call], object]:
    """Notify so many times instead of once."""

    def act(call: Call) -> None:
        call.silent = True
        for _ in range(times):
            call.callback.notify(status, model() if model else None)

    return act


def _then(act: Callable[[Call], object], then: Callable[[], object]) -> Callable[[Call], object]:
    def both(call: Call) -> None:
        act(call)
        then()

    return both


def _in_threads(count: int) -> Callable[[Call], object]:
    def act(call: Call) -> None:
        call.silent = True
        threads = [threading.Thread(target=_notify(), args=(call,)) for _ in range(count)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    return act


def _in_a_child(call: Call) -> None:
    call.silent = True
    number = os.fork()
    if number == 0:
        try:
            _notify()(call)
        finally:
            os._exit(0)
    os.waitpid(number, 0)


def _refuse() -> None:
    raise ServiceError(2, "after all")


def _fail_later(call: Call) -> None:
    """Return, and end in a thread before the callback."""
    call.silent = True
    answered = threading.Event()
    threading.Thread(target=lambda: (answered.wait(0.05), os.abort()), daemon=True).start()


def _silent(call: Call) -> None:
    call.silent = True


def _kind(name: str, does: str, verdict: Verdict, says: str, act: Callable[[Call], object]) -> Kind:
    return Kind(name, does, verdict, says, act, LATER if verdict == "hang" else 3600.0)


_NEVER, _ONCE = "its callback was not notified within", "expected one notification, found "
_WRONG = "a call that cannot be answered: preparedModelCallback.notify: "

KINDS = (
    _kind("twice", "notifies twice", "fail", _ONCE + "2", _notify(times=2)),
    _kind("often", "notifies 1,000 times", "fail", _ONCE + "1000", _notify(times=1000)),
    _kind("many_threads", "notifies from 20 threads at once", "fail", _ONCE + "20", _in_threads(20)),
    _kind("one_thread", "notifies from a thread", "pass", "", _in_threads(1)),
    _kind("a_child", "notifies from a child process", "pass", "", _in_a_child),
    _kind("never", "never notifies", "hang", _NEVER, _silent),
    _kind("notify_and_hang", "notifies, and does not return", "hang", "no answer within", _then(_notify(), sleep)),
    _kind("notify_and_abort", "notifies, and aborts", "crash", "SIGABRT", _then(_notify(), os.abort)),
    _kind("notify_and_exit", "notifies, and ends", "crash", "exited with status 0",
          _then(_notify(), lambda: os._exit(0))),
    _kind("return_and_abort", "returns, and aborts before it notifies", "crash", "SIGABRT", _fail_later),
    _kind("notify_and_refuse", "notifies success, and refuses", "fail", "found GENERAL_FAILURE",
          _then(_notify(), _refuse)),
    _kind("refuse", "refuses, and never notifies", "fail", "found GENERAL_FAILURE", _then(_silent, _refuse)),
    _kind("null_model", "notifies success without a model", "fail", "expected a prepared model, found null",
          _notify(model=None)),
    _kind("failure", "notifies a failure", "fail", "GENERAL_FAILURE", _notify(2, None)),
    _kind("failure_with_model", "notifies a failure with a model", "fail", "GENERAL_FAILURE", _notify(2)),
    _kind("status_unknown", "notifies a status that does not exist", "fail", "12345", _notify(12345, None)),
    _kind("status_string", "notifies words for a status", "fail", _WRONG, _notify("NONE")),
    _kind("status_null", "notifies null for a status", "fail", _WRONG, _notify(None)),
    _kind("status_true", "notifies true for a status", "fail", _WRONG, _notify(True)),
    _kind("status_float", "notifies a status of 0.5", "fail", _WRONG, _notify(0.5)),
    _kind("status_list", "notifies a list for a status", "fail", _WRONG, _notify([0])),
    _kind("status_beyond_64_bits", "notifies a status of 70 bits", "fail", "found status 1180591", _notify(1 << 70)),
    _kind("model_number", "notifies a number of no object", "fail", _WRONG, _notify(model=lambda: "model")),
)  # fmt: skip
