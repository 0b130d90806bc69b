"""Faults in how requests are read and answered."""

from __future__ import annotations

from msgspec.structs import replace

from npu_conformance.faults.npu_buffers.boundary import FaultyAllocator, buffer_fault
from npu_conformance.specs.errors import IllegalArgument
from npu_conformance.specs.npu.buffers import AllocRequest, BufferType, Errno, NpuBuffer, Protection


class _DefaultsToReadAndWrite(FaultyAllocator):
    def get_buffers(self, requests: tuple[AllocRequest, ...]) -> None:
        super().get_buffers(tuple(replace(one, protection=one.protection | Protection.WRITE) for one in requests))


class _TakesNoDeviceForTheFirst(FaultyAllocator):
    def get_buffers(self, requests: tuple[AllocRequest, ...]) -> None:
        super().get_buffers(tuple(replace(one, device_number=max(one.device_number, 0)) for one in requests))


class _TakesNoTypeForWeights(FaultyAllocator):
    def get_buffers(self, requests: tuple[AllocRequest, ...]) -> None:
        kind = BufferType.MODEL_WEIGHTS
        super().get_buffers(tuple(replace(one, buffer_type=one.buffer_type or kind) for one in requests))


class _TakesStrangeTypesForWeights(FaultyAllocator):
    def get_buffers(self, requests: tuple[AllocRequest, ...]) -> None:
        known, weights = tuple(BufferType), BufferType.MODEL_WEIGHTS
        super().get_buffers(
            tuple(
                replace(one, buffer_type=one.buffer_type if one.buffer_type in known else weights) for one in requests
            )
        )


class _RefusesByTheCall(FaultyAllocator):
    def get_buffers(self, requests: tuple[AllocRequest, ...]) -> None:
        if any(one.device_number < 0 for one in requests):
            raise IllegalArgument("a request names no device")
        super().get_buffers(requests)


class _SaysNoMemoryForAnUnsetDevice(FaultyAllocator):
    def on_get_buffer(self, id: int, buffer: NpuBuffer | None, errno: int, message: str | None) -> None:
        wrong = errno == Errno.EINVAL and message is not None and message.startswith("device")
        super().on_get_buffer(id, buffer, Errno.ENOMEM if wrong else errno, message)


class _StopsABatchAtTheFirstError(FaultyAllocator):
    def get_buffers(self, requests: tuple[AllocRequest, ...]) -> None:
        wrong = next((i for i, one in enumerate(requests) if one.device_number < 0), len(requests))
        super().get_buffers(requests[: wrong + 1])


class _AnswersTwice(FaultyAllocator):
    def on_get_buffer(self, id: int, buffer: NpuBuffer | None, errno: int, message: str | None) -> None:
        super().on_get_buffer(id, buffer, errno, message)
        super().on_get_buffer(id, buffer, errno, message)


class _ForgetsAFlood(FaultyAllocator):
    def get_buffers(self, requests: tuple[AllocRequest, ...]) -> None:
        super().get_buffers(requests[:100])


class _TruncatesIds(FaultyAllocator):
    def on_get_buffer(self, id: int, buffer: NpuBuffer | None, errno: int, message: str | None) -> None:
        super().on_get_buffer(id & 0xFFFFFFFF, buffer, errno, message)


class _AllocatesNegativeSizes(FaultyAllocator):
    def get_buffers(self, requests: tuple[AllocRequest, ...]) -> None:
        super().get_buffers(tuple(replace(one, size=one.size % (1 << 16)) if one.size < 0 else one for one in requests))


class _AllocatesWholePages(FaultyAllocator):
    def get_buffers(self, requests: tuple[AllocRequest, ...]) -> None:
        super().get_buffers(tuple(replace(one, size=one.size // 4096 * 4096) for one in requests))


class _GrantsExecutablesAndRefusesThem(FaultyAllocator):
    def on_get_buffer(self, id: int, buffer: NpuBuffer | None, errno: int, message: str | None) -> None:
        live = self.live(id)
        if live is not None and live.request.buffer_type == BufferType.MODEL_EXECUTABLE:
            super().put_buffers((id,))
            buffer, errno = None, Errno.EINVAL
        super().on_get_buffer(id, buffer, errno, message)


class _OpensTheFileLate(FaultyAllocator):
    def get_buffers(self, requests: tuple[AllocRequest, ...]) -> None:
        self.service.clock.post(lambda: FaultyAllocator.get_buffers(self, requests))


class _ReplacesALiveBuffer(FaultyAllocator):
    def get_buffers(self, requests: tuple[AllocRequest, ...]) -> None:
        for one in requests:
            if self.live(one.id) is not None:
                super().put_buffers((one.id,))
            super().get_buffers((one,))


class _SaysExistsForALiveId(FaultyAllocator):
    def on_get_buffer(self, id: int, buffer: NpuBuffer | None, errno: int, message: str | None) -> None:
        super().on_get_buffer(id, buffer, 17 if message is not None and "lives already" in message else errno, message)


class _IdsAreTheSystems(FaultyAllocator):
    def get_buffers(self, requests: tuple[AllocRequest, ...]) -> None:
        for one in requests:
            if any(other.live(one.id) for other in self.service.allocators if other is not self):
                self.on_get_buffer(one.id, None, Errno.EINVAL, "taken")
            else:
                super().get_buffers((one,))


class _DeniesWhatItAllocates(FaultyAllocator):
    def is_supported(self, requests: tuple[AllocRequest, ...]) -> tuple[bool, ...]:
        answers = super().is_supported(requests)
        return tuple(a and one.buffer_type != BufferType.CACHE for a, one in zip(answers, requests, strict=True))


class _AnswersSupportOnce(FaultyAllocator):
    def is_supported(self, requests: tuple[AllocRequest, ...]) -> tuple[bool, ...]:
        return super().is_supported(requests)[:1]


class _SupportsNothingTwice(FaultyAllocator):
    def is_supported(self, requests: tuple[AllocRequest, ...]) -> tuple[bool, ...]:
        return tuple(answer and not self.inner.client.buffers for answer in super().is_supported(requests))


class _SaysInvalidWithoutAHeap(FaultyAllocator):
    def on_get_buffer(self, id: int, buffer: NpuBuffer | None, errno: int, message: str | None) -> None:
        super().on_get_buffer(id, buffer, Errno.EINVAL if errno == Errno.ENOSYS else errno, message)


class _TakesEveryPriority(FaultyAllocator):
    def get_buffers(self, requests: tuple[AllocRequest, ...]) -> None:
        super().get_buffers(tuple(replace(one, priority=min(max(one.priority, 0), 1000)) for one in requests))

    def set_priority(self, id: int, priority: int) -> None:
        super().set_priority(id, min(max(priority, 0), 1000))


class _RefusesTheLastPriority(FaultyAllocator):
    def set_priority(self, id: int, priority: int) -> None:
        if priority == 1000:
            raise IllegalArgument("priority 1000")
        super().set_priority(id, priority)


class _AnswersAnEmptyBatch(FaultyAllocator):
    def get_buffers(self, requests: tuple[AllocRequest, ...]) -> None:
        if not requests:
            raise IllegalArgument("no requests")
        super().get_buffers(requests)


class _AnswersAnIdOnce(FaultyAllocator):
    def get_buffers(self, requests: tuple[AllocRequest, ...]) -> None:
        super().get_buffers(tuple({one.id: one for one in requests}.values()))


class _AllocatesNothingWithABuffer(FaultyAllocator):
    def on_get_buffer(self, id: int, buffer: NpuBuffer | None, errno: int, message: str | None) -> None:
        is_empty = message is not None and message.startswith("size 0")
        super().on_get_buffer(id, buffer, 0 if is_empty else errno, message)


FAULTS = (
    buffer_fault("defaults-to-read-and-write", "Takes a request that names no protection for one that wants to write.",
                 "NPU-BUF-001", "allocation.defaults", _DefaultsToReadAndWrite),
    buffer_fault("takes-no-device-for-the-first", "Allocates on device 0 where no device is named.", "NPU-BUF-002",
                 "allocation.unset_device", _TakesNoDeviceForTheFirst),
    buffer_fault("takes-no-type-for-weights", "Allocates weights where no type is named.", "NPU-BUF-002",
                 "allocation.unset_type", _TakesNoTypeForWeights),
    buffer_fault("takes-strange-types-for-weights", "Allocates weights where a type is named that is none.",
                 "NPU-BUF-002", "allocation.unknown_type", _TakesStrangeTypesForWeights),
    buffer_fault("refuses-by-the-call", "Throws at a request without a device, instead of answering it.", "NPU-BUF-002",
                 "allocation.batch", _RefusesByTheCall),
    buffer_fault("says-no-memory-for-an-unset-device", "Answers a request without a device with ENOMEM.", "NPU-BUF-002",
                 "allocation.unset_device", _SaysNoMemoryForAnUnsetDevice),
    buffer_fault("stops-a-batch-at-the-first-error", "Forgets what comes behind a wrong request.", "NPU-BUF-003",
                 "allocation.batch", _StopsABatchAtTheFirstError),
    buffer_fault("answers-twice", "Answers each request twice.", "NPU-BUF-003", "allocation.single", _AnswersTwice),
    buffer_fault("forgets-a-flood", "Has room for a hundred requests at a time and drops the rest.", "NPU-BUF-003",
                 "allocation.flood", _ForgetsAFlood),
    buffer_fault("truncates-ids", "Keeps 32 bits of an id.", "NPU-BUF-003", "allocation.extreme_ids", _TruncatesIds),
    buffer_fault("allocates-negative-sizes", "Takes sizes for unsigned 16-bit numbers.", "NPU-BUF-003",
                 "allocation.impossible_size", _AllocatesNegativeSizes),
    buffer_fault("allocates-whole-pages", "Cuts sizes down to pages.", "NPU-BUF-003", "allocation.odd_sizes",
                 _AllocatesWholePages),
    buffer_fault("grants-executables-and-refuses-them",
                 "Says that executables are supported, and takes a request for one for a mistake.", "NPU-BUF-003",
                 "allocation.every_supported_place", _GrantsExecutablesAndRefusesThem),
    buffer_fault("opens-the-file-late",
                 "Looks at a request, and at the file of it, when its turn comes, not at the call.", "NPU-BUF-004",
                 "allocation.snapshot_of_the_file", _OpensTheFileLate),
    buffer_fault("replaces-a-live-buffer", "Frees a live buffer for a new request of its id.", "NPU-BUF-007",
                 "allocation.live_id", _ReplacesALiveBuffer),
    buffer_fault("says-exists-for-a-live-id", "Answers a live id with EEXIST.", "NPU-BUF-007", "allocation.live_id",
                 _SaysExistsForALiveId),
    buffer_fault("ids-are-the-systems", "Refuses an id that another app's buffer has.", "NPU-BUF-007",
                 "allocation.equal_ids_of_two_apps", _IdsAreTheSystems),
    buffer_fault("denies-what-it-allocates", "Says that caches are not supported, and allocates them.", "NPU-BUF-008",
                 "allocation.unsupported_fails", _DeniesWhatItAllocates),
    buffer_fault("answers-support-once", "Gives one answer to a list of requests.", "NPU-BUF-008",
                 "allocation.unsupported_fails", _AnswersSupportOnce),
    buffer_fault("supports-nothing-twice", "Says that nothing is supported as soon as a buffer lives.", "NPU-BUF-008",
                 "allocation.supported_is_stable", _SupportsNothingTwice),
    buffer_fault("says-invalid-without-a-heap", "Answers with EINVAL where there is no heap.", "NPU-BUF-015",
                 "allocation.no_heap", _SaysInvalidWithoutAHeap),
    buffer_fault("takes-every-priority", "Accepts priorities of any size, cut to the range.", "NPU-BUF-014",
                 "allocation.priorities", _TakesEveryPriority, "quality-warning"),
    buffer_fault("refuses-the-last-priority", "Takes the end of the range for outside.", "NPU-BUF-014",
                 "allocation.priorities", _RefusesTheLastPriority),
    buffer_fault("answers-an-empty-batch", "Refuses an empty list.", "NPU-BUF-003", "allocation.empty_batch",
                 _AnswersAnEmptyBatch),
    buffer_fault("answers-an-id-once", "Answers an id once, however often a batch has it.", "NPU-BUF-003",
                 "allocation.id_twice_in_a_batch", _AnswersAnIdOnce),
    buffer_fault("allocates-nothing-with-a-buffer", "Answers a request of no bytes with success and no buffer.",
                 "NPU-BUF-003", "allocation.size_zero", _AllocatesNothingWithABuffer),
)  # fmt: skip
"""Faults in allocating."""
