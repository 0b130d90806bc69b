"""Drivers as the runtime knows them: registered, asked, and acquired again once after they died."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import msgspec

from npu_conformance.reference.runtime.backend import RuntimeFailure
from npu_conformance.reference.runtime.planning.caching import NO_HANDLES, CacheEntry, Handles
from npu_conformance.reference.runtime.planning.driver_part import DriverPart, Surroundings
from npu_conformance.reference.runtime.planning.outstanding import Outstanding, PreparedModelReceiver
from npu_conformance.reference.runtime.planning.services import Service
from npu_conformance.reference.runtime.planning.version import model_for, priority_for, slice_for, time_for
from npu_conformance.specs.diagnostics import vlog
from npu_conformance.specs.errors import DeadObject, InterfaceError, ServiceError
from npu_conformance.specs.neuralnetworks import hal, types
from npu_conformance.specs.neuralnetworks.enums import ExecutionPreference
from npu_conformance.specs.neuralnetworks.runtime.result_codes import MOST_CACHE_FILES, ResultCode, result_of_status
from npu_conformance.specs.versions import Version

Result = TypeVar("Result")

_UNKNOWN_VERSION = "UNKNOWN"
_UNKNOWN_TYPE = 0
NO_CACHE_FILES = types.NumberOfCacheFiles(0, 0)


class Preparation(msgspec.Struct, frozen=True):
    """How to prepare. priority: a RuntimePriority. deadline_ns: on the runtime's clock, None for none."""

    preference: int
    priority: int
    deadline_ns: int | None = None
    hints: tuple[types.TokenValuePair, ...] = ()
    extensions: tuple[types.ExtensionNameAndPrefix, ...] = ()


class Facts(msgspec.Struct, frozen=True):
    """Answers to the queries at registration."""

    capabilities: types.Capabilities
    version_string: str = _UNKNOWN_VERSION
    type: int = _UNKNOWN_TYPE
    extensions: tuple[types.Extension, ...] = ()
    cache_files: types.NumberOfCacheFiles = NO_CACHE_FILES


class Driver:
    """A registered driver. See RuntimeDevice and partition.Candidate."""

    is_cpu = False

    def __init__(self, service: Service, device: hal.Device, facts: Facts, around: Surroundings) -> None:
        self.name, self.version = service.name, service.version
        self.feature_level = min(service.version, around.feature_level)  # FW-VER-002
        self.version_string, self.type, self.extensions = facts.version_string, facts.type, facts.extensions
        self.capabilities, self.cache_files = facts.capabilities, facts.cache_files
        self.around = around
        self.outstanding = Outstanding()
        self.executed: set[int] = set()
        self._service, self._device = service, device
        service.on_death(self.outstanding.died)

    def call(self, function: Callable[[hal.Device], Result]) -> Result:
        """Call the device; where it is dead acquire the service without blocking and retry once (FW-VER-003)."""
        try:
            return function(self._device)
        except DeadObject:
            device = self._service.acquire(wait=False)
            if device is None:
                raise
            self._device = device
            return function(device)

    def wait(self) -> ResultCode:
        """Block until the service lives (FW-VER-005)."""
        device = self._service.acquire(wait=True)
        if device is not None:
            self._device = device
        return ResultCode.DEAD_OBJECT if device is None else ResultCode.NO_ERROR

    def supported_operations(self, model: types.Model) -> tuple[bool, ...]:
        """What the driver says; nothing where it fails or answers with another count (FW-PRT-007, -013)."""
        count = len(model.main.operations)
        whole = model_for(self.version, model)
        if whole is not None:
            return self._supported(whole) or (False,) * count
        part = slice_for(self.version, model, strict=self.around.properties.strict_slicing)
        if part is None:
            return (False,) * count
        sliced, places = part
        answers = dict(zip(places, self._supported(sliced), strict=False))
        return tuple(answers.get(index, False) for index in range(count))

    def _supported(self, model: types.Model) -> tuple[bool, ...]:
        """The answer of the right length; empty where there is none."""
        try:
            answers = self.call(lambda device: device.get_supported_operations(model))
        except InterfaceError as error:
            reason = str(error)
            vlog.log("compilation", lambda: f"{self.name}: getSupportedOperations: {reason}")
            return ()
        return tuple(answers) if len(answers) == len(model.main.operations) else ()

    def prepare(self, model: types.Model, how: Preparation, cache: CacheEntry | None = None) -> DriverPart:
        """Have a model prepared, from the cache where it is there (FW-CAC-002, -003). Raises RuntimeFailure."""
        expressed = model_for(self.version, model)
        if expressed is None:
            raise RuntimeFailure(ResultCode.OP_FAILED, f"HAL {self.version} cannot express the model for {self.name}")
        if cache is not None and self.cache_files != NO_CACHE_FILES:
            prepared = self._cached(expressed, how, cache)
        else:
            prepared = self._prepared(expressed, how, NO_HANDLES, bytes(32))
        return DriverPart(self, prepared, model)

    def _cached(self, model: types.Model, how: Preparation, cache: CacheEntry) -> hal.PreparedModel:
        folder, wanted = self.around.caches, self.cache_files
        with folder.existing(cache, wanted) as handles:
            if handles is not None:
                try:
                    return self._from_cache(how, handles, cache.token)
                except RuntimeFailure as failure:
                    reason = str(failure)
                    vlog.log("compilation", lambda: f"{self.name}: prepareModelFromCache: {reason}")
        with folder.created(cache, wanted) as handles:
            return self._prepared(model, how, handles, cache.token)

    def _from_cache(self, how: Preparation, handles: Handles, token: bytes) -> hal.PreparedModel:
        deadline_ns = time_for(self.version, how.deadline_ns)
        return self._answer(
            lambda device, callback: device.prepare_model_from_cache(
                deadline_ns, handles.model, handles.data, token, callback
            )
        )

    def _prepared(self, model: types.Model, how: Preparation, handles: Handles, token: bytes) -> hal.PreparedModel:
        version = self.version
        preference = how.preference if version >= Version.V1_1 else ExecutionPreference.FAST_SINGLE_ANSWER
        priority, deadline_ns = priority_for(version, how.priority), time_for(version, how.deadline_ns)
        caches = (handles.model, handles.data)
        if how.hints and version >= Version.FL8:
            config = types.PrepareModelConfig(
                preference, priority, deadline_ns, *caches, token, how.hints, how.extensions
            )
            return self._answer(lambda device, callback: device.prepare_model_with_config(model, config, callback))
        return self._answer(
            lambda device, callback: device.prepare_model(
                model, preference, priority, deadline_ns, *caches, token, callback
            )
        )

    def _answer(self, launch: Callable[[hal.Device, PreparedModelReceiver], None]) -> hal.PreparedModel:
        """Launch a preparation and wait for its callback. Raises RuntimeFailure with the driver's code."""

        def launched(device: hal.Device) -> hal.PreparedModel:
            receiver = PreparedModelReceiver()
            with self.outstanding.waiting(receiver.died):
                launch(device, receiver)
                return receiver.prepared()

        try:
            return self.call(launched)
        except ServiceError as error:
            raise RuntimeFailure(result_of_status(error.status), f"{self.name}: {error}") from error
        except DeadObject as error:
            raise RuntimeFailure(ResultCode.DEAD_OBJECT, f"{self.name} has died") from error
        except InterfaceError as error:
            raise RuntimeFailure(ResultCode.OP_FAILED, f"{self.name}: {error}") from error


def registered(service: Service, around: Surroundings) -> Driver | None:
    """The driver, or None where an initial query fails or it wants too many cache files (FW-CAC-001)."""
    device = service.acquire(wait=False)
    if device is None:
        return None
    try:
        facts = _facts(device, service.version)
    except InterfaceError as error:
        reason = str(error)
        vlog.log("manager", lambda: f"{service.name} is not registered: {reason}")
        return None
    if max(facts.cache_files.num_model_cache, facts.cache_files.num_data_cache) > MOST_CACHE_FILES:
        return None
    return Driver(service, device, facts, around)


def _facts(device: hal.Device, version: Version) -> Facts:
    capabilities = device.get_capabilities()
    if version < Version.V1_2:
        return Facts(capabilities)
    return Facts(
        capabilities,
        device.get_version_string(),
        device.get_type(),
        tuple(device.get_supported_extensions()),
        device.get_number_of_cache_files_needed(),
    )
