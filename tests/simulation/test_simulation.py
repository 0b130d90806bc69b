"""`npu simulate`: waiting times worked out by hand, habits of apps, watched promises, documents and reports."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree

import msgspec
import pytest
from places import ROOT

from npu_conformance.cli.main import main
from npu_conformance.reference.manager.budget import Budget
from npu_conformance.reference.manager.decisions import Decision, Kind
from npu_conformance.reference.manager.manager import NpuManager
from npu_conformance.reference.manager.requests import State
from npu_conformance.simulation import measures, page, plots
from npu_conformance.simulation.generate import generate
from npu_conformance.simulation.report import GroupReport, PolicyReport
from npu_conformance.simulation.violation import Violation
from npu_conformance.simulation.world import simulate
from npu_conformance.specs import documents
from npu_conformance.specs.npu.scenario import (
    AppGroup,
    Death,
    Phase,
    PolicyChoice,
    PolicyName,
    Pressure,
    Scenario,
    Times,
    check,
)

NEVER = 10_000
"""A time after the end of all these scenarios."""
FIRST = AppGroup(name="first", load_ms=100, again_ms=NEVER)
SECOND = AppGroup(name="second", start_ms=50, load_ms=100, again_ms=NEVER)
HOLDER = AppGroup(name="first", phases=(Phase(importance=400),), load_ms=100, inference_ms=5000, again_ms=NEVER)
TAKER = AppGroup(name="second", start_ms=300, load_ms=100, again_ms=NEVER)


def _run(
    first: AppGroup, second: AppGroup, policy: PolicyChoice, duration_ms: int = 1000, **more: object
) -> PolicyReport:
    scenario = Scenario(duration_ms=duration_ms, groups=(first, second), policies=(policy,), **more)  # type: ignore[arg-type]
    check(scenario, "scenario")
    (report,) = simulate(scenario).policies
    return report


def _budget(maximum: int = 1) -> PolicyChoice:
    return PolicyChoice(policy="budget", max_budget=maximum)


def _group(report: PolicyReport, name: str) -> GroupReport:
    return next(group for group in report.groups if group.group == name)


def _waits(report: PolicyReport) -> dict[str, float]:
    return {waits.group: waits.max_ms for waits in report.waits}


def test_apps_that_die_leave_their_room_and_come_back() -> None:
    """The first loads until 100 and infers; it dies at 200, so that the second, parked since 50, loads until 300."""
    first = msgspec.structs.replace(FIRST, inference_ms=5000, restart_ms=400)
    report = _run(first, SECOND, _budget(), deaths=(Death(at_ms=200, who="app", group="first"),))
    assert _waits(report) == {"first": 0, "second": 150}
    assert (_group(report, "first").requests, _group(report, "first").grants) == (2, 2)
    assert _group(report, "first").device_ms == 100 + 300  # from 100 to 200, and again from 700 on


def test_an_app_that_dies_without_a_request_does_not_ask_until_it_is_back() -> None:
    report = _run(FIRST, SECOND, _budget(), deaths=(Death(at_ms=20, who="app", group="second"),))
    assert _group(report, "second").requests == 0


def test_what_the_hal_was_doing_is_done_again_when_it_is_back() -> None:
    """The holder infers from 100 on, for 300 ms. The HAL dies at 200 and is back at 700: 100 ms were lost."""
    holder = msgspec.structs.replace(HOLDER, inference_ms=300)
    report = _run(
        holder, TAKER, PolicyChoice(policy="status_quo"), 2000, deaths=(Death(at_ms=200, who="hal", back_ms=500),)
    )
    assert (_group(report, "first").device_ms, _group(report, "first").inferences) == (100 + 300, 1)
    assert (_group(report, "second").inferences, _group(report, "second").device_ms) == (1, 10)
    # Priorities are there again: the taker's work, put off until 700, goes first at the next checkpoint.
    assert _group(report, "first").preemptions == 1


def test_a_manager_that_dies_loses_all_requests_and_the_next_one_is_asked() -> None:
    """The holder has its model, and the taker waits; both ask again at 1000, after the next manager has come."""
    holder = msgspec.structs.replace(HOLDER, again_ms=100)
    taker = msgspec.structs.replace(TAKER, phases=(Phase(importance=1000),), again_ms=100)
    death = Death(at_ms=500, who="manager", back_ms=500)
    report = _run(holder, taker, _budget(), 1500, deaths=(death,))
    first, second = (_group(report, name) for name in ("first", "second"))
    assert (first.requests, first.grants, second.requests, second.grants) == (2, 2, 2, 0)
    assert (second.never_served, second.waiting, second.longest_waiting_ms) == (1, 1, 500)
    assert first.device_ms == (500 - 100) + (1500 - 1100)


@pytest.mark.parametrize("policy", ["status_quo", "turn_taking", "budget"])
def test_a_phone_survives_all_deaths_and_its_promises_hold(policy: PolicyName) -> None:
    scenario = generate(60, 3, 5)
    hal = ((20_000, 2000), (61_000, 1000), (90_005, 2000), (120_000, 30), (121_000, 5000))
    manager = ((60_000, 3000), (90_000, 10), (122_000, 1000))
    deaths = [Death(at_ms=at_ms, who="hal", back_ms=back_ms) for at_ms, back_ms in hal]
    deaths += [Death(at_ms=at_ms, who="manager", back_ms=back_ms) for at_ms, back_ms in manager]
    deaths += [Death(at_ms=150_000 + 500 * n, who="app", group=one.name) for n, one in enumerate(scenario.groups)]
    chosen = msgspec.structs.replace(scenario, deaths=tuple(deaths), policies=(PolicyChoice(policy=policy),))
    check(chosen, "scenario")
    (report,) = simulate(chosen).policies
    assert sum(group.inferences for group in report.groups) > 0
    assert simulate(chosen).policies == (report,)


def test_two_equal_apps_share_a_budget_of_one_model() -> None:
    """The first loads until 100, infers until 110 and unloads; the second, parked since 50, then has its turn."""
    report = _run(FIRST, SECOND, _budget())
    assert _waits(report) == {"first": 0, "second": 60}
    second = _group(report, "second")
    assert (second.requests, second.parks, second.queued, second.grants, second.inferences) == (1, 1, 0, 1, 1)
    assert report.budget_used == pytest.approx((110 + 110) / 1000)
    assert report.device_used == pytest.approx((10 + 10) / 1000)
    assert second.fairness == 1
    waiting = {sample.time_ms: sample.waiting for sample in report.samples}
    assert [waiting[time_ms] for time_ms in (0, 45, 50, 105, 110)] == [0, 0, 1, 1, 0]


def test_without_a_budget_nobody_waits_and_the_stronger_work_pauses_the_other() -> None:
    """The holder infers from 100 on; the taker's work comes at 400, a checkpoint, and takes 10 of the device's ms."""
    report = _run(HOLDER, TAKER, PolicyChoice(policy="status_quo"), NEVER)
    assert _waits(report) == {"first": 0, "second": 0}
    assert (_group(report, "first").preemptions, _group(report, "second").preemptions) == (1, 0)
    assert (_group(report, "first").device_ms, _group(report, "second").device_ms) == (5000, 10)
    assert report.budget_used is None


@pytest.mark.parametrize(
    ("habit", "wait_ms", "answered", "ignored"),
    [
        ({"on_unload": "at_once"}, 0, 1, 0),
        ({"on_unload": "late", "late_ms": 200}, 200, 1, 0),
        ({"on_unload": "never"}, 700, 0, 1),
        ({"on_unload": "dies"}, 0, 0, 0),
    ],
)
def test_a_foreground_app_waits_for_the_other_to_leave(
    habit: dict[str, object], wait_ms: int, answered: int, ignored: int
) -> None:
    """It asks at 300, when the holder is in its inference; an unload request is in force for 700 ms."""
    holder = AppGroup(**{**{name: getattr(HOLDER, name) for name in HOLDER.__struct_fields__}, **habit})
    report = _run(holder, TAKER, _budget(), 2000, unload_timeout_ms=700)
    assert _waits(report) == {"first": 0, "second": wait_ms}
    first = _group(report, "first")
    assert (first.unloads_asked, first.unloads_answered, first.unloads_ignored) == (1, answered, ignored)
    assert first.device_ms == 200 + wait_ms
    assert _group(report, "second").queued == 1


def test_a_dead_app_comes_back() -> None:
    """It dies at 300, asks again at 1300, and has its model at once, since the taker has unloaded by then."""
    holder = AppGroup(
        name="first", phases=(Phase(importance=400),), load_ms=100, inference_ms=5000, on_unload="dies", restart_ms=1000
    )
    report = _run(holder, TAKER, _budget(), 2000)
    assert (_group(report, "first").requests, _group(report, "first").grants) == (2, 2)
    assert _group(report, "first").device_ms == (300 - 100) + (2000 - 1400)


def test_equals_take_turns_when_work_is_complete() -> None:
    """The first's inference is over at 110, which the HAL reports 50 ms later; only then has it to leave."""
    patient = AppGroup(name="first", load_ms=100, bursts=2, think_ms=1000, again_ms=NEVER)
    assert _waits(_run(patient, SECOND, PolicyChoice(policy="turn_taking"))) == {"first": 0, "second": 110}


def test_who_loses_patience_was_never_served() -> None:
    impatient = AppGroup(name="second", start_ms=50, patience_ms=30, again_ms=NEVER)
    second = _group(_run(FIRST, impatient, _budget()), "second")
    assert (second.never_served, second.waiting, second.starved_apps, second.fairness) == (1, 0, 1, None)


def test_who_still_waits_at_the_end_is_starving() -> None:
    second = _group(
        _run(HOLDER, AppGroup(name="second", phases=(Phase(importance=500),), start_ms=50), _budget()), "second"
    )
    assert (second.waiting, second.longest_waiting_ms, second.starved_apps) == (1, 950, 1)


def test_importance_changes_over_time() -> None:
    """The second comes to the foreground after 200 ms; it waits until then, and the holder goes at once."""
    phases = (Phase(importance=500, lasts_ms=200), Phase(importance=100, lasts_ms=NEVER))
    second = AppGroup(name="second", phases=phases, start_ms=50)
    assert _waits(_run(HOLDER, second, _budget()))["second"] == 150
    modest = AppGroup(name="second", phases=phases, asks_up_to=100, again_ms=NEVER)
    assert _waits(_run(HOLDER, modest, _budget()))["second"] == 0, "it asks when it has come to the foreground"


def test_heat_takes_the_budget_away() -> None:
    """From 200 to 600 nothing may be loaded: the holder leaves, and the second waits from 300 to 600."""
    heat = (Pressure(at_ms=200, thermal=5), Pressure(at_ms=600, thermal=0))
    report = _run(HOLDER, TAKER, _budget(), pressure=heat)
    assert _waits(report) == {"first": 0, "second": 300}
    assert report.samples[len(report.samples) * 4 // 10].ceiling == 0


def test_fairness_and_percentiles() -> None:
    assert measures.jain([0.5, 0.5, 0.5]) == pytest.approx(1)
    assert measures.jain([1, 0, 0, 0]) == pytest.approx(0.25)
    assert measures.jain([]) is None
    assert [measures.percentile([1, 2, 3, 4], percent) for percent in (0, 25, 26, 50, 99, 100)] == [1, 1, 2, 2, 4, 4]


def test_a_grant_beyond_the_budget_ends_the_simulation(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def grant(policy: Budget, request: object, reason: object) -> bool:
        request.state = State.GRANTED  # type: ignore[attr-defined]
        policy.decide(Decision(Kind.GRANT, request, "whatever it weighs"))  # type: ignore[arg-type]
        return True

    monkeypatch.setattr(Budget, "_place", grant)
    monkeypatch.setattr(Budget, "_reconsider", lambda policy, reason: None)
    assert main(["npu", "simulate", "--apps", "40", "--minutes", "2", "--policy", "budget"]) == 1
    assert "policy budget, at " in (error := capsys.readouterr().err)
    assert "the ceiling is 4" in error


def test_a_callback_after_completion_ends_the_simulation(monkeypatch: pytest.MonkeyPatch) -> None:
    once = NpuManager._finish

    def twice(manager: NpuManager, request: object, kind: Kind) -> None:
        callback, model = request.callback, request.model  # type: ignore[attr-defined]
        once(manager, request, kind)  # type: ignore[arg-type]
        manager._tell(request.client, lambda: callback.on_model_load_request_complete(model, 4))  # type: ignore[attr-defined]

    monkeypatch.setattr(NpuManager, "_finish", twice)
    with pytest.raises(Violation, match="a completion for request 1, which is over"):
        _run(FIRST, SECOND, _budget())


def test_a_budget_that_is_not_handed_on_ends_the_simulation(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Budget, "_reconsider", lambda policy, reason: None)
    with pytest.raises(Violation, match="uid 10002 waits, and nobody has anything of the budget"):
        _run(FIRST, SECOND, _budget())


def test_models_that_stay_under_pressure_end_the_simulation(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Budget, "_enforce", lambda policy, reason: None)
    with pytest.raises(Violation, match=r"at 0\.200000 s: 1 is used by who was not asked to unload; the ceiling is 0"):
        _run(HOLDER, TAKER, _budget(), pressure=(Pressure(at_ms=200, thermal=4),))


def test_a_request_without_a_decision_ends_the_simulation(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Budget, "_place", lambda policy, request, reason: True)
    monkeypatch.setattr(Budget, "_reconsider", lambda policy, reason: None)
    heavy = AppGroup(name="second", size="greater_than_2g")
    with pytest.raises(Violation, match=r"at 1\.000000 s: uid 10001 \(first\): request 1 has had no decision"):
        _run(AppGroup(name="first", size="greater_than_2g"), heavy, _budget())


@pytest.mark.parametrize("policy", ["status_quo", "turn_taking", "budget"])
def test_the_same_seed_has_the_same_report(policy: str, capsys: pytest.CaptureFixture[str]) -> None:
    reports = []
    for seed in ("3", "3", "4"):
        assert (
            main(["npu", "simulate", "--apps", "30", "--minutes", "1", "--seed", seed, "--policy", policy, "--json"])
            == 0
        )
        reports.append(capsys.readouterr().out)
    assert reports[0] == reports[1] != reports[2]
    (report,) = json.loads(reports[0])["policies"]
    assert sum(group["apps"] for group in report["groups"]) == 30
    assert sum(waits["served"] for waits in report["waits"]) == sum(group["grants"] for group in report["groups"]) > 0


def test_a_made_scenario_can_be_kept_and_edited(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "scenario.json"
    made = ["npu", "simulate", "--apps", "12", "--minutes", "1", "--seed", "5"]
    assert main([*made, "--write-scenario", str(file)]) == 0
    assert documents.read(file, Scenario) == generate(12, 5, 1)
    assert main([*made, "--json"]) == main(["npu", "simulate", str(file), "--json"]) == 0
    first, second = capsys.readouterr().out.split("\n}\n")[:2]
    assert first == second


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"groups": []}, "$.groups: "),
        ({"duration_ms": 0}, "$.duration_ms: "),
        ({"speed": 1}, "speed"),
        ({"groups": [{"name": "a", "count": 0}]}, "$.groups[0].count: "),
        ({"groups": [{"name": "a", "on_unload": "maybe"}]}, "$.groups[0].on_unload: "),
        (
            {"groups": [{"name": "a", "start_ms": {"least": 3, "most": 1}}]},
            "$.groups[0].start_ms: the least, 3, is more",
        ),
        ({"groups": [{"name": "a"}, {"name": "a"}]}, "$.groups[1].name: 'a' is named twice"),
        ({"groups": [{"name": "a", "device": 1}]}, "$.groups[0].device: there are 1 devices"),
        ({"groups": [{"name": "a", "inference_ms": 0}]}, "$.groups[0].inference_ms: "),
        ({"groups": [{"name": "a", "again_ms": 0}]}, "$.groups[0].again_ms: "),
        ({"groups": [{"name": "a", "phases": [{"importance": 1, "lasts_ms": 0}]}]}, "$.groups[0].phases: "),
        ({"policies": [{"policy": "budget", "weights": {"3": 1}}]}, "$.policies[0].weights: no size class '3'"),
        ({"policies": [{"policy": "turn_taking", "max_budget": 3}]}, "$.policies[0]: only the policy budget"),
        ({"policies": [{"policy": "budget"}, {"policy": "budget"}]}, "$.policies[1].name: "),
        ({"pressure": [{"at_ms": 1, "thermal": 7}]}, "$.pressure[0].thermal: "),
    ],
)
def test_bad_documents_are_one_line(
    change: dict[str, object], complaint: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "scenario.json"
    file.write_text(json.dumps({"duration_ms": 1000, "groups": [{"name": "a"}], **change}))
    assert main(["npu", "simulate", str(file)]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert complaint in line
    assert str(file) in line


@pytest.mark.parametrize(
    "words",
    [["--apps", "0"], ["--minutes", "-1"], ["--policy", "best"], ["nowhere.json"], ["x.json", "--apps", "3"]],
)
def test_bad_arguments_are_one_line(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["npu", "simulate", *words]) == 2
    assert len(capsys.readouterr().err.splitlines()) == 1


def test_the_page_needs_nothing_else_and_names_what_is_drawn(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "page.html"
    assert main(["npu", "simulate", "--apps", "20", "--minutes", "1", "--html", str(file)]) == 0
    text = file.read_text()
    assert capsys.readouterr().out.splitlines()[0] == "20 apps, 60 s, seed 0"
    assert "src=" not in text
    assert "href=" not in text
    drawings = [ElementTree.fromstring("<svg" + part.split("</svg>")[0] + "</svg>") for part in text.split("<svg")[1:]]
    assert len(drawings) == 5
    for drawing in drawings:
        words = {element.text for element in drawing.iter("{http://www.w3.org/2000/svg}text")}
        assert {"turn_taking", "budget"} <= words
        assert any("time, s" in (word or "") or "index" in (word or "") for word in words)
    assert "@media (prefers-color-scheme: dark)" in text


def test_a_legend_shows_what_a_line_is_dashed_with() -> None:
    series = [plots.Series(name, [(0.0, 0.0), (1.0, 1.0)]) for name in ("a", "b", "c")]
    drawn = ElementTree.fromstring(plots.lines(series, plots.Axis("time"), plots.Axis("share")))
    dashes = [each.get("stroke-dasharray") for each in drawn.iter() if each.get("stroke-width") == "2"]
    assert dashes == [None, "7 3", "2 3"] * 2


def test_a_value_of_nothing_has_a_bar_that_can_be_seen() -> None:
    drawn = ElementTree.fromstring(plots.bars({"a": {"x": 0.0}, "b": {"x": 500.0}}, "time"))
    heights = [float(each.get("height", 0)) for each in drawn.iter("{http://www.w3.org/2000/svg}rect")]
    assert heights[:2] == [2.0, 270.0]


def test_a_page_without_a_budget_and_without_requests_can_be_drawn() -> None:
    idle = Scenario(
        duration_ms=5, groups=(AppGroup(name="<idle>", start_ms=9),), policies=(PolicyChoice(policy="status_quo"),)
    )
    text = page.page(simulate(idle))
    assert "No policy of this simulation has a budget" in text
    assert "<idle>" not in text


@pytest.mark.parametrize(("most", "last"), [(0, 1), (0.9, 1), (1, 1), (7, 7), (99, 100), (100, 100), (1234, 1400)])
def test_axes_end_on_a_round_number_that_holds_everything(most: float, last: float) -> None:
    ticks = plots._ticks(most)
    assert ticks[0] == 0
    assert ticks[-1] == pytest.approx(last)
    assert 2 <= len(ticks) <= 10


def test_a_generated_scenario_is_a_valid_document() -> None:
    for apps in (1, 2, 17, 3000):
        made = generate(apps, seed=apps, minutes=1)
        check(made, "made")
        assert sum(group.count for group in made.groups) == apps
    assert isinstance(made.groups[0].start_ms, Times)


def test_the_documented_scenario_runs() -> None:
    text = (ROOT / "docs" / "npu-simulation.md").read_text()
    scenario = documents.decode(text.split("```json\n")[1].split("```")[0], Scenario, "docs/npu-simulation.md")
    check(scenario, "docs/npu-simulation.md")
    report = simulate(msgspec.structs.replace(scenario, duration_ms=60_000))
    assert [policy.policy for policy in report.policies] == ["turn_taking", "budget", "budget of 6"]
    assert all(policy.waits for policy in report.policies)
