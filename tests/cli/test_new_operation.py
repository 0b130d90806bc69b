"""`npu-conformance new-operation`: what it lays out is valid, fails until it is filled, and overwrites nothing."""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest
from places import ROOT

from npu_conformance.cli.commands import new_operation
from npu_conformance.cli.main import main
from npu_conformance.faults import source_edits
from npu_conformance.harness.judge.outcome_table import OK, USAGE
from npu_conformance.specs import documents
from npu_conformance.specs.documents import DocumentError
from npu_conformance.specs.neuralnetworks.operation_tables import OperationTable

KERNEL = "reference/device/kernels/foo_2d.py"


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A checkout with the folders of operations, and nothing in them."""
    for path in new_operation.SKELETONS:
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / "CONTRIBUTING.md").touch()
    monkeypatch.setattr(new_operation, "ROOT", tmp_path)
    return tmp_path


def files(checkout: Path) -> set[str]:
    return {str(path.relative_to(checkout)) for path in checkout.rglob("foo_2d.*")}


def loaded(file: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"laid_out_{file.parent.name}", file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_it_lays_out_the_files_of_the_recipe_that_are_written_by_hand(
    checkout: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["new-operation", "FOO_2D"]) == OK
    recipe = set(re.findall(r"`([\w/]+/foo_2d\.\w+)`", (ROOT / "CONTRIBUTING.md").read_text()))
    assert files(checkout) == recipe - {"corpus/vectors/foo_2d.json"}
    printed = capsys.readouterr().out
    assert all(f"made {name}\n" in printed for name in files(checkout))
    assert "add FOO_2D to OperationType" in printed
    assert "writes corpus/vectors/foo_2d.json" in printed


def test_a_dry_run_makes_nothing(checkout: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["new-operation", "FOO_2D", "--dry-run"]) == OK
    assert files(checkout) == set()
    assert f"would make {KERNEL}\n" in capsys.readouterr().out


def test_a_file_that_is_there_is_left_alone_and_no_other_is_made(
    checkout: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (checkout / KERNEL).write_text("mine")
    assert main(["new-operation", "FOO_2D"]) == USAGE
    assert files(checkout) == {KERNEL}
    assert (checkout / KERNEL).read_text() == "mine"
    assert capsys.readouterr().err == f"npu-conformance: {KERNEL} is there already: nothing was made\n"


def test_every_operation_of_the_project_is_there_already() -> None:
    assert main(["new-operation", "PAD", "--dry-run"]) == USAGE


@pytest.mark.parametrize("name", ["foo_2d", "FOO-2D", "2D_FOO", "FOO__2D", "FOO_", "../FOO"])
def test_a_name_that_aosp_would_not_give_is_one_line(
    name: str, checkout: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["new-operation", name]) == USAGE
    assert capsys.readouterr().err.count("\n") == 1
    assert not list(checkout.rglob("*.json"))


@pytest.mark.parametrize("missing", ["CONTRIBUTING.md", "corpus/oracles"])
def test_outside_of_a_checkout_it_is_one_line(missing: str, checkout: Path, capsys: pytest.CaptureFixture[str]) -> None:
    place = checkout / missing
    place.unlink() if place.is_file() else place.rmdir()
    assert main(["new-operation", "FOO_2D"]) == USAGE
    assert capsys.readouterr().err == (
        f"npu-conformance: {checkout} is no checkout of this project, in which operations are laid out\n"
    )


def test_a_name_that_is_a_word_of_python_gets_functions_of_another(checkout: Path) -> None:
    assert main(["new-operation", "WITH"]) == OK
    assert "def with_(" in (checkout / "corpus/oracles/with.py").read_text()


def test_what_is_laid_out_fails_until_it_is_filled(checkout: Path) -> None:
    main(["new-operation", "FOO_2D"])
    with pytest.raises(DocumentError, match=r"\$\.code: Expected `int`, got `str`"):
        documents.read(checkout / "specs/neuralnetworks/operations/foo_2d.json", OperationTable)
    with pytest.raises(NotImplementedError, match="FOO_2D: its kernel"):
        loaded(checkout / KERNEL).foo_2d([], [])
    with pytest.raises(NotImplementedError, match="FOO_2D: its expected values"):
        loaded(checkout / "corpus/oracles/foo_2d.py").foo_2d([], [])
    with pytest.raises(NotImplementedError, match="FOO_2D: its vectors"):
        loaded(checkout / "corpus/generators/foo_2d.py").vectors()
    rules = loaded(checkout / "specs/neuralnetworks/rules/foo_2d.py").RULES
    with pytest.raises(NotImplementedError, match="FOO_2D: the shapes of its outputs"):
        rules.output_shapes(None)
    ((edit,),) = (fault.edits for fault in source_edits.read(checkout / "faults/kernels/foo_2d.json"))
    assert edit.find not in (checkout / KERNEL).read_text()


def test_ruff_and_mypy_accept_what_is_laid_out(checkout: Path) -> None:
    main(["new-operation", "FOO_2D"])
    sources = sorted(name for name in files(checkout) if name.endswith(".py"))
    assert len(sources) == 4
    config = str(ROOT / "pyproject.toml")
    checks = [
        ["ruff", "check", "--config", config, *sources],
        ["ruff", "format", "--check", "--config", config, *sources],
        ["mypy", "--config-file", config, *sources],
    ]
    for command in checks:
        environment = {**os.environ, "MYPYPATH": str(ROOT / "src")}
        done = subprocess.run(
            [sys.executable, "-m", *command], cwd=checkout, env=environment, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stdout + done.stderr
