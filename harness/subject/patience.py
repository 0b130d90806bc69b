"""How long the harness waits at most, where the user sets a limit to what manifests allow themselves."""

from __future__ import annotations

import math

from msgspec.structs import asdict, replace

from npu_conformance.specs.documents import DocumentError
from npu_conformance.specs.manifest import Deadlines, Manifest

OPTION = "--longest-wait"
_USUAL = max(asdict(Deadlines()).values())
"""Seconds of the longest deadline that a manifest has which says nothing."""


def limited(manifest: Manifest, seconds: float | None) -> Manifest:
    """Return the manifest with no deadline, times its time_scale, above a limit; None for no limit.

    What cases wait for besides, some seconds times time_scale, is stretched no more than the usual deadlines would be.
    """
    if seconds is None:
        return manifest
    scale = min(manifest.time_scale, max(1.0, seconds / _USUAL))
    longest = {
        name: min(each * manifest.time_scale, seconds) / scale for name, each in asdict(manifest.deadlines).items()
    }
    return replace(manifest, time_scale=scale, deadlines=Deadlines(**longest))


def require_positive(seconds: float | None) -> None:
    """Raise DocumentError for a limit that no wait could keep."""
    if seconds is not None and not 0 < seconds < math.inf:
        raise DocumentError(OPTION, "", f"expected a positive number of seconds, found {seconds:g}")
