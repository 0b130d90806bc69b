"""`npu-conformance models add`: a model of the user's own is a model of mlts."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

pytest.importorskip("ai_edge_litert", exc_type=ImportError, reason="LiteRT is not installed")

from tflite_files import File

from npu_conformance.cli.main import main
from npu_conformance.corpus import zoo
from npu_conformance.corpus.importers.tflite import importing
from npu_conformance.corpus.zoo import added
from npu_conformance.harness.run import suites
from npu_conformance.harness.run.id_lock import current_ids
from npu_conformance.specs import ids
from npu_conformance.specs.documents.zoo import Inputs


@pytest.fixture
def model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A sum of two inputs, and a cache of the test's own."""
    monkeypatch.setenv("NPU_CONFORMANCE_MODELS", str(tmp_path / "models"))
    monkeypatch.chdir(tmp_path)
    file = File()
    inputs = [file.main.input("FLOAT32", (1, 4)) for _ in range(2)]
    path = tmp_path / "My Model.tflite"
    path.write_bytes(file.pack(file.main.operator("ADD", inputs, ("FLOAT32", (1, 4)), "Add")))
    return path


def test_an_added_model_is_run_like_the_zoos_own_until_it_is_removed(
    model: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["models", "add", str(model), "--low", "2", "--high", "3"]) == 0
    assert capsys.readouterr().out == "my_model: added; npu-conformance mlts --models my_model --plugin P\n"
    model.unlink()
    samples = zoo.load("my_model").samples(5, seed=1)
    first, second = samples.inputs.values()
    assert first.shape == second.shape == (5, 1, 4)
    assert 2 <= first.min() < first.max() <= 3
    assert (first != second).any()
    words = ["--plugin", "reference", "--isolation", "inprocess", "--beside", "reference"]
    assert main(["run", "mlts.accuracy.my_model.answers", *words]) == 0  # by id: an index of all ids is kept otherwise
    assert "1 case" in capsys.readouterr().out
    assert ids.unlocked(current_ids(suites.cases(("mlts",)))) == []
    assert main(["models", "list"]) == 0
    assert "my_model                      added        My Model.tflite, added.\n" in capsys.readouterr().out
    assert main(["models", "remove", "my_model"]) == 0
    assert "my_model" not in zoo.names()
    assert [path.name for path in (model.parent / "models").iterdir()] == ["added.json"]


def test_adding_again_replaces(model: Path) -> None:
    assert main(["models", "add", str(model), "--name", "mine"]) == 0
    assert main(["models", "add", str(model), "--name", "mine", "--high", "5"]) == 0
    assert [(entry.name, entry.inputs.high) for entry in added.entries()] == [("mine", 5.0)]


@pytest.mark.parametrize(
    ("words", "code", "line"),
    [
        (("add", "nowhere.tflite"), 2, "nowhere.tflite: there is no such file"),
        (
            ("add", "My Model.tflite", "--name", "digits_conv"),
            2,
            "--name: the zoo has a model 'digits_conv'",
        ),
        (
            ("add", "My Model.tflite", "--name", "A b"),
            2,
            "--name: expected small letters, digits",
        ),
        (("add", "My Model.tflite", "--name", "photographs"), 2, "--name: the zoo has data 'photographs'"),
        (("add", "My Model.tflite", "--low", "1"), 2, "--low: expected less than --high, 1, found 1"),
        (("add", "My Model.tflite", "--high", "inf"), 2, "--low, --high: expected finite numbers, found -1 and inf"),
        (("remove", "mine"), 2, "no model 'mine' was added"),
    ],
)
@pytest.mark.usefixtures("model")
def test_what_cannot_be_added_is_one_line(
    words: tuple[str, ...], code: int, line: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["models", *words]) == code
    told = capsys.readouterr().err
    assert (told.count("\n"), line in told) == (1, True), told
    assert added.entries() == ()


def test_a_model_is_removed_whose_file_is_gone_already(model: Path) -> None:
    assert main(["models", "add", str(model), "--name", "mine"]) == 0
    shutil.rmtree(model.parent / "models" / "mine")
    assert main(["models", "remove", "mine"]) == 0
    assert added.entries() == ()


@pytest.mark.usefixtures("model")
def test_a_file_that_was_not_added_says_how(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["mlts", "--models", "My.tflite", "--plugin", "reference"]) == 2
    assert "My.tflite is a file: add it by `npu-conformance models add My.tflite`" in capsys.readouterr().err


def test_what_is_checked_is_what_is_kept(model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    checked, translate = model.read_bytes(), importing.import_model

    def import_model(data: bytes, document: str, name: str) -> importing.TfliteModel:
        model.write_bytes(b"another file by now")
        return translate(data, document, name)

    monkeypatch.setattr(importing, "import_model", import_model)
    added.add(model, "mine", Inputs("uniform"))
    (kept,) = (path for path in (model.parent / "models" / "mine").rglob("*") if path.is_file())
    assert kept.read_bytes() == checked


def test_a_model_given_as_vectors_is_told_where_it_belongs(model: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["vectors", "import-tflite", str(model), "--out", "my_model.json"]) == 0
    capsys.readouterr()
    for file in ("my_model.json", str(model)):
        assert main(["run", "vts.external", "--vectors", file, "--plugin", "reference"]) == 2
        told = capsys.readouterr().err
        assert told.startswith(
            f"npu-conformance: {file}: it is a model without expected values, not a file of vectors; "
        )
        assert "`npu-conformance models add MODEL.tflite`" in told
