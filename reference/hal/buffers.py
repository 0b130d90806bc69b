"""Driver-managed buffers: what they hold, the tokens that name them, and who may use them for what."""

from __future__ import annotations

import itertools
import threading
import weakref
from collections.abc import Sequence
from typing import Literal

import msgspec
import numpy

from npu_conformance.reference.device.executor import agrees
from npu_conformance.reference.device.tensors import Array, element_type
from npu_conformance.reference.hal.memory import mapped, writable
from npu_conformance.specs.errors import ServiceError
from npu_conformance.specs.neuralnetworks import hal
from npu_conformance.specs.neuralnetworks.enums import ErrorStatus
from npu_conformance.specs.neuralnetworks.operand_types import OPERAND_TYPES, byte_size
from npu_conformance.specs.neuralnetworks.types import Memory
from npu_conformance.specs.plugin import Caller, Context, MemoryMap

Direction = Literal["input", "output"]


class Role(msgspec.Struct, frozen=True):
    """One use of a buffer: input or output `index` of a prepared model.

    prepared: what the executions of the model share, by identity. Weak: a buffer keeps no model alive.
    """

    prepared: weakref.ref[object]
    direction: Direction
    index: int


class Plan(msgspec.Struct, frozen=True):
    """What a buffer is allocated for. dimensions: those of all roles and of the client combined, 0 or () unknown."""

    operand_type: int
    dimensions: tuple[int, ...]
    roles: frozenset[Role]


class ReferenceBuffer(hal.Buffer):
    """A buffer. Its content is replaced whole and never changed, so that readers and writers cannot interfere."""

    def __init__(self, plan: Plan, owner: Caller, memory: MemoryMap) -> None:
        """owner: the process that allocated it."""
        self.owner = owner
        self._plan, self._memory = plan, memory
        self._content: Array | None = None

    def copy_to(self, dst: Memory) -> None:
        """Copy the content out. Raises GENERAL_FAILURE for no content, INVALID_ARGUMENT for memory of another size."""
        content = self.read()
        _check_size(dst, content.nbytes)
        with mapped(self._memory, (dst,)) as (view,):
            writable(view)[: content.nbytes] = content.tobytes()

    def copy_from(self, src: Memory, dimensions: tuple[int, ...]) -> None:
        """Replace the content. Where that fails the buffer has no content (NNHAL-MEMDOMAIN-016)."""
        self.invalidate()
        shape = self._full_shape(dimensions)
        _check_size(src, byte_size(self._plan.operand_type, shape))
        with mapped(self._memory, (src,)) as (view,):
            content = numpy.frombuffer(view[: src.size], element_type(self._plan.operand_type)).copy()
        self.write(content.reshape(shape))

    def check_use(self, role: Role, dimensions: tuple[int, ...]) -> None:
        """Raise INVALID_ARGUMENT for a role that was not agreed on, or dimensions of a request that contradict."""
        if role not in self._plan.roles:
            raise invalid_argument(
                f"the buffer was not allocated as {role.direction} {role.index} of this prepared model"
            )
        content = self._content
        known = self._plan.dimensions if role.direction == "output" or content is None else content.shape
        if not compatible(known, dimensions):
            raise invalid_argument(f"{role.direction} {role.index}: expected {known}, found {dimensions}")

    def read(self) -> Array:
        """The content. Raises GENERAL_FAILURE for an uninitialised buffer."""
        content = self._content
        if content is None:
            raise ServiceError(ErrorStatus.GENERAL_FAILURE, "the buffer is not initialised")
        return content

    def write(self, content: Array) -> None:
        """Initialise the buffer with a value that nobody else will change. `takes` says which shapes it may have."""
        self._content = content

    def takes(self, shape: Sequence[int]) -> bool:
        """True for a shape that the buffer was allocated for."""
        return agrees(self._plan.dimensions, shape)

    def invalidate(self) -> None:
        """Forget the content."""
        self._content = None

    def _full_shape(self, dimensions: tuple[int, ...]) -> tuple[int, ...]:
        """The shape that a copy gives: the given one, or the buffer's where that is known (MEMDOMAIN-018, -019)."""
        shape = dimensions or self._plan.dimensions
        is_tensor = OPERAND_TYPES[self._plan.operand_type].is_tensor
        if is_tensor != bool(shape) or any(size <= 0 for size in shape) or not compatible(self._plan.dimensions, shape):
            raise invalid_argument(f"dimensions {dimensions} for a buffer of shape {self._plan.dimensions}")
        return shape


class Buffers:
    """The living buffers of a device by token. A buffer lives while its client, or an execution, holds it."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._living: weakref.WeakValueDictionary[int, ReferenceBuffer] = weakref.WeakValueDictionary()
        self._tokens = itertools.count(1)
        self._lock = threading.Lock()

    def allocate(self, plan: Plan) -> hal.DeviceBuffer:
        """Make a buffer of the caller's, under a token that no other buffer has had (NNHAL-MEMDOMAIN-003, -004)."""
        buffer = ReferenceBuffer(plan, self._context.caller(), self._context.memory)
        with self._lock:
            token = next(self._tokens)
            self._living[token] = buffer
        return hal.DeviceBuffer(buffer, token)

    def find(self, token: int) -> ReferenceBuffer:
        """The caller's buffer. Raises INVALID_ARGUMENT for a token that is not the caller's (MEMDOMAIN-023, -031)."""
        with self._lock:
            buffer = self._living.get(token)
        if buffer is None or buffer.owner.process != self._context.caller().process:
            raise invalid_argument(f"no buffer {token}")
        return buffer


def compatible(one: Sequence[int], other: Sequence[int]) -> bool:
    """True where a value can have both shapes: empty is an unknown rank, 0 an unknown size."""
    if not one or not other:
        return True
    return len(one) == len(other) and all(
        left == right or 0 in (left, right) for left, right in zip(one, other, strict=True)
    )


def _check_size(memory: Memory, size: int) -> None:
    if memory.size != size:
        raise invalid_argument(f"memory of {memory.size} bytes, expected {size}")


def invalid_argument(message: str) -> ServiceError:
    """What is raised for a wish that breaks a rule of buffers."""
    return ServiceError(ErrorStatus.INVALID_ARGUMENT, message)
