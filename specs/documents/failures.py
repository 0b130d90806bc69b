"""A failure file: one red case with all that is needed to run it again, elsewhere and later."""

from __future__ import annotations

from typing import Any, Literal

from npu_conformance.specs.documents import Document
from npu_conformance.specs.documents.results import CaseResult, Digests, Format
from npu_conformance.specs.manifest import Manifest
from npu_conformance.specs.versions import Version


class FailureFile(Document, frozen=True, kw_only=True):
    """What failed, how, and how to run it again.

    result: verdict, what was expected and found, the seed of the case; of its configurations only the red ones, which
    `configurations` names (none where the case failed outside of any). payload: what the area's `case_from` makes the
    case of (a vector, or a model with its request), without stored vectors; null for a behaviour case, which its id and
    seed determine.
    """

    format: Format
    case: str
    description: str
    requirements: tuple[str, ...]
    configurations: tuple[str, ...]
    scope: Literal["smoke", "default", "full"]
    hal_version: Version
    result: CaseResult
    manifest: Manifest
    suite_version: str
    digests: Digests
    payload: Any = None
