"""A runtime without a device beside it: the reference's. Option `executing`: it dies when it executes."""

from __future__ import annotations

import os
import signal
from collections.abc import Mapping
from typing import Any

from msgspec.structs import replace

from npu_conformance.adapters import reference
from npu_conformance.reference.runtime.api import ReferenceRuntime
from npu_conformance.specs.manifest import Manifest
from npu_conformance.specs.plugin import Context, Plugin, Subject


def _manifest(options: Mapping[str, str]) -> Manifest:
    found = reference.plugin.describe(options)
    known = {**found.options, "executing": "dies"}
    return replace(found, name="only-runtime", interfaces=("runtime", "runtime_control"), options=known)


def _die(*arguments: Any) -> Any:
    os.kill(os.getpid(), signal.SIGSEGV)


def _create(context: Context) -> Subject:
    found = reference.plugin.create(context)
    assert isinstance(found.runtime, ReferenceRuntime)
    if "executing" in context.options:
        found.runtime.execution_compute = _die  # type: ignore[assignment, method-assign]
    return Subject(runtime=found.runtime, runtime_control=found.runtime_control)


plugin = Plugin(manifest=_manifest, create=_create)
