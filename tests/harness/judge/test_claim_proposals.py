"""Claims that are proposed from a run hold in the next one, and turn red what is refused later."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
from msgspec.structs import replace

from npu_conformance.cli.commands import check
from npu_conformance.cli.main import main
from npu_conformance.faults import plugin
from npu_conformance.harness.judge import claim_proposals, claims
from npu_conformance.harness.run.cases import Case
from npu_conformance.harness.run.engine import Engine
from npu_conformance.harness.run.events import Log
from npu_conformance.harness.subject.loading import open_subject
from npu_conformance.specs.documents.results import CaseResult, ConfigurationResult, Event, ModelUse, OperationUse
from npu_conformance.specs.manifest import Claim, read_claims
from npu_conformance.specs.outcomes import Outcome
from npu_conformance.specs.versions import NEWEST, Version
from npu_conformance.vts import generated

FLOAT32, FLOAT16 = "TENSOR_FLOAT32", "TENSOR_FLOAT16"
FAULTY = f"{plugin.__name__}:plugin"


class Kept(Log):
    """A record in memory."""

    def write(self, event: Event) -> None:
        """Keep an event."""
        self.add(event)


def run(fault: str, claims: tuple[Claim, ...] = (), operations: Sequence[str] = ("RELU", "FLOOR")) -> list[CaseResult]:
    """The verdicts on these operations for an implementation with these claims."""
    subject, log = open_subject(FAULTY, {"fault": fault, "hal": "1.2"}, "inprocess"), Kept()
    subject.manifest = replace(subject.manifest, claims=claims)  # type: ignore[misc]
    cases: list[Case] = [case for name in operations for case in generated.cases_under(name)]
    try:
        Engine(cases, subject, log).run()
    finally:
        subject.close()
    return list(log.results.values())


def red(verdicts: Sequence[CaseResult]) -> list[str]:
    return [result.case for result in verdicts if result.outcome is Outcome.FAIL]


def test_what_is_proposed_holds_and_a_refusal_of_it_is_red() -> None:
    found = claim_proposals.proposed(run("tiny"), Version.V1_2)
    # The additions are those of the variation all_inputs_as_internal.
    assert found == (Claim(operations=("ADD", "RELU"), types=(FLOAT32,), since=Version.V1_2),)
    assert red(run("tiny", found)) == []
    refused = red(run("float16-only", found))
    assert "vts.generated.RELU.float32_rank1" in refused
    assert not [case for case in refused if "float16" in case or "FLOOR" in case]


def test_a_driver_of_known_sizes_claims_them_and_no_more() -> None:
    found = claim_proposals.proposed(run("declines-unknown-outputs", operations=("FLOOR",)), Version.V1_2)
    sizes = {(claim.operations, claim.types): claim.known_sizes for claim in found}
    # The additions of the variation all_inputs_as_internal have known sizes in each model.
    assert sizes == {((name,), (kind,)): name == "FLOOR" for name in ("ADD", "FLOOR") for kind in (FLOAT16, FLOAT32)}
    assert red(run("declines-unknown-outputs", found, ("FLOOR",))) == []
    unlimited = tuple(replace(claim, known_sizes=False) for claim in found)
    assert "vts.generated.FLOOR.float32_rank1" in red(run("declines-unknown-outputs", unlimited, ("FLOOR",)))


def use(operation: str, *types: str, supported: bool = True, elements: int | None = 6) -> OperationUse:
    return OperationUse(operation=operation, types=types, supported=supported, elements=elements)


def verdict(outcome: Outcome, refused: tuple[ModelUse, ...] = (), **executed: tuple[str, ...]) -> CaseResult:
    types = tuple(kind for kinds in executed.values() for kind in kinds)
    return CaseResult(
        case="vts.generated.X.y", outcome=outcome, own_outcome=outcome, refused=refused, executed=executed,
        operations=tuple(executed), types=types,
    )  # fmt: skip


PASSED = [verdict(Outcome.PASS, ADD=(FLOAT32,)), verdict(Outcome.PASS, ADD=(FLOAT16,), MUL=(FLOAT16,))]


@pytest.mark.parametrize(
    ("later", "left"),
    [
        (verdict(Outcome.FAIL, ADD=(FLOAT16,)), {("MUL", FLOAT16), ("ADD", FLOAT32)}),
        (
            verdict(Outcome.NOT_SUPPORTED, ((use("ADD", FLOAT32, supported=False),),)),
            {("ADD", FLOAT16), ("MUL", FLOAT16)},
        ),
        (
            verdict(Outcome.NOT_SUPPORTED, ((use("MUL", FLOAT16), use("ADD", FLOAT16, supported=False)),)),
            {("ADD", FLOAT32), ("MUL", FLOAT16)},
        ),
        (
            verdict(Outcome.NOT_SUPPORTED, ((use("IF", supported=False), use("ADD", FLOAT32, supported=False)),)),
            {("ADD", FLOAT32), ("ADD", FLOAT16), ("MUL", FLOAT16)},
        ),
        (verdict(Outcome.NOT_SUPPORTED, ((use("ADD", FLOAT32),),)), {("ADD", FLOAT16), ("MUL", FLOAT16)}),
    ],
    ids=["wrong", "refused", "refused beside another", "refused with what is not claimed", "not executed"],
)
def test_nothing_is_proposed_that_a_verdict_speaks_against(later: CaseResult, left: set[tuple[str, str]]) -> None:
    found = claim_proposals.proposed([*PASSED, later], NEWEST)
    assert {(name, kind) for claim in found for name in claim.operations for kind in claim.types} == left


def test_who_only_brings_the_data_of_a_wrong_case_is_claimed() -> None:
    """In the variation all_inputs_as_internal an ADD comes before what the case is about."""
    wrong = verdict(Outcome.FAIL, ADD=(FLOAT32,), SPLIT=(FLOAT32,))
    case = replace(wrong, case="vts.generated.SPLIT.one[all_inputs_as_internal]")
    (claim,) = claim_proposals.proposed([PASSED[0], case], NEWEST)
    assert claim.operations == ("ADD",)
    assert claim_proposals.spoken_against("ADD", [PASSED[0], case]) == "not known"
    assert claim_proposals.spoken_against("SPLIT", [case]) == f"1 case wrong, {case.case} for one"


def test_a_refusal_that_a_passing_case_hides_is_told() -> None:
    why = "the device opens no burst: PreparedModel.configureExecutionBurst is not implemented"
    part = ConfigurationResult("burst.untimed", Outcome.NOT_SUPPORTED, why, refused=((use("ADD", FLOAT32),),))
    refused = replace(verdict(Outcome.NOT_SUPPORTED, ((use("ADD", FLOAT32),),)), case="vts.generated.X.z")
    seen = [replace(PASSED[0], configurations=(part,)), refused]
    told = claim_proposals.spoken_against("ADD", seen)
    assert told == f"refused in 2 cases, vts.generated.X.y for one (#burst.untimed: {why})"


def test_the_refusal_that_is_told_is_of_what_is_executed() -> None:
    """That another type is refused, too, costs the claim about this one nothing."""
    messages = {FLOAT16: "ADD of TENSOR_FLOAT16", FLOAT32: "no output of unknown size"}
    refused = [
        replace(verdict(Outcome.NOT_SUPPORTED, ((use("ADD", kind),),)), case=f"vts.generated.{kind}", message=message)
        for kind, message in messages.items()
    ]
    only = replace(PASSED[0], executed={"ADD": (FLOAT32,)})
    told = claim_proposals.spoken_against("ADD", [only, *refused])
    assert told == f"refused in 2 cases, vts.generated.{FLOAT32} for one (no output of unknown size)"


OPEN = use("ADD", FLOAT32, elements=None)


@pytest.mark.parametrize(
    "model",
    [(OPEN,), (replace(OPEN, supported=False),), (use("MUL", FLOAT16), OPEN)],
    ids=["accepted", "refused", "beside one of known sizes"],
)
def test_who_refuses_what_is_open_claims_what_is_known(model: ModelUse) -> None:
    found = claim_proposals.proposed([*PASSED, verdict(Outcome.NOT_SUPPORTED, (model,))], Version.V1_2)
    assert found == (
        Claim(operations=("ADD", "MUL"), types=(FLOAT16,), since=Version.V1_2),
        Claim(operations=("ADD",), types=(FLOAT32,), since=Version.V1_2, known_sizes=True),
    )
    assert not claims.is_claimed(model, found, Version.V1_2)


def test_who_refuses_what_is_known_too_claims_neither() -> None:
    refusals = [verdict(Outcome.NOT_SUPPORTED, (model,)) for model in ((OPEN,), (use("ADD", FLOAT32),))]
    found = claim_proposals.proposed([*PASSED, *refusals], Version.V1_2)
    assert [claim.types for claim in found] == [(FLOAT16,)]


def test_what_speaks_against_a_claim_is_told() -> None:
    refused = verdict(Outcome.NOT_SUPPORTED, ((use("MUL", FLOAT32, supported=False),),))
    verdicts = [*PASSED, verdict(Outcome.FAIL, ADD=(FLOAT32,)), refused]
    assert claim_proposals.spoken_against("ADD", verdicts) == "1 case wrong, vts.generated.X.y for one"
    assert claim_proposals.spoken_against("MUL", verdicts) == "refused in 1 case, vts.generated.X.y for one"


def test_the_command_writes_claims_that_a_manifest_can_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(check, "_CLAIMABLE", ("vts.generated.FLOOR", "vts.generated.RELU"))
    file = tmp_path / "claims.json"
    options = ["--plugin-option", "fault=tiny", "--hal", "1.2", "--isolation", "inprocess"]
    assert main(["check", FAULTY, *options, "--write-claims", str(file)]) == 0
    assert read_claims(file) == (Claim(operations=("ADD", "RELU"), types=(FLOAT32,), since=Version.V1_2),)
    assert main(["check", FAULTY, *options, "--write-claims", str(tmp_path / "none" / "c.json")]) == 2


def test_the_command_leaves_no_file_without_claims(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(check, "_CLAIMABLE", ("vts.generated.FLOOR",))
    monkeypatch.chdir(tmp_path)
    assert main(["check", "no_such:plugin", "--write-claims", "claims.json"]) == 2
    options = ["--plugin-option", "fault=tiny", "--hal", "1.2", "--isolation", "inprocess"]
    main(["check", FAULTY, *options, "--write-claims", "-"])
    assert capsys.readouterr().out.startswith("[")
    assert list(tmp_path.iterdir()) == []


def test_an_object_with_claims_is_a_file_of_claims(tmp_path: Path) -> None:
    path = tmp_path / "claims.json"
    path.write_text('{"claims": [{"operations": ["ADD"]}]}')
    assert read_claims(path) == (Claim(operations=("ADD",)),)


@pytest.mark.parametrize(("text", "told"), [('{"claims": 5}', "$.claims: Expected"), (None, "No such file")])
def test_a_mistake_in_claims_names_the_plug_in_and_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], text: str | None, told: str
) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    name = f"claiming_{'wrong' if text else 'nothing'}"
    (tmp_path / f"{name}.py").write_text(
        "from pathlib import Path\nfrom npu_conformance.specs.manifest import read_claims\n"
        f"plugin = read_claims(Path({str(tmp_path / 'cl.json')!r}))\n"
    )
    if text:
        (tmp_path / "cl.json").write_text(text)
    assert main(["check", f"{name}:plugin"]) == 2
    line = f"npu-conformance: plug-in {name}:plugin: {tmp_path}/{name}.py:3: {tmp_path}/cl.json: {told}"
    assert capsys.readouterr().err.startswith(line)
