"""What the kit has of the extensions of `--catalogue`: their numbers, signatures and clauses, and sample models."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from npu_conformance.cli.kit import tables
from npu_conformance.cli.kit.models import entry, judged_entry, legal_headers
from npu_conformance.corpus import vectors
from npu_conformance.corpus.wire_model import build_model
from npu_conformance.specs.neuralnetworks import rules
from npu_conformance.specs.neuralnetworks.extension_codes import identifier
from npu_conformance.specs.neuralnetworks.operand_types import OperandTypeInfo
from npu_conformance.specs.neuralnetworks.operation_tables import OperationTable
from npu_conformance.specs.neuralnetworks.registered_extensions import RegisteredExtension, all_registered
from npu_conformance.specs.versions import Version


def table() -> dict[str, Any]:
    """Operand types and operations of each extension, by its name.

    They have ids, which a model puts together with the prefix that it gives the extension. In signatures the types of
    extensions are names, those of the standard numbers.
    """
    return {extension.name: _extension(extension) for extension in all_registered()}


def lines(version: Version) -> Iterator[dict[str, Any]]:
    """The sample models: one for each combination of types, and those that a clause refuses."""
    for extension in all_registered():
        for operation in extension.operations:
            if operation in vectors.registered_operations():
                yield from _samples(operation, version)


def _extension(extension: RegisteredExtension) -> dict[str, Any]:
    return {
        "operandTypes": {info.type.name: _operand_type(info) for info in extension.types},
        "operations": {operation.name: _operation(operation) for operation in extension.tables},
    }


def _operand_type(info: OperandTypeInfo) -> dict[str, Any]:
    return {
        "id": identifier(int(info.type)),
        "since": info.since.value,
        "tensor": info.is_tensor,
        "bytes": info.size,
        "element": info.dtype,
    }


def _operation(operation: OperationTable) -> dict[str, Any]:
    return {
        "id": identifier(operation.code),
        "since": operation.since.value,
        "signatures": [tables.signature_entry(signature) for signature in operation.signatures],
        "clauses": {
            clause.id: {"text": clause.text, "phase": clause.phase} for clause in rules.clauses(operation.name)
        },
    }


def _samples(operation: str, version: Version) -> Iterator[dict[str, Any]]:
    for header in legal_headers(operation, version):
        model = build_model(vectors.load(operation, header.name), version).model
        yield entry(f"{operation}.{header.name}", model, version)
    for header in vectors.headers(operation):
        rejected = header.rejected
        if rejected is not None and header.since <= version <= rejected.until:
            model = build_model(vectors.load(operation, header.name), version).model
            verdict = "invalid" if rejected.phase == "model" else "either"
            yield judged_entry(f"{operation}.{header.name}", model, version, verdict, [rejected.clause])
