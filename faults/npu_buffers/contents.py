"""Faults in mapping and loading: what is in a buffer, and who may see it."""

from __future__ import annotations

import os

from msgspec.structs import replace

from npu_conformance.faults.npu_buffers.boundary import Conforming, FaultyBuffer
from npu_conformance.specs.errors import ServiceError
from npu_conformance.specs.neuralnetworks.types import Memory
from npu_conformance.specs.npu.buffers import AllocRequest, Errno, FileSegment, NpuBuffer, Protection
from npu_conformance.specs.plugin import Context, File, Files


class MapsWhatItLikes(Conforming):
    """Lets a mapping ask for any protection."""

    breaks = ("NPU-BUF-006",)
    caught_by = "cts.npu_buffers.mapping.beyond_protection"

    def get_buffers(self, requests: tuple[AllocRequest, ...]) -> None:
        super().get_buffers(tuple(replace(one, protection=7) for one in requests))


class MapsExactlyItsProtection(Conforming):
    """Wants a mapping to ask for the whole protection of the request."""

    breaks = ("NPU-BUF-006",)
    caught_by = "cts.npu_buffers.mapping.within_protection"

    def map(self, buffer: FaultyBuffer, length: int, protection: int, offset: int) -> Memory:
        if protection != buffer.inner.request.protection:
            raise ServiceError(Errno.EACCES, f"protection {protection}")
        return super().map(buffer, length, protection, offset)


class MapsAllForWriting(Conforming):
    """Gives every mapping the protection of the buffer."""

    breaks = ("NPU-BUF-006",)
    caught_by = "cts.npu_buffers.mapping.read_only_mapping"

    def map(self, buffer: FaultyBuffer, length: int, protection: int, offset: int) -> Memory:
        return super().map(buffer, length, protection | buffer.inner.request.protection, offset)


class UnmapsNothing(Conforming):
    """Leaves a mapping as it is."""

    breaks = ("NPU-BUF-006",)
    caught_by = "cts.npu_buffers.mapping.unmap"

    def unmap(self, buffer: FaultyBuffer, token: int) -> None:
        pass


class UnmapsAll(Conforming):
    """Ends all mappings of a buffer with the first."""

    breaks = ("NPU-BUF-006",)
    caught_by = "cts.npu_buffers.mapping.two_mappings_are_one_memory"

    def unmap(self, buffer: FaultyBuffer, token: int) -> None:
        for each in tuple(buffer.inner.mappings):
            super().unmap(buffer, each)


class MapsCopies(Conforming):
    """Maps a copy of the bytes."""

    breaks = ("NPU-BUF-006",)
    caught_by = "cts.npu_buffers.mapping.write_and_read"

    def map(self, buffer: FaultyBuffer, length: int, protection: int, offset: int) -> Memory:
        memory = super().map(buffer, length, protection, offset)
        assert buffer.inner.memory is not None
        copy = memoryview(bytearray(buffer.inner.memory[offset : offset + length]))
        return replace(memory, token=self.service.context.exports.export(copy, protection))

    def unmap(self, buffer: FaultyBuffer, token: int) -> None:
        self.service.context.exports.withdraw(token)


class MapsFromTheBeginning(Conforming):
    """Ignores the offset of a mapping."""

    breaks = ("NPU-BUF-006",)
    caught_by = "cts.npu_buffers.mapping.two_mappings_are_one_memory"

    def map(self, buffer: FaultyBuffer, length: int, protection: int, offset: int) -> Memory:
        return super().map(buffer, length, protection, 0)


class MapsEmptyRanges(Conforming):
    """Maps a page where no bytes are asked for."""

    breaks = ("NPU-BUF-006",)
    caught_by = "cts.npu_buffers.mapping.empty_range"

    def map(self, buffer: FaultyBuffer, length: int, protection: int, offset: int) -> Memory:
        return super().map(buffer, length or buffer.inner.size, protection, offset)


class MapsBeyondTheEnd(Conforming):
    """Maps as many pages as are asked for, whosever they are."""

    breaks = ("NPU-BUF-006",)
    caught_by = "cts.npu_buffers.mapping.beyond_the_end"

    def map(self, buffer: FaultyBuffer, length: int, protection: int, offset: int) -> Memory:
        if length <= 0 or offset < 0 or offset + length <= buffer.inner.size:
            return super().map(buffer, length, protection, offset)
        token = self.service.context.exports.export(memoryview(bytearray(length)), protection)
        return Memory("mappableFile", length, token, protection)


class ReusesALiveBuffer(Conforming):
    """Gives out the bytes of the first buffer again."""

    breaks = ("NPU-BUF-006",)
    caught_by = "cts.npu_buffers.mapping.buffers_are_apart"

    def answer(self, id: int, buffer: NpuBuffer | None, errno: int, message: str | None) -> None:
        first = next(iter(self.inner.client.buffers.values()), None)
        if isinstance(buffer, FaultyBuffer) and first is not None and first.memory is not None:
            buffer.inner.memory = first.memory
        super().answer(id, buffer, errno, message)


class LoadsToTheBeginning(Conforming):
    """Ignores the place in the buffer."""

    breaks = ("NPU-BUF-011",)
    caught_by = "cts.npu_buffers.loading.later"

    def load_file_segment_to_buffer(self, id: int, segment: FileSegment) -> None:
        super().load_file_segment_to_buffer(id, replace(segment, buffer_offset=min(segment.buffer_offset, 0)))


class LoadsTheFileFromTheBeginning(Conforming):
    """Ignores the place in the file of a request."""

    breaks = ("NPU-BUF-011",)
    caught_by = "cts.npu_buffers.loading.on_allocation"

    def get_buffers(self, requests: tuple[AllocRequest, ...]) -> None:
        super().get_buffers(
            tuple(
                one if one.file_segment is None else replace(one, file_segment=replace(one.file_segment, file_offset=0))
                for one in requests
            )
        )


class ClearsAroundALoad(Conforming):
    """Fills with zeros what a load leaves."""

    breaks = ("NPU-BUF-011",)
    caught_by = "cts.npu_buffers.loading.later"

    def load_file_segment_to_buffer(self, id: int, segment: FileSegment) -> None:
        buffer = self.live(id)
        if buffer is not None and buffer.memory is not None:
            buffer.memory[:] = bytes(buffer.size)
        super().load_file_segment_to_buffer(id, segment)


class AnswersTheLoadOfARequest(Conforming):
    """Sends onLoad for the file of a request as well."""

    breaks = ("NPU-BUF-003",)
    caught_by = "cts.npu_buffers.loading.on_allocation"

    def answer(self, id: int, buffer: NpuBuffer | None, errno: int, message: str | None) -> None:
        super().answer(id, buffer, errno, message)
        if isinstance(buffer, FaultyBuffer) and buffer.inner.request.file_segment is not None:
            self.loaded(id, 0, None)


class _MovedFile:
    """A file that is read as by read(2)."""

    def __init__(self, inner: File) -> None:
        self._inner, self.position = inner, inner.position

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


class _BentFiles:
    def __init__(self, inner: Files, kind: type[_MovedFile]) -> None:
        self._inner, self._kind = inner, kind

    def open(self, token: int) -> File:
        return self._kind(self._inner.open(token))  # type: ignore[return-value]


class LoadsFromThePosition(Conforming):
    """Counts the segment's offset from the position of the descriptor."""

    breaks = ("NPU-BUF-011",)
    caught_by = "cts.npu_buffers.loading.from_the_beginning_of_the_file"

    @staticmethod
    def files(context: Context) -> Files:
        return _BentFiles(context.files, _MovedFile)


class MovesThePosition(Conforming):
    """Reads by lseek and read, and leaves the client's descriptor behind the segment."""

    breaks = ("NPU-BUF-011",)
    caught_by = "cts.npu_buffers.loading.position_of_the_file"

    @staticmethod
    def files(context: Context) -> Files:
        return _BentFiles(context.files, _SoughtFile)


class LoadsWritableBuffersOnly(Conforming):
    """Loads through the client's protection."""

    breaks = ("NPU-BUF-011",)
    caught_by = "cts.npu_buffers.loading.for_readers_only"

    def get_buffers(self, requests: tuple[AllocRequest, ...]) -> None:
        for one in requests:
            if one.file_segment is not None and not one.protection & Protection.WRITE:
                self.answer(one.id, None, Errno.EACCES, "not writable")
            else:
                super().get_buffers((one,))


class LoadsOnce(Conforming):
    """Lets a buffer be loaded once: it never is idle again."""

    breaks = ("NPU-BUF-012",)
    caught_by = "cts.npu_buffers.loading.again_and_again"

    def load_file_segment_to_buffer(self, id: int, segment: FileSegment) -> None:
        buffer = self.live(id)
        if buffer is not None and id in self.service.kept:
            self.loaded(id, Errno.EINVAL, "loading")
            return
        self.service.kept.append(id)
        super().load_file_segment_to_buffer(id, segment)


class SaysNoEntryForNoBuffer(Conforming):
    """Answers the load of an unknown buffer with ENOENT."""

    breaks = ("NPU-BUF-012",)
    caught_by = "cts.npu_buffers.loading.unknown_buffer"

    def loaded(self, id: int, errno: int, message: str | None) -> None:
        super().loaded(id, Errno.ENOENT if message is not None and message.startswith("no buffer") else errno, message)


class SaysBusyWhileLoading(Conforming):
    """Answers a second load with EBUSY."""

    breaks = ("NPU-BUF-012",)
    caught_by = "cts.npu_buffers.loading.while_loading"

    def loaded(self, id: int, errno: int, message: str | None) -> None:
        super().loaded(id, 16 if message is not None and message.endswith("LOADING") else errno, message)


class MapsBusyAsInvalid(Conforming):
    """Refuses a mapping with EINVAL while a file is loaded."""

    breaks = ("NPU-BUF-012",)
    caught_by = "cts.npu_buffers.loading.mapping_while_loading"

    def map(self, buffer: FaultyBuffer, length: int, protection: int, offset: int) -> Memory:
        if buffer.inner.state.name == "LOADING":
            raise ServiceError(Errno.EINVAL, "loading")
        return super().map(buffer, length, protection, offset)


class CutsSegments(Conforming):
    """Loads as much of a segment as fits."""

    breaks = ("NPU-BUF-011",)
    caught_by = "cts.npu_buffers.loading.impossible_segments"

    def load_file_segment_to_buffer(self, id: int, segment: FileSegment) -> None:
        buffer = self.live(id)
        if buffer is not None:
            fits = min(segment.length, buffer.size - segment.buffer_offset)
            segment = replace(segment, length=fits)
        super().load_file_segment_to_buffer(id, segment)


class LoadsNothingFromNoFile(Conforming):
    """Takes a descriptor that is none for the wish to load nothing."""

    breaks = ("NPU-BUF-011",)
    caught_by = "cts.npu_buffers.loading.no_such_file"

    def loaded(self, id: int, errno: int, message: str | None) -> None:
        super().loaded(id, 0 if message is not None and message.startswith("no open file") else errno, message)


class LoadsAMegabyteAtMost(Conforming):
    """Stops loading a request's file after 1 MiB, like a read that was not repeated."""

    breaks = ("NPU-BUF-011",)
    caught_by = "cts.npu_buffers.loading.weights_of_4_mib"

    def answer(self, id: int, buffer: NpuBuffer | None, errno: int, message: str | None) -> None:
        if isinstance(buffer, FaultyBuffer) and buffer.inner.memory is not None:
            rest = range(1 << 20, buffer.inner.size)
            buffer.inner.memory[rest.start :] = bytes(len(rest))
        super().answer(id, buffer, errno, message)


class KeepsOnlyTheLastLoad(Conforming):
    """Clears what was loaded with the request when more is loaded."""

    breaks = ("NPU-BUF-011",)
    caught_by = "cts.npu_buffers.loading.two_halves_of_8_mib"

    def load_file_segment_to_buffer(self, id: int, segment: FileSegment) -> None:
        buffer = self.live(id)
        if buffer is not None and buffer.memory is not None:
            buffer.memory[: segment.buffer_offset] = bytes(segment.buffer_offset)
        super().load_file_segment_to_buffer(id, segment)
