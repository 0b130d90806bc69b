"""More than 4096 results, behind which an index of twelve bits begins again."""

import dataclasses

from msgspec import structs

from npu_conformance.corpus.generators.base import Vectors, positive
from npu_conformance.corpus.generators.operands import Operands, int32, int32s, scalar, tensor
from npu_conformance.corpus.generators.types import BOOL8, FLOAT32, INT32, QUANT8
from npu_conformance.specs.documents.vectors import GeneratorDocument
from npu_conformance.specs.neuralnetworks.enums import OperandType

_ROWS, _COLUMNS = 66, 65
_SHAPE = (_ROWS, _COLUMNS)
_FLOATS = GeneratorDocument(kind="dyadic", seed=41, low=-4.0, high=4.0, step=0.5)
_TRUTHS = GeneratorDocument(kind="integers", seed=42, low=0, high=1)
_ROW_NUMBERS = GeneratorDocument(kind="integers", seed=43, low=0, high=9)
_KEYS = GeneratorDocument(kind="integers", seed=45, low=0, high=11)
"""Of which 10 and 11 are not found."""
BEHIND_4096 = "a place behind 4096 needs more than twelve bits"
"""What is told by such a vector."""

STATES = GeneratorDocument(kind="dyadic", seed=60, low=-1.0, high=1.0, step=0.25)
"""Inputs and states of many cells."""

_FEW = 64
"""Elements along an axis that a file can have."""

_OF_UNEQUAL = ("ARGMAX", "ARGMIN", "TOPK_V2")
"""Operations that compare: in half floats some elements are equal."""


def from_seeds(inputs: Operands, like: GeneratorDocument) -> Operands:
    """The longest operands, with elements of this kind, each from a seed of its own."""
    return {
        name: dataclasses.replace(spec, data=structs.replace(like, seed=like.seed + place))
        for place, (name, spec) in enumerate(inputs.items())
        if spec.data is not None and max(spec.operand.dimensions, default=0) > _FEW
    }


def many_results(operation: str) -> Vectors:
    """One vector of an operation that looks at all elements by itself, or at a few of them."""
    kind = "bool8" if operation in ("REDUCE_ALL", "REDUCE_ANY") else "float32"
    inputs, outputs = _arguments(operation)
    excluded = ["float16", "relaxed"] if operation in _OF_UNEQUAL else []
    yield positive(f"{kind}_many_results", operation, inputs, outputs, description=BEHIND_4096, excluded=excluded)


def _arguments(operation: str) -> tuple[Operands, Operands]:
    plain: Operands = {"output": tensor(FLOAT32, _SHAPE)}
    match operation:
        case "QUANTIZE":
            output = tensor(QUANT8, _SHAPE, scale=0.25, zero_point=100)
            return {"input": tensor(FLOAT32, _SHAPE, _FLOATS)}, {"output": output}
        case "FILL":
            return {"dims": int32s(*_SHAPE), "value": scalar(OperandType.FLOAT32, 1.5)}, plain
        case "SQUEEZE":
            return {"input": tensor(FLOAT32, (_ROWS, 1, _COLUMNS), _FLOATS), "axes": int32s(1)}, plain
        case "PACK":
            pair = {f"input{at}": tensor(FLOAT32, (_ROWS, 33), _FLOATS) for at in range(2)}
            return {"axis": int32(1), **pair}, {"output": tensor(FLOAT32, (_ROWS, 2, 33))}
        case "BATCH_MATMUL":
            factors = {"a": tensor(FLOAT32, (_ROWS, 2), _FLOATS), "b": tensor(FLOAT32, (2, _COLUMNS), _FLOATS)}
            turned = {name: scalar(OperandType.BOOL, 0) for name in ("adj_x", "adj_y")}
            return {**factors, **turned}, plain
        case "EMBEDDING_LOOKUP":
            values = tensor(FLOAT32, (10, _COLUMNS), _FLOATS)
            return {"lookups": tensor(INT32, (_ROWS,), _ROW_NUMBERS), "values": values}, plain
        case "HASHTABLE_LOOKUP":
            keys, values = int32s(*range(10)), tensor(FLOAT32, (10, _COLUMNS), _FLOATS)
            lookups = tensor(INT32, (_ROWS,), _KEYS)
            hits = tensor(QUANT8, (_ROWS,), scale=1.0)
            return {"lookups": lookups, "keys": keys, "values": values}, {**plain, "hits": hits}
        case "TOPK_V2":
            shape = (_ROWS, 33, 2)
            outputs = {"values": tensor(FLOAT32, shape), "indices": tensor(INT32, shape)}
            return {"input": tensor(FLOAT32, (_ROWS, 33, 3), _distinct()), "k": int32(2)}, outputs
        case "ARGMAX" | "ARGMIN":
            source = tensor(FLOAT32, (*_SHAPE, 3), _distinct())
            return {"input": source, "axis": int32(2)}, {"output": tensor(INT32, _SHAPE)}
        case _:
            return _reduced(operation)


def _distinct() -> GeneratorDocument:
    """Floats of which hardly any two are equal: which of equal ones is found is open."""
    return GeneratorDocument(kind="uniform", seed=44, low=-4.0, high=4.0)


def _reduced(operation: str) -> tuple[Operands, Operands]:
    kind, data = (BOOL8, _TRUTHS) if operation in ("REDUCE_ALL", "REDUCE_ANY") else (FLOAT32, _FLOATS)
    keep = OperandType.INT32 if operation == "MEAN" else OperandType.BOOL
    source = tensor(kind, (*_SHAPE, 2), data)
    return {"input": source, "axes": int32s(2), "keep_dims": scalar(keep, 0)}, {"output": tensor(kind, _SHAPE)}
