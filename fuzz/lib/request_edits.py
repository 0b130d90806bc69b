"""Edits of a request, field by field: what the fuzzers of requests and of bursts change in the request of a vector."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

import msgspec

from npu_conformance.fuzz.lib.choices import Choices
from npu_conformance.fuzz.lib.request_judge import Loaded
from npu_conformance.specs.neuralnetworks.types import DataLocation, RequestArgument, RequestMemoryPool
from npu_conformance.specs.versions import Version

Edit = tuple[str, int, str, Any]
"""inputs, outputs or pools; which; a field, or `drop` or `copy`; the new value, or one like "+4", which is added."""

LARGEST_POOL = 1 << 16
MOST_POOLS = 4
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
            if 0 <= index < MOST_POOLS and isinstance(value, int):
                self.pools[index : index + 1] = [min(max(value, 1), LARGEST_POOL)]
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

    def places(self) -> list[tuple[str, int]]:
        """Every argument: its part, and its number there."""
        return [(part, index) for part in ("inputs", "outputs") for index in range(len(getattr(self, part)))]

    def end_of(self, pool: int) -> int:
        """Where the last argument of a pool ends; those of which edits have left no numbers do not count."""
        own = [one for one in (*self.inputs, *self.outputs) if one["poolIndex"] == pool and not one["hasNoValue"]]
        ends = (_sum(one["offset"], one["length"], one.get("padding", 0)) for one in own)
        return max([0, *(end for end in ends if end < LARGEST_POOL)])


def _sum(*numbers: Any) -> int:
    return sum(number for number in numbers if isinstance(number, int))


def moving(draft: Draft, choices: Choices) -> list[Edit]:
    """Edits by which an argument lies where nothing else does, in any pool: the request is as good as it was."""
    places = draft.places()
    if not places:
        return []
    part, index = choices.pick(places)
    argument, pool = getattr(draft, part)[index], choices.below(min(len(draft.pools) + 1, MOST_POOLS))
    offset = draft.end_of(pool) + choices.pick(_GAPS)
    size = offset + max(_sum(argument["length"], argument.get("padding", 0)), 0) + choices.pick(_GAPS)
    return [("pools", pool, "size", size), (part, index, "poolIndex", pool), (part, index, "offset", offset)]


_GAPS = (0, 0, 1, 2, 3, 4, 7, 12, 64, 1000)
"""Bytes between one argument and the next."""


def _moved(before: Any, value: Any) -> Any:
    is_relative = isinstance(value, str) and isinstance(before, int) and _RELATIVE.fullmatch(value)
    return before + int(value) if is_relative else value


def draft_of(found: Loaded, version: Version) -> Draft:
    """The vector's own request, with locations of numbers beside the rest."""
    if found.fields is None:
        pool = RequestMemoryPool()
        request = found.built.request(pool, pool)
        found.fields = (
            [fields_of(argument, version) for argument in request.inputs],
            [fields_of(argument, version) for argument in request.outputs],
            [max(len(found.built.input_data), 1), found.built.output_size],
        )
    inputs, outputs, sizes = found.fields
    return Draft([dict(one) for one in inputs], [dict(one) for one in outputs], [*sizes])


def fields_of(argument: RequestArgument, version: Version) -> dict[str, Any]:
    """What edits may change of an argument: numbers of its location beside the rest."""
    place = argument.location
    numbers = {"poolIndex": place.pool_index, "offset": place.offset, "length": place.length}
    padding = {"padding": place.padding} if version.is_aidl else {}
    return {"hasNoValue": argument.has_no_value, "dimensions": list(argument.dimensions), **numbers, **padding}


def _argument(fields: dict[str, Any]) -> RequestArgument:
    pool, offset, length, padding = _integers(
        [fields["poolIndex"], fields["offset"], fields["length"], fields.get("padding", 0)]
    )
    return RequestArgument(
        has_no_value=bool(fields["hasNoValue"]),
        location=DataLocation(pool, offset, length, padding),
        dimensions=tuple(_integers(fields["dimensions"])),
    )


def _integers(values: Any) -> list[int]:
    """The values as integers, which they mostly are. Raises ValidationError."""
    if type(values) is list and set(map(type, values)) <= {int}:
        return values
    return msgspec.convert(values, list[int])


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
