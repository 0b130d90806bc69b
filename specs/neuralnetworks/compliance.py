"""Whether an older version of the HAL can express a value, and its conversion, with a list of what is lost."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import msgspec

from npu_conformance.specs.naming import camel_case
from npu_conformance.specs.neuralnetworks.minimal_version import minimal_version
from npu_conformance.specs.neuralnetworks.types import Model, Operand, Subgraph
from npu_conformance.specs.versions import OLDEST, Version
from npu_conformance.specs.wire_types import Wire, field_since

Value = TypeVar("Value", bound=Wire)


class NotCompliantError(ValueError):
    """The version cannot express the value: without the parts that it does not know, it would be another value."""


@dataclass(frozen=True)
class Conversion(Generic[Value]):
    """A value in the form of a version. lost: a line for each field that had to be left out."""

    value: Value
    lost: tuple[str, ...]


def compliant_version(value: Wire) -> Version:
    """The first version that can express the whole value. Raises ValueError for a model that no version has."""
    oldest = max((since for _, since in _newer(value, OLDEST, "")), default=OLDEST)
    return max(oldest, minimal_version(value)) if isinstance(value, Model) else oldest


def is_compliant_with(value: Wire, version: Version) -> bool:
    """True where the version can express the whole value."""
    return compliant_version(value) <= version


def convert_to(value: Value, version: Version) -> Conversion[Value]:
    """Convert a value to another version. Fields that came later get their default, and a line each in `lost`.

    Raises NotCompliantError for a model that is not legal there: the permission to compute float32 coarsely can be
    left out, an operation, a type or a shape cannot.
    """
    lost = tuple(f"{path} is not known before {since}: left out" for path, since in _newer(value, version, ""))
    converted = _without(value, version)
    if isinstance(value, Model):
        converted = converted if version.is_aidl else _counted(converted)
        # Graphs and extensions are what the model is: it has to be legal with them, as far as anybody but the driver
        # of an extension can tell.
        whole = msgspec.structs.replace(
            converted, referenced=value.referenced, extension_name_to_prefix=value.extension_name_to_prefix
        )
        needed = minimal_version(whole, with_extensions=False)
        if needed > version:
            raise NotCompliantError(f"the model needs version {needed}, and cannot be expressed in {version}")
    return Conversion(converted, lost)


def _newer(value: Wire, version: Version, path: str) -> Iterator[tuple[str, Version]]:
    """Path and first version of each field that the version does not know and that is not as by default."""
    for field in _fields(type(value)):
        child, since = getattr(value, field.name), _since(type(value), field.name)
        where = f"{path}.{camel_case(field.name)}" if path else camel_case(field.name)
        if since <= version:
            for index, part in _parts(child):
                yield from _newer(part, version, f"{where}{index}")
        elif child != field.default:
            yield where, since


def _parts(child: Any) -> Iterator[tuple[str, Wire]]:
    if isinstance(child, Wire):
        yield "", child
    elif isinstance(child, tuple):
        yield from ((f"[{index}]", part) for index, part in enumerate(child) if isinstance(part, Wire))


def _without(value: Any, version: Version) -> Any:
    """The value, with defaults in place of what the version does not know."""
    if isinstance(value, tuple):
        return tuple(_without(part, version) for part in value)
    if not isinstance(value, Wire):
        return value
    known = {
        field.name: _without(getattr(value, field.name), version)
        for field in _fields(type(value))
        if _since(type(value), field.name) <= version
    }
    return type(value)(**known)


def _counted(model: Model) -> Model:
    """The model with HIDL's counts of consumers, which AIDL does not have."""
    graphs = [_counted_graph(graph) for graph in (model.main, *model.referenced)]
    return msgspec.structs.replace(model, main=graphs[0], referenced=tuple(graphs[1:]))


def _counted_graph(graph: Subgraph) -> Subgraph:
    uses = [index for operation in graph.operations for index in operation.inputs]
    operands: list[Operand] = [
        msgspec.structs.replace(operand, number_of_consumers=uses.count(index))
        for index, operand in enumerate(graph.operands)
    ]
    return msgspec.structs.replace(graph, operands=tuple(operands))


@functools.cache
def _fields(struct: type[Wire]) -> tuple[msgspec.structs.FieldInfo, ...]:
    """The fields of a struct; msgspec works them out anew each time."""
    return msgspec.structs.fields(struct)


@functools.cache
def _since(struct: type[Wire], field: str) -> Version:
    return field_since(struct, field)
