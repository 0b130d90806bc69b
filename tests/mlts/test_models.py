"""Accuracy and latency of the project's own models on drivers that are right, and beside others that are not."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator

import pytest
from places import HOSTILE

from npu_conformance.corpus import zoo
from npu_conformance.corpus.zoo.data import DataError
from npu_conformance.harness.judge.verdicts import Failed, NotApplicable
from npu_conformance.harness.run import suites
from npu_conformance.harness.run.cases import Scope
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.harness.subject.handle import SubjectHandle
from npu_conformance.harness.subject.loading import Isolation, open_subject
from npu_conformance.mlts import accuracy
from npu_conformance.mlts.lib.zoo_cases import BESIDE_FAILED
from npu_conformance.specs.documents.results import Measurement
from npu_conformance.specs.outcomes import Outcome
from npu_conformance.specs.versions import Version

ACCURACY = "mlts.accuracy.digits_conv.answers"
INFERENCE = "mlts.latency.digits_conv.inference"
COMPILATION = "mlts.latency.digits_conv.compilation"
THROUGHPUT = "mlts.latency.digits_conv.throughput"
Open = Callable[..., SubjectHandle]


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> Iterator[Open]:
    """Opens subjects, and closes them."""
    monkeypatch.syspath_prepend(str(HOSTILE))
    subjects: list[SubjectHandle] = []

    def open_one(spec: str = "reference", version: Version | None = None, **options: str) -> SubjectHandle:
        isolation: Isolation = "inprocess" if spec == "reference" else "process"
        subjects.append(open_subject(spec, options, isolation, version=version))
        return subjects[-1]

    yield open_one
    for subject in subjects:
        subject.close()
    sys.modules.pop("stressed_drivers", None)


def run(case_id: str, subject: SubjectHandle, beside: SubjectHandle | None = None) -> CaseContext:
    case = suites.find(case_id)
    context = CaseContext(case, subject, scope=Scope.SMOKE, beside=beside)
    case.run(context)
    context.close()
    assert [record.details.message for record in context.configurations.values() if record.details.message] == []
    return context


def named(context: CaseContext, beside: str = "") -> dict[str, Measurement]:
    return {one.name: one for one in context.measurements if one.beside == beside}


@pytest.mark.parametrize("version", [Version.V1_0, Version.V1_2, Version.V1_3, Version.FL8], ids=str)
def test_every_version_is_measured(version: Version, opened: Open) -> None:
    found = named(run(INFERENCE, opened(version=version, hal=version.value)))
    assert {"prepare", "first_inference", "inference"} <= found.keys()
    assert ("burst" in found) == (version >= Version.V1_2)
    assert ("inference_on_device" in found) == (version >= Version.V1_2)
    assert all(one.unit == "ms" and one.value > 0.0 for one in found.values())


def test_what_the_device_says_is_less_than_what_the_caller_waits(opened: Open) -> None:
    found = named(run(INFERENCE, opened()))
    assert found["inference_on_device"].value < found["inference"].value


def test_compilation_has_three_kinds(opened: Open) -> None:
    found = named(run(COMPILATION, opened()))
    assert found.keys() == {"prepare_without_cache", "prepare_saving", "prepare_from_cache", "cache_size"}
    assert found["cache_size"].unit == "bytes"
    assert found["cache_size"].value > 10_000
    assert found["prepare_from_cache"].count <= 100


def test_throughput_counts_every_inference(opened: Open) -> None:
    found = named(run(THROUGHPUT, opened()))
    assert "throughput_1" in found
    assert all(one.unit == "per second" and one.count >= 10 for one in found.values())


def test_accuracy_is_that_of_the_golden_outputs(opened: Open) -> None:
    found = named(run(ACCURACY, opened()))
    assert found["top_1"].value >= 0.9
    assert found["agreement"].value == 1.0
    assert abs(found["largest_error"].value) < 1e-5


def test_both_are_measured_by_the_same_names(opened: Open) -> None:
    for case in (ACCURACY, INFERENCE, COMPILATION, THROUGHPUT):
        context = run(case, opened(), opened())
        assert named(context).keys() == named(context, "reference").keys()
        assert BESIDE_FAILED not in context.notes


@pytest.mark.parametrize("end", ["crash", "hang", "refuse"])
@pytest.mark.parametrize("case", [ACCURACY, INFERENCE, THROUGHPUT])
def test_what_the_other_does_wrong_is_no_verdict(case: str, end: str, opened: Open) -> None:
    context = run(case, opened(), opened("stressed_drivers:plugin", end=end))
    assert str(context.notes[BESIDE_FAILED]).startswith("stressed: ")
    assert context.own.details.outcome is Outcome.PASS
    assert named(context).keys() >= {{ACCURACY: "top_1", INFERENCE: "inference", THROUGHPUT: "throughput_1"}[case]}


def test_all_items_have_to_come_in_time(opened: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(accuracy, "_MOST_SECONDS", 0.0)
    with pytest.raises(Failed, match="inference of 1 of 20 items: expected at most 0 s for all"):
        run(ACCURACY, opened())


def test_a_model_without_what_reads_its_data_is_not_applicable(opened: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    def unreadable(name: str) -> zoo.ZooModel:
        raise DataError("pictures need Pillow: pip install npu-conformance[mlts]")

    monkeypatch.setattr(zoo, "load", unreadable)
    with pytest.raises(NotApplicable, match="pictures need Pillow"):
        run(ACCURACY, opened())


def test_a_model_that_is_not_fetched_is_not_applicable(
    opened: Open, monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory
) -> None:
    monkeypatch.setenv("NPU_CONFORMANCE_MODELS", str(tmp_path_factory.mktemp("models")))
    for case_id in ("mlts.accuracy.okay_nabu.answers", "mlts.latency.okay_nabu.inference"):
        case = suites.find(case_id)
        with pytest.raises(NotApplicable, match="npu-conformance models fetch okay_nabu"):
            case.run(CaseContext(case, opened(), scope=Scope.SMOKE))


def test_an_overrun_of_the_other_is_no_verdict(opened: Open) -> None:
    wrong = opened("npu_conformance.faults.plugin:plugin", fault="memory-behind-outputs", hal="fl8")
    context = run(INFERENCE, opened(), wrong)
    assert "wrote past the end" in str(context.notes[BESIDE_FAILED])
    assert context.own.details.outcome is Outcome.PASS
