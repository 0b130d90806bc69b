"""The validator survives any content, and is quick about it."""

from __future__ import annotations

import math
import time

import numpy

from npu_conformance.specs.neuralnetworks.enums import OperandLifeTime, OperandType, OperationType
from npu_conformance.specs.neuralnetworks.types import (
    DataLocation,
    ExtensionNameAndPrefix,
    Memory,
    Model,
    Operand,
    OperandExtraParams,
    Operation,
    Request,
    RequestArgument,
    RequestMemoryPool,
    Subgraph,
    SymmPerChannelQuantParams,
)
from npu_conformance.specs.neuralnetworks.validate import structural_rules, validate_model, validate_request
from npu_conformance.specs.versions import Version

KNOWN = {rule.id for rule in structural_rules()}


def garbage(random: numpy.random.Generator) -> int:
    return int(random.choice([-(2**63), -1, 0, 1, 2, 3, 5, 14, 15, 99, 10000, 65536, 2**31, 2**32 - 1, 10**18]))


def random_operand(random: numpy.random.Generator) -> Operand:
    quant = SymmPerChannelQuantParams((math.nan, -1.0), garbage(random))
    return Operand(
        garbage(random),
        tuple(garbage(random) for _ in range(random.integers(0, 5))),
        float(random.choice([0.0, -1.0, math.nan, math.inf, 1e-45])),
        garbage(random),
        int(random.integers(-1, 9)),
        DataLocation(garbage(random), garbage(random), garbage(random), garbage(random)),
        OperandExtraParams(quant) if random.integers(0, 2) else None,
        garbage(random),
    )


def random_graph(random: numpy.random.Generator) -> Subgraph:
    operands = tuple(random_operand(random) for _ in range(random.integers(0, 7)))

    def indexes() -> tuple[int, ...]:
        return tuple(
            garbage(random) % 8 if random.integers(0, 4) else garbage(random) for _ in range(random.integers(0, 6))
        )

    codes = [*range(106), 10000, 0x10005, -1]
    operations = tuple(Operation(int(random.choice(codes)), indexes(), indexes()) for _ in range(random.integers(0, 5)))
    return Subgraph(operands, operations, indexes(), indexes())


def test_any_garbage_is_survived() -> None:
    random = numpy.random.default_rng(20)
    for _ in range(300):
        model = Model(
            random_graph(random),
            tuple(random_graph(random) for _ in range(random.integers(0, 3))),
            bytes(8),
            (Memory("ashmem", garbage(random), garbage(random), garbage(random), garbage(random)),),
            extension_name_to_prefix=(ExtensionNameAndPrefix("", garbage(random)),),
        )
        for version in Version:
            assert {violation.clause for violation in validate_model(model, version, text_rules=True)} <= KNOWN


def random_arguments(random: numpy.random.Generator) -> tuple[RequestArgument, ...]:
    return tuple(
        RequestArgument(
            bool(random.integers(0, 2)),
            DataLocation(garbage(random) % 3, garbage(random), garbage(random), garbage(random)),
            tuple(garbage(random) for _ in range(random.integers(0, 3))),
        )
        for _ in range(random.integers(0, 5))
    )


def test_any_request_is_survived() -> None:
    random = numpy.random.default_rng(21)
    for _ in range(300):
        pool = RequestMemoryPool(Memory("ashmem", garbage(random), garbage(random)), garbage(random))
        request = Request(random_arguments(random), random_arguments(random), (pool, RequestMemoryPool(None)))
        model = Model(random_graph(random))
        for version in Version:
            found = validate_request(request, model, version, fenced=bool(random.integers(0, 2)), text_rules=True)
            assert {violation.clause for violation in found} <= KNOWN


def reference(offset: int) -> Operand:
    location = DataLocation(0, offset, 0)
    return Operand(OperandType.SUBGRAPH, lifetime=OperandLifeTime.SUBGRAPH, location=location)


def test_a_long_chain_of_references_is_refused_quickly() -> None:
    count = 2000
    chain = tuple(Subgraph((reference((index + 1) % count),), (), (), ()) for index in range(count))
    wide = Operand(OperandType.TENSOR_FLOAT32, (10**9,) * 1000)
    main = Subgraph((wide, wide), (Operation(OperationType.RELU, (0,), (1,)),), (), ())
    started = time.process_time()
    violations = validate_model(Model(main, chain), Version.V1_3)
    assert "MODEL.M4" in {violation.clause for violation in violations}
    straight = Model(main, chain[:-1])
    assert "MODEL.M4" not in {violation.clause for violation in validate_model(straight, Version.V1_3)}
    assert time.process_time() - started < 5
