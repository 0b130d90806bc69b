"""Rules of requests, R1 to R8: arguments against a valid model and the request's pools."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from npu_conformance.specs.neuralnetworks.operand_types import OPERAND_TYPES, byte_size
from npu_conformance.specs.neuralnetworks.types import (
    BLOB_FORMAT,
    Model,
    Operand,
    Request,
    RequestArgument,
    RequestMemoryPool,
)
from npu_conformance.specs.neuralnetworks.validate_graph import pool_problem
from npu_conformance.specs.neuralnetworks.validate_operands import POOL
from npu_conformance.specs.neuralnetworks.validate_rules import RULES
from npu_conformance.specs.neuralnetworks.validate_scope import Kind, VersionLimits, limits_of, type_name
from npu_conformance.specs.neuralnetworks.violations import Violation
from npu_conformance.specs.versions import Version


class RequestScope(msgspec.Struct):
    """A request under validation. whole_pools: pools that are used as a whole, with an all-zero location."""

    request: Request
    model: Model
    limits: VersionLimits
    pool_sizes: Sequence[int]
    whole_pools: frozenset[int]
    needs_output_shapes: bool
    text_rules: bool
    violations: list[Violation]

    def report(self, rule: str, message: str, position: int | None = None) -> None:
        """Note that a rule is broken. Rules of the text alone count only where they were asked for."""
        if self.text_rules or RULES[rule].latest != "text":
            self.violations.append(Violation(rule, message, operand=position))


def check_request(
    request: Request, model: Model, version: Version, pool_sizes: Sequence[int] | None, fenced: bool, text_rules: bool
) -> list[Violation]:
    """Return what is wrong with a request; see `validate.validate_request`."""
    limits = limits_of(version)
    sizes = [pool.pool.size if pool.pool else 0 for pool in request.pools] if pool_sizes is None else list(pool_sizes)
    whole = frozenset(index for index, pool in enumerate(request.pools) if _is_whole(pool))
    needs_shapes = fenced or not limits.has_unknown_rank
    scope = RequestScope(request, model, limits, sizes, whole, needs_shapes, text_rules, [])
    _check_pools(scope)
    _check_arguments(scope, "input", request.inputs, model.main.input_indexes)
    _check_arguments(scope, "output", request.outputs, model.main.output_indexes)
    _check_overlap(scope)
    return scope.violations


def _is_whole(pool: RequestMemoryPool) -> bool:
    if pool.pool is None:
        return True
    if pool.pool.kind == "hardwareBuffer":
        return pool.pool.description is not None and pool.pool.description.format != BLOB_FORMAT
    return pool.pool.kind == "hardware_buffer"


def _check_pools(scope: RequestScope) -> None:
    for index, pool in enumerate(scope.request.pools):
        if pool.pool is not None:
            problem = pool_problem(pool.pool, scope.limits)
        elif not scope.limits.has_subgraphs:
            problem = f"HAL {scope.limits.version} has no device buffers"
        else:
            problem = None if pool.token > 0 else f"token {pool.token} must be positive"
        if problem is not None:
            scope.report("REQUEST.R8", f"pool {index}: {problem}")


def _check_arguments(
    scope: RequestScope, what: str, arguments: Sequence[RequestArgument], indexes: Sequence[int]
) -> None:
    if len(arguments) != len(indexes):
        scope.report("REQUEST.R1", f"{len(arguments)} {what}s, the model has {len(indexes)}")
        return
    operands = scope.model.main.operands
    for position, (argument, index) in enumerate(zip(arguments, indexes, strict=True)):
        if 0 <= index < len(operands):
            _check_argument(scope, what, position, argument, operands[index])


def _check_argument(scope: RequestScope, what: str, position: int, argument: RequestArgument, operand: Operand) -> None:
    if argument.has_no_value:
        location = argument.location
        if any((location.pool_index, location.offset, location.length, location.padding)) or argument.dimensions:
            scope.report("REQUEST.R2", f"{what} {position}: no value, but a location or dimensions", position)
        return
    checks = (
        ("REQUEST.R3", _location_problem(scope, argument)),
        ("REQUEST.R4", _dimensions_problem(scope, what, argument, operand)),
        ("REQUEST.R5", _unknown_problem(scope, what, argument, operand)),
        ("REQUEST.R6", _length_problem(scope, argument, operand)),
    )
    for rule, problem in checks:
        if problem is not None:
            scope.report(rule, f"{what} {position} ({type_name(operand.type)}): {problem}", position)


def _location_problem(scope: RequestScope, argument: RequestArgument) -> str | None:
    location = argument.location
    if not 0 <= location.pool_index < len(scope.request.pools):
        return f"pool {location.pool_index} does not exist, the request has {len(scope.request.pools)}"
    padding = location.padding if scope.limits.is_aidl else 0
    parts = (location.offset, location.length, padding)
    if location.pool_index in scope.whole_pools:
        return f"location {parts} in a pool that is used as a whole must be 0" if any(parts) else None
    if min(parts) < 0:
        return f"offset {location.offset}, length {location.length} or padding {padding} is negative"
    size = scope.pool_sizes[location.pool_index] if location.pool_index < len(scope.pool_sizes) else 0
    if sum(parts) > size:
        return f"offset {location.offset} + length {location.length} + padding {padding} is outside of {size} bytes"
    return None


def _dimensions_problem(scope: RequestScope, what: str, argument: RequestArgument, operand: Operand) -> str | None:
    given, declared = argument.dimensions, operand.dimensions
    if not given:
        return None
    kind = scope.limits.kind(operand.type)
    if not declared and kind is not None and kind.is_scalar:
        return f"dimensions {list(given)} for a scalar"
    if declared and len(given) != len(declared):
        return f"rank {len(given)}, the model says {len(declared)}"
    if any(size < 0 for size in given):
        return f"dimensions {list(given)} are negative"
    if declared and any(size != model and model != 0 for size, model in zip(given, declared, strict=True)):
        return f"dimensions {list(given)}, the model says {list(declared)}"
    if 0 in given and (what == "input" or scope.needs_output_shapes):
        return f"dimensions {list(given)} have an unknown size"
    return None


def _unknown_problem(scope: RequestScope, what: str, argument: RequestArgument, operand: Operand) -> str | None:
    if argument.dimensions or (what == "output" and not scope.needs_output_shapes):
        return None
    kind: Kind | None = scope.limits.kind(operand.type)
    if kind is not None and kind.is_tensor and not operand.dimensions:
        return "the rank is known neither from the model nor from the request"
    if 0 in operand.dimensions:
        return f"dimensions {list(operand.dimensions)} of the model need those of the request"
    return None


def _length_problem(scope: RequestScope, argument: RequestArgument, operand: Operand) -> str | None:
    if not scope.limits.is_aidl or argument.location.pool_index in scope.whole_pools:
        return None
    size = byte_size(operand.type, argument.dimensions or operand.dimensions)
    if operand.type not in OPERAND_TYPES or size <= 0 or argument.location.length == size:
        return None
    return f"length {argument.location.length}, expected {size}"


def _check_overlap(scope: RequestScope) -> None:
    outputs = [argument for argument in scope.request.outputs if not argument.has_no_value]
    inputs = [argument for argument in scope.request.inputs if not argument.has_no_value]
    for number, output in enumerate(outputs):
        others = outputs[number + 1 :] + inputs
        if any(_overlap(output, other) for other in others) or _overlaps_constant(scope, output):
            scope.report("REQUEST.R7", f"output {number} overlaps another value", number)


def _overlap(one: RequestArgument, other: RequestArgument) -> bool:
    first, second = one.location, other.location
    if first.pool_index != second.pool_index:
        return False
    return first.offset < second.offset + second.length and second.offset < first.offset + first.length


def _overlaps_constant(scope: RequestScope, output: RequestArgument) -> bool:
    location, pools = output.location, scope.request.pools
    pool = pools[location.pool_index].pool if 0 <= location.pool_index < len(pools) else None
    if pool is None:
        return False
    for operand in scope.model.main.operands:
        constant = operand.location
        if operand.lifetime != POOL or not 0 <= constant.pool_index < len(scope.model.pools):
            continue
        if scope.model.pools[constant.pool_index].token == pool.token and (
            location.offset < constant.offset + constant.length and constant.offset < location.offset + location.length
        ):
            return True
    return False
