"""Cached files that somebody has changed: never a wrong result, never the end of the runtime."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from npu_conformance.cts.lib.runtime.cache_folder import CacheFolder
from npu_conformance.cts.lib.runtime.net_app import Options
from npu_conformance.cts.lib.runtime.nets import chain
from npu_conformance.cts.lib.runtime.scripted_app import ScriptedApp
from npu_conformance.cts.lib.runtime.scripts import FAST, driver
from npu_conformance.harness.run.cases import CaseGroup
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.specs.neuralnetworks.types import NumberOfCacheFiles
from npu_conformance.specs.versions import Version

cases = CaseGroup("cts.caching.damage", interface="runtime", since=Version.V1_2)

_FILES = NumberOfCacheFiles(1, 1)


def _flip(file: Path) -> None:
    content = file.read_bytes() or b"\0"
    middle = len(content) // 2
    file.write_bytes(content[:middle] + bytes([content[middle] ^ 0x40]) + content[middle + 1 :])


_CHANGES: dict[str, Callable[[Path], None]] = {
    "flipped": _flip,
    "truncated": lambda file: _write(file, file.read_bytes()[: file.stat().st_size // 2]),
    "emptied": lambda file: _write(file, b""),
    "extended": lambda file: _write(file, file.read_bytes() + b"more"),
    "zeroed": lambda file: _write(file, bytes(file.stat().st_size)),
}


def _write(file: Path, content: bytes) -> None:
    file.write_bytes(content)


def _declare(name: str, change: Callable[[Path], None]) -> None:
    @cases.case(name, "FW-CAC-006", "FW-CAC-003")
    def changed(context: CaseContext) -> None:
        """A compilation for a driver over files that have changed succeeds, and computes rightly."""
        app, net = ScriptedApp(context, driver("one", exec_time=FAST, cache_files=_FILES)), chain("ADD", "MUL")
        folder = CacheFolder(context)
        options = Options(cache=(folder.argument, bytes(32)))
        app.compiled(net, "one", options=options)
        for place in range(len(folder.files())):
            change(folder.files()[place])
            app.computes_rightly(app.compiled(net, "one", options=options))


for _name, _change in _CHANGES.items():
    _declare(_name, _change)


@cases.case("exchanged", "FW-CAC-006", "FW-CAC-004")
def exchanged(context: CaseContext) -> None:
    """Files of another model under another token are not taken for this one's."""
    app, folder = ScriptedApp(context, driver("one", exec_time=FAST, cache_files=_FILES)), CacheFolder(context)
    nets = {bytes(32): chain("ADD"), b"\x01" * 32: chain("MUL")}
    for token, net in nets.items():
        app.compiled(net, "one", options=Options(cache=(folder.argument, token)))
    files = folder.files()
    half = len(files) // 2
    contents = [file.read_bytes() for file in files]
    for file, content in zip(files, contents[half:] + contents[:half], strict=True):
        file.write_bytes(content)
    for token, net in nets.items():
        app.computes_rightly(app.compiled(net, "one", options=Options(cache=(folder.argument, token))))
