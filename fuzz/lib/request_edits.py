"""Edits of a request, field by field: what the fuzzers of requests and of bursts change in the request of a vector."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

import msgspec

from npu_conformance.fuzz.lib.choices import Choices
from npu_conformance.fuzz.lib.request_judge import Prepared
from npu_conformance.specs.neuralnetworks.types import DataLocation, RequestArgument, RequestMemoryPool
from npu_conformance.specs.versions import Version

Edit = tuple[str, int, str, Any]
"""inputs, outputs or pools; which; a field, or `drop` or `copy`; the new value, or one like "+4", which is added."""

LARGEST_POOL = 1 << 16
NUMBERS = ("poolIndex", "offset", "length", "padding")
FIELDS = (*NUMBERS, *NUMBERS, "dimensions", "hasNoValue", "drop", "copy")
BOUNDARIES = (-1, 0, 1, 2, 3, 4, 63, 64, 1 << 16, (1 << 31) - 1, 1 << 31, (1 << 32) - 1)
_RELATIVE = re.compile(r"[+-][0-9]{1,10}")


@dataclass
class Draft:
    """A request in the making. pools: sizes."""

    inputs: list[dict[str, Any]]
    outputs: list[dict[str, Any]]
    pools: list[int] = field(default_factory=list)

    def apply(self, edit: Edit) -> None:
        """Make one edit, where it has a place."""
        part, index, name, value = edit
        if part == "pools":
            if 0 <= index < len(self.pools) and isinstance(value, int):
                self.pools[index] = min(max(value, 1), LARGEST_POOL)
            return
        arguments = self.inputs if part == "inputs" else self.outputs
        if not 0 <= index < len(arguments):
            return
        if name == "drop":
            del arguments[index]
        elif name == "copy":
            arguments.append(dict(arguments[index]))
        elif name in arguments[index]:
            arguments[index][name] = _moved(arguments[index][name], value)

    def arguments(self) -> tuple[tuple[RequestArgument, ...], tuple[RequestArgument, ...]] | None:
        """Inputs and outputs; None where an edit has left no request."""
        try:
            return tuple(map(_argument, self.inputs)), tuple(map(_argument, self.outputs))
        except (TypeError, ValueError, msgspec.ValidationError):
            return None


def _moved(before: Any, value: Any) -> Any:
    is_relative = isinstance(value, str) and isinstance(before, int) and _RELATIVE.fullmatch(value)
    return before + int(value) if is_relative else value


def draft_of(found: Prepared, version: Version) -> Draft:
    """The vector's own request, with locations of numbers beside the rest."""
    pool = RequestMemoryPool()
    request = found.built.request(pool, pool)
    sizes = [max(len(found.built.input_data), 1), found.built.output_size]
    return Draft(
        [fields_of(argument, version) for argument in request.inputs],
        [fields_of(argument, version) for argument in request.outputs],
        sizes,
    )


def fields_of(argument: RequestArgument, version: Version) -> dict[str, Any]:
    """What edits may change of an argument: numbers of its location beside the rest."""
    place = argument.location
    numbers = {"poolIndex": place.pool_index, "offset": place.offset, "length": place.length}
    padding = {"padding": place.padding} if version.is_aidl else {}
    return {"hasNoValue": argument.has_no_value, "dimensions": list(argument.dimensions), **numbers, **padding}


def _argument(fields: dict[str, Any]) -> RequestArgument:
    numbers = [fields["poolIndex"], fields["offset"], fields["length"], fields.get("padding", 0)]
    pool, offset, length, padding = msgspec.convert(numbers, list[int])
    return RequestArgument(
        has_no_value=bool(fields["hasNoValue"]),
        location=DataLocation(pool, offset, length, padding),
        dimensions=tuple(msgspec.convert(fields["dimensions"], list[int])),
    )


def new_value(name: str, before: Any, choices: Choices) -> Any:
    """Another value of a field."""
    if name in ("drop", "copy"):
        return None
    if name == "hasNoValue":
        return not before
    if name == "dimensions":
        sizes = list(before) or [choices.below(4) for _ in range(choices.below(4))]
        if sizes:
            sizes[choices.below(len(sizes))] = choices.pick((0, 1, 2, 3, 5, -1, 1 << 31))
        return sizes[: choices.below(5)] if choices.below(4) == 0 else sizes
    kind, number = choices.below(3), before or 0
    if kind == 0:
        return number + choices.pick((1, -1, 2, 4, 64, -4))
    return number * 2 if kind == 1 else choices.pick(BOUNDARIES)
