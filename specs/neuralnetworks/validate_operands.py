"""Rules of single operands, O1 to O15: type, dimensions, quantisation, extra parameters, location, lifetime."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable

from npu_conformance.specs.neuralnetworks.enums import OperandLifeTime, OperandType
from npu_conformance.specs.neuralnetworks.operand_types import ScaleRule, element_count
from npu_conformance.specs.neuralnetworks.types import Operand, Subgraph
from npu_conformance.specs.neuralnetworks.validate_rules import RULES
from npu_conformance.specs.neuralnetworks.validate_scope import (
    Kind,
    ModelUnderValidation,
    VersionLimits,
    extension_prefix,
    operand_label,
)

COPY, POOL = int(OperandLifeTime.CONSTANT_COPY), int(OperandLifeTime.CONSTANT_POOL)
REFERENCE = int(OperandLifeTime.SUBGRAPH)
_LAST_LOCATION = 2**32 - 1
_SUBGRAPH_TYPE = int(OperandType.SUBGRAPH)

Check = Callable[[Operand, Kind, ModelUnderValidation], str | None]
"""Says what is wrong with an operand, or None."""


def check_operands(scope: ModelUnderValidation, number: int, graph: Subgraph) -> None:
    """Report what is wrong with each operand of a subgraph by itself."""
    known = scope.limits.kinds
    for index, operand in enumerate(graph.operands):
        kind = known.get(operand.type) or scope.kind(operand.type)
        if kind is None:
            message = f"operand {index}: HAL {scope.limits.version} has no operand type {operand.type}"
            scope.report("MODEL.O1", message, number, operand=index)
            continue
        for rule, check in _checks_of(scope.limits, kind, operand.lifetime, scope.text_rules):
            problem = check(operand, kind, scope)
            if problem is not None:
                scope.report(rule, f"{operand_label(index, operand)}: {problem}", number, operand=index)


@functools.lru_cache(maxsize=4096)
def _checks_of(limits: VersionLimits, kind: Kind, lifetime: int, text_rules: bool) -> tuple[tuple[str, Check], ...]:
    """The checks that can find anything to report in such an operand: most of `_CHECKS` concern few operands."""
    reported = [one for one in _CHECKS if text_rules or RULES[one[0]].latest != "text"]
    return tuple((rule, check) for rule, concerns, check in reported if concerns(kind, lifetime, limits))


def _scalar_dimensions(operand: Operand, kind: Kind, scope: ModelUnderValidation) -> str | None:
    if operand.dimensions:
        return f"a scalar has no dimensions, found {list(operand.dimensions)}"
    return None


def _tensor_rank(operand: Operand, kind: Kind, scope: ModelUnderValidation) -> str | None:
    if operand.dimensions:
        return None
    if not scope.limits.has_unknown_rank:
        return f"a tensor of unknown rank needs HAL 1.2, not {scope.limits.version}"
    return "a constant tensor must have dimensions" if operand.lifetime in (COPY, POOL) else None


def _dimension_range(operand: Operand, kind: Kind, scope: ModelUnderValidation) -> str | None:
    for dimension in operand.dimensions:
        if not 0 <= dimension <= scope.limits.largest:
            return f"dimension {dimension} is not in 0..{scope.limits.largest}"
    return None


def _scale(operand: Operand, kind: Kind, scope: ModelUnderValidation) -> str | None:
    # Written so that NaN breaks "must be 0" only, as in the shared validator; O4F has the rest.
    scale = operand.scale
    if kind.scale is ScaleRule.ZERO:
        wrong = scale != 0.0
    elif kind.scale is ScaleRule.POSITIVE:
        wrong = scale <= 0.0
    else:
        wrong = kind.scale is ScaleRule.NOT_NEGATIVE and scale < 0.0
    return f"scale {scale} {kind.scale.value}" if wrong else None


def _finite_scale(operand: Operand, kind: Kind, scope: ModelUnderValidation) -> str | None:
    if math.isfinite(operand.scale):
        return None
    return f"scale {operand.scale} is not a finite number"


def _zero_point(operand: Operand, kind: Kind, scope: ModelUnderValidation) -> str | None:
    assert kind.zero_points is not None
    low, high = kind.zero_points
    if low <= operand.zero_point <= high:
        return None
    return f"zero point {operand.zero_point} must be {low if low == high else f'in {low}..{high}'}"


def _extra_parameters(operand: Operand, kind: Kind, scope: ModelUnderValidation) -> str | None:
    extra = operand.extra_params
    has_channels = extra is not None and extra.channel_quant is not None
    has_blob = extra is not None and extra.extension is not None
    if kind.is_per_channel:
        return None if has_channels and not has_blob else "per-channel quantisation parameters are missing"
    if has_channels:
        return "per-channel quantisation parameters do not belong to this type"
    return "extension parameters do not belong to this type" if has_blob and not kind.is_extension else None


def _float16_extra_parameters(operand: Operand, kind: Kind, scope: ModelUnderValidation) -> str | None:
    extra = operand.extra_params
    if extra is None or (extra.channel_quant is None and extra.extension is None):
        return None
    return "extra parameters do not belong to this type"


def _channel_scales(operand: Operand, kind: Kind, scope: ModelUnderValidation) -> str | None:
    if operand.extra_params is None or operand.extra_params.channel_quant is None:
        return None
    quant, rank = operand.extra_params.channel_quant, len(operand.dimensions)
    if not 0 <= quant.channel_dim < rank:
        return f"channel dimension {quant.channel_dim} does not exist in rank {rank}"
    size = operand.dimensions[quant.channel_dim]
    if size == 0:
        return f"channel dimension {quant.channel_dim} has an unknown size"
    if len(quant.scales) != size:
        return f"{len(quant.scales)} scales for {size} channels"
    wrong = next((scale for scale in quant.scales if scale <= 0.0), None)
    return None if wrong is None else f"channel scale {wrong} must be greater than 0"


def _copy_location(operand: Operand, kind: Kind, scope: ModelUnderValidation) -> str | None:
    if operand.location.pool_index != 0:
        return f"pool index {operand.location.pool_index} of a constant in the model must be 0"
    return _outside(operand, len(scope.model.operand_values), "operand values")


def _pool_location(operand: Operand, kind: Kind, scope: ModelUnderValidation) -> str | None:
    index, pools = operand.location.pool_index, scope.model.pools
    if not 0 <= index < len(pools):
        return f"pool {index} does not exist, the model has {len(pools)}"
    return _outside(operand, pools[index].size, f"pool {index}")


def _outside(operand: Operand, size: int, what: str) -> str | None:
    offset, length = operand.location.offset, operand.location.length
    if offset < 0 or length < 0 or offset > _LAST_LOCATION or length > _LAST_LOCATION:
        return f"offset {offset} and length {length} must be in 0..{_LAST_LOCATION}"
    if offset + length > size:
        return f"offset {offset} + length {length} is outside of the {size} bytes of {what}"
    return None


def _empty_location(operand: Operand, kind: Kind, scope: ModelUnderValidation) -> str | None:
    location = operand.location
    if location.pool_index == 0 and location.offset == 0 and location.length == 0:
        return None
    return f"location of an operand without a stored value must be 0, found {_fields(operand)}"


def _reference_location(operand: Operand, kind: Kind, scope: ModelUnderValidation) -> str | None:
    location, count = operand.location, len(scope.model.referenced)
    if location.pool_index != 0 or location.length != 0:
        return f"a subgraph reference has an offset only, found {_fields(operand)}"
    if not 0 <= location.offset < count:
        return f"referenced subgraph {location.offset} does not exist, the model has {count}"
    return None


def _fields(operand: Operand) -> str:
    location = operand.location
    return f"pool {location.pool_index}, offset {location.offset}, length {location.length}"


def _lifetime(operand: Operand, kind: Kind, scope: ModelUnderValidation) -> str | None:
    last = REFERENCE if scope.limits.has_subgraphs else int(OperandLifeTime.NO_VALUE)
    if not 0 <= operand.lifetime <= last:
        return f"HAL {scope.limits.version} has no lifetime {operand.lifetime}"
    if (operand.lifetime == REFERENCE) != (operand.type == _SUBGRAPH_TYPE):
        return "the type SUBGRAPH and the lifetime SUBGRAPH come together only"
    return None


def _constant_length(operand: Operand, kind: Kind, scope: ModelUnderValidation) -> str | None:
    if kind.is_tensor and not operand.dimensions:
        return None
    size = kind.size * element_count(operand.dimensions)
    if operand.location.length != size:
        return f"length {operand.location.length} of a constant with {size} bytes"
    return None


def _constant_dimensions(operand: Operand, kind: Kind, scope: ModelUnderValidation) -> str | None:
    if 0 in operand.dimensions:
        return "a constant must have known dimensions"
    return None


def _padding(operand: Operand, kind: Kind, scope: ModelUnderValidation) -> str | None:
    if operand.location.padding != 0:
        return f"padding {operand.location.padding} must be 0"
    return None


def _extension_mapped(operand: Operand, kind: Kind, scope: ModelUnderValidation) -> str | None:
    prefix = extension_prefix(operand.type)
    if any(mapping.prefix == prefix for mapping in scope.model.extension_name_to_prefix):
        return None
    return f"the model maps no extension to prefix {prefix}"


def _any(kind: Kind, lifetime: int, limits: VersionLimits) -> bool:
    return True


def _forgotten(kind: Kind) -> bool:
    """Types whose extra parameters the shared validator does not look at."""
    return kind.is_oem or kind.name == OperandType.FLOAT16.name


_CHECKS: tuple[tuple[str, Callable[[Kind, int, VersionLimits], bool], Check], ...] = (
    ("MODEL.O2", lambda kind, _, limits: kind.is_scalar, _scalar_dimensions),
    ("MODEL.O3", lambda kind, _, limits: kind.is_tensor, _tensor_rank),
    ("MODEL.O15", _any, _dimension_range),
    ("MODEL.O4", lambda kind, _, limits: kind.scale is not ScaleRule.UNCHECKED, _scale),
    ("MODEL.O4F", lambda kind, _, limits: kind.scale in (ScaleRule.NOT_NEGATIVE, ScaleRule.POSITIVE), _finite_scale),
    ("MODEL.O5", lambda kind, _, limits: kind.zero_points is not None, _zero_point),
    ("MODEL.O6", lambda kind, _, limits: limits.has_extensions and not _forgotten(kind), _extra_parameters),
    ("MODEL.O6H", lambda kind, _, limits: kind.name == OperandType.FLOAT16.name, _float16_extra_parameters),
    ("MODEL.O7", lambda kind, _, limits: kind.is_per_channel, _channel_scales),
    ("MODEL.O8", lambda _, lifetime, limits: lifetime == COPY, _copy_location),
    ("MODEL.O9", lambda _, lifetime, limits: lifetime == POOL, _pool_location),
    ("MODEL.O10", lambda _, lifetime, limits: lifetime not in (COPY, POOL, REFERENCE), _empty_location),
    ("MODEL.O11", lambda _, lifetime, limits: lifetime == REFERENCE and limits.has_subgraphs, _reference_location),
    ("MODEL.O12", _any, _lifetime),
    ("MODEL.O13", lambda kind, lifetime, limits: lifetime in (COPY, POOL) and kind.size > 0, _constant_length),
    ("MODEL.O13D", lambda _, lifetime, limits: lifetime in (COPY, POOL), _constant_dimensions),
    ("MODEL.O14", lambda _, lifetime, limits: limits.is_aidl, _padding),
    ("MODEL.X5", lambda kind, _, limits: kind.is_extension, _extension_mapped),
)
"""Rule, operands that it concerns, and check, in the order of the shared validator."""
