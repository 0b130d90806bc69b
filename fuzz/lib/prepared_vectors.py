"""Stored vectors whose models are prepared when they are first asked for, one of each operation."""

from __future__ import annotations

from collections.abc import Callable

from npu_conformance.corpus import vectors
from npu_conformance.corpus.vectors import Vector, VectorHeader
from npu_conformance.corpus.wire_model import build_model, build_request
from npu_conformance.fuzz.lib.model_judge import NEUTRAL
from npu_conformance.fuzz.lib.model_mutator import headers
from npu_conformance.fuzz.lib.request_judge import Prepared
from npu_conformance.harness.run.preparation import PreparationRecorder, prepare
from npu_conformance.harness.subject.handle import SubjectHandle


class PreparedVectors:
    """names: OPERATION/NAME of each vector that is legal in the subject's version."""

    def __init__(self, subject: SubjectHandle, is_wanted: Callable[[VectorHeader], bool] = lambda _: True) -> None:
        self._subject = subject
        chosen = [header for header in headers(subject.version, one_each=True) if header.rejected is None]
        self._headers = {f"{header.operation}/{header.name}": header for header in chosen if is_wanted(header)}
        self.names = list(self._headers)
        self._found: dict[str, Prepared] = {}

    def get(self, name: str) -> Prepared | None:
        """The vector of a name; None for an unknown one. Its model is not prepared where the device refuses that."""
        header = self._headers.get(name)
        if header is None:
            return None
        if name not in self._found:
            self._found[name] = self._prepare(header)
        return self._found[name]

    def clear(self) -> None:
        """Forget what is prepared, since the subject has begun anew."""
        self._found.clear()

    def _prepare(self, header: VectorHeader) -> Prepared:
        return prepared_vector(self._subject, vectors.load(header.operation, header.name))


def prepared_vector(subject: SubjectHandle, vector: Vector) -> Prepared:
    """A vector whose model is prepared, unless the device refuses that."""
    model, example = build_model(vector, subject.version).model, vector.examples[0]
    device = subject.interfaces.device
    assert device is not None
    prepared = prepare(subject, device, model, NEUTRAL, PreparationRecorder()).prepared_model
    return Prepared(vector, example, model, build_request(vector, example, subject.version), prepared)
