"""What a user hears of an engine that is not installed, and of one that is and does not work."""

from __future__ import annotations

from pathlib import Path

import pytest

from npu_conformance.adapters.engine_interface import EngineMissingError, module

HINT = "pip install npu-conformance[engine]"


@pytest.mark.parametrize(
    ("name", "content", "told"),
    [
        ("engine_of_nobody", None, HINT),
        ("engine_of_nobody.part", None, HINT),
        ("engine_that_needs", "import what_nobody_has", "engine_that_needs: No module named 'what_nobody_has'"),
        ("engine_too_old", "raise ImportError('multiarray failed')", "engine_too_old: multiarray failed"),
    ],
)
def test_the_hint_is_for_who_has_not_installed_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, content: str | None, told: str
) -> None:
    if content is not None:
        (tmp_path / f"{name}.py").write_text(content)
    monkeypatch.syspath_prepend(str(tmp_path))
    with pytest.raises(EngineMissingError) as refused:
        module(name, HINT)
    assert str(refused.value) == told
