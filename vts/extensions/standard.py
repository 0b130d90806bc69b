"""The standard beside extensions: what ordinary operations and OEM codes remain."""

from __future__ import annotations

from msgspec.structs import replace

from npu_conformance.harness.judge import checks
from npu_conformance.harness.judge.verdicts import NotSupported
from npu_conformance.harness.run.cases import Behaviours
from npu_conformance.harness.run.context import Trial
from npu_conformance.specs.neuralnetworks.enums import OperandType, OperationType
from npu_conformance.specs.neuralnetworks.types import ExtensionNameAndPrefix, Model, Operation
from npu_conformance.specs.versions import HIDL_LAST, Version
from npu_conformance.vts.lib import addition
from npu_conformance.vts.lib.addition import Addition
from npu_conformance.vts.lib.extensions import models
from npu_conformance.vts.lib.rejection import refused_at_once
from npu_conformance.vts.lib.structure_models import INPUT, OUTPUT, graph, tensor

cases = Behaviours("vts.extensions.standard")


@cases.case("types_once", "NNHAL-QUERY-020", since=Version.V1_2)
def types_once(trial: Trial) -> None:
    """A listed operand type has one kind and one size: no number has two entries that differ."""
    for extension in trial.device.get_supported_extensions():
        numbers = [entry.type for entry in set(extension.operand_types)]
        checks.equal(sorted(numbers), sorted(set(numbers)), f"{extension.name}: numbers of the operand types")


@cases.case("addition.mapped", "NNHAL-EXTENSION-009", since=Version.V1_2)
def addition_mapped(trial: Trial) -> None:
    """ADD computes the same in a model that maps an extension that it does not use, known or not."""
    chosen = addition.supported(trial)
    names = {f"listed_{place}": name for place, name in enumerate(sorted(models.listed(trial)))}
    for label, name in {"unknown": models.UNKNOWN, **names}.items():
        with trial.configuration(label):
            model = replace(chosen.model(), extension_name_to_prefix=(ExtensionNameAndPrefix(name, 5),))
            if not all(trial.supported_operations(model)):
                checks.that(name == models.UNKNOWN, f"ADD is supported, but not in a model that maps {name}")
                raise NotSupported("ADD is not supported in a model that maps an extension which the device has not")
            _adds(trial, chosen, model)


@cases.case("addition.beside_fibonacci", "NNHAL-EXTENSION-009", "NNHAL-EXTENSION-012", since=Version.V1_2)
def addition_beside(trial: Trial) -> None:
    """ADD and FIBONACCI, which has the number of ADD in its low bits, compute in one model what they compute alone."""
    models.need(trial, models.FIBONACCI)
    chosen = addition.supported(trial)
    small, prefix, length = chosen.model(), 6, 5
    first = len(small.main.operands)
    operands = [*small.main.operands, models.count_operand(prefix), models.numbers_operand(prefix, length, OUTPUT)]
    own = Operation(models.code(prefix, models.FIBONACCI_OPERATION), (first,), (first + 1,))
    main = graph(operands, [*small.main.operations, own])
    model = replace(small, main=main, extension_name_to_prefix=models.mapping(fibonacci=prefix))
    inputs = [chosen.packed(addition.A), chosen.packed(addition.B), models.packed_count(length)]
    room = models.Room(trial, inputs, [addition.SIZE, 8 * length])
    models.executed(trial, models.prepared(trial, model), room)
    total, numbers = room.outputs()
    chosen.check(total, addition.SUM, "sum beside FIBONACCI")
    checks.equal(numbers.hex(), models.packed_numbers(models.stored(length)).hex(), "numbers beside ADD")


@cases.case("oem.beside_addition", "NNHAL-EXTENSION-010", until=HIDL_LAST)
def oem_beside_addition(trial: Trial) -> None:
    """HIDL allows OEM codes: they are answered beside ADD. Since 1.2 extensions are to be used instead."""
    model = _with_oem()
    answers = checks.succeeds(lambda: trial.supported_operations(model), "getSupportedOperations with OEM_OPERATION")
    if answers[1] and trial.version >= Version.V1_2:
        trial.warn_quality("the device supports an OEM operation: since HAL 1.2 extensions are to be used instead")


@cases.case("oem.not_in_aidl", "NNHAL-EXTENSION-010", "NNHAL-MODEL-004", since=Version.FL5)
def oem_not_in_aidl(trial: Trial) -> None:
    """AIDL has no OEM codes, neither of the operation nor of the two types, even in a mapping's company."""
    mapping = models.mapping(unknown=1)
    unary = {
        "operation": (OperationType.OEM_OPERATION, OperandType.TENSOR_FLOAT32),
        "tensor": (OperationType.RELU, OperandType.TENSOR_OEM_BYTE),
        "scalar": (OperationType.RELU, OperandType.OEM),
    }
    for name, (operation, kind) in unary.items():
        with trial.configuration(name):
            dimensions = () if kind is OperandType.OEM else (2,)
            operands = [tensor(kind, dimensions, lifetime) for lifetime in (INPUT, OUTPUT)]
            main = graph(operands, [Operation(operation, (0,), (1,))])
            refused_at_once(trial, Model(main, extension_name_to_prefix=mapping))


def _with_oem() -> Model:
    small = addition.model()
    operands = [*small.main.operands, *(tensor(OperandType.TENSOR_OEM_BYTE, lifetime=one) for one in (INPUT, OUTPUT))]
    oem = Operation(OperationType.OEM_OPERATION, (len(operands) - 2,), (len(operands) - 1,))
    return replace(small, main=graph(operands, [*small.main.operations, oem]))


def _adds(trial: Trial, chosen: Addition, model: Model) -> None:
    room = models.Room(trial, [chosen.packed(addition.A), chosen.packed(addition.B)], [addition.SIZE])
    models.executed(trial, models.prepared(trial, model), room)
    chosen.check(room.outputs()[0], addition.SUM, "sum in a model that maps an extension")
