"""What preparations with caches and from them must answer: the right model, or a refusal, and never anything else."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from npu_conformance.fuzz.lib.cache_ledger import Contents, Ledger, Meaning, models_of
from npu_conformance.fuzz.lib.cache_models import CachedModels
from npu_conformance.fuzz.lib.findings import Found, Kind
from npu_conformance.fuzz.lib.model_judge import allowed
from npu_conformance.harness.judge import checks
from npu_conformance.harness.run.caching import files_needed, outcome
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.harness.run.preparation import Preparation
from npu_conformance.harness.subject.files import Access
from npu_conformance.specs.errors import status_name
from npu_conformance.specs.neuralnetworks.enums import BYTE_SIZE_OF_CACHE_TOKEN, ErrorStatus
from npu_conformance.specs.neuralnetworks.hal import Device, PreparedModel

_NONE, _INVALID, _GENERAL = ErrorStatus.NONE, ErrorStatus.INVALID_ARGUMENT, ErrorStatus.GENERAL_FAILURE
_REJECTED = frozenset({_INVALID, _GENERAL})


@dataclass(frozen=True)
class Presented:
    """What a device is asked to restore from.

    odd: what is wrong about the handles. becomes: what the files are behind some read; None where they stay.
    """

    contents: Contents
    token: bytes
    odd: str
    access: Access
    becomes: Contents | None = None

    @property
    def has_token(self) -> bool:
        """True where the token has the right length; AIDL leaves it to the device what happens else."""
        return len(self.token) == BYTE_SIZE_OF_CACHE_TOKEN


def judge_saved(models: CachedModels, name: str, saved: Preparation, token: bytes) -> None:
    """A model is prepared, and right, whatever the cache arguments are (NNHAL-CACHE-001 to -003)."""
    status, is_odd = outcome(saved), len(token) != BYTE_SIZE_OF_CACHE_TOKEN
    if is_odd and status == _INVALID:
        return
    if status != _NONE or saved.prepared_model is None:
        told = f"prepareModel of {name} with cache files: expected a model, found {status}"
        raise Found("valid-refused" if status == _INVALID else "wrong-status", told, "NNHAL-CACHE-001")
    models.computes(name, saved.prepared_model)


def judge_restored(
    context: CaseContext,
    models: CachedModels,
    ledger: Ledger,
    cached: set[str],
    presented: Presented,
    restored: Preparation,
) -> str:
    """Judge a restoration; returns what was seen. cached: models that the device has restored before; it may grow."""
    status, meaning = outcome(restored), ledger.meaning(presented.contents, presented.token)
    statuses = allowed(context.subject, Device, "prepare_model_from_cache")
    checks.status(status, statuses, "prepareModelFromCache")
    assert status is not None
    if presented.becomes is not None:
        later = ledger.meaning(presented.becomes, presented.token)
        meaning = Meaning((), (*meaning.parts, *later.parts))
    wanted, clause = _wanted(context, presented, meaning, cached)
    _expect(status, wanted, clause)
    if restored.prepared_model is not None:
        _judge_model(models, presented, meaning, cached, restored.prepared_model)
    return f"{status} {clause} {len(meaning.whole) > 0} {len(models_of(meaning.parts))}"


def _wanted(
    context: CaseContext, presented: Presented, meaning: Meaning, cached: Collection[str]
) -> tuple[Collection[int], str]:
    """The statuses that are right, and the requirement that says so."""
    needed = files_needed(context.device)
    if not needed.num_model_cache and not needed.num_data_cache:
        return (_REJECTED if presented.odd or not presented.has_token else {_GENERAL}), "NNHAL-CACHE-009"
    if presented.odd:
        return _REJECTED, "NNHAL-CACHE-012" if presented.odd in ("two", "none") else "NNHAL-CACHE-011"
    if presented.access == "write":
        is_aidl = context.version.is_aidl
        return (_REJECTED if is_aidl or not presented.has_token else {_GENERAL}), (
            "NNHAL-CACHE-014" if is_aidl else "NNHAL-CACHE-013"
        )
    if not presented.has_token:
        return {_NONE, *_REJECTED}, "NNHAL-PREPARE-023"
    if not meaning.parts:
        is_nothing = b"" in presented.contents.model or presented.access == "read" or presented.becomes is not None
        return (_REJECTED if is_nothing else {_GENERAL}), "NNHAL-CACHE-015"
    is_plain = presented.access == "read_write" and presented.becomes is None
    if is_plain and any(saving.is_right and saving.model in cached for saving in meaning.whole):
        return {_NONE}, "NNHAL-CACHE-010"
    return {_NONE, *_REJECTED}, "NNHAL-CACHE-021"


def _expect(status: int, wanted: Collection[int], clause: str) -> None:
    if status in wanted:
        return
    kind: Kind = "invalid-accepted" if status == _NONE else "valid-refused" if _NONE in wanted else "wrong-status"
    names = " or ".join(sorted(map(status_name, wanted)))
    told = f"prepareModelFromCache ({clause}): expected {names}, found {status_name(status)}"
    raise Found(kind, told, clause)


def _judge_model(
    models: CachedModels, presented: Presented, meaning: Meaning, cached: set[str], prepared: PreparedModel
) -> None:
    """The model is one of those that the files may stand for; where their data are others, it need not be right."""
    names = models_of(meaning.whole or meaning.parts)
    is_known = bool(meaning.whole) or presented.becomes is not None
    if not is_known:
        models.executes(names[0], prepared)
        return
    found: list[Found] = []
    for name in names:
        try:
            models.computes(name, prepared)
        except Found as ended:
            found.append(ended)
            continue
        if meaning.whole:
            cached.update(saving.model for saving in meaning.whole if saving.is_right and saving.model == name)
        return
    told = f"the model that was restored is none of {', '.join(names)}: {found[0]}"
    raise Found("wrong-result", told, "NNHAL-CACHE-021" if presented.becomes else "NNHAL-CACHE-010")
