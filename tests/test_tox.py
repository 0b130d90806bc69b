"""The matrix of tox.ini and of the template for a vendor's repository: what the names mean, and that it runs."""

from __future__ import annotations

import contextlib
import io
import itertools
import re
import shlex
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from places import ROOT

from npu_conformance.cli.main import main

tox_run = pytest.importorskip("tox.run")
PAGE = (ROOT / "docs" / "tox.md").read_text()
TEMPLATE = ROOT / "examples" / "vendor-repository"
Commands = Callable[..., list[list[str]]]


@pytest.fixture
def commands(tmp_path: Path) -> Commands:
    """Ask tox for the commands of an environment, as words; nothing is installed."""

    def ask(environments: str, *more: str, folder: Path = ROOT) -> list[list[str]]:
        words = ["config", "-c", str(folder), "--workdir", str(tmp_path / "tox"), "-e", environments, "-k", "commands"]
        told = tox(*words, "--", *more)
        assert told.returncode == 0, told.stdout
        values = re.findall(r"^commands =\n?((?:[ \t]+.+\n|.+\n)*)", f"{told.stdout}\n", re.MULTILINE)
        return [shlex.split(line) for value in values for line in value.splitlines() if not line.startswith("[")]

    return ask


@dataclass
class Told:
    """What tox said, and its exit code."""

    returncode: int
    stdout: str


def tox(*words: str) -> Told:
    """Run tox in this process, in the checkout: its start takes longer than what it does here."""
    said = io.StringIO()
    with contextlib.chdir(ROOT), contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
        try:
            code = tox_run.run(words)
        except SystemExit as ended:
            code = ended.code
    return Told(int(code or 0), said.getvalue())


@pytest.mark.parametrize(
    ("environment", "words"),
    [
        ("vts-hal1.2-litert", "run vts --hal 1.2 --plugin litert"),
        ("vts-hal1.0-messages", "run vts --hal 1.0 --transport message --plugin reference"),
        ("cts-aosp-real", "run cts --plugin-option npu_profile=aosp --plugin-option clock=real --plugin reference"),
    ],
)
def test_a_name_means_a_command(commands: Commands, environment: str, words: str) -> None:
    assert commands(environment) == [["npu-conformance", *words.split()]]
    assert environment in PAGE


def test_pythons_have_the_projects_own_tests(commands: Commands) -> None:
    assert commands("py311") == [["pytest", "tests"]]


def test_each_name_of_the_page_is_a_factor(commands: Commands) -> None:
    rows = re.findall(r"^\| ([\w -]+) \| (`[^|]+) \|", PAGE, re.MULTILINE)
    factors = {name: re.findall(r"`(\S+)`", names) for name, names in rows}
    assert {name: len(names) for name, names in factors.items()} == {
        "suite": 3, "HAL version": 8, "profile": 2, "clock": 2, "transport": 3, "plug-in": 3,
    }  # fmt: skip
    (everything,) = commands("-".join(itertools.chain(*factors.values())))
    assert len(everything) == len(["npu-conformance", "run"]) + 3 + 2 * (8 + 2 + 2 + 3 + 3)


@pytest.mark.parametrize("environment", ["vts-hal1.9", "vts-bogus", "vts-hal1.2-lite"])
def test_an_unknown_factor_is_an_error(environment: str, tmp_path: Path) -> None:
    told = tox("run", "--workdir", str(tmp_path), "-e", environment)
    assert told.returncode != 0
    assert f"not found in configuration file:\n{environment}" in told.stdout


@pytest.mark.parametrize("twice", ["vts-hal1.0-hal1.1", "cts-aosp-page", "vts-litert-onnx"])
def test_two_of_one_factor_are_an_error(
    commands: Commands, twice: str, capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    ((_, *words),) = commands(twice)
    try:
        code: object = main(words)
    except SystemExit as leaving:
        code = leaving.code
    assert code == 2
    assert "expected one value, found" in capsys.readouterr().err


def test_a_cell_runs(commands: Commands, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    ((_, *words),) = commands("vts-cts-hal1.1-aosp-real-messages", "-k", "ping or lifecycle.grant", "-q")
    assert main(words) == 0


def test_the_matrix_has_every_version_and_every_combination_of_profile_clock_and_transport(commands: Commands) -> None:
    cells = [dict(_factors(words)) for words in commands("matrix")]
    assert [cell["--hal"] for cell in cells] == ["1.0", "1.1", "1.2", "1.3", "fl5", "fl6", "fl7", "fl8"]
    ways = itertools.product(("page", "aosp"), ("virtual", "real"), (False, True))
    assert {(cell["npu_profile"], cell["clock"], cell["--transport"] == "message") for cell in cells} == set(ways)


def _factors(words: list[str]) -> Iterator[tuple[str, str]]:
    for flag, value in itertools.pairwise(words):
        if flag in ("--hal", "--transport"):
            yield flag, value
        elif flag == "--plugin-option":
            name, _, setting = value.partition("=")
            yield name, setting


def test_continuous_integration_runs_what_the_environments_of_its_parts_run(commands: Commands) -> None:
    assert re.search(r"tox run -e ci$", (ROOT / ".ci" / "run").read_text(), re.MULTILINE)
    parts = ("lint", "types", "reference", "matrix")
    assert commands("ci") == commands(",".join(parts))


def test_the_template_runs_in_its_own_folder(
    commands: Commands, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = shutil.copytree(TEMPLATE, tmp_path / "repository", ignore=shutil.ignore_patterns("__pycache__", ".tox"))
    listed = tox("list", "-d", "-c", str(folder), "--no-desc", "--workdir", str(tmp_path / "tox"))
    assert listed.stdout.split() == ["matrix"]
    names = ["check", *(f"vts-hal{hal}-{way}" for hal in ("1.0", "1.1") for way in ("paths", "messages"))]
    assert commands("matrix", folder=folder) == commands(",".join(names), folder=folder)
    assert commands("matrix", "-q", folder=folder)[1][-1] == "-q"
    monkeypatch.chdir(folder)
    ((_, *words),) = commands("check", folder=folder)
    assert main(words) == 1
    assert "grade C: the first calls pass, but no work was seen" in capsys.readouterr().out
    for name in names[1:]:
        ((_, *words),) = commands(name, "-k", "vts.queries", "-q", folder=folder)
        assert main(words) == 0
        assert f"HAL {name[7:10]}" in capsys.readouterr().out
