"""Drivers whose buffers forget, or remember, behind rare histories."""

from __future__ import annotations

import weakref
from typing import Any, ClassVar

from npu_conformance.faults.fault import FaultySubject, FuzzFault
from npu_conformance.faults.fuzz_only.table import rows
from npu_conformance.reference.hal.buffers import Buffers, Plan, ReferenceBuffer
from npu_conformance.reference.hal.device import ReferenceDevice
from npu_conformance.specs.errors import ServiceError
from npu_conformance.specs.neuralnetworks import hal
from npu_conformance.specs.neuralnetworks.enums import ErrorStatus
from npu_conformance.specs.neuralnetworks.types import Memory
from npu_conformance.specs.plugin import Caller, Context, MemoryMap, Subject
from npu_conformance.specs.versions import Version

_LARGE = 12
"""Elements of the larger of two shapes that one buffer takes."""


class FaultyBuffer(ReferenceBuffer):
    """A buffer of a driver with a fault. siblings: all that were made by it."""

    siblings: ClassVar[weakref.WeakSet[Any]]

    def __init__(self, plan: Plan, owner: Caller, memory: MemoryMap) -> None:
        super().__init__(plan, owner, memory)
        self.history: list[str] = []
        self.contents: list[Any] = []
        self.siblings.add(self)

    def write(self, content: Any) -> None:
        """Note the content."""
        self.history.append("write")
        self.contents.append(content)
        super().write(content)

    def copy_from(self, src: Memory, dimensions: tuple[int, ...]) -> None:
        """Note how it ended."""
        try:
            super().copy_from(src, dimensions)
        except ServiceError:
            self.history.append("refused")
            raise

    def copy_to(self, dst: Memory) -> None:
        """Note that it was read."""
        super().copy_to(dst)
        self.history.append("read")


class _ThirdWrite(FaultyBuffer):
    def write(self, content: Any) -> None:
        super().write(content)
        if self.history[-3:] == ["write"] * 3:
            self._content = self.contents[-2]


class _RefusedTwice(FaultyBuffer):
    def copy_from(self, src: Memory, dimensions: tuple[int, ...]) -> None:
        try:
            super().copy_from(src, dimensions)
        except ServiceError:
            if self.history[-2:] == ["refused"] * 2 and self.contents:
                self._content = self.contents[-1]
            raise


class _DoubledMemory(FaultyBuffer):
    def copy_to(self, dst: Memory) -> None:
        try:
            super().copy_to(dst)
        except ServiceError:
            if self._content is None or dst.size != 2 * self._content.nbytes:
                raise


class _LostWithSibling(FaultyBuffer):
    def __del__(self) -> None:
        for one in list(self.siblings):
            if one is not self and one._plan == self._plan and len(one.contents) > 1:
                one.invalidate()


class _SmallerBehindLarger(FaultyBuffer):
    def write(self, content: Any) -> None:
        sizes = {one.size for one in self.contents}
        if _LARGE in sizes and 0 < content.size < _LARGE and "read" in self.history:
            content = content.copy()
            content.flat[-1] = 0
        super().write(content)


class _ReadBehindRefused(FaultyBuffer):
    def copy_to(self, dst: Memory) -> None:
        if self._content is not None and self.history[-3:] == ["refused", "write", "read"]:
            raise ServiceError(ErrorStatus.GENERAL_FAILURE)
        super().copy_to(dst)


class _Buffers(Buffers):
    def __init__(self, context: Context, kind: type[FaultyBuffer]) -> None:
        super().__init__(context)
        self._kind = type(kind.__name__, (kind,), {"siblings": weakref.WeakSet()})

    def allocate(self, plan: Plan) -> hal.DeviceBuffer:
        buffer = self._kind(plan, self._context.caller(), self._context.memory)
        token = next(self._tokens)
        self._living[token] = buffer
        return hal.DeviceBuffer(buffer, token)


def _buffers(kind: type[FaultyBuffer]) -> FaultySubject:
    class Device(ReferenceDevice):
        def __init__(self, context: Context, version: Version) -> None:
            super().__init__(context, version)
            self._buffers = _Buffers(context, kind)

    return FaultySubject(lambda context, version: Subject(device=Device(context, version)))


FAULTS: tuple[FuzzFault, ...] = rows(
    "memory_domain",
    ("third-write", "The third content in a row that nobody reads is the second one.",
     "NNHAL-MEMDOMAIN-015", _buffers(_ThirdWrite)),
    ("refused-twice", "Behind two refused copies in a row a buffer has its last content again.",
     "NNHAL-MEMDOMAIN-016", _buffers(_RefusedTwice)),
    ("doubled-memory", "A copy to memory of exactly twice the size is taken, and does nothing.",
     "NNHAL-MEMDOMAIN-020", _buffers(_DoubledMemory)),
    ("lost-with-sibling", "A buffer that was written twice loses its content with another of its kind.",
     "NNHAL-MEMDOMAIN-015", _buffers(_LostWithSibling)),
    ("smaller-behind-larger", "A smaller content behind a larger one that was read loses its last element.",
     "NNHAL-MEMDOMAIN-033", _buffers(_SmallerBehindLarger)),
    ("read-behind-refused", "Refused, written and read: the next reading fails.",
     "NNHAL-MEMDOMAIN-015", _buffers(_ReadBehindRefused)),
)  # fmt: skip
