"""A .tflite model twice: imported, on the reference driver, and in LiteRT's own interpreter."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from reference_driver import DriverFixture

from npu_conformance.corpus.importers.tflite.importing import TfliteModel
from npu_conformance.corpus.vectors import Example
from npu_conformance.corpus.wire_model import build_model, build_request
from npu_conformance.specs.neuralnetworks.operand_types import OPERAND_TYPES

Array = npt.NDArray[Any]


def on_reference(model: TfliteModel, runs: Sequence[Sequence[Array]]) -> list[list[Array]]:
    """The outputs of each run, in the element types and shapes of the file. runs: their inputs; the state goes on."""
    vector = model.vector
    driver = DriverFixture(vector.since)
    prepared = driver.prepared(build_model(vector, vector.since).model)
    states = {state.input: state.initial for state in model.states}
    results = []
    for given in runs:
        named = {
            port.operand: _stored(model, port.operand, value) for port, value in zip(model.inputs, given, strict=True)
        }
        example = Example(named | states, {name: _empty(model, name) for name in vector.outputs})
        built = build_request(vector, example, vector.since)
        driver.run(prepared, driver.request(built))
        found = built.read_like(example, bytes(driver.memory.pools[driver.outputs.token]))
        states = {state.input: found[state.output] for state in model.states}
        results.append([_as_in_file(found[port.operand], port.shape, port.type) for port in model.outputs])
    return results


def in_litert(flatbuffer: bytes, runs: Sequence[Sequence[Array]], kernels: str = "BUILTIN_REF") -> list[list[Array]]:
    """The outputs of each run of LiteRT's interpreter. kernels: a name of its OpResolverType."""
    from ai_edge_litert.interpreter import Interpreter, OpResolverType

    interpreter = Interpreter(model_content=flatbuffer, experimental_op_resolver_type=OpResolverType[kernels])
    interpreter.allocate_tensors()
    inputs, outputs = interpreter.get_input_details(), interpreter.get_output_details()
    results = []
    for given in runs:
        for detail, value in zip(inputs, given, strict=True):
            interpreter.set_tensor(detail["index"], value)
        interpreter.invoke()
        results.append([np.array(interpreter.get_tensor(detail["index"])) for detail in outputs])
    return results


def random_inputs(model: TfliteModel, generator: np.random.Generator) -> list[Array]:
    """One value for each input: all of the range of an integer type, floats between -1 and 1."""
    return [_random(port.type, port.shape, generator) for port in model.inputs]


def _random(kind: str, shape: tuple[int, ...], generator: np.random.Generator) -> Array:
    if kind == "BOOL":
        return np.asarray(generator.integers(0, 2, shape).astype(bool))
    dtype = np.dtype(kind.lower())
    if dtype.kind == "f":
        return np.asarray(generator.uniform(-1, 1, shape).astype(dtype))
    low, high = (np.iinfo(dtype).min, np.iinfo(dtype).max) if dtype.itemsize == 1 else (-100, 100)
    return np.asarray(generator.integers(low, high, shape, endpoint=True).astype(dtype))


def _stored(model: TfliteModel, name: str, value: Array) -> Array:
    operand = model.vector.operands[name]
    return value.astype(OPERAND_TYPES[operand.type].dtype, copy=False).reshape(operand.dimensions)


def _empty(model: TfliteModel, name: str) -> Array:
    operand = model.vector.operands[name]
    return np.zeros(operand.dimensions, OPERAND_TYPES[operand.type].dtype)


def _as_in_file(value: Array, shape: tuple[int, ...], kind: str) -> Array:
    return value.astype(bool if kind == "BOOL" else value.dtype).reshape(shape)
