"""Drivers that keep something of the ways of executing that stressed clients do not take, or of restored models."""

from __future__ import annotations

from typing import Any

from npu_conformance.faults.boundary import FaultyDevice, FaultyPreparedModel
from npu_conformance.faults.stress.deeds import leave_descriptor, leave_thread
from npu_conformance.specs.neuralnetworks import hal


class OpensForReusable(FaultyPreparedModel):
    """A reusable execution leaves a descriptor open."""

    def create_reusable_execution(self, *arguments: Any) -> hal.Execution:
        leave_descriptor()
        made: hal.Execution = self.inner.create_reusable_execution(*arguments)
        return made


class ThreadOfFenced(FaultyPreparedModel):
    """A fenced execution leaves a thread behind."""

    def execute_fenced(self, *arguments: Any) -> hal.FencedExecutionResult:
        leave_thread()
        return self.inner.execute_fenced(*arguments)


class ThreadOfBurst(FaultyPreparedModel):
    """A burst leaves a thread behind."""

    def configure_execution_burst(self) -> hal.Burst:
        leave_thread()
        return self.inner.configure_execution_burst()


class OpensForRestored(FaultyDevice):
    """A model that is restored from a cache leaves a descriptor open."""

    def prepare_model_from_cache(self, *arguments: Any) -> None:
        leave_descriptor()
        forwarded = (*arguments[:-1], self.given(hal.PreparedModelCallback, arguments[-1]))
        self.inner.prepare_model_from_cache(*forwarded)
