"""From a subgraph to a model: operator after operator, then its outputs."""

from __future__ import annotations

from npu_conformance.corpus.importers.tflite.contents import Contents, Operator, Tensor
from npu_conformance.corpus.importers.tflite.errors import Unsupported
from npu_conformance.corpus.importers.tflite.flatbuffer import Array
from npu_conformance.corpus.importers.tflite.folding import fold
from npu_conformance.corpus.importers.tflite.operators.table import NO_COUNTERPART, OPERATORS, REASONS
from npu_conformance.corpus.importers.tflite.step import Step
from npu_conformance.corpus.importers.tflite.tensors import operand_of
from npu_conformance.corpus.importers.tflite.translation import Translation
from npu_conformance.corpus.importers.tflite.variables import Key
from npu_conformance.corpus.vectors import VectorOperand
from npu_conformance.specs.neuralnetworks.enums import OperandType

MOST_NESTED = 32
"""How deep branches and loops may be nested."""


def translate(contents: Contents) -> Translation:
    """Translate a file's model; what cannot be expressed is in `problems`. Raises TfliteError for a wrong file."""
    calls = _Calls(contents)
    calls.main = Translation(contents, contents.subgraphs[0], calls.graph)
    return _translated(calls.main)


class _Calls:
    """The subgraphs that IF and WHILE refer to: each becomes a graph once, and none may lead back to itself."""

    main: Translation

    def __init__(self, contents: Contents) -> None:
        self._contents = contents
        self._numbers: dict[int, int] = {}
        self._open = [0]

    def graph(self, number: int) -> int:
        """The number of a graph of the model. Raises Unsupported."""
        if number in self._open or len(self._open) > MOST_NESTED:
            raise Unsupported(
                f"subgraph {number} leads back to itself, or subgraphs are nested more than {MOST_NESTED} deep"
            )
        if number not in self._numbers:
            self._open.append(number)
            self._numbers[number] = self._translated(number)
            self._open.pop()
        return self._numbers[number]

    def _translated(self, number: int) -> int:
        called = _translated(Translation(self._contents, self._contents.subgraphs[number], self.graph))
        outputs, states = as_outputs(called)
        if states:
            called.problems.append(f"subgraph {number} has a state, which NNAPI does not keep in a branch or loop")
        self.main.problems += called.problems
        return self.main.builder.add_graph(called.builder.graph(outputs))


def _translated(translation: Translation, *, initialises: bool = False) -> Translation:
    """The same translation, with all operators. initialises: for CALL_ONCE, so that it may not call another."""
    subgraph, variables = translation.subgraph, translation.variables
    for index in dict.fromkeys(subgraph.inputs):
        _add_input(translation, subgraph.tensors[index])
    variables.assigned = _assigned(translation)
    for operator in subgraph.operators:
        step = Step(translation, operator)
        try:
            if operator.name == "CALL_ONCE" and not initialises:
                variables.initial |= _initial_values(translation, operator)
            elif not fold(step):
                _translate(step)
        except Unsupported as problem:
            _note(translation, operator, str(problem))
        _check_outputs(step)
    return translation


def _add_input(translation: Translation, tensor: Tensor) -> None:
    try:
        translation.bind(tensor, translation.builder.input(operand_of(tensor)))
    except Unsupported as problem:
        translation.problems.append(f"input {problem}")


def _translate(step: Step) -> None:
    if step.operator.name not in OPERATORS:
        raise Unsupported(REASONS.get(step.operator.name, NO_COUNTERPART))
    if any(step.translation.is_known(step.output(position)) for position in range(len(step.operator.outputs))):
        raise step.translation.error("an output of it already has a value", step.operator)
    OPERATORS[step.operator.name](step)


def _note(translation: Translation, operator: Operator, problem: str) -> None:
    place = f"operator {operator.index} {operator.name} of subgraph {translation.subgraph.index}"
    translation.problems.append(f"{place}: {problem}")


def _check_outputs(step: Step) -> None:
    """Give outputs of what could not be translated an operand all the same, so that all problems come to light."""
    translation = step.translation
    for number in step.operator.outputs:
        tensor = translation.subgraph.tensors[number]
        if not translation.is_known(tensor) and translation.problems and tensor.type != "RESOURCE":
            try:
                translation.bind(tensor, translation.builder.input(operand_of(tensor)))
            except Unsupported:
                # Whoever reads the tensor says why it has no operand.
                continue


def _assigned(translation: Translation) -> set[Key]:
    """The variables that a subgraph writes: seen before all else, since others are constants."""
    handles, assigned = {}, set()
    for operator in translation.subgraph.operators:
        if operator.name == "VAR_HANDLE" and operator.outputs:
            key = operator.text_option("Container"), operator.text_option("SharedName")
            handles[operator.outputs[0]] = key
        elif operator.name == "ASSIGN_VARIABLE" and operator.inputs:
            assigned.add(handles.get(operator.inputs[0], ("", "")))
    return assigned


def _initial_values(translation: Translation, operator: Operator) -> dict[Key, Array]:
    """The values that the subgraph of CALL_ONCE assigns."""
    number = operator.option("InitSubgraphIndex")
    if number not in range(len(translation.contents.subgraphs)) or number == translation.subgraph.index:
        raise translation.error(f"there is no other subgraph {number}", operator)
    called = Translation(translation.contents, translation.contents.subgraphs[number], _refuse_call)
    _translated(called, initialises=True)
    translation.problems += called.problems
    unknown = [key[1] for key in called.variables.assigned if key not in called.variables.constants]
    if unknown and not called.problems:
        raise Unsupported(f"the variable {unknown[0]!r} starts with what is not constant")
    return dict(called.variables.constants)


def _refuse_call(number: int) -> int:
    raise Unsupported(f"subgraph {number} is called where variables get their first values")


def as_outputs(translation: Translation) -> tuple[list[str], list[str]]:
    """Operands for the subgraph's outputs, and for the next values of its states.

    NNAPI's outputs are results of operations, and no two of them are one operand: what is an input or a constant, or is
    given twice, goes through an operation that copies it. Where an operator has not been translated, its outputs are
    inputs, and what is wrong with a copy of these is nothing that the file has.
    """
    outputs: list[str] = []
    has_stand_ins = bool(translation.problems)
    for position, index in enumerate(translation.subgraph.outputs):
        is_named = False
        try:
            name = translation.name(translation.subgraph.tensors[index])
            is_named = True
            outputs.append(_copied(translation, name) if name in outputs else _result(translation, name))
        except Unsupported as problem:
            if not (is_named and has_stand_ins):
                translation.problems.append(f"output {position}: {problem}")
    try:
        return outputs, [_result(translation, state.output) for state in translation.variables.ends()]
    except Unsupported as problem:
        translation.problems.append(f"a state: {problem}")
        return outputs, []


def _result(translation: Translation, name: str) -> str:
    return name if translation.builder.is_result(name) else _copied(translation, name)


def _copied(translation: Translation, name: str) -> str:
    operand = translation.builder.operand(name)
    result = VectorOperand(operand.type, operand.dimensions, operand.scale, operand.zero_point)
    step = Step(translation, Operator(-1, "", (), ()))
    if operand.type in (OperandType.TENSOR_INT32, OperandType.TENSOR_BOOL8, OperandType.TENSOR_QUANT16_SYMM):
        return step.emit("CAST", [name], result)
    return step.emit("RESHAPE", [name, step.vector(operand.dimensions)], result)
