"""A device of the NNAPI runtime as a hal.Device."""

from __future__ import annotations

import functools
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Protocol

from npu_conformance.adapters.runtime_device.execution import (
    AtEnd,
    Compiled,
    as_service_error,
    at_once,
    timeout_until,
)
from npu_conformance.adapters.runtime_device.prepared_model import RuntimePreparedModel
from npu_conformance.adapters.runtime_device.visibility import require_visible_model, require_without_hints
from npu_conformance.harness.nnapi.caller_memory import CallerMemory
from npu_conformance.harness.nnapi.errors import CallError, require
from npu_conformance.harness.nnapi.models import BuiltModel, build
from npu_conformance.specs.errors import NotVisible, ServiceError
from npu_conformance.specs.neuralnetworks import hal, types
from npu_conformance.specs.neuralnetworks.enums import ErrorStatus, Priority
from npu_conformance.specs.neuralnetworks.runtime import Runtime
from npu_conformance.specs.neuralnetworks.runtime.devices import MOST_DEVICES
from npu_conformance.specs.neuralnetworks.runtime.result_codes import ResultCode, RuntimePriority, status_of_result
from npu_conformance.specs.neuralnetworks.runtime.types import NULL
from npu_conformance.specs.plugin import Clock
from npu_conformance.specs.versions import Version

_PRIORITIES: dict[int, int] = {
    Priority.LOW: RuntimePriority.LOW,
    Priority.MEDIUM: RuntimePriority.MEDIUM,
    Priority.HIGH: RuntimePriority.HIGH,
}
_NO_PRIORITY = -1
"""What stands for a priority that the HAL does not know: the API does not know it either."""


@dataclass(frozen=True)
class _Compilation:
    """A compilation and the model that it is of."""

    handle: int
    built: BuiltModel

    def free(self, runtime: Runtime) -> None:
        """Destroy both."""
        runtime.compilation_free(self.handle)
        self.built.free(runtime)


class ScratchMaker(Protocol):
    """Where the values of constants lie while a model is built."""

    def scratch(self) -> AbstractContextManager[CallerMemory]:
        """Caller's memory for as long as a model is built: a finished model has copied its constants."""
        ...


class RuntimeDevice(hal.Device):
    """One device of a runtime, by the functions that take a list of devices.

    What an app cannot do or see raises NotVisible, and is no verdict about the device.
    """

    def __init__(
        self,
        runtime: Runtime,
        device: str | None,
        version: Version,
        memory: ScratchMaker,
        clock: Clock,
        at_end: AtEnd = at_once,
    ) -> None:
        """device: its name; None for whatever the runtime chooses, below feature level 3. version: of the HAL.

        at_end: see AtEnd.
        """
        self._runtime, self._version, self._memory, self._clock = runtime, version, memory, clock
        self._functions, self._at_end = frozenset(runtime.functions()), at_end
        self._device = None if device is None else _handle_of(runtime, device)

    def get_capabilities(self) -> types.Capabilities:
        """Refused: the C API does not tell them."""
        raise NotVisible("the C API does not tell how fast a device is")

    def get_status(self) -> int:
        """Refused: the C API does not tell it."""
        raise NotVisible("the C API does not tell the status of a device")

    def get_version_string(self) -> str:
        """ANeuralNetworksDevice_getVersion."""
        found = self._runtime.device_get_version(self._known(), True)
        _required("device_get_version", found.result)
        return found.value or ""

    def get_type(self) -> int:
        """ANeuralNetworksDevice_getType."""
        found = self._runtime.device_get_type(self._known(), True)
        _required("device_get_type", found.result)
        return found.value

    def get_supported_extensions(self) -> tuple[types.Extension, ...]:
        """Refused: an app can ask for one extension by its name, and hears nothing of its types."""
        raise NotVisible("the C API does not list extensions")

    def get_number_of_cache_files_needed(self) -> types.NumberOfCacheFiles:
        """Refused: cache files are between a runtime and its drivers."""
        raise NotVisible("cache files are between a runtime and its drivers")

    def get_supported_operations(self, model: types.Model) -> tuple[bool, ...]:
        """ANeuralNetworksModel_getSupportedOperationsForDevices; below feature level 3, whether the model compiles."""
        built = self._build(model)
        try:
            return self._supported(built, len(model.main.operations))
        finally:
            built.free(self._runtime)

    def prepare_model(
        self,
        model: types.Model,
        preference: int,
        priority: int,
        deadline_ns: int,
        model_cache: tuple[types.CacheHandle, ...],
        data_cache: tuple[types.CacheHandle, ...],
        token: bytes,
        callback: hal.PreparedModelCallback | None,
    ) -> None:
        """Build and compile the model, and notify before returning."""
        if callback is None:
            raise NotVisible("the C API has no callbacks that could be null")
        if model_cache or data_cache:
            raise NotVisible("cache files are between a runtime and its drivers")
        try:
            compilation = self._compilation(model, preference, priority, deadline_ns)
        except ServiceError as error:
            callback.notify(error.status, None)
            raise
        # A launch succeeds whatever the device makes of a valid model; an argument can be found wrong as late as here.
        status = self._finished(compilation, len(model.main.operations))
        callback.notify(status, None if status != ErrorStatus.NONE else self._prepared(compilation, model))
        if status == ErrorStatus.INVALID_ARGUMENT:
            raise ServiceError(status, "compilation_finish returned BAD_DATA (4)")

    def prepare_model_with_config(
        self, model: types.Model, config: types.PrepareModelConfig, callback: hal.PreparedModelCallback | None
    ) -> None:
        """See prepare_model."""
        require_without_hints(config.compilation_hints)
        caches = config.model_cache, config.data_cache, config.cache_token
        self.prepare_model(model, config.preference, config.priority, config.deadline_ns, *caches, callback)

    def prepare_model_from_cache(
        self,
        deadline_ns: int,
        model_cache: tuple[types.CacheHandle, ...],
        data_cache: tuple[types.CacheHandle, ...],
        token: bytes,
        callback: hal.PreparedModelCallback | None,
    ) -> None:
        """Refused: cache files are between a runtime and its drivers."""
        raise NotVisible("cache files are between a runtime and its drivers")

    def allocate(
        self,
        desc: types.BufferDesc,
        prepared_models: tuple[hal.PreparedModel | None, ...],
        input_roles: tuple[types.BufferRole, ...],
        output_roles: tuple[types.BufferRole, ...],
    ) -> hal.DeviceBuffer:
        """Refused: whether a device or the runtime serves a memory descriptor cannot be told."""
        raise NotVisible("the C API does not tell whether a device serves a memory descriptor")

    def _compilation(self, model: types.Model, preference: int, priority: int, deadline_ns: int) -> _Compilation:
        built = self._build(model)
        handle = NULL
        try:
            handle = self._created(built)
            self._set_terms(handle, preference, priority, deadline_ns)
        except BaseException as error:
            _Compilation(handle, built).free(self._runtime)
            raise as_service_error(error) if isinstance(error, CallError) else error from None
        return _Compilation(handle, built)

    def _finished(self, compilation: _Compilation, operations: int) -> int:
        """Have it compiled, and return the status; where that fails, nothing of it is left."""
        code = self._runtime.compilation_finish(compilation.handle)
        if code == ResultCode.NO_ERROR:
            return ErrorStatus.NONE
        try:
            is_unsupported = code == ResultCode.BAD_DATA and not all(self._supported(compilation.built, operations))
            return ErrorStatus.GENERAL_FAILURE if is_unsupported else status_of_result(code)
        finally:
            compilation.free(self._runtime)

    def _prepared(self, compilation: _Compilation, model: types.Model) -> RuntimePreparedModel:
        compiled = Compiled(self._runtime, compilation.handle, model, self._version, self._clock, self._at_end)
        return RuntimePreparedModel(compiled, functools.partial(compilation.free, self._runtime))

    def _supported(self, built: BuiltModel, operations: int) -> tuple[bool, ...]:
        if self._device is None:
            return (self._compiles(built),) * operations
        found = self._runtime.model_get_supported_operations_for_devices(built.handle, (self._device,), True)
        _required("model_get_supported_operations_for_devices", found.result)
        return found.values

    def _build(self, model: types.Model) -> BuiltModel:
        require_visible_model(model, self._version)
        try:
            with self._memory.scratch() as scratch:
                return build(self._runtime, scratch, model)
        except CallError as error:
            raise as_service_error(error) from None

    def _created(self, built: BuiltModel) -> int:
        if self._device is None:
            made = self._runtime.compilation_create(built.handle, True)
        else:
            made = self._runtime.compilation_create_for_devices(built.handle, (self._device,), True)
        require("compilation_create", made.result)
        return made.handle

    def _set_terms(self, compilation: int, preference: int, priority: int, deadline_ns: int) -> None:
        if self._version >= Version.V1_1:
            result = self._runtime.compilation_set_preference(compilation, preference)
            require("compilation_set_preference", result)
        if self._version >= Version.V1_3:
            wanted = _PRIORITIES.get(priority, _NO_PRIORITY)
            require("compilation_set_priority", self._runtime.compilation_set_priority(compilation, wanted))
        timeout = timeout_until(deadline_ns, self._clock)
        if timeout:
            require("compilation_set_timeout", self._runtime.compilation_set_timeout(compilation, timeout))

    def _compiles(self, built: BuiltModel) -> bool:
        compilation = self._created(built)
        try:
            return self._runtime.compilation_finish(compilation) == ResultCode.NO_ERROR
        finally:
            self._runtime.compilation_free(compilation)

    def _known(self) -> int:
        if self._device is None:
            raise NotVisible("the C API has no devices below feature level 3")
        return self._device


def _handle_of(runtime: Runtime, name: str) -> int:
    count = runtime.get_device_count(True)
    _required("get_device_count", count.result)
    handles = [runtime.get_device(index, True).handle for index in range(min(count.value, MOST_DEVICES))]
    for handle in handles:
        if runtime.device_get_name(handle, True).value == name:
            return handle
    raise ServiceError(ErrorStatus.DEVICE_UNAVAILABLE, f"the runtime has no device {name} any more")


def _required(function: str, result: int) -> None:
    """Raise the ServiceError of a function that did not succeed."""
    try:
        require(function, result)
    except CallError as error:
        raise as_service_error(error) from None
