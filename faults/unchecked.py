"""Drivers that do not check a rule: a fault for each clause of an operation, and for each structural rule.

A clause that no vector breaks has none (`npu-conformance requirements --untested` says why), nor has one that Android's
own implementation does not check either, nor a structural rule of the text alone, which the reference does not check.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from itertools import pairwise

from npu_conformance.corpus import vectors
from npu_conformance.corpus.vector_types import ANDROID
from npu_conformance.corpus.vectors import VectorHeader
from npu_conformance.faults.boundary import FaultyDevice
from npu_conformance.faults.factories import faulty_device
from npu_conformance.faults.fault import Edited, Fault
from npu_conformance.faults.source_edits import SourceEdit
from npu_conformance.specs.neuralnetworks import rules
from npu_conformance.specs.neuralnetworks.rules.clause import Clause
from npu_conformance.specs.neuralnetworks.validate import structural_rules
from npu_conformance.specs.neuralnetworks.validate_rules import StructuralRule
from npu_conformance.specs.versions import Version

_AT_PREPARATION = (
    "reference.hal.device",
    "ReferenceDevice._obstacle",
    "check_operation(view_of(model, index, self.version, subgraph=graph, pools=pools))",
)
_AT_EXECUTION = ("reference.device.executor", "_GraphExecutor._checked", "check_operation(view)")
_OF_RESULTS = SourceEdit("reference.device.executor", "_check_shape", "if not agrees", "if False and not agrees")
"""Declared shapes of results are looked at twice, since some are known only when they are computed."""
_OF_MODELS = ("reference.hal.device", "ReferenceDevice._check_model", "validate_model(model, self.version)")
_OF_REQUESTS = (
    "reference.hal.execution",
    "Execution._check",
    "validate_request(self._request, prepared.model, prepared.version, fenced=fenced)",
)
_CHECKED_TWICE = ("MODEL.P3R", "MODEL.P3O", "REQUEST.R8")
"""Operations check ranks and omitted inputs when they are executed, and a token that no buffer has is nobody's."""
_OF_OLD_VERSIONS = ("MODEL.O1", "MODEL.O2", "MODEL.O3", "MODEL.O12", "MODEL.M3", "MODEL.P1", "MODEL.P3")
"""Rules that refuse more before 1.2."""
_ELSEWHERE = {"MODEL.M1": ("vts.validation.model.empty",), "REQUEST.R1": ("vts.request_mutations.*",)}
"""Rules that have their cases outside of the areas that are about structure."""
_WITHOUT_NEWS = (Version.FL5, Version.FL8)
"""Versions that brought no operation, no type for one, and no further inputs."""


_NOTHING_ACCEPTED = Fault(
    "unchecked-nothing-accepted",
    "A driver that calls every model invalid.",
    ("NNHAL-SUPPORT-005", "NNHAL-PREPARE-004"),
    ("vts.structure.*.accepts_*",),
    Edited(
        (SourceEdit("reference.hal.device", "ReferenceDevice._check_model", "if known[1]:", "if known is not None:"),)
    ),
)


def faults() -> Iterator[Fault]:
    """Every such fault, those of operations first."""
    refusals = _refusals()
    for operation in rules.operations():
        for clause in rules.clauses(operation):
            if clause.id in refusals:
                yield _of_clause(clause, refusals[clause.id])
    yield from (_of_version(reported, later) for reported, later in pairwise(Version) if later not in _WITHOUT_NEWS)
    for rule in structural_rules():
        if rule.latest == "text":
            continue
        if rule.id not in _CHECKED_TWICE:
            yield _of_structure(rule, rule.until)
        if rule.id in _OF_OLD_VERSIONS:
            yield _of_structure(rule, rule.since)
    yield _NOTHING_ACCEPTED


def _refusals() -> dict[str, list[VectorHeader]]:
    """The vectors that break a clause and that every implementation must refuse, by its id."""
    found: dict[str, list[VectorHeader]] = defaultdict(list)
    for header in vectors.all_headers():
        if header.rejected is not None and ANDROID not in header.taken_by:
            found[header.rejected.clause].append(header)
    return found


def _of_clause(clause: Clause, refused: list[VectorHeader]) -> Fault:
    operation, number = clause.id.split(".")
    return Fault(
        _name(clause.id),
        f"A driver that does not check: {clause.text}",
        (f"NNHAL-OPERATION-{operation}-{number}",),
        tuple(f"vts.generated.{header.operation}.{header.name}" for header in refused),
        Edited((_without(_AT_PREPARATION, clause.id), _without(_AT_EXECUTION, clause.id), _OF_RESULTS)),
        hal=max(header.rejected.until for header in refused if header.rejected),
    )


def _of_structure(rule: StructuralRule, version: Version) -> Fault:
    kind, number = rule.id.split(".")
    where, area = (_OF_MODELS, "structure") if kind == "MODEL" else (_OF_REQUESTS, "request_structure")
    where_else = "" if version == rule.until else f"-at-{version.value}"
    return Fault(
        _name(rule.id + where_else),
        f"A driver of HAL {version} that does not check: {rule.text}",
        (rule.id,),
        _ELSEWHERE.get(rule.id, (f"vts.{area}.{number}.*",)),
        Edited((_without(where, rule.id),)),
        hal=version,
    )


def _of_version(reported: Version, later: Version) -> Fault:
    return Fault(
        _name(f"newer-than-{reported.value}"),
        f"A driver of HAL {reported} that takes what HAL {later} brought.",
        ("NNHAL-MODEL-006", "NNHAL-MODEL-041", "NNHAL-MODEL-044"),
        ("vts.versions.*",),
        faulty_device(FaultyDevice, plays=later),
        hal=reported,
    )


def _name(rule: str) -> str:
    return "unchecked-" + rule.lower().replace(".", "-").replace("_", "-")


def _without(where: tuple[str, str, str], rule: str) -> SourceEdit:
    module, function, call = where
    return SourceEdit(module, function, call, f"[found for found in {call} if found.clause != {rule!r}]")
