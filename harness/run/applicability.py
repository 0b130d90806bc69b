"""Which cases apply to a subject at all: its version and its interfaces decide."""

from __future__ import annotations

import re
from collections.abc import Mapping

from npu_conformance.harness.run.cases import Case
from npu_conformance.specs.manifest import InterfaceName, Manifest
from npu_conformance.specs.versions import Version

_OTHER_VERSION = re.compile(r"(since|until) \S+, the subject is \S+|the subject has AOSP's profile, .*")
"""What cases say that are about another version of the interface than the subject has."""


_OF_SUITES: Mapping[str, InterfaceName] = {"vts": "device", "cts": "runtime", "fuzz": "device", "mlts": "device"}
_OF_AREAS: Mapping[str, InterfaceName] = {
    "vts.npu_scheduling": "scheduling",
    "cts.npu_manager": "manager",
    "cts.npu_buffers": "manager",
    "fuzz.manager": "manager",
    "fuzz.runtime": "runtime",
    "fuzz.scheduling": "scheduling",
    "mlts.npu_apps": "manager",
}
"""The interface that the cases of an area are about, where it is not that of its suite."""


def may_apply(case_id: str, manifest: Manifest) -> bool:
    """False for a case, known by its id alone, of an interface that the subject has not."""
    suite, area, *_ = case_id.split(".")
    return _OF_AREAS.get(f"{suite}.{area}", _OF_SUITES[suite]) in manifest.interfaces


def inapplicable(case: Case, manifest: Manifest, version: Version) -> str:
    """Say why a case does not apply to a subject tested as `version`; empty where it does."""
    if case.interface not in manifest.interfaces:
        return f"the subject has no {case.interface} interface"
    if case.interface == "runtime":
        version = manifest.feature_level
    if version < case.since:
        return f"since {case.since}, the subject is {version}"
    if version > case.until:
        return f"until {case.until}, the subject is {version}"
    return ""


def is_about_another_version(reason: str) -> bool:
    """True where a case does not apply as it is about another version: nothing of the subject is left unasked."""
    return _OTHER_VERSION.fullmatch(reason) is not None
