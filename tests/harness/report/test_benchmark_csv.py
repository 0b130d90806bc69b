"""The file of AOSP's suite, read by the rules of its own reader: each row is taken apart from left to right."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from made_runs import summary

from npu_conformance.harness.report import benchmark_csv
from npu_conformance.specs.documents.results import CaseResult, ConfigurationResult, Measurement
from npu_conformance.specs.outcomes import Outcome


def times(name: str, beside: str = "", count: int = 4) -> Measurement:
    return Measurement(
        "net", name, "ms", 2.0, count=count, buckets=((1.0, 3), (1.5, 1)), mean=1.25, deviation=0.1, beside=beside
    )


def measured(case: str, *found: Measurement) -> CaseResult:
    return CaseResult(case=case, outcome=Outcome.PASS, measurements=found)


INFERENCE = measured("mlts.latency.net.inference", times("inference"), times("inference", "litert"))
COMPILATION = measured(
    "mlts.latency.net.compilation",
    times("prepare_without_cache"),
    times("prepare_from_cache", count=7),
    Measurement("net", "cache_size", "bytes", 4096.0),
)
ACCURACY = CaseResult(
    case="mlts.accuracy.net.answers",
    outcome=Outcome.FAIL,
    configurations=(ConfigurationResult(name="top_1", outcome=Outcome.FAIL, message="top_1, of 60\nitems"),),
    measurements=(
        Measurement("net", "top_1", "fraction", 0.5, count=60),
        Measurement("net", "largest_error", "absolute", -0.25, count=600),
    ),
)


def rows(*verdicts: CaseResult) -> list[list[str]]:
    head, comment, *lines = benchmark_csv.document(summary(*verdicts).results, verdicts).splitlines()
    assert head.count(",") == 1
    assert comment.startswith("#testInfo,backendType,iterations,")
    return [line.split(",") for line in lines]


def block(cells: Iterator[str]) -> tuple[int, float, float, float, list[int]]:
    iterations, total, start, step, buckets = (float(next(cells)) for _ in range(5))
    return int(iterations), total, start, step, [int(next(cells)) for _ in range(int(buckets))]


def test_a_row_for_each_backend() -> None:
    assert [row[:2] for row in rows(INFERENCE)] == [["net", "TFLite_NNAPI"], ["net", "TFLite_CPU"]]


def test_a_row_is_read_to_its_end() -> None:
    device, _ = rows(INFERENCE, COMPILATION, ACCURACY)
    cells = iter(device[2:])
    iterations, total, *histogram = block(cells)
    assert iterations == 4
    assert total == pytest.approx(0.005)
    assert histogram == [0.001, 0.0005, [3, 1]]
    assert next(cells) == "0.25"
    assert next(cells) == "60"
    assert (next(cells), next(cells)) == ("1", "1")
    assert (next(cells), next(cells)) == ("top_1", "0.5")
    assert next(cells) == "top_1 of 60 items"
    assert next(cells) == "true"
    assert block(cells)[0] == 4
    assert next(cells) == "false"
    assert next(cells) == "true"
    assert block(cells)[0] == 7
    assert list(cells) == ["4096"]


def test_what_the_device_gets_wrong_is_not_the_cpus() -> None:
    _, cpu = rows(INFERENCE, COMPILATION, ACCURACY)
    assert "top_1 of 60 items" not in cpu
    assert cpu[-4:] == ["false", "false", "false", "0"]


def test_without_latency_there_is_no_row() -> None:
    assert rows(ACCURACY) == []
