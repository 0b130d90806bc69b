"""Operations that a device lacks altogether: it is asked about small models, before others are drawn and computed."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable
from weakref import WeakKeyDictionary

from npu_conformance.corpus import vectors
from npu_conformance.corpus.vectors import Vector, VectorHeader
from npu_conformance.harness.judge.asked_models import AskedModel
from npu_conformance.harness.judge.verdicts import Failed, NotSupported
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.harness.subject.handle import SubjectHandle
from npu_conformance.specs.errors import ServiceError
from npu_conformance.specs.versions import Version
from npu_conformance.vts.lib.support import supports


def require_operation(context: CaseContext, operation: str) -> None:
    """Raise NotSupported where the device has the operation in no type, no rank, and with no kind of arguments.

    A device is asked once. Of one that has some of it, or claims anything, nothing of this is on record.
    """
    refused = refused_of(context, operation)
    if refused:
        context.own.models.extend(refused)
        raise NotSupported(f"no model of {operation} is supported")


def refused_of(context: CaseContext, operation: str) -> list[AskedModel]:
    """The models of an operation that the device lacks altogether; none of one that it has, and where it claims any."""
    if context.manifest.claims:
        return []
    known = _refused.setdefault(context.subject, {})
    if operation not in known:
        known[operation] = _all_refused(context, operation)
    return known[operation]


_LARGE = 1024
"""Elements of all operands."""
_refused: WeakKeyDictionary[SubjectHandle, dict[str, list[AskedModel]]] = WeakKeyDictionary()
"""The models of operations that a subject has refused; none of an operation that it has."""


def _all_refused(context: CaseContext, operation: str) -> list[AskedModel]:
    """What the device was asked, if it refuses all of it; it is not on the case's record yet."""
    models = context.own.models
    before = len(models)
    headers = forms_of(operation, context.version)
    are_refused = all(_is_refused(context, vectors.load(operation, header.name)) for header in headers)
    asked = models[before:]
    del models[before:]
    return asked if are_refused else []


def _is_refused(context: CaseContext, vector: Vector) -> bool:
    """True where the device does not support a vector; what is wrong with an answer other cases find."""
    try:
        return not supports(context, vector)
    except (Failed, ServiceError):
        return False


def forms_of(operation: str, version: Version) -> Iterable[VectorHeader]:
    """Stored vectors of each form of an operation: the largest of those that are not large, then the smallest.

    Hardware may want sizes that fill its vectors, or have no room for large ones. To read large ones takes long, since
    their values are worked out.
    """
    headers = (one for one in vectors.headers(operation) if one.rejected is None and one.since <= version)
    rising = sorted(headers, key=_size)
    largest = {_form(header): header for header in rising if _size(header) <= _LARGE}.values()
    smallest = {_form(header): header for header in reversed(rising)}.values()
    return {header.name: header for header in (*largest, *smallest)}.values()


def _form(header: VectorHeader) -> Hashable:
    """What devices mostly choose operations by: the types, ranks and roles of their operands."""
    return tuple((one.type, one.role, len(one.dimensions)) for one in header.operands.values())


def _size(header: VectorHeader) -> int:
    return sum(math.prod(one.dimensions) for one in header.operands.values())
