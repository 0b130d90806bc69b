"""Faults in compilation caching at the boundary; those by source edits are in caching.json."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable
from typing import Any

from msgspec.structs import replace

from npu_conformance.faults.boundary import FaultyDevice, FaultyPreparedModel
from npu_conformance.faults.factories import IMPATIENT, fault, faulty_device
from npu_conformance.faults.fault import FaultySubject
from npu_conformance.reference.hal.cache import CacheFiles, Compiled
from npu_conformance.reference.hal.device import ReferenceDevice
from npu_conformance.reference.hal.prepared_model import ReferencePreparedModel
from npu_conformance.specs.errors import ServiceError
from npu_conformance.specs.neuralnetworks import hal, types
from npu_conformance.specs.neuralnetworks.enums import ErrorStatus
from npu_conformance.specs.plugin import Context, Subject
from npu_conformance.specs.versions import Version

_NONE, _GENERAL, _INVALID = ErrorStatus.NONE, ErrorStatus.GENERAL_FAILURE, ErrorStatus.INVALID_ARGUMENT


class _Restoring(FaultyDevice):
    """Changes the answer of prepareModelFromCache alone. telling: True during a restoration."""

    telling = False

    def prepare_model_from_cache(self, *arguments: Any) -> None:
        self.telling = True
        try:
            super().prepare_model_from_cache(*arguments)
        finally:
            self.telling = False

    def prepared(self, callback: hal.PreparedModelCallback, status: int, prepared_model: Any) -> None:
        if self.telling:
            self.restored(callback, status, prepared_model)
        else:
            super().prepared(callback, status, prepared_model)

    def restored(self, callback: hal.PreparedModelCallback, status: int, prepared_model: Any) -> None:
        """Tell the client how a restoration ended."""
        super().prepared(callback, status, prepared_model)


class _NotifiesTwice(_Restoring):
    def restored(self, callback: hal.PreparedModelCallback, status: int, prepared_model: Any) -> None:
        super().restored(callback, status, prepared_model)
        super().restored(callback, status, prepared_model)


class _RefusalNotNotified(_Restoring):
    def restored(self, callback: hal.PreparedModelCallback, status: int, prepared_model: Any) -> None:
        if status == _NONE:
            super().restored(callback, status, prepared_model)


class _NeverNotifies(_Restoring):
    def restored(self, callback: hal.PreparedModelCallback, status: int, prepared_model: Any) -> None:
        pass


class _NoModel(_Restoring):
    def restored(self, callback: hal.PreparedModelCallback, status: int, prepared_model: Any) -> None:
        super().restored(callback, status, None)


class _ModelOfAFailure(_Restoring):
    def restored(self, callback: hal.PreparedModelCallback, status: int, prepared_model: Any) -> None:
        callback.notify(status, prepared_model or FaultyPreparedModel(hal.PreparedModel()))


class _NotifiesAnotherError(_Restoring):
    def restored(self, callback: hal.PreparedModelCallback, status: int, prepared_model: Any) -> None:
        super().restored(callback, _NONE if status == _NONE else ErrorStatus.DEVICE_UNAVAILABLE, prepared_model)


class _ChecksLate(_Restoring):
    """Reports to the callback alone what the caller is to receive."""

    def prepare_model_from_cache(self, *arguments: Any) -> None:
        try:
            super().prepare_model_from_cache(*arguments)
        except ServiceError:
            if arguments[-1] is None:
                raise


class _NullCallbackCrashes(FaultyDevice):
    def prepare_model_from_cache(self, *arguments: Any) -> None:
        if arguments[-1] is None:
            raise AttributeError("None has no notify")
        super().prepare_model_from_cache(*arguments)


class _RestoresOnce(FaultyDevice):
    """Restores each cache only once."""

    def __init__(self, inner: hal.Device) -> None:
        super().__init__(inner)
        self._seen: set[bytes] = set()

    def prepare_model(self, *arguments: Any) -> None:
        self._seen.discard(arguments[6])
        super().prepare_model(*arguments)

    def prepare_model_from_cache(self, *arguments: Any) -> None:
        token, callback = arguments[3:]
        if token in self._seen and callback is not None:
            callback.notify(_GENERAL, None)
            raise ServiceError(_GENERAL, "restored before")
        self._seen.add(token)
        super().prepare_model_from_cache(*arguments)


class _Remembers(FaultyDevice):
    """Keeps prepared models by token, for all apps."""

    def __init__(self, inner: hal.Device) -> None:
        super().__init__(inner)
        self.models: dict[bytes, hal.PreparedModel] = {}
        self._token = b""

    def prepare_model(self, *arguments: Any) -> None:
        self._token = arguments[6]
        super().prepare_model(*arguments)

    def prepared(self, callback: hal.PreparedModelCallback, status: int, prepared_model: Any) -> None:
        if status == _NONE:
            self.models[self._token] = prepared_model
        super().prepared(callback, status, prepared_model)


class _RestoresByToken(_Remembers):
    """Restores the model that it remembers, whatever is in the files."""

    def prepare_model_from_cache(self, *arguments: Any) -> None:
        model_cache, data_cache, token, callback = arguments[1:]
        known = self.models.get(token)
        if known is None or not (model_cache or data_cache):
            super().prepare_model_from_cache(*arguments)
        else:
            callback.notify(_NONE, FaultyPreparedModel(known))


class _FirstOfTheToken(_Remembers):
    """Restores the first model that was saved under a token, where the files are sound."""

    _restoring = False

    def prepared(self, callback: hal.PreparedModelCallback, status: int, prepared_model: Any) -> None:
        if status == _NONE:
            first = self.models.setdefault(self._token, prepared_model)
            prepared_model = FaultyPreparedModel(first if self._restoring else prepared_model)
        callback.notify(status, prepared_model)

    def prepare_model_from_cache(self, *arguments: Any) -> None:
        self._token = arguments[3]
        self._restoring = True
        try:
            super().prepare_model_from_cache(*arguments)
        finally:
            self._restoring = False


class _RestoresWithoutFiles(_Remembers):
    def prepare_model_from_cache(self, *arguments: Any) -> None:
        model_cache, data_cache, token, callback = arguments[1:]
        known = self.models.get(token)
        if known is not None and not (model_cache or data_cache):
            callback.notify(_NONE, FaultyPreparedModel(known))
        else:
            super().prepare_model_from_cache(*arguments)


class _TokenWithoutFiles(_Remembers):
    """Takes two models with one token for one model, also where no files are given."""

    def prepared(self, callback: hal.PreparedModelCallback, status: int, prepared_model: Any) -> None:
        known = self.models.get(self._token)
        super().prepared(callback, status, prepared_model if known is None or status != _NONE else known)


class _ZeroTokenRefused(FaultyDevice):
    def prepare_model(self, *arguments: Any) -> None:
        if not any(arguments[6]) and arguments[7] is not None:
            arguments[7].notify(_INVALID, None)
            raise ServiceError(_INVALID, "the token is zero")
        super().prepare_model(*arguments)


class _ConfigForgetsCaches(FaultyDevice):
    def prepare_model_with_config(self, model: types.Model, config: types.PrepareModelConfig, *rest: Any) -> None:
        super().prepare_model_with_config(model, replace(config, model_cache=(), data_cache=()), *rest)


class _DeadlineBelowNone(FaultyDevice):
    def prepare_model_from_cache(self, deadline_ns: int, *rest: Any) -> None:
        super().prepare_model_from_cache(max(deadline_ns, -1), *rest)


class _NotCachingButInvalid(FaultyDevice):
    """Reports on a device without caching that the arguments are wrong."""

    def prepare_model_from_cache(self, *arguments: Any) -> None:
        arguments[-1].notify(_INVALID, None)
        raise ServiceError(_INVALID, "no cache files are wanted")


class _NotCachingButStrict(FaultyDevice):
    """Rejects a preparation because of files that it does not want."""

    def prepare_model(self, *arguments: Any) -> None:
        model_cache, data_cache, _, callback = arguments[4:]
        if model_cache or data_cache:
            callback.notify(_INVALID, None)
            raise ServiceError(_INVALID, "no cache files are wanted")
        super().prepare_model(*arguments)


class _SavesAtTheFirstExecution(ReferenceDevice):
    """Writes the cache when the model is executed first, by descriptors that it has not duplicated."""

    def _save(self, caches: CacheFiles, compiled: Compiled) -> None:
        self.due = [token for handle in (*caches.model, *caches.data) for token in handle.descriptors]

    def write_due(self) -> None:
        """Write the cache at the first execution, before anything else."""
        for token in self.due:
            try:
                self._context.files.open(token).close()
            except OSError as error:
                raise ServiceError(_GENERAL, str(error)) from None


class _TwoFormats(ReferenceDevice):
    """HIDL's part of the driver keeps constants in reverse, and nothing in the files says so."""

    def _caches(self, *arguments: Any) -> CacheFiles:
        return replace(super()._caches(*arguments), owner=arguments[2])

    def _save(self, caches: CacheFiles, compiled: Compiled) -> None:
        super()._save(caches, replace(compiled, model=self._turned(compiled.model)))

    def _restored(self, compiled: Compiled) -> ReferencePreparedModel:
        return super()._restored(replace(compiled, model=self._turned(compiled.model)))

    def _turned(self, model: types.Model) -> types.Model:
        values = model.operand_values
        return model if self.version.is_aidl else replace(model, operand_values=values[:4] + values[:3:-1])


class _WritesFirst(FaultyPreparedModel):
    device: _SavesAtTheFirstExecution

    def execute_synchronously(self, *arguments: Any) -> types.ExecutionResult:
        self.device.write_due()
        return self.inner.execute_synchronously(*arguments)


def _saving_at_the_first_execution(context: Context, version: Version) -> Subject:
    inner = _SavesAtTheFirstExecution(context, version)

    class Model(_WritesFirst):
        device = inner

    class Device(FaultyDevice):
        prepared_model = Model

    return Subject(device=Device(inner))


def with_options(kind: Callable[[ReferenceDevice], FaultyDevice], **options: str) -> FaultySubject:
    """The reference with options, behind a boundary."""

    def create(context: Context, version: Version) -> Subject:
        return Subject(
            device=kind(ReferenceDevice(dataclasses.replace(context, options={**context.options, **options}), version))
        )

    return FaultySubject(create)


def made(kind: type[ReferenceDevice]) -> FaultySubject:
    """A device that differs inside."""
    return FaultySubject(lambda context, version: Subject(device=kind(context, version)))


_fault = functools.partial(fault, area="vts.caching")

FAULTS = (
    _fault("restore-notifies-twice", "prepareModelFromCache tells its callback twice.", "NNHAL-CACHE-023",
           "restoring.notified_once", _NotifiesTwice),
    _fault("restore-refusal-not-notified", "What prepareModelFromCache refuses is returned alone.", "NNHAL-CACHE-023",
           "restoring.notified_once", _RefusalNotNotified),
    _fault("restore-never-notifies", "prepareModelFromCache never tells its callback.", "NNHAL-CACHE-023",
           "restoring.again", faulty_device(_NeverNotifies, deadlines=IMPATIENT)),
    _fault("restore-without-model", "A restoration that succeeds gives no model.", "NNHAL-CACHE-019",
           "saving.every_type restoring.again", _NoModel),
    _fault("restore-model-of-a-failure", "A restoration that fails gives a model.", "NNHAL-CACHE-019 NNHAL-CACHE-011",
           "restoring.wrong_number security.corrupted_model_cache security.corrupted_data_cache", _ModelOfAFailure),
    _fault("restore-notifies-another-error", "Another error is notified than is returned.", "NNHAL-CACHE-022",
           "restoring.wrong_number security.wrong_token", _NotifiesAnotherError),
    _fault("restore-checks-late", "Arguments and files are checked after the call.", "NNHAL-CACHE-022",
           "restoring.checks_before_return", _ChecksLate),
    _fault("restore-null-callback-crashes", "prepareModelFromCache dies of a null callback.",
           "NNHAL-CACHE-022", "arguments.null_callback", _NullCallbackCrashes),
    _fault("restore-once-only", "A cache can be restored once.", "NNHAL-CACHE-010", "restoring.again", _RestoresOnce),
    _fault("restore-by-token", "What is restored is kept in the driver by token; the files are not looked at.",
           "NNHAL-CACHE-015 NNHAL-CACHE-017 NNHAL-CACHE-010",
           "security.corrupted_model_cache sharing.side_by_side sharing.applications",
           _RestoresByToken),
    _fault("restore-first-of-the-token", "A token stands for the first model that was saved under it.",
           "NNHAL-CACHE-010", "sharing.side_by_side sharing.applications", _FirstOfTheToken),
    _fault("restore-without-files", "A model is restored without files, by its token.", "NNHAL-CACHE-011",
           "restoring.no_files", _RestoresWithoutFiles),
    _fault("token-counts-without-files", "Without files, a second model of the same token is taken for the first.",
           "NNHAL-CACHE-004", "saving.token_ignored", _TokenWithoutFiles),
    _fault("token-zero-refused", "A token of zeros is refused, without files too.", "NNHAL-CACHE-004",
           "saving.token_ignored", _ZeroTokenRefused),
    _fault("config-forgets-caches", "prepareModelWithConfig does not save.", "NNHAL-CACHE-010", "saving.with_config",
           _ConfigForgetsCaches, detected_as="quality-warning"),
    _fault("no-caching-invalid", "A device without caching answers INVALID_ARGUMENT.", "NNHAL-CACHE-009",
           "restoring.without_caching", with_options(_NotCachingButInvalid, cache_files="0+0")),
    _fault("no-caching-strict", "A device without caching refuses models that come with files.", "NNHAL-CACHE-001",
           "saving.wrong_number", with_options(_NotCachingButStrict, cache_files="0+0")),
    _fault("cache-of-another-version", "A cache that another version of the driver wrote is read as one's own.",
           "NNHAL-CACHE-010", "sharing.versions", made(_TwoFormats), Version.FL5),
    _fault("restore-deadline-below-none", "prepareModelFromCache takes a deadline below -1 for none.", "NNHAL-QOS-008",
           "restoring.deadlines", _DeadlineBelowNone),
    _fault("cache-descriptors-not-duplicated", "The cache is written at the first execution, by the client's own "
           "descriptors.", "NNHAL-CACHE-007", "saving.closed_descriptors",
           FaultySubject(_saving_at_the_first_execution)),
)  # fmt: skip
"""Faults at the boundary."""
