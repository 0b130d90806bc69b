"""mlts_benchmark.csv as AOSP's Machine Learning Test Suite writes it: a row for each model and backend (ML-REP-001)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime

from npu_conformance.harness.report.figures import Figures, by_subject
from npu_conformance.specs.documents.results import CaseResult, Measurement
from npu_conformance.specs.documents.summary import Results
from npu_conformance.specs.outcomes import Outcome

DEVICE, CPU = "TFLite_NNAPI", "TFLite_CPU"
"""AOSP's names of the backends: of the plug-in under test, and of the one beside it, which is the baseline."""
_COMMENT = (
    "#testInfo,backendType,iterations,totalTimeSec,freqStartSec,freqStepSec,bucketCount,buckets..,maxSingleError,"
    "testSetSize,evaluatorsCount,validationErrorsCount,evaluatorKeys..,evaluatorScores..,validationErrors..,"
    "[hasCompileWithoutCache,block],[hasSaveToCache,block],[hasPrepareFromCache,block],compilationCacheSizeBytes"
)
_COMPILATIONS = ("prepare_without_cache", "prepare_saving", "prepare_from_cache")
_EVALUATORS = {
    "top_1": "top_1",
    "top_5": "top_5",
    "phone_error_rate": "max_phone_error_rate",
    "mel_cepstral_error": "max_mel_cep_distortion",
    "log_f0_error": "max_log_f0_error",
}
"""What AOSP calls the scores of its evaluators."""
_PER_ITEM = ("top_1", "agreement", "cosine", "snr_gain")
"""Metrics whose samples are the items."""
_SECONDS = 1e-3


def document(results: Results, verdicts: Iterable[CaseResult]) -> str:
    """The file. A model that failed before it was measured has no row, as in AOSP's."""
    seen = list(verdicts)
    measured = [one for result in seen for one in result.measurements]
    time = datetime.fromisoformat(results.time).strftime("%Y%m%d_%H%M%S")
    lines = [f"{time},{_word(results.manifest.name)} {_word(results.manifest.version)}", _COMMENT]
    errors = _errors(seen)
    for beside in dict.fromkeys(["", *(one.beside for one in measured)]):
        for model, figures in by_subject(measured, beside).items():
            if "inference" in figures:
                row = _row(model, figures, CPU if beside else DEVICE, () if beside else errors.get(model, ()))
                lines.append(",".join(row))
    return "\n".join(lines) + "\n"


def _errors(verdicts: Iterable[CaseResult]) -> Mapping[str, tuple[str, ...]]:
    """What failed of each model's accuracy."""
    found: dict[str, tuple[str, ...]] = {}
    for result in verdicts:
        models = {one.subject for one in result.measurements}
        if len(models) == 1 and result.case.startswith("mlts.accuracy."):
            failed = [part.message for part in result.configurations if part.outcome is Outcome.FAIL]
            failed += [result.message] if result.own_outcome is Outcome.FAIL else []
            found[models.pop()] = tuple(failed)
    return found


def _row(model: str, figures: Figures, backend: str, errors: tuple[str, ...]) -> Iterator[str]:
    scores = {_EVALUATORS[name]: one.value for name, one in figures.items() if name in _EVALUATORS}
    largest = figures.get("largest_error")
    yield from (model, backend)
    yield from _block(figures["inference"])
    yield f"{abs(largest.value) if largest else 0.0:g}"
    yield str(next((figures[name].count for name in _PER_ITEM if name in figures), 0))
    yield from (str(len(scores)), str(len(errors)))
    yield from scores
    yield from (f"{value:g}" for value in scores.values())
    yield from map(_word, errors)
    for name in _COMPILATIONS:
        yield "true" if name in figures else "false"
        if name in figures:
            yield from _block(figures[name])
    size = figures.get("cache_size")
    yield str(int(size.value) if size else 0)


def _block(measured: Measurement) -> Iterator[str]:
    """A latency: iterations, total time, and the histogram."""
    starts = [least for least, _ in measured.buckets]
    step = starts[1] - starts[0] if len(starts) > 1 else 0.0
    mean = measured.value if measured.mean is None else measured.mean
    yield str(measured.count)
    yield from (f"{number * _SECONDS:g}" for number in (mean * measured.count, starts[0], step))
    yield str(len(starts))
    yield from (str(count) for _, count in measured.buckets)


def _word(text: str) -> str:
    """A cell: what AOSP does about commas, and about line ends, which would be rows."""
    return " ".join(text.replace(",", " ").split())
