"""The tables of what was measured, at the end of a run."""

from __future__ import annotations

from made_runs import CRASHES

from npu_conformance.harness.report import figures
from npu_conformance.specs.documents.results import CaseResult, Measurement
from npu_conformance.specs.outcomes import Outcome


def result(*measured: Measurement) -> CaseResult:
    return CaseResult(case="mlts.latency.net.inference", outcome=Outcome.PASS, measurements=measured)


def test_nothing_measured_is_no_table() -> None:
    assert figures.lines([result(), CaseResult(case="vts.a.b.c", outcome=Outcome.PASS)]) == []
    assert figures.lines([result(Measurement("net", "throughput_2", "per second", 3.0))]) == []


def test_a_device_alone() -> None:
    found = figures.lines(
        [
            result(
                Measurement("small_net", "inference", "ms", 0.12345), Measurement("small_net", "prepare", "ms", 20.0)
            ),
            result(Measurement("net", "inference", "ms", 1.5)),
        ]
    )
    assert found == [
        "median in ms  inference  prepare",
        "small_net         0.123       20",
        "net                 1.5        -",
    ]


def test_the_first_column_has_the_other_beside_it() -> None:
    found = figures.lines(
        [
            result(
                Measurement("net", "inference", "ms", 1.5),
                Measurement("net", "inference", "ms", 1.0, beside="litert"),
                Measurement("net", "prepare", "ms", 4.0),
                Measurement("net", "prepare", "ms", 5.0, beside="litert"),
                Measurement("net", "top_1", "fraction", 0.95),
            )
        ]
    )
    assert found == [
        "median in ms  inference  litert  ratio  prepare",
        "net                 1.5       1    1.5        4",
        "accuracy  top_1  litert",
        "net        0.95       -",
    ]


def test_a_model_that_only_the_other_ran_has_no_line() -> None:
    found = figures.lines(
        [
            result(Measurement("net", "inference", "ms", 1.5)),
            result(Measurement("other", "inference", "ms", 1.0, beside="litert")),
        ]
    )
    assert [line.split()[0] for line in found] == ["median", "net"]


def test_crash_tests_have_a_line() -> None:
    found = figures.lines(CRASHES)
    assert found == ["crash tests: 2; their clients and checks ended in 2 SUCCESS, 0 FAILURE, 1 HANG, 1 CRASH"]
