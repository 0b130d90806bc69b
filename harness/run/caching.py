"""An app that caches prepared models: its files, their handles, saving to them and restoring from them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from msgspec.structs import replace

from npu_conformance.harness.judge import checks
from npu_conformance.harness.judge.verdicts import NotApplicable
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.harness.run.preparation import (
    Preparation,
    PreparationArguments,
    PreparationRecorder,
    prepare,
    prepare_from_cache,
)
from npu_conformance.harness.subject.files import Access, CacheFile, Files
from npu_conformance.harness.subject.memory_kinds import new_token
from npu_conformance.specs.neuralnetworks.enums import BYTE_SIZE_OF_CACHE_TOKEN, MAX_NUMBER_OF_CACHE_FILES, ErrorStatus
from npu_conformance.specs.neuralnetworks.hal import Device
from npu_conformance.specs.neuralnetworks.types import NO_DEADLINE, CacheHandle, Model, NumberOfCacheFiles

if TYPE_CHECKING:
    from npu_conformance.harness.subject.handle import Application

TOKEN = bytes(range(100, 100 + BYTE_SIZE_OF_CACHE_TOKEN))


@dataclass(frozen=True)
class Opening:
    """One descriptor of a handle: a file, how it is opened, and where its file offset stands."""

    file: CacheFile
    access: Access = "read_write"
    offset: int = 0


Handle = tuple[Opening, ...]


@dataclass(frozen=True)
class Handles:
    """Handles of a preparation, as they are to be opened. AIDL's hold one descriptor each."""

    model: tuple[Handle, ...]
    data: tuple[Handle, ...]


@dataclass(frozen=True)
class Cache:
    """The files of one cache, in order."""

    model: tuple[CacheFile, ...]
    data: tuple[CacheFile, ...]

    @property
    def files(self) -> tuple[CacheFile, ...]:
        """All files."""
        return (*self.model, *self.data)

    def contents(self) -> list[bytes]:
        """What is in the files."""
        return [file.read() for file in self.files]

    def handles(self, access: Access = "read_write", offset: int = 0) -> Handles:
        """The right handles, each opened in this way."""

        def opened(files: Sequence[CacheFile]) -> tuple[Handle, ...]:
            return tuple((Opening(file, access, offset),) for file in files)

        return Handles(opened(self.model), opened(self.data))


def files_needed(device: Device) -> NumberOfCacheFiles:
    """How many cache files a device wants; fails where that is not between 0 and 32 of each kind."""
    wanted = device.get_number_of_cache_files_needed()
    for field in ("num_model_cache", "num_data_cache"):
        number = getattr(wanted, field)
        with checks.about("NNHAL-QUERY-015"):
            legal = 0 <= number <= MAX_NUMBER_OF_CACHE_FILES
            checks.that(legal, f"getNumberOfCacheFilesNeeded.{field}: expected 0 to 32, found {number}")
    return wanted


class CacheClient:
    """An app that caches. application: another than the harness itself."""

    def __init__(self, context: CaseContext, application: Application | None = None) -> None:
        self.context = context
        self._application = application
        self.wanted = files_needed(context.device)

    @property
    def device(self) -> Device:
        """The device, as this app calls it."""
        return self.context.device_of(self._application)

    @property
    def files(self) -> Files:
        """Hands files over for this app."""
        return (self._application or self.context.subject).files

    @property
    def caches(self) -> bool:
        """True where the device wants any file."""
        return bool(self.wanted.num_model_cache or self.wanted.num_data_cache)

    def cache(self, content: bytes = b"") -> Cache:
        """As many files as the device wants, each with this content."""
        numbers = (self.wanted.num_model_cache, self.wanted.num_data_cache)
        model, data = (tuple(self.context.cache_file(content) for _ in range(number)) for number in numbers)
        return Cache(model, data)

    def save(
        self,
        model: Model,
        handles: Handles,
        token: bytes = TOKEN,
        *,
        transport: str = "",
        deadline: int = NO_DEADLINE,
        beside: PreparationArguments | None = None,
    ) -> Preparation:
        """Prepare a model with caches; the descriptors are closed once the preparation has ended.

        beside: what else the preparation says, with its deadline.
        """
        recorder = PreparationRecorder()
        with self.opened(handles, transport) as (model_cache, data_cache):
            arguments = beside or PreparationArguments(deadline_ns=deadline)
            arguments = replace(arguments, model_cache=model_cache, data_cache=data_cache, token=token)
            preparation = prepare(self.context.subject, self.device, model, arguments, recorder)
        with checks.about("NNHAL-QUERY-021"):
            wanted = self.device.get_number_of_cache_files_needed()
            checks.equal(wanted, self.wanted, "getNumberOfCacheFilesNeeded after a preparation with cache files")
        return preparation

    def restore(
        self,
        handles: Handles,
        token: bytes = TOKEN,
        *,
        transport: str = "",
        deadline: int = NO_DEADLINE,
        recorder: PreparationRecorder | None = None,
    ) -> Preparation:
        """Prepare from caches; Failed where the answer contradicts itself."""
        with self.opened(handles, transport) as (model_cache, data_cache):
            arguments = PreparationArguments(
                model_cache=model_cache, data_cache=data_cache, token=token, deadline_ns=deadline
            )
            preparation = prepare_from_cache(
                self.context.subject, self.device, arguments, recorder or PreparationRecorder()
            )
        _consistent(preparation)
        return preparation

    @contextmanager
    def opened(
        self, handles: Handles, transport: str = ""
    ) -> Iterator[tuple[tuple[CacheHandle, ...], tuple[CacheHandle, ...]]]:
        """Model and data handles as they cross the interface; their descriptors are closed at the end."""
        tokens: list[int] = []

        def opened(handle: Handle) -> CacheHandle:
            own = [self._token(one, transport) for one in handle]
            tokens.extend(own)
            return CacheHandle(tuple(own))

        try:
            yield tuple(map(opened, handles.model)), tuple(map(opened, handles.data))
        finally:
            for token in tokens:
                self.files.close(token)

    def _token(self, one: Opening, transport: str) -> int:
        """A device that wants no files need not take any: its handles then hold descriptors that it cannot know."""
        try:
            return self.files.open(one.file, one.access, one.offset, transport=transport)
        except NotApplicable:
            if self.caches:
                raise
            return new_token()


def outcome(preparation: Preparation) -> int | None:
    """What the preparation ended as. AOSP's VTS asks for no notification behind a failed launch."""
    return preparation.launch_status or preparation.status


@checks.about("NNHAL-CACHE-019")
def _consistent(preparation: Preparation) -> None:
    """A model comes with NONE and only then (NNHAL-CACHE-019); what was returned and notified agrees."""
    has_model = preparation.prepared_model is not None
    checks.equal(
        has_model, outcome(preparation) == ErrorStatus.NONE, "prepareModelFromCache gives a model with NONE only"
    )
    if preparation.launch_status != ErrorStatus.NONE and preparation.status is not None:
        checks.status(preparation.status, {preparation.launch_status}, "status notified after a failed launch")
