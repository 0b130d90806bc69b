"""What an inference takes in circumstances that the figures of `mlts.latency` do not have: it takes as long as usual.

Each case compares an inference with the usual one, by turns, and looks again before it says anything. Slowness is
legal: it is a quality warning, and a failure only against the manifest's promise, `steady_latency`.
"""

from __future__ import annotations

import contextlib
import statistics
import threading
import time
from functools import partial
from typing import TYPE_CHECKING

from npu_conformance.harness.run.cases import CaseGroup, Group
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.specs.versions import Version

if TYPE_CHECKING:
    from npu_conformance.corpus.vectors import Array
    from npu_conformance.mlts.lib.one_model import OneModel
    from npu_conformance.mlts.lib.pairs import Slower, Step

cases = CaseGroup("mlts.circumstances.latency", group=Group.EXECUTION)
_MANY, _LOADED, _CALLS = 60, 10, 3
_IDLE_SECONDS = 0.15
_AT_ONCE = 4.0
"""How many times as long each of two callers may wait: twice where the device does one after the other, and more."""
_JOURNEYS = 2
_MEETING_SECONDS = 5.0
_WAY_SECONDS, _IDLE_NOTICEABLE = 0.01, 0.005
"""What counts where other things than the inference take their time, too: fences, queues, a processor that wakes up."""


@cases.case("after_many", "ML-LAT-006")
def after_many(context: CaseContext) -> None:
    """A model that has inferred many times is as fast as one that has not."""
    model = _model(context)
    used = model.loaded()
    for _ in range(_MANY):
        used()

    def fresh() -> float:
        return model.loaded()()

    _judge(context, f"after {_MANY} inferences one of the same model", model.slower(fresh, used))


@cases.case("by_data", "ML-LAT-006")
def by_data(context: CaseContext) -> None:
    """Inputs that are all zero, or at the end of their range, take as long as others."""
    import numpy

    model = _model(context)
    usual = model.loaded()

    def full(array: Array) -> Array:
        most = numpy.iinfo(array.dtype).max if array.dtype.kind in "iu" else 1e4
        return numpy.full_like(array, most)

    def zero(array: Array) -> Array:
        return numpy.zeros_like(array)

    for name, change in {"zeros": zero, "at the end of their range": full}.items():
        other = model.loaded(change)
        _judge(context, f"for inputs that are {name} an inference", model.slower(usual, other))


@cases.case("second_model", "ML-LAT-006")
def second_model(context: CaseContext) -> None:
    """A model that is prepared while another one is loaded is as fast as that."""
    model = _model(context)
    first, second = model.loaded(), model.loaded()
    _judge(context, "of a second model an inference", model.slower(first, second))


@cases.case("beside_many", "ML-LAT-006")
def beside_many(context: CaseContext) -> None:
    """A model is as fast while many others are loaded."""
    model = _model(context)
    alone = model.loaded()
    others: list[Step] = []

    def beside() -> float:
        others.extend(model.loaded() for _ in range(_LOADED - len(others)))
        return alone()

    def by_itself() -> float:
        others.clear()
        return alone()

    _judge(context, f"while {_LOADED} more models are loaded an inference", model.slower(by_itself, beside, turns=4))


@cases.case("two_callers", "ML-LAT-006")
def two_callers(context: CaseContext) -> None:
    """Two callers at once wait as long as one after the other has to, and little more."""
    model = _model(context)
    both = [model.loaded(), model.loaded()]
    for one in both:
        one.expect_others()

    def several(call: Step, meeting: threading.Barrier) -> list[float]:
        seconds = []
        for _ in range(_CALLS):
            with contextlib.suppress(threading.BrokenBarrierError):  # the other one has failed, or does not come
                meeting.wait(_MEETING_SECONDS)
            seconds.append(call())
        return seconds

    def at_once() -> float:
        seconds: list[float] = []
        meeting = threading.Barrier(len(both))
        for found in context.run_concurrently([partial(several, call, meeting) for call in both]):
            if isinstance(found, BaseException):
                raise found
            seconds += found
        return statistics.median(seconds)

    found = model.slower(both[0], at_once, slow=_AT_ONCE, noticeable=_WAY_SECONDS, turns=6, tries=1)
    _judge(context, "beside another caller an inference", found)


@cases.case("after_idle", "ML-LAT-006")
def after_idle(context: CaseContext) -> None:
    """The first inference after a pause takes as long as others: what sleeps has to wake up soon."""
    model = _model(context)
    usual = model.loaded()

    def rested() -> float:
        time.sleep(_IDLE_SECONDS)
        context.is_alive()  # so that what wakes processes up is no part of it
        return usual()

    def busy() -> float:
        context.is_alive()
        return usual()

    usual()
    found = model.slower(busy, rested, noticeable=_IDLE_NOTICEABLE, turns=5, tries=1)
    _judge(context, f"after a pause of {_IDLE_SECONDS:g} s an inference", found)


@cases.case("from_cache", "ML-LAT-006", since=Version.V1_2)
def from_cache(context: CaseContext) -> None:
    """A model that was restored from a cache is as fast as one that was compiled."""
    model = _model(context)
    restored = model.restored()
    _judge(context, "of a model from a cache an inference", model.slower(model.loaded(), restored))


@cases.case("by_the_way", "ML-LAT-006", since=Version.V1_2)
def by_the_way(context: CaseContext) -> None:
    """Every way to execute takes about as long as the usual one."""
    from npu_conformance.harness.run.executing.executors import executors

    model = _model(context)
    first, *others = executors(context.version)
    single = model.loaded(executor=first)

    def usual() -> float:
        """With as many journeys to the driver and back as those of a fence: each waits for a processor that is busy."""
        began = time.perf_counter()
        for _ in range(_JOURNEYS):
            context.is_alive()
        return time.perf_counter() - began + single()

    for executor in others:
        found = model.slower(usual, model.loaded(executor=executor), noticeable=_WAY_SECONDS, turns=4)
        _judge(context, f"by {executor} an inference", found)


@cases.case("after_a_refusal", "ML-LAT-006")
def after_a_refusal(context: CaseContext) -> None:
    """A model that has refused an execution is as fast as one that has not."""
    model = _model(context)
    usual, other = model.loaded(), model.loaded()
    other.refuse()
    _judge(context, "of a model that has refused an execution one", model.slower(usual, other))


def _model(context: CaseContext) -> OneModel:
    from npu_conformance.mlts.lib.one_model import OneModel

    return OneModel(context)


def _judge(context: CaseContext, what: str, found: Slower | None) -> None:
    """Warn of what is slower, or fail where the manifest promises that it is not."""
    from npu_conformance.harness.judge import checks

    if found is None:
        return
    message = f"{what} takes {found.told}"
    if context.manifest.steady_latency:
        checks.fail(message, "as long as usual", found.told)
    context.warn_quality(message)
