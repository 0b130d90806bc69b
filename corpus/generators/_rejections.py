"""Rejections that several generators share. Each breaks one clause and nothing else."""

from npu_conformance.corpus.generators._elementwise import SHORT, stored_bytes
from npu_conformance.corpus.generators.base import Vectors, rejected
from npu_conformance.corpus.generators.data import dyadic, integers
from npu_conformance.corpus.generators.operands import Data, Operands, OperandSpec, int32, tensor
from npu_conformance.corpus.generators.types import BOOL8, FLOAT32, INT32, QUANT8, SIGNED
from npu_conformance.corpus.vectors import Vector
from npu_conformance.specs.neuralnetworks import catalogue
from npu_conformance.specs.neuralnetworks.enums import OperandType

Shape = tuple[int, ...]


def binary(
    operation: str,
    *,
    activation: bool,
    mismatch: str,
    outputs: str,
    kind: OperandType = FLOAT32,
    result: OperandType = FLOAT32,
    names: tuple[str, str] = ("input0", "input1"),
) -> Vectors:
    """Shapes that do not broadcast, outputs declared otherwise than they are.

    activation: whether there is a third input. mismatch, outputs: numbers of the two clauses. kind, result: types of
    the inputs and of the output. names: of the inputs.
    """
    for name, first, second in (("last", (2, 3), (2,)), ("first", (2, 3), (3, 3)), ("middle", (2, 4, 3), (2, 1))):
        if name == "middle":
            second = (2, 3)
        yield rejected(
            f"broadcast_mismatch_{name}_dimension",
            operation,
            _binary_inputs(first, second, activation, kind, names),
            {"output": tensor(result, first)},
            clause=f"{operation}.{mismatch}",
        )
    for name, declared in (("transposed", (3, 2)), ("of_lower_rank", (3,)), ("of_the_second_input", (1, 3))):
        yield rejected(
            f"output_declared_{name}",
            operation,
            _binary_inputs((2, 3), (1, 3), activation, kind, names),
            {"output": tensor(result, declared)},
            clause=f"{operation}.{outputs}",
        )


def _binary_inputs(
    first: Shape,
    second: Shape,
    activation: bool,
    kind: OperandType = FLOAT32,
    names: tuple[str, str] = ("input0", "input1"),
) -> Operands:
    given = zip(names, (first, second), (1, 2), strict=True)
    inputs = {name: tensor(kind, shape, _numbers(kind, seed, shape)) for name, shape, seed in given}
    return {**inputs, "activation": int32(0)} if activation else inputs


def _numbers(kind: OperandType, seed: int, shape: Shape) -> Data:
    return integers(seed, shape, 0, 1) if kind is BOOL8 else dyadic(seed, shape)


def _since(operation: str) -> str:
    return catalogue.operation(operation).since.value


def arithmetic(operation: str) -> Vectors:
    """The rejections that ADD, SUB, MUL and DIV share: clauses C1 to C4 and C6."""
    yield from binary(operation, activation=True, mismatch="C1", outputs="C6")
    for found, clause in ((False, RANK_CLAUSE), (True, f"{operation}.C2")):
        yield rejected(
            rank5_name(found),
            operation,
            {
                "input0": rank5(FLOAT32, found),
                "input1": tensor(FLOAT32, (3,), dyadic(2, (3,))),
                "activation": int32(0),
            },
            {"output": tensor(FLOAT32, () if found else RANK5)},
            clause=clause,
            phase="execution",
            since="1.2" if found else _since(operation),
        )
    for code in (4, -1):
        yield rejected(
            f"activation_{'minus_1' if code < 0 else code}",
            operation,
            {**_binary_inputs((2, 3), (2, 3), True), "activation": int32(code)},
            {"output": tensor(FLOAT32, (2, 3))},
            clause=f"{operation}.C3",
        )
    yield rejected(
        "int32_with_activation",
        operation,
        {
            "input0": tensor(INT32, (2, 3), [1, -2, 3, -4, 5, -6]),
            "input1": tensor(INT32, (3,), [2, 3, -4]),
            "activation": int32(1),
        },
        {"output": tensor(INT32, (2, 3))},
        clause=f"{operation}.C4",
        hazards=["int32-arithmetic"],
    )
    yield mixed_types(operation, activation=True)


def mixed_types(
    operation: str,
    *,
    activation: bool,
    kind: OperandType = FLOAT32,
    result: OperandType = FLOAT32,
    names: tuple[str, str] = ("input0", "input1"),
) -> Vector:
    """Two inputs of different types: `kind` and TENSOR_INT32. result: type of the output. names: of the inputs."""
    inputs = {
        names[0]: tensor(kind, (2, 3), _numbers(kind, 1, (2, 3))),
        names[1]: tensor(INT32, (2, 3), [1, 2, 3, 4, 5, 6]),
    }
    return rejected(
        "mixed_types",
        operation,
        {**inputs, "activation": int32(0)} if activation else inputs,
        {"output": tensor(result, (2, 3))},
        clause="MODEL.P3",
        since=_since(operation),
    )


def quantized_before(operation: str, until: str) -> Vector:
    """An operation on TENSOR_QUANT8_ASYMM in versions that do not have it for that type."""
    first, second = stored_bytes(1, (2, 3), 0), stored_bytes(2, (3,), 0)
    return rejected(
        f"quant8_until_{until.replace('.', '_')}",
        operation,
        {
            "input0": tensor(QUANT8, (2, 3), first, scale=0.5, zero_point=10),
            "input1": tensor(QUANT8, (3,), second, scale=0.5, zero_point=10),
            "activation": int32(0),
        },
        {"output": tensor(QUANT8, (2, 3), scale=0.5, zero_point=10)},
        clause="MODEL.P3",
        since=_since(operation),
        until=until,
    )


def unary(operation: str, *, ranks: str, outputs: str) -> Vectors:
    """An input of rank 5, and outputs declared otherwise than the input. ranks, outputs: numbers of the clauses."""
    yield from ranks_of(operation, FLOAT32, FLOAT32, f"{operation}.{ranks}", {})
    yield from declared(operation, FLOAT32, FLOAT32, outputs)


RANK_CLAUSE = "MODEL.P3R"
RANK5 = (1, 2, 1, 1, 3)


def ranks_of(operation: str, source: OperandType, target: OperandType, clause: str, extra: Operands) -> Vectors:
    """An input of rank 5, which the model says, or which only the request says (since 1.2). extra: further inputs."""
    for found in (False, True):
        yield rejected(
            rank5_name(found),
            operation,
            {"input": rank5(source, found), **extra},
            {"output": tensor(target, () if found else RANK5)},
            clause=clause if found else RANK_CLAUSE,
            phase="execution",
            since="1.2" if found else "1.0",
        )


def rank5_name(found: bool) -> str:
    """The name of a vector with rank 5: declared, or found when it runs."""
    return "rank5_at_execution" if found else "rank5"


def rank5(kind: OperandType, found: bool) -> OperandSpec:
    """An input of rank 5; `found`: of unknown rank in the model."""
    return tensor(kind, () if found else RANK5, [1, 2, 3, 4, 5, 6], scale=_scale(kind), shape=RANK5)


def declared(
    operation: str,
    source: OperandType,
    target: OperandType,
    clause: str,
    extra: Operands | None = None,
) -> Vectors:
    """Outputs whose declared dimensions are not the input's. extra: further inputs."""
    for name, shape in (("transposed", (3, 2)), ("of_higher_rank", (1, 2, 3)), ("too_small", (2, 2))):
        yield rejected(
            f"output_declared_{name}",
            operation,
            {"input": tensor(source, (2, 3), [1, 2, 3, 4, 5, 6], scale=_scale(source)), **(extra or {})},
            {"output": tensor(target, shape, scale=_scale(target))},
            clause=f"{operation}.{clause}",
        )


def _scale(kind: OperandType) -> float:
    return 0.5 if kind is QUANT8 else 0.0


def output_quantization(
    operation: str, clause: str, right: tuple[float, int], extra: Operands | None = None
) -> Vectors:
    """A quantised output with a scale, or with a zero point, other than it must have.

    right: the scale and the unsigned zero point that it must have. extra: further inputs.
    """
    wrong = {"scale": (right[0] * 2, right[1]), "zero_point": (right[0], right[1] + (1 if right[1] < 128 else -1))}
    for kind in (QUANT8, SIGNED):
        shift = 128 if kind is SIGNED else 0
        for name, (scale, point) in wrong.items():
            source = tensor(kind, (2, 3), stored_bytes(3, (2, 3), shift), scale=0.05, zero_point=100 - shift)
            yield rejected(
                f"{SHORT[kind]}_output_{name}",
                operation,
                {"input": source, **(extra or {})},
                {"output": tensor(kind, (2, 3), scale=scale, zero_point=point - shift)},
                clause=f"{operation}.{clause}",
                hazards=["fixed-output-quantization"] if operation in ("LOGISTIC", "TANH") else [],
            )
