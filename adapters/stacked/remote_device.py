"""A driver in another process, as the runtime calls one in its own."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from msgspec.structs import replace

from npu_conformance.adapters.stacked.caches import Handles, lent
from npu_conformance.adapters.stacked.carrying import Carrier, Copy
from npu_conformance.adapters.stacked.death import asked
from npu_conformance.adapters.stacked.remote_models import RemoteBuffer, RemoteModel
from npu_conformance.harness.run.preparation import (
    Preparation,
    PreparationArguments,
    PreparationRecorder,
    prepare,
    prepare_from_cache,
)
from npu_conformance.specs.errors import ServiceError
from npu_conformance.specs.neuralnetworks import hal, types
from npu_conformance.specs.neuralnetworks.enums import ErrorStatus

if TYPE_CHECKING:
    from npu_conformance.harness.subject.handle import SubjectHandle
    from npu_conformance.specs.plugin import Files, MemoryMap

_Prepare = Callable[[PreparationArguments], Preparation]


class RemoteDevice(hal.Device):
    """The device of a subject. memory, files: what the runtime's tokens stand for."""

    def __init__(self, inner: hal.Device, subject: SubjectHandle, memory: MemoryMap, files: Files) -> None:
        self._inner, self._subject, self._files = inner, subject, files
        self._carrier = Carrier(memory, subject.memory)

    def get_capabilities(self) -> types.Capabilities:
        """See Device."""
        return asked(self._inner.get_capabilities)

    def get_version_string(self) -> str:
        """See Device."""
        return asked(self._inner.get_version_string)

    def get_type(self) -> int:
        """See Device."""
        return asked(self._inner.get_type)

    def get_supported_extensions(self) -> tuple[types.Extension, ...]:
        """See Device."""
        return asked(self._inner.get_supported_extensions)

    def get_number_of_cache_files_needed(self) -> types.NumberOfCacheFiles:
        """See Device."""
        return asked(self._inner.get_number_of_cache_files_needed)

    def get_supported_operations(self, model: types.Model) -> tuple[bool, ...]:
        """See Device."""
        with self._carrier.model(model) as (carried, _):
            return asked(lambda: self._inner.get_supported_operations(carried))

    def prepare_model(
        self,
        model: types.Model,
        preference: int,
        priority: int,
        deadline_ns: int,
        model_cache: Handles,
        data_cache: Handles,
        token: bytes,
        callback: hal.PreparedModelCallback | None,
    ) -> None:
        """See Device."""
        arguments = PreparationArguments(
            preference=preference,
            priority=priority,
            deadline_ns=deadline_ns,
            model_cache=model_cache,
            data_cache=data_cache,
            token=token,
        )
        self._prepared(model, arguments, callback)

    def prepare_model_with_config(
        self, model: types.Model, config: types.PrepareModelConfig, callback: hal.PreparedModelCallback | None
    ) -> None:
        """See Device."""
        arguments = PreparationArguments(
            preference=config.preference,
            priority=config.priority,
            deadline_ns=config.deadline_ns,
            model_cache=config.model_cache,
            data_cache=config.data_cache,
            token=config.cache_token,
            with_config=True,
            hints=config.compilation_hints,
            extensions=config.extension_name_to_prefix,
        )
        self._prepared(model, arguments, callback)

    def prepare_model_from_cache(
        self,
        deadline_ns: int,
        model_cache: Handles,
        data_cache: Handles,
        token: bytes,
        callback: hal.PreparedModelCallback | None,
    ) -> None:
        """See Device."""
        arguments = PreparationArguments(
            deadline_ns=deadline_ns, model_cache=model_cache, data_cache=data_cache, token=token
        )
        found = self._with_caches(
            arguments, lambda lent: prepare_from_cache(self._subject, self._inner, lent, PreparationRecorder())
        )
        self._notify(callback, found, [])

    def allocate(
        self,
        desc: types.BufferDesc,
        prepared_models: tuple[hal.PreparedModel | None, ...],
        input_roles: tuple[types.BufferRole, ...],
        output_roles: tuple[types.BufferRole, ...],
    ) -> hal.DeviceBuffer:
        """See Device."""
        models = tuple(one.inner if isinstance(one, RemoteModel) else one for one in prepared_models)
        made = asked(lambda: self._inner.allocate(desc, models, input_roles, output_roles))
        return hal.DeviceBuffer(RemoteBuffer(made.buffer, self._carrier), made.token)

    def _prepared(
        self, model: types.Model, arguments: PreparationArguments, callback: hal.PreparedModelCallback | None
    ) -> None:
        """Prepare and wait: the answer comes by a connection that nobody else reads."""
        with self._carrier.model(model) as (carried, copies):
            found = self._with_caches(
                arguments, lambda lent: prepare(self._subject, self._inner, carried, lent, PreparationRecorder())
            )
            self._notify(callback, found, copies)

    def _with_caches(self, arguments: PreparationArguments, launch: _Prepare) -> Preparation:
        with lent(self._files, self._subject.files, arguments.model_cache, arguments.data_cache) as (model, data):
            return asked(lambda: launch(replace(arguments, model_cache=model, data_cache=data)))

    def _notify(self, callback: hal.PreparedModelCallback | None, found: Preparation, copies: list[Copy]) -> None:
        """Pass the answer on. copies: the prepared model's from here on, if there is one."""
        if found.launch_status != ErrorStatus.NONE:
            raise ServiceError(found.launch_status, "the driver refuses to prepare the model")
        prepared = None
        if found.prepared_model is not None:
            prepared = RemoteModel(found.prepared_model, self._subject, self._carrier, list(copies))
            copies.clear()
        if callback is not None:
            callback.notify(ErrorStatus.NONE if found.status is None else found.status, prepared)
