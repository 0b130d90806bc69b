"""Verbose logging by tag: NPU_VLOG names the tags, NPU_VLOG_FILE where lines go (default: standard error).

The tags are those of Android's debug.nn.vlog. Any implementation may log with them, not just the reference.
"""

from __future__ import annotations

import functools
import os
import sys
from collections.abc import Callable

TAGS = ("compilation", "cpuexe", "driver", "execution", "manager", "model")
"""compilation: what preparing a model finds. cpuexe: each operation computed. driver: calls at the HAL. execution:
requests and how they end. manager: decisions of the NPU Manager. model: models in full."""

_ALL = {"all", "1"}
VARIABLE, FILE_VARIABLE = "NPU_VLOG", "NPU_VLOG_FILE"


@functools.cache
def enabled_tags() -> frozenset[str]:
    """The tags that NPU_VLOG names, separated by spaces, commas or colons; `all` or `1` is all. Raises ValueError."""
    asked = os.environ.get(VARIABLE, "").replace(",", " ").replace(":", " ").split()
    unknown = sorted(set(asked) - {*TAGS, *_ALL})
    if unknown:
        raise ValueError(f"{VARIABLE}: no tag {unknown[0]!r}; there are {' '.join(TAGS)}, and all or 1")
    return frozenset(TAGS if _ALL & set(asked) else asked)


def log(tag: str, text: Callable[[], str]) -> None:
    """Write text under a tag, each of its lines marked; the text is only made where somebody asked for the tag."""
    if tag not in enabled_tags():
        return
    data = "".join(f"[{tag} {os.getpid()}] {line}\n" for line in text().splitlines())
    path = os.environ.get(FILE_VARIABLE)
    if path is None:
        print(data, end="", file=sys.stderr, flush=True)
        return
    # Processes share the file: what is appended in one write stays in one piece.
    with open(path, "ab", buffering=0) as file:
        file.write(data.encode())
