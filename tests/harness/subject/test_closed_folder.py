"""A module in a folder that this user may not read is there all the same: the message says what keeps it away."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from npu_conformance.harness.subject.plugin_loading import LoadError, load_plugin


def test_a_folder_that_may_not_be_read_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = tmp_path / "closed_package"
    package.mkdir()
    (package / "__init__.py").touch()
    monkeypatch.syspath_prepend(str(tmp_path))
    may = os.access
    monkeypatch.setattr(os, "access", lambda path, mode: str(path) != str(package) and may(path, mode))
    with pytest.raises(LoadError) as caught:
        load_plugin("closed_package.driver:plugin")  # which Python does not find, for who may not list the folder
    sys.modules.pop("closed_package")
    told = f"no module named closed_package.driver: {package} may not be read by this user"
    assert str(caught.value) == f"plug-in closed_package.driver:plugin: {told}"
