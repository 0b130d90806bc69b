"""Requests of vectors whose inputs and outputs lie in buffers of the device."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING

import msgspec
from msgspec.structs import replace

from npu_conformance.corpus.wire_model import BuiltRequest, Region
from npu_conformance.harness.judge import checks
from npu_conformance.harness.judge.verdicts import NotApplicable
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.harness.subject.pools import Pool
from npu_conformance.specs.errors import ServiceError
from npu_conformance.specs.neuralnetworks.enums import ErrorStatus
from npu_conformance.specs.neuralnetworks.hal import DeviceBuffer, PreparedModel
from npu_conformance.specs.neuralnetworks.types import (
    BufferDesc,
    BufferRole,
    DataLocation,
    Request,
    RequestArgument,
    RequestMemoryPool,
)
from npu_conformance.vts.lib.memory_domains.declining import judge_declined

if TYPE_CHECKING:
    from npu_conformance.corpus.vectors import Example


class BufferedRequest(msgspec.Struct, frozen=True):
    """A request with buffers. They live as long as this object."""

    request: Request
    _context: CaseContext
    _inputs: tuple[DeviceBuffer, ...]
    _outputs: tuple[tuple[Region, DeviceBuffer], ...]
    _pool: Pool

    def collect(self) -> None:
        """Copy outputs out of their buffers to where they would lie in the pool of outputs."""
        for region, made in self._outputs:
            with closing(self._context.pool(region.length)) as copy:
                try:
                    made.buffer.copy_to(copy.memory)
                except ServiceError as error:
                    checks.status(error.status, {ErrorStatus.NONE}, "copyTo of an output")
                self._pool.write(region.offset, copy.read(0, region.length))


def request_in_buffers(
    context: CaseContext,
    prepared_model: PreparedModel,
    built: BuiltRequest,
    example: Example,
    inputs: Pool,
    outputs: Pool,
) -> BufferedRequest:
    """The request of a vector with every input and output in a buffer of the device, as AOSP's MemoryDomainTest does.

    inputs, outputs: pools for `built`, filled. What the device declines to allocate a buffer for, what is omitted and
    what has no elements stays there. After an execution that succeeded, `collect` brings the outputs to the pool of
    outputs, so that it can be read as if they had been there. NotApplicable where the device has no buffer at all,
    Failed where allocate or copyFrom fails in another way.
    """
    plain = built.request(RequestMemoryPool(pool=inputs.memory), RequestMemoryPool(pool=outputs.memory))
    maker = _Maker(context, prepared_model, [*plain.pools])
    filled, taken, vector = [], [], built.vector
    arguments_in, arguments_out = list(plain.inputs), list(plain.outputs)
    for index, name in enumerate(vector.inputs):
        shape = example.inputs[name].shape if name in example.inputs else ()
        region = built.inputs.get(name)
        made = maker.allocate(index, shape, is_input=True) if region is not None and region.length else None
        if made is not None and region is not None:
            _fill(context, made, built.input_data[region.offset : region.offset + region.length], shape)
            filled.append(made)
            arguments_in[index] = maker.argument(made, arguments_in[index])
    for index, name in enumerate(vector.outputs):
        array = example.outputs.get(name)
        made = maker.allocate(index, array.shape, is_input=False) if array is not None and array.nbytes else None
        if made is not None:
            taken.append((built.outputs[name], made))
            arguments_out[index] = maker.argument(made, arguments_out[index])
    if not filled and not taken:
        raise NotApplicable("the device declines to allocate a buffer for any input or output")
    request = Request(tuple(arguments_in), tuple(arguments_out), tuple(maker.pools))
    return BufferedRequest(request, context, tuple(filled), tuple(taken), outputs)


class _Maker(msgspec.Struct, frozen=True):
    """Allocates buffers of one role each. pools: those of the request, to which their tokens are appended."""

    context: CaseContext
    prepared_model: PreparedModel
    pools: list[RequestMemoryPool]

    def allocate(self, index: int, shape: tuple[int, ...], *, is_input: bool) -> DeviceBuffer | None:
        """A buffer of this shape; None where the device declines."""
        roles = (BufferRole(0, index, 1.0),)
        parts = (roles, ()) if is_input else ((), roles)
        try:
            return self.context.device.allocate(BufferDesc(shape), (self.prepared_model,), *parts)
        except ServiceError as error:
            judge_declined(self.context, error)
            return None

    def argument(self, made: DeviceBuffer, plain: RequestArgument) -> RequestArgument:
        """The argument in the buffer; dimensions stay as they were."""
        self.pools.append(RequestMemoryPool(token=made.token))
        return replace(plain, location=DataLocation(len(self.pools) - 1))


def _fill(context: CaseContext, made: DeviceBuffer, data: bytes, shape: tuple[int, ...]) -> None:
    with closing(context.pool(len(data))) as pool:
        pool.write(0, data)
        try:
            made.buffer.copy_from(pool.memory, shape)
        except ServiceError as error:
            checks.status(error.status, {ErrorStatus.NONE}, "copyFrom of an input")
