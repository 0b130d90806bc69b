"""Faults in mapping and loading: in the content of a buffer, and in who may see it."""

from __future__ import annotations

import os

from msgspec.structs import replace

from npu_conformance.faults.npu_buffers.boundary import FaultyAllocator, FaultyBuffer, buffer_fault
from npu_conformance.specs.errors import ServiceError
from npu_conformance.specs.neuralnetworks.types import Memory
from npu_conformance.specs.npu.buffers import AllocRequest, Errno, FileSegment, NpuBuffer, Protection
from npu_conformance.specs.plugin import Context, File, Files


class _MapsWhatItLikes(FaultyAllocator):
    def get_buffers(self, requests: tuple[AllocRequest, ...]) -> None:
        super().get_buffers(tuple(replace(one, protection=7) for one in requests))


class _MapsExactlyItsProtection(FaultyAllocator):
    def map(self, buffer: FaultyBuffer, length: int, protection: int, offset: int) -> Memory:
        if protection != buffer.inner.request.protection:
            raise ServiceError(Errno.EACCES, f"protection {protection}")
        return super().map(buffer, length, protection, offset)


class _MapsAllForWriting(FaultyAllocator):
    def map(self, buffer: FaultyBuffer, length: int, protection: int, offset: int) -> Memory:
        return super().map(buffer, length, protection | buffer.inner.request.protection, offset)


class _UnmapsNothing(FaultyAllocator):
    def unmap(self, buffer: FaultyBuffer, token: int) -> None:
        pass


class _UnmapsAll(FaultyAllocator):
    def unmap(self, buffer: FaultyBuffer, token: int) -> None:
        for each in tuple(buffer.inner.mappings):
            super().unmap(buffer, each)


class _MapsCopies(FaultyAllocator):
    def map(self, buffer: FaultyBuffer, length: int, protection: int, offset: int) -> Memory:
        memory = super().map(buffer, length, protection, offset)
        assert buffer.inner.memory is not None
        copy = memoryview(bytearray(buffer.inner.memory[offset : offset + length]))
        return replace(memory, token=self.service.context.exports.export(copy, protection))

    def unmap(self, buffer: FaultyBuffer, token: int) -> None:
        self.service.context.exports.withdraw(token)


class _MapsFromTheBeginning(FaultyAllocator):
    def map(self, buffer: FaultyBuffer, length: int, protection: int, offset: int) -> Memory:
        return super().map(buffer, length, protection, 0)


class _MapsEmptyRanges(FaultyAllocator):
    def map(self, buffer: FaultyBuffer, length: int, protection: int, offset: int) -> Memory:
        return super().map(buffer, length or buffer.inner.size, protection, offset)


class _MapsBeyondTheEnd(FaultyAllocator):
    def map(self, buffer: FaultyBuffer, length: int, protection: int, offset: int) -> Memory:
        if length <= 0 or offset < 0 or offset + length <= buffer.inner.size:
            return super().map(buffer, length, protection, offset)
        token = self.service.context.exports.export(memoryview(bytearray(length)), protection)
        return Memory("mappableFile", length, token, protection)


class _ReusesALiveBuffer(FaultyAllocator):
    def on_get_buffer(self, id: int, buffer: NpuBuffer | None, errno: int, message: str | None) -> None:
        first = next(iter(self.inner.client.buffers.values()), None)
        if isinstance(buffer, FaultyBuffer) and first is not None and first.memory is not None:
            buffer.inner.memory = first.memory
        super().on_get_buffer(id, buffer, errno, message)


class _LoadsToTheBeginning(FaultyAllocator):
    def load_file_segment_to_buffer(self, id: int, segment: FileSegment) -> None:
        super().load_file_segment_to_buffer(id, replace(segment, buffer_offset=min(segment.buffer_offset, 0)))


class _LoadsTheFileFromTheBeginning(FaultyAllocator):
    def get_buffers(self, requests: tuple[AllocRequest, ...]) -> None:
        super().get_buffers(
            tuple(
                one if one.file_segment is None else replace(one, file_segment=replace(one.file_segment, file_offset=0))
                for one in requests
            )
        )


class _ClearsAroundALoad(FaultyAllocator):
    def load_file_segment_to_buffer(self, id: int, segment: FileSegment) -> None:
        buffer = self.live(id)
        if buffer is not None and buffer.memory is not None:
            buffer.memory[:] = bytes(buffer.size)
        super().load_file_segment_to_buffer(id, segment)


class _AnswersTheLoadOfARequest(FaultyAllocator):
    def on_get_buffer(self, id: int, buffer: NpuBuffer | None, errno: int, message: str | None) -> None:
        super().on_get_buffer(id, buffer, errno, message)
        if isinstance(buffer, FaultyBuffer) and buffer.inner.request.file_segment is not None:
            self.on_load(id, 0, None)


class _MovedFile:
    """A file that is read as by read(2)."""

    def __init__(self, inner: File) -> None:
        self._inner = inner
        self.position = inner.position

    def __getattr__(self, name: str) -> object:
        return getattr(self._inner, name)

    def read(self, offset: int, length: int) -> bytes:
        return self._inner.read(self.position + offset, length)


class _SoughtFile(_MovedFile):
    """A file that is read behind lseek(2)."""

    def read(self, offset: int, length: int) -> bytes:
        descriptor = getattr(self._inner, "_descriptor", None)
        if descriptor is not None:
            os.lseek(descriptor, offset + length, os.SEEK_SET)
        return self._inner.read(offset, length)


class _FilesOf:
    def __init__(self, inner: Files, kind: type[_MovedFile]) -> None:
        self._inner = inner
        self._kind = kind

    def open(self, token: int) -> File:
        return self._kind(self._inner.open(token))  # type: ignore[return-value]


class _LoadsFromThePosition(FaultyAllocator):
    @staticmethod
    def files(context: Context) -> Files:
        return _FilesOf(context.files, _MovedFile)


class _MovesThePosition(FaultyAllocator):
    @staticmethod
    def files(context: Context) -> Files:
        return _FilesOf(context.files, _SoughtFile)


class _LoadsWritableBuffersOnly(FaultyAllocator):
    def get_buffers(self, requests: tuple[AllocRequest, ...]) -> None:
        for one in requests:
            if one.file_segment is not None and not one.protection & Protection.WRITE:
                self.on_get_buffer(one.id, None, Errno.EACCES, "not writable")
            else:
                super().get_buffers((one,))


class _LoadsOnce(FaultyAllocator):
    def load_file_segment_to_buffer(self, id: int, segment: FileSegment) -> None:
        buffer = self.live(id)
        if buffer is not None and id in self.service.kept:
            self.on_load(id, Errno.EINVAL, "loading")
            return
        self.service.kept.append(id)
        super().load_file_segment_to_buffer(id, segment)


class _SaysNoEntryForNoBuffer(FaultyAllocator):
    def on_load(self, id: int, errno: int, message: str | None) -> None:
        super().on_load(id, Errno.ENOENT if message is not None and message.startswith("no buffer") else errno, message)


class _SaysBusyWhileLoading(FaultyAllocator):
    def on_load(self, id: int, errno: int, message: str | None) -> None:
        super().on_load(id, 16 if message is not None and message.endswith("LOADING") else errno, message)


class _MapsBusyAsInvalid(FaultyAllocator):
    def map(self, buffer: FaultyBuffer, length: int, protection: int, offset: int) -> Memory:
        if buffer.inner.state.name == "LOADING":
            raise ServiceError(Errno.EINVAL, "loading")
        return super().map(buffer, length, protection, offset)


class _CutsSegments(FaultyAllocator):
    def load_file_segment_to_buffer(self, id: int, segment: FileSegment) -> None:
        buffer = self.live(id)
        if buffer is not None:
            fits = min(segment.length, buffer.size - segment.buffer_offset)
            segment = replace(segment, length=fits)
        super().load_file_segment_to_buffer(id, segment)


class _LoadsNothingFromNoFile(FaultyAllocator):
    def on_load(self, id: int, errno: int, message: str | None) -> None:
        super().on_load(id, 0 if message is not None and message.startswith("no open file") else errno, message)


class _LoadsAMegabyteAtMost(FaultyAllocator):
    def on_get_buffer(self, id: int, buffer: NpuBuffer | None, errno: int, message: str | None) -> None:
        if isinstance(buffer, FaultyBuffer) and buffer.inner.memory is not None:
            rest = range(1 << 20, buffer.inner.size)
            buffer.inner.memory[rest.start :] = bytes(len(rest))
        super().on_get_buffer(id, buffer, errno, message)


class _KeepsOnlyTheLastLoad(FaultyAllocator):
    def load_file_segment_to_buffer(self, id: int, segment: FileSegment) -> None:
        buffer = self.live(id)
        if buffer is not None and buffer.memory is not None:
            buffer.memory[: segment.buffer_offset] = bytes(segment.buffer_offset)
        super().load_file_segment_to_buffer(id, segment)


FAULTS = (
    buffer_fault("maps-what-it-likes", "Lets a mapping ask for any protection.", "NPU-BUF-006",
                 "mapping.beyond_protection", _MapsWhatItLikes),
    buffer_fault("maps-exactly-its-protection", "Wants a mapping to ask for the whole protection of the request.",
                 "NPU-BUF-006", "mapping.within_protection", _MapsExactlyItsProtection),
    buffer_fault("maps-all-for-writing", "Gives every mapping the protection of the buffer.", "NPU-BUF-006",
                 "mapping.read_only_mapping", _MapsAllForWriting),
    buffer_fault("unmaps-nothing", "Leaves a mapping as it is.", "NPU-BUF-006", "mapping.unmap", _UnmapsNothing),
    buffer_fault("unmaps-all", "Ends all mappings of a buffer with the first.", "NPU-BUF-006",
                 "mapping.two_mappings_are_one_memory", _UnmapsAll),
    buffer_fault("maps-copies", "Maps a copy of the bytes.", "NPU-BUF-006", "mapping.write_and_read", _MapsCopies),
    buffer_fault("maps-from-the-beginning", "Ignores the offset of a mapping.", "NPU-BUF-006",
                 "mapping.two_mappings_are_one_memory", _MapsFromTheBeginning),
    buffer_fault("maps-empty-ranges", "Maps a page where no bytes are asked for.", "NPU-BUF-006", "mapping.empty_range",
                 _MapsEmptyRanges),
    buffer_fault("maps-beyond-the-end", "Maps as many pages as are asked for, whosever they are.", "NPU-BUF-006",
                 "mapping.beyond_the_end", _MapsBeyondTheEnd),
    buffer_fault("reuses-a-live-buffer", "Gives out the bytes of the first buffer again.", "NPU-BUF-006",
                 "mapping.buffers_are_apart", _ReusesALiveBuffer),
    buffer_fault("loads-to-the-beginning", "Ignores the place in the buffer.", "NPU-BUF-011", "loading.later",
                 _LoadsToTheBeginning),
    buffer_fault("loads-the-file-from-the-beginning", "Ignores the place in the file of a request.", "NPU-BUF-011",
                 "loading.on_allocation", _LoadsTheFileFromTheBeginning),
    buffer_fault("clears-around-a-load", "Fills with zeros what a load leaves.", "NPU-BUF-011", "loading.later",
                 _ClearsAroundALoad),
    buffer_fault("answers-the-load-of-a-request", "Sends onLoad for the file of a request as well.", "NPU-BUF-003",
                 "loading.on_allocation", _AnswersTheLoadOfARequest),
    buffer_fault("loads-from-the-position", "Counts the segment's offset from the position of the descriptor.",
                 "NPU-BUF-011", "loading.from_the_beginning_of_the_file", _LoadsFromThePosition),
    buffer_fault("moves-the-position",
                 "Reads by lseek and read, and leaves the client's descriptor behind the segment.", "NPU-BUF-011",
                 "loading.position_of_the_file", _MovesThePosition),
    buffer_fault("loads-writable-buffers-only", "Loads through the client's protection.", "NPU-BUF-011",
                 "loading.for_readers_only", _LoadsWritableBuffersOnly),
    buffer_fault("loads-once", "Lets a buffer be loaded once: it never is idle again.", "NPU-BUF-012",
                 "loading.again_and_again", _LoadsOnce),
    buffer_fault("says-no-entry-for-no-buffer", "Answers the load of an unknown buffer with ENOENT.", "NPU-BUF-012",
                 "loading.unknown_buffer", _SaysNoEntryForNoBuffer),
    buffer_fault("says-busy-while-loading", "Answers a second load with EBUSY.", "NPU-BUF-012", "loading.while_loading",
                 _SaysBusyWhileLoading),
    buffer_fault("maps-busy-as-invalid", "Refuses a mapping with EINVAL while a file is loaded.", "NPU-BUF-012",
                 "loading.mapping_while_loading", _MapsBusyAsInvalid),
    buffer_fault("cuts-segments", "Loads as much of a segment as fits.", "NPU-BUF-011", "loading.impossible_segments",
                 _CutsSegments),
    buffer_fault("loads-nothing-from-no-file", "Takes a descriptor that is none for the wish to load nothing.",
                 "NPU-BUF-011", "loading.no_such_file", _LoadsNothingFromNoFile),
    buffer_fault("loads-a-megabyte-at-most",
                 "Stops loading a request's file after 1 MiB, like a read that was not repeated.", "NPU-BUF-011",
                 "loading.weights_of_4_mib", _LoadsAMegabyteAtMost),
    buffer_fault("keeps-only-the-last-load", "Clears what was loaded with the request when more is loaded.",
                 "NPU-BUF-011", "loading.two_halves_of_8_mib", _KeepsOnlyTheLastLoad),
)  # fmt: skip
"""Faults in mapping and loading."""
