"""The calls that random sequences are made of: each as a function of the machine and a step, with its weight."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from npu_conformance.harness.nnapi import machine_executions as executions
from npu_conformance.harness.nnapi import machine_memories as memories
from npu_conformance.harness.nnapi import machine_models as models
from npu_conformance.harness.nnapi.machine import ApiMachine, Kind, Step
from npu_conformance.specs.interfaces import describe
from npu_conformance.specs.neuralnetworks.runtime import Runtime
from npu_conformance.specs.neuralnetworks.runtime.types import NULL

Run = Callable[[ApiMachine, Step], object]
_FREES = tuple(name for name in describe(Runtime) if name.endswith("_free"))


def _free(kind: Callable[[ApiMachine], Kind[Any]]) -> Run:
    return lambda machine, step: machine.free(kind(machine), step.object)


def _free_null(machine: ApiMachine, step: Step) -> None:
    """Null is ignored (FW-API-002)."""
    function = _FREES[step.value % len(_FREES)]
    if machine.reaches(function):
        machine.calls.append(f"{function}(null)")
        machine.app.call(function, NULL)


STEPS: Mapping[str, tuple[Run, int]] = {
    "create_model": (models.create_model, 3),
    "add_operand": (models.add_operand, 6),
    "set_value": (models.set_value, 4),
    "add_operation": (models.add_operation, 5),
    "identify": (models.identify, 4),
    "finish_model": (models.finish_model, 3),
    "relax": (models.relax, 1),
    "compile": (models.compile_, 4),
    "ask_support": (models.ask_support, 2),
    "set_of_compilation": (models.set_of_compilation, 3),
    "set_caching": (models.set_caching, 1),
    "finish_compilation": (models.finish_compilation, 4),
    "ask_preferred": (models.ask_preferred, 2),
    "execute": (executions.execute, 5),
    "create_burst": (executions.create_burst, 2),
    "set_argument": (executions.set_argument, 12),
    "set_from_memory": (executions.set_from_memory, 5),
    "set_of_execution": (executions.set_of_execution, 6),
    "compute": (executions.compute, 6),
    "start": (executions.start, 4),
    "start_behind": (executions.start_behind, 3),
    "wait": (executions.wait, 4),
    "ask_fence": (executions.ask_fence, 1),
    "burst_compute": (executions.burst_compute, 3),
    "query": (executions.query, 4),
    "duration": (executions.duration, 3),
    "share": (memories.share, 2),
    "copy": (memories.copy, 3),
    "describe": (memories.describe, 2),
    "add_role": (memories.add_role, 4),
    "finish_descriptor": (memories.finish_descriptor, 2),
    "allocate": (memories.allocate, 3),
    "free_execution": (_free(lambda machine: machine.executions), 1),
    "free_event": (_free(lambda machine: machine.events), 1),
    "free_burst": (_free(lambda machine: machine.bursts), 1),
    "free_memory": (_free(lambda machine: machine.memories), 1),
    "free_descriptor": (_free(lambda machine: machine.descriptors), 1),
    "free_compilation": (_free(lambda machine: machine.compilations), 1),
    "free_model": (_free(lambda machine: machine.models), 1),
    "free_null": (_free_null, 1),
}
"""Each call with how often it is drawn."""
