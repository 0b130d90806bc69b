"""Mechanisms of the faults in extensions.py: models and answers are changed on their way."""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from typing import Any

from msgspec.structs import replace

from npu_conformance.faults.boundary import FaultyDevice
from npu_conformance.faults.extended import ExtendedDevice, extended
from npu_conformance.faults.fault import FaultySubject
from npu_conformance.reference.extensions import kernels, own
from npu_conformance.reference.hal.device import ReferenceDevice
from npu_conformance.specs.errors import ServiceError
from npu_conformance.specs.neuralnetworks import types
from npu_conformance.specs.neuralnetworks.enums import ErrorStatus, OperandType, OperationType
from npu_conformance.specs.plugin import Context, Subject
from npu_conformance.specs.versions import Version

FIBONACCI, ECHO = "com.npu_conformance.fibonacci", "com.npu_conformance.echo"
_OWN = {FIBONACCI, ECHO}
LOW = 0xFFFF
_PARAMETERS = struct.pack("<dq", 1.0, 0)

_OEM_OPERATIONS = {int(OperationType.OEM_OPERATION): int(OperationType.RELU)}
_OEM_TYPES = dict.fromkeys((int(OperandType.OEM), int(OperandType.TENSOR_OEM_BYTE)), int(OperandType.TENSOR_FLOAT32))
"""What the driver that knows OEM codes takes them for; the operation and the scalar type have the same number."""

Rewrite = Callable[[types.Model], types.Model]
Recode = Callable[[int], int]
Names = tuple[types.ExtensionNameAndPrefix, ...]
"""The mapping of a model's extensions: which prefix each name has."""


def seeing(rewrite: Rewrite) -> FaultySubject:
    """A driver that takes a model for another one."""

    class Device(ExtendedDevice):
        def seen(self, model: types.Model) -> types.Model:
            return rewrite(model)

    return extended(Device)


def _graphs(model: types.Model, change: Callable[[types.Subgraph], types.Subgraph]) -> types.Model:
    return replace(model, main=change(model.main), referenced=tuple(map(change, model.referenced)))


def _operands(change: Callable[[types.Operand], types.Operand]) -> FaultySubject:
    return seeing(
        lambda model: _graphs(model, lambda graph: replace(graph, operands=tuple(map(change, graph.operands))))
    )


def with_operations(change: Callable[[types.Operation], types.Operation]) -> Rewrite:
    """A rewriting of models that changes each operation."""
    return lambda model: _graphs(model, lambda graph: replace(graph, operations=tuple(map(change, graph.operations))))


def recoded(model: types.Model, change: Recode) -> types.Model:
    """Change the codes of all operand types and operations."""
    return _recoded_apart(model, change, change)


def _recoded_apart(model: types.Model, of_operands: Recode, of_operations: Recode) -> types.Model:
    return _graphs(
        model,
        lambda graph: replace(
            graph,
            operands=tuple(replace(one, type=of_operands(one.type)) for one in graph.operands),
            operations=tuple(replace(one, type=of_operations(one.type)) for one in graph.operations),
        ),
    )


def _kept(code: int) -> int:
    return code


def masked(mask: int) -> FaultySubject:
    """Prefixes are read with some of their bits."""

    def rewrite(model: types.Model) -> types.Model:
        found = recoded(model, lambda code: code & (mask << 16 | LOW) if code > LOW else code)
        mapping = tuple(replace(one, prefix=one.prefix & mask) for one in model.extension_name_to_prefix)
        return replace(found, extension_name_to_prefix=mapping)

    return seeing(rewrite)


def with_mapping(change: Callable[[Names], Names]) -> FaultySubject:
    """A driver that takes a mapping for another one."""
    return seeing(lambda model: replace(model, extension_name_to_prefix=change(model.extension_name_to_prefix)))


def of_extension(change: Callable[[types.Operand], types.Operand]) -> FaultySubject:
    """A driver that changes each operand of an extension's type."""
    return _operands(lambda one: change(one) if one.type > LOW else one)


def with_data(change: Callable[[bytes], bytes | None]) -> FaultySubject:
    """Extension data is changed on its way; what becomes None is lost."""

    def changed(operand: types.Operand) -> types.Operand:
        known = operand.extra_params.extension if operand.extra_params else None
        if known is None:
            return operand
        found = change(known)
        return replace(operand, extra_params=None if found is None else types.OperandExtraParams(extension=found))

    return _operands(changed)


def with_parameters(change: Callable[[float, int], tuple[float, int]]) -> FaultySubject:
    """Parameters of the quantised type are corrected instead of being rejected."""
    return with_data(lambda data: struct.pack("<dq", *change(*struct.unpack("<dq", data))) if len(data) == 16 else data)


class RemembersNames(ExtendedDevice):
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


class RemembersPrefixes(ExtendedDevice):
    """Takes a prefix for the extension that had it first."""

    def __init__(self, inner: Any) -> None:
        super().__init__(inner)
        self._name_of: dict[int, str] = {}

    def seen(self, model: types.Model) -> types.Model:
        known = tuple(
            replace(one, name=self._name_of.setdefault(one.prefix, one.name)) for one in model.extension_name_to_prefix
        )
        return replace(model, extension_name_to_prefix=known)


class FillsMappings(RemembersPrefixes):
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


class RemembersData(ExtendedDevice):
    """Finds a model again by everything but its extension data."""

    def __init__(self, inner: Any) -> None:
        super().__init__(inner)
        self._known: dict[types.Model, types.Model] = {}

    def seen(self, model: types.Model) -> types.Model:
        operands = tuple(replace(one, extra_params=None) for one in model.main.operands)
        return self._known.setdefault(replace(model, main=replace(model.main, operands=operands)), model)


def without_high_bits(model: types.Model, *, operands: bool) -> types.Model:
    """Codes of unknown extensions lose their prefix. operands: of operand types, else of operations."""
    unknown = {one.prefix for one in model.extension_name_to_prefix if one.name not in _OWN}

    def plain(code: int) -> int:
        return code & LOW if code >> 16 in unknown else code

    return _recoded_apart(model, plain, _kept) if operands else _recoded_apart(model, _kept, plain)


class SupportsUnknown(ExtendedDevice):
    """Supports every operation that it does not know."""

    def get_supported_operations(self, model: types.Model) -> tuple[bool, ...]:
        answers = self.inner.get_supported_operations(model)
        pairs = zip(model.main.operations, answers, strict=True)
        return tuple(answer or operation.type > LOW for operation, answer in pairs)


class PreparesUnknown(ExtendedDevice):
    """Prepares, by the low bits, models that it reports as not supported."""

    def get_supported_operations(self, model: types.Model) -> tuple[bool, ...]:
        return self.inner.get_supported_operations(model)

    def seen(self, model: types.Model) -> types.Model:
        return without_high_bits(model, operands=False)


def answering(answer: Callable[[types.Model, types.Operation], bool]) -> FaultySubject:
    """A driver that declines what `answer` is false for."""

    class Device(ExtendedDevice):
        def get_supported_operations(self, model: types.Model) -> tuple[bool, ...]:
            answers = self.inner.get_supported_operations(model)
            return tuple(
                found and answer(model, operation)
                for operation, found in zip(model.main.operations, answers, strict=True)
            )

    return extended(Device)


def is_at_home(model: types.Model, operation: types.Operation) -> bool:
    """All operands of extensions are of the operation's own."""
    types_of = [model.main.operands[index].type for index in operation.inputs]
    return all(kind <= LOW or kind >> 16 == operation.type >> 16 for kind in types_of)


def has_own_first(model: types.Model, operation: types.Operation) -> bool:
    """The mapping begins with an own extension, or the operation needs none."""
    mapping = model.extension_name_to_prefix
    return operation.type <= LOW or mapping[0].name in _OWN


def listing(change: Callable[[tuple[types.Extension, ...]], tuple[types.Extension, ...]]) -> FaultySubject:
    """A driver that lists its extensions changed."""

    class Device(ExtendedDevice):
        def get_supported_extensions(self) -> tuple[types.Extension, ...]:
            return change(self.inner.get_supported_extensions())

    return extended(Device)


def resized(size: int, *, also: bool = False) -> Callable[[tuple[types.Extension, ...]], tuple[types.Extension, ...]]:
    """The last type of each extension gets this size. also: in an entry of its own, beside the true one."""

    def changed(extension: types.Extension) -> types.Extension:
        *others, last = extension.operand_types
        kept = (*others, last) if also else tuple(others)
        return replace(extension, operand_types=(*kept, replace(last, byte_size=size)))

    return lambda listed: tuple(map(changed, listed))


def lists_more_than_it_has(context: Context, version: Version) -> Subject:
    """Makes a driver of one extension that lists two."""

    class Device(FaultyDevice):
        def get_supported_extensions(self) -> tuple[types.Extension, ...]:
            return (*self.inner.get_supported_extensions(), types.Extension(ECHO, (_ECHO_BYTES,)))

    return Subject(device=Device(ReferenceDevice(context, version, own.register(1))))


_ECHO_BYTES = types.ExtensionOperandTypeInformation(type=1, is_tensor=True, byte_size=1)


def computing(operation: str, change: Callable[[Sequence[Any], Sequence[Any]], tuple[Any, ...]]) -> FaultySubject:
    """Another formula for an operation. The process is the fault's own."""

    def create(context: Context, version: Version) -> Subject:
        kernels.KERNELS[operation] = change
        return Subject(device=ReferenceDevice(context, version, own.register()))

    return FaultySubject(create)


def from_one(inputs: Sequence[Any], outputs: Sequence[Any]) -> tuple[Any, ...]:
    """FIBONACCI that begins with 1."""
    scale, zero_point = kernels.PARAMETERS.unpack(outputs[0].extension)
    count = int(inputs[0].data.item())
    return ((kernels.sequence(count + 1)[1:] / scale + zero_point).astype("int64"),)


def truncating(inputs: Sequence[Any], outputs: Sequence[Any]) -> tuple[Any, ...]:
    """FIBONACCI that does not round."""
    scale, zero_point = kernels.PARAMETERS.unpack(outputs[0].extension)
    return ((kernels.sequence(int(inputs[0].data.item())) // scale).astype("int64") + zero_point,)


def in_float32(inputs: Sequence[Any], outputs: Sequence[Any]) -> tuple[Any, ...]:
    """FIBONACCI with the precision of float32."""
    (numbers,) = kernels.fibonacci(inputs, outputs)
    return (numbers.astype("float32").astype("int64"),)


def without_zero_point(inputs: Sequence[Any], outputs: Sequence[Any]) -> tuple[Any, ...]:
    """FIBONACCI_DEQUANTIZE that scales alone."""
    scale, _ = kernels.PARAMETERS.unpack(inputs[0].extension)
    return ((inputs[0].data * scale).astype("float32"),)


def first_mapped(model: types.Model) -> types.Model:
    """Every extension is the one that the mapping names first."""
    if not model.extension_name_to_prefix:
        return model
    prefix = model.extension_name_to_prefix[0].prefix
    return recoded(model, lambda code: prefix << 16 | code & LOW if code > LOW else code)


def subtracts(model: types.Model) -> types.Model:
    """ADD is another operation in models with extensions."""
    if not model.extension_name_to_prefix:
        return model
    return with_operations(
        lambda one: replace(one, type=int(OperationType.SUB)) if one.type == OperationType.ADD else one
    )(model)


def knows_oem(model: types.Model) -> types.Model:
    """OEM codes are taken for RELU and for tensors of float32."""
    return _recoded_apart(model, lambda code: _OEM_TYPES.get(code, code), lambda code: _OEM_OPERATIONS.get(code, code))


class RefusesOem(ExtendedDevice):
    """Reports OEM codes as an error, in HIDL."""

    def get_supported_operations(self, model: types.Model) -> tuple[bool, ...]:
        if any(operation.type == OperationType.OEM_OPERATION for operation in model.main.operations):
            raise ServiceError(ErrorStatus.INVALID_ARGUMENT, "OEM_OPERATION")
        return self.inner.get_supported_operations(model)


class HasOem(ExtendedDevice):
    """Supports an OEM operation."""

    def get_supported_operations(self, model: types.Model) -> tuple[bool, ...]:
        answers = self.inner.get_supported_operations(model)
        pairs = zip(model.main.operations, answers, strict=True)
        return tuple(answer or operation.type == OperationType.OEM_OPERATION for operation, answer in pairs)


def once_by(key: Callable[[types.ExtensionNameAndPrefix], object]) -> Callable[[Names], Names]:
    """Only the last of several entries with one key stays."""
    return lambda mapping: tuple({key(one): one for one in mapping}.values())


def channels_are_parameters(operand: types.Operand) -> types.Operand:
    """Parameters of channels are taken for parameters of the extension."""
    has_channels = operand.extra_params is not None and operand.extra_params.channel_quant is not None
    return replace(operand, extra_params=types.OperandExtraParams(extension=_PARAMETERS)) if has_channels else operand


def default_parameters(operand: types.Operand) -> types.Operand:
    """A tensor without parameters gets some."""
    is_bare = operand.extra_params is None and bool(operand.dimensions)
    return replace(operand, extra_params=types.OperandExtraParams(extension=_PARAMETERS)) if is_bare else operand


def scalars_are_counts(model: types.Model) -> types.Model:
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


def renumbered(change: Callable[[int], int]) -> Callable[[types.Operation], types.Operation]:
    """A change of operations that changes the local numbers of extensions."""
    return lambda one: replace(one, type=one.type & ~LOW | change(one.type & LOW)) if one.type > LOW else one
