"""Waivers excuse what they say, no more and no longer; claims turn refusals into failures."""

from __future__ import annotations

import datetime
import json
import re
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from npu_conformance.harness.judge import claims, waivers
from npu_conformance.harness.judge.compare import BEYOND_WAIVER
from npu_conformance.harness.judge.outcome_table import decisive, is_red
from npu_conformance.harness.judge.tolerance import ToleranceOfWaiver
from npu_conformance.harness.judge.waivers import Waivers
from npu_conformance.harness.report.lines import explain, first_reason
from npu_conformance.harness.report.rule import concerned
from npu_conformance.harness.run.executing.executors import EXECUTORS
from npu_conformance.specs.documents import DocumentError
from npu_conformance.specs.documents.results import CaseResult, ConfigurationResult, ModelUse, OperationUse
from npu_conformance.specs.documents.waivers import WaivedTolerance, Waiver
from npu_conformance.specs.manifest import Claim, Manifest
from npu_conformance.specs.outcomes import Disposition, Outcome
from npu_conformance.specs.versions import Version

TODAY = datetime.date(2030, 6, 15)
CASE = "vts.generated.PAD.one[relaxed]"


def waiver(case_id: str = CASE, **fields: Any) -> Waiver:
    given: dict[str, Any] = {
        "requirement": "REQ-1",
        "reason": "silicon bug",
        "owner": "me",
        "link": "https://bugs.test/1",
        "expires": TODAY,
        **fields,
    }
    return Waiver(id=case_id, **given)


def result(outcome: Outcome, *parts: tuple[str, Outcome], own: Outcome | None = None, case: str = CASE) -> CaseResult:
    own = own or (Outcome.PASS if parts else outcome)
    configurations = tuple(ConfigurationResult(name=name, outcome=ended) for name, ended in parts)
    return CaseResult(
        case=case, outcome=outcome, own_outcome=own, configurations=configurations, requirements=("REQ-1",)
    )


def applied(verdict: CaseResult, *given: Waiver) -> CaseResult:
    return Waivers(given, TODAY).apply(verdict)


def red(verdict: CaseResult) -> bool:
    return is_red(verdict.outcome, verdict.dispositions)


@pytest.mark.parametrize("outcome", [Outcome.FAIL, Outcome.CRASH, Outcome.HANG])
def test_a_waived_failure_stays_visible_and_is_not_red(outcome: Outcome) -> None:
    waived = applied(result(outcome), waiver())
    assert waived.outcome is outcome
    assert not red(waived)


@pytest.mark.parametrize("outcome", [Outcome.SUITE_ERROR, Outcome.NOT_RUN])
def test_some_outcomes_can_not_be_waived(outcome: Outcome) -> None:
    assert red(applied(result(outcome), waiver()))


@pytest.mark.parametrize(
    ("glob", "matches"),
    [
        (CASE, True),
        ("vts.generated.PAD.*", True),
        ("vts.generated.PAD.one[*]", True),
        ("vts.generated.PAD.on?[relaxed]", True),
        ("vts.generated.PAD.oner", False),
        ("vts.generated.PAD_V2.*", False),
        ("*#*", False),
    ],
)
def test_globs(glob: str, matches: bool) -> None:
    assert red(applied(result(Outcome.FAIL), waiver(glob))) is not matches


def test_another_requirement_is_not_waived() -> None:
    assert red(applied(result(Outcome.FAIL), waiver(requirement="REQ-2")))


def test_a_waiver_of_a_configuration_excuses_only_that_one() -> None:
    both = (("a", Outcome.FAIL), ("b", Outcome.FAIL))
    one = applied(result(Outcome.FAIL, *both), waiver(f"{CASE}#a"))
    assert red(one)
    assert [Disposition.WAIVED in part.dispositions for part in one.configurations] == [True, False]
    assert not red(applied(result(Outcome.FAIL, *both), waiver(f"{CASE}#a"), waiver(f"{CASE}#b")))


def test_a_waiver_of_a_configuration_does_not_excuse_the_case_itself() -> None:
    verdict = result(Outcome.FAIL, ("a", Outcome.FAIL), own=Outcome.FAIL)
    assert red(applied(verdict, waiver(f"{CASE}#a")))
    assert not red(applied(verdict, waiver(CASE)))


def test_a_pass_is_left_alone() -> None:
    assert applied(result(Outcome.PASS), waiver()).dispositions == ()


def test_an_expired_waiver_excuses_nothing_and_is_named() -> None:
    old = waiver(expires=TODAY - datetime.timedelta(days=1))
    assert red(applied(result(Outcome.FAIL), old))
    table = Waivers([old], TODAY)
    assert table.problems(table.uses([result(Outcome.FAIL)])) == [f"waiver {CASE} (REQ-1, me) expired on 2030-06-14"]


def problems(given: Waiver, *verdicts: CaseResult) -> list[str]:
    table = Waivers([given], TODAY)
    return table.problems(table.uses([table.apply(verdict) for verdict in verdicts]))


def test_an_unmatched_waiver_is_named() -> None:
    assert problems(waiver("vts.other.*"), result(Outcome.FAIL)) == [
        "waiver vts.other.* (REQ-1, me) matches none of the selected cases"
    ]


def test_a_waiver_whose_requirement_fits_nothing_says_that_its_id_does() -> None:
    assert problems(waiver("vts.generated.*", requirement="REQ-2"), result(Outcome.FAIL)) == [
        "waiver vts.generated.* (REQ-2, me) matches none of the selected cases: "
        "none of the 1 that its id matches has this requirement"
    ]
    verdict = result(Outcome.FAIL, ("a", Outcome.PASS), ("b", Outcome.FAIL))
    assert "none of the 1 " in problems(waiver(f"{CASE}#*", requirement="REQ-2"), verdict)[0]


def test_a_waiver_that_is_not_needed_any_more_is_named() -> None:
    assert "is no longer needed" in problems(waiver(), result(Outcome.PASS))[0]
    assert problems(waiver(flaky=True), result(Outcome.PASS)) == []


def test_a_glob_is_needed_as_long_as_something_under_it_fails() -> None:
    other = result(Outcome.PASS, case="vts.generated.PAD.two")
    assert problems(waiver("vts.generated.PAD.*"), result(Outcome.FAIL), other) == []


def test_a_configuration_waiver_is_judged_by_its_configuration() -> None:
    verdict = result(Outcome.FAIL, ("a", Outcome.PASS), ("b", Outcome.FAIL))
    assert "no longer needed" in problems(waiver(f"{CASE}#a"), verdict)[0]
    assert problems(waiver(f"{CASE}#b"), verdict) == []
    assert "matches none" in problems(waiver(f"{CASE}#c"), verdict)[0]


def test_what_did_not_run_is_no_unexpected_pass() -> None:
    assert problems(waiver(), result(Outcome.NOT_APPLICABLE)) == []


def test_a_waiver_that_covers_a_part_of_each_case_says_what_it_leaves() -> None:
    """And what is left is what explains the case, also where the waived part ended worse."""
    table = Waivers([waiver("*", requirement="SHAPE-1"), waiver()], TODAY)
    parts = (
        ConfigurationResult(name="fenced", outcome=Outcome.CRASH, message="dead", broken=("SHAPE-1",)),
        ConfigurationResult(name="burst", outcome=Outcome.FAIL, message="late", broken=("SHAPE-2",)),
    )
    verdict = replace(result(Outcome.CRASH, own=Outcome.PASS, case="vts.one"), configurations=parts)
    verdict = table.apply(verdict)
    (use, _) = table.uses([verdict, table.apply(result(Outcome.FAIL))])
    assert (use.matched, use.excused, use.in_part, use.left) == (1, 0, 1, ("SHAPE-2",))
    assert [part.name for part in decisive(verdict)] == ["burst"]
    assert first_reason(verdict) == "#burst: late"
    assert concerned(verdict)[0] == "SHAPE-2"
    assert "1 of 2 configurations: fail (1 waived)" in explain(verdict)


def test_a_tolerance_waiver_excuses_nothing_by_itself() -> None:
    tolerance = WaivedTolerance(lsb=2)
    table = Waivers([waiver(tolerance=tolerance)], TODAY)
    assert red(table.apply(result(Outcome.FAIL)))
    assert table.tolerances(f"{CASE}#a", ("REQ-1",)) == (ToleranceOfWaiver(lsb=2, waiver=CASE),)
    assert table.tolerances("vts.other.x.y", ("REQ-1",)) == ()


def test_a_wide_waiver_does_not_hide_a_narrow_one_with_more_tolerance() -> None:
    given = [waiver("vts.*", tolerance=WaivedTolerance(lsb=2)), waiver(tolerance=WaivedTolerance(lsb=9))]
    found = Waivers(given, TODAY).tolerances(CASE, ("REQ-1",))
    assert found == (ToleranceOfWaiver(lsb=2, waiver="vts.*"), ToleranceOfWaiver(lsb=9, waiver=CASE))


def test_a_tolerance_that_is_too_small_is_told() -> None:
    table = Waivers([waiver("vts.generated.*", tolerance=WaivedTolerance(lsb=2))], TODAY)
    far = ConfigurationResult(name="a", outcome=Outcome.FAIL, message=f"y: 1 of 1 elements{BEYOND_WAIVER}")
    verdict = replace(result(Outcome.FAIL, own=Outcome.PASS), configurations=(far,))
    other = result(Outcome.FAIL, ("a", Outcome.FAIL), case="vts.generated.other")
    (use,) = table.uses([verdict, other])
    assert (use.matched, use.excused, use.too_far) == (2, 0, 1)
    (use,) = table.uses([replace(other, dispositions=(Disposition.WAIVED,)), verdict])
    assert (use.excused, use.too_far) == (1, 0)


def test_a_tolerance_excuses_the_part_that_it_covers_and_no_other() -> None:
    """The parts that end within it come with the disposition; the case is waived where all of its red parts are."""
    table = Waivers([waiver(tolerance=WaivedTolerance(lsb=2))], TODAY)
    near = ConfigurationResult(name="a", outcome=Outcome.FAIL, dispositions=(Disposition.WAIVED,))
    far = ConfigurationResult(name="b", outcome=Outcome.FAIL)
    verdict = result(Outcome.FAIL, own=Outcome.PASS)
    whole, partly = (table.apply(replace(verdict, configurations=parts)) for parts in ((near,), (near, far)))
    assert (red(whole), red(partly)) == (False, True)
    assert Disposition.WAIVED not in partly.dispositions
    body = replace(result(Outcome.FAIL), dispositions=(Disposition.WAIVED,))
    assert not red(table.apply(body))
    assert red(table.apply(replace(body, configurations=(far,))))


def test_how_much_of_what_it_means_a_waiver_excuses() -> None:
    table = Waivers([waiver("vts.generated.*")], TODAY)
    verdicts = [
        table.apply(result(ended, case=f"vts.generated.{name}"))
        for name, ended in (("a", Outcome.FAIL), ("b", Outcome.PASS))
    ]
    (use,) = table.uses([*verdicts, result(Outcome.FAIL, case="vts.other")])
    assert (use.matched, use.excused) == (2, 1)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"format": 1, "waivers": [{"id": "x"}]}', r"w\.json: \$\.waivers\[0\]: .*missing required field"),
        ('{"format": 2, "waivers": []}', r"w\.json: \$\.format: written in format 2; this version reads format 1"),
        ('{"format": 1, "waivers": [], "x": 1}', r"w\.json: \$: .*unknown field `x`"),
        ("{", r"w\.json: not JSON"),
    ],
)
def test_a_bad_file_gets_one_clear_line(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "w.json"
    path.write_text(text)
    with pytest.raises(DocumentError, match=message):
        waivers.load_all([path])


def waiver_file(folder: Path, **fields: str) -> Path:
    """A file of one waiver."""
    path = folder / "w.json"
    given = {"id": CASE, "requirement": "NNHAL-OPERATION-PAD-RESULT", "reason": "r", "owner": "o", "link": "l"}
    one = {**given, "expires": "2031-01-01", **fields}
    path.write_text(json.dumps({"format": 1, "waivers": [one]}))
    return path


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        (
            {"requirement": "NNHAL-OPERATION-PADD-RESULT"},
            "requirement: there is no requirement 'NNHAL-OPERATION-PADD-RESULT' (did you mean "
            "NNHAL-OPERATION-PAD-RESULT or ",
        ),
        ({"requirement": "QQ"}, "requirement: there is no requirement 'QQ'; what an extension has is known with"),
        ({"id": "vts.*#synchronos.*"}, "id: there is no configuration 'synchronos' (did you mean synchronous?)"),
        ({"id": "vts.*#burts"}, "id: there is no configuration 'burts' (did you mean burst?)"),
    ],
)
def test_names_that_no_run_would_tell_of_are_refused(tmp_path: Path, fields: dict[str, str], said: str) -> None:
    with pytest.raises(DocumentError) as caught:
        waivers.load_all([waiver_file(tmp_path, **fields)], ways=EXECUTORS)
    assert str(caught.value).startswith(f"{tmp_path}/w.json: $.waivers[0].{said}")


@pytest.mark.parametrize("name", ["synchronous.*", "burst", "*synchronos", "seed_0_model_1", "compute", "sizes"])
def test_other_configurations_are_taken(tmp_path: Path, name: str) -> None:
    waivers.load_all([waiver_file(tmp_path, id=f"vts.*#{name}")], ways=EXECUTORS)


def test_a_missing_file_gets_one_clear_line(tmp_path: Path) -> None:
    with pytest.raises(DocumentError, match=r"none\.json: No such file or directory"):
        waivers.load_all([tmp_path / "none.json"])


PAD = OperationUse(operation="PAD", types=("TENSOR_FLOAT32",), rank=4, elements=100, supported=False)
ADD = OperationUse(operation="ADD", types=("TENSOR_FLOAT32",), rank=4, elements=100)
OPEN = OperationUse(operation="PAD", types=("TENSOR_FLOAT32",))
OF_VENDOR = OperationUse(operation="extension 0x10000", types=("TENSOR_FLOAT32",))


def refused(*models: ModelUse) -> CaseResult:
    """A case that ended since these models are not supported."""
    return CaseResult(
        case=CASE, outcome=Outcome.NOT_SUPPORTED, own_outcome=Outcome.NOT_SUPPORTED, message="no", refused=models
    )


@pytest.mark.parametrize(
    ("claim", "inside"),
    [
        (Claim(operations=("PAD", "ADD")), True),
        (Claim(operations=("ADD",)), False),
        (Claim(operations=()), True),
        (Claim(operations=("PAD",), types=("TENSOR_FLOAT16",)), False),
        (Claim(operations=("PAD",), types=("TENSOR_FLOAT32",)), True),
        (Claim(operations=("PAD",), since=Version.V1_3), False),
        (Claim(operations=("PAD",), ranks=(4,)), True),
        (Claim(operations=("PAD",), ranks=(2, 3)), False),
        (Claim(operations=("PAD",), max_elements=100), True),
        (Claim(operations=("PAD",), max_elements=99), False),
        (Claim(operations=("PAD",), known_sizes=True), True),
    ],
)
def test_refusing_inside_a_claim_is_a_failure(claim: Claim, inside: bool) -> None:
    outcome = claims.enforce(refused((PAD,)), [claim], Version.V1_2).outcome
    assert outcome is (Outcome.FAIL if inside else Outcome.NOT_SUPPORTED)


@pytest.mark.parametrize(
    ("model", "inside"),
    [((PAD,), True), ((PAD, ADD), False), ((OPEN,), False), ((OF_VENDOR,), False), ((), False)],
)
def test_every_operation_of_a_model_has_to_be_claimed(model: ModelUse, inside: bool) -> None:
    shaped = [Claim(operations=("PAD",), ranks=(4,), max_elements=100), Claim(operations=(), since=Version.FL8)]
    assert claims.is_claimed(model, shaped, Version.V1_2) is inside


def test_a_claim_of_known_sizes_says_nothing_of_open_ones() -> None:
    known = [Claim(operations=("PAD", "ADD"), known_sizes=True)]
    assert claims.is_claimed((PAD, ADD), known, Version.V1_2)
    assert not claims.is_claimed((OPEN, ADD), known, Version.V1_2)


def test_operations_may_lie_in_different_claims() -> None:
    both = [Claim(operations=("PAD",)), Claim(operations=("ADD",), types=("TENSOR_FLOAT32",))]
    assert claims.enforce(refused((PAD, ADD)), both, Version.V1_2).outcome is Outcome.FAIL


def test_all_operations_are_those_of_the_catalogue() -> None:
    assert not claims.is_claimed((OF_VENDOR,), [Claim(operations=())], Version.V1_2)


def test_one_refused_model_that_is_claimed_is_enough() -> None:
    float16 = replace(PAD, types=("TENSOR_FLOAT16",))
    only = [Claim(operations=("PAD",), types=("TENSOR_FLOAT32",))]
    assert claims.enforce(refused((float16,), (PAD,)), only, Version.V1_2).outcome is Outcome.FAIL
    assert claims.enforce(refused((float16,)), only, Version.V1_2).outcome is Outcome.NOT_SUPPORTED


def test_a_configuration_is_judged_by_what_was_refused_in_it() -> None:
    parts = tuple(
        ConfigurationResult(name=name, outcome=Outcome.NOT_SUPPORTED, message="no", refused=(model,))
        for name, model in {"a": (PAD,), "b": (replace(PAD, types=("TENSOR_FLOAT16",)),)}.items()
    )
    verdict = CaseResult(case=CASE, outcome=Outcome.NOT_SUPPORTED, configurations=parts)
    enforced = claims.enforce(verdict, [Claim(operations=("PAD",), types=("TENSOR_FLOAT32",))], Version.V1_2)
    assert enforced.outcome is Outcome.FAIL
    assert [part.outcome.value for part in enforced.configurations] == ["fail", "not-supported"]
    assert enforced.configurations[0].message == "claimed as supported, but refused: no"
    assert concerned(enforced)[0] == "NNHAL-CLAIM-001"


def test_a_case_in_which_no_model_was_refused_is_outside_all_claims() -> None:
    assert claims.enforce(refused(), [Claim(operations=())], Version.V1_2) == refused()


@pytest.mark.parametrize(
    ("claim", "message"),
    [
        (
            Claim(operations=("ADD", "ADDD")),
            r"$.claims[1].operations[1]: there is no operation 'ADDD' (did you mean ADD",
        ),
        (Claim(operations=("Relu",)), r"$.claims[1].operations[0]: there is no operation 'Relu' (did you mean RELU"),
        (
            Claim(operations=("ADD",), types=("FLOAT",)),
            r"$.claims[1].types[0]: there is no type of tensors 'FLOAT' (did you mean TENSOR_FLOAT",
        ),
        (
            Claim(operations=("ADD",), types=("FLOAT32",)),
            r"$.claims[1].types[0]: there is no type of tensors 'FLOAT32'",
        ),
    ],
)
def test_names_that_there_are_not_are_errors(claim: Claim, message: str) -> None:
    manifest = Manifest(name="mine", vendor="v", version="1", claims=(Claim(operations=("ADD",)), claim))
    with pytest.raises(DocumentError, match=re.escape(f"manifest of mine: {message}")):
        claims.check_names(manifest)


@pytest.mark.parametrize(
    ("pattern", "told"),
    [("vts.left.out.*", 0), ("vts.left.out.a#b", 0), ("vts.*", 0), ("vts.gone.*", 1), (f"{CASE}*", 1)],
)
def test_a_waiver_may_be_about_cases_that_are_not_selected(pattern: str, told: int) -> None:
    other = replace(waiver(pattern), requirement="REQ-9")
    table = Waivers([other], TODAY)
    uses = table.uses([result(Outcome.FAIL)], lambda: [CASE, "vts.left.out.a"])
    assert len(table.problems(uses)) == told


def test_a_waiver_says_that_it_is_about_to_expire() -> None:
    days = [datetime.timedelta(days=number) for number in (0, 7, 8)]
    table = Waivers([replace(waiver(), expires=TODAY + day) for day in days], TODAY)
    assert [use.is_about_to_expire for use in table.uses([result(Outcome.FAIL)])] == [True, True, False]
