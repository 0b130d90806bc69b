"""Whether a model or request can be handed to a driver at all: its numbers fit the types of the version's interface.

HIDL has uint32 where AIDL has int32 or int64 (the .hal and .aidl files of android.hardware.neuralnetworks). What does
not fit would reach a driver cut to something else, so that nothing follows from its answer.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from npu_conformance.specs.neuralnetworks.types import (
    DataLocation,
    Model,
    Operand,
    RequestArgument,
    Subgraph,
)
from npu_conformance.specs.versions import Version


class _Limits(NamedTuple):
    """From where to below where numbers lie. sizes: of dimensions and indexes. bytes: of places in memory."""

    sizes: tuple[int, int]
    bytes: tuple[int, int]
    codes: tuple[int, int]
    consumers: tuple[int, int]


_INT32 = (-(1 << 31), 1 << 31)
_INT64 = (-(1 << 63), 1 << 63)
_UINT32 = (0, 1 << 32)


def is_sendable(model: Model, version: Version) -> bool:
    """True where every number of a model fits."""
    limits = _limits_of(version)
    return all(_graph(graph, limits) for graph in (model.main, *model.referenced))


def are_sendable(arguments: Iterable[RequestArgument], version: Version) -> bool:
    """True where every number of the arguments of a request fits."""
    limits = _limits_of(version)
    return all(_argument(argument, limits) for argument in arguments)


@functools.cache
def _limits_of(version: Version) -> _Limits:
    sizes, places = (_INT32, _INT64) if version.is_aidl else (_UINT32, _UINT32)
    # From 1.2 on the high half of a code is the prefix of an extension: a negative code is read as one that has many.
    codes = (0, 1 << 31) if version >= Version.V1_2 else _INT32
    # AIDL has no number of consumers.
    return _Limits(sizes, places, codes, _INT64 if version.is_aidl else _UINT32)


def _graph(graph: Subgraph, limits: _Limits) -> bool:
    low, high = limits.codes
    return (
        all(_operand(operand, limits) for operand in graph.operands)
        and all(low <= operation.type < high for operation in graph.operations)
        and all(_all_fit((*part.inputs, *part.outputs), limits.sizes) for part in graph.operations)
        and _all_fit((*graph.input_indexes, *graph.output_indexes), limits.sizes)
    )


def _operand(operand: Operand, limits: _Limits) -> bool:
    low, high = limits.consumers
    channels = operand.extra_params.channel_quant if operand.extra_params is not None else None
    return (
        _INT32[0] <= operand.type < _INT32[1]
        and _INT32[0] <= operand.zero_point < _INT32[1]
        and _INT32[0] <= operand.lifetime < _INT32[1]
        and low <= operand.number_of_consumers < high
        and _all_fit(operand.dimensions, limits.sizes)
        and _location(operand.location, limits)
        and (channels is None or _all_fit((channels.channel_dim,), limits.sizes))
    )


def _argument(argument: RequestArgument, limits: _Limits) -> bool:
    return _all_fit(argument.dimensions, limits.sizes) and _location(argument.location, limits)


def _location(location: DataLocation, limits: _Limits) -> bool:
    (first, last), (low, high) = limits.sizes, limits.bytes
    return (
        first <= location.pool_index < last
        and low <= location.offset < high
        and low <= location.length < high
        and low <= location.padding < high
    )


def _all_fit(numbers: Sequence[int], fitting: tuple[int, int]) -> bool:
    return not numbers or (fitting[0] <= min(numbers) and max(numbers) < fitting[1])
