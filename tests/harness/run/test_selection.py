"""Which cases are taken, how they are split among shards, and what a budget runs first."""

from __future__ import annotations

import gc
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from every_case import every_case
from msgspec.structs import replace

from npu_conformance.harness.judge.waivers import glob
from npu_conformance.harness.run import budget, index, selection, suites
from npu_conformance.harness.run.applicability import may_apply
from npu_conformance.harness.run.cases import Case, Scope
from npu_conformance.harness.run.expression import compile_expression
from npu_conformance.harness.run.partition import parse_shard, partition
from npu_conformance.harness.run.selection import Wanted
from npu_conformance.specs import ids
from npu_conformance.specs.documents import DocumentError
from npu_conformance.specs.manifest import Manifest

MakeCase = Callable[..., Case]
ID = "vts.generated.PAD.quant8_zero[relaxed]"


@pytest.mark.parametrize(
    ("expression", "found"),
    [
        ("", True), ("PAD", True), ("pad", True), ("CONV", False), ("not CONV", True), ("not not PAD", True),
        ("PAD and CONV", False), ("PAD or CONV", True), ("CONV or PAD and quant8", True),
        ("(CONV or PAD) and x9", False), ("not (CONV or x9)", True),
        ("PAD.quant8_zero[relaxed]", True), ("notes", False), (" PAD ", True),
        ("quant", True), ("zero", True), ("[relaxed]", True), ("AD", False), ("AD.quant8", False), ("elaxed", False),
    ],
)  # fmt: skip
def test_expressions(expression: str, found: bool) -> None:
    assert compile_expression(expression)(ID) is found


@pytest.mark.parametrize(
    ("expression", "message"),
    [
        ("PAD and", "column 8: expected a word, 'not' or '(', found the end"),
        ("(PAD", r"column 5: expected '\)', found the end"),
        ("PAD CONV", "column 5: expected 'and', 'or' or the end, found 'CONV'"),
        ("or PAD", "column 1: expected a word, 'not' or '(', found 'or'"),
        ("PAD & CONV", "column 4: unexpected '&'"),
        (")", r"column 1: expected a word, 'not' or '\(', found '\)'"),
    ],
)
def test_bad_expressions_say_where(expression: str, message: str) -> None:
    with pytest.raises(DocumentError, match=message.replace("'(',", r"'\(',")):
        compile_expression(expression)


def declared(*names: str, **fields: Any) -> list[Case]:
    return [Case(name, lambda context: None, ("REQ-1",), **fields) for name in names]


@pytest.fixture
def imported(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Two suites made of nothing; the list fills with the areas that get imported."""
    areas = {
        "vts.queries": declared("vts.queries.type.legal", scope=Scope.SMOKE),
        "vts.generated": [
            *declared("vts.generated.PAD.one", "vts.generated.PAD.one[relaxed]", "vts.generated.PAD_V2.one"),
            *declared("vts.generated.PAD.large", scope=Scope.FULL),
        ],
        "cts.manager": declared("cts.manager.request.grant", interface="manager"),
    }
    seen: list[str] = []

    def area(suite: str, name: str) -> ModuleType:
        seen.append(f"{suite}.{name}")
        module = ModuleType(name)
        module.cases = lambda: iter(areas[f"{suite}.{name}"])  # type: ignore[attr-defined]
        return module

    monkeypatch.setattr(suites, "present", lambda: ("vts", "cts"))
    monkeypatch.setattr(suites, "areas", lambda suite: tuple(n.split(".")[1] for n in areas if n.startswith(suite)))
    monkeypatch.setattr(suites, "area", area)
    listed = {name: index.of_cases(cases) for name, cases in areas.items()}
    monkeypatch.setattr(index, "by_area", lambda: listed)
    return seen


@pytest.mark.parametrize(
    ("targets", "expected", "areas"),
    [
        ((), 5, 3),
        (("vts",), 4, 2),
        (("vts.queries",), 1, 1),
        (("vts.queries.",), 1, 1),
        (("vts.",), 4, 2),
        (("vts.generated.PAD",), 2, 1),
        (("vts.generated.PAD..",), 2, 1),
        (("vts.generated.PAD.one",), 2, 1),
        (("vts.generated.PAD.one[relaxed]",), 1, 1),
        (("vts.generated.PAD*",), 3, 1),
        (("*PAD.one",), 1, 1),  # the index tells where it is
        (("vts.g*",), 3, 1),
        (("vts.queries", "cts"), 2, 2),
    ],
)
def test_targets(imported: list[str], targets: tuple[str, ...], expected: int, areas: int) -> None:
    assert len(selection.select(Wanted(targets)).cases) == expected
    assert len(imported) == areas
    assert len(selection.select_ids(Wanted(targets))) == expected
    assert len(imported) == areas


@pytest.mark.parametrize(("scope", "expected"), [(Scope.SMOKE, 1), (Scope.DEFAULT, 5), (Scope.FULL, 6)])
def test_a_scope_includes_those_before_it(imported: list[str], scope: Scope, expected: int) -> None:
    chosen = [case.id for case in selection.select(Wanted(scope=scope)).cases]
    assert len(chosen) == expected
    assert selection.select_ids(Wanted(scope=scope)) == chosen


@pytest.mark.parametrize("target", ["vtz", ".", "vts.generated.PAD.two", "vts.gen", "vts.generated.CONV*"])
def test_a_target_that_means_nothing_is_refused(imported: list[str], target: str) -> None:
    for choose in (selection.select, selection.select_ids):
        with pytest.raises(DocumentError, match="matches no case"):
            choose(Wanted((target,)))


@pytest.mark.parametrize(
    ("word", "meant"),
    [
        ("vts.generated.relu", "did you mean vts.generated.RELU?"),
        ("vts.generated.conv2d", "did you mean vts.generated.CONV_2D?"),
        ("VTS.Generated.", "did you mean vts.generated?"),
        ("vts.generated.TANHH", "did you mean vts.generated.TANH?"),
        ("vts.generated.relu*", "did you mean vts.generated.RELU or vts.generated.RELU6 or vts.generated.RELU1?"),
        ("vts.generated.RELU.none_of_them", "did you mean vts.generated.RELU?"),
        ("cts.runtime", "the areas of cts are "),
    ],
)
def test_what_may_be_meant(word: str, meant: str) -> None:
    assert selection.meant_by(word).startswith(meant)


def test_what_may_be_meant_is_beneath_what_there_is() -> None:
    told = selection.meant_by("vts.generated.relu.float32_none").removeprefix("did you mean ").split(" or ")
    assert all(name.startswith("vts.generated.RELU.float32_rank") for name in told)


def test_what_is_left_out_is_counted_but_for_what_does_not_apply(
    imported: list[str], subject: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    every = selection.select(Wanted(scope=Scope.FULL)).cases
    lock = tmp_path / "ids.lock"
    lock.write_text("# ids\nNNHAL-QUERY-001\n" + "".join(f"{case.id}\n" for case in every))
    monkeypatch.setattr(ids, "LOCK", lock)

    both = replace(subject.manifest, interfaces=("device", "runtime"))

    def deselected(wanted: Wanted, manifest: Manifest = both) -> int:
        return selection.select(wanted).deselected(manifest, subject.version)

    assert deselected(Wanted(scope=Scope.FULL)) == 0
    assert deselected(Wanted(("vts",), scope=Scope.FULL)) == 1  # of cts, which is not looked at
    assert deselected(Wanted(("vts",), scope=Scope.FULL), subject.manifest) == 0  # a driver has no case of cts
    assert deselected(Wanted(("vts",))) == 2
    assert deselected(Wanted(("vts.queries",))) == 5  # each case of the areas that are not looked at
    assert deselected(Wanted(("vts.queries",)), subject.manifest) == 4
    assert deselected(Wanted(expression="type", scope=Scope.FULL)) == 5  # what has no such word is not looked at


def test_the_areas_of_each_interface_are_known() -> None:
    """What a subject cannot have is not counted as left out, though nobody has looked at it."""
    cases = [case for case in every_case() if case.id.partition(".")[0] in suites.SUITES]
    for interface in ("device", "runtime", "manager", "scheduling"):
        manifest = Manifest(name="toy", vendor="tests", version="1", interfaces=(interface,))
        wrong = [case.id for case in cases if may_apply(case.id, manifest) != (case.interface == interface)]
        assert wrong == []


def test_the_cases_of_requirements_and_their_index_are_made_in_one_walk(
    imported: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    kept: dict[str, Any] = {}
    monkeypatch.setattr(index, "keep", kept.__setitem__)
    monkeypatch.setattr(index, "kept", lambda name, kind, make: make())
    assert index.evidence() == {"REQ-1": [name for area in index.by_area().values() for name, _ in area.cases()]}
    assert kept == {"cases": index.by_area()}
    assert len(imported) == len(set(imported))


def test_the_collector_rests_only_while_cases_are_made(imported: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[bool] = []

    def candidates(choice: object) -> list[Case]:
        seen.append(gc.isenabled())
        return []

    monkeypatch.setattr(selection, "_candidates", candidates)
    selection.select(Wanted())
    with pytest.raises(DocumentError, match="matches no case"):
        selection.select(Wanted(("vts.nothing",)))
    assert seen == [False, False]
    assert gc.isenabled()


def test_the_real_suites_have_areas_that_are_named_once() -> None:
    for suite in suites.present():
        names = suites.areas(suite)
        assert len(set(names)) == len(names)


def test_an_unknown_suite_is_bad_input() -> None:
    with pytest.raises(DocumentError, match="no such suite"):
        suites.areas("vtz")


@pytest.mark.parametrize("count", [1, 2, 3, 7])
@pytest.mark.parametrize("measured", [False, True])
def test_shards_are_disjoint_whole_and_balanced(make_case: MakeCase, count: int, measured: bool) -> None:
    cases = [make_case(f"case_{number}") for number in range(101)]
    seconds = {case.id: 1.0 + position % 5 for position, case in enumerate(cases[:90])} if measured else None
    parts = partition(cases, count, seconds)
    assert sorted(case.id for part in parts for case in part) == sorted(case.id for case in cases)
    loads = [sum((seconds or {}).get(case.id, 3.0) for case in part) for part in parts]
    assert max(loads) - min(loads) <= 5.0
    again = partition(cases[::-1], count, seconds)
    assert [{case.id for case in part} for part in again] == [{case.id for case in part} for part in parts]


@pytest.mark.parametrize("text", ["", "1", "0/2", "3/2", "a/b", "1/2/3", "-1/2", "1/0"])
def test_bad_shards_are_refused(text: str) -> None:
    with pytest.raises(DocumentError, match="--shard: expected I/N"):
        parse_shard(text)


def test_a_shard_is_read() -> None:
    assert parse_shard("2/3") == (2, 3)


@pytest.mark.parametrize(("text", "seconds"), [("90s", 90.0), ("1.5m", 90.0), ("2h", 7200.0)])
def test_budgets_are_read(text: str, seconds: float) -> None:
    assert budget.parse_budget(text) == seconds


@pytest.mark.parametrize("text", ["", "h", "-1", "0", "nan", "inf", "2d", "90", "0s", "-1s", "1e3s", "infs"])
def test_bad_budgets_are_refused(text: str) -> None:
    with pytest.raises(DocumentError, match="--budget: expected a time"):
        budget.parse_budget(text)


def test_a_budget_asks_first_for_what_is_new(make_case: MakeCase) -> None:
    cases = [
        make_case("again", requirements=("R1",), operations=("PAD",)),
        make_case("twice", requirements=("R1",), operations=("PAD",)),
        make_case("other_operation", requirements=("R1",), operations=("ADD",)),
        make_case("other_requirement", requirements=("R2",)),
        make_case("smoke", requirements=("R1",), scope=Scope.SMOKE),
    ]
    order = [case.id.rpartition(".")[2] for case in budget.by_worth(cases)]
    assert order[:2] == ["smoke", "other_requirement"]
    assert set(order[2:4]) >= {"other_operation"}
    assert order[4] in ("again", "twice")


def test_external_vectors_come_from_areas_that_read_them(imported: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    real = suites.area

    def area(suite: str, name: str) -> ModuleType:
        module = real(suite, name)
        if name == "generated":
            module.cases_from = lambda path: declared(f"vts.generated.PAD.{path.stem}")  # type: ignore[attr-defined]
        return module

    monkeypatch.setattr(suites, "area", area)
    chosen = selection.select(Wanted(("vts",), expression="outside", vectors=(Path("outside.json"),)))
    assert [case.id for case in chosen.cases] == ["vts.generated.PAD.outside"]


def test_words_of_an_expression_that_are_in_no_id_are_told() -> None:
    assert selection.idle_words("RELUX or ADD and not zzzz", []) == [
        "-k: no case has RELUX (did you mean RELU or RELU6 or RELU1?)",
        "-k: no case has zzzz",
    ]
    assert selection.idle_words("mine or ADD", ["vts.external.mine.0"]) == []


def test_of_many_globs_an_id_is_held_against_few(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    class Counted:
        def __init__(self, text: str) -> None:
            self.pattern = glob(text)

        def fullmatch(self, name: str) -> object:
            asked.append(name)
            return self.pattern.fullmatch(name)

    monkeypatch.setattr(selection, "glob", Counted)
    names = list(selection.all_ids())[::50]
    wanted = selection.Wanted(targets=tuple(f"{name[:12]}*{name[12:]}" for name in names))
    assert set(names) <= set(selection.select_ids(wanted))
    assert len(asked) < 20 * len(list(selection.all_ids()))
