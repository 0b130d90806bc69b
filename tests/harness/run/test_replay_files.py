"""A failure leaves one file, which runs again without the seed and without stored vectors."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from made_runs import TODAY, log, waiver
from msgspec.structs import replace

from npu_conformance.harness.judge.compare import check_output
from npu_conformance.harness.judge.verdicts import Crashed, Failed, NotApplicable, NotSupported
from npu_conformance.harness.judge.waivers import Waivers
from npu_conformance.harness.report.lines import headline
from npu_conformance.harness.run import failures, results, suites
from npu_conformance.harness.run.baseline import Baseline
from npu_conformance.harness.run.cases import Case
from npu_conformance.harness.run.engine import Engine, EngineOptions
from npu_conformance.harness.run.failures import FailureWriter
from npu_conformance.harness.run.replay import Replay, rebuild, replay
from npu_conformance.specs.documents import DocumentError
from npu_conformance.specs.documents.results import CaseResult, Digests
from npu_conformance.specs.documents.waivers import WaivedTolerance
from npu_conformance.specs.neuralnetworks.enums import OperandType
from npu_conformance.specs.outcomes import Disposition, Outcome

MakeCase = Callable[..., Case]


def failing(context: Any) -> None:
    context.attach(lambda: {"value": 3})
    with context.configuration("good"):
        pass
    with context.configuration("bad"):
        raise Failed("y: expected 1, found 2", "1", "2")


def replay_file(path: Path, subject: Any) -> Replay:
    failure = failures.load(path)
    return replay(failure, rebuild(failure), subject)


def run(case: Case, subject: Any, recorder: Any, directory: Path) -> CaseResult:
    writer = FailureWriter(directory, "0.1", Digests())
    return Engine([case], subject, recorder, EngineOptions(seed=5), on_failure=writer).run().results[0]


def test_the_file_holds_everything(make_case: MakeCase, subject: Any, recorder: Any, tmp_path: Path) -> None:
    result = run(make_case("a", failing), subject, recorder, tmp_path)
    assert result.notes["failure_file"] == "vts.area.subject.a.json"
    document = failures.load(tmp_path / "vts.area.subject.a.json")
    assert document.configurations == ("bad",)
    assert document.payload == {"value": 3}
    assert document.requirements == ("REQ-1",)
    assert document.manifest == subject.manifest
    assert [part.found for part in document.result.configurations] == ["2"]
    assert document.result.seed == result.seed


def test_a_waived_failure_can_be_replayed(make_case: MakeCase, subject: Any, recorder: Any, tmp_path: Path) -> None:
    """Whoever owns a waiver tries his mend with it."""
    waivers = Waivers([waiver("vts.*", requirement="REQ-1")], TODAY)
    writer = FailureWriter(tmp_path, "0.1", Digests())
    result = Engine([make_case("a", failing)], subject, recorder, waivers=waivers, on_failure=writer).run().results[0]
    assert Disposition.WAIVED in result.dispositions
    assert failures.load(tmp_path / str(result.notes["failure_file"])).configurations == ("bad",)


def within_a_tolerance(context: Any) -> None:
    context.attach(dict)
    for name, worse in (("near", None), ("far", Failed("z is wrong")), ("dead", Crashed("died"))):
        with context.configuration(name):
            check_output(context, "y", np.array([1.25]), np.array([1.0]), OperandType.TENSOR_FLOAT32, about=("REQ-2",))
            if worse:
                raise worse


def test_what_a_tolerance_excuses_is_a_failure_with_its_file(
    make_case: MakeCase, subject: Any, recorder: Any, tmp_path: Path
) -> None:
    """It hides nothing that is worse: the part goes on behind it."""
    waivers = Waivers([waiver("vts.*", requirement="REQ-1", tolerance=WaivedTolerance(atol=0.5))], TODAY)
    writer = FailureWriter(tmp_path, "0.1", Digests())
    case = make_case("a", within_a_tolerance)
    (result,) = Engine([case], subject, recorder, waivers=waivers, on_failure=writer).run().results
    near, far, dead = result.configurations
    assert (near.outcome, near.dispositions, near.broken) == (Outcome.FAIL, (Disposition.WAIVED,), ("REQ-2",))
    assert (near.expected, near.found) == ("1", "1.25")
    assert [(part.message, part.dispositions) for part in (far, dead)] == [("z is wrong", ()), ("died", ())]
    assert Disposition.WAIVED not in result.dispositions
    assert failures.load(tmp_path / str(result.notes["failure_file"])).configurations == ("far", "dead")


def test_a_pass_leaves_no_file(make_case: MakeCase, subject: Any, recorder: Any, tmp_path: Path) -> None:
    run(make_case("a"), subject, recorder, tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_can_not_be_written_costs_no_verdict(
    make_case: MakeCase, subject: Any, recorder: Any, tmp_path: Path
) -> None:
    def body(context: Any) -> None:
        context.attach(lambda: 1 / 0)
        raise Failed("wrong")

    result = run(make_case("a", body), subject, recorder, tmp_path)
    assert result.outcome is Outcome.FAIL
    assert result.notes["failure_file"] == "not written: ZeroDivisionError: division by zero"


def test_file_names_are_safe_and_different() -> None:
    names = {failures.file_name(name) for name in ("vts.a.b.c", "vts.a.b.c[x]", "vts.a.b.c[y]", "vts.a.b." + "z" * 400)}
    assert len(names) == 4
    assert all(len(name) < 200 and "[" not in name for name in names)


def replayed(before: Case, now: Case, subject: Any, recorder: Any, tmp_path: Path) -> Replay:
    run(before, subject, recorder, tmp_path)
    return replay(failures.load(next(tmp_path.iterdir())), now, subject)


@pytest.mark.parametrize(
    ("error", "code"),
    [(None, 0), (Failed("still"), 1), (NotSupported("no"), 125), (NotApplicable("no"), 125), (KeyError("bug"), 125)],
)
def test_bisect_codes(
    make_case: MakeCase, subject: Any, recorder: Any, tmp_path: Path, error: Exception | None, code: int
) -> None:
    def now(context: Any) -> None:
        with context.configuration("bad"):
            if error:
                raise error

    assert replayed(make_case("a", failing), make_case("a", now), subject, recorder, tmp_path).bisect_code == code


def two_parts(*refused: str) -> Callable[[Any], None]:
    def body(context: Any) -> None:
        for name in ("x", "y", "z"):
            with context.configuration(name):
                if name in refused:
                    raise NotSupported(f"no {name}")

    return body


@pytest.mark.parametrize(
    ("refused", "code", "told"),
    [(("y", "z"), 1, "NO LONGER SUPPORTED"), (("z",), 1, "NO LONGER SUPPORTED"), (("x",), 0, "pass"), ((), 0, "pass")],
)
def test_what_is_no_longer_supported_has_its_file_and_fails_until_all_of_it_passes(
    make_case: MakeCase, subject: Any, recorder: Any, tmp_path: Path, refused: tuple[str, ...], code: int, told: str
) -> None:
    before = Engine([make_case("a", two_parts())], subject, recorder, EngineOptions()).run().results
    known = Baseline(results.build(log(before)))
    cases, writer = [make_case("a", two_parts("y", "z")), make_case("b")], FailureWriter(tmp_path, "0.1", Digests())
    options = EngineOptions(stop_after=1)
    first, second = Engine(cases, subject, recorder, options, baseline=known, on_failure=writer).run().results
    assert (first.dispositions, second.outcome) == ((Disposition.NO_LONGER_SUPPORTED,), Outcome.NOT_RUN)
    (file,) = tmp_path.iterdir()
    assert failures.load(file).configurations == ("y", "z")
    again = replay(failures.load(file), make_case("a", two_parts(*refused)), subject)
    assert (again.exit_code, again.is_red, again.bisect_code) == (code, bool(code), code)
    assert headline(again.told).startswith(f"{told} vts.area.subject.a")


def test_an_interrupt_is_no_verdict(make_case: MakeCase, subject: Any, recorder: Any, tmp_path: Path) -> None:
    """Of several replays the others would go on."""

    def now(context: Any) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        replayed(make_case("a", failing), make_case("a", now), subject, recorder, tmp_path)


def test_other_configurations_do_not_count(make_case: MakeCase, subject: Any, recorder: Any, tmp_path: Path) -> None:
    def now(context: Any) -> None:
        assert not context.wants("other")
        with context.configuration("other"):
            raise Failed("wrong")
        with context.configuration("bad"):
            pass

    assert replayed(make_case("a", failing), make_case("a", now), subject, recorder, tmp_path).bisect_code == 0


def test_what_is_told_is_what_had_failed(make_case: MakeCase, subject: Any, recorder: Any, tmp_path: Path) -> None:
    def now(context: Any) -> None:
        with context.configuration("refused"):
            raise NotSupported("no")
        with context.configuration("bad"):
            pass

    found = replayed(make_case("a", failing), make_case("a", now), subject, recorder, tmp_path)
    assert found.told.outcome is found.outcome is Outcome.PASS
    assert [part.name for part in found.told.configurations] == ["bad"]


def test_a_configuration_that_is_gone_proves_nothing(
    make_case: MakeCase, subject: Any, recorder: Any, tmp_path: Path
) -> None:
    assert replayed(make_case("a", failing), make_case("a"), subject, recorder, tmp_path).bisect_code == 125


def test_the_seed_is_the_files(make_case: MakeCase, subject: Any, recorder: Any, tmp_path: Path) -> None:
    seeds = []

    def body(context: Any) -> None:
        seeds.append(context.seed)
        raise Failed("wrong")

    replayed(make_case("a", body), make_case("a", body), subject, recorder, tmp_path)
    assert len(seeds) == 2
    assert len(set(seeds)) == 1


def test_a_file_with_a_payload_is_rebuilt_by_its_area(
    make_case: MakeCase, subject: Any, recorder: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    case = make_case("a", failing)
    run(case, subject, recorder, tmp_path)
    payloads = []

    def rebuild(case_id: str, payload: Any) -> Case:
        payloads.append((case_id, payload))
        return replace(case, run=lambda context: None, about="models")

    monkeypatch.setattr(suites, "rebuild", rebuild)
    replayed = replay_file(tmp_path / "vts.area.subject.a.json", subject)
    assert payloads == [("vts.area.subject.a", {"value": 3})]
    assert replayed.case.headline == case.headline  # the file has it; what is made of the payload knows no more


def test_a_bad_file_is_named_with_path_and_rule(
    make_case: MakeCase, subject: Any, recorder: Any, tmp_path: Path
) -> None:
    run(make_case("a", failing), subject, recorder, tmp_path)
    path = tmp_path / "vts.area.subject.a.json"
    document = json.loads(path.read_text())
    document["result"]["outcome"] = "maybe"
    path.write_text(json.dumps(document))
    with pytest.raises(DocumentError, match=r"a\.json: \$\.result\.outcome: Invalid enum value 'maybe'"):
        replay_file(path, subject)


def test_a_case_no_suite_has_is_bad_input(subject: Any, make_case: MakeCase, recorder: Any, tmp_path: Path) -> None:
    def body(context: Any) -> None:
        raise Failed("wrong")

    run(make_case("a", body), subject, recorder, tmp_path)
    with pytest.raises(DocumentError, match=r"no suite has an area vts\.area"):
        replay_file(tmp_path / "vts.area.subject.a.json", subject)


_PAYLOADS: tuple[Any, ...] = (
    [], "x", 7, True, 1.5, {}, [[]], {"id": 7}, {"id": "nope"}, {"lines": [1]}, {"vector": {}}, {"seed": 1e308},
    {"id": None, "steps": []}, {"mutation": 3},
)  # fmt: skip


@pytest.mark.parametrize(
    ("case", "good"),
    [
        ("cts.npu_manager.machine.reigns", {"do": "heat"}),
        ("cts.npu_buffers.machine.calls", {"do": "map"}),
        ("cts.npu_buffers.machine.shortage", {"do": "ask"}),
        ("vts.npu_scheduling.machine.work", {"do": "pass"}),
        ("vts.npu_scheduling.machine.order", {"do": "pass"}),
        ("vts.npu_scheduling.machine.bursts", {"do": "pause"}),
        ("vts.histories.driver.work", {"do": "start", "dice": 1}),
        ("cts.random_calls.api.from_nothing", {"call": "compile"}),
    ],
)
@pytest.mark.parametrize("name", ["nope", "judge"])
def test_a_step_that_no_scenario_has_is_one_line(case: str, good: dict[str, Any], name: str) -> None:
    field = next(iter(good))
    assert suites.rebuild(case, {"id": case, "steps": [good]}).id == case
    place = re.escape(f"failure file of {case}: $.payload.steps[1].{field}: there is no step {name!r}")
    with pytest.raises(DocumentError, match=f"^{place}$"):
        suites.rebuild(case, {"id": case, "steps": [good, {**good, field: name}]})


def _areas_of_payloads() -> Iterator[tuple[str, str]]:
    for suite in suites.SUITES:
        for name in suites.areas(suite):
            if hasattr(suites.area(suite, name), "case_from"):
                yield suite, name


@pytest.mark.parametrize(("suite", "name"), list(_areas_of_payloads()))
def test_a_payload_that_no_case_can_be_made_of_is_one_line(suite: str, name: str) -> None:
    for payload in _PAYLOADS:
        with pytest.raises(
            DocumentError, match=r"failure file of .*: \$.payload: no case can be made of it: "
        ) as refused:
            suites.rebuild(f"{suite}.{name}.some.case", payload)
        assert "\n" not in str(refused.value)
