"""Vendors' own extensions, out of the catalogues of `--catalogue DIR`: their vectors, and what a device says of them.

A device that does not list an extension need not have any of it. One that lists it has all of it. This area has a case
for each vector of an extension; how any extension travels over the interface is `vts.extensions`.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from typing import Any

import msgspec
from msgspec.structs import replace

from npu_conformance.corpus import vectors
from npu_conformance.corpus.variations import allowed
from npu_conformance.corpus.vectors import Vector
from npu_conformance.corpus.wire_model import build_model, build_request, extension_names
from npu_conformance.harness.judge import checks
from npu_conformance.harness.judge.outputs import judge
from npu_conformance.harness.judge.verdicts import Failed, NotApplicable, NotSupported
from npu_conformance.harness.run.cases import Case, Group
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.harness.run.executing.executors import execute
from npu_conformance.harness.run.preparation import model_of
from npu_conformance.harness.run.vector_cases import attach, vector_from
from npu_conformance.specs.documents import DocumentError
from npu_conformance.specs.errors import ServiceError
from npu_conformance.specs.neuralnetworks import catalogue, extension_codes, registered_extensions
from npu_conformance.specs.neuralnetworks.enums import ErrorStatus
from npu_conformance.specs.neuralnetworks.hal import PreparedModel
from npu_conformance.specs.neuralnetworks.registered_extensions import RegisteredExtension
from npu_conformance.specs.neuralnetworks.types import ExtensionNameAndPrefix, RequestMemoryPool
from npu_conformance.specs.versions import Version
from npu_conformance.vts.lib import vector_cases
from npu_conformance.vts.lib.rejection import expect_rejected_at_prepare

AREA = "vts.extension"
_SINCE = Version.V1_2
_NOBODYS = "com.npu_conformance.in_no_driver"
_VECTORS = ("NNHAL-EXTENSION-001", "NNHAL-EXTENSION-005", "NNHAL-EXTENSION-006", "NNHAL-QUERY-019", "NNHAL-QUERY-026")
_HIGHEST_PREFIX = {False: 0xFFFF, True: 0x7FFF}
"""By whether it is AIDL, which keeps the sign bit free."""


def cases() -> Iterator[Case]:
    """The cases of every registered extension; none in a run without --catalogue."""
    for extension in registered_extensions.all_registered():
        yield from _behaviours(extension)
        for operation in extension.operations:
            yield from _vector_cases(operation)


def cases_under(subject: str) -> Iterator[Case]:
    """The cases of one operation or of one extension. Raises DocumentError in a run without any extension."""
    if not registered_extensions.all_registered():
        raise DocumentError(f"{AREA}.{subject}", "", "needs the catalogue of its extension: --catalogue DIR")
    return (case for case in cases() if case.id.split(".")[2] == subject)


def case_from(payload: Any) -> Case:
    """The case of a failure file. Raises DocumentError where an extension that it needs is not registered."""
    registered_extensions.require(payload["extensions"], payload["id"])
    if "vector" not in payload:
        return next(case for case in cases() if case.id == payload["id"])
    made = vector_cases.case_from(payload)
    return replace(made, run=functools.partial(_run, made.run, lambda: vector_from(payload)))


def _vector_cases(operation: str) -> Iterator[Case]:
    for header in vectors.headers(operation) if operation in vectors.registered_operations() else ():
        vectors.load(operation, header.name)  # bad values are the vendor's to know before anything runs
        for name, since in {"": header.since, **allowed.applicable(header)}.items():
            made = vector_cases.stored_case(header, name, since, AREA)
            load = functools.partial(vectors.load, operation, header.name)
            run = functools.partial(_run, made.run, load)
            yield replace(made, run=run, since=max(made.since, _SINCE), requirements=(*made.requirements, *_VECTORS))


def _run(run: Callable[[CaseContext], None], load: Callable[[], Vector], context: CaseContext) -> None:
    """Run a vector against a device that lists its extensions. load: the vector before any variation."""
    vector = load()
    attach(context, vector)
    missing = set(extension_names(vector)) - _listed(context).keys()
    if missing:
        if vector.rejected is None:
            _not_supported_either(context, vector)
        raise NotSupported(f"the device does not list the extension {', '.join(sorted(missing))}")
    try:
        run(context)
    except NotSupported:
        if vector.rejected is None:
            _supported_too(context, vector)
        raise


def _listed(context: CaseContext) -> dict[str, Any]:
    return {extension.name: extension for extension in context.device.get_supported_extensions()}


def _answers(context: CaseContext, vector: Vector) -> dict[str, bool]:
    """What the device says of each operation of an extension in a vector; nothing where it rejects the model."""
    try:
        answers = context.supported_operations(build_model(vector, context.version).model)
    except ServiceError as error:
        checks.status(error.status, {ErrorStatus.INVALID_ARGUMENT, ErrorStatus.GENERAL_FAILURE}, "support of a model")
        return {operation.type: False for operation in vector.operations if catalogue.is_registered(operation.type)}
    pairs = zip(vector.operations, answers, strict=True)
    return {operation.type: answer for operation, answer in pairs if catalogue.is_registered(operation.type)}


def _supported_too(context: CaseContext, vector: Vector) -> None:
    for operation, answer in _answers(context, vector).items():
        if not answer:
            raise Failed(
                f"the device lists the extension {_extension_of(operation)}, but does not support {operation} "
                f"(vector {vector.name}): one is listed only if all of it is supported",
                "supported",
                "not supported",
            )


def _not_supported_either(context: CaseContext, vector: Vector) -> None:
    for operation, answer in _answers(context, vector).items():
        if answer:
            raise Failed(
                f"the device supports {operation} (vector {vector.name}), but does not list the extension "
                f"{_extension_of(operation)}",
                "listed",
                "not listed",
            )


def _extension_of(operation: str) -> str:
    number = extension_codes.extension_number(catalogue.operation_code(operation))
    return registered_extensions.with_number(number).name


def _behaviours(extension: RegisteredExtension) -> Iterator[Case]:
    """Cases about the extension as a whole."""
    rows = (
        ("operand_types", _operand_types, ("NNHAL-QUERY-020",), Group.QUERIES),
        ("support", _support, ("NNHAL-QUERY-019", "NNHAL-QUERY-026"), Group.QUERIES),
        ("prefixes", _prefixes, ("NNHAL-EXTENSION-001", "NNHAL-EXTENSION-005"), None),
        ("side_by_side", _side_by_side, ("NNHAL-EXTENSION-005",), None),
        ("mapping", _mapping, ("NNHAL-EXTENSION-004", "NNHAL-EXTENSION-007"), None),
    )
    for name, check, requirements, group in rows:
        case_id = f"{AREA}.{extension.name.replace('.', '_')}.{name}"
        yield Case(
            case_id,
            functools.partial(_behaviour, check, extension),
            requirements,
            check.__doc__ or "",
            since=_SINCE,
            group=group,
            operations=extension.operations,
        )


def _behaviour(
    check: Callable[[CaseContext, RegisteredExtension], None], extension: RegisteredExtension, context: CaseContext
) -> None:
    context.attach(lambda: {"id": context.case.id, "extensions": [extension.name]})
    check(context, extension)


def _operand_types(context: CaseContext, extension: RegisteredExtension) -> None:
    """The device lists the operand types of the extension with the kinds and sizes that the catalogue says."""
    found = _listed(context).get(extension.name)
    if found is None:
        raise NotSupported(f"the device does not list the extension {extension.name}")
    named = {int(info.type) & 0xFFFF: info.type.name for info in extension.types}
    expected = {entry.type: entry for entry in extension.listed.operand_types}
    listed = {entry.type: entry for entry in found.operand_types}
    checks.equal(sorted(listed), sorted(expected), f"{extension.name}: ids of the operand types")
    for identifier, entry in expected.items():
        what = f"{extension.name}, operand type {identifier} ({named[identifier]})"
        checks.equal(listed[identifier].is_tensor, entry.is_tensor, f"{what}: isTensor")
        checks.equal(listed[identifier].byte_size, entry.byte_size, f"{what}: byteSize")


def _support(context: CaseContext, extension: RegisteredExtension) -> None:
    """The extension is listed if and only if its operations are supported, each in all of its vectors."""
    is_listed = extension.name in _listed(context)
    for operation in extension.operations:
        with context.configuration(operation):
            for vector in _positive(context, operation):
                (_supported_too if is_listed else _not_supported_either)(context, vector)
    if not is_listed:
        raise NotSupported(f"the device does not list the extension {extension.name}")


def _prefixes(context: CaseContext, extension: RegisteredExtension) -> None:
    """The prefix of the extension is the model's: the same model is supported with the lowest and the highest one."""
    vector = _first_vector(context, extension)
    count = len(extension_names(vector))
    for prefix in (1, _HIGHEST_PREFIX[context.version.is_aidl] + 1 - count):
        with context.configuration(f"prefix_{prefix}"):
            model = build_model(vector, context.version, first_prefix=prefix).model
            checks.that(all(context.supported_operations(model)), f"prefix {prefix}: {vector.name} is not supported")
            model_of(context.prepare(model), f"prefix {prefix}: prepareModel, notified")


def _side_by_side(context: CaseContext, extension: RegisteredExtension) -> None:
    """One model under two prefixes, both prepared before either is executed, computes what is expected."""
    vector = _first_vector(context, extension)
    models = [build_model(vector, context.version, first_prefix=prefix).model for prefix in (3, 0x101)]
    for prepared_model in [model_of(context.prepare(model)) for model in models]:
        _computes(context, vector, prepared_model)


def _computes(context: CaseContext, vector: Vector, prepared_model: PreparedModel) -> None:
    example = vector.examples[0]
    built = build_request(vector, example, context.version)
    given, output = context.pool(len(built.input_data) or 1), context.pool(built.output_size)
    given.write(0, built.input_data)
    request = built.request(RequestMemoryPool(pool=given.memory), RequestMemoryPool(pool=output.memory))
    execution = execute(context, prepared_model, request, measure=False)
    checks.status(execution.status, {ErrorStatus.NONE}, f"execution of {vector.name}")
    content = output.read(0, built.output_size)
    shapes = {name: example.outputs[name].shape for name in vector.outputs}
    judge(context, vector, example, {name: built.read(name, content, shape) for name, shape in shapes.items()})


def _mapping(context: CaseContext, extension: RegisteredExtension) -> None:
    """A mapping that is not one to one, or that lacks a prefix of the model, is rejected; its order means nothing."""
    model = build_model(_first_vector(context, extension), context.version, first_prefix=3).model
    own = model.extension_name_to_prefix
    others = (ExtensionNameAndPrefix(_NOBODYS, 0x300),)
    between = ExtensionNameAndPrefix(f"{_NOBODYS}.between", 0x301)
    rejected = {
        "name_twice": (*own, ExtensionNameAndPrefix(own[0].name, 0x300)),
        "name_twice_apart": (*own, between, ExtensionNameAndPrefix(own[0].name, 0x300)),
        "prefix_twice": (*own, ExtensionNameAndPrefix(_NOBODYS, own[0].prefix)),
        "prefix_twice_apart": (*own, between, ExtensionNameAndPrefix(_NOBODYS, own[0].prefix)),
        "unmapped": (*own[1:], *others),
    }
    for name, mapping in rejected.items():
        with context.configuration(name):
            expect_rejected_at_prepare(context, msgspec.structs.replace(model, extension_name_to_prefix=mapping))
    for name, mapping in {"others_first": (*others, *own), "others_last": (*own, *others)}.items():
        with context.configuration(name):
            answers = context.supported_operations(msgspec.structs.replace(model, extension_name_to_prefix=mapping))
            checks.that(all(answers), f"a mapping with an extension that the model does not use: found {list(answers)}")


def _first_vector(context: CaseContext, extension: RegisteredExtension) -> Vector:
    """A vector that the device has to support. NotSupported where it does not list the extension."""
    if extension.name not in _listed(context):
        raise NotSupported(f"the device does not list the extension {extension.name}")
    vector = next((one for operation in extension.operations for one in _positive(context, operation)), None)
    if vector is None:
        raise NotApplicable(f"the catalogue has no vectors of {extension.name} for HAL {context.version}")
    return vector


def _positive(context: CaseContext, operation: str) -> Iterator[Vector]:
    """The vectors of an operation that a device of this version has to support."""
    for header in vectors.headers(operation) if operation in vectors.registered_operations() else ():
        if header.rejected is None and header.since <= context.version:
            yield vectors.load(operation, header.name)
