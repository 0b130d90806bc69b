"""What a user is told to install comes from where the suite came from."""

from __future__ import annotations

import importlib.metadata
from collections.abc import Iterator

import pytest

from npu_conformance.specs import installing


class Distribution:
    def __init__(self, recorded: str | None) -> None:
        self._recorded = recorded

    def read_text(self, name: str) -> str | None:
        return self._recorded


@pytest.fixture(autouse=True)
def anew() -> Iterator[None]:
    installing._place.cache_clear()
    yield
    installing._place.cache_clear()


@pytest.mark.parametrize(
    ("recorded", "told"),
    [
        ('{"url": "file:///some/checkout", "dir_info": {}}', '"npu-conformance[litert] @ file:///some/checkout"'),
        (None, '"npu-conformance[litert]"'),
        ("{", '"npu-conformance[litert]"'),
    ],
)
def test_an_extra_comes_from_where_the_suite_does(
    monkeypatch: pytest.MonkeyPatch, recorded: str | None, told: str
) -> None:
    monkeypatch.setattr(importlib.metadata, "distribution", lambda name: Distribution(recorded))
    assert installing.pip_install("litert") == f"pip install {told}"
