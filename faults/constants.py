"""Faults in where constants of a model are looked for: in which pool, at which offset, and in which of its forms."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

from msgspec.structs import replace

from npu_conformance.faults.boundary import FaultyDevice, FaultyPreparedModel
from npu_conformance.faults.factories import fault
from npu_conformance.specs.errors import ServiceError
from npu_conformance.specs.neuralnetworks import types
from npu_conformance.specs.neuralnetworks.enums import ErrorStatus, OperandLifeTime, OperandType
from npu_conformance.specs.versions import Version

_POOL = OperandLifeTime.CONSTANT_POOL
_PAGE = 4096


class _Relocating(FaultyDevice):
    """Looks for constants of pools elsewhere when it prepares a model.

    only: the types of operands with which it does so; none for all of them. lifetime: of the constants that it means.
    """

    only: ClassVar[tuple[OperandType, ...]] = ()
    lifetime: ClassVar[OperandLifeTime] = _POOL

    def prepare_model(self, model: types.Model, *rest: Any) -> None:
        super().prepare_model(self._relocated(model), *rest)

    def prepare_model_with_config(self, model: types.Model, *rest: Any) -> None:
        super().prepare_model_with_config(self._relocated(model), *rest)

    def _relocated(self, model: types.Model) -> types.Model:
        return replace(model, main=self._in(model.main), referenced=tuple(self._in(one) for one in model.referenced))

    def _in(self, subgraph: types.Subgraph) -> types.Subgraph:
        return replace(subgraph, operands=tuple(self._operand(one) for one in subgraph.operands))

    def _operand(self, operand: types.Operand) -> types.Operand:
        if operand.lifetime != self.lifetime or (self.only and operand.type not in self.only):
            return operand
        return replace(operand, location=self.place(operand.location))

    def place(self, location: types.DataLocation) -> types.DataLocation:
        """Where it looks for what lies at a location."""
        return replace(location, offset=0)


class _FloatsAtZero(_Relocating):
    only = (OperandType.TENSOR_FLOAT32,)


class _HalfsAtZero(_Relocating):
    only = (OperandType.TENSOR_FLOAT16,)


class _IntegersAtZero(_Relocating):
    only = (OperandType.TENSOR_INT32,)


class _BytesAtZero(_Relocating):
    only = (OperandType.TENSOR_QUANT8_ASYMM, OperandType.TENSOR_QUANT8_ASYMM_SIGNED)


class _ChannelsAtZero(_Relocating):
    only = (OperandType.TENSOR_QUANT8_SYMM_PER_CHANNEL,)


class _ScalarsAtZero(_Relocating):
    only = (OperandType.INT32, OperandType.FLOAT32, OperandType.BOOL)


class _FirstPool(_Relocating):
    def place(self, location: types.DataLocation) -> types.DataLocation:
        return replace(location, pool_index=0)


class _Words(_Relocating):
    def place(self, location: types.DataLocation) -> types.DataLocation:
        return replace(location, offset=location.offset & ~3)


class _FloatsInWords(_Words):
    only = (OperandType.TENSOR_FLOAT32,)


class _CopiedFloatsInWords(_FloatsInWords):
    lifetime = OperandLifeTime.CONSTANT_COPY


class _HalfsInTwos(_Relocating):
    only = (OperandType.TENSOR_FLOAT16,)

    def place(self, location: types.DataLocation) -> types.DataLocation:
        return replace(location, offset=location.offset & ~1)


class _InPage(_Relocating):
    def place(self, location: types.DataLocation) -> types.DataLocation:
        return replace(location, offset=location.offset % _PAGE)


class _OfBranches(_Relocating):
    def _relocated(self, model: types.Model) -> types.Model:
        return replace(model, referenced=tuple(self._in(one) for one in model.referenced))


class _Packed(_Relocating):
    """Takes constants for lying one behind the other."""

    def _in(self, subgraph: types.Subgraph) -> types.Subgraph:
        ends: dict[int, int] = {}
        operands = []
        for operand in subgraph.operands:
            if operand.lifetime == _POOL:
                pool, offset = operand.location.pool_index, ends.get(operand.location.pool_index, 0)
                ends[pool] = offset + -(-operand.location.length // 4) * 4
                operand = replace(operand, location=replace(operand.location, offset=offset))
            operands.append(operand)
        return replace(subgraph, operands=tuple(operands))


class _CopiedInstead(_Relocating):
    """Looks into the model where it has values of its own, too."""

    def _relocated(self, model: types.Model) -> types.Model:
        self._copied = len(model.operand_values)
        return super()._relocated(model)

    def _operand(self, operand: types.Operand) -> types.Operand:
        length, room = operand.location.length, self._copied
        if operand.lifetime != _POOL or not 0 < length <= room:
            return operand
        copied = types.DataLocation(length=length)
        return replace(operand, lifetime=int(OperandLifeTime.CONSTANT_COPY), location=copied)


class _Choosy(FaultyDevice):
    """Says that it supports a model, and cannot prepare it for where its constants lie."""

    def prepared(self, callback: Any, status: int, prepared_model: Any) -> None:
        if prepared_model is not None and self.refuses(prepared_model.model):
            status, prepared_model = ErrorStatus.GENERAL_FAILURE, None
        super().prepared(callback, status, prepared_model)

    def refuses(self, model: types.Model) -> bool:
        """Whether this is a model that it cannot prepare."""
        raise NotImplementedError


def _pooled(model: types.Model) -> Iterator[types.Operand]:
    for subgraph in (model.main, *model.referenced):
        yield from (operand for operand in subgraph.operands if operand.lifetime == _POOL)


class _MultiplesOf8(_Choosy):
    def refuses(self, model: types.Model) -> bool:
        return any(operand.location.offset % 8 for operand in _pooled(model))


class _MultiplesOf4(_Choosy):
    def refuses(self, model: types.Model) -> bool:
        return any(operand.location.offset % 4 for operand in _pooled(model))


class _NoScalars(_Choosy):
    def refuses(self, model: types.Model) -> bool:
        return any(operand.type in _ScalarsAtZero.only for operand in _pooled(model))


class _OnePool(_Choosy):
    def refuses(self, model: types.Model) -> bool:
        return len(model.pools) > 1


class _EveryPoolIsRead(_Choosy):
    def refuses(self, model: types.Model) -> bool:
        return len({operand.location.pool_index for operand in _pooled(model)}) < len(model.pools)


class _OneKindOfConstants(_Choosy):
    def refuses(self, model: types.Model) -> bool:
        return bool(model.operand_values) and bool(model.pools)


class _MappedOnce(FaultyPreparedModel):
    """Cannot map the memory of its constants again for a request."""

    def execute_synchronously(self, request: types.Request, *rest: Any) -> types.ExecutionResult:
        constants: Any = self.inner
        tokens = {pool.token for pool in constants.model.pools}
        if any(pool.pool is not None and pool.pool.token in tokens for pool in request.pools):
            raise ServiceError(ErrorStatus.GENERAL_FAILURE, "the memory is mapped already")
        return self.inner.execute_synchronously(request, *rest)


_CONVOLUTIONS = "vts.generated.CONV_2D.*"
_FOUND, _EXECUTED, _PREPARED = "NNHAL-MODEL-031 NNHAL-EXECUTE-001", "NNHAL-EXECUTE-001", "NNHAL-SUPPORT-005"
_ODD = "NNHAL-MEMORY-014"

FAULTS = (
    fault("offset-ignored", "Constants are looked for at the beginning of their pool.", _FOUND,
          "vts.generated.GATHER.*", _Relocating, family="constants"),
    fault("offset-of-floats-ignored", "Float constants are looked for at the beginning of their pool.", _FOUND,
          _CONVOLUTIONS, _FloatsAtZero, family="constants"),
    fault("offset-of-halfs-ignored", "Half-precision constants are looked for at the beginning of their pool.", _FOUND,
          "vts.generated.CONV_2D.float16*", _HalfsAtZero, family="constants"),
    fault("offset-of-integers-ignored", "Integer constants are looked for at the beginning of their pool.", _FOUND,
          "vts.generated.TRANSPOSE.*", _IntegersAtZero, family="constants"),
    fault("offset-of-bytes-ignored", "Quantised constants are looked for at the beginning of their pool.", _FOUND,
          _CONVOLUTIONS, _BytesAtZero, family="constants"),
    fault("offset-of-channels-ignored", "Filters with a scale for each channel are looked for at the beginning.",
          _FOUND, _CONVOLUTIONS, _ChannelsAtZero, family="constants"),
    fault("offset-of-scalars-ignored", "Scalars are looked for at the beginning of their pool.", _FOUND,
          "vts.generated.ADD.*", _ScalarsAtZero, family="constants"),
    fault("offset-of-branches-ignored", "Constants of referenced graphs are looked for at the beginning.", _FOUND,
          "vts.generated.IF.*", _OfBranches, Version.V1_3, family="constants"),
    fault("offset-in-words", "Offsets are rounded down to whole words.", _FOUND, _CONVOLUTIONS, _Words,
          family="constants"),
    fault("floats-in-words", "Offsets of float constants are rounded down to whole words.", _ODD,
          "vts.memory.odd_offsets.pooled_constant", _FloatsInWords, detected_as="quality-warning", family="constants"),
    fault("halfs-in-twos", "Offsets of half-precision constants are rounded down to even ones.", _ODD,
          "vts.memory.odd_offsets.pooled_constant", _HalfsInTwos, detected_as="quality-warning", family="constants"),
    fault("copied-floats-in-words", "Offsets of float constants in the model are rounded down to whole words.", _ODD,
          "vts.memory.odd_offsets.copied_constant", _CopiedFloatsInWords, detected_as="quality-warning",
          family="constants"),
    fault("offset-in-page", "Offsets are taken modulo the size of a page.", _FOUND, "vts.generated.ADD.*", _InPage,
          family="constants"),
    fault("packed", "Constants are taken for lying one behind the other.", _FOUND, _CONVOLUTIONS, _Packed,
          family="constants"),
    fault("of-the-first-pool", "All constants are looked for in the first pool.", _FOUND, "vts.generated.ADD.*",
          _FirstPool, family="constants"),
    fault("copied-instead", "Where a model has values of its own, all constants are looked for there.", _FOUND,
          _CONVOLUTIONS, _CopiedInstead, family="constants"),
    fault("at-multiples-of-8", "Constants at other offsets are supported, and not prepared.", _PREPARED,
          "vts.generated.ADD.*", _MultiplesOf8, family="constants"),
    fault("at-multiples-of-4", "Bytes at other offsets are supported, and not prepared.", _PREPARED, _CONVOLUTIONS,
          _MultiplesOf4, family="constants"),
    fault("no-scalars-in-pools", "Scalars in pools are supported, and not prepared.", _PREPARED,
          "vts.generated.ADD.*", _NoScalars, family="constants"),
    fault("in-one-pool", "Several pools are supported, and not prepared.", _PREPARED, "vts.generated.ADD.*", _OnePool,
          family="constants"),
    fault("pools-without-constants", "A pool that no constant lies in is supported, and not prepared.", _PREPARED,
          "vts.generated.ADD.*", _EveryPoolIsRead, family="constants"),
    fault("copied-or-pooled", "Constants of both kinds are supported, and not prepared.", _PREPARED, _CONVOLUTIONS,
          _OneKindOfConstants, family="constants"),
    fault("mapped-once", "The memory of constants cannot be that of a request.", _EXECUTED, "vts.generated.ADD.*",
          _MappedOnce, family="constants"),
)  # fmt: skip
