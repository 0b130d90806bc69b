"""Faults in how requests are read and answered."""

from __future__ import annotations

from msgspec.structs import replace

from npu_conformance.faults.npu_buffers.boundary import Conforming
from npu_conformance.specs.errors import IllegalArgument
from npu_conformance.specs.npu.buffers import AllocRequest, BufferType, Errno, NpuBuffer, Protection


class DefaultsToReadAndWrite(Conforming):
    """Takes a request that names no protection for one that wants to write."""

    breaks = ("NPU-BUF-001",)
    caught_by = "cts.npu_buffers.allocation.defaults"

    def get_buffers(self, requests: tuple[AllocRequest, ...]) -> None:
        super().get_buffers(tuple(replace(one, protection=one.protection | Protection.WRITE) for one in requests))


class TakesNoDeviceForTheFirst(Conforming):
    """Allocates on device 0 where no device is named."""

    breaks = ("NPU-BUF-002",)
    caught_by = "cts.npu_buffers.allocation.unset_device"

    def get_buffers(self, requests: tuple[AllocRequest, ...]) -> None:
        super().get_buffers(tuple(replace(one, device_number=max(one.device_number, 0)) for one in requests))


class TakesNoTypeForWeights(Conforming):
    """Allocates weights where no type is named."""

    breaks = ("NPU-BUF-002",)
    caught_by = "cts.npu_buffers.allocation.unset_type"

    def get_buffers(self, requests: tuple[AllocRequest, ...]) -> None:
        kind = BufferType.MODEL_WEIGHTS
        super().get_buffers(tuple(replace(one, buffer_type=one.buffer_type or kind) for one in requests))


class TakesStrangeTypesForWeights(Conforming):
    """Allocates weights where a type is named that is none."""

    breaks = ("NPU-BUF-002",)
    caught_by = "cts.npu_buffers.allocation.unknown_type"

    def get_buffers(self, requests: tuple[AllocRequest, ...]) -> None:
        known, weights = tuple(BufferType), BufferType.MODEL_WEIGHTS
        super().get_buffers(
            tuple(
                replace(one, buffer_type=one.buffer_type if one.buffer_type in known else weights) for one in requests
            )
        )


class RefusesByTheCall(Conforming):
    """Throws at a request without a device, instead of answering it."""

    breaks = ("NPU-BUF-002",)
    caught_by = "cts.npu_buffers.allocation.batch"

    def get_buffers(self, requests: tuple[AllocRequest, ...]) -> None:
        if any(one.device_number < 0 for one in requests):
            raise IllegalArgument("a request names no device")
        super().get_buffers(requests)


class SaysNoMemoryForAnUnsetDevice(Conforming):
    """Answers a request without a device with ENOMEM."""

    breaks = ("NPU-BUF-002",)
    caught_by = "cts.npu_buffers.allocation.unset_device"

    def answer(self, id: int, buffer: NpuBuffer | None, errno: int, message: str | None) -> None:
        wrong = errno == Errno.EINVAL and message is not None and message.startswith("device")
        super().answer(id, buffer, Errno.ENOMEM if wrong else errno, message)


class StopsABatchAtTheFirstError(Conforming):
    """Forgets what comes behind a wrong request."""

    breaks = ("NPU-BUF-003",)
    caught_by = "cts.npu_buffers.allocation.batch"

    def get_buffers(self, requests: tuple[AllocRequest, ...]) -> None:
        wrong = next((i for i, one in enumerate(requests) if one.device_number < 0), len(requests))
        super().get_buffers(requests[: wrong + 1])


class AnswersTwice(Conforming):
    """Answers each request twice."""

    breaks = ("NPU-BUF-003",)
    caught_by = "cts.npu_buffers.allocation.single"

    def answer(self, id: int, buffer: NpuBuffer | None, errno: int, message: str | None) -> None:
        super().answer(id, buffer, errno, message)
        super().answer(id, buffer, errno, message)


class ForgetsAFlood(Conforming):
    """Has room for a hundred requests at a time and drops the rest."""

    breaks = ("NPU-BUF-003",)
    caught_by = "cts.npu_buffers.allocation.flood"

    def get_buffers(self, requests: tuple[AllocRequest, ...]) -> None:
        super().get_buffers(requests[:100])


class TruncatesIds(Conforming):
    """Keeps 32 bits of an id."""

    breaks = ("NPU-BUF-003",)
    caught_by = "cts.npu_buffers.allocation.extreme_ids"

    def answer(self, id: int, buffer: NpuBuffer | None, errno: int, message: str | None) -> None:
        super().answer(id & 0xFFFFFFFF, buffer, errno, message)


class AllocatesNegativeSizes(Conforming):
    """Takes sizes for unsigned 16-bit numbers."""

    breaks = ("NPU-BUF-003",)
    caught_by = "cts.npu_buffers.allocation.impossible_size"

    def get_buffers(self, requests: tuple[AllocRequest, ...]) -> None:
        super().get_buffers(tuple(replace(one, size=one.size % (1 << 16)) if one.size < 0 else one for one in requests))


class AllocatesWholePages(Conforming):
    """Cuts sizes down to pages."""

    breaks = ("NPU-BUF-003",)
    caught_by = "cts.npu_buffers.allocation.odd_sizes"

    def get_buffers(self, requests: tuple[AllocRequest, ...]) -> None:
        super().get_buffers(tuple(replace(one, size=one.size // 4096 * 4096) for one in requests))


class GrantsExecutablesAndRefusesThem(Conforming):
    """Says that executables are supported, and takes a request for one for a mistake."""

    breaks = ("NPU-BUF-003",)
    caught_by = "cts.npu_buffers.allocation.every_supported_place"

    def answer(self, id: int, buffer: NpuBuffer | None, errno: int, message: str | None) -> None:
        live = self.live(id)
        if live is not None and live.request.buffer_type == BufferType.MODEL_EXECUTABLE:
            super().put_buffers((id,))
            buffer, errno = None, Errno.EINVAL
        super().answer(id, buffer, errno, message)


class OpensTheFileLate(Conforming):
    """Looks at a request, and at the file of it, when its turn comes, not at the call."""

    breaks = ("NPU-BUF-004",)
    caught_by = "cts.npu_buffers.allocation.snapshot_of_the_file"

    def get_buffers(self, requests: tuple[AllocRequest, ...]) -> None:
        self.service.clock.post(lambda: Conforming.get_buffers(self, requests))


class ReplacesALiveBuffer(Conforming):
    """Frees a live buffer for a new request of its id."""

    breaks = ("NPU-BUF-007",)
    caught_by = "cts.npu_buffers.allocation.live_id"

    def get_buffers(self, requests: tuple[AllocRequest, ...]) -> None:
        for one in requests:
            if self.live(one.id) is not None:
                super().put_buffers((one.id,))
            super().get_buffers((one,))


class SaysExistsForALiveId(Conforming):
    """Answers a live id with EEXIST."""

    breaks = ("NPU-BUF-007",)
    caught_by = "cts.npu_buffers.allocation.live_id"

    def answer(self, id: int, buffer: NpuBuffer | None, errno: int, message: str | None) -> None:
        super().answer(id, buffer, 17 if message is not None and "lives already" in message else errno, message)


class IdsAreTheSystems(Conforming):
    """Refuses an id that another app's buffer has."""

    breaks = ("NPU-BUF-007",)
    caught_by = "cts.npu_buffers.allocation.equal_ids_of_two_apps"

    def get_buffers(self, requests: tuple[AllocRequest, ...]) -> None:
        for one in requests:
            if any(other.live(one.id) for other in self.service.allocators if other is not self):
                self.answer(one.id, None, Errno.EINVAL, "taken")
            else:
                super().get_buffers((one,))


class DeniesWhatItAllocates(Conforming):
    """Says that caches are not supported, and allocates them."""

    breaks = ("NPU-BUF-008",)
    caught_by = "cts.npu_buffers.allocation.unsupported_fails"

    def is_supported(self, requests: tuple[AllocRequest, ...]) -> tuple[bool, ...]:
        answers = super().is_supported(requests)
        return tuple(a and one.buffer_type != BufferType.CACHE for a, one in zip(answers, requests, strict=True))


class AnswersSupportOnce(Conforming):
    """Gives one answer to a list of requests."""

    breaks = ("NPU-BUF-008",)
    caught_by = "cts.npu_buffers.allocation.unsupported_fails"

    def is_supported(self, requests: tuple[AllocRequest, ...]) -> tuple[bool, ...]:
        return super().is_supported(requests)[:1]


class SupportsNothingTwice(Conforming):
    """Says that nothing is supported as soon as a buffer lives."""

    breaks = ("NPU-BUF-008",)
    caught_by = "cts.npu_buffers.allocation.supported_is_stable"

    def is_supported(self, requests: tuple[AllocRequest, ...]) -> tuple[bool, ...]:
        return tuple(answer and not self.inner.client.buffers for answer in super().is_supported(requests))


class SaysInvalidWithoutAHeap(Conforming):
    """Answers with EINVAL where there is no heap."""

    breaks = ("NPU-BUF-015",)
    caught_by = "cts.npu_buffers.allocation.no_heap"

    def answer(self, id: int, buffer: NpuBuffer | None, errno: int, message: str | None) -> None:
        super().answer(id, buffer, Errno.EINVAL if errno == Errno.ENOSYS else errno, message)


class TakesEveryPriority(Conforming):
    """Accepts priorities of any size, cut to the range."""

    breaks = ("NPU-BUF-014",)
    caught_by = "cts.npu_buffers.allocation.priorities"
    noticed_as = "quality-warning"

    def get_buffers(self, requests: tuple[AllocRequest, ...]) -> None:
        super().get_buffers(tuple(replace(one, priority=min(max(one.priority, 0), 1000)) for one in requests))

    def set_priority(self, id: int, priority: int) -> None:
        super().set_priority(id, min(max(priority, 0), 1000))


class RefusesTheLastPriority(Conforming):
    """Takes the end of the range for outside."""

    breaks = ("NPU-BUF-014",)
    caught_by = "cts.npu_buffers.allocation.priorities"

    def set_priority(self, id: int, priority: int) -> None:
        if priority == 1000:
            raise IllegalArgument("priority 1000")
        super().set_priority(id, priority)


class AnswersAnEmptyBatch(Conforming):
    """Refuses an empty list."""

    breaks = ("NPU-BUF-003",)
    caught_by = "cts.npu_buffers.allocation.empty_batch"

    def get_buffers(self, requests: tuple[AllocRequest, ...]) -> None:
        if not requests:
            raise IllegalArgument("no requests")
        super().get_buffers(requests)


class AnswersAnIdOnce(Conforming):
    """Answers an id once, however often a batch has it."""

    breaks = ("NPU-BUF-003",)
    caught_by = "cts.npu_buffers.allocation.id_twice_in_a_batch"

    def get_buffers(self, requests: tuple[AllocRequest, ...]) -> None:
        super().get_buffers(tuple({one.id: one for one in requests}.values()))


class AllocatesNothingWithABuffer(Conforming):
    """Answers a request of no bytes with success and no buffer."""

    breaks = ("NPU-BUF-003",)
    caught_by = "cts.npu_buffers.allocation.size_zero"

    def answer(self, id: int, buffer: NpuBuffer | None, errno: int, message: str | None) -> None:
        is_empty = message is not None and message.startswith("size 0")
        super().answer(id, buffer, 0 if is_empty else errno, message)
