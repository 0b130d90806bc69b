"""Vectors of somebody's own: the page's example runs, and a wrong expected value is no failure of a driver."""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from npu_conformance.cli.main import main
from npu_conformance.harness.judge.outcome_table import OK, SUITE_FAILED, USAGE, WRONG
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.harness.subject.loading import open_subject
from npu_conformance.specs.documents import DocumentError
from npu_conformance.vts import external

PAGE = Path(__file__).parents[3] / "docs" / "own-vectors.md"


def _shown() -> Any:
    found = re.search(r"```json\n(.*?)```", PAGE.read_text(), re.DOTALL)
    assert found is not None
    return json.loads(found[1])


def _folder(place: Path, edit: Callable[[Any], object]) -> Path:
    document = _shown()
    edit(document["vectors"][0])
    place.mkdir(exist_ok=True)
    (place / "add.json").write_text(json.dumps(document))
    return place


def _wrong(vector: Any) -> None:
    vector["examples"][0]["outputs"]["sum"][1] = 7


def _rounded(vector: Any) -> None:
    vector["examples"][0]["outputs"]["sum"][1] = 6.000001


def _quantised_chain(vector: Any) -> None:
    """Wrong, but who knows: what one operation rounds may be many steps of the other."""
    one = {"type": "TENSOR_QUANT8_ASYMM", "dimensions": [2], "scale": 1.0}
    vector["operands"] |= {"a": one, "b": one, "between": one, "sum": one}
    vector["operations"] = [
        {"type": "ADD", "inputs": ["a", "b", "activation"], "outputs": ["between"]},
        {"type": "ADD", "inputs": ["a", "between", "activation"], "outputs": ["sum"]},
    ]
    _wrong(vector)


def _run(folder: Path) -> CaseContext:
    (case,) = external.cases_from(folder)
    subject = open_subject("reference", isolation="inprocess")
    try:
        context = CaseContext(case, subject)
        case.run(context)
    finally:
        subject.close()
    return context


@pytest.mark.parametrize("edit", [lambda vector: None, _rounded, _quantised_chain])
def test_what_no_oracle_contradicts_is_judged_by_the_driver(edit: Callable[[Any], object], tmp_path: Path) -> None:
    context = _run(_folder(tmp_path, edit))
    assert context.configurations


def test_an_expected_value_that_the_oracle_contradicts_blames_no_driver(tmp_path: Path) -> None:
    with pytest.raises(DocumentError) as caught:
        _run(_folder(tmp_path, _wrong))
    assert str(caught.value) == (
        "output 'sum': the vector says 7.0 at [1], the oracle computes 6.0: the vector is wrong, not the driver"
    )


def test_a_replay_blames_no_driver_either(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder, report = _folder(tmp_path / "vectors", _wrong), str(tmp_path / "report")
    words = ["--plugin", "reference", "--isolation", "inprocess"]
    assert main(["run", "vts.external", "--vectors", str(folder), "--report", report, *words]) == SUITE_FAILED
    capsys.readouterr()
    assert main(["replay", report, *words]) == SUITE_FAILED
    assert "the oracle computes 6.0: the vector is wrong" in capsys.readouterr().out


def test_witness_checks_a_folder(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["vectors", "witness", "--vectors", str(_folder(tmp_path / "right", lambda vector: None))]) == OK
    assert capsys.readouterr().out.startswith("the oracle: 1 agreed, 0 disagreed")
    assert main(["vectors", "witness", "--vectors", str(_folder(tmp_path / "wrong", _wrong))]) == WRONG
    assert "ADD.customer_bug_17: sum: the vector says 7.0 at [1], the oracle computes 6.0\n" in capsys.readouterr().out


def test_witness_tells_what_a_model_breaks(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = _folder(tmp_path, lambda vector: vector["operands"]["b"].update(dimensions=[3]))
    document = json.loads((folder / "add.json").read_text())
    document["vectors"][0]["examples"][0]["inputs"]["b"].append(5)
    (folder / "add.json").write_text(json.dumps(document))
    assert main(["vectors", "witness", "--vectors", str(folder)]) == WRONG
    said = capsys.readouterr().out
    assert "ADD.customer_bug_17: as HAL 1.0 expected it to break nothing, it breaks ADD.C1" in said
    assert "the oracle: 0 agreed, 0 disagreed, 0 disagreed with an explanation, 1 could not run" in said


def test_witness_of_lines_that_cannot_be_read_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "some.jsonl.gz"
    file.write_bytes(gzip.compress(b"no JSON\n"))
    assert main(["vectors", "witness", "--vectors", str(file)]) == USAGE
    assert "some.jsonl.gz:1: not JSON" in capsys.readouterr().err


def test_an_empty_folder_and_record_are_wrong_use(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["vectors", "witness", "--vectors", str(tmp_path)]
    assert main(words) == USAGE
    assert main([*words, "--engine", "litert", "--record"]) == USAGE
    assert "leave out --vectors" in capsys.readouterr().err


def test_a_lock_of_an_editor_is_no_vector(tmp_path: Path) -> None:
    """Emacs' lock of a changed file is a link to user@host.process, beside it."""
    folder = _folder(tmp_path / "vectors", lambda vector: None)
    expected = [case.id for case in external.cases_from(folder)]
    (folder / ".#add.json").symlink_to("user@host.1234")
    assert [case.id for case in external.cases_from(folder)] == expected
    assert len(expected) == 1
