"""Fenced executions of scripted drivers that begin late."""

from __future__ import annotations

from npu_conformance.reference.runtime.scripted.held import HeldCallback, HeldFence, LazyFence
from npu_conformance.specs.errors import DeadObject
from npu_conformance.specs.neuralnetworks import hal
from npu_conformance.specs.neuralnetworks.enums import ErrorStatus, FenceState
from npu_conformance.specs.neuralnetworks.fences import FOR_EVER_NS, SettableFence, merged
from npu_conformance.specs.neuralnetworks.types import Timing

NO_TIMING = Timing(-1, -1)
REPORT = hal.FencedExecutionInfo(ErrorStatus.NONE, Timing(1, 2), Timing(3, 4))


class Reports(hal.FencedExecutionCallback):
    def get_execution_info(self) -> hal.FencedExecutionInfo:
        return REPORT


class Launch:
    """Counts how often it is made. fence: of the execution, None where it is over at once."""

    def __init__(self, fence: SettableFence | None = None) -> None:
        self.count, self.fence = 0, fence

    def __call__(self) -> hal.FencedExecutionResult:
        self.count += 1
        return hal.FencedExecutionResult(Reports(), self.fence)


def test_to_look_at_a_lazy_fence_is_not_to_wait() -> None:
    launch = Launch()
    fence = LazyFence(launch)
    assert (fence.get_state(), fence.wait(0), launch.count) == (FenceState.UNSIGNALLED, FenceState.UNSIGNALLED, 0)
    assert (fence.wait(FOR_EVER_NS), fence.wait(FOR_EVER_NS), launch.count) == (1, 1, 1)


def test_a_driver_that_holds_back_for_a_lazy_fence_waits_for_it() -> None:
    launch = Launch()
    assert merged([LazyFence(launch)]).get_state() == FenceState.SIGNALLED
    assert launch.count == 1


def test_a_held_fence_ends_as_its_execution_does() -> None:
    own = SettableFence()
    fence = HeldFence(Launch(own))
    fence.begin()
    assert fence.get_state() == FenceState.UNSIGNALLED
    own.fail()
    assert fence.get_state() == FenceState.ERROR


def test_an_execution_that_cannot_begin_fails() -> None:
    def die() -> hal.FencedExecutionResult:
        raise DeadObject("gone")

    assert LazyFence(die).wait(FOR_EVER_NS) == FenceState.ERROR


def test_it_reports_once_it_has_begun() -> None:
    fence = HeldFence(Launch())
    callback = HeldCallback(fence, NO_TIMING)
    assert callback.get_execution_info().status == ErrorStatus.GENERAL_FAILURE
    fence.begin()
    assert callback.get_execution_info() == REPORT
