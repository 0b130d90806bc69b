"""Faults of feature level 8: executions with a configuration, and reusable ones."""

from __future__ import annotations

import time
from typing import Any

from msgspec.structs import replace

from npu_conformance.faults.boundary import FaultyExecution, FaultyPreparedModel
from npu_conformance.faults.factories import fault, faulty_models
from npu_conformance.faults.fault import FaultySubject
from npu_conformance.faults.outputs import Outputs
from npu_conformance.specs.errors import ServiceError
from npu_conformance.specs.neuralnetworks import hal, types
from npu_conformance.specs.neuralnetworks.enums import ErrorStatus

Result = types.ExecutionResult
_A_WHILE = 0.02
"""How many seconds make sure that two concurrent calls overlap."""


class _WithConfig(FaultyPreparedModel):
    """Executes with the configuration that `changed` makes of the client's."""

    def changed(self, config: types.ExecutionConfig) -> types.ExecutionConfig:
        return config

    def execute_synchronously_with_config(
        self, request: types.Request, config: types.ExecutionConfig, *rest: Any
    ) -> Result:
        return self.inner.execute_synchronously_with_config(request, self.changed(config), *rest)

    def create_reusable_execution(self, request: types.Request, config: types.ExecutionConfig) -> hal.Execution:
        return self.inner.create_reusable_execution(request, self.changed(config))


class _IgnoresTimeout(_WithConfig):
    def changed(self, config: types.ExecutionConfig) -> types.ExecutionConfig:
        return replace(config, loop_timeout_duration_ns=-1)


class _AlwaysMeasures(_WithConfig):
    def changed(self, config: types.ExecutionConfig) -> types.ExecutionConfig:
        return replace(config, measure_timing=True)


class _RefusesHints(_WithConfig):
    def changed(self, config: types.ExecutionConfig) -> types.ExecutionConfig:
        if config.execution_hints:
            raise ServiceError(ErrorStatus.INVALID_ARGUMENT, "a hint that is not known")
        return config


class _AnotherKernelWithConfig(FaultyPreparedModel):
    """Executions with a configuration take another kernel, which forgets the last element."""

    def execute_synchronously_with_config(self, request: types.Request, *rest: Any) -> Result:
        outputs = Outputs(self.context.memory, request)
        before = outputs.read()
        result = self.inner.execute_synchronously_with_config(request, *rest)
        if result.output_sufficient_size:
            outputs.write([new[:-4] + old[-4:] for new, old in zip(outputs.read(), before, strict=True)])
        return result


class _AnotherBitWithConfig(FaultyPreparedModel):
    """Executions with a configuration round otherwise."""

    def execute_synchronously_with_config(self, request: types.Request, *rest: Any) -> Result:
        result = self.inner.execute_synchronously_with_config(request, *rest)
        if result.output_sufficient_size:
            Outputs(self.context.memory, request).flip()
        return result


class _KeepsInputs(FaultyExecution):
    """Reads inputs once; later runs write the first result again."""

    _first: list[bytes] | None = None

    def execute_synchronously(self, deadline_ns: int) -> Result:
        result = self.inner.execute_synchronously(deadline_ns)
        outputs = Outputs(self.context.memory, self.request)
        if self._first is None:
            self._first = outputs.read()
        outputs.write(self._first)
        return result


class _RunsOnce(FaultyExecution):
    """Can be run once only."""

    _used = False

    def execute_synchronously(self, deadline_ns: int) -> Result:
        if self._used:
            raise ServiceError(ErrorStatus.GENERAL_FAILURE, "used up")
        self._used = True
        return self.inner.execute_synchronously(deadline_ns)


class _TrustsItsData(FaultyExecution):
    """A run that succeeded makes all later ones succeed, whatever data they are given."""

    _last: Result | None = None

    def execute_synchronously(self, deadline_ns: int) -> Result:
        try:
            self._last = self.inner.execute_synchronously(deadline_ns)
        except ServiceError:
            if self._last is None:
                raise
        return self._last


class _BusyForEver(FaultyExecution):
    """A run that was refused while another one went on leaves the object busy."""

    _running = _stuck = False

    def execute_synchronously(self, deadline_ns: int) -> Result:
        self._stuck |= self._running
        if self._stuck:
            raise ServiceError(ErrorStatus.GENERAL_FAILURE, "busy")
        self._running = True
        time.sleep(_A_WHILE)
        self._running = False
        return self.inner.execute_synchronously(deadline_ns)


class _LateIsInvalid(FaultyExecution):
    """A deadline that has passed is called invalid."""

    def execute_synchronously(self, deadline_ns: int) -> Result:
        if 0 <= deadline_ns <= self.context.clock.now_ns():
            raise ServiceError(ErrorStatus.INVALID_ARGUMENT, "a deadline in the past")
        return self.inner.execute_synchronously(deadline_ns)


class _LateIsEmpty(FaultyExecution):
    """A run whose deadline has passed is over before it writes anything, and says NONE."""

    def execute_synchronously(self, deadline_ns: int) -> Result:
        if 0 <= deadline_ns <= self.context.clock.now_ns():
            return types.ExecutionResult(True, (), types.Timing(-1, -1))
        return self.inner.execute_synchronously(deadline_ns)


def _reusable(kind: type[FaultyExecution]) -> FaultySubject:
    """Reusable executions of this kind."""

    class Model(FaultyPreparedModel):
        def create_reusable_execution(self, request: types.Request, config: types.ExecutionConfig) -> hal.Execution:
            made = kind(self.inner.create_reusable_execution(request, config), request)
            made.context = self.context
            return made

    return faulty_models(Model)


class _Nothing(hal.Execution):
    """Reports success for what it could not even read. times: how often it reports the truth first."""

    def __init__(self, error: ServiceError, times: int) -> None:
        self._error = error
        self._times = times

    def execute_synchronously(self, deadline_ns: int) -> Result:
        self._times -= 1
        if self._times >= 0:
            raise self._error
        return types.ExecutionResult(True, (), types.Timing(-1, -1))


def _refusing(times: int, status: int = ErrorStatus.INVALID_ARGUMENT) -> type[FaultyPreparedModel]:
    """Reusable executions whose invalid request is rejected so many times, with this status, when they are run."""

    class Model(FaultyPreparedModel):
        def create_reusable_execution(self, request: types.Request, config: types.ExecutionConfig) -> hal.Execution:
            try:
                return self.inner.create_reusable_execution(request, config)
            except ServiceError as error:
                return _Nothing(ServiceError(status, str(error)), times)

    return Model


class _LastRequest(FaultyPreparedModel):
    """The request belongs to the prepared model: the one bound last is executed."""

    def create_reusable_execution(self, request: types.Request, config: types.ExecutionConfig) -> hal.Execution:
        self._last = self.inner.create_reusable_execution(request, config)
        model = self

        class Execution(hal.Execution):
            def execute_synchronously(self, deadline_ns: int) -> Result:
                return model._last.execute_synchronously(deadline_ns)

        return Execution()


_OURS = "vts.executions"

FAULTS = (
    fault("config-ignores-loop-timeout", "The loop timeout of a configuration is not looked at.",
          "NNHAL-EXECUTE-012", "vts.extensions.execution_hints.refusals vts.control_flow.WHILE.endless_is_aborted",
          _IgnoresTimeout),
    fault("config-always-measures", "Every execution with a configuration is measured.",
          "NNHAL-EXECUTE-012 NNHAL-TIMING-001", f"vts.extensions.execution_hints.none {_OURS}.times.only_where_asked",
          _AlwaysMeasures),
    fault("config-refuses-unknown-hints", "A hint of an extension that is not known is refused.",
          "NNHAL-EXECUTE-013", "vts.extensions.execution_hints.ignored", _RefusesHints),
    fault("config-takes-another-kernel", "Executions with a configuration forget the last element.",
          "NNHAL-EXECUTE-008", f"{_OURS}.paths.agree vts.generated.ADD.*", _AnotherKernelWithConfig),
    fault("config-rounds-otherwise", "Executions with a configuration differ in the last bit.", "NNHAL-EXECUTE-008",
          "vts.generated.LOGISTIC.float32_*", _AnotherBitWithConfig, detected_as="quality-warning"),
    fault("reusable-keeps-inputs", "A reusable execution repeats its first result.", "NNHAL-EXECUTE-014",
          f"{_OURS}.reusable.changed_inputs", _reusable(_KeepsInputs)),
    fault("reusable-runs-once", "A reusable execution can be run once.", "NNHAL-EXECUTE-014",
          f"{_OURS}.reusable.changed_inputs {_OURS}.request.used_twice vts.generated.ADD.*", _reusable(_RunsOnce)),
    fault("reusable-validates-nothing", "An invalid request of a reusable execution succeeds.", "NNHAL-EXECUTE-015",
          f"{_OURS}.reusable.invalid_request", _refusing(0)),
    fault("reusable-validates-the-first-run", "An invalid request is refused at the first run only.",
          "NNHAL-EXECUTE-015", f"{_OURS}.reusable.invalid_request", _refusing(1)),
    fault("reusable-general-failure", "An invalid request of a reusable execution is GENERAL_FAILURE.",
          "NNHAL-EXECUTE-015", f"{_OURS}.reusable.invalid_request", _refusing(99, ErrorStatus.GENERAL_FAILURE)),
    fault("reusable-trusts-its-data", "A reusable execution that succeeded once executes any data.",
          "NNHAL-OPERATION-GATHER-C2 NNHAL-EXECUTE-014", f"{_OURS}.data.rows_outside", _reusable(_TrustsItsData)),
    fault("reusable-busy-for-ever", "Two runs at once leave a reusable execution busy.", "NNHAL-EXECUTE-016",
          f"{_OURS}.reusable.one_in_flight", _reusable(_BusyForEver)),
    fault("reusable-late-is-invalid", "A run of a reusable execution whose deadline has passed is INVALID_ARGUMENT.",
          "NNHAL-QOS-003", f"{_OURS}.reusable.other_deadlines", _reusable(_LateIsInvalid)),
    fault("reusable-late-is-empty", "A run of a reusable execution behind its deadline computes nothing and succeeds.",
          "NNHAL-QOS-003", f"{_OURS}.reusable.other_deadlines", _reusable(_LateIsEmpty)),
    fault("reusable-last-request", "All reusable executions of a model run the request that was bound last.",
          "NNHAL-EXECUTE-014", f"{_OURS}.reusable.side_by_side", _LastRequest),
)  # fmt: skip
"""Faults of configurations and reusable executions at the boundary."""
