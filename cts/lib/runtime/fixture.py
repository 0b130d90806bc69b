"""The app as cases drive it: objects of the API in any state, the codes that its calls have to return.

The model of most objects is one ADD of two vectors of floats. Whatever is made is freed when the case ends, the newest
first; `free` frees it earlier.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable
from typing import Any, cast

from npu_conformance.cts.lib.runtime import codes
from npu_conformance.cts.lib.runtime.cache_folder import CacheFolder
from npu_conformance.harness.judge import checks
from npu_conformance.harness.judge.api_model import NO_MEMORY, Required
from npu_conformance.harness.judge.verdicts import NotApplicable, NotSupported
from npu_conformance.harness.nnapi import models
from npu_conformance.harness.nnapi.app import ACTIVATION, VECTOR, App, result_of
from npu_conformance.harness.nnapi.caller_memory import CallerMemory, PooledMemory, place
from npu_conformance.harness.nnapi.models import BuiltModel
from npu_conformance.harness.run.busy import vagueness
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.harness.subject.pools import Pool
from npu_conformance.harness.wire.binding import MethodCall
from npu_conformance.specs.neuralnetworks.enums import ErrorStatus, OperationType
from npu_conformance.specs.neuralnetworks.runtime import Runtime
from npu_conformance.specs.neuralnetworks.runtime.devices import CPU, MOST_DEVICES
from npu_conformance.specs.neuralnetworks.runtime.result_codes import ResultCode
from npu_conformance.specs.neuralnetworks.runtime.types import NULL, OperandDescription, Pointer
from npu_conformance.specs.neuralnetworks.types import Model
from npu_conformance.specs.versions import Version

__all__ = ["ACTIVATION", "ADDENDS", "CPU", "SUM", "VECTOR", "VECTOR_BYTES", "RuntimeApp", "result_of"]

Build = Callable[[Runtime, CallerMemory, Model], BuiltModel]
"""Builds and finishes a model of a runtime. Raises CallError."""
VECTOR_BYTES = 8
ADDENDS = (struct.pack("<2f", 1, 2), struct.pack("<2f", 10, 20))
SUM = struct.pack("<2f", 11, 22)
_EXHAUSTED = (ResultCode.RESOURCE_EXHAUSTED_TRANSIENT, ResultCode.RESOURCE_EXHAUSTED_PERSISTENT)
_BUSY = {
    ResultCode.UNAVAILABLE_DEVICE: ErrorStatus.DEVICE_UNAVAILABLE,
    ResultCode.OP_FAILED: ErrorStatus.GENERAL_FAILURE,
}
"""What a runtime says of a driver that has no room beside others, and in what status the driver said so."""


class RuntimeApp(App):
    """An app that uses the runtime under test. NotApplicable where the subject has none."""

    def __init__(self, context: CaseContext) -> None:
        self.context = context
        runtime = context.present(context.subject.interfaces.runtime, "runtime")
        super().__init__(runtime, context.manifest.feature_level, PooledMemory(self._pool))
        self._outputs: dict[int, Pointer] = {}
        self._restarts = context.restarts
        self._cache: CacheFolder | None = None
        context.close_later(self)

    def _pool(self, size: int) -> Pool:
        """A pool that is closed behind the objects that may use it."""
        pool = self.context.pool(size)
        self.context.close_later(self)
        return pool

    # Calls

    def expect(self, function: str, result: int, *allowed: int) -> None:
        """Fail unless a function returned one of these codes, NO_ERROR where none is given."""
        codes.judge(self.context, function, result, *(allowed or (ResultCode.NO_ERROR,)))

    def judge_call(self, number: int, function: str, required: Required, result: int) -> None:
        """Fail unless the call of a number has returned what the model of the API requires."""
        self.expect(f"call {number}, {function}", result, *required.codes)

    @property
    def checks_handles(self) -> bool:
        """Whether the runtime promises to check them."""
        return self.context.manifest.checks_handles

    def pool(self, size: int) -> Pool:
        """Memory for a memory object."""
        return self.context.pool(size)

    def cache_folder(self) -> str:
        """Where compilations may be cached: a folder of this app alone."""
        if self._cache is None:
            self._cache = CacheFolder(self.context)
        return self._cache.argument

    def succeed(self, function: str, *arguments: Any, **named: Any) -> Any:
        """Call a function that has to succeed; returns its answer."""
        answer = self.call(function, *arguments, **named)
        self.needs_room(function, result_of(answer))
        with codes.telling_the_call(function, arguments, named):
            self.expect(function, result_of(answer))
        return answer

    def needs_room(self, function: str, result: int) -> None:
        """NotSupported where a driver has no room for one more model, as it need not have (NNHAL-SUPPORT-005).

        Where the app has named it, there is no other device that the runtime could turn to (FW-PRT-011).
        """
        if function != "compilation_finish":
            return
        if result in _EXHAUSTED:
            raise NotSupported("a driver has no room for one more model")
        if result in _BUSY and self._has_other_compilations():
            beside = "a driver has no room for one more model beside those of the app"
            raise NotSupported(beside, vagueness(_BUSY[ResultCode(result)], self.level))

    def _has_other_compilations(self) -> bool:
        return [function for function, _ in self._owned].count("compilation_free") > 1

    def succeed_each(self, calls: Iterable[MethodCall]) -> list[Any]:
        """Call functions in turn that all have to succeed; returns their answers."""
        known, answers = list(calls), []
        for (_, arguments), (function, answer) in zip(known, self.call_each(known), strict=True):
            with codes.telling_the_call(function, arguments, {}):
                self.expect(function, result_of(answer))
            answers.append(answer)
        return answers

    def refused(self, function: str, code: int, *arguments: Any, others: tuple[int, ...] = (), **named: Any) -> Any:
        """Call a function that has to return this code, or one of others; returns its answer."""
        answer = self.call(function, *arguments, **named)
        with codes.telling_the_call(function, arguments, named):
            self.expect(function, result_of(answer), code, *others)
        return answer

    def made(self, function: str, *arguments: Any) -> int:
        """Make an object by a function that has to succeed; returns the handle."""
        handle = cast(int, self.succeed(function, *arguments).handle)
        checks.that(handle > NULL, f"{function}: expected a handle, found {handle}")
        return self.owns(function, handle)

    def close(self) -> None:
        """Free everything, the newest first. What a runtime that died had needs no freeing."""
        if self.context.restarts != self._restarts:
            self.forget()
        self.free_all()

    # Devices

    def devices(self) -> tuple[int, ...]:
        """The handles of all devices, the runtime's own CPU among them."""
        count = self.succeed("get_device_count", True).value
        checks.that(0 <= count <= MOST_DEVICES, f"get_device_count: expected 0 to {MOST_DEVICES}, found {count}")
        return tuple(self.succeed("get_device", index, True).handle for index in range(count))

    def cpu(self) -> int:
        """The runtime's own CPU."""
        for device in self.devices():
            if self.succeed("device_get_name", device, True).value == CPU:
                return device
        raise NotApplicable("the runtime has no CPU device")

    # Models

    def empty_model(self) -> int:
        """A model without anything."""
        return self.made("model_create", True)

    def building_model(self, operand: OperandDescription = VECTOR, output: OperandDescription | None = None) -> int:
        """An ADD to which only finish is missing. Operands: 0 and 1 the inputs, 2 the activation, 3 the output."""
        model = self.operands_of_add(operand, output)
        self.succeed("model_add_operation", model, OperationType.ADD, (0, 1, 2), (3,))
        self.succeed("model_identify_inputs_and_outputs", model, (0, 1), (3,))
        return model

    def operands_of_add(self, operand: OperandDescription = VECTOR, output: OperandDescription | None = None) -> int:
        """A model with the operands of an ADD, and no operation."""
        model = self.empty_model()
        for described in (operand, operand, ACTIVATION, output or operand):
            self.succeed("model_add_operand", model, described)
        self.succeed("model_set_operand_value", model, 2, place(self.memory, bytes(4)), 4)
        return model

    def finished_model(self, operand: OperandDescription = VECTOR, output: OperandDescription | None = None) -> int:
        """A valid model."""
        model = self.building_model(operand, output)
        self.succeed("model_finish", model)
        return model

    def invalid_model(self) -> int:
        """A model whose finish has failed: nothing writes its output."""
        model = self.operands_of_add()
        self.succeed("model_identify_inputs_and_outputs", model, (0, 1), (3,))
        with checks.about("FW-MDL-023"):
            result = self.call("model_finish", model)
            self.expect("model_finish of a model whose output nothing writes", result, ResultCode.BAD_DATA)
        return model

    def built(self, model: Model, build: Build = models.build) -> int:
        """Build and finish a wire model. build: how."""
        built = build(self.runtime, self.memory, model)
        for memory in built.memories:
            self.owns("memory_create_from_fd", memory)
        for handle in built.models:
            self.owns("model_create", handle)
        return built.handle

    # Compilations

    def compilation(self, model: int = NULL, devices: tuple[int, ...] = ()) -> int:
        """A compilation that is not finished. devices: those that the app names; none for all, with fallback."""
        model = model or self.finished_model()
        if devices:
            return self.made("compilation_create_for_devices", model, devices, True)
        return self.made("compilation_create", model, True)

    def finished_compilation(self, model: int = NULL, devices: tuple[int, ...] = ()) -> int:
        """A compilation with a plan."""
        compilation = self.compilation(model, devices)
        self.succeed("compilation_finish", compilation)
        return compilation

    def failed_compilation(self) -> int:
        """A compilation whose finish has failed: the CPU does not support OEM_OPERATION."""
        model = self.operands_of_add()
        self.succeed("model_add_operation", model, OperationType.OEM_OPERATION, (0, 1, 2), (3,))
        self.succeed("model_identify_inputs_and_outputs", model, (0, 1), (3,))
        self.succeed("model_finish", model)
        compilation = self.compilation(model, (self.cpu(),) if self.level >= Version.V1_2 else ())
        self.refused("compilation_finish", ResultCode.BAD_DATA, compilation)
        return compilation

    # Executions of the ADD

    def execution(self, compilation: int = NULL) -> int:
        """An execution without arguments."""
        execution = self.made("execution_create", compilation or self.finished_compilation(), True)
        self._outputs.pop(execution, None)
        return execution

    def set_inputs(self, execution: int) -> None:
        """Set both inputs of the ADD."""
        for index, data in enumerate(ADDENDS):
            self.succeed("execution_set_input", execution, index, None, place(self.memory, data), len(data))

    def output_of(self, execution: int) -> Pointer:
        """Where the sum of an execution goes; `check_sum` reads it."""
        if execution not in self._outputs:
            self._outputs[execution] = place(self.memory, bytes(VECTOR_BYTES))
        return self._outputs[execution]

    def set_output(self, execution: int) -> None:
        """Set the output of the ADD."""
        self.succeed("execution_set_output", execution, 0, None, self.output_of(execution), VECTOR_BYTES)

    def ready_execution(self, compilation: int = NULL) -> int:
        """An execution with all its arguments."""
        execution = self.execution(compilation)
        self.set_inputs(execution)
        self.set_output(execution)
        return execution

    def started(self, execution: int) -> int:
        """Start to compute; returns the event."""
        return self.made("execution_start_compute", execution, True)

    def completed_execution(self, compilation: int = NULL) -> int:
        """An execution that has succeeded."""
        execution = self.ready_execution(compilation)
        self.computes(execution)
        return execution

    def compute(self, execution: int) -> int:
        """Compute by the plainest way that the feature level has; returns the code."""
        if self.level >= Version.V1_2:
            return cast(int, self.call("execution_compute", execution))
        started = self.call("execution_start_compute", execution, True)
        if started.result != ResultCode.NO_ERROR:
            return cast(int, started.result)
        return cast(int, self.call("event_wait", self.owns("execution_start_compute", started.handle)))

    def computes(self, execution: int) -> None:
        """Compute, and check the sum."""
        self.expect("execution_compute", self.compute(execution))
        self.check_sum(execution)

    def check_sum(self, execution: int) -> None:
        """Check what an execution has written to its output."""
        checks.equal(self.memory.read(self.output_of(execution), VECTOR_BYTES), SUM, "bytes of the sum")

    # Memories

    def shared_memory(self, size: int = VECTOR_BYTES, data: bytes = b"") -> tuple[int, Pool]:
        """A memory object over a new pool, and the pool. data: its first bytes."""
        pool = self._pool(size)
        pool.write(0, data)
        memory = models.memory_object(self.runtime, pool.memory)
        return self.owns("memory_create_from_fd", memory), pool

    def descriptor(self, compilation: int = NULL, role: str = "input") -> int:
        """A descriptor with one role, the first input or output of a compilation of the ADD, that is not finished."""
        descriptor = self.made("memory_desc_create", True)
        compilation = compilation or self.finished_compilation()
        self.succeed(f"memory_desc_add_{role}_role", descriptor, compilation, 0, 1.0)
        return descriptor

    def finished_descriptor(self, compilation: int = NULL, role: str = "input") -> int:
        """A descriptor from which memory can be made."""
        descriptor = self.descriptor(compilation, role)
        self.succeed("memory_desc_finish", descriptor)
        return descriptor

    def described_memory(self, compilation: int = NULL, role: str = "input") -> int:
        """Memory from a descriptor. Nothing was written to it."""
        return self.memory_of(self.finished_descriptor(compilation, role))

    def memory_of(self, descriptor: int) -> int:
        """Memory from a finished descriptor. NotApplicable where the runtime declines, as it may (FW-MEM-008)."""
        memory = self.memory_if_given(descriptor)
        if memory is None:
            raise NotApplicable("the runtime gives no memory from this descriptor")
        return memory

    def memory_if_given(self, descriptor: int) -> int | None:
        """Memory from a finished descriptor; None where the runtime declines (FW-MEM-008, FW-MEM-009) or has no room.

        It leaves no handle then.
        """
        answer = self.call("memory_create_from_desc", descriptor, True)
        self.expect("memory_create_from_desc", answer.result, ResultCode.NO_ERROR, *NO_MEMORY)
        if answer.result != ResultCode.NO_ERROR:
            checks.equal(answer.handle, NULL, "memory_create_from_desc: the handle where it failed")
            return None
        checks.that(answer.handle > NULL, f"memory_create_from_desc: expected a handle, found {answer.handle}")
        return self.owns("memory_create_from_desc", answer.handle)

    def initialised_memory(self, compilation: int = NULL) -> int:
        """Memory from a descriptor, for the first input, into which the first addend was copied."""
        memory = self.described_memory(compilation)
        source, _ = self.shared_memory(VECTOR_BYTES, ADDENDS[0])
        self.succeed("memory_copy", source, memory)
        return memory
