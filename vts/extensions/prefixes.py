"""Prefixes: the high bits of types and operations mean what the mapping of their own model says, and nothing else."""

from __future__ import annotations

import struct

from msgspec.structs import replace

from npu_conformance.harness.judge import checks
from npu_conformance.harness.judge.verdicts import NotApplicable, NotSupported
from npu_conformance.harness.run.cases import CaseGroup
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.specs.neuralnetworks.enums import OperandType, OperationType
from npu_conformance.specs.neuralnetworks.types import ExtensionNameAndPrefix, Model, Operation
from npu_conformance.specs.versions import HIDL_LAST, Version
from npu_conformance.vts.lib.edits import with_operation
from npu_conformance.vts.lib.extensions import models
from npu_conformance.vts.lib.extensions.models import ECHO, FIBONACCI
from npu_conformance.vts.lib.extensions.restoring import restores
from npu_conformance.vts.lib.rejection import expect_rejected_at_prepare
from npu_conformance.vts.lib.structure_models import INPUT, OUTPUT, graph, reference, tensor

cases = CaseGroup("vts.extensions.prefixes")

_LENGTH = 6
_ALIKE = {
    "low_byte": (0x0101, 0x0201),
    "high_byte": (0x0101, 0x0102),
    "all_but_the_highest": (0x0001, 0x4001),
    "neighbours": (0x7FFE, 0x7FFF),
    "swapped_bytes": (0x0102, 0x0201),
}
"""Pairs of prefixes that a driver mixes up which looks at some of their bits."""


@cases.case("support", "NNHAL-QUERY-019", "NNHAL-QUERY-026", "NNHAL-EXTENSION-008", since=Version.V1_2)
def support(context: CaseContext) -> None:
    """Each operation is supported if its extension is listed, and the extensions of its operands; else it is not."""
    listed = models.listed(context)
    meant = {
        "fibonacci": (models.fibonacci(1, _LENGTH), {FIBONACCI}),
        "dequantize": (models.dequantize(1, _LENGTH), {FIBONACCI}),
        "echo": (models.echo(1, b"any"), {ECHO}),
        "foreign": (_echo_of_numbers(1, 2), {FIBONACCI, ECHO}),
    }
    for name, (model, needed) in meant.items():
        with context.configuration(name):
            found = models.supports_any(context, model)
            spelled = ", ".join(sorted(needed))
            if needed <= listed:
                checks.that(found, f"the device lists {spelled}, but does not support {name}")
            else:
                with checks.about("NNHAL-QUERY-026"):
                    checks.that(not found, f"the device supports {name}, but does not list all of {spelled}")
    if not listed & {FIBONACCI, ECHO}:
        raise NotApplicable("the device lists none of the extensions that are known here, and supports nothing of them")


@cases.case("listed_types", "NNHAL-QUERY-020", "NNHAL-QUERY-019", since=Version.V1_2)
def listed_types(context: CaseContext) -> None:
    """The operand types are listed with the numbers, kinds and sizes of the definition."""
    expected = {
        FIBONACCI: [(models.COUNT_TYPE, False, 8), (models.NUMBERS_TYPE, True, 8)],
        ECHO: [(models.BYTES_TYPE, True, 1)],
    }
    found = {extension.name: extension for extension in context.device.get_supported_extensions()}
    if not found.keys() & expected.keys():
        raise NotApplicable("the device lists none of the extensions that are known here")
    for name in sorted(found.keys() & expected.keys()):
        entries = sorted((entry.type, entry.is_tensor, entry.byte_size) for entry in found[name].operand_types)
        checks.equal(entries, expected[name], f"{name}: operand types (number, is a tensor, bytes)")


@cases.case("limits", "NNHAL-EXTENSION-003", "NNHAL-EXTENSION-002", "NNHAL-EXTENSION-001", since=Version.V1_2)
def limits(context: CaseContext) -> None:
    """The result is the same under the lowest prefix, the highest, and those with a single bit."""
    models.need(context, FIBONACCI)
    highest = models.highest_prefix(context.version)
    for prefix in (*(1 << bit for bit in range(highest.bit_length())), highest, 0x00FF, 0x0101):
        with context.configuration(f"prefix_{prefix}"):
            _computes_numbers(context, models.fibonacci(prefix, _LENGTH))


@cases.case("above_15_bits", "NNHAL-EXTENSION-002", since=Version.V1_2, until=HIDL_LAST)
def above_15_bits(context: CaseContext) -> None:
    """HIDL's prefixes have 16 bits: two that differ in the highest one alone are two."""
    _two_in_one_model(context, 0x0003, 0x8003)


@cases.case("sign_bit", "NNHAL-EXTENSION-003", since=Version.FL5)
def sign_bit(context: CaseContext) -> None:
    """AIDL's codes are not negative, and a mapping to a prefix of 16 bits is rejected."""
    models.need(context, FIBONACCI)
    model = models.fibonacci(3, _LENGTH)
    negative = models.code(0x8003, models.FIBONACCI_OPERATION) - (1 << 32)
    rejected = {
        "operation": with_operation(model, 0, type=negative),
        "mapping": replace(model, extension_name_to_prefix=models.mapping(fibonacci=3, echo=0x8003)),
    }
    for name, broken in rejected.items():
        with context.configuration(name):
            expect_rejected_at_prepare(context, broken)


@cases.case("two_extensions", "NNHAL-EXTENSION-011", "NNHAL-EXTENSION-001", since=Version.V1_2)
def two_extensions(context: CaseContext) -> None:
    """Operations of two extensions with one local number are distinguished by every bit of the prefix."""
    for name, (first, second) in _ALIKE.items():
        with context.configuration(name):
            _two_in_one_model(context, first, second)
            _two_in_one_model(context, second, first)


@cases.case("types_of_two_extensions", "NNHAL-EXTENSION-011", since=Version.V1_2)
def types_of_two_extensions(context: CaseContext) -> None:
    """Types with one local number are different types: FIBONACCI does not give the bytes of the other extension."""
    models.need(context, FIBONACCI, ECHO)
    model = models.foreign(1, 2, _LENGTH)
    (count, numbers, result) = model.main.operands
    other = replace(numbers, type=models.code(2, models.BYTES_TYPE))
    expect_rejected_at_prepare(context, replace(model, main=graph([count, other, result], model.main.operations)))


@cases.case("foreign_types", "NNHAL-EXTENSION-012", "NNHAL-EXTENSION-011", since=Version.V1_2)
def foreign_types(context: CaseContext) -> None:
    """An operation takes an operand of another extension where its definition says so, and gets its data."""
    models.need(context, FIBONACCI, ECHO)
    prepared_model = models.prepared(context, models.foreign(9, 4, _LENGTH))
    expected = [models.packed_echo(models.PARAMETERS)]
    models.computes(context, prepared_model, [models.packed_count(_LENGTH)], expected, "data of a foreign operand")


@cases.case("standard_types", "NNHAL-EXTENSION-012", since=Version.V1_2)
def standard_types(context: CaseContext) -> None:
    """An operation gives TENSOR_FLOAT32 where its definition says so."""
    models.need(context, FIBONACCI)
    numbers = [models.ZERO_POINT - 3, models.ZERO_POINT, models.ZERO_POINT + 1, 1000]
    expected = struct.pack(f"<{len(numbers)}f", *((one - models.ZERO_POINT) * models.SCALE for one in numbers))
    prepared_model = models.prepared(context, models.dequantize(5, len(numbers)))
    models.computes(context, prepared_model, [models.packed_numbers(numbers)], [expected], "FIBONACCI_DEQUANTIZE")


@cases.case("of_each_model", "NNHAL-EXTENSION-005", since=Version.V1_2)
def of_each_model(context: CaseContext) -> None:
    """Two models side by side give one extension two prefixes, and keep them while they are executed in turn."""
    models.need(context, FIBONACCI)
    made = [models.prepared(context, models.fibonacci(prefix, _LENGTH)) for prefix in (17, 3, 0x1100)]
    for _ in range(2):
        for prepared_model in made:
            expected = [models.packed_numbers(models.stored(_LENGTH))]
            models.computes(context, prepared_model, [models.packed_count(_LENGTH)], expected, "FIBONACCI")


@cases.case("exchanged", "NNHAL-EXTENSION-005", "NNHAL-EXTENSION-011", since=Version.V1_2)
def exchanged(context: CaseContext) -> None:
    """Two extensions may exchange their prefixes from one model to the next, while both models are alive."""
    models.need(context, FIBONACCI, ECHO)
    content = b"another"
    made = [
        (models.prepared(context, models.fibonacci(8, _LENGTH)), models.packed_count(_LENGTH), _numbers()),
        (models.prepared(context, models.echo(8, content)), b"\1\2", models.packed_echo(content)),
        (models.prepared(context, models.fibonacci(8, _LENGTH)), models.packed_count(_LENGTH), _numbers()),
    ]
    for prepared_model, given, expected in made:
        models.computes(context, prepared_model, [given], [expected], "a model whose prefix another one used otherwise")


@cases.case("restored", "NNHAL-EXTENSION-005", "NNHAL-CACHE-010", since=Version.V1_2)
def restored(context: CaseContext) -> None:
    """A restored model has the prefixes with which it was saved, whatever others have had since."""
    models.need(context, FIBONACCI)
    numbers = [models.packed_count(_LENGTH)], [_numbers()]
    restores(context, models.fibonacci(9, _LENGTH), models.fibonacci(2, _LENGTH), *numbers)


@cases.case("restored_data", "NNHAL-EXTENSION-013", "NNHAL-CACHE-010", since=Version.V1_2)
def restored_data(context: CaseContext) -> None:
    """A restored model has the data of its extension's operands, whatever others have had since."""
    models.need(context, ECHO)
    content = b"kept\0"
    restores(context, models.echo(9, content), models.echo(2, b"other"), [b"\1\2"], [models.packed_echo(content)])


@cases.case("order_of_the_mapping", "NNHAL-EXTENSION-001", since=Version.V1_2)
def order_of_the_mapping(context: CaseContext) -> None:
    """The mapping may be in any order, and name extensions that the model does not use."""
    models.need(context, FIBONACCI)
    model = models.fibonacci(5, _LENGTH)
    orders = {
        "last": models.mapping(unknown=2, fibonacci=5),
        "first": models.mapping(fibonacci=5, unknown=2),
        "between": (*models.mapping(unknown=6, fibonacci=5), ExtensionNameAndPrefix("com.npu_conformance.fibonacc", 4)),
    }
    for name, mapping in orders.items():
        with context.configuration(name):
            _computes_numbers(context, replace(model, extension_name_to_prefix=mapping))


@cases.case("bijection", "NNHAL-EXTENSION-004", since=Version.V1_2)
def bijection(context: CaseContext) -> None:
    """A mapping with a name or a prefix twice is rejected, although the model has a meaning without one entry."""
    models.need(context, FIBONACCI)
    model = models.fibonacci(5, _LENGTH)
    own, again = model.extension_name_to_prefix, ExtensionNameAndPrefix(FIBONACCI, 6)
    between = ExtensionNameAndPrefix("com.npu_conformance.between", 7)
    doubled = {
        "name_twice": (*own, again),
        "name_twice_unused_first": (again, *own),
        "name_twice_apart": (*own, between, again),
        "entry_twice": (*own, *own),
        "prefix_twice": (*own, *models.mapping(unknown=5)),
        "prefix_twice_own_last": (*models.mapping(unknown=5), *own),
        "prefix_twice_apart": (*own, between, *models.mapping(unknown=5)),
    }
    for name, mapping in doubled.items():
        with context.configuration(name):
            expect_rejected_at_prepare(context, replace(model, extension_name_to_prefix=mapping))


@cases.case("unmapped", "NNHAL-EXTENSION-007", since=Version.V1_2)
def unmapped(context: CaseContext) -> None:
    """A model with a prefix that it does not map is rejected, also where another model has mapped it."""
    models.need(context, FIBONACCI)
    known = models.fibonacci(5, _LENGTH)
    models.prepared(context, known)
    without = {"empty": (), "another_prefix": models.mapping(fibonacci=6), "another_name": models.mapping(unknown=6)}
    for name, mapping in without.items():
        with context.configuration(name):
            expect_rejected_at_prepare(context, replace(known, extension_name_to_prefix=mapping))


@cases.case("in_branches", "NNHAL-EXTENSION-001", "NNHAL-EXTENSION-011", since=Version.V1_3)
def in_branches(context: CaseContext) -> None:
    """The mapping is that of the whole model: the branches of an IF use it too."""
    models.need(context, FIBONACCI)
    branch = models.fibonacci(5, _LENGTH).main
    operands = [
        tensor(OperandType.TENSOR_BOOL8, (1,), INPUT),
        reference(0),
        reference(1),
        models.count_operand(5),
        models.numbers_operand(5, _LENGTH, OUTPUT),
    ]
    main = graph(operands, [Operation(OperationType.IF, (0, 1, 2, 3), (4,))])
    model = Model(main, (branch, branch), extension_name_to_prefix=models.mapping(fibonacci=5))
    if not all(context.supported_operations(model)):
        raise NotSupported("IF with operations of an extension in its branches is not supported")
    prepared_model = models.prepared(context, model)
    inputs = [b"\1", models.packed_count(_LENGTH)]
    models.computes(context, prepared_model, inputs, [_numbers()], "FIBONACCI in a branch")


def _numbers() -> bytes:
    return models.packed_numbers(models.stored(_LENGTH))


def _computes_numbers(context: CaseContext, model: Model) -> None:
    models.computes(context, models.prepared(context, model), [models.packed_count(_LENGTH)], [_numbers()], "FIBONACCI")


def _two_in_one_model(context: CaseContext, fibonacci_prefix: int, echo_prefix: int) -> None:
    models.need(context, FIBONACCI, ECHO)
    numbers, content = models.fibonacci(fibonacci_prefix, _LENGTH), b"\0two\0"
    echo = models.echo(echo_prefix, content)
    operands = [*numbers.main.operands, *echo.main.operands]
    (first,), (second,) = numbers.main.operations, echo.main.operations
    main = graph(operands, [first, replace(second, inputs=(2,), outputs=(3,))])
    mapping = models.mapping(fibonacci=fibonacci_prefix, echo=echo_prefix)
    prepared_model = models.prepared(context, Model(main, extension_name_to_prefix=mapping))
    inputs, expected = [models.packed_count(_LENGTH), b"\1\2"], [_numbers(), models.packed_echo(content)]
    models.computes(context, prepared_model, inputs, expected, f"prefixes {fibonacci_prefix:#x} and {echo_prefix:#x}")


def _echo_of_numbers(fibonacci_prefix: int, echo_prefix: int) -> Model:
    """ECHO_PARAMETERS of an input of the other extension's type."""
    source = models.numbers_operand(fibonacci_prefix, 2, INPUT)
    operands = [source, tensor(OperandType.TENSOR_INT32, (2,), OUTPUT)]
    main = graph(operands, [Operation(models.code(echo_prefix, models.ECHO_OPERATION), (0,), (1,))])
    return Model(main, extension_name_to_prefix=models.mapping(fibonacci=fibonacci_prefix, echo=echo_prefix))
