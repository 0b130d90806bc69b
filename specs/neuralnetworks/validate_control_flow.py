"""Rules of IF and WHILE, P5 to P8: subgraph references, and compatible operands at both sides of the border."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from npu_conformance.specs.neuralnetworks.enums import OperandLifeTime, OperandType
from npu_conformance.specs.neuralnetworks.operand_types import OPERAND_TYPES, element_count
from npu_conformance.specs.neuralnetworks.types import Operand, OperandExtraParams, Subgraph
from npu_conformance.specs.neuralnetworks.validate_operands import REFERENCE
from npu_conformance.specs.neuralnetworks.validate_scope import ModelUnderValidation, type_name

_FIRST_BRANCH_INPUT = 3
_FIRST_LOOP_INPUT = 2


def check_if(scope: ModelUnderValidation, number: int, graph: Subgraph, position: int) -> None:
    """Report what is wrong with an IF whose operands exist."""
    operation = graph.operations[position]
    inputs = [graph.operands[index] for index in operation.inputs]
    outputs = [graph.operands[index] for index in operation.outputs]
    _check_present(scope, number, graph, position)
    problem = _if_problem(scope, inputs, outputs)
    if problem is not None:
        scope.report("MODEL.P5", f"operation {position} (IF): {problem}", number, position)
        return
    for name, reference in (("then", inputs[1]), ("else", inputs[2])):
        branch = scope.model.referenced[reference.location.offset]
        pairs = [*_pairs(inputs[_FIRST_BRANCH_INPUT:], branch, branch.input_indexes)]
        pairs += _pairs(outputs, branch, branch.output_indexes)
        _check_pairs(scope, number, position, f"IF {name} branch", pairs)


def _if_problem(scope: ModelUnderValidation, inputs: Sequence[Operand], outputs: Sequence[Operand]) -> str | None:
    if len(inputs) < _FIRST_BRANCH_INPUT or not outputs:
        return f"{len(inputs)} inputs and {len(outputs)} outputs, expected at least 3 and 1"
    condition = inputs[0]
    if condition.type != OperandType.TENSOR_BOOL8 or condition.dimensions != (1,):
        return f"the condition is {type_name(condition.type)} {list(condition.dimensions)}, expected TENSOR_BOOL8 [1]"
    for name, reference in (("then", inputs[1]), ("else", inputs[2])):
        branch = _referenced(scope, reference)
        if branch is None:
            return f"the {name} branch is not a reference to a subgraph"
        if len(branch.input_indexes) != len(inputs) - _FIRST_BRANCH_INPUT:
            return f"the {name} branch has {len(branch.input_indexes)} inputs, IF has {len(inputs) - 3} for it"
        if len(branch.output_indexes) != len(outputs):
            return f"the {name} branch has {len(branch.output_indexes)} outputs, IF has {len(outputs)}"
    return None


def check_while(scope: ModelUnderValidation, number: int, graph: Subgraph, position: int) -> None:
    """Report what is wrong with a WHILE whose operands exist."""
    operation = graph.operations[position]
    inputs = [graph.operands[index] for index in operation.inputs]
    outputs = [graph.operands[index] for index in operation.outputs]
    _check_present(scope, number, graph, position)
    problem = _while_problem(scope, inputs, outputs)
    if problem is not None:
        scope.report("MODEL.P6", f"operation {position} (WHILE): {problem}", number, position)
        return
    condition = scope.model.referenced[inputs[0].location.offset]
    body = scope.model.referenced[inputs[1].location.offset]
    loop = inputs[_FIRST_LOOP_INPUT:]
    body_inputs = _operands(body, body.input_indexes)
    pairs = [*_pairs(loop, condition, condition.input_indexes), *_pairs(loop, body, body.input_indexes)]
    pairs += _pairs(body_inputs[: len(body.output_indexes)], body, body.output_indexes)
    pairs += _pairs(outputs, body, body.output_indexes)
    _check_pairs(scope, number, position, "WHILE", pairs)
    _check_sizes(scope, number, position, [*(operand for pair in pairs for operand in pair)])


def _while_problem(scope: ModelUnderValidation, inputs: Sequence[Operand], outputs: Sequence[Operand]) -> str | None:
    if len(inputs) <= _FIRST_LOOP_INPUT or not outputs:
        return f"{len(inputs)} inputs and {len(outputs)} outputs, expected at least 3 and 1"
    condition, body = _referenced(scope, inputs[0]), _referenced(scope, inputs[1])
    if condition is None or body is None:
        return f"the {'condition' if condition is None else 'body'} is not a reference to a subgraph"
    carried = len(inputs) - _FIRST_LOOP_INPUT
    for name, graph in (("condition", condition), ("body", body)):
        if len(graph.input_indexes) != carried:
            return f"the {name} has {len(graph.input_indexes)} inputs, WHILE carries {carried}"
    verdicts = _operands(condition, condition.output_indexes)
    if len(verdicts) != 1 or verdicts[0].type != OperandType.TENSOR_BOOL8 or verdicts[0].dimensions != (1,):
        return "the condition must have one output, TENSOR_BOOL8 [1]"
    results = len(body.output_indexes)
    if not len(outputs) <= results <= carried:
        return f"the body has {results} outputs, expected {len(outputs)} to {carried}"
    return None


def _check_present(scope: ModelUnderValidation, number: int, graph: Subgraph, position: int) -> None:
    for index in graph.operations[position].inputs:
        if graph.operands[index].lifetime == OperandLifeTime.NO_VALUE:
            message = f"operation {position}: operand {index} is omitted; control flow has no optional inputs"
            scope.report("MODEL.P3O", message, number, position, index)


def _referenced(scope: ModelUnderValidation, reference: Operand) -> Subgraph | None:
    if reference.type != OperandType.SUBGRAPH or reference.lifetime != REFERENCE:
        return None
    offset = reference.location.offset
    if not 0 <= offset < len(scope.model.referenced):
        return None
    graph = scope.model.referenced[offset]
    count = len(graph.operands)
    # A graph whose lists name operands that do not exist is reported as G1 and cannot be looked into.
    listed = (*graph.input_indexes, *graph.output_indexes)
    return graph if all(0 <= index < count for index in listed) else None


def _operands(graph: Subgraph, indexes: Iterable[int]) -> list[Operand]:
    return [graph.operands[index] for index in indexes]


def _pairs(outer: Sequence[Operand], graph: Subgraph, indexes: Sequence[int]) -> list[tuple[Operand, Operand]]:
    return list(zip(outer, _operands(graph, indexes), strict=False))


def _check_pairs(
    scope: ModelUnderValidation, number: int, position: int, what: str, pairs: Sequence[tuple[Operand, Operand]]
) -> None:
    for one, other in pairs:
        problem = incompatibility(one, other)
        if problem is not None:
            scope.report("MODEL.P7", f"operation {position} ({what}): {problem}", number, position)


def incompatibility(one: Operand, other: Operand) -> str | None:
    """Return why two operands cannot stand for the same value across a border, or None where they can."""
    if one.type != other.type:
        return f"{type_name(one.type)} against {type_name(other.type)}"
    if one.scale != other.scale or one.zero_point != other.zero_point:
        return f"scale {one.scale} and zero point {one.zero_point} against {other.scale} and {other.zero_point}"
    if (one.extra_params or OperandExtraParams()) != (other.extra_params or OperandExtraParams()):
        return "different extra parameters"
    if one.dimensions and other.dimensions and not _combine(one.dimensions, other.dimensions):
        return f"dimensions {list(one.dimensions)} against {list(other.dimensions)}"
    return None


def _combine(one: Sequence[int], other: Sequence[int]) -> bool:
    return len(one) == len(other) and all(a == b or a == 0 or b == 0 for a, b in zip(one, other, strict=True))


def _check_sizes(scope: ModelUnderValidation, number: int, position: int, operands: Sequence[Operand]) -> None:
    for operand in operands:
        info = OPERAND_TYPES.get(operand.type)
        if info is None or not info.is_tensor or info.size == 0:
            continue
        if not operand.dimensions or element_count(operand.dimensions) == 0:
            message = (
                f"operation {position} (WHILE): {type_name(operand.type)} {list(operand.dimensions)} at the border"
            )
            scope.report("MODEL.P8", f"{message} has no known size", number, position)
            return
