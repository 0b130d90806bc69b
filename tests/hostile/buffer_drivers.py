"""Drivers whose buffers have bugs that need a history to show. Option `bug` says which one."""

from __future__ import annotations

import math
import weakref
from collections.abc import Sequence
from typing import Any

import numpy
from msgspec.structs import replace

from npu_conformance.reference.device.tensors import element_type
from npu_conformance.reference.hal.buffers import Buffers, Plan, ReferenceBuffer, Role
from npu_conformance.reference.hal.device import ReferenceDevice
from npu_conformance.reference.hal.memory import mapped, writable
from npu_conformance.reference.hal.prepared_model import ReferencePreparedModel
from npu_conformance.reference.hal.roles import plan_of
from npu_conformance.specs.errors import ServiceError
from npu_conformance.specs.manifest import Manifest
from npu_conformance.specs.neuralnetworks import hal
from npu_conformance.specs.neuralnetworks.enums import ErrorStatus
from npu_conformance.specs.neuralnetworks.operand_types import OPERAND_TYPES, byte_size
from npu_conformance.specs.neuralnetworks.types import (
    BufferDesc,
    BufferRole,
    ExecutionResult,
    Memory,
    Request,
    RequestMemoryPool,
)
from npu_conformance.specs.plugin import Caller, Context, MemoryMap, Plugin, Subject
from npu_conformance.specs.versions import NEWEST

Shape = tuple[int, ...]


class _Buffer(ReferenceBuffer):
    """A buffer of a driver with a bug. kept: of the whole driver, whatever the bug needs."""

    kept: dict[Any, Any]
    memory: MemoryMap

    def __init__(self, plan: Plan, owner: Caller, memory: MemoryMap) -> None:
        super().__init__(plan, owner, memory)
        self.plan = plan

    def zeros(self) -> Any:
        """A value of the buffer's own shape, as far as that is known."""
        return numpy.zeros([size or 1 for size in self.plan.dimensions], element_type(self.plan.operand_type))


class _KeepsFailedCopy(_Buffer):
    """A copyFrom that fails leaves the old content."""

    def copy_from(self, src: Memory, dimensions: Shape) -> None:
        before = self._content
        try:
            super().copy_from(src, dimensions)
        except ServiceError:
            self._content = before
            raise


class _KeepsFailedOutput(_Buffer):
    """An execution whose result does not fit leaves the old content."""

    def takes(self, shape: Sequence[int]) -> bool:
        does = super().takes(shape)
        if not does and self in self.kept:
            self._content = self.kept[self]
        return does

    def write(self, content: Any) -> None:
        self.kept[self] = content
        super().write(content)


class _FreshHasZeros(_Buffer):
    """A buffer can be read before anything was written."""

    def __init__(self, plan: Plan, owner: Caller, memory: MemoryMap) -> None:
        super().__init__(plan, owner, memory)
        self._content = self.zeros()


class _ReusesMemory(_Buffer):
    """A buffer has what a freed one of its type and shape had."""

    def __init__(self, plan: Plan, owner: Caller, memory: MemoryMap) -> None:
        super().__init__(plan, owner, memory)
        self._content = self.kept.pop((plan.operand_type, plan.dimensions), None)

    def __del__(self) -> None:
        if self._content is not None:
            self.kept[self.plan.operand_type, self.plan.dimensions] = self._content


class _ForgetsDirections(_Buffer):
    """What was allocated for output 0 serves as input 0 as well, and the other way round."""

    def check_use(self, role: Role, dimensions: Shape) -> None:
        other: Any = "output" if role.direction == "input" else "input"
        turned = Role(role.prepared, other, role.index)
        super().check_use(turned if turned in self.plan.roles else role, dimensions)


class _KnowsEqualModels(_Buffer):
    """The roles are those of every prepared model that is equal."""

    def check_use(self, role: Role, dimensions: Shape) -> None:
        used: Any = role.prepared()
        for known in self.plan.roles:
            meant: Any = known.prepared() or self.kept.get(known.prepared)
            if meant is not None and meant.model == used.model:
                self.kept[known.prepared] = meant
                role = Role(known.prepared, role.direction, role.index) if known.index == role.index else role
        super().check_use(role, dimensions)


class _ForgetsLastShape(_Buffer):
    """A request may name any shape that the allocation allows, whatever the content has."""

    def check_use(self, role: Role, dimensions: Shape) -> None:
        content, self._content = self._content, None
        try:
            super().check_use(role, dimensions)
        finally:
            self._content = content


class _SizeOfFirst(_Buffer):
    """copyTo wants the size that the first content had."""

    def write(self, content: Any) -> None:
        super().write(content)
        self.kept.setdefault(self, content.nbytes)

    def copy_to(self, dst: Memory) -> None:
        if self._content is not None and dst.size != self.kept[self]:
            raise ServiceError(ErrorStatus.INVALID_ARGUMENT)
        content = self.read()
        with mapped(self.memory, (dst,)) as (view,):
            writable(view)[: content.nbytes] = content.tobytes()[: dst.size]


class _CutsCopies(_Buffer):
    """copyFrom takes memory that is longer than the buffer."""

    def copy_from(self, src: Memory, dimensions: Shape) -> None:
        size = byte_size(self.plan.operand_type, dimensions or self.plan.dimensions)
        if src.size <= size or 0 in (dimensions or self.plan.dimensions or (0,)):
            super().copy_from(src, dimensions)
            return
        self._full_shape(dimensions)
        with mapped(self.memory, (src,)) as (view,):
            content = numpy.frombuffer(view[:size], element_type(self.plan.operand_type)).copy()
        self.write(content.reshape(dimensions or self.plan.dimensions))


class _CountsElements(_Buffer):
    """copyFrom takes any dimensions of as many elements as the buffer's."""

    def _full_shape(self, dimensions: Shape) -> Shape:
        own = self.plan.dimensions
        if own and dimensions and 0 not in own and math.prod(own) == math.prod(dimensions):
            return own
        return super()._full_shape(dimensions)


class _FollowsClient(_Buffer):
    """copyFrom copies nothing: the content is the client's memory until it is first read."""

    source: memoryview | None = None

    def copy_from(self, src: Memory, dimensions: Shape) -> None:
        super().copy_from(src, dimensions)
        self.source = self.memory.map(src)[: src.size]

    def read(self) -> Any:
        content = super().read()
        if self.source is not None and len(self.source) == content.nbytes:
            self._content = content = numpy.frombuffer(self.source, content.dtype).copy().reshape(content.shape)
        self.source = None
        return content

    def write(self, content: Any) -> None:
        self.source = None
        super().write(content)


class _SharesOutputs(_Buffer):
    """One buffer may be two outputs of a request: the last one stays."""


class _ClearsNext(_Buffer):
    """With a buffer the content of the one that was allocated behind it is gone."""

    def __init__(self, plan: Plan, owner: Caller, memory: MemoryMap) -> None:
        super().__init__(plan, owner, memory)
        last = self.kept.get("last", lambda: None)()
        self.kept["last"] = weakref.ref(self)
        if last is not None:
            weakref.finalize(last, _invalidate, weakref.ref(self))


def _invalidate(found: weakref.ref[_Buffer]) -> None:
    buffer = found()
    if buffer is not None:
        buffer.invalidate()


class _ConsumedWhenFenced(_Buffer):
    """A fenced execution takes the content of its inputs along."""


class _ForgetsAShape(_Buffer):
    """Of several outputs the last one has no shape in the answer."""


class _TokensOfCount(_Buffer):
    """The token is the number of living buffers."""


class _TakesAliases(_Buffer):
    """A role may be named twice, through two entries of one prepared model."""


class _TakesProbabilities(_Buffer):
    """A probability may be 0."""


class _MeetsDimensions(_Buffer):
    """The dimensions of the descriptor count, and those of roles are not held against them."""


BUGS: dict[str, type[_Buffer]] = {
    "keeps-failed-copy": _KeepsFailedCopy,
    "keeps-failed-output": _KeepsFailedOutput,
    "fresh-has-zeros": _FreshHasZeros,
    "reuses-memory": _ReusesMemory,
    "forgets-directions": _ForgetsDirections,
    "knows-equal-models": _KnowsEqualModels,
    "forgets-last-shape": _ForgetsLastShape,
    "size-of-first": _SizeOfFirst,
    "cuts-copies": _CutsCopies,
    "counts-elements": _CountsElements,
    "follows-client": _FollowsClient,
    "shares-outputs": _SharesOutputs,
    "clears-next": _ClearsNext,
    "consumed-when-fenced": _ConsumedWhenFenced,
    "forgets-a-shape": _ForgetsAShape,
    "tokens-of-count": _TokensOfCount,
    "takes-aliases": _TakesAliases,
    "takes-probabilities": _TakesProbabilities,
    "meets-dimensions": _MeetsDimensions,
}


class _Buffers(Buffers):
    """Makes buffers of one kind."""

    def __init__(self, context: Context, kind: type[_Buffer]) -> None:
        super().__init__(context)
        self.kind = kind

    def allocate(self, plan: Plan) -> hal.DeviceBuffer:
        buffer = self.kind(plan, self._context.caller(), self._context.memory)
        token = len(self._living) + 1 if issubclass(self.kind, _TokensOfCount) else next(self._tokens)
        self._living[token] = buffer
        return hal.DeviceBuffer(buffer, token)


class _ConsumingModel(ReferencePreparedModel):
    """A prepared model whose fenced executions consume their inputs."""

    def execute_fenced(self, request: Request, *rest: Any) -> hal.FencedExecutionResult:
        found = super().execute_fenced(request, *rest)
        if found.sync_fence is not None:
            found.sync_fence.wait(-1)
        for argument in request.inputs:
            pool = request.pools[argument.location.pool_index]
            if pool.pool is None and not argument.has_no_value:
                self.prepared.buffers.find(pool.token).invalidate()
        return found


class _SharingModel(ReferencePreparedModel):
    """A prepared model whose outputs go to scratch memory where a later one goes to the same buffer."""

    def _launch(self, request: Request, terms: Any) -> Any:
        pools, outputs, scratch = list(request.pools), list(request.outputs), []
        for place, argument in enumerate(outputs):
            index = argument.location.pool_index
            is_again = any(later.location.pool_index == index for later in outputs[place + 1 :])
            if 0 <= index < len(request.pools) and request.pools[index].pool is None and is_again:
                buffer: Any = self.prepared.buffers.find(request.pools[index].token)
                scratch.append(self.prepared.buffers.allocate(buffer.plan))
                outputs[place] = replace(argument, location=replace(argument.location, pool_index=len(pools)))
                pools.append(RequestMemoryPool(token=scratch[-1].token))
        return super()._launch(replace(request, outputs=tuple(outputs), pools=tuple(pools)), terms)


class _ForgettingModel(ReferencePreparedModel):
    """A prepared model that tells one shape too few."""

    def execute_synchronously(self, *arguments: Any) -> ExecutionResult:
        found = super().execute_synchronously(*arguments)
        return replace(found, output_shapes=found.output_shapes[:1])


_MODELS: dict[type[_Buffer], type[ReferencePreparedModel]] = {
    _ConsumedWhenFenced: _ConsumingModel,
    _ForgetsAShape: _ForgettingModel,
    _SharesOutputs: _SharingModel,
}


class _Device(ReferenceDevice):
    def __init__(self, context: Context, kind: type[_Buffer]) -> None:
        super().__init__(context, NEWEST)
        self._kind = kind
        self._buffers = _Buffers(context, kind)

    def _prepared(self, *arguments: Any) -> ReferencePreparedModel:
        made = super()._prepared(*arguments)
        return next((model(made.prepared) for kind, model in _MODELS.items() if issubclass(self._kind, kind)), made)

    def allocate(
        self,
        desc: BufferDesc,
        prepared_models: tuple[hal.PreparedModel | None, ...],
        input_roles: tuple[BufferRole, ...],
        output_roles: tuple[BufferRole, ...],
    ) -> hal.DeviceBuffer:
        roles = [input_roles, output_roles]
        if issubclass(self._kind, _TakesAliases):
            roles = [_without_aliases(prepared_models, one) for one in roles]
        if issubclass(self._kind, _TakesProbabilities):
            roles = [tuple(BufferRole(r.model_index, r.io_index, r.probability or 1.0) for r in one) for one in roles]
        if not issubclass(self._kind, _MeetsDimensions) or not desc.dimensions:
            return super().allocate(desc, prepared_models, *roles)
        plan = plan_of(BufferDesc(()), prepared_models, roles[0], roles[1], self._buffers)
        is_tensor = OPERAND_TYPES[plan.operand_type].is_tensor
        wanted = desc.dimensions if is_tensor and not any(size < 0 for size in desc.dimensions) else plan.dimensions
        return self._buffers.allocate(Plan(plan.operand_type, wanted, plan.roles))


def _without_aliases(models: Sequence[Any], roles: tuple[BufferRole, ...]) -> tuple[BufferRole, ...]:
    """Roles without those whose model stands in the list before, with the same role."""
    kept: list[BufferRole] = []
    for role in roles:
        same = [
            one
            for one in kept
            if one.io_index == role.io_index
            and one.model_index != role.model_index
            and all(0 <= index < len(models) for index in (one.model_index, role.model_index))
            and models[one.model_index] is models[role.model_index]
        ]
        kept += [] if same else [role]
    return tuple(kept)


def _create(context: Context) -> Subject:
    kind = BUGS[context.options["bug"]]
    with_memory = {"kept": weakref.WeakKeyDictionary() if kind in _BY_BUFFER else {}, "memory": context.memory}
    return Subject(device=_Device(context, type(kind.__name__, (kind,), with_memory)))


_BY_BUFFER = (_KeepsFailedOutput, _SizeOfFirst)
_OPTIONS = {"bug": f"one of {', '.join(BUGS)}"}
plugin = Plugin(Manifest(name="buffers", vendor="tests", version="1", hal_version=NEWEST, options=_OPTIONS), _create)
