"""Values of every type that crosses the wire, made from the declarations: one of each, with every field."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Any

import msgspec
from msgspec import inspect

from npu_conformance.harness.wire.session import ROOTS
from npu_conformance.specs.interfaces import Method, describe
from npu_conformance.specs.plugin import INTERFACES

_PLAIN: Mapping[type[inspect.Type], Any] = {
    inspect.NoneType: None,
    inspect.BoolType: True,
    inspect.IntType: 3,
    inspect.FloatType: 0.5,
    inspect.StrType: "word",
    inspect.BytesType: "AAEC/w==",
    inspect.AnyType: None,
}


@functools.cache
def interfaces() -> tuple[type, ...]:
    """Every interface that can be reached from a host's roots, which come first and are numbered so."""
    found = dict.fromkeys([*map(INTERFACES.__getitem__, ROOTS), *INTERFACES.values()])
    for kind in (waiting := list(found)):  # which grows meanwhile
        for method in describe(kind).values():
            named = [*parameters(method), *results(method)]
            fresh = [one for one in dict.fromkeys(named) if one not in found]
            found.update(dict.fromkeys(fresh))
            waiting += fresh
    return tuple(found)


def parameters(method: Method) -> list[type]:
    """The interfaces of which a caller gives objects to a method."""
    return [one for _, kind in method.parameters for one in _interfaces_in(inspect.type_info(kind))]


def results(method: Method) -> list[type]:
    """The interfaces of which a method returns objects."""
    return _interfaces_in(inspect.type_info(method.result))


def _interfaces_in(info: inspect.Type) -> list[type]:
    if isinstance(info, inspect.CustomType):
        return [info.cls]
    inside: list[inspect.Type] = []
    if isinstance(info, inspect.Metadata):
        inside = [info.type]
    elif isinstance(info, inspect.UnionType):
        inside = list(info.types)
    elif isinstance(info, inspect.StructType):
        inside = [field.type for field in info.fields]
    elif isinstance(info, inspect.VarTupleType):
        inside = [info.item_type]
    elif isinstance(info, inspect.TupleType):
        inside = list(info.item_types)
    return [found for one in inside for found in _interfaces_in(one)]


def number_of(kind: type) -> int:
    """Under which number a host gives its object of an interface; the harness gives its own under the negative one."""
    return interfaces().index(kind) + 1


def sample(kind: Any, sign: int) -> Any:
    """A value of a type as JSON has it. sign: of the side whose objects are in it: -1 for the harness's."""
    return _sample(inspect.type_info(kind), sign)


def _sample(info: inspect.Type, sign: int) -> Any:
    if isinstance(info, inspect.Metadata):
        return _sample(info.type, sign)
    if isinstance(info, inspect.UnionType):
        return _sample(next((one for one in info.types if not isinstance(one, inspect.NoneType)), info.types[0]), sign)
    if isinstance(info, inspect.StructType):
        return {field.encode_name: _sample(field.type, sign) for field in info.fields}
    if isinstance(info, inspect.VarTupleType):
        return [_sample(info.item_type, sign), _sample(info.item_type, sign)]
    if isinstance(info, inspect.TupleType):
        return [_sample(one, sign) for one in info.item_types]
    if isinstance(info, inspect.DictType):
        return {str(_sample(info.key_type, sign)): _sample(info.value_type, sign)}
    return _single(info, sign)


def _single(info: inspect.Type, sign: int) -> Any:
    if isinstance(info, inspect.LiteralType):
        return info.values[0]
    if isinstance(info, inspect.EnumType):
        return next(iter(info.cls)).value
    if isinstance(info, inspect.CustomType):
        return sign * number_of(info.cls)
    return _PLAIN[type(info)]


def value(kind: Any, objects: Mapping[type, Any]) -> Any:
    """A value of a type. objects: which to put into it."""
    return msgspec.convert(sample(kind, 1), kind, dec_hook=lambda interface, _: objects[interface])
