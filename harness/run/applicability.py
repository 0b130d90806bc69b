"""Which cases apply to a subject at all: its version and its interfaces decide."""

from __future__ import annotations

from npu_conformance.harness.run.cases import Case
from npu_conformance.specs.manifest import Manifest
from npu_conformance.specs.versions import Version


def inapplicable(case: Case, manifest: Manifest, version: Version) -> str:
    """Say why a case does not apply to a subject tested as `version`; empty where it does."""
    if case.interface not in manifest.interfaces:
        return f"the subject has no {case.interface} interface"
    if version < case.since:
        return f"since {case.since}, the subject is {version}"
    if version > case.until:
        return f"until {case.until}, the subject is {version}"
    return ""
