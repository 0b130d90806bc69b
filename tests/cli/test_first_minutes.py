"""What a vendor types first: the package is only in the current folder, a driver does not speak yet."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import patience
import pytest
import warm_python
from places import ROOT

from npu_conformance.harness.judge.verdicts import Crashed, Failed, Hung
from npu_conformance.harness.subject.first_words import HINT, PATIENCE_SECONDS, SilenceHint, hint_after

COMMAND = "import sys\nfrom npu_conformance.cli.main import main\nsys.exit(main())\n"
"""What pip writes for an entry point: a file in another folder, so that the current one is not on the path."""
PLUGIN = "my_package.driver:plugin"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The folder of a vendor's package, which holds the plug-in of README and is not installed."""
    (code,) = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)
    (tmp_path / "work" / "my_package").mkdir(parents=True)
    (tmp_path / "work" / "my_package" / "driver.py").write_text(code)
    (tmp_path / "npu-conformance").write_text(COMMAND)
    (tmp_path / "pytest").write_text("import sys\nimport pytest\nsys.exit(pytest.main())\n")
    return tmp_path / "work"


def started(folder: Path, program: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Start a program as from a shell in this folder."""
    words = [sys.executable, str(folder.parent / program), *arguments]
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src"), "PYTHONSAFEPATH": ""}
    return subprocess.run(
        words, cwd=folder, env=environment, capture_output=True, text=True, timeout=patience.SECONDS, check=False
    )


@pytest.mark.parametrize(
    "words", [("check", PLUGIN), ("check", PLUGIN, "--isolation", "inprocess"), ("run", "vts.queries", "--plugin")]
)
def test_a_package_of_the_current_folder_is_found(folder: Path, words: tuple[str, ...]) -> None:
    words = (*words, PLUGIN) if words[-1] == "--plugin" else words
    finished = started(folder, "npu-conformance", *words)
    assert finished.returncode in (0, 1), finished.stderr
    assert finished.stdout.startswith("my-driver 0.1")


def test_pytest_finds_it_too(folder: Path) -> None:
    words = ("-p", "no:cacheprovider", "-q", "-k", "ping")
    finished = started(folder, "pytest", *words, "--pyargs", "npu_conformance.vts", f"--npu-plugin={PLUGIN}")
    assert finished.returncode == 0, finished.stdout + finished.stderr
    assert "1 passed" in finished.stdout


@pytest.mark.parametrize(
    "words",
    [
        ("check", PLUGIN),
        ("run", "vts.queries", "--plugin", PLUGIN, "-n", "2"),
        ("run", "vts.queries", "--plugin", PLUGIN, "--isolation", "inprocess"),
        ("mlts", "stress", "--plugin", PLUGIN),
        ("fuzz", "documents", "--plugin", PLUGIN, "--runs", "1"),
    ],
)
def test_files_of_a_package_that_are_called_as_pythons_own_do_not_stand_for_them(
    folder: Path, words: tuple[str, ...]
) -> None:
    for name in ("fractions", "numbers", "queue", "selectors", "statistics"):
        (folder / f"{name}.py").write_text("raise RuntimeError('a file of the vendor')\n")
    finished = started(folder, "npu-conformance", *words)
    assert "a file of the vendor" not in finished.stdout + finished.stderr
    assert finished.returncode in (0, 1), finished.stderr


def test_what_a_driver_does_not_have_yet_is_no_finding(folder: Path) -> None:
    finished = started(folder, "npu-conformance", "run", "fuzz.models", "--plugin", PLUGIN, "-q")
    assert (finished.returncode, "mostly since Device.prepareModel is not implemented" in finished.stdout) == (0, True)


def test_the_command_is_also_a_module(folder: Path) -> None:
    words = [sys.executable, "-m", "npu_conformance", "check", "my_package.drver:plugin"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    finished = subprocess.run(words, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    assert finished.returncode == 2
    assert finished.stderr.endswith("plug-in my_package.drver:plugin: no module named my_package.drver\n")


def test_a_silent_driver_is_told_of_after_two_seconds_and_once(capsys: pytest.CaptureFixture[str]) -> None:
    now = [100.0]
    hint = SilenceHint("exec:./mute", lambda: now[0])
    now[0] += PATIENCE_SECONDS - 0.1
    hint()
    assert capsys.readouterr().err == ""
    now[0] += 0.1
    hint()
    hint()
    assert capsys.readouterr().err == f"exec:./mute has not answered for 2 s: {HINT}\n"


def test_a_driver_that_writes_to_stdout_gets_the_hint_while_the_harness_waits(folder: Path) -> None:
    os.mkfifo(folder / "end")
    mute = f"sh -c 'echo 1; read line < {folder}/end'"
    checking = warm_python.start("-m", "npu_conformance", "check", f"exec:{mute}", cwd=folder)
    waiting = checking.stderr.readline()
    end = os.open(folder / "end", os.O_RDWR)  # does not wait for a reader, whatever has become of it
    os.write(end, b"now\n")
    ended = checking.communicate()[1]
    os.close(end)
    assert waiting.endswith(f"has not answered for 2 s: {HINT}\n")
    assert ended.endswith(f"initialize: the host process exited with status 0; {HINT}\n")
    assert ended.count("\n") == 1
    assert checking.wait() == 2


def test_the_hint_is_for_silence_only() -> None:
    assert HINT in hint_after("exec:x", Hung("no answer"))
    assert HINT in hint_after("exec:x", Crashed("exited with status 0"))
    assert hint_after("exec:x", Crashed("killed by SIGSEGV", 11)) == ""
    assert hint_after("exec:x", Crashed("exited with status 3", stderr="no board at /dev/npu0\n")) == ""
    assert hint_after("exec:x", Failed("half a line")) == ""
    assert hint_after("my_package.driver:plugin", Hung("no answer")) == ""
