"""Extensions that the device does not have: nothing of them may be taken for something that it has.

A type or an operation is an extension's where its high bits say so, whatever the low ones look like.
"""

from __future__ import annotations

from msgspec.structs import replace

from npu_conformance.harness.judge import checks
from npu_conformance.harness.run.cases import CaseGroup
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.specs.neuralnetworks.enums import OperandType, OperationType
from npu_conformance.specs.neuralnetworks.types import Model, Operation
from npu_conformance.specs.versions import Version
from npu_conformance.vts.lib import addition
from npu_conformance.vts.lib.edits import with_operation
from npu_conformance.vts.lib.extensions import models
from npu_conformance.vts.lib.structure_models import INPUT, OUTPUT, graph, tensor

cases = CaseGroup("vts.extensions.unknown")

_OPERATIONS = {"add": int(OperationType.ADD), "oem": int(OperationType.OEM_OPERATION), "last": 0xFFFF}
_TYPES = {"float32": OperandType.TENSOR_FLOAT32, "oem": OperandType.TENSOR_OEM_BYTE}


@cases.case("operations", "NNHAL-EXTENSION-001", "NNHAL-QUERY-026", since=Version.V1_2)
def operations(context: CaseContext) -> None:
    """An operation of an unknown extension is not supported, also where its low bits are those of ADD."""
    for name, low in _OPERATIONS.items():
        for prefix in _prefixes(context.version):
            with context.configuration(f"{name}.prefix_{prefix}"):
                small = with_operation(addition.model(), 0, type=models.code(prefix, low))
                _unsupported(context, replace(small, extension_name_to_prefix=models.mapping(unknown=prefix)))


@cases.case("operand_types", "NNHAL-EXTENSION-001", "NNHAL-QUERY-026", since=Version.V1_2)
def operand_types(context: CaseContext) -> None:
    """RELU of an unknown type is not supported, also where the low bits are those of TENSOR_FLOAT32."""
    for name, low in _TYPES.items():
        for prefix in _prefixes(context.version):
            with context.configuration(f"{name}.prefix_{prefix}"):
                kind = models.code(prefix, low)
                operands = [tensor(kind, lifetime=INPUT), tensor(kind, lifetime=OUTPUT)]
                main = graph(operands, [Operation(OperationType.RELU, (0,), (1,))])
                model = Model(main, extension_name_to_prefix=models.mapping(unknown=prefix))
                _unsupported(context, model, may_be_refused=True)


@cases.case("beside_addition", "NNHAL-EXTENSION-001", "NNHAL-QUERY-026", since=Version.V1_2)
def beside_addition(context: CaseContext) -> None:
    """In a model with ADD and an operation of an unknown extension, the second one is not supported."""
    small = addition.model()
    operands = [*small.main.operands, tensor(lifetime=OUTPUT)]
    unknown = Operation(models.code(1, OperationType.RELU), (0,), (len(operands) - 1,))
    main = graph(operands, [*small.main.operations, unknown])
    model = replace(small, main=main, extension_name_to_prefix=models.mapping(unknown=1))
    answers = checks.works(lambda: context.supported_operations(model), "getSupportedOperations of a valid model")
    checks.that(not answers[1], "getSupportedOperations: expected the unknown operation not to be supported")
    _not_prepared(context, model)


def _prefixes(version: Version) -> tuple[int, ...]:
    return (1, 0x4000, models.highest_prefix(version))


def _unsupported(context: CaseContext, model: Model, *, may_be_refused: bool = False) -> None:
    """may_be_refused: RELU may count as invalid with operands of a type that is none of its own."""
    checks.that(
        not models.supports_any(context, model, may_be_refused=may_be_refused),
        f"the device supports an operation of {models.UNKNOWN}, which it cannot know",
    )
    _not_prepared(context, model)


def _not_prepared(context: CaseContext, model: Model) -> None:
    preparation = context.prepare(model)
    what = f"prepareModel of a model that needs {models.UNKNOWN}: expected no prepared model, found one"
    checks.that(preparation.prepared_model is None, what)
