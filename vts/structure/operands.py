"""Rules of single operands and pools: M3 and O1 to O15, at both sides of every limit."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from msgspec.structs import replace

from npu_conformance.harness.run.cases import Case
from npu_conformance.specs.neuralnetworks.enums import OperandLifeTime, OperandType, OperationType
from npu_conformance.specs.neuralnetworks.types import (
    DataLocation,
    Memory,
    Model,
    Operand,
    OperandExtraParams,
    Operation,
    SymmPerChannelQuantParams,
)
from npu_conformance.specs.versions import HIDL_LAST, NEWEST, OLDEST, Version
from npu_conformance.vts.lib import edits
from npu_conformance.vts.lib.structure_cases import cases_of
from npu_conformance.vts.lib.structure_models import (
    ADD,
    BRANCHES,
    COPY,
    EXTENSION,
    INPUT,
    MAPPING,
    OMITTED,
    OUTPUT,
    RELU,
    SIZE,
    Made,
    Row,
    beside,
    broken,
    graph,
    pooled,
    reference,
    sound,
    tensor,
    vague,
    with_operand,
)

_T, _V = OperandType, Version
_BYTES = {
    _T.FLOAT32: (4, _V.V1_0), _T.INT32: (4, _V.V1_0), _T.UINT32: (4, _V.V1_0), _T.TENSOR_FLOAT32: (4, _V.V1_0),
    _T.TENSOR_INT32: (4, _V.V1_0), _T.TENSOR_QUANT8_ASYMM: (1, _V.V1_0), _T.BOOL: (1, _V.V1_2),
    _T.TENSOR_QUANT16_SYMM: (2, _V.V1_2), _T.TENSOR_FLOAT16: (2, _V.V1_2), _T.TENSOR_BOOL8: (1, _V.V1_2),
    _T.FLOAT16: (2, _V.V1_2), _T.TENSOR_QUANT8_SYMM_PER_CHANNEL: (1, _V.V1_2), _T.TENSOR_QUANT16_ASYMM: (2, _V.V1_2),
    _T.TENSOR_QUANT8_SYMM: (1, _V.V1_2), _T.TENSOR_QUANT8_ASYMM_SIGNED: (1, _V.V1_3),
}  # fmt: skip
"""Bytes of a scalar or an element of each type, and since when there is such a type. SUBGRAPH and OEM have none."""

_ZERO_POINTS = {
    _T.TENSOR_QUANT8_ASYMM: (0, 255, "MODEL-015"),
    _T.TENSOR_QUANT8_ASYMM_SIGNED: (-128, 127, "MODEL-017"),
    _T.TENSOR_QUANT16_ASYMM: (0, 65535, "MODEL-016"),
    _T.TENSOR_QUANT8_SYMM: (0, 0, "MODEL-018"),
    _T.TENSOR_QUANT16_SYMM: (0, 0, "MODEL-018"),
}
_SCALARS = {_T.FLOAT32, _T.INT32, _T.UINT32, _T.BOOL, _T.FLOAT16}
_CHANNELS = OperandExtraParams(SymmPerChannelQuantParams((0.5, 0.25), 0))
_BLOB = OperandExtraParams(extension=b"x")


def _bare(kind: int, lifetime: int = INPUT, **fields: Any) -> Operand:
    """A sound operand of a type: two elements, scale 0.5 where it needs one."""
    sound: dict[str, Any] = {"dimensions": () if kind in _SCALARS else (2,)}
    if kind in _ZERO_POINTS:
        sound["scale"] = 0.5
    if kind == _T.TENSOR_QUANT8_SYMM_PER_CHANNEL:
        sound["extra_params"] = _CHANNELS
    return Operand(**{"type": kind, "lifetime": lifetime, **sound, **fields})


def _unused(kind: int, **fields: Any) -> Model:
    return beside(_bare(kind, **fields))


def _extended(**fields: Any) -> Model:
    """An unused operand of an extension's type."""
    return replace(_unused(EXTENSION, **fields), extension_name_to_prefix=MAPPING)


def cases() -> Iterator[Case]:
    """One case for each model."""
    return cases_of(rows())


def rows() -> Iterator[Row]:
    """Every row of the operand rules."""
    yield from _pools()
    yield from _types()
    yield from _dimensions()
    yield from _quantisation()
    yield from _channels()
    yield from _constants()
    yield from _unspecified()
    yield from _locations()


def _pools() -> Iterator[Row]:
    yield sound("M3", "pool", pooled, "MODEL-031")
    yield sound("M3", "unused_pool", lambda pool: replace(RELU, pools=(pool,)))
    for kind, until in {"no_such_kind": NEWEST, "hardware_buffer_blob": _V.V1_1, "hardware_buffer": _V.V1_1}.items():
        yield broken("M3", f"unused_{kind}", _with_pool(kind=kind), "MEMORY-004", until=until)
        yield broken("M3", f"third_{kind}", _with_third_pool(kind=kind), "MEMORY-004", until=until)
    for name, fields in {"size": {"size": -1}, "offset": {"offset": -1}}.items():
        yield broken("M3", f"negative_{name}", _with_pool(**fields), "MEMORY-009", since=_V.FL5)


def _with_pool(**fields: Any) -> Made:
    """The smallest model with a pool that nothing lies in and that has some fields changed."""
    return lambda pool: replace(RELU, pools=(replace(pool, **fields),))


def _with_third_pool(**fields: Any) -> Made:
    """The same, behind two sound pools."""
    return lambda pool: replace(RELU, pools=(pool, pool, replace(pool, **fields)))


def _rankless(pool: Memory) -> Model:
    return with_operand(pooled(pool), 1, dimensions=())


def _types() -> Iterator[Row]:
    for kind, (_, since) in _BYTES.items():
        yield sound("O1", kind.name.lower(), _unused(kind), "MODEL-056", since=since)
        if since > OLDEST:
            yield broken("O1", f"{kind.name.lower()}_too_old", _unused(kind), "MODEL-002", until=_before(since))
    for code in (16, 9999):
        yield broken("O1", f"type_{code}", _unused(code), "MODEL-005")
    yield broken("O1", "type_10002", _unused(10002), "MODEL-005", until=HIDL_LAST)
    yield broken("O1", "type_minus_1", _unused(-1), "MODEL-003", since=_V.FL5)
    yield broken("O1", "sign_bit", _unused(1 << 31), "MODEL-003", "EXTENSION-003", since=_V.FL5)
    yield broken("O1", "extension_too_old", _unused(EXTENSION), "MODEL-002", until=_V.V1_1)
    yield broken("O1", "referenced_too_old", beside(reference(0)), "MODEL-002", until=_V.V1_2)
    for kind in (_T.OEM, _T.TENSOR_OEM_BYTE):
        dimensions = (2,) if kind is _T.TENSOR_OEM_BYTE else ()
        model = _unused(kind, dimensions=dimensions)
        yield sound("O1", kind.name.lower(), model, until=HIDL_LAST)
        yield broken("O1", f"{kind.name.lower()}_in_aidl", model, "MODEL-004", since=_V.FL5)
    vague = _unused(_T.TENSOR_OEM_BYTE, scale=-3.0, zero_point=9)
    yield sound("O4", "oem_with_any_scale", vague, until=HIDL_LAST)
    yield sound("O1", "extension", _extended(), "EXTENSION-001", since=_V.V1_2)


def _before(version: Version) -> Version:
    return max(one for one in Version if one < version)


def _dimensions() -> Iterator[Row]:
    for kind, (_, since) in _BYTES.items():
        if kind in _SCALARS:
            model = _unused(kind, dimensions=(1,))
            yield broken("O2", f"{kind.name.lower()}_rank_1", model, "MODEL-007", since=since)
    yield broken("O2", "oem_rank_1", _unused(_T.OEM, dimensions=(1,)), "MODEL-007", until=HIDL_LAST)
    rankless = _unused(_T.TENSOR_FLOAT32, dimensions=())
    yield broken("O3", "unknown_rank", rankless, "MODEL-008", until=_V.V1_1)
    yield sound("O3", "unknown_rank_of_input", rankless, "MODEL-009", since=_V.V1_2)
    temporary = with_operand(ADD, 3, dimensions=())
    yield sound("O3", "unknown_rank_of_temporary", temporary, "MODEL-009", since=_V.V1_2)
    yield broken("O3", "constant_of_unknown_rank", with_operand(ADD, 1, dimensions=()), "MODEL-010", since=_V.V1_2)
    yield broken("O3", "constant_in_pool_of_unknown_rank", _rankless, "MODEL-010", since=_V.V1_2)
    yield sound("O15", "unknown_size_of_input", with_operand(ADD, 0, dimensions=(0,)), "MODEL-060")
    yield sound("O15", "unknown_size_of_temporary", with_operand(ADD, 3, dimensions=(0,)), "MODEL-060")
    for name, size in {"minus_1": -1, "minus_2_31": -(2**31), "2_31": 2**31}.items():
        model = _unused(_T.TENSOR_QUANT8_ASYMM, dimensions=(size,))
        yield broken("O15", f"dimension_{name}", model, "MODEL-011", since=_V.FL5)
    for since, until, power in ((_V.V1_0, HIDL_LAST, 32), (_V.FL5, NEWEST, 31)):
        model = _unused(_T.TENSOR_QUANT8_ASYMM, dimensions=(2**power - 1,))
        yield sound("O15", f"dimension_2_{power}_less_1", model, since=since, until=until)


def _quantisation() -> Iterator[Row]:
    for kind, (_, since) in _BYTES.items():
        name = kind.name.lower()
        if kind in _ZERO_POINTS:
            low, high, requirement = _ZERO_POINTS[kind]
            for point in (low - 1, high + 1):
                model = _unused(kind, zero_point=point)
                yield broken("O5", f"{name}_{_spell(point)}", model, requirement, since=since)
            for point in {low, high}:
                model = _unused(kind, zero_point=point)
                yield sound("O5", f"{name}_{_spell(point)}", model, requirement, since=since)
            for scale in (0.0, -0.5):
                model = _unused(kind, scale=scale)
                yield broken("O4", f"{name}_{_spell(scale)}", model, "MODEL-014", since=since)
            yield sound("O4", f"{name}_tiny", _unused(kind, scale=2.0**-100), "MODEL-014", since=since)
        else:
            for point in (-1, 1):
                model = _unused(kind, zero_point=point)
                yield broken("O5", f"{name}_{_spell(point)}", model, "MODEL-019", since=since)
            scales = (-0.5,) if kind is _T.TENSOR_INT32 else (-0.5, 0.5)
            requirement = "MODEL-013" if kind is _T.TENSOR_INT32 else "MODEL-012"
            for scale in scales:
                model = _unused(kind, scale=scale)
                yield broken("O4", f"{name}_{_spell(scale)}", model, requirement, since=since)
    yield sound("O4", "tensor_int32_one_half", _unused(_T.TENSOR_INT32, scale=0.5), "MODEL-013")
    yield broken("O4", "float_not_a_number", _unused(_T.TENSOR_FLOAT32, scale=math.nan), "MODEL-012")
    for fields in ({"scale": 0.5}, {"zero_point": 1}):
        rule = "O4" if "scale" in fields else "O5"
        yield broken(rule, "extension", _extended(**fields), "MODEL-027", since=_V.V1_2)
        model = edits.with_operand(BRANCHES, 1, **fields)
        yield broken(rule, "reference", model, "MODEL-012", "MODEL-019", since=_V.V1_3)


def _spell(value: float) -> str:
    words = {0.0: "0", 0.5: "one_half"}.get(abs(value), f"{abs(value):g}")
    return f"minus_{words}" if value < 0 else words


def _channels() -> Iterator[Row]:
    kind, since = _T.TENSOR_QUANT8_SYMM_PER_CHANNEL, _V.V1_2
    wrong: dict[str, tuple[tuple[float, ...], int, str]] = {
        "axis_2": ((0.5, 0.25), 2, "MODEL-021"),
        "too_few": ((0.5,), 0, "MODEL-022"),
        "too_many": ((0.5, 0.25, 1.0), 0, "MODEL-022"),
        "last_scale_0": ((0.5, 0.0), 0, "MODEL-024"),
        "first_scale_negative": ((-0.5, 0.25), 0, "MODEL-024"),
    }
    for name, (scales, axis, requirement) in wrong.items():
        extra = OperandExtraParams(SymmPerChannelQuantParams(scales, axis))
        model = _unused(kind, extra_params=extra, dimensions=(2, 3))
        yield broken("O7", name, model, requirement, since=since)
    negative = OperandExtraParams(SymmPerChannelQuantParams((0.5, 0.25), -1))
    model = _unused(kind, extra_params=negative, dimensions=(3, 2))
    yield broken("O7", "axis_minus_1", model, "MODEL-021", since=_V.FL5)
    yield broken("O7", "unknown_size", _unused(kind, dimensions=(0,)), "MODEL-023", since=since)
    empty = OperandExtraParams(SymmPerChannelQuantParams((), 0))
    model = _unused(kind, dimensions=(0,), extra_params=empty)
    yield broken("O7", "unknown_size_without_scales", model, "MODEL-023", since=since)
    last = OperandExtraParams(SymmPerChannelQuantParams((0.5, 0.25, 1.0), 1))
    yield sound("O7", "last_axis", _unused(kind, dimensions=(2, 3), extra_params=last), "MODEL-021", since=since)
    beside_unknown = _unused(kind, dimensions=(0, 3), extra_params=last)
    yield sound("O7", "other_size_unknown", beside_unknown, "MODEL-023", since=since)
    yield broken("O6", "per_channel_without", _unused(kind, extra_params=None), "MODEL-020", since=since)
    yield broken("O6", "per_channel_with_blob", _unused(kind, extra_params=_BLOB), "MODEL-020", since=since)
    for other, (_, first) in _BYTES.items():
        # AOSP's validator forgets FLOAT16 here, so that a device may take it.
        if other not in (kind, _T.FLOAT16):
            for name, extra in {"channels": _CHANNELS, "blob": _BLOB}.items():
                model = _unused(other, extra_params=extra)
                name = f"{other.name.lower()}_with_{name}"
                yield broken("O6", name, model, "MODEL-025", since=max(first, since))
    model = _extended(extra_params=_CHANNELS)
    yield broken("O6", "extension_with_channels", model, "MODEL-026", since=since)
    yield sound("O6", "extension_with_blob", _extended(extra_params=_BLOB), "MODEL-026", since=since)


def _constants() -> Iterator[Row]:
    for kind, (size, since) in _BYTES.items():
        length = size if kind in _SCALARS else 2 * size
        for change, legal in ((0, True), (-1, False), (1, False)):
            stored = _bare(kind, COPY, location=DataLocation(0, 0, length + change))
            model = replace(beside(stored), operand_values=bytes(length + 1))
            name = f"{kind.name.lower()}_{_spell(length + change)}_bytes"
            make = sound if legal else broken
            yield make("O13", name, model, "MODEL-034", since=since)
    short = {"short": SIZE - 4, "empty": 0}
    for name, length in short.items():
        yield broken("O13", f"pool_{name}", _placed((0, 0, length)), "MODEL-034")
    places = {
        "one_byte_behind": ((0, 5, SIZE), OLDEST),
        "wraps": ((0, 2**32 - SIZE, SIZE), OLDEST),
        "other_pool": ((1, 0, SIZE), OLDEST),
        "negative_offset": ((0, -4, SIZE), _V.FL5),
        "offset_2_32": ((0, 2**32, SIZE), _V.FL5),
    }
    for name, (place, since) in places.items():
        model = edits.with_operand(ADD, 1, location=DataLocation(*place))
        yield broken("O8", name, model, *_of_a_place("MODEL-030", since), since=since)
        if name != "one_byte_behind":
            yield broken("O9", name, _placed(place), *_of_a_place("MODEL-031", since), since=since)
    yield broken("O9", "one_byte_behind", _placed((0, 1, SIZE)), "MODEL-031")
    yield broken("O9", "one_byte_behind_the_third", _placed_among_three((2, 1, SIZE)), "MODEL-031")
    yield sound("O9", "in_the_third", _placed_among_three((2, 0, SIZE)), "MODEL-031")
    last = edits.with_operand(ADD, 1, location=DataLocation(0, 4, SIZE))
    yield sound("O8", "up_to_the_last_byte", last, "MODEL-030")
    for name, place in {"negative_length": (0, 8, -4), "length_2_32": (0, 0, 2**32)}.items():
        stored = _bare(EXTENSION, COPY, location=DataLocation(*place))
        model = replace(beside(stored, ADD), extension_name_to_prefix=MAPPING)
        yield broken("O8", name, model, "MODEL-037", since=_V.FL5)
    for name, place in {"any_length": (0, 4, 3), "no_bytes": (0, 4, 0)}.items():
        stored = _bare(EXTENSION, COPY, location=DataLocation(*place))
        model = replace(beside(stored, ADD), extension_name_to_prefix=MAPPING)
        yield sound("O8", f"extension_of_{name}", model, "MODEL-030", since=_V.V1_2)


def _of_a_place(rule: str, since: Version) -> tuple[str, str]:
    """What a wrong place breaks: numbers that only AIDL can say are none of a place, others have no bytes there."""
    return ("MODEL-037", rule) if since > OLDEST else (rule, "ROBUST-002")


def _unspecified() -> Iterator[Row]:
    """Constants with a dimension of unknown size: so have their bytes, unless there are none."""
    sized = edits.with_operand(ADD, 1, dimensions=(0,))
    yield broken("O13", "unknown_size", sized, "MODEL-034", "MODEL-035")
    yield broken("O13", "unknown_size_in_pool", _sizeless, "MODEL-034", "MODEL-035")
    half = edits.with_operand(ADD, 1, dimensions=(0, 2))
    yield broken("O13", "one_unknown_size", half, "MODEL-034", "MODEL-035")
    empty = edits.with_operand(sized, 1, location=DataLocation(0, 0, 0))
    yield vague("O13D", "unknown_size_without_bytes", empty, "MODEL-035")
    extra = _unused(_T.FLOAT16, extra_params=_CHANNELS)
    yield vague("O6H", "float16_with_channels", extra, "MODEL-025", since=_V.V1_2)
    for name, scale in {"infinite": math.inf, "not_a_number": math.nan}.items():
        yield vague("O4F", name, _unused(_T.TENSOR_QUANT8_ASYMM, scale=scale), "MODEL-014")


def _sizeless(pool: Memory) -> Model:
    return edits.with_operand(pooled(pool), 1, dimensions=(0,))


def _placed(place: tuple[int, ...]) -> Made:
    return lambda pool: edits.with_operand(pooled(pool), 1, location=DataLocation(*place))


def _placed_among_three(place: tuple[int, ...]) -> Made:
    return lambda pool: replace(
        edits.with_operand(pooled(pool), 1, location=DataLocation(*place)), pools=(pool, pool, pool)
    )


_SQUEEZE = Model(
    graph(
        [tensor(dimensions=[1, 2], lifetime=INPUT), tensor(_T.TENSOR_INT32, [1], OMITTED), tensor(lifetime=OUTPUT)],
        [Operation(OperationType.SQUEEZE, (0, 1), (2,))],
    )
)


def _locations() -> Iterator[Row]:
    places = {"pool": DataLocation(1, 0, 0), "offset": DataLocation(0, 4, 0), "length": DataLocation(0, 0, SIZE)}
    operands = {"input": 0, "temporary": 3, "output": 4}
    for field, place in places.items():
        for what, index in operands.items():
            model = edits.with_operand(ADD, index, location=place)
            yield broken("O10", f"{field}_of_{what}", model, "MODEL-032")
        model = edits.with_operand(_SQUEEZE, 1, location=place)
        yield broken("O10", f"{field}_of_omitted", model, "MODEL-032", since=_V.V1_1)
    yield sound("O10", "omitted", _SQUEEZE, "MODEL-032", since=_V.V1_1)
    for index, what in enumerate(("input", "constant", "activation", "temporary", "output")):
        place = replace(ADD.main.operands[index].location, padding=4)
        model = edits.with_operand(ADD, index, location=place)
        yield broken("O14", f"padding_of_{what}", model, "MODEL-036", since=_V.FL5)
    for value in (-1, 7):
        model = edits.with_main(edits.with_operand(_SQUEEZE, 1, lifetime=value))
        yield broken("O12", f"lifetime_{_spell(value)}", model, "MODEL-028", since=_V.V1_1)
    model = beside(tensor(lifetime=OperandLifeTime.SUBGRAPH), BRANCHES)
    yield broken("O12", "lifetime_of_a_tensor", model, "MODEL-029", since=_V.V1_3)
    for lifetime in (INPUT, OMITTED):
        model = beside(Operand(_T.SUBGRAPH, lifetime=lifetime), BRANCHES)
        yield broken("O12", f"subgraph_as_{lifetime.name.lower()}", model, "MODEL-029", since=_V.V1_3)
    model = beside(tensor(lifetime=OperandLifeTime.SUBGRAPH))
    yield broken("O12", "lifetime_too_old", model, "MODEL-028", until=_V.V1_2)
