"""A finding as a failure file: `npu-conformance replay` runs it like any other, in a process of its own."""

from __future__ import annotations

import msgspec

from npu_conformance.fuzz.lib.campaign.documents import Settings, Sighting, Start
from npu_conformance.fuzz.lib.findings import Kind
from npu_conformance.fuzz.lib.inputs import lines_of
from npu_conformance.harness.report.lines import replay_command
from npu_conformance.harness.run.digests import digests
from npu_conformance.harness.run.failures import REPLAY
from npu_conformance.harness.run.suites import find
from npu_conformance.specs.diagnostics import shell
from npu_conformance.specs.documents.failures import FailureFile
from npu_conformance.specs.documents.results import FORMAT, CaseResult
from npu_conformance.specs.outcomes import Outcome

_OUTCOMES: dict[Kind, Outcome] = {
    "crash": Outcome.CRASH,
    "hang": Outcome.HANG,
    "harness-defect": Outcome.SUITE_ERROR,
}


def case_of(fuzzer: str) -> str:
    """The case that runs one input of a fuzzer."""
    return f"fuzz.{fuzzer}.short.runs"


def replay_file(fuzzer: str, found: Sighting, start: Start, settings: Settings, path: str) -> bytes:
    """The content of the failure file of a finding. path: where it will be."""
    from npu_conformance import __version__

    case = find(case_of(fuzzer))
    notes = {
        "finding": found.signature,
        REPLAY: replay_command(path, _plugin_words(settings)),
    }
    result = CaseResult(
        case=case.id,
        outcome=_OUTCOMES.get(found.kind, Outcome.FAIL),
        message=found.message,
        requirements=tuple(case.requirements),
        notes={**notes},
    )
    document = FailureFile(
        format=FORMAT,
        case=case.id,
        description=case.description,
        requirements=tuple(case.requirements),
        configurations=(),
        scope="default",
        hal_version=start.hal_version,
        result=result,
        manifest=start.manifest,
        suite_version=__version__,
        digests=digests(start.manifest, start.hal_version, settings.options),
        payload=lines_of(found.data),
    )
    return msgspec.json.format(msgspec.json.encode(document), indent=1) + b"\n"


def _plugin_words(settings: Settings) -> str:
    words = ["--plugin", settings.plugin]
    for name, value in settings.options.items():
        words += ["--plugin-option", f"{name}={value}"]
    words += ["--hal", settings.hal] if settings.hal else []
    words += ["--beside", settings.beside] if settings.beside else []
    return shell.joined(words)
