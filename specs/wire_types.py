"""Base of the wire structs: raw, open, frozen, AIDL's field names on the wire; and floats that survive JSON."""

from __future__ import annotations

import math
import typing
from typing import TYPE_CHECKING, Any, Literal

import msgspec

from npu_conformance.specs.naming import camel_case
from npu_conformance.specs.versions import OLDEST, Version


class Wire(msgspec.Struct, frozen=True, rename=camel_case):
    """A message or a part of one. Integers stay open: values that no version allows must reach the driver."""


class NonFinite(float):
    """A NaN or an infinity: a float in Python, one of the strings NaN, Infinity, -Infinity in JSON."""

    @property
    def spelling(self) -> str:
        """How it is written in JSON."""
        return "NaN" if math.isnan(self) else "Infinity" if self > 0 else "-Infinity"


if TYPE_CHECKING:
    Float = float
else:
    # In JSON a number or one of three strings; `finite_or_tagged` turns the strings into floats after decoding.
    Float = float | Literal["NaN", "Infinity", "-Infinity"]


def finite_or_tagged(value: float | str) -> float:
    """Return a finite float as it is and anything else as NonFinite, so that it can be written to JSON."""
    if isinstance(value, str):
        return NonFinite(value.replace("Infinity", "inf"))
    return value if math.isfinite(value) else NonFinite(value)


class HasFloat(Wire, frozen=True):
    """A wire struct with float fields (named by `_float_fields`): keeps NaN and infinities writable as JSON."""

    def __post_init__(self) -> None:
        for name in self._float_fields():
            value = getattr(self, name)
            if type(value) is not float or not math.isfinite(value):
                msgspec.structs.force_setattr(self, name, _tagged(value))

    @classmethod
    def _float_fields(cls) -> tuple[str, ...]:
        raise NotImplementedError


def _tagged(value: Any) -> Any:
    if value is None:
        return None
    return tuple(map(finite_or_tagged, value)) if isinstance(value, tuple) else finite_or_tagged(value)


def since(version: Version) -> msgspec.Meta:
    """Annotation of a field: the version that brought it. The schemas show it as x-since."""
    return msgspec.Meta(extra_json_schema={"x-since": version.value}, extra={"since": version})


def field_since(struct: type[msgspec.Struct], field: str) -> Version:
    """The version in which a field of a wire struct appeared; the oldest where it is not marked."""
    hint = typing.get_type_hints(struct, include_extras=True)[field]
    marks = [meta.extra for meta in getattr(hint, "__metadata__", ()) if isinstance(meta, msgspec.Meta)]
    return next((mark["since"] for mark in marks if mark), OLDEST)
