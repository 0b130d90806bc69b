"""Options of a session: as words for a command line, and as what a subject is opened with."""

from __future__ import annotations

from pathlib import Path

import pytest
from places import HOSTILE

from npu_conformance.harness.run.session import Session
from npu_conformance.harness.run.session_options import SessionOptions, open_by_options
from npu_conformance.harness.subject.plugin_loading import LoadError
from npu_conformance.harness.subject.plugin_options import parse_options
from npu_conformance.specs.documents import DocumentError


@pytest.fixture(autouse=True)
def _plug_ins_can_be_imported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(HOSTILE))


def test_the_words_that_name_a_plug_in_are_safe_in_a_shell() -> None:
    assert SessionOptions("reference").plugin_words == "--plugin reference"
    options = SessionOptions(
        "exec:./driver -v", ("speed=very fast",), hal="1.2", isolation="inprocess", transports=("message",)
    )
    assert options.plugin_words == (
        "--plugin 'exec:./driver -v' --plugin-option 'speed=very fast' --hal 1.2 --isolation inprocess "
        "--transport message"
    )


def test_options_are_names_and_values() -> None:
    assert parse_options(["a=1", "b=x=y", "c="]) == {"a": "1", "b": "x=y", "c": ""}
    for bad in ("a", "=1"):
        with pytest.raises(DocumentError, match="expected NAME=VALUE"):
            parse_options([bad])


@pytest.mark.parametrize("isolation", ["process", "inprocess"])
def test_an_option_the_plug_in_does_not_have(isolation: str) -> None:
    options = SessionOptions("vendor_plugins:first_day", ("sped=1",), isolation=isolation)  # type: ignore[arg-type]
    with pytest.raises(LoadError, match="has no option 'sped'; it has speed"):
        open_by_options(options)


def test_the_default_folder_is_in_that_of_the_plug_in(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    session = Session(SessionOptions("vendor_plugins:first_day", isolation="inprocess"))
    assert session.folder is None
    session.open_report([])
    home = Path(".npu-conformance/first-day")
    assert session.folder is not None
    assert (session.folder.parent, session.folder.name.endswith("Z-1.0")) == (home, True)
    assert (home / "latest").resolve() == session.folder.resolve()
    session.close()
    session.close()


def test_what_cannot_be_compared_with_leaves_no_run_behind(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    session = Session(SessionOptions("vendor_plugins:first_day", isolation="inprocess", beside="nowhere:nothing"))
    with pytest.raises(LoadError, match="nowhere"):
        session.start([])
    session.close()
    assert not (tmp_path / ".npu-conformance").exists()
