"""The HAL device of a scripted driver: the reference's, but for what the script says."""

from __future__ import annotations

import dataclasses
from typing import Any

from npu_conformance.reference.extensions import own
from npu_conformance.reference.hal.device import ReferenceDevice
from npu_conformance.reference.runtime.scripted.prepared import ScriptedPreparedModel
from npu_conformance.reference.runtime.scripted.service import Call, ScriptedService
from npu_conformance.reference.runtime.scripted.support import capabilities_of, is_oem, supports
from npu_conformance.specs.errors import ServiceError
from npu_conformance.specs.neuralnetworks import hal, types
from npu_conformance.specs.neuralnetworks.enums import MAX_NUMBER_OF_CACHE_FILES, ErrorStatus
from npu_conformance.specs.neuralnetworks.runtime.control import DriverScript
from npu_conformance.specs.plugin import Context


def scripted_service(script: DriverScript, context: Context) -> ScriptedService:
    """The service of a script. context: what the reference device below gets; its memory is that of the runtime."""
    return ScriptedService(script, lambda service, process: ScriptedDevice(service, process, context))


class ScriptedDevice(hal.Device):
    """One process of a scripted driver."""

    def __init__(self, service: ScriptedService, process: int, context: Context) -> None:
        """process: its number; calls of what an earlier process made find it dead."""
        self._service, self._process, self._script = service, process, service.script
        options = {**context.options, "cache_files": _cache_files(service.script)}
        listed = {extension.name for extension in service.script.extensions}
        extensions = tuple(one for one in own.registered() if one.listed.name in listed)
        self._device = ReferenceDevice(dataclasses.replace(context, options=options), service.script.hal, extensions)

    def get_capabilities(self) -> types.Capabilities:
        """As the script says."""
        with self._service.call(self._process, "get_capabilities"):
            return capabilities_of(self._script)

    def get_status(self) -> int:
        """As the reference."""
        with self._service.call(self._process, "get_status"):
            return self._device.get_status()

    def get_version_string(self) -> str:
        """As the script says."""
        with self._service.call(self._process, "get_version_string"):
            return self._script.version_string

    def get_type(self) -> int:
        """As the script says."""
        with self._service.call(self._process, "get_type"):
            return self._script.type

    def get_supported_extensions(self) -> tuple[types.Extension, ...]:
        """As the script says."""
        with self._service.call(self._process, "get_supported_extensions"):
            return self._script.extensions

    def get_number_of_cache_files_needed(self) -> types.NumberOfCacheFiles:
        """As the script says."""
        with self._service.call(self._process, "get_number_of_cache_files_needed"):
            return self._script.cache_files

    def get_supported_operations(self, model: types.Model) -> tuple[bool, ...]:
        """What the reference supports and the script names."""
        with self._service.call(self._process, "get_supported_operations", model=model) as call:
            answers = self._supported(model)
            kind = None if call.found is None else call.found.kind
            return answers[:-1] if kind == "length" else (*answers, True) if kind == "excess" else answers

    def _supported(self, model: types.Model) -> tuple[bool, ...]:
        """What the reference computes and the script names; of a model with an OEM operation, all that it names."""
        count = len(model.main.operations)
        able = (True,) * count if is_oem(model) else self._device.get_supported_operations(model)
        return tuple(able[index] and supports(self._script, model, index) for index in range(count))

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
        """As the reference, where the driver supports every operation."""
        config = types.PrepareModelConfig(preference, priority, deadline_ns, model_cache, data_cache, token)
        self._prepare("prepare_model", model, config, callback)

    def prepare_model_with_config(
        self, model: types.Model, config: types.PrepareModelConfig, callback: hal.PreparedModelCallback | None
    ) -> None:
        """As prepare_model, by which name the script knows it."""
        self._prepare("prepare_model_with_config", model, config, callback)

    def _prepare(
        self,
        name: str,
        model: types.Model,
        config: types.PrepareModelConfig,
        callback: hal.PreparedModelCallback | None,
    ) -> None:
        asked = _asked(config.deadline_ns, config.model_cache, config.data_cache, config.cache_token)
        asked |= {"preference": config.preference, "priority": config.priority, "hints": config.compilation_hints}
        asked |= {"extensions": config.extension_name_to_prefix}
        with self._service.call(self._process, "prepare_model", name, model=model, **asked) as call:
            if not all(self._supported(model)):
                raise ServiceError(ErrorStatus.GENERAL_FAILURE, "the script does not name an operation of the model")
            receiver = self._receiver(call, callback)
            if receiver is not None and is_oem(model):
                receiver.notify(ErrorStatus.NONE, hal.PreparedModel())
            elif receiver is not None:
                caches = (*_ordered(config.model_cache, config.data_cache), config.cache_token)
                self._device.prepare_model(
                    model, config.preference, config.priority, config.deadline_ns, *caches, receiver
                )

    def prepare_model_from_cache(
        self,
        deadline_ns: int,
        model_cache: tuple[types.CacheHandle, ...],
        data_cache: tuple[types.CacheHandle, ...],
        token: bytes,
        callback: hal.PreparedModelCallback | None,
    ) -> None:
        """As the reference."""
        asked = _asked(deadline_ns, model_cache, data_cache, token)
        with self._service.call(self._process, "prepare_model_from_cache", **asked) as call:
            receiver = self._receiver(call, callback)
            if receiver is not None:
                caches = _ordered(model_cache, data_cache)
                self._device.prepare_model_from_cache(deadline_ns, *caches, token, receiver)

    def allocate(
        self,
        desc: types.BufferDesc,
        prepared_models: tuple[hal.PreparedModel | None, ...],
        input_roles: tuple[types.BufferRole, ...],
        output_roles: tuple[types.BufferRole, ...],
    ) -> hal.DeviceBuffer:
        """As the reference, where the script has buffers."""
        asked: dict[str, Any] = {"input_roles": input_roles, "output_roles": output_roles}
        with self._service.call(self._process, "allocate", dimensions=desc.dimensions, **asked) as call:
            if not self._script.has_buffers:
                raise ServiceError(ErrorStatus.GENERAL_FAILURE, "the script has no buffers")
            inner = tuple(one.inner if isinstance(one, ScriptedPreparedModel) else one for one in prepared_models)
            made = self._device.allocate(desc, inner, input_roles, output_roles)
            return _corrupted(made, call)

    def _receiver(self, call: Call, callback: hal.PreparedModelCallback | None) -> hal.PreparedModelCallback | None:
        """What receives the reference's answer; None where the script has answered already, or nobody ever will."""
        kind = None if call.found is None else call.found.kind
        if kind == "callback" and callback is not None and call.found is not None:
            callback.notify(call.found.status, None)
        elif kind == "null" and callback is not None:
            callback.notify(ErrorStatus.NONE, None)
        elif kind == "dies_later":
            self._service.die()
        elif kind == "silent":
            return None
        elif callback is not None:
            return _Wrapping(self._service, self._process, callback, is_late=kind == "late")
        return None


class _Wrapping(hal.PreparedModelCallback):
    """Passes an answer on, with the prepared model under the script."""

    def __init__(
        self, service: ScriptedService, process: int, callback: hal.PreparedModelCallback, *, is_late: bool
    ) -> None:
        """is_late: it waits until the driver is released."""
        self._service, self._process, self._callback, self._is_late = service, process, callback, is_late

    def notify(self, status: int, prepared_model: hal.PreparedModel | None) -> None:
        scripted = None
        if prepared_model is not None:
            scripted = ScriptedPreparedModel(prepared_model, self._service, self._process)
        if self._is_late:
            self._service.when_released(lambda: self._callback.notify(status, scripted))
        else:
            self._callback.notify(status, scripted)


def _corrupted(made: hal.DeviceBuffer, call: Call) -> hal.DeviceBuffer:
    kind = None if call.found is None else call.found.kind
    if kind == "token":
        return hal.DeviceBuffer(made.buffer, 0)
    if kind == "null":
        return hal.DeviceBuffer(None, made.token)  # type: ignore[arg-type]  # what a wrong driver answers
    return made


def _asked(
    deadline_ns: int,
    model_cache: tuple[types.CacheHandle, ...],
    data_cache: tuple[types.CacheHandle, ...],
    token: bytes,
) -> dict[str, Any]:
    """What the record says of a preparation."""
    counts = {"model_cache": len(model_cache), "data_cache": len(data_cache)}
    return {"deadline_ns": deadline_ns, "token": token, **counts}


def _cache_files(script: DriverScript) -> str:
    """The option of the reference; it has no caches where it cannot have so many."""
    model, data = script.cache_files.num_model_cache, script.cache_files.num_data_cache
    if not all(0 <= number <= MAX_NUMBER_OF_CACHE_FILES for number in (model, data)):
        return "0+0"
    return f"{model}+{data}" if model else f"{data}+0"


def _ordered(
    model: tuple[types.CacheHandle, ...], data: tuple[types.CacheHandle, ...]
) -> tuple[tuple[types.CacheHandle, ...], tuple[types.CacheHandle, ...]]:
    """Cache files as the reference takes them: where there are data files alone they are its model files."""
    return (model, data) if model else (data, ())
