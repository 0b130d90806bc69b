"""Requests made invalid by one edit, for stored vectors: every executor rejects each with INVALID_ARGUMENT.

A case is one operation; each edit of a request is a sub-verdict. AOSP's VTS removes inputs and outputs; the other edits
break rules R1 to R8 of the interface text. `--scope full` takes every edit of every vector by every executor. The
default scope draws, with the seed of the case, two vectors, one edit of each kind for each, and the executor, where
AOSP does not try the edit by all of them. The pools of each second vector lie behind two that nothing lies in, since
a driver may look at its first pools alone.
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from msgspec.structs import replace

from npu_conformance.corpus import vectors
from npu_conformance.corpus.vectors import Vector, VectorHeader
from npu_conformance.corpus.wire_model import build_model, build_request
from npu_conformance.harness.judge import checks
from npu_conformance.harness.judge.verdicts import NotApplicable, NotSupported
from npu_conformance.harness.run.cases import Case, Group, Scope
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.harness.run.executing.execution import request_of
from npu_conformance.harness.run.executing.executors import executors
from npu_conformance.harness.run.preparation import model_of
from npu_conformance.specs.neuralnetworks.operand_types import OPERAND_TYPES
from npu_conformance.specs.neuralnetworks.types import (
    DataLocation,
    Model,
    Operand,
    Request,
    RequestArgument,
    RequestMemoryPool,
)
from npu_conformance.specs.versions import Version
from npu_conformance.vts.lib import edits
from npu_conformance.vts.lib.aosp_verdict import with_aosp_verdict
from npu_conformance.vts.lib.rejection import asked_by_text_alone, expect_request_rejected
from npu_conformance.vts.lib.support import supports

_VECTORS = 2
_UNUSED_BYTES = 64
_REQUIREMENTS = (
    *(f"NNHAL-REQUEST-{number:03}" for number in (1, 2, 3, 4, 5, 6, 7, 8, 9, 16, 17)),
    "NNHAL-ERROR-005",
    "NNHAL-ROBUST-002",
    "NNHAL-SUPPORT-004",
)


_BREAKS = {
    "in_": ("NNHAL-REQUEST-004",),
    "negative_pool": ("NNHAL-REQUEST-004",),
    "padding_that_wraps": ("NNHAL-ROBUST-002", "NNHAL-REQUEST-006"),
    "padding": ("NNHAL-REQUEST-006",),
    "offset_that_wraps": ("NNHAL-ROBUST-002", "NNHAL-REQUEST-005"),
    "length_that_wraps": ("NNHAL-ROBUST-002", "NNHAL-REQUEST-005"),
    "behind": ("NNHAL-REQUEST-005",),
    "one_byte": ("NNHAL-REQUEST-005",),
    "negative": ("NNHAL-REQUEST-005",),
    "no_value": ("NNHAL-REQUEST-003",),
    "rank": ("NNHAL-REQUEST-007",),
    "dimensions_of_a_scalar": ("NNHAL-REQUEST-007",),
    "size_more": ("NNHAL-REQUEST-008",),
    "as_many_elements": ("NNHAL-REQUEST-008",),
    "size_0": ("NNHAL-REQUEST-009",),
    "open": ("NNHAL-REQUEST-009",),
    "unknown_kind": ("NNHAL-REQUEST-016",),
}
"""The requirements that an edit breaks, by how its name begins."""


_OF_TEXT_ALONE = ("input.dimensions_of_a_scalar", "output.dimensions_of_a_scalar")
"""Kinds of edits that AOSP's own driver takes."""


@dataclass(frozen=True, slots=True)
class InvalidRequest:
    """An invalid request. label: the place, a dot, and what was done there. in_aosp: whether AOSP's VTS does it."""

    label: str
    request: Request
    in_aosp: bool = False

    @property
    def kind(self) -> str:
        """What was done, and to which side: whatever the position."""
        place, _, kind = self.label.rpartition(".")
        return f"{place.rstrip('0123456789')}.{kind}"

    @property
    def breaks(self) -> tuple[str, ...]:
        """The requirements that the edit breaks."""
        side, _, kind = self.kind.partition(".")
        if kind in ("removed", "added"):
            return ("NNHAL-REQUEST-001" if side.startswith("input") else "NNHAL-REQUEST-002",)
        return next(breaks for word, breaks in _BREAKS.items() if kind.startswith(word))


def cases() -> Iterator[Case]:
    """One case for each operation."""
    for operation in vectors.operations():
        headers = [header for header in vectors.headers(operation) if header.rejected is None]
        if headers:
            yield _case(operation, headers)


def _case(operation: str, headers: list[VectorHeader]) -> Case:
    def run(context: CaseContext) -> None:
        draw = random.Random(context.seed)
        legal = [header for header in headers if header.since <= context.version]
        if not legal:
            raise NotApplicable(f"no vector of {operation} is legal in HAL {context.version}")
        chosen = enumerate(_supported(context, legal, draw))
        if not sum(_expect_requests_rejected(context, vector, draw, place % 2 == 1) for place, vector in chosen):
            raise NotSupported(f"no vector of {operation} that was tried is supported")

    return Case(
        f"vts.request_mutations.{operation}.arguments",
        run,
        _REQUIREMENTS,
        "Requests of its vectors, each made invalid by one edit, are rejected by every executor.",
        since=min(header.since for header in headers),
        group=Group.VALIDATION,
        operations=(operation,),
    )


def _supported(context: CaseContext, legal: list[VectorHeader], draw: random.Random) -> Iterator[Vector]:
    """All supported vectors with an example, or two of them."""
    full = context.scope is Scope.FULL
    if not full:
        draw.shuffle(legal)
    found = 0
    for header in legal:
        vector = vectors.load(header.operation, header.name)
        if vector.examples and supports(context, vector):
            yield vector
            found += 1
        if found == _VECTORS and not full:
            return


def _expect_requests_rejected(context: CaseContext, vector: Vector, draw: random.Random, behind_others: bool) -> int:
    """See the edits of a vector's first request rejected; return how many there were.

    behind_others: there are two more pools, before those of the vector.
    """
    model = build_model(vector, context.version).model
    preparation, restarts = context.prepare(model), context.restarts
    prepared_model = model_of(preparation, f"prepareModel of {vector.name}, which is supported")
    request = request_of(context, build_request(vector, vector.examples[0], context.version))
    if behind_others:
        request = _behind_unused_pools(context, request)
    invalid = _drawn(context, list(mutations(request, model, context.version)), draw)
    for position, one in enumerate(invalid):
        for executor in _ways(context, one, draw):
            if context.restarts != restarts:
                # What the harness held of the subject died with it; the verdict is there already.
                return len(invalid)
            name = f"{vector.name}.{executor}.{one.label}"
            if context.wants(name):
                verdict = with_aosp_verdict("yes" if one.in_aosp else "no")
                text_alone = asked_by_text_alone(context, when=one.kind in _OF_TEXT_ALONE)
                with context.configuration(name), text_alone, verdict, checks.about(*one.breaks):
                    measure = position % 2 == 1
                    expect_request_rejected(context, prepared_model, model, one.request, executor, measure=measure)
    return len(invalid)


def _behind_unused_pools(context: CaseContext, request: Request) -> Request:
    unused = tuple(RequestMemoryPool(pool=context.pool(_UNUSED_BYTES).memory) for _ in range(2))

    def moved(argument: RequestArgument) -> RequestArgument:
        place = argument.location
        return replace(argument, location=replace(place, pool_index=place.pool_index + len(unused)))

    def all_moved(arguments: Sequence[RequestArgument]) -> tuple[RequestArgument, ...]:
        return tuple(one if one.has_no_value else moved(one) for one in arguments)

    return Request(all_moved(request.inputs), all_moved(request.outputs), (*unused, *request.pools))


def _drawn(context: CaseContext, found: list[InvalidRequest], draw: random.Random) -> Sequence[InvalidRequest]:
    if context.scope is Scope.FULL:
        return found
    draw.shuffle(found)
    return list({one.kind: one for one in found}.values())


def _ways(context: CaseContext, one: InvalidRequest, draw: random.Random) -> Sequence[str]:
    ways = executors(context.version)
    return ways if one.in_aosp or context.scope is Scope.FULL else (draw.choice(ways),)


def mutations(request: Request, model: Model, version: Version) -> Iterator[InvalidRequest]:
    """Every edit of a valid request that makes it invalid."""
    operands = model.main.operands
    for field, indexes in (("inputs", model.main.input_indexes), ("outputs", model.main.output_indexes)):
        arguments: tuple[RequestArgument, ...] = getattr(request, field)
        for place, (argument, index) in enumerate(zip(arguments, indexes, strict=True)):
            where = f"{field[:-1]}{place}"
            without = arguments[:place] + arguments[place + 1 :]
            yield InvalidRequest(f"{where}.removed", replace(request, **{field: without}), in_aosp=True)
            if argument.has_no_value:
                continue
            found = {**_locations(argument, request, version), **_shapes(argument, operands[index], field)}
            for name, wrong in found.items():
                changed = (*arguments[:place], wrong, *arguments[place + 1 :])
                yield InvalidRequest(f"{where}.{name}", replace(request, **{field: changed}))
        added = (*arguments, RequestArgument(has_no_value=True))
        yield InvalidRequest(f"{field}.added", replace(request, **{field: added}))
    for place, one in enumerate(request.pools):
        if one.pool is not None:
            unknown = RequestMemoryPool(pool=replace(one.pool, kind="no_such_kind"))
            pools = (*request.pools[:place], unknown, *request.pools[place + 1 :])
            yield InvalidRequest(f"pool{place}.unknown_kind", replace(request, pools=pools))


def _locations(argument: RequestArgument, request: Request, version: Version) -> dict[str, RequestArgument]:
    """Places outside every pool, by name."""
    place = argument.location
    pool = request.pools[place.pool_index].pool
    assert pool is not None
    places = {
        "in_missing_pool": replace(place, pool_index=len(request.pools)),
        "in_largest_pool": replace(place, pool_index=2**31 - 1),
        "behind_pool": replace(place, offset=pool.size + 1, padding=0),
        "offset_that_wraps": replace(place, offset=2**32 - 4, length=max(place.length, 4), padding=0),
        "length_that_wraps": replace(place, offset=4, length=2**32 - 4, padding=0),
    }
    if place.length:
        places["one_byte_beyond"] = replace(place, offset=pool.size - place.length + 1, padding=0)
    if version.is_aidl:
        room = pool.size - place.offset - place.length
        places["padding_beyond"] = replace(place, padding=room + 1)
        places["padding_that_wraps"] = replace(place, padding=2**32 - place.length)
        places["negative_offset"] = replace(place, offset=-4)
        places["negative_length"] = replace(place, length=-4)
        places["negative_pool"] = replace(place, pool_index=-1)
    found = {name: replace(argument, location=wrong) for name, wrong in places.items()}
    if place != DataLocation():
        found["no_value_with_location"] = replace(argument, has_no_value=True, dimensions=())
    found["no_value_with_dimensions"] = RequestArgument(has_no_value=True, dimensions=(1,))
    return found


def _shapes(argument: RequestArgument, operand: Operand, field: str) -> dict[str, RequestArgument]:
    """Dimensions that contradict the model's, or leave those of an input open."""
    info = OPERAND_TYPES.get(operand.type)
    if info is None:
        return {}
    if not info.is_tensor:
        return {"dimensions_of_a_scalar": replace(argument, dimensions=(1,))}
    given, declared = argument.dimensions or operand.dimensions, operand.dimensions
    wrong: dict[str, tuple[int, ...]] = {}
    if declared:
        wrong["rank_more"] = (*given, 1)
        if len(declared) > 1:
            wrong["rank_less"] = given[1:]
    known = [axis for axis, size in enumerate(declared) if size > 0]
    if known:
        wrong["size_more"] = edits.replaced(given, known[-1], declared[known[-1]] + 1)
    if len(known) == len(declared) > 1 and (others := _as_many_elements(declared)) != declared:
        wrong["as_many_elements"] = others
    if field == "inputs":
        if given:
            wrong["size_0"] = edits.replaced(given, len(given) - 1, 0)
        if 0 in declared or not declared:
            wrong["open"] = ()
    return {name: replace(argument, dimensions=dimensions) for name, dimensions in wrong.items()}


def _as_many_elements(dimensions: tuple[int, ...]) -> tuple[int, ...]:
    """Other dimensions of the same rank with the same number of elements, where there are any."""
    turned = dimensions[::-1]
    return turned if turned != dimensions else (*(1,) * (len(dimensions) - 1), math.prod(dimensions))
