"""Mutations that AOSP's VTS does not try: places of constants, channels, lists, extensions, lifetimes, dimensions."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace

from npu_conformance.specs.neuralnetworks.enums import OperandLifeTime, OperandType
from npu_conformance.specs.neuralnetworks.operand_types import OPERAND_TYPES
from npu_conformance.specs.neuralnetworks.types import (
    DataLocation,
    ExtensionNameAndPrefix,
    Model,
    Operand,
    OperandExtraParams,
    SymmPerChannelQuantParams,
)
from npu_conformance.specs.versions import Version
from npu_conformance.vts.lib import edits
from npu_conformance.vts.lib.mutations.mutation import Mutation, spell

_LIFETIME = OperandLifeTime
_CONSTANTS = (_LIFETIME.CONSTANT_COPY, _LIFETIME.CONSTANT_POOL)
_NAME = "com.npu_conformance.unknown"


def location(model: Model, version: Version) -> Iterator[Mutation]:
    """Constants that reach outside their bytes, places where none belong (MODEL.O8 to O10)."""
    for index, operand in enumerate(model.main.operands):
        if operand.lifetime == _LIFETIME.CONSTANT_COPY:
            places = _outside(operand, len(model.operand_values), version)
            places["in_pool_1"] = replace(operand.location, pool_index=1)
        elif operand.lifetime in (_LIFETIME.CONSTANT_POOL, _LIFETIME.SUBGRAPH):
            places = {}
        else:
            strays = {"location": DataLocation(length=1), "offset": DataLocation(offset=4), "pool": DataLocation(1)}
            places = {f"stray_{name}": stray for name, stray in strays.items()}
        if version.is_aidl:
            places["padding"] = replace(operand.location, padding=4)
        for name, place in places.items():
            edited = edits.with_operand(model, index, location=place)
            yield Mutation(f"operand{index}.{name}", edited, breaks=_breaks(name, "MODEL-030"))


def pool_location(model: Model, version: Version) -> Iterator[Mutation]:
    """Constants that reach outside their pool, or lie in none (MODEL.O9)."""
    for index, operand in enumerate(model.main.operands):
        if operand.lifetime != _LIFETIME.CONSTANT_POOL:
            continue
        places = _outside(operand, model.pools[operand.location.pool_index].size, version)
        places["in_missing_pool"] = replace(operand.location, pool_index=len(model.pools))
        places["in_pool_2_31"] = replace(operand.location, pool_index=2**31 - 1)
        if version.is_aidl:
            places["in_pool_minus_1"] = replace(operand.location, pool_index=-1)
        for name, place in places.items():
            edited = edits.with_operand(model, index, location=place)
            yield Mutation(f"operand{index}.{name}", edited, breaks=_breaks(name, "MODEL-031"))
        yield Mutation(f"operand{index}.no_pools", replace(model, pools=()))


def _breaks(name: str, outside: str) -> tuple[str, ...]:
    """What a wrong place of this name breaks. outside: the requirement that constants lie where they can."""
    by_word = {
        "wraps": ("ROBUST-002", outside),
        "largest": ("ROBUST-002", outside),
        "_2_31": ("ROBUST-002", outside),
        "_2_32": ("MODEL-037",),
        "negative": ("MODEL-037",),
        "by_one": ("MODEL-034",),
        "stray": ("MODEL-032",),
        "padding": ("MODEL-036",),
    }
    return next((breaks for word, breaks in by_word.items() if word in name), (outside,))


def _has_size(operand: Operand) -> bool:
    """Whether the bytes of the operand's value are any of ours: an extension's are its vendor's."""
    return operand.type in OPERAND_TYPES and operand.location.length > 0


def _outside(operand: Operand, size: int, version: Version) -> dict[str, DataLocation]:
    """Places that break a rule for a constant in so many bytes, by name."""
    place = operand.location
    if not _has_size(operand):
        return {"beyond_values": replace(place, offset=size + 1)}
    places = {
        "beyond_values": replace(place, offset=size),
        "one_byte_beyond": replace(place, offset=size - place.length + 1),
        "short_by_one": replace(place, length=place.length - 1),
        "long_by_one": replace(place, offset=0, length=place.length + 1),
        "largest_offset": replace(place, offset=2**32 - 1),
        "offset_2_31": replace(place, offset=2**31),
        "offset_that_wraps": replace(place, offset=2**32 - place.length),
        "length_that_wraps": replace(place, offset=4, length=2**32 - 4),
    }
    if version.is_aidl:
        places["offset_2_32"] = replace(place, offset=2**32)
        places["negative_offset"] = replace(place, offset=-place.length)
        places["negative_length"] = replace(place, length=-place.length)
    return places


def channel_quantization(model: Model, version: Version) -> Iterator[Mutation]:
    """Per-channel parameters that are missing or do not fit the operand (NNHAL-MODEL-020 to -024)."""
    for index, operand in enumerate(model.main.operands):
        params = operand.extra_params.channel_quant if operand.extra_params else None
        if params is None:
            continue
        wrong = {
            "axis_beyond_rank": ("MODEL-021", replace(params, channel_dim=len(operand.dimensions))),
            "scale_too_many": ("MODEL-022", replace(params, scales=(*params.scales, 1.0))),
            "scale_too_few": ("MODEL-022", replace(params, scales=params.scales[1:])),
            "scale_0": ("MODEL-024", replace(params, scales=(0.0, *params.scales[1:]))),
            "scale_minus_1": ("MODEL-024", replace(params, scales=(-1.0, *params.scales[1:]))),
            "last_scale_0": ("MODEL-024", replace(params, scales=(*params.scales[:-1], 0.0))),
        }
        yield Mutation(f"operand{index}.no_scales", edits.with_operand(model, index, extra_params=None))
        for label, (breaks, invalid) in wrong.items():
            edited = edits.with_operand(model, index, extra_params=OperandExtraParams(channel_quant=invalid))
            yield Mutation(f"operand{index}.{label}", edited, breaks=(breaks,))


def extra_params(model: Model, version: Version) -> Iterator[Mutation]:
    """Extra parameters on types that take none (NNHAL-MODEL-025)."""
    stray = OperandExtraParams(channel_quant=SymmPerChannelQuantParams((1.0,), 0))
    for index, operand in enumerate(model.main.operands):
        # AOSP's validator has no rule for FLOAT16 scalars.
        if operand.extra_params is None and operand.type != OperandType.FLOAT16:
            yield Mutation(f"operand{index}.extra_params", edits.with_operand(model, index, extra_params=stray))


def graph_indexes(model: Model, version: Version) -> Iterator[Mutation]:
    """Lists of the graph's inputs and outputs that name an operand twice or none that exists (MODEL.G1)."""
    for field in ("input_indexes", "output_indexes"):
        indexes = getattr(model.main, field)
        missing = len(model.main.operands)
        yield Mutation(f"{field}.beyond", edits.with_main(model, **{field: (*indexes, missing)}))
        if indexes:
            twice = edits.with_main(model, **{field: (*indexes, indexes[0])})
            yield Mutation(f"{field}.twice", twice, breaks=("MODEL-053",))
            left_out = edits.with_main(model, **{field: indexes[1:]})
            yield Mutation(f"{field}.left_out", left_out, breaks=("MODEL-052",))


def lifetime_code(model: Model, version: Version) -> Iterator[Mutation]:
    """Lifetimes that the version does not have, or that belong to another type (MODEL.O12)."""
    for index, operand in enumerate(model.main.operands):
        if operand.lifetime != _LIFETIME.SUBGRAPH:
            for value in (-1, _LIFETIME.SUBGRAPH, _LIFETIME.SUBGRAPH + 1):
                edited = edits.with_operand(model, index, lifetime=int(value))
                breaks = "MODEL-029" if value == _LIFETIME.SUBGRAPH and version >= Version.V1_3 else "MODEL-028"
                yield Mutation(f"operand{index}.lifetime_{spell(value)}", edited, breaks=(breaks,))


def dimension(model: Model, version: Version) -> Iterator[Mutation]:
    """Negative sizes (MODEL.O15)."""
    for index, operand in enumerate(model.main.operands):
        for axis in range(len(operand.dimensions)):
            for name, size in {"minus_1": -1, "minus_2_31": -(2**31)}.items():
                edited = edits.with_operand(model, index, dimensions=edits.replaced(operand.dimensions, axis, size))
                yield Mutation(f"operand{index}.axis{axis}.{name}", edited)


def constant_size(model: Model, version: Version) -> Iterator[Mutation]:
    """Constants whose bytes and dimensions disagree, also where a product overflows (MODEL.O13)."""
    for index, operand in enumerate(model.main.operands):
        if operand.lifetime not in _CONSTANTS or not operand.dimensions or not _has_size(operand):
            continue
        wraps = ("ROBUST-002", "MODEL-034")
        shapes = {
            "size_unknown": (("MODEL-035",), edits.replaced(operand.dimensions, 0, 0)),
            "one_more": (("MODEL-034",), edits.replaced(operand.dimensions, 0, operand.dimensions[0] + 1)),
            # 641 times 6700417 is 2**32 + 1: the right number of bytes, counted in 32 bits.
            "wraps_32": (wraps, (*operand.dimensions, 641, 6700417)),
        }
        for name, (breaks, dimensions) in shapes.items():
            edited = edits.with_operand(model, index, dimensions=dimensions)
            yield Mutation(f"operand{index}.{name}", edited, breaks=breaks)
        wrapped = edits.as_constant(model, index, 0, dimensions=(2**16,) * 4)
        yield Mutation(f"operand{index}.wraps_64_to_nothing", wrapped, breaks=wraps)


def extension_mapping(model: Model, version: Version) -> Iterator[Mutation]:
    """Extensions that are not mapped one to one, or not to a legal prefix (MODEL.X2).

    HIDL forbids by its text a second name of a prefix and a second prefix of a name, and no more.
    """
    last = 2**15 - 1 if version.is_aidl else 2**16 - 1
    own = model.extension_name_to_prefix
    free = next(prefix for prefix in range(last, 0, -1) if all(one.prefix != prefix for one in own))
    first = ExtensionNameAndPrefix(_NAME, free)
    second = ExtensionNameAndPrefix(f"{_NAME}_2", free)
    between = ExtensionNameAndPrefix(f"{_NAME}_3", free - 2)
    wrong: dict[str, tuple[ExtensionNameAndPrefix, ...]] = {
        "prefix_twice": (first, second),
        "prefix_twice_apart": (first, between, second),
        "name_twice": (first, replace(first, prefix=free - 1)),
        "name_twice_apart": (first, between, replace(first, prefix=free - 1)),
    }
    if version.is_aidl:
        wrong["pair_twice"] = (first, first)
        for name, prefix in {"0": 0, "beyond": last + 1, "minus_1": -1}.items():
            wrong[f"prefix_{name}"] = (replace(first, prefix=prefix),)
    for name, pairs in wrong.items():
        breaks = "EXTENSION-004" if "twice" in name else "EXTENSION-003"
        mapped = replace(model, extension_name_to_prefix=(*own, *pairs))
        yield Mutation(f"mapping.{name}", mapped, breaks=(breaks,), text_alone=not version.is_aidl)
