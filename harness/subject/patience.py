"""How long the harness waits, where the user limits what manifests allow themselves, or has more patience than they."""

from __future__ import annotations

import math

from msgspec.structs import asdict, replace

from npu_conformance.specs.documents import DocumentError
from npu_conformance.specs.manifest import Deadlines, Manifest

OPTION, FACTOR_OPTION = "--longest-wait", "--patience"
_LARGEST_SCALE = 1000.0
"""The largest `time_scale` that a manifest may have."""
_USUAL = max(asdict(Deadlines()).values())
"""Seconds of the longest deadline that a manifest has which says nothing."""


def limited(manifest: Manifest, seconds: float | None, factor: float = 1.0) -> Manifest:
    """Return the manifest with no deadline, times its time_scale, above a limit; None for no limit.

    What cases wait for besides, some seconds times time_scale, is stretched no more than the usual deadlines would be.
    factor: by which all of it is stretched before, as where somebody steps through the driver in a debugger.
    """
    if factor != 1.0:
        manifest = replace(manifest, time_scale=min(_LARGEST_SCALE, manifest.time_scale * factor))
    if seconds is None:
        return manifest
    scale = min(manifest.time_scale, max(1.0, seconds / _USUAL))
    longest = {
        name: min(each * manifest.time_scale, seconds) / scale for name, each in asdict(manifest.deadlines).items()
    }
    return replace(manifest, time_scale=scale, deadlines=Deadlines(**longest))


def require_sensible(seconds: float | None, factor: float) -> None:
    """Raise DocumentError for a limit that no wait could keep, and for a factor that would shorten waits."""
    if seconds is not None and not 0 < seconds < math.inf:
        raise DocumentError(OPTION, "", f"expected a positive number of seconds, found {seconds:g}")
    if not 1 <= factor <= _LARGEST_SCALE:
        raise DocumentError(FACTOR_OPTION, "", f"expected a factor from 1 to {_LARGEST_SCALE:g}, found {factor:g}")
