"""Asks a HAL driver as a witness of stored vectors, in this process."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from contextlib import closing
from typing import TYPE_CHECKING

from npu_conformance.corpus.vectors import Example, Vector
from npu_conformance.corpus.wire_model import build_model, build_request
from npu_conformance.harness.run.cases import Case
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.harness.run.executing.execution import in_pools, synchronous
from npu_conformance.harness.subject.handle import SubjectHandle
from npu_conformance.harness.subject.loading import open_subject
from npu_conformance.harness.subject.plugin_loading import LoadError
from npu_conformance.specs.errors import ServiceError
from npu_conformance.specs.neuralnetworks.enums import ErrorStatus
from npu_conformance.specs.versions import NEWEST, Version

if TYPE_CHECKING:
    from npu_conformance.corpus.vectors import Array

_CASE = Case("vectors.witness", lambda context: None, ())


class DriverWitness:
    """An engine: the driver of a plug-in, at the version that it has, 1.2 or later."""

    def __init__(self, plugin: str, options: Mapping[str, str]) -> None:
        self._plugin, self._options = plugin, options

    @functools.cached_property
    def _subject(self) -> SubjectHandle:
        """Opened where it is asked first: in the process that a crash of the driver may end."""
        subject = open_subject(self._plugin, dict(self._options), "inprocess")
        if "device" not in subject.manifest.interfaces or subject.version < Version.V1_2:
            raise LoadError(f"{self._plugin}: expected a driver of HAL 1.2 or later, found HAL {subject.version}")
        return subject

    def __call__(self, vector: Vector, example: Example) -> Mapping[str, Array] | None:
        """The outputs by operand name; None where the driver does not execute the example with success."""
        subject = self._subject
        until = NEWEST if vector.rejected is None else vector.rejected.until
        if not vector.since <= subject.version <= until:
            return None
        with closing(CaseContext(_CASE, subject)) as context:
            try:
                return _executed(context, vector, example)
            except ServiceError:
                return None


def _executed(context: CaseContext, vector: Vector, example: Example) -> Mapping[str, Array] | None:
    prepared_model = context.prepare(build_model(vector, context.version).model).prepared_model
    if prepared_model is None:
        return None
    built = build_request(vector, example, context.version)
    request, outputs = in_pools(context, built)
    execution = synchronous(prepared_model, request, measure=False)
    if execution.status != ErrorStatus.NONE:
        return None
    content = outputs.read(0, built.output_size)
    told = {name: shape.dimensions for name, shape in zip(vector.outputs, execution.output_shapes, strict=False)}
    shapes = {name: told.get(name) or array.shape for name, array in example.outputs.items()}
    return {name: built.read(name, content, shape) for name, shape in shapes.items()}
