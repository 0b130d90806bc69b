"""The target whose inputs are edits of requests: prepared models of stored vectors are executed with what they make.

An input names a vector and lists edits of its request, such as ["inputs", 0, "length", 3]: a finding shows what is
changed, and is made smaller by leaving edits out.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec

from npu_conformance.fuzz.lib import request_judge
from npu_conformance.fuzz.lib.choices import Choices
from npu_conformance.fuzz.lib.inputs import UNREADABLE, fitting, indented
from npu_conformance.fuzz.lib.prepared_vectors import PreparedVectors
from npu_conformance.fuzz.lib.request_edits import BOUNDARIES, FIELDS, Draft, Edit, draft_of, moving, new_value
from npu_conformance.fuzz.lib.sendable import are_sendable
from npu_conformance.harness.judge.verdicts import NotApplicable
from npu_conformance.harness.subject.handle import SubjectHandle
from npu_conformance.specs.neuralnetworks.types import Request

_MOST_EDITS = 9


class RequestInput(msgspec.Struct, forbid_unknown_fields=True):
    """vector: OPERATION/NAME. edits: in order; one that has no place does nothing."""

    vector: str
    edits: list[Edit]


class RequestTarget:
    """Inputs are requests for prepared models. See Target."""

    name = "requests"

    def __init__(self, subject: SubjectHandle) -> None:
        """The search starts from one vector of each operation, and comes to other types from there."""
        self._subject = subject
        self._vectors = PreparedVectors(subject)
        self.seeds: Sequence[bytes] = [_encoded(RequestInput(name, [])) for name in self._vectors.first_names]

    def mutate(self, data: bytes, choices: Choices, max_size: int) -> bytes:
        """Add an edit, or those that move an argument; leave one out, or take those of another input that has any.

        A vector that the device is known to refuse makes room for one that it prepares.
        """
        try:
            given = _decoded(data)
        except UNREADABLE:
            return data
        given.vector = self._vectors.instead(given.vector, choices)
        kind = choices.below(10)
        if kind == 0 and given.edits:
            del given.edits[choices.below(len(given.edits))]
        elif kind == 1:
            given.edits += _edits_of(choices.pick(self.seeds)) or [self._edit(given, choices)]
        elif kind == 2:
            given.vector = self._vectors.instead(choices.pick(self._vectors.names), choices)
        elif kind < 5:
            given.edits += moving(self._draft(given), choices)
        else:
            given.edits.append(self._edit(given, choices))
        vector = given.vector
        return fitting(given.edits[-_MOST_EDITS:], lambda edits: _encoded(RequestInput(vector, [*edits])), max_size)

    def run(self, data: bytes) -> tuple[str, ...]:
        """Execute once, and judge status, outputs and everything around them."""
        try:
            given = _decoded(data)
        except UNREADABLE:
            return ()
        found = self._vectors.get(given.vector)
        if found is None:
            return (f"there is no {given.vector}",)
        if found.prepared is None:
            self._vectors.look_around(given.vector)
            raise NotApplicable(f"the device prepares none of the models that were tried, {given.vector} for one")
        draft = self._draft(given)
        arguments = draft.arguments()
        if arguments is None:
            return ("no request",)
        inputs, outputs = arguments
        if not are_sendable((*inputs, *outputs), self._subject.version):
            return ("not sendable",)
        seen = request_judge.judge(self._subject, found, Request(inputs, outputs, ()), draft.pools)
        return tuple(f"{given.vector.partition('/')[0]} {feature}" for feature in seen)

    def pieces(self, data: bytes) -> Iterator[bytes]:
        """Without one edit; then with a smaller number in one."""
        try:
            given = _decoded(data)
        except UNREADABLE:
            return
        for edits in _fewer(given.edits):
            yield _encoded(RequestInput(given.vector, edits))

    def readable(self, data: bytes) -> bytes:
        """The JSON, indented."""
        return indented(data)

    def forget(self) -> None:
        """Forget the models that were prepared."""
        self._vectors.clear()

    def _draft(self, given: RequestInput) -> Draft:
        """What an input makes of its vector's request; of the first vector's where there is none of that name."""
        found = self._vectors.loaded(given.vector) or self._vectors.loaded(self._vectors.names[0])
        assert found is not None
        draft = draft_of(found, self._subject.version)
        for edit in given.edits:
            draft.apply(edit)
        return draft

    def _edit(self, given: RequestInput, choices: Choices) -> Edit:
        draft = self._draft(RequestInput(given.vector, []))
        parts = {"inputs": len(draft.inputs), "outputs": len(draft.outputs), "pools": 2}
        part = choices.pick([name for name, count in parts.items() if count])
        index = choices.below(parts[part])
        if part == "pools":
            return part, index, "size", choices.pick(BOUNDARIES)
        name = choices.pick(FIELDS)
        return part, index, name, new_value(name, getattr(draft, part)[index].get(name), choices)


def _fewer(edits: list[Edit]) -> Iterator[list[Edit]]:
    for index in range(len(edits) - 1, -1, -1):
        yield edits[:index] + edits[index + 1 :]
    for index, (part, which, name, value) in enumerate(edits):
        if isinstance(value, int) and not isinstance(value, bool):
            for smaller in (0, 1, value // 2):
                yield [*edits[:index], (part, which, name, smaller), *edits[index + 1 :]]


def _edits_of(data: bytes) -> list[Edit]:
    """The edits of another input, which need not be one: it may come from a folder."""
    try:
        return _decoded(data).edits
    except UNREADABLE:
        return []


def _encoded(given: RequestInput) -> bytes:
    return msgspec.json.encode(given)


def _decoded(data: bytes) -> RequestInput:
    return msgspec.json.decode(data, type=RequestInput)
