"""A legal call of a function of the API, prepared so far that only the call is missing."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from npu_conformance.cts.lib.runtime.fixture import RuntimeApp


def _nothing(answer: Any) -> None:
    """For calls behind which nothing is left to see."""


@dataclass(frozen=True)
class Scene:
    """arguments: of the legal call, by the names of the interface. rest: what has to work behind it, given its answer.

    A refused call before it must have had no effect: neither the legal call nor the rest may notice it. is_legal: False
    where the arguments only serve to be refused, and the rest follows at once.
    """

    arguments: dict[str, Any]
    rest: Callable[[Any], object] = _nothing
    is_legal: bool = True


MakeScene = Callable[[RuntimeApp], Scene]
