"""Standard and OEM codes beside extensions: they keep their meaning."""

from __future__ import annotations

from msgspec.structs import replace

from npu_conformance.harness.judge import checks
from npu_conformance.harness.judge.verdicts import NotApplicable, NotSupported
from npu_conformance.harness.run.cases import CaseGroup
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.specs.neuralnetworks.enums import OperandType, OperationType
from npu_conformance.specs.neuralnetworks.types import ExtensionNameAndPrefix, Model, Operation
from npu_conformance.specs.versions import HIDL_LAST, Version
from npu_conformance.vts.lib import addition
from npu_conformance.vts.lib.addition import Addition
from npu_conformance.vts.lib.extensions import models
from npu_conformance.vts.lib.rejection import expect_rejected_at_prepare
from npu_conformance.vts.lib.structure_models import INPUT, OUTPUT, graph, tensor

cases = CaseGroup("vts.extensions.standard")


@cases.case("types_once", "NNHAL-QUERY-020", since=Version.V1_2)
def types_once(context: CaseContext) -> None:
    """A listed operand type has one kind and one size: no number has two entries that differ."""
    extensions = context.device.get_supported_extensions()
    if not extensions:
        raise NotApplicable("the device has no extensions")
    for extension in extensions:
        numbers = [entry.type for entry in set(extension.operand_types)]
        checks.equal(sorted(numbers), sorted(set(numbers)), f"{extension.name}: numbers of the operand types")


@cases.case("addition.mapped", "NNHAL-EXTENSION-009", since=Version.V1_2)
def addition_mapped(context: CaseContext) -> None:
    """ADD computes the same in a model that maps an extension that it does not use, known or not."""
    chosen = addition.supported(context)
    names = {f"listed_{place}": name for place, name in enumerate(sorted(models.listed(context)))}
    for label, name in {"unknown": models.UNKNOWN, **names}.items():
        with context.configuration(label):
            model = replace(chosen.model(), extension_name_to_prefix=(ExtensionNameAndPrefix(name, 5),))
            if not all(context.supported_operations(model)):
                checks.that(name == models.UNKNOWN, f"ADD is supported, but not in a model that maps {name}")
                raise NotSupported("ADD is not supported in a model that maps an extension unknown to the device")
            _adds(context, chosen, model)


@cases.case("addition.beside_fibonacci", "NNHAL-EXTENSION-009", "NNHAL-EXTENSION-012", since=Version.V1_2)
def addition_beside(context: CaseContext) -> None:
    """ADD and FIBONACCI, which has the number of ADD in its low bits, compute in one model what they compute alone."""
    models.need(context, models.FIBONACCI)
    chosen = addition.supported(context)
    small, prefix, length = chosen.model(), 6, 5
    first = len(small.main.operands)
    operands = [*small.main.operands, models.count_operand(prefix), models.numbers_operand(prefix, length, OUTPUT)]
    own = Operation(models.code(prefix, models.FIBONACCI_OPERATION), (first,), (first + 1,))
    main = graph(operands, [*small.main.operations, own])
    model = replace(small, main=main, extension_name_to_prefix=models.mapping(fibonacci=prefix))
    inputs = [chosen.packed(addition.A), chosen.packed(addition.B), models.packed_count(length)]
    memory = models.RequestMemory(context, inputs, [addition.SIZE, 8 * length])
    models.executed(context, models.prepared(context, model), memory)
    total, numbers = memory.outputs()
    chosen.check(total, addition.SUM, "sum beside FIBONACCI")
    checks.equal(numbers.hex(), models.packed_numbers(models.stored(length)).hex(), "numbers beside ADD")


@cases.case("oem.beside_addition", "NNHAL-SUPPORT-002", "NNHAL-EXTENSION-010", until=HIDL_LAST)
def oem_beside_addition(context: CaseContext) -> None:
    """HIDL allows OEM codes: they are answered beside ADD. Since 1.2 extensions are to be used instead."""
    model = _with_oem()
    answers = checks.works(lambda: context.supported_operations(model), "getSupportedOperations with OEM_OPERATION")
    if answers[1] and context.version >= Version.V1_2:
        context.warn_quality("the device supports an OEM operation: since HAL 1.2 extensions are to be used instead")


@cases.case("oem.not_in_aidl", "NNHAL-MODEL-004", "NNHAL-EXTENSION-010", since=Version.FL5)
def oem_not_in_aidl(context: CaseContext) -> None:
    """AIDL has no OEM codes, neither of the operation nor of the two types, even in a model with a mapping."""
    mapping = models.mapping(unknown=1)
    unary = {
        "operation": (OperationType.OEM_OPERATION, OperandType.TENSOR_FLOAT32),
        "tensor": (OperationType.RELU, OperandType.TENSOR_OEM_BYTE),
        "scalar": (OperationType.RELU, OperandType.OEM),
    }
    for name, (operation, kind) in unary.items():
        with context.configuration(name):
            dimensions = () if kind is OperandType.OEM else (2,)
            operands = [tensor(kind, dimensions, lifetime) for lifetime in (INPUT, OUTPUT)]
            main = graph(operands, [Operation(operation, (0,), (1,))])
            expect_rejected_at_prepare(context, Model(main, extension_name_to_prefix=mapping))


def _with_oem() -> Model:
    small = addition.model()
    operands = [*small.main.operands, *(tensor(OperandType.TENSOR_OEM_BYTE, lifetime=one) for one in (INPUT, OUTPUT))]
    oem = Operation(OperationType.OEM_OPERATION, (len(operands) - 2,), (len(operands) - 1,))
    return replace(small, main=graph(operands, [*small.main.operations, oem]))


def _adds(context: CaseContext, chosen: Addition, model: Model) -> None:
    memory = models.RequestMemory(context, [chosen.packed(addition.A), chosen.packed(addition.B)], [addition.SIZE])
    models.executed(context, models.prepared(context, model), memory)
    chosen.check(memory.outputs()[0], addition.SUM, "sum in a model that maps an extension")
