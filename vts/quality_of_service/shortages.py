"""What is too much for any device is rejected for good, and in a version's own statuses."""

from __future__ import annotations

import struct

from npu_conformance.harness.judge import checks
from npu_conformance.harness.judge.verdicts import NotSupported
from npu_conformance.harness.run.cases import CaseGroup, Group
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.harness.run.executing.executors import execute
from npu_conformance.specs.errors import status_name
from npu_conformance.specs.neuralnetworks.enums import ErrorStatus, OperandType, OperationType
from npu_conformance.specs.neuralnetworks.hal import documented_statuses
from npu_conformance.specs.neuralnetworks.types import (
    DataLocation,
    Model,
    Operation,
    Request,
    RequestArgument,
    RequestMemoryPool,
)
from npu_conformance.specs.versions import Version
from npu_conformance.vts.lib.deadlines import TRANSIENT
from npu_conformance.vts.lib.structure_models import INPUT, OUTPUT, graph, tensor

cases = CaseGroup("vts.quality_of_service", group=Group.EXECUTION)

_REPEATS = 1 << 20
_REJECTIONS = "GAOR"
_MULTIPLES, _DATA, _OUTPUT, _ROOM = 0, 16, 32, 16


@cases.case(
    "shortage.result_beyond_any_memory", "NNHAL-ERROR-002", "NNHAL-ERROR-003", "NNHAL-QOS-017", since=Version.V1_2
)
def result_beyond_any_memory(context: CaseContext) -> None:
    """A result of 4 TiB, as only the request shows, is rejected in the version's statuses, and not as TRANSIENT."""
    model = _tile()
    if not all(context.supported_operations(model)):
        raise NotSupported("TILE to a size that only the request knows is not supported")
    preparation = context.prepare(model)
    if preparation.prepared_model is None:
        raise NotSupported("TILE to a size that only the request knows is not prepared")
    small = execute(context, preparation.prepared_model, _request(context, 2), measure=False)
    if small.status == ErrorStatus.GENERAL_FAILURE:
        raise NotSupported("TILE to a size that only the request knows is not executed")
    with checks.about("NNHAL-EXECUTE-001"):
        checks.status(small.status, {ErrorStatus.NONE}, "execution whose result takes 16 bytes")
    for attempt in ("first", "again"):
        with context.configuration(attempt):
            execution = execute(context, preparation.prepared_model, _request(context, _REPEATS), measure=False)
            expected = documented_statuses(_REJECTIONS, context.version)
            checks.status(execution.status, expected, "execution whose result takes 4 TiB")
            if execution.status in TRANSIENT:
                context.warn_quality(f"a result of 4 TiB: {status_name(execution.status)}, where it can never succeed")


def _tile() -> Model:
    """TILE of one element by multiples that the request brings, to an output of unknown sizes."""
    operands = [
        tensor(OperandType.TENSOR_FLOAT32, (1, 1), INPUT),
        tensor(OperandType.TENSOR_INT32, (2,), INPUT),
        tensor(OperandType.TENSOR_FLOAT32, (0, 0), OUTPUT),
    ]
    return Model(graph(operands, [Operation(OperationType.TILE, (0, 1), (2,))]))


def _request(context: CaseContext, repeats: int) -> Request:
    pool = context.pool(_OUTPUT + _ROOM)
    pool.write(_MULTIPLES, struct.pack("<2i", repeats, repeats))
    pool.write(_DATA, struct.pack("<f", 1.0))
    data, multiples = (RequestArgument(location=DataLocation(0, *place)) for place in ((_DATA, 4), (_MULTIPLES, 8)))
    output = RequestArgument(location=DataLocation(0, _OUTPUT, _ROOM))
    return Request((data, multiples), (output,), (RequestMemoryPool(pool=pool.memory),))
