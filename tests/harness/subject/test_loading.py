"""What cannot be opened as a subject says why, in one line: its name, its file, its manifest, its transports."""

from __future__ import annotations

import os
import sys
from contextlib import closing
from pathlib import Path
from typing import cast

import pytest
from places import HOSTILE

from npu_conformance.harness.judge.verdicts import Failed
from npu_conformance.harness.subject.loading import Isolation, LoadError, open_subject
from npu_conformance.harness.subject.pools import MemoryLink, SharedPools
from npu_conformance.harness.subject.shared_files import FileStore
from npu_conformance.harness.subject.supervisor import Supervisor
from npu_conformance.harness.subject.zygote import Load

PLUGINS = HOSTILE


@pytest.fixture(autouse=True)
def plugin_path(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(PLUGINS))


@pytest.mark.parametrize(
    ("spec", "text"),
    [
        ("refrence", r"unknown plug-in 'refrence' \(did you mean reference\?\); known: .*litert, .*reference"),
        ("faulty_plugins:nothing", r"module faulty_plugins has no nothing"),
        ("faulty_plugins:eatr", r"did you mean eater"),
        ("faulty_plugins:number", r"is an int, not a npu_conformance\.specs\.plugin\.Plugin"),
        ("no_such_module:plugin", "no module named no_such_module"),
        ("./no_such_module:plugin", r"'\./no_such_module' is not the name of a module$"),
        (":plugin", "'' is not the name of a module"),
        (f"{sys.executable}", f"did you mean exec:{sys.executable}"),
        ("needs_missing:plugin", r"needs_missing\.py:3: No module named 'a_module_nobody_has'"),
        ("faulty_plugins:bad_manifest", r"manifest: Expected `float` > 0\.0.*time_scale"),
        (
            "faulty_plugins:does_not_start",
            r"raised RuntimeError at faulty_plugins.py:\d+ in _fail: no board",
        ),
        ("exec:", "expected a command, found none"),
        ("exec:'unclosed", "No closing quotation"),
        ("exec:/nowhere/driver --fast", "no command /nowhere/driver"),
        ("exec:true", r"initialize: the host process exited with status 0"),
        ("unix:/nowhere/socket", "cannot connect to unix:/nowhere/socket: No such file or directory"),
        ("tcp:127.0.0.1:1", "cannot connect to tcp:127.0.0.1:1: Connection refused"),
        ("tcp:nonsense", "cannot connect to tcp:nonsense"),
    ],
)
def test_what_can_not_be_loaded_says_why(spec: str, text: str) -> None:
    with pytest.raises(LoadError, match=text) as caught:
        open_subject(spec)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("isolation", ["process", "inprocess"])
def test_a_manifest_that_breaks_a_rule_is_refused_wherever_the_plug_in_lives(isolation: Isolation) -> None:
    words = (
        r"^plug-in faulty_plugins:wrong_manifest: manifest: \$\.interfaces\[0\]: .*'devise'.*; \$\.time_scale: Expected"
    )
    with pytest.raises(LoadError, match=words):
        open_subject("faulty_plugins:wrong_manifest", isolation=isolation)


def test_a_transport_that_the_manifest_does_not_name_is_wrong_use() -> None:
    words = r": transport message: its manifest has memory_transports descriptor alone$"
    with pytest.raises(LoadError, match=words):
        open_subject("faulty_plugins:descriptor_alone", transports=("message",))
    with closing(open_subject("faulty_plugins:descriptor_alone", transports=("message", "descriptor"))) as subject:
        assert subject.memory.transports == ("descriptor",)


def test_memory_that_no_transport_brings_breaks_the_protocol() -> None:
    with pytest.raises(Failed, match="memory cannot be shared") as caught:
        SharedPools(cast(MemoryLink, None), FileStore(), ()).create("ashmem", 4)
    assert caught.value.about == ("NNHAL-WIRE-001",)


@pytest.mark.parametrize("spec", ["my_package.driver", "my_package/driver.py", "./my_package/driver.py"])
def test_a_module_without_its_attribute_is_told_how_it_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, spec: str
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "my_package").mkdir()
    (tmp_path / "my_package" / "driver.py").touch()
    with pytest.raises(LoadError, match=r"\(did you mean my_package\.driver:plugin\?\); known"):
        open_subject(spec)


def test_a_file_of_another_folder_is_no_module(tmp_path: Path) -> None:
    (tmp_path / "driver.py").touch()
    with pytest.raises(LoadError, match=r"driver\.py'; known"):
        open_subject(str(tmp_path / "driver.py"))


@pytest.mark.parametrize(
    ("command", "why"),
    [
        ("./driver.c", "./driver.c is not executable"),
        ("driver", "no command driver (did you mean ./driver?)"),
        ("./none", "no command ./none"),
        (".", "no command ."),
    ],
)
def test_a_file_that_is_no_command_says_why(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: str, why: str
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "driver.c").touch(0o644)
    (tmp_path / "driver").touch(0o755)
    with pytest.raises(LoadError) as caught:
        open_subject(f"exec:{command}")
    assert str(caught.value) == f"plug-in exec:{command}: {why}"


def test_what_can_not_be_loaded_says_why_to_whoever_asks_late(tmp_path: Path) -> None:
    supervisor = Supervisor(Load("nonsense", (), {}, None, str(tmp_path), tuple(map(os.fsencode, sys.path))))
    try:
        os.waitid(os.P_PID, supervisor._pid, os.WEXITED | os.WNOWAIT)
        with pytest.raises(LoadError, match="unknown plug-in 'nonsense'"):
            supervisor.start()
    finally:
        supervisor.close()


def test_plugin_that_is_not_python(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "broken_syntax.py").write_text("plugin = (\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    with pytest.raises(LoadError, match=r"broken_syntax\.py:1: SyntaxError"):
        open_subject("broken_syntax:plugin")


def test_wrong_arguments() -> None:
    with pytest.raises(LoadError, match="another process"):
        open_subject("exec:true", isolation="inprocess")
    with pytest.raises(LoadError, match="expected some of path, descriptor, message"):
        open_subject("echo_plugin:plugin", transports=("pigeon",))


@pytest.mark.parametrize(
    ("spec", "options", "what"),
    [
        ("meintr\udcc3\udca4ger:plugin", {}, r"its name"),
        ("exec:tr\udcc3\udca4ger", {}, r"its name"),
        ("reference", {"f\udcc3": "x"}, r"f\\udcc3"),
        ("reference", {"fault": "\udcc3"}, r"\\udcc3"),
    ],
)
def test_words_that_the_locale_cannot_read_are_one_line(spec: str, options: dict[str, str], what: str) -> None:
    """What a command line has beyond ASCII, where LC_ALL is POSIX."""
    with pytest.raises(LoadError, match=rf"^plug-in .*: {what} is no text in this locale's encoding, .*: choose one"):
        open_subject(spec, options)


def test_a_folder_that_is_no_text_in_this_locale_can_be_on_the_path(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend("/nowhere/Pr\udcc3\udcbcf")
    subject = open_subject("reference")
    assert subject.alive()
    subject.close()
