"""Help with examples that can be typed, and completion for shells."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
from pathlib import Path

import patience
import pytest
from places import ROOT

from npu_conformance.cli.examples import EXAMPLES
from npu_conformance.cli.main import main
from npu_conformance.cli.parser import COMMANDS, parser_of

_RUNNABLE = ("plugins", "list", "requirements", "vectors show", "schemas manifest", "catalogue", "completion")


def commands_in(line: str) -> list[str]:
    """The words behind `npu-conformance` in an example, without what the shell does with its output."""
    _, _, command = line.strip().partition("npu-conformance ")
    return shlex.split(command.split(" > ")[0].removesuffix(')"'))


ALL = [line for lines in EXAMPLES.values() for line in lines if "COMMAND" not in line]


def test_every_command_has_examples() -> None:
    assert list(EXAMPLES) == ["", *COMMANDS]
    assert all(EXAMPLES.values())


@pytest.mark.parametrize("line", ALL)
def test_an_example_is_a_command_line(line: str) -> None:
    words = commands_in(line)
    assert parser_of((words[0],)).parse_args(words).execute


@pytest.mark.parametrize("line", [line for line in ALL if line.partition("npu-conformance ")[2].startswith(_RUNNABLE)])
def test_an_example_without_a_driver_runs(
    line: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(ROOT)
    assert main(commands_in(line)) == 0
    assert capsys.readouterr().out


@pytest.mark.parametrize("command", ["", *COMMANDS])
def test_help_ends_with_the_examples(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as leaving:
        main([*command.split(), "--help"])
    assert leaving.value.code == 0
    shown = capsys.readouterr().out.partition("examples:\n")[2]
    assert [line[2:] for line in shown.splitlines() if line.startswith("  ")] == list(EXAMPLES[command])


def script(shell: str, capsys: pytest.CaptureFixture[str]) -> str:
    """What the command prints for a shell."""
    assert main(["completion", shell]) == 0
    return capsys.readouterr().out


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_script_knows_every_command_and_its_options(shell: str, capsys: pytest.CaptureFixture[str]) -> None:
    text = script(shell, capsys)
    assert not [name for name in COMMANDS if not re.search(rf"\b{name}\b", text)]
    assert "descriptor" in text, "choices of an option"
    assert re.search(r"-l once\b" if shell == "fish" else r"--once\b", text), "an option of npu top"
    assert "SUPPRESS" not in text
    assert not re.search(r"(--|-l )inherited\b", text), "an option for the suite's own use"


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_shell_can_read_its_script(shell: str, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    program = shutil.which(shell)
    if program is None:
        pytest.skip(f"no {shell} on this machine")
    (tmp_path / "script").write_text(script(shell, capsys))
    subprocess.run([program, "-n", tmp_path / "script"], check=True, timeout=patience.SECONDS)


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("npu-conformance re", "replay report requirements"),
        ("npu-conformance run --plugin-", "--plugin-option"),
        ("npu-conformance run --scope ", "smoke default full"),
        ("npu-conformance npu si", "simulate"),
    ],
)
def test_bash_completes(line: str, expected: str, capsys: pytest.CaptureFixture[str]) -> None:
    bash = shutil.which("bash")
    if bash is None:
        pytest.skip("no bash on this machine")
    words = line.split(" ")
    asked = f"COMP_WORDS=({shlex.join(words)}); COMP_CWORD={len(words) - 1}; _npu-conformance; echo ${{COMPREPLY[*]}}"
    text = f"{script('bash', capsys)}\n{asked}"
    done = subprocess.run([bash, "-c", text], capture_output=True, text=True, check=True, timeout=patience.SECONDS)
    assert done.stdout.strip() == expected
