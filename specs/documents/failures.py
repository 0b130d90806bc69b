"""A failure file: one red case with all that is needed to run it again, elsewhere and later."""

from __future__ import annotations

from typing import Any, Literal

from npu_conformance.specs.documents import Document
from npu_conformance.specs.documents.results import CaseResult, Digests, Format
from npu_conformance.specs.manifest import Manifest
from npu_conformance.specs.versions import Version

PROMOTED = ".finding.json"
"""How the file of a promoted finding ends: a failure file that is run as a case of its own."""


class LastCall(Document, frozen=True, omit_defaults=True):
    """A call of the last before a failure, as it crossed the wire.

    seconds: after the case began, negative where it came before. connection: 1 is the suite's first; each restart and
    each app has its own. object: whose method it is, by its number. arguments, answer: JSON, cut short with `...`;
    an answer that had not come says so, and a method without answers has an empty one.
    """

    seconds: float
    caller: Literal["suite", "driver"]
    method: str
    connection: int = 1
    object: int | None = None
    arguments: str = ""
    answer: str = ""


class Account(Document, frozen=True, omit_defaults=True):
    """What is known of the driver while a case ran.

    stdout, stderr: the end of what it printed, control characters escaped; empty where it is somebody else's process.
    calls: the last ones, up to a crash or a hang where it came to one.
    """

    stdout: str = ""
    stderr: str = ""
    calls: tuple[LastCall, ...] = ()


class FailureFile(Document, frozen=True, kw_only=True):
    """What failed, how, and how to run it again.

    result: verdict, what was expected and found, the seed of the case; of its configurations only the red ones, which
    `configurations` names (none where the case failed outside of any). driver: what it said and was asked meanwhile.
    payload: what the area's `case_from` makes the case of (a vector, or a model with its request), without stored
    vectors; null for a behaviour case, which its id and seed determine.
    """

    format: Format
    case: str
    description: str
    requirements: tuple[str, ...]
    configurations: tuple[str, ...]
    scope: Literal["smoke", "default", "full"]
    hal_version: Version
    result: CaseResult
    driver: Account = Account()
    manifest: Manifest
    suite_version: str
    digests: Digests
    payload: Any = None
