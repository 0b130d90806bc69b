"""Executions under several limits at once: a deadline, a duration, the timeout of loops; beside hints and timing."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

import msgspec

from npu_conformance.harness.judge.verdicts import NotApplicable
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.harness.run.executing.burst import Burst
from npu_conformance.harness.run.executing.execution import Execution, ExecutionOptions, config_of
from npu_conformance.harness.run.executing.executors import bind, executors, run_reusable
from npu_conformance.harness.run.executing.reusable import reusable_execution
from npu_conformance.specs.errors import ServiceError
from npu_conformance.specs.neuralnetworks.hal import Execution as ReusableExecution
from npu_conformance.specs.neuralnetworks.hal import PreparedModel
from npu_conformance.specs.neuralnetworks.types import (
    ExecutionConfig,
    ExtensionNameAndPrefix,
    Request,
    TokenValuePair,
)

_PREFIX = 1
HINTED = ExecutionOptions(
    hints=(TokenValuePair(_PREFIX << 16, b"?"),),
    extensions=(ExtensionNameAndPrefix("com.npu_conformance.in_no_driver", _PREFIX),),
)
"""A hint that nobody knows."""


class Way(msgspec.Struct, frozen=True):
    """A way to execute under limits, and which of the options it takes."""

    run: Callable[[ExecutionOptions], Execution]
    takes: frozenset[str]

    def can(self, limits: ExecutionOptions) -> bool:
        """True where it takes all that is not as usual."""
        return set(unusual(limits)) <= self.takes


def unusual(limits: ExecutionOptions) -> dict[str, object]:
    """The options that are not as usual."""
    usual = msgspec.structs.asdict(ExecutionOptions())
    return {name: value for name, value in msgspec.structs.asdict(limits).items() if value != usual[name]}


_PLAIN = frozenset({"deadline", "loop_timeout", "measure"})
_HINTS = frozenset({"hints", "extensions"})


def ways(context: CaseContext, prepared_model: PreparedModel, request: Request) -> Mapping[str, Way]:
    """The ways to execute a request under limits that the version has; objects that are made for it are kept."""
    made = _Made(context, prepared_model, request)
    names = [one for one in executors(context.version) if one != "burst" or context.version.is_aidl]
    return {name: Way(partial(made.run, name), _takes(name)) for name in names}


def _takes(name: str) -> frozenset[str]:
    """The options of a way; HIDL's packets, which have none, are no way."""
    duration = frozenset({"duration"}) if "fenced" in name else frozenset()
    return _PLAIN | duration | (_HINTS if "config" in name or "reusable" in name else frozenset())


class _Made:
    """What is executed, with the burst and the reusable executions that were made for it."""

    def __init__(self, context: CaseContext, prepared_model: PreparedModel, request: Request) -> None:
        self._context, self._prepared, self._request = context, prepared_model, request
        self._burst: Burst | None = None
        self._reusable: dict[ExecutionConfig, ReusableExecution] = {}

    def run(self, name: str, limits: ExecutionOptions) -> Execution:
        """Execute by the way of this name."""
        if name == "burst":
            self._burst = self._burst or Burst(self._context, self._prepared)
            return self._burst.execute(self._request, options=limits)
        if name not in ("reusable", "reusable_fenced"):
            return bind(self._context, self._prepared, self._request, limits, name)()
        try:
            reusable = self._bound(limits)
        except ServiceError as error:
            return Execution(error.status, (), None)
        return run_reusable(self._context, reusable, name, limits)

    def _bound(self, limits: ExecutionOptions) -> ReusableExecution:
        config = config_of(limits)
        if config not in self._reusable:
            self._reusable[config] = self._created(config)
        return self._reusable[config]

    def _created(self, config: ExecutionConfig) -> ReusableExecution:
        """A new one. Where a device has no room for it, those that were kept make room."""
        try:
            return reusable_execution(self._context, self._prepared, self._request, config)
        except NotApplicable:
            self._reusable.clear()
        return reusable_execution(self._context, self._prepared, self._request, config)
