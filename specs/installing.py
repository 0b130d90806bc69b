"""How an extra of the suite is installed: from where the suite itself came, which need not be an index."""

from __future__ import annotations

import json
from functools import cache

_NAME = "npu-conformance"


def pip_install(extra: str) -> str:
    """The command that installs an extra, for a message."""
    place = _place()
    return f'pip install "{_NAME}[{extra}]{f" @ {place}" if place else ""}"'


@cache
def _place() -> str:
    """The URL that pip has recorded where the suite was installed from a checkout or a file; empty from an index."""
    from importlib.metadata import PackageNotFoundError, distribution

    try:
        recorded = distribution(_NAME).read_text("direct_url.json")
        return str(json.loads(recorded)["url"]) if recorded else ""
    except (PackageNotFoundError, OSError, ValueError, KeyError, TypeError):  # a copy without a record of itself
        return ""
