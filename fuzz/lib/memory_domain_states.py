"""The states of buffers as the HAL documents them: what each is for, what it holds, and what allocate must refuse."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy

from npu_conformance.fuzz.lib.memory_domain_models import BufferModel, Shape
from npu_conformance.fuzz.lib.memory_domain_steps import IMPOSTOR, Allocate
from npu_conformance.harness.judge.tolerance import ORDINARY, floor
from npu_conformance.specs.neuralnetworks.operand_types import OPERAND_TYPES, byte_size
from npu_conformance.specs.neuralnetworks.types import Operand

if TYPE_CHECKING:
    from npu_conformance.corpus.vectors import Array
    from npu_conformance.specs.neuralnetworks.hal import DeviceBuffer

Side = Literal["input", "output"]
Role = tuple[BufferModel, Side, int]
"""One use of a buffer: an input or output of a prepared model, which is known by identity (NNHAL-MEMDOMAIN-024)."""


@dataclass(frozen=True)
class Content:
    """What a buffer holds, or an execution computes. slack: how far an element may be off, in stored values.

    An infinite slack: nobody can say what is there, until somebody has read it.
    """

    array: Array
    slack: float = 0.0

    def is_like(self, data: bytes) -> bool:
        """True where bytes may be this content."""
        if len(data) != self.array.nbytes:
            return False
        found = numpy.frombuffer(data, self.array.dtype).astype(numpy.float64)
        wanted = self.array.reshape(-1).astype(numpy.float64)
        with numpy.errstate(invalid="ignore"):
            near = numpy.abs(found - wanted) <= self.slack
        return self.slack == numpy.inf or bool(
            (near | (found == wanted) | (numpy.isnan(found) & numpy.isnan(wanted))).all()
        )

    def read_as(self, data: bytes) -> Content:
        """The content, now that it is known byte by byte."""
        return Content(numpy.frombuffer(data, self.array.dtype).reshape(self.array.shape))


def result_of(operand_type: int, array: Array, given: Sequence[Content], *, is_smooth: bool) -> Content:
    """A computed output. is_smooth: no result moves further than all inputs together, as that of a difference."""
    tolerance = floor(operand_type, ORDINARY).judged
    finite = numpy.abs(array.astype(numpy.float64)[numpy.isfinite(array.astype(numpy.float64))])
    own = tolerance.atol + tolerance.rtol * float(finite.max(initial=0.0))
    before = sum(content.slack for content in given)
    return Content(array, own + before if is_smooth else numpy.inf if before else own)


@dataclass(eq=False)
class BufferState:
    """One buffer. dimensions: those of all roles and of the client combined, 0 or () where unknown.

    content: None where it is uninitialised. is_loose: the content may as well be gone, since an execution failed in a
    way that leaves both. is_freed: the client has let go of it, so that its token may be unknown already. is_lost:
    nobody can say what is in it.
    """

    made: DeviceBuffer | None
    token: int
    operand: Operand
    dimensions: Shape
    roles: frozenset[Role]
    content: Content | None = None
    is_loose: bool = False
    is_freed: bool = False
    is_lost: bool = False

    @property
    def is_tensor(self) -> bool:
        """False for a scalar."""
        return OPERAND_TYPES[self.operand.type].is_tensor

    @property
    def is_known(self) -> bool:
        """True where the allocation says the whole shape."""
        return not self.is_tensor or (bool(self.dimensions) and 0 not in self.dimensions)

    def write(self, content: Content | None) -> None:
        """The buffer has this content for certain."""
        self.content, self.is_loose = content, False

    def size_of(self, dimensions: Sequence[int]) -> int:
        """Bytes of the buffer in this shape."""
        return byte_size(self.operand.type, tuple(dimensions))

    def copy_clause(self, dimensions: Sequence[int], size: int) -> str:
        """The requirement that copyFrom breaks with memory of so many bytes; empty where it is right."""
        shape = tuple(dimensions) or self.dimensions
        if (self.is_tensor and not shape) or any(number <= 0 for number in shape):
            return "NNHAL-MEMDOMAIN-019" if not dimensions else "NNHAL-MEMDOMAIN-018"
        if (shape and not self.is_tensor) or not agree(self.dimensions, shape):
            return "NNHAL-MEMDOMAIN-018"
        return "" if self.size_of(shape) == size else "NNHAL-MEMDOMAIN-017"

    def use_clause(self, role: Role, dimensions: Sequence[int]) -> str:
        """The requirement that this use with dimensions of a request breaks; empty where it is right."""
        if role not in self.roles:
            return "NNHAL-MEMDOMAIN-024"
        known = self.dimensions
        if role[1] == "input" and self.content is not None and not self.is_loose:
            known = self.content.array.shape
        return "" if agree(known, dimensions) else "NNHAL-MEMDOMAIN-027"

    def takes(self, shape: Sequence[int]) -> bool:
        """True for a result that the buffer was allocated for (NNHAL-MEMDOMAIN-028)."""
        return agree(self.dimensions, shape)


def agree(one: Sequence[int], other: Sequence[int]) -> bool:
    """True where a tensor can have both shapes: empty is an unknown rank, 0 an unknown size."""
    if not one or not other:
        return True
    pairs = zip(one, other, strict=False)
    return len(one) == len(other) and all(left == right or 0 in (left, right) for left, right in pairs)


@dataclass(frozen=True)
class Wish:
    """The arguments of allocate. models: None for null and for what no device has prepared."""

    step: Allocate
    models: tuple[BufferModel | None, ...]

    def named(self) -> Iterator[Role | None]:
        """The roles; None for one that does not exist."""
        sides: tuple[tuple[Side, list[tuple[int, int]]], ...] = (
            ("input", self.step.inputs),
            ("output", self.step.outputs),
        )
        for side, pairs in sides:
            for model, number in pairs:
                found = self.models[model] if 0 <= model < len(self.models) else None
                yield (found, side, number) if found is not None and (side, number) in found.operands else None

    def _used(self) -> list[BufferModel | None]:
        """The models that a role names: AOSP's driver does not look at others."""
        indexes = {model for model, _ in (*self.step.inputs, *self.step.outputs)}
        return [model for index, model in enumerate(self.models) if index in indexes]

    def clause(self) -> str:
        """The requirement that the wish breaks; empty for a legal one, which may be declined all the same."""
        step, roles = self.step, list(self.named())
        if not step.models or not roles:
            return "NNHAL-MEMDOMAIN-005"
        if any(model is None for model in self._used()):
            return "NNHAL-MEMDOMAIN-007" if IMPOSTOR in step.models else "NNHAL-MEMDOMAIN-006"
        if not 0.0 < step.probability <= 1.0:
            return "NNHAL-MEMDOMAIN-009"
        known = [role for role in roles if role is not None]
        if len(known) < len(roles):
            return "NNHAL-MEMDOMAIN-008"
        if len(set(known)) < len(known):
            return "NNHAL-MEMDOMAIN-010"
        return self._operands_clause([_operand(role) for role in known])

    def _operands_clause(self, operands: Sequence[Operand]) -> str:
        if len({(one.type, one.scale, one.zero_point, one.extra_params) for one in operands}) > 1:
            return "NNHAL-MEMDOMAIN-011"
        if self.step.dimensions and not OPERAND_TYPES[operands[0].type].is_tensor:
            return "NNHAL-MEMDOMAIN-013"
        return "" if combined(self._shapes(operands)) is not None else "NNHAL-MEMDOMAIN-012"

    def _shapes(self, operands: Sequence[Operand]) -> list[Shape]:
        return [tuple(self.step.dimensions), *(operand.dimensions for operand in operands)]

    def state(self, made: DeviceBuffer) -> BufferState:
        """The fresh buffer of a legal wish."""
        roles = [role for role in self.named() if role is not None]
        operands = [_operand(role) for role in roles]
        shape = combined(self._shapes(operands))
        assert shape is not None
        return BufferState(made, made.token, operands[0], shape, frozenset(roles))


def _operand(role: Role) -> Operand:
    model, side, number = role
    return model.operands[side, number]


def combined(shapes: Sequence[Shape]) -> Shape | None:
    """The shape that satisfies all; None where there is none."""
    found: Shape = ()
    for shape in shapes:
        if not agree(found, shape) or any(size < 0 for size in shape):
            return None
        found = tuple(map(max, found, shape)) if found and shape else found or shape
    return found
