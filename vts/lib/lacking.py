"""Operations that a device lacks altogether: it is asked about small models, before others are drawn and computed."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable

from npu_conformance.corpus import vectors
from npu_conformance.corpus.vectors import Vector, VectorHeader
from npu_conformance.harness.judge.verdicts import Failed, NotSupported
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.specs.errors import ServiceError
from npu_conformance.specs.versions import Version
from npu_conformance.vts.lib.support import supports


def require_operation(context: CaseContext, operation: str) -> None:
    """Raise NotSupported where the device has the operation in no type, no rank, and with no kind of arguments.

    A device that has some of it, or claims anything, is left as it was: nothing of this is on record then.
    """
    if context.manifest.claims:
        return
    before = len(context.own.models)
    for header in forms_of(operation, context.version):
        if not _is_refused(context, vectors.load(operation, header.name)):
            del context.own.models[before:]
            return
    raise NotSupported(f"no model of {operation} is supported")


def _is_refused(context: CaseContext, vector: Vector) -> bool:
    """True where the device does not support a vector; what is wrong with an answer other cases find."""
    try:
        return not supports(context, vector)
    except (Failed, ServiceError):
        return False


def forms_of(operation: str, version: Version) -> Iterable[VectorHeader]:
    """The largest stored vector of each form of an operation, then the smallest.

    Hardware may want sizes that fill its vectors, or have no room for large ones.
    """
    headers = (one for one in vectors.headers(operation) if one.rejected is None and one.since <= version)
    rising = sorted(headers, key=_size)
    largest = {_form(header): header for header in rising}.values()
    smallest = {_form(header): header for header in reversed(rising)}.values()
    return {header.name: header for header in (*largest, *smallest)}.values()


def _form(header: VectorHeader) -> Hashable:
    """What devices mostly choose operations by: the types, ranks and roles of their operands."""
    return tuple((one.type, one.role, len(one.dimensions)) for one in header.operands.values())


def _size(header: VectorHeader) -> int:
    return sum(math.prod(one.dimensions) for one in header.operands.values())
