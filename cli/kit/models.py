"""The sample models of the kit: what the cases of vts.structure and vts.validation hand in, with the verdict."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import msgspec

from npu_conformance.corpus import vectors
from npu_conformance.corpus.vectors import VectorHeader
from npu_conformance.corpus.wire_model import build_model
from npu_conformance.specs.neuralnetworks.types import Memory, Model
from npu_conformance.specs.neuralnetworks.validate import structural_rules, validate_model
from npu_conformance.specs.versions import Version
from npu_conformance.vts.lib.mutations import FAMILIES, Family, Mutation
from npu_conformance.vts.lib.structure_models import SIZE
from npu_conformance.vts.structure import graphs, operands, subgraphs

LARGEST = 1024
"""Bytes of the constants of a sample model, at most."""

_ENCODER = msgspec.json.Encoder(enc_hook=lambda number: number.spelling)
_MOMENTS = {rule.id: rule.latest for rule in structural_rules()}


def lines(version: Version) -> Iterator[dict[str, Any]]:
    """One entry for each model: name, version, verdict, clauses, and the model as it travels.

    verdict: valid; invalid, to be refused with INVALID_ARGUMENT; or either, where the clauses are such that a device
    may find out later, or that only the interface text has them.
    """
    yield from _structure(version)
    kinds: set[str] = set()
    for operation in vectors.operations():
        yield from _of_operation(operation, version, kinds)


def _structure(version: Version) -> Iterator[dict[str, Any]]:
    for row in (*operands.rows(), *graphs.rows(), *subgraphs.rows()):
        if row.since <= version <= row.until:
            model = row.model if isinstance(row.model, Model) else row.model(_pool(SIZE))
            yield entry(f"structure.{row.rule}.{row.verb}_{row.name}", model, version)


def _of_operation(operation: str, version: Version, kinds: set[str]) -> Iterator[dict[str, Any]]:
    """A valid model for each combination of types, and broken ones of each family that fits the operation.

    kinds: the kinds of edits that there are already. A family gives all that are new, or one that is not, of the first
    model that it fits. Where there are other graphs it goes on: no other operation has the edits inside of them.
    """
    families: set[str] = set()
    for header in legal_headers(operation, version):
        vector = vectors.load(header.operation, header.name)
        model = build_model(vector, version).model
        if len(model.operand_values) > LARGEST:
            continue
        yield entry(f"{operation}.{header.name}", model, version)
        pooled = build_model(vector, version, create_pool=lambda data: _pool(len(data))).model
        for family in FAMILIES:
            if family.name in families and not model.referenced:
                continue
            for mutation in _edits(family, pooled if family.pooled else model, version):
                kind = f"{family.name}.{mutation.kind}"
                if kind not in kinds or family.name not in families:
                    kinds.add(kind)
                    families.add(family.name)
                    yield entry(f"{operation}.{header.name}.{family.name}.{mutation.label}", mutation.model, version)


def _edits(family: Family, model: Model, version: Version) -> Iterator[Mutation]:
    if family.since <= version <= family.until:
        yield from (edit for edit in family.mutate(model, version) if len(edit.model.operand_values) <= LARGEST)


def legal_headers(operation: str, version: Version) -> list[VectorHeader]:
    """The first vector of each combination of types."""
    legal = [header for header in vectors.headers(operation) if header.rejected is None and header.since <= version]
    by_types = {frozenset(operand.type for operand in header.operands.values()): header for header in reversed(legal)}
    return list(reversed(by_types.values()))


def entry(name: str, model: Model, version: Version) -> dict[str, Any]:
    """The sample of a model, with the rules of models that it breaks."""
    clauses = list(dict.fromkeys(found.clause for found in validate_model(model, version, text_rules=True)))
    return judged_entry(name, model, version, _verdict(clauses), clauses)


def judged_entry(name: str, model: Model, version: Version, verdict: str, clauses: list[str]) -> dict[str, Any]:
    """The sample of a model whose verdict is known."""
    return {
        "name": name,
        "version": version.value,
        "verdict": verdict,
        "clauses": clauses,
        "model": json.loads(_ENCODER.encode(model)),
    }


def _verdict(clauses: list[str]) -> str:
    if not clauses:
        return "valid"
    return "invalid" if any(_MOMENTS[clause] == "validation" for clause in clauses) else "either"


def _pool(size: int) -> Memory:
    return Memory(kind="ashmem", size=size, token=1)
