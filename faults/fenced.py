"""Faults and conforming variants of fenced execution at the boundary; those by source edits are in fenced.json."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from npu_conformance.faults.boundary import FaultyPreparedModel
from npu_conformance.faults.factories import IMPATIENT, called_a_failure, fault, faulty_models
from npu_conformance.faults.fault import Variant
from npu_conformance.faults.outputs import regions
from npu_conformance.specs.errors import ServiceError
from npu_conformance.specs.neuralnetworks import hal, types
from npu_conformance.specs.neuralnetworks.enums import ErrorStatus, FenceState
from npu_conformance.specs.neuralnetworks.fences import FOR_EVER_NS, SettableFence, merged
from npu_conformance.specs.versions import Version

_NONE, _INVALID, _GENERAL = ErrorStatus.NONE, ErrorStatus.INVALID_ARGUMENT, ErrorStatus.GENERAL_FAILURE
Result = hal.FencedExecutionResult
Fences = tuple[hal.Fence | None, ...]


class _FencedModel(FaultyPreparedModel):
    """A model of which both forms of fenced execution pass through `execute_fenced`."""

    def execute_fenced_with_config(
        self, request: types.Request, wait_for: Fences, config: types.ExecutionConfig, *times: int
    ) -> Result:
        deadline_ns, duration_ns = times
        loop_timeout = config.loop_timeout_duration_ns
        return self.execute_fenced(request, wait_for, config.measure_timing, deadline_ns, loop_timeout, duration_ns)


class _Callback(hal.FencedExecutionCallback):
    """Answers with the values that it was made with."""

    def __init__(self, answer: Callable[[], hal.FencedExecutionInfo]) -> None:
        self._answer = answer

    def get_execution_info(self) -> hal.FencedExecutionInfo:
        return self._answer()


def _info(status: int) -> hal.FencedExecutionInfo:
    return hal.FencedExecutionInfo(status, types.Timing(-1, -1), types.Timing(-1, -1))


def _failed(fence: hal.Fence | None) -> bool:
    return fence is not None and fence.get_state() == FenceState.ERROR


class _RefusesLater(_FencedModel):
    """Accepts every request, and reports through the callback what is wrong with it."""

    def execute_fenced(self, *arguments: Any) -> Result:
        try:
            return self.inner.execute_fenced(*arguments)
        except ServiceError:
            fence = SettableFence()
            fence.fail()
            return Result(_Callback(lambda: _info(_GENERAL)), fence)


class _SaysGeneralFailure(_FencedModel):
    """Finds an invalid request, and calls it a failure."""

    def execute_fenced(self, *arguments: Any) -> Result:
        with called_a_failure():
            return self.inner.execute_fenced(*arguments)


class _FenceSignalledAtOnce(_FencedModel):
    """Gives a fence that has signalled already."""

    def execute_fenced(self, *arguments: Any) -> Result:
        fence = SettableFence()
        fence.signal()
        return Result(self.inner.execute_fenced(*arguments).callback, fence)


class _RefusesOwnFences(_FencedModel):
    """Takes its own fences for invalid ones."""

    def __init__(self, inner: hal.PreparedModel) -> None:
        super().__init__(inner)
        self._own: list[hal.Fence | None] = []

    def execute_fenced(self, request: types.Request, wait_for: Fences, *rest: Any) -> Result:
        if any(fence is own for fence in wait_for for own in self._own):
            raise ServiceError(_INVALID, "a fence that is not the client's")
        result = self.inner.execute_fenced(request, wait_for, *rest)
        self._own.append(result.sync_fence)
        return result


class _IgnoresOwnFences(_RefusesOwnFences):
    """Waits for the client's fences only."""

    def execute_fenced(self, request: types.Request, wait_for: Fences, *rest: Any) -> Result:
        foreign = tuple(fence for fence in wait_for if not any(fence is own for own in self._own))
        return super().execute_fenced(request, foreign, *rest)


class _KeepsOneWaiting(_FencedModel):
    """Has room for one execution that waits: the next one takes its place."""

    _current: object = None

    def execute_fenced(self, request: types.Request, wait_for: Fences, *rest: Any) -> Result:
        gate, mine = SettableFence(), object()
        self._current = mine
        merged([fence for fence in wait_for if fence is not None]).watch(
            lambda state: gate.settle(state) if self._current is mine else None
        )
        return self.inner.execute_fenced(request, (gate,), *rest)


class _TiesFencesToTheFirst(_FencedModel):
    """Remembers the wait fences of its first execution for all."""

    _fences: Fences | None = None

    def execute_fenced(self, request: types.Request, wait_for: Fences, *rest: Any) -> Result:
        self._fences = self._fences or wait_for
        return self.inner.execute_fenced(request, self._fences, *rest)


class _CallbackOfTheLast(_FencedModel):
    """The callbacks of all executions answer for the last one."""

    _last: hal.FencedExecutionCallback | None = None

    def execute_fenced(self, *arguments: Any) -> Result:
        result = self.inner.execute_fenced(*arguments)
        self._last = result.callback
        return Result(_Callback(self._answer), result.sync_fence)

    def _answer(self) -> hal.FencedExecutionInfo:
        assert self._last is not None
        return self._last.get_execution_info()


class _CallbackOnce(_FencedModel):
    """The callback answers once; afterwards it has forgotten."""

    def execute_fenced(self, *arguments: Any) -> Result:
        result = self.inner.execute_fenced(*arguments)
        answers: list[hal.FencedExecutionInfo] = []

        def answer() -> hal.FencedExecutionInfo:
            assert result.callback is not None
            info = result.callback.get_execution_info()
            answers.append(info)
            return info if len(answers) == 1 or info.status != _NONE else _info(_GENERAL)

        return Result(_Callback(answer), result.sync_fence)


class _TimesOfFailures(_FencedModel):
    """Reports times also where nothing was executed."""

    def execute_fenced(self, *arguments: Any) -> Result:
        result = self.inner.execute_fenced(*arguments)

        def answer() -> hal.FencedExecutionInfo:
            assert result.callback is not None
            info = result.callback.get_execution_info()
            some = types.Timing(5, 9)
            return info if info.status == _NONE else hal.FencedExecutionInfo(info.status, some, some)

        return Result(_Callback(answer), result.sync_fence)


class _ReadsEarly(_FencedModel):
    """Reads the inputs in the call: they are put back when the fences have signalled."""

    def execute_fenced(self, request: types.Request, wait_for: Fences, *rest: Any) -> Result:
        gate = SettableFence()
        early = list(map(bytes, regions(self.context.memory, request, request.inputs)))

        def put_back(state: int) -> None:
            inputs = regions(self.context.memory, request, request.inputs)
            for region, content in zip(inputs, early, strict=True):
                region[:] = content
            gate.settle(state)

        open_ones = [fence for fence in wait_for if fence is not None and not _failed(fence)]
        if len(open_ones) == len(wait_for):
            merged(open_ones).watch(put_back)
            wait_for = (gate,)
        return self.inner.execute_fenced(request, wait_for, *rest)


class _WaitsInTheCall(_FencedModel):
    """Waits in the call, as AOSP's sample driver does, and returns no fence; a fence in error is GENERAL_FAILURE."""

    def execute_fenced(self, request: types.Request, wait_for: Fences, *rest: Any) -> Result:
        # The arguments first: an open fence is no reason to keep an invalid request waiting.
        gate = SettableFence()
        null = (None,) if None in wait_for else ()
        result = self.inner.execute_fenced(request, (gate, *null), *rest)
        for fence in wait_for:
            assert fence is not None
            if fence.wait(FOR_EVER_NS) == FenceState.ERROR:
                gate.fail()
                raise ServiceError(_GENERAL, "a wait fence has failed")
        gate.signal()
        assert result.sync_fence is not None
        assert result.callback is not None
        result.sync_fence.wait(FOR_EVER_NS)
        return Result(result.callback, None)


class _FailsInTheCall(_WaitsInTheCall):
    """Waits in the call, which also reports a failed execution."""

    def execute_fenced(self, request: types.Request, wait_for: Fences, *rest: Any) -> Result:
        result = super().execute_fenced(request, wait_for, *rest)
        assert result.callback is not None
        status = result.callback.get_execution_info().status
        if status != _NONE:
            raise ServiceError(status, "the execution has failed")
        return result


class _EmptyWhereFinished(_FencedModel):
    """Returns no fence where nothing holds the work back, and a fence otherwise."""

    def execute_fenced(self, request: types.Request, wait_for: Fences, *rest: Any) -> Result:
        result = self.inner.execute_fenced(request, wait_for, *rest)
        if any(fence is not None and fence.get_state() == FenceState.UNSIGNALLED for fence in wait_for):
            return result
        assert result.sync_fence is not None
        result.sync_fence.wait(FOR_EVER_NS)
        return Result(result.callback, None)


class _WithoutTimes(_FencedModel):
    """Measures nothing."""

    def execute_fenced(self, request: types.Request, wait_for: Fences, _: bool, *rest: Any) -> Result:
        return self.inner.execute_fenced(request, wait_for, False, *rest)


class _InOrder(_FencedModel):
    """Works through its executions in the order of the calls: one that waits keeps those behind it waiting."""

    def __init__(self, inner: hal.PreparedModel) -> None:
        super().__init__(inner)
        self._turn = SettableFence()
        self._turn.signal()

    def execute_fenced(self, request: types.Request, wait_for: Fences, *rest: Any) -> Result:
        gate, own = SettableFence(), [fence for fence in wait_for if fence is not None]
        if len(own) < len(wait_for) or any(map(_failed, own)):
            return self.inner.execute_fenced(request, wait_for, *rest)
        result = self.inner.execute_fenced(request, (gate,), *rest)
        before, self._turn = self._turn, SettableFence()
        assert isinstance(result.sync_fence, SettableFence)
        ended, turn = result.sync_fence, self._turn
        fences = merged(own)
        fences.watch(lambda state: gate.fail() if state == FenceState.ERROR else None)
        merged([before, fences]).watch(gate.settle)
        merged([before, _either_way(ended)]).watch(lambda _: turn.signal())
        return result


def _either_way(fence: SettableFence) -> SettableFence:
    """A fence that signals when another one ends in either way."""
    ended = SettableFence()
    fence.watch(lambda _: ended.signal())
    return ended


class _MergesAsKernelsDo(_FencedModel):
    """A failed wait fence counts when all the others have ended too."""

    def execute_fenced(self, request: types.Request, wait_for: Fences, *rest: Any) -> Result:
        own = [fence for fence in wait_for if isinstance(fence, SettableFence)]
        if len(own) < len(wait_for) or any(map(_failed, own)):
            return self.inner.execute_fenced(request, wait_for, *rest)
        gate = SettableFence()
        merged([_either_way(fence) for fence in own]).watch(
            lambda _: gate.fail() if any(map(_failed, own)) else gate.signal()
        )
        return self.inner.execute_fenced(request, (gate,), *rest)


class _FinishesLate(_FencedModel):
    """Starts a moment after the last signal."""

    def execute_fenced(self, request: types.Request, wait_for: Fences, *rest: Any) -> Result:
        own = [fence for fence in wait_for if fence is not None]
        if len(own) < len(wait_for) or any(map(_failed, own)):
            return self.inner.execute_fenced(request, wait_for, *rest)
        gate = SettableFence()
        merged(own).watch(lambda state: threading.Timer(0.005, gate.settle, (state,)).start())
        return self.inner.execute_fenced(request, (gate,), *rest)


class _RefusesErrorsGenerally(_FencedModel):
    """Reports a wait fence in error as GENERAL_FAILURE."""

    def execute_fenced(self, request: types.Request, wait_for: Fences, *rest: Any) -> Result:
        if any(map(_failed, wait_for)):
            raise ServiceError(_GENERAL, "a wait fence is in error")
        return self.inner.execute_fenced(request, wait_for, *rest)


class _RefusesAll(FaultyPreparedModel):
    """Executes nothing with fences."""

    def execute_fenced(self, *arguments: Any) -> hal.FencedExecutionResult:
        raise ServiceError(ErrorStatus.GENERAL_FAILURE, "no fences")

    def execute_fenced_with_config(self, *arguments: Any) -> hal.FencedExecutionResult:
        return self.execute_fenced(*arguments)


FAULTS = (
    fault("fenced-refuses-all", "Every fenced execution is GENERAL_FAILURE.", "NNHAL-FENCED-006",
          "vts.fenced.failing.before vts.fenced.failing.later vts.fenced.failing.later_among_several "
          "vts.fenced.failing.at_once vts.fenced.chains.failure_flows vts.fenced.refusals.output_too_small "
          "vts.memory_domains.execute.failed_fence", _RefusesAll),
    fault("fenced-refuses-later", "An invalid request is taken, and fails when it is to be executed.",
          "NNHAL-FENCED-001", "vts.fenced.refusals.* vts.fenced.limits.malformed", _RefusesLater),
    fault("fenced-request-general-failure", "An invalid request is GENERAL_FAILURE.", "NNHAL-FENCED-001",
          "vts.fenced.refusals.ADD.* vts.fenced.refusals.outputs_unknown", _SaysGeneralFailure),
    fault("fenced-signalled-fence", "The returned fence has signalled when it is returned.", "NNHAL-FENCED-006",
          "vts.fenced.waiting.signalled_after vts.fenced.chains.results_flow_later", _FenceSignalledAtOnce),
    fault("fenced-own-fence-refused", "A returned fence is refused as a wait fence.", "NNHAL-FENCED-012",
          "vts.fenced.chains.results_flow vts.fenced.chains.of_finished", _RefusesOwnFences),
    fault("fenced-own-fence-ignored", "A returned fence is no wait fence: nothing is waited for.",
          "NNHAL-FENCED-012 NNHAL-FENCED-005", "vts.fenced.chains.results_flow_later", _IgnoresOwnFences),
    fault("fenced-one-waits", "There is room for one execution that waits: another one replaces it.",
          "NNHAL-FENCED-006", "vts.fenced.chains.one_fence_for_all vts.fenced.chains.in_flight",
          faulty_models(_KeepsOneWaiting, deadlines=IMPATIENT)),
    fault("fenced-fences-of-the-first", "All executions wait for the fences of the first.", "NNHAL-FENCED-005",
          "vts.fenced.waiting.one_open", _TiesFencesToTheFirst),
    fault("fenced-callback-of-the-last", "All callbacks answer for the last execution.",
          "NNHAL-FENCED-013 NNHAL-FENCED-014", "vts.fenced.chains.overtaken", _CallbackOfTheLast),
    fault("fenced-callback-once", "A callback answers once.", "NNHAL-FENCED-014",
          "vts.fenced.outcomes.callback_repeats", _CallbackOnce),
    fault("fenced-times-of-a-failure", "An execution that failed has times.", "NNHAL-TIMING-002",
          "vts.fenced.failing.later", _TimesOfFailures),
    fault("fenced-reads-early", "The inputs are those of the call, not those of the signal.", "NNHAL-FENCED-005",
          "vts.fenced.waiting.inputs_at_the_signal vts.fenced.chains.results_flow_later", _ReadsEarly),
)  # fmt: skip
"""Faults at the boundary."""

VARIANTS = (
    Variant("fenced-waits-in-the-call", "Fenced execution waits in the call and returns no fence.",
            faulty_models(_WaitsInTheCall)),
    Variant("fenced-waits-in-the-call-1.3", "The same at HAL 1.3.", faulty_models(_WaitsInTheCall), Version.V1_3),
    Variant("fenced-fails-in-the-call", "It waits in the call, which also tells of a failure.",
            faulty_models(_FailsInTheCall)),
    Variant("fenced-empty-where-finished", "No fence is returned where nothing holds the work back.",
            faulty_models(_EmptyWhereFinished)),
    Variant("fenced-without-times", "Fenced execution measures nothing.", faulty_models(_WithoutTimes)),
    Variant("fenced-in-order", "Executions start in the order of the calls.", faulty_models(_InOrder)),
    Variant("fenced-merges", "A failed wait fence counts when all the others have ended.",
            faulty_models(_MergesAsKernelsDo)),
    Variant("fenced-later", "The work starts five milliseconds after the last signal.", faulty_models(_FinishesLate)),
    Variant("fenced-error-general-failure", "A wait fence in error is GENERAL_FAILURE.",
            faulty_models(_RefusesErrorsGenerally)),
)  # fmt: skip
"""Conforming variants."""
