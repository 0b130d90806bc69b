"""A run in this process, of which the event file is read back."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from npu_conformance.harness.run.cases import Case
from npu_conformance.harness.run.engine import Engine, EngineOptions
from npu_conformance.harness.run.events import EventLog, Log, read_log


def logged(cases: list[Case], subject: Any, path: Path, **options: Any) -> Log:
    """What a run of these cases has recorded. options: of the engine."""
    sink = EventLog(path)
    Engine(cases, subject, sink, EngineOptions(**options)).run()
    sink.close()
    return read_log(path)
