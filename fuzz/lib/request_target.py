"""The target whose inputs are edits of requests: prepared models of stored vectors are executed with what they make.

An input names a vector and lists edits of its request, such as ["inputs", 0, "length", 3]: a finding shows what is
changed, and is made smaller by leaving edits out.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import msgspec

from npu_conformance.corpus import vectors
from npu_conformance.corpus.wire_model import build_model, build_request
from npu_conformance.fuzz.lib import request_judge
from npu_conformance.fuzz.lib.choices import Choices
from npu_conformance.fuzz.lib.model_judge import NEUTRAL
from npu_conformance.fuzz.lib.model_mutator import headers
from npu_conformance.fuzz.lib.request_judge import Prepared
from npu_conformance.fuzz.lib.sendable import are_sendable
from npu_conformance.harness.judge.verdicts import Crashed, Hung
from npu_conformance.harness.run.preparation import PreparationRecorder, prepare
from npu_conformance.harness.subject.handle import SubjectHandle
from npu_conformance.specs.neuralnetworks.hal import PreparedModel
from npu_conformance.specs.neuralnetworks.types import DataLocation, Model, Request, RequestArgument, RequestMemoryPool
from npu_conformance.specs.versions import Version

Edit = tuple[str, int, str, Any]
"""inputs, outputs or pools; which; a field, or `drop` or `copy`; the new value."""

_LARGEST_POOL = 1 << 16
_MOST_EDITS = 6
_NUMBERS = ("poolIndex", "offset", "length", "padding")
_FIELDS = (*_NUMBERS, *_NUMBERS, "dimensions", "hasNoValue", "drop", "copy")
_BOUNDARIES = (-1, 0, 1, 2, 3, 4, 63, 64, 1 << 16, (1 << 31) - 1, 1 << 31, (1 << 32) - 1)


class RequestInput(msgspec.Struct, forbid_unknown_fields=True):
    """vector: OPERATION/NAME. edits: in order; one that has no place does nothing."""

    vector: str
    edits: list[Edit]


@dataclass
class _Draft:
    """A request in the making. pools: sizes."""

    inputs: list[dict[str, Any]]
    outputs: list[dict[str, Any]]
    pools: list[int] = field(default_factory=list)

    def apply(self, edit: Edit) -> None:
        """Make one edit, where it has a place."""
        part, index, name, value = edit
        if part == "pools":
            if 0 <= index < len(self.pools) and isinstance(value, int):
                self.pools[index] = min(max(value, 1), _LARGEST_POOL)
            return
        arguments = self.inputs if part == "inputs" else self.outputs
        if not 0 <= index < len(arguments):
            return
        if name == "drop":
            del arguments[index]
        elif name == "copy":
            arguments.append(dict(arguments[index]))
        elif name in arguments[index]:
            arguments[index][name] = value


class RequestTarget:
    """Inputs are requests for prepared models. See Target."""

    name = "requests"

    def __init__(self, subject: SubjectHandle) -> None:
        self._subject = subject
        chosen = [header for header in headers(subject.version, one_each=True) if header.rejected is None]
        self._names = {f"{header.operation}/{header.name}": header for header in chosen}
        self.seeds: Sequence[bytes] = [_encoded(RequestInput(name, [])) for name in self._names]
        self._prepared: dict[str, Prepared] = {}

    def mutate(self, data: bytes, choices: Choices, max_size: int) -> bytes:
        """Add an edit, change one, leave one out, or take those of another input."""
        try:
            given = _decoded(data)
        except msgspec.MsgspecError:
            return data
        kind = choices.below(8)
        if kind == 0 and given.edits:
            del given.edits[choices.below(len(given.edits))]
        elif kind == 1:
            given.edits += _decoded(choices.pick(self.seeds)).edits
        elif kind == 2:
            given.vector = choices.pick(list(self._names))
        else:
            given.edits.append(self._edit(given, choices))
        given.edits = given.edits[-_MOST_EDITS:]
        return _encoded(given)[:max_size]

    def run(self, data: bytes) -> tuple[str, ...]:
        """Execute once, and judge status, outputs and everything around them."""
        try:
            given = _decoded(data)
        except msgspec.MsgspecError:
            return ()
        header = self._names.get(given.vector)
        found = self._prepare(given.vector) if header is not None else None
        if found is None or found.prepared is None:
            return (f"{given.vector} is not prepared",)
        draft = _draft(found, self._subject.version)
        for edit in given.edits:
            draft.apply(edit)
        try:
            inputs, outputs = (tuple(map(_argument, part)) for part in (draft.inputs, draft.outputs))
        except (TypeError, ValueError, msgspec.ValidationError):
            return ("no request",)
        if not are_sendable((*inputs, *outputs), self._subject.version):
            return ("not sendable",)
        try:
            seen = request_judge.judge(self._subject, found, Request(inputs, outputs, ()), draft.pools)
        except (Crashed, Hung):
            self._prepared.clear()
            raise
        return tuple(f"{given.vector.partition('/')[0]} {sight}" for sight in seen)

    def pieces(self, data: bytes) -> list[bytes]:
        """Without one edit; then with a smaller number in one."""
        try:
            given = _decoded(data)
        except msgspec.MsgspecError:
            return []
        return [_encoded(RequestInput(given.vector, edits)) for edits in _fewer(given.edits)]

    def readable(self, data: bytes) -> bytes:
        """The JSON, indented."""
        try:
            return msgspec.json.format(data, indent=1)
        except msgspec.MsgspecError:
            return data

    def _edit(self, given: RequestInput, choices: Choices) -> Edit:
        found = self._prepare(given.vector)
        parts = {"inputs": len(found.vector.inputs), "outputs": len(found.vector.outputs), "pools": 2}
        part = choices.pick([name for name, count in parts.items() if count])
        index = choices.below(parts[part])
        if part == "pools":
            return part, index, "size", choices.pick(_BOUNDARIES)
        name = choices.pick(_FIELDS)
        arguments = _draft(found, self._subject.version)
        before = getattr(arguments, part)[index].get(name)
        return part, index, name, _value(name, before, choices)

    def _prepare(self, name: str) -> Prepared:
        if name not in self._prepared:
            header = self._names.get(name) or next(iter(self._names.values()))
            vector = vectors.load(header.operation, header.name)
            version = self._subject.version
            built = build_request(vector, vector.examples[0], version)
            model = build_model(vector, version).model
            self._prepared[name] = Prepared(vector, vector.examples[0], model, built, None)
            self._prepared[name].prepared = self._prepared_model(model)
        return self._prepared[name]

    def _prepared_model(self, model: Model) -> PreparedModel | None:
        device = self._subject.interfaces.device
        assert device is not None
        return prepare(self._subject, device, model, NEUTRAL, PreparationRecorder()).prepared_model


def _draft(found: Prepared, version: Version) -> _Draft:
    """The vector's own request, with locations of numbers beside the rest."""
    pool = RequestMemoryPool()
    request = found.built.request(pool, pool)
    sizes = [max(len(found.built.input_data), 1), found.built.output_size]
    return _Draft(
        [_fields(argument, version) for argument in request.inputs],
        [_fields(argument, version) for argument in request.outputs],
        sizes,
    )


def _fields(argument: RequestArgument, version: Version) -> dict[str, Any]:
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


def _value(name: str, before: Any, choices: Choices) -> Any:
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
    return number * 2 if kind == 1 else choices.pick(_BOUNDARIES)


def _fewer(edits: list[Edit]) -> Iterator[list[Edit]]:
    for index in range(len(edits) - 1, -1, -1):
        yield edits[:index] + edits[index + 1 :]
    for index, (part, which, name, value) in enumerate(edits):
        if isinstance(value, int) and not isinstance(value, bool):
            for smaller in (0, 1, value // 2):
                yield [*edits[:index], (part, which, name, smaller), *edits[index + 1 :]]


def _encoded(given: RequestInput) -> bytes:
    return msgspec.json.encode(given)


def _decoded(data: bytes) -> RequestInput:
    return msgspec.json.decode(data, type=RequestInput)
