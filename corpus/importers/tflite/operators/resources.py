"""VAR_HANDLE, READ_VARIABLE, ASSIGN_VARIABLE: variables that outlive a run. CALL_ONCE: what they start with."""

from __future__ import annotations

from npu_conformance.corpus.importers.tflite.errors import Unsupported
from npu_conformance.corpus.importers.tflite.step import Step
from npu_conformance.corpus.importers.tflite.tensors import elements, operand_of
from npu_conformance.corpus.importers.tflite.variables import Key


def var_handle(step: Step) -> None:
    """VAR_HANDLE: a tensor that stands for a variable."""
    key = step.operator.text_option("Container"), step.operator.text_option("SharedName")
    step.translation.variables.handles[step.output().index] = key


def read_variable(step: Step) -> None:
    """READ_VARIABLE: the value that was assigned in this run, the one that the run began with, or the only one."""
    key, variables = _key(step), step.translation.variables
    if key in variables.current:
        _read_current(step, variables.current[key])
        return
    initial = variables.initial.get(key)
    operand = step.result()
    if initial is None:
        raise Unsupported(f"variable {key[1]!r} is read, and nothing initialises it")
    if initial.shape != step.output().shape or elements(operand, initial).dtype.itemsize != initial.dtype.itemsize:
        raise Unsupported(
            f"variable {key[1]!r} starts with {initial.dtype.name}{list(initial.shape)}, and is read as "
            f"{step.output().type}{list(step.output().shape)}"
        )
    if key in variables.assigned:
        name = step.translation.builder.input(operand)
        variables.inputs[key] = name, elements(operand, initial)
        variables.current[key] = name
    else:
        name = step.translation.constant_operand(step.output(), initial)
    step.translation.bind(step.output(), name)


def _read_current(step: Step, name: str) -> None:
    found, wanted = step.translation.builder.operand(name), step.result()
    if (found.type, found.dimensions, found.scale, found.zero_point) != (
        wanted.type,
        wanted.dimensions,
        wanted.scale,
        wanted.zero_point,
    ):
        raise Unsupported(f"{step.output()} reads a variable in another type, shape or quantisation than it has")
    step.translation.bind(step.output(), name)


def assign_variable(step: Step) -> None:
    """ASSIGN_VARIABLE."""
    key, variables, tensor = _key(step), step.translation.variables, step.tensor(1)
    value = step.translation.constant(tensor)
    if value is not None:
        variables.constants[key] = value
    variables.current[key] = step.name(1)
    if key in variables.inputs:
        before = step.translation.builder.operand(variables.inputs[key][0])
        if (before.type, before.dimensions) != (operand_of(tensor).type, operand_of(tensor).dimensions):
            raise Unsupported(f"variable {key[1]!r} changes its type or shape")


def _key(step: Step) -> Key:
    tensor = step.tensor(0)
    key = step.translation.variables.handles.get(tensor.index)
    if key is None:
        raise Unsupported(f"{tensor} stands for no variable of this subgraph")
    return key
