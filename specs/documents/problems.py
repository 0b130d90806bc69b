"""Every rule that a document breaks: msgspec names the first one alone."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping
from typing import Any, get_args, get_origin

import msgspec
from msgspec.structs import FieldInfo, fields

from npu_conformance.specs.documents import split_path
from npu_conformance.specs.documents.allowed import with_allowed

_MOST = 10


def problems(value: Any, kind: type[msgspec.Struct]) -> str:
    """The rules that a value, as of json.loads, breaks as this kind, each behind its JSON path; empty for none."""
    found = [f"{path}: {with_allowed(rule, path, kind)}" for rule, path in _of_value(value, kind, "$")]
    more = [f"and {len(found) - _MOST} more"] if len(found) > _MOST else []
    return "; ".join([*found[:_MOST], *more])


def _of_value(value: Any, kind: Any, path: str) -> Iterator[tuple[str, str]]:
    if isinstance(value, dict) and isinstance(kind, type) and issubclass(kind, msgspec.Struct):
        yield from _of_fields(value, kind, path)
    elif isinstance(value, list) and get_origin(kind) is tuple and get_args(kind)[1:] == (...,):
        for number, element in enumerate(value):
            yield from _of_value(element, get_args(kind)[0], f"{path}[{number}]")
    else:
        try:
            msgspec.convert(value, kind)
        except msgspec.ValidationError as error:
            rule, inner = split_path(str(error))
            yield rule, path + inner.removeprefix("$")


def _of_fields(value: dict[str, Any], kind: type[msgspec.Struct], path: str) -> Iterator[tuple[str, str]]:
    known = _named(kind)
    for name, field in known.items():
        if name in value:
            yield from _of_value(value[name], field.type, f"{path}.{name}")
        elif field.required:
            yield f"Object missing required field `{name}`", path
    if kind.__struct_config__.forbid_unknown_fields:
        yield from ((f"Object contains unknown field `{name}`", path) for name in value if name not in known)


@functools.cache
def _named(kind: type[msgspec.Struct]) -> Mapping[str, FieldInfo]:
    """The fields of a struct by their names in JSON, which msgspec works out anew each time."""
    return {field.encode_name: field for field in fields(kind)}
