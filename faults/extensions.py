"""Faults in what a driver makes of extensions: prefixes, mappings, extension data, OEM codes. Hints are in hints.py."""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from typing import Any

from msgspec.structs import replace

from npu_conformance.faults.boundary import BentDevice
from npu_conformance.faults.extended import ExtendedDevice, extended
from npu_conformance.faults.fault import Bent, Fault, NoticedAs
from npu_conformance.reference.extensions import kernels, own
from npu_conformance.reference.hal.device import ReferenceDevice
from npu_conformance.specs.errors import ServiceError
from npu_conformance.specs.neuralnetworks import types
from npu_conformance.specs.neuralnetworks.enums import ErrorStatus, OperandType, OperationType
from npu_conformance.specs.plugin import Context, Subject
from npu_conformance.specs.versions import NEWEST, Version

FIBONACCI, ECHO = "com.npu_conformance.fibonacci", "com.npu_conformance.echo"
_OWN = {FIBONACCI, ECHO}
_LOW = 0xFFFF
_PARAMETERS = struct.pack("<dq", 1.0, 0)

Rewrite = Callable[[types.Model], types.Model]
Mapping = tuple[types.ExtensionNameAndPrefix, ...]


def _seeing(rewrite: Rewrite) -> Bent:
    """A driver that takes a model for another one."""

    class Device(ExtendedDevice):
        def seen(self, model: types.Model) -> types.Model:
            return rewrite(model)

    return extended(Device)


def _graphs(model: types.Model, change: Callable[[types.Subgraph], types.Subgraph]) -> types.Model:
    return replace(model, main=change(model.main), referenced=tuple(map(change, model.referenced)))


def _operands(change: Callable[[types.Operand], types.Operand]) -> Bent:
    return _seeing(
        lambda model: _graphs(model, lambda graph: replace(graph, operands=tuple(map(change, graph.operands))))
    )


def _operations(change: Callable[[types.Operation], types.Operation]) -> Rewrite:
    return lambda model: _graphs(
        model, lambda graph: replace(graph, operations=tuple(map(change, graph.operations)))
    )  # fmt: skip


def _recoded(model: types.Model, change: Callable[[int], int]) -> types.Model:
    """Change the codes of all operand types and operations."""
    return _graphs(
        model,
        lambda graph: replace(
            graph,
            operands=tuple(replace(one, type=change(one.type)) for one in graph.operands),
            operations=tuple(replace(one, type=change(one.type)) for one in graph.operations),
        ),
    )


def _masked(mask: int) -> Bent:
    """Prefixes are read with some of their bits."""

    def rewrite(model: types.Model) -> types.Model:
        found = _recoded(model, lambda code: code & (mask << 16 | _LOW) if code > _LOW else code)
        mapping = tuple(replace(one, prefix=one.prefix & mask) for one in model.extension_name_to_prefix)
        return replace(found, extension_name_to_prefix=mapping)

    return _seeing(rewrite)


def _mapping(change: Callable[[Mapping], Mapping]) -> Bent:
    return _seeing(lambda model: replace(model, extension_name_to_prefix=change(model.extension_name_to_prefix)))


def _of_extension(change: Callable[[types.Operand], types.Operand]) -> Bent:
    return _operands(lambda one: change(one) if one.type > _LOW else one)


def _data(change: Callable[[bytes], bytes | None]) -> Bent:
    """Extension data is changed on its way; what becomes null is lost."""

    def changed(operand: types.Operand) -> types.Operand:
        known = operand.extra_params.extension if operand.extra_params else None
        if known is None:
            return operand
        found = change(known)
        return replace(operand, extra_params=None if found is None else types.OperandExtraParams(extension=found))

    return _operands(changed)


def _parameters(change: Callable[[float, int], tuple[float, int]]) -> Bent:
    """Parameters of the quantised type are put right instead of being refused."""
    return _data(
        lambda data: struct.pack("<dq", *change(*struct.unpack("<dq", data))) if len(data) == 16 else data
    )  # fmt: skip


class _RemembersNames(ExtendedDevice):
    """Expects an extension under the prefix that it had in the first model."""

    def __init__(self, inner: Any) -> None:
        super().__init__(inner)
        self._prefix_of: dict[str, int] = {}

    def seen(self, model: types.Model) -> types.Model:
        known = tuple(
            replace(one, prefix=self._prefix_of.setdefault(one.name, one.prefix))
            for one in model.extension_name_to_prefix
        )
        return replace(model, extension_name_to_prefix=known)


class _RemembersPrefixes(ExtendedDevice):
    """Takes a prefix for the extension that had it first."""

    def __init__(self, inner: Any) -> None:
        super().__init__(inner)
        self._name_of: dict[int, str] = {}

    def seen(self, model: types.Model) -> types.Model:
        known = tuple(
            replace(one, name=self._name_of.setdefault(one.prefix, one.name)) for one in model.extension_name_to_prefix
        )
        return replace(model, extension_name_to_prefix=known)


class _FillsMappings(_RemembersPrefixes):
    """Completes a mapping with those of earlier models."""

    def seen(self, model: types.Model) -> types.Model:
        mapping = model.extension_name_to_prefix
        for one in mapping:
            self._name_of.setdefault(one.prefix, one.name)
        codes = {operation.type >> 16 for operation in model.main.operations}
        missing = {prefix for prefix in codes - {one.prefix for one in mapping} if prefix in self._name_of}
        added = tuple(types.ExtensionNameAndPrefix(self._name_of[prefix], prefix) for prefix in missing)
        names = {one.name for one in added}
        kept = tuple(one for one in mapping if one.name not in names)
        return replace(model, extension_name_to_prefix=(*kept, *added))


class _RemembersData(ExtendedDevice):
    """Finds a model again by everything but its extension data."""

    def __init__(self, inner: Any) -> None:
        super().__init__(inner)
        self._known: dict[types.Model, types.Model] = {}

    def seen(self, model: types.Model) -> types.Model:
        operands = tuple(replace(one, extra_params=None) for one in model.main.operands)
        return self._known.setdefault(replace(model, main=replace(model.main, operands=operands)), model)


def _without_high_bits(model: types.Model, *, operands: bool) -> types.Model:
    """Codes of unknown extensions lose their prefix. operands: of operand types, else of operations."""
    unknown = {one.prefix for one in model.extension_name_to_prefix if one.name not in _OWN}

    def plain(code: int) -> int:
        return code & _LOW if code >> 16 in unknown else code

    def of_graph(graph: types.Subgraph) -> types.Subgraph:
        if operands:
            return replace(graph, operands=tuple(replace(one, type=plain(one.type)) for one in graph.operands))
        return replace(graph, operations=tuple(replace(one, type=plain(one.type)) for one in graph.operations))

    return _graphs(model, of_graph)


class _SupportsUnknown(ExtendedDevice):
    """Says yes to whatever it has never heard of."""

    def get_supported_operations(self, model: types.Model) -> tuple[bool, ...]:
        answers = self.inner.get_supported_operations(model)
        pairs = zip(model.main.operations, answers, strict=True)
        return tuple(answer or operation.type > _LOW for operation, answer in pairs)


class _PreparesUnknown(ExtendedDevice):
    """Knows what it does not support, and prepares it all the same, by the low bits."""

    def get_supported_operations(self, model: types.Model) -> tuple[bool, ...]:
        return self.inner.get_supported_operations(model)

    def seen(self, model: types.Model) -> types.Model:
        return _without_high_bits(model, operands=False)


def _answering(answer: Callable[[types.Model, types.Operation], bool]) -> Bent:
    """A driver that declines what `answer` is false for."""

    class Device(ExtendedDevice):
        def get_supported_operations(self, model: types.Model) -> tuple[bool, ...]:
            answers = self.inner.get_supported_operations(model)
            return tuple(
                found and answer(model, operation)
                for operation, found in zip(model.main.operations, answers, strict=True)
            )

    return extended(Device)


def _is_at_home(model: types.Model, operation: types.Operation) -> bool:
    """All operands of extensions are of the operation's own."""
    types_of = [model.main.operands[index].type for index in operation.inputs]
    return all(kind <= _LOW or kind >> 16 == operation.type >> 16 for kind in types_of)


def _has_own_first(model: types.Model, operation: types.Operation) -> bool:
    mapping = model.extension_name_to_prefix
    return operation.type <= _LOW or mapping[0].name in _OWN


def _listing(change: Callable[[tuple[types.Extension, ...]], tuple[types.Extension, ...]]) -> Bent:
    class Device(ExtendedDevice):
        def get_supported_extensions(self) -> tuple[types.Extension, ...]:
            return change(self.inner.get_supported_extensions())

    return extended(Device)


def _sized(size: int, *, also: bool = False) -> Callable[[tuple[types.Extension, ...]], tuple[types.Extension, ...]]:
    """The last type of each extension gets this size. also: in an entry of its own, beside the true one."""

    def changed(extension: types.Extension) -> types.Extension:
        *others, last = extension.operand_types
        kept = (*others, last) if also else tuple(others)
        return replace(extension, operand_types=(*kept, replace(last, byte_size=size)))

    return lambda listed: tuple(map(changed, listed))


def _lists_more_than_it_has(context: Context, version: Version) -> Subject:
    class Device(BentDevice):
        def get_supported_extensions(self) -> tuple[types.Extension, ...]:
            return (*self.inner.get_supported_extensions(), types.Extension(ECHO, (_ECHO_BYTES,)))

    return Subject(device=Device(ReferenceDevice(context, version, own.use(1))))


_ECHO_BYTES = types.ExtensionOperandTypeInformation(type=1, is_tensor=True, byte_size=1)


def _computing(operation: str, change: Callable[[Sequence[Any], Sequence[Any]], tuple[Any, ...]]) -> Bent:
    """Another formula for an operation. The process is the fault's own."""

    def create(context: Context, version: Version) -> Subject:
        kernels.KERNELS[operation] = change
        return Subject(device=ReferenceDevice(context, version, own.use()))

    return Bent(create)


def _from_one(inputs: Sequence[Any], outputs: Sequence[Any]) -> tuple[Any, ...]:
    scale, zero_point = kernels.PARAMETERS.unpack(outputs[0].extension)
    count = int(inputs[0].data.item())
    return ((kernels.sequence(count + 1)[1:] / scale + zero_point).astype("int64"),)


def _truncating(inputs: Sequence[Any], outputs: Sequence[Any]) -> tuple[Any, ...]:
    scale, zero_point = kernels.PARAMETERS.unpack(outputs[0].extension)
    return ((kernels.sequence(int(inputs[0].data.item())) // scale).astype("int64") + zero_point,)


def _in_float32(inputs: Sequence[Any], outputs: Sequence[Any]) -> tuple[Any, ...]:
    (numbers,) = kernels.fibonacci(inputs, outputs)
    return (numbers.astype("float32").astype("int64"),)


def _without_zero_point(inputs: Sequence[Any], outputs: Sequence[Any]) -> tuple[Any, ...]:
    scale, _ = kernels.PARAMETERS.unpack(inputs[0].extension)
    return ((inputs[0].data * scale).astype("float32"),)


def _first_mapped(model: types.Model) -> types.Model:
    """Every extension is the one that the mapping names first."""
    if not model.extension_name_to_prefix:
        return model
    prefix = model.extension_name_to_prefix[0].prefix
    return _recoded(model, lambda code: prefix << 16 | code & _LOW if code > _LOW else code)


def _subtracts(model: types.Model) -> types.Model:
    """ADD is another operation in models with extensions."""
    if not model.extension_name_to_prefix:
        return model
    return _operations(
        lambda one: replace(one, type=int(OperationType.SUB)) if one.type == OperationType.ADD else one
    )(model)  # fmt: skip


def _knows_oem(model: types.Model) -> types.Model:
    known = {
        int(OperationType.OEM_OPERATION): int(OperationType.RELU),
        int(OperandType.TENSOR_OEM_BYTE): int(OperandType.TENSOR_FLOAT32),
        int(OperandType.OEM): int(OperandType.TENSOR_FLOAT32),
    }
    operations = _operations(lambda one: replace(one, type=known.get(one.type, one.type)))(model)
    return _graphs(
        operations,
        lambda graph: replace(
            graph, operands=tuple(replace(one, type=known.get(one.type, one.type)) for one in graph.operands)
        ),
    )


class _RefusesOem(ExtendedDevice):
    """Takes OEM codes for an error, in HIDL."""

    def get_supported_operations(self, model: types.Model) -> tuple[bool, ...]:
        if any(operation.type == OperationType.OEM_OPERATION for operation in model.main.operations):
            raise ServiceError(ErrorStatus.INVALID_ARGUMENT, "OEM_OPERATION")
        return self.inner.get_supported_operations(model)


class _HasOem(ExtendedDevice):
    """Supports an OEM operation."""

    def get_supported_operations(self, model: types.Model) -> tuple[bool, ...]:
        answers = self.inner.get_supported_operations(model)
        pairs = zip(model.main.operations, answers, strict=True)
        return tuple(answer or operation.type == OperationType.OEM_OPERATION for operation, answer in pairs)


def _once(key: Callable[[types.ExtensionNameAndPrefix], object]) -> Callable[[Mapping], Mapping]:
    """Of entries with one key the last stays."""
    return lambda mapping: tuple({key(one): one for one in mapping}.values())


def _channels_are_parameters(operand: types.Operand) -> types.Operand:
    has_channels = operand.extra_params is not None and operand.extra_params.channel_quant is not None
    return replace(operand, extra_params=types.OperandExtraParams(extension=_PARAMETERS)) if has_channels else operand


def _default_parameters(operand: types.Operand) -> types.Operand:
    is_bare = operand.extra_params is None and bool(operand.dimensions)
    return replace(operand, extra_params=types.OperandExtraParams(extension=_PARAMETERS)) if is_bare else operand


def _scalars_are_counts(model: types.Model) -> types.Model:
    """An INT32 is taken for a count."""
    prefix_of = {one.name: one.prefix for one in model.extension_name_to_prefix}
    if FIBONACCI not in prefix_of:
        return model
    count = prefix_of[FIBONACCI] << 16
    operands = tuple(
        replace(one, type=count) if one.type == OperandType.INT32 and not one.dimensions else one
        for one in model.main.operands
    )
    return replace(model, main=replace(model.main, operands=operands))


def _renumbered(change: Callable[[int], int]) -> Callable[[types.Operation], types.Operation]:
    return lambda one: replace(one, type=one.type & ~_LOW | change(one.type & _LOW)) if one.type > _LOW else one


def _fault(
    name: str,
    description: str,
    breaks: str,
    caught_by: str,
    mechanism: Bent,
    hal: Version = NEWEST,
    noticed_as: NoticedAs = "red",
) -> Fault:
    requirements = tuple(f"NNHAL-{one}" for one in breaks.split())
    cases = tuple(f"vts.extensions.{case}" for case in caught_by.split())
    return Fault(f"extension-{name}", description, requirements, cases, mechanism, hal, noticed_as)


FAULTS = (
    _fault("prefix-of-8-bits", "Of a prefix only the low byte is looked at.", "EXTENSION-003",
           "prefixes.limits prefixes.two_extensions", _masked(0xFF)),
    _fault("prefix-of-14-bits", "Of AIDL's prefixes 14 bits are looked at.", "EXTENSION-003",
           "prefixes.limits prefixes.two_extensions", _masked(0x3FFF)),
    _fault("prefix-of-15-bits", "A HIDL driver looks at 15 bits of the 16.", "EXTENSION-002",
           "prefixes.limits prefixes.above_15_bits", _masked(0x7FFF), Version.V1_3),
    _fault("sign-bit-masked", "AIDL's sign bit is cut off.", "EXTENSION-003", "prefixes.sign_bit",
           _seeing(lambda model: _recoded(model, lambda code: code & 0x7FFFFFFF))),
    _fault("wide-prefix-dropped", "Entries with prefixes of 16 bits are dropped in AIDL.", "EXTENSION-003",
           "prefixes.sign_bit", _mapping(lambda mapping: tuple(one for one in mapping if one.prefix <= 0x7FFF))),
    _fault("prefix-of-first-model", "An extension keeps the prefix that it had in the first model.", "EXTENSION-005",
           "prefixes.of_each_model prefixes.limits", extended(_RemembersNames)),
    _fault("name-of-first-model", "A prefix keeps the extension that it had in the first model.", "EXTENSION-005",
           "prefixes.exchanged", extended(_RemembersPrefixes)),
    _fault("mapping-of-all-models", "What a mapping lacks is taken from those of other models.", "EXTENSION-007",
           "prefixes.unmapped", extended(_FillsMappings)),
    _fault("first-mapping-only", "Every extension is the one that is mapped first.", "EXTENSION-011",
           "prefixes.two_extensions prefixes.order_of_the_mapping", _seeing(_first_mapped)),
    _fault("own-first", "The own extension has to be mapped first.", "EXTENSION-001", "prefixes.order_of_the_mapping",
           _answering(_has_own_first)),
    _fault("name-mapped-twice", "A mapping may have a name twice.", "EXTENSION-004", "prefixes.bijection",
           _mapping(_once(lambda one: one.name))),
    _fault("prefix-mapped-twice", "A mapping may have a prefix twice.", "EXTENSION-004", "prefixes.bijection",
           _mapping(_once(lambda one: one.prefix))),
    _fault("high-bits-of-operations", "Operations of unknown extensions are known by their low bits.", "EXTENSION-001",
           "unknown.operations", _seeing(lambda model: _without_high_bits(model, operands=False))),
    _fault("high-bits-of-types", "Types of unknown extensions are known by their low bits.", "EXTENSION-001",
           "unknown.operand_types", _seeing(lambda model: _without_high_bits(model, operands=True))),
    _fault("high-bits-in-prepare", "prepareModel knows unknown operations by their low bits.", "EXTENSION-001",
           "unknown.operations unknown.beside_addition", extended(_PreparesUnknown)),
    _fault("unknown-supported", "Operations of unknown extensions are supported.", "QUERY-026",
           "unknown.operations unknown.beside_addition", extended(_SupportsUnknown)),
    _fault("listed-and-refused", "An extension is listed of which nothing is supported.", "QUERY-019",
           "prefixes.support", Bent(_lists_more_than_it_has)),
    _fault("supported-and-unlisted", "Extensions are supported and not listed.", "QUERY-026", "prefixes.support",
           _listing(lambda _: ())),
    _fault("types-of-an-unlisted-one", "An operation takes operands of an extension that is not listed.",
           "EXTENSION-008", "prefixes.support", _listing(lambda listed: listed[1:])),
    _fault("type-of-two-sizes", "An operand type is listed with two sizes.", "QUERY-020", "standard.types_once",
           _listing(_sized(3, also=True))),
    _fault("type-of-another-size", "An operand type is listed with a size that it does not have.", "QUERY-020",
           "prefixes.listed_types", _listing(_sized(3))),
    _fault("foreign-types-declined", "Operations take operands of their own extension only.", "EXTENSION-012",
           "prefixes.foreign_types prefixes.support", _answering(_is_at_home)),
    _fault("standard-types-declined", "Operations with operands of the standard are not supported.", "EXTENSION-012",
           "prefixes.standard_types prefixes.support",
           _answering(lambda model, operation: operation.type <= _LOW or operation.type & _LOW != 1)),
    _fault("standard-declined", "Nothing of the standard is supported in models with a mapping.", "EXTENSION-009",
           "standard.addition.mapped", _answering(
               lambda model, operation: operation.type > _LOW or not model.extension_name_to_prefix)),
    _fault("standard-changed", "ADD subtracts in models with a mapping.", "EXTENSION-009",
           "standard.addition.mapped standard.addition.beside_fibonacci", _seeing(_subtracts)),
    _fault("data-ends-at-zero", "Extension data ends at its first zero.", "EXTENSION-013", "data.contents",
           _data(lambda data: data.split(b"\0")[0])),
    _fault("data-without-last-zeros", "Zeros at the end of extension data are lost.", "EXTENSION-013",
           "data.contents", _data(lambda data: data if len(data) == 16 else data.rstrip(b"\0"))),
    _fault("data-is-text", "Extension data is taken for text.", "EXTENSION-013", "data.contents",
           _data(lambda data: data if len(data) == 16 else data.decode(errors="replace").encode())),
    _fault("data-stripped", "Spaces around extension data are lost.", "EXTENSION-013", "data.contents",
           _data(lambda data: data if len(data) == 16 else data.strip())),
    _fault("data-of-no-bytes-lost", "Extension data of 0 bytes is taken for none.", "EXTENSION-013",
           "data.lengths validation.echo", _data(lambda data: data or None)),
    _fault("data-cut", "Extension data is cut at 4096 bytes.", "EXTENSION-013", "data.lengths",
           _data(lambda data: data[:4096])),
    _fault("data-of-first-model", "Models are told apart by everything but their extension data.", "EXTENSION-013",
           "data.of_each_operand", extended(_RemembersData)),
    _fault("data-length-unchecked", "Parameters of a wrong length are cut or filled up.", "EXTENSION-006",
           "validation.parameters", _data(lambda data: data[:16].ljust(16, b"\0") if data[:1] == b"\0" else data)),
    _fault("data-defaulted", "Without parameters there are default ones.", "EXTENSION-006",
           "validation.parameters validation.echo", _of_extension(_default_parameters)),
    _fault("scale-of-any-sign", "The sign of the scale is not looked at.", "EXTENSION-006", "validation.parameters",
           _parameters(lambda scale, zero_point: (abs(scale), zero_point))),
    _fault("scale-nan", "A scale that is no number is taken for 1.", "EXTENSION-006", "validation.parameters",
           _parameters(lambda scale, zero_point: (scale if scale == scale else 1.0, zero_point))),
    _fault("zero-point-cut", "A zero point is cut to 32 bits.", "EXTENSION-006", "validation.parameters",
           _parameters(lambda scale, zero_point: (scale, (zero_point + 2**31) % 2**32 - 2**31))),
    _fault("operand-scale", "An operand of an extension may have a scale.", "MODEL-027", "validation.operands",
           _of_extension(lambda one: replace(one, scale=0.0))),
    _fault("operand-zero-point", "An operand of an extension may have a zero point.", "MODEL-027",
           "validation.operands", _of_extension(lambda one: replace(one, zero_point=0))),
    _fault("operand-channels", "An operand of an extension may have parameters of channels.", "MODEL-026",
           "validation.operands", _of_extension(_channels_are_parameters)),
    _fault("scalar-with-dimensions", "A scalar of an extension may have dimensions.", "EXTENSION-006",
           "validation.operands", _of_extension(
               lambda one: replace(one, dimensions=()) if not one.type & _LOW else one)),
    _fault("rank-unchecked", "Tensors of an extension are flattened.", "EXTENSION-006", "validation.signatures",
           _of_extension(lambda one: replace(one, dimensions=(4,)) if one.dimensions == (2, 2) else one)),
    _fault("count-of-any-type", "A count may be an INT32.", "EXTENSION-006", "validation.signatures",
           _seeing(_scalars_are_counts)),
    _fault("inputs-too-many", "Inputs too many are not looked at.", "EXTENSION-006", "validation.signatures",
           _seeing(_operations(lambda one: replace(one, inputs=one.inputs[:1]) if one.type > _LOW else one))),
    _fault("operation-number-of-8-bits", "Of local numbers of operations only the low byte is looked at.",
           "EXTENSION-006", "validation.numbers", _seeing(_operations(_renumbered(lambda local: local & 0xFF)))),
    _fault("operation-unknown-is-0", "Unknown local numbers are taken for operation 0.", "EXTENSION-006",
           "validation.numbers", _seeing(_operations(_renumbered(lambda local: local if local < 2 else 0)))),
    _fault("type-number-of-8-bits", "Of local numbers of types only the low byte is looked at.", "EXTENSION-006",
           "validation.numbers",
           _of_extension(lambda one: replace(one, type=one.type & ~_LOW | one.type & 0xFF))),
    _fault("formula-from-one", "The sequence begins with 1.", "QUERY-019", "data.values",
           _computing("FIBONACCI", _from_one)),
    _fault("formula-truncates", "Quantised numbers are not rounded.", "QUERY-019", "prefixes.limits",
           _computing("FIBONACCI", _truncating)),
    _fault("formula-in-float32", "Numbers of 64 bits are computed in float32.", "QUERY-019", "data.values",
           _computing("FIBONACCI", _in_float32)),
    _fault("formula-without-zero-point", "The zero point in the extension data is not used.", "EXTENSION-013",
           "prefixes.standard_types", _computing("FIBONACCI_DEQUANTIZE", _without_zero_point)),
    _fault("oem-in-aidl", "An AIDL driver takes OEM codes.", "MODEL-004", "standard.oem.not_in_aidl",
           _seeing(_knows_oem)),
    _fault("oem-refused", "A HIDL driver refuses OEM codes.", "SUPPORT-002", "standard.oem.beside_addition",
           extended(_RefusesOem), Version.V1_3),
    _fault("oem-supported", "A driver of 1.3 supports an OEM operation.", "EXTENSION-010",
           "standard.oem.beside_addition", extended(_HasOem), Version.V1_3, "quality-warning"),
)  # fmt: skip
"""Faults in extensions. Each implementation has those of the reference."""
