"""Stored vectors whose models are prepared when they are first asked for: each operation in all combinations of types.

Which of them a device prepares is found out on the way: no driver has all, and to ask for all at the start takes time.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence

from npu_conformance.corpus import vectors
from npu_conformance.corpus.vectors import Vector, VectorHeader
from npu_conformance.corpus.wire_model import build_model, build_request
from npu_conformance.fuzz.lib.choices import Choices
from npu_conformance.fuzz.lib.model_judge import NEUTRAL
from npu_conformance.fuzz.lib.model_mutator import headers
from npu_conformance.fuzz.lib.request_judge import Loaded, Prepared
from npu_conformance.harness.run.preparation import PreparationRecorder, prepare
from npu_conformance.harness.subject.handle import SubjectHandle
from npu_conformance.specs.versions import Version


class PreparedVectors:
    """names: OPERATION/NAME of each vector that is legal in the subject's version, first those of first_names.

    first_names: one of each operation.
    """

    def __init__(self, subject: SubjectHandle, operations: Sequence[str] = ()) -> None:
        """operations: whose vectors, in this order; of all operations where none is named."""
        self._subject = subject
        rounds = list(_rounds(headers(subject.version, one_each=False), operations))
        self._headers = {_name(header): header for header in itertools.chain.from_iterable(rounds)}
        self.names = list(self._headers)
        self.first_names = [_name(header) for header in rounds[0]] if rounds else []
        self._loaded: dict[str, Loaded] = {}
        self._found: dict[str, Prepared] = {}
        self._is_prepared: dict[str, bool] = {}

    def loaded(self, name: str) -> Loaded | None:
        """The vector of a name; None for an unknown one. The device is not asked."""
        header = self._headers.get(name)
        if header is not None and name not in self._loaded:
            vector = vectors.load(header.operation, header.name)
            self._loaded[name] = load(vector, self._subject.version)
        return self._loaded.get(name)

    def get(self, name: str) -> Prepared | None:
        """The vector of a name; None for an unknown one. Its model is not prepared where the device refuses that."""
        found = self.loaded(name)
        if found is not None and name not in self._found:
            self._found[name] = made = prepared_on(self._subject, found)
            self._is_prepared[name] = made.prepared is not None
        return self._found.get(name)

    def all_prepared(self) -> Iterator[str]:
        """Names of the vectors that the device prepares, which is tried for one after the other."""
        return (name for name in self.names if self._prepares(name))

    def look_around(self, refused: str) -> None:
        """Try the operation of a vector that is refused in other types, and all others where none is prepared yet."""
        if not any(map(self._prepares, self._siblings(refused))) and not any(self._is_prepared.values()):
            next(self.all_prepared(), None)

    def instead(self, name: str, choices: Choices) -> str:
        """A vector that is known to be prepared, of the same operation if possible, in place of one that is refused.

        Any other name stays what it is. The device is not asked.
        """
        if self._is_prepared.get(name, True):
            return name
        known = [other for other, is_prepared in self._is_prepared.items() if is_prepared]
        near = [other for other in self._siblings(name) if other in known]
        return choices.pick(near or known or [name])

    def clear(self) -> None:
        """Forget what is prepared, since the subject has begun anew."""
        self._found.clear()

    def _siblings(self, name: str) -> list[str]:
        operation = self._headers[name].operation
        return [other for other, header in self._headers.items() if header.operation == operation]

    def _prepares(self, name: str) -> bool:
        if name not in self._is_prepared:
            self.get(name)
        return self._is_prepared[name]


def _name(header: VectorHeader) -> str:
    return f"{header.operation}/{header.name}"


def _rounds(legal: Iterable[VectorHeader], operations: Sequence[str]) -> Iterator[list[VectorHeader]]:
    """The vectors in rounds, each with one of each operation that has as many."""
    by_operation = itertools.groupby(legal, lambda header: header.operation)
    found = {operation: list(group)[::-1] for operation, group in by_operation}
    groups = [found[operation] for operation in operations or found if operation in found]
    for number in range(max(map(len, groups), default=0)):
        yield [group[number] for group in groups if number < len(group)]


def load(vector: Vector, version: Version) -> Loaded:
    """A vector with its model and request."""
    example = vector.examples[0]
    return Loaded(vector, example, build_model(vector, version).model, build_request(vector, example, version))


def prepared_on(subject: SubjectHandle, found: Loaded) -> Prepared:
    """A vector whose model is prepared, unless the device refuses that."""
    device = subject.interfaces.device
    assert device is not None
    made = prepare(subject, device, found.model, NEUTRAL, PreparationRecorder()).prepared_model
    return Prepared(found.vector, found.example, found.model, found.built, made, fields=found.fields)
