"""Manifest and factory of a library's plug-in.

Importing this module imports cffi, so that it is there before hosts are forked; the library is loaded in them alone.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping

from npu_conformance.adapters.nnapi_c.library import Library
from npu_conformance.adapters.nnapi_c.probe import probe
from npu_conformance.adapters.nnapi_c.runtime import LibraryRuntime
from npu_conformance.adapters.runtime_device.device import RuntimeDevice
from npu_conformance.adapters.runtime_device.local_memory import LocalMemory
from npu_conformance.harness.subject.plugin_loading import LoadError
from npu_conformance.specs.manifest import Manifest
from npu_conformance.specs.plugin import Context, Plugin, Subject

_EXACT, _HANDLES = "exact_result_codes", "checks_handles"
_PROMISES = {
    _EXACT: "false where misuse fails with other codes than those of AOSP's runtime (default: true)",
    _HANDLES: "true where freed and foreign handles are refused: they are passed then (default: false)",
}
"""Options by which the library's user says what a manifest would, of which a library has none."""


def of_library(path: str) -> Plugin:
    """The plug-in of the library at a path."""
    path = os.path.abspath(path)

    def manifest(options: Mapping[str, str]) -> Manifest:
        return _manifest(path, options)

    def create(context: Context) -> Subject:
        memory = LocalMemory(context.memory)
        runtime = LibraryRuntime(Library(path), memory, context.descriptors)
        chosen = probe(path).chosen(path, context.options)
        name, version = None if chosen is None else chosen.name, probe(path).hal_version(chosen)
        return Subject(device=RuntimeDevice(runtime, name, version, memory, context.clock), runtime=runtime)

    return Plugin(manifest=manifest, create=create)


def _manifest(path: str, options: Mapping[str, str]) -> Manifest:
    found = probe(path)
    chosen = found.chosen(path, options)
    return Manifest(
        name=_name(path),
        vendor="unknown" if chosen is None else chosen.name,
        version=(chosen and chosen.version) or "unknown",
        interfaces=("device", "runtime"),
        hal_version=found.hal_version(chosen),
        feature_level=found.feature_level,
        options={**found.described_option, **_PROMISES},
        exact_result_codes=_promise(path, options, _EXACT, default=True),
        checks_handles=_promise(path, options, _HANDLES, default=False),
    )


def _promise(path: str, options: Mapping[str, str], name: str, *, default: bool) -> bool:
    words = {"true": True, "false": False}
    given = options.get(name)
    if given is not None and given not in words:
        raise LoadError(f"plug-in {path}: option {name}: expected true or false, found {given!r}")
    return default if given is None else words[given]


def _name(path: str) -> str:
    """A manifest's name from that of a file: `libneuralnetworks.so` -> `libneuralnetworks`."""
    stem = os.path.basename(path).partition(".so")[0].lower()
    return re.sub(r"[^a-z0-9_.-]", "_", stem).lstrip("_.-")[:64] or "library"
