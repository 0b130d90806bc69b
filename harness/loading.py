"""Opening a subject from what --plugin says."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import replace
from typing import Literal, cast

from npu_conformance.harness.endpoints import Endpoint, ListeningEndpoint, SpawnedEndpoint, StartOptions
from npu_conformance.harness.plugin_loading import LoadError
from npu_conformance.harness.pools import FileStore
from npu_conformance.harness.subject import RemoteSubject, SubjectHandle
from npu_conformance.harness.wire.protocol import TRANSPORTS
from npu_conformance.harness.zygote import Load
from npu_conformance.specs.manifest import Deadlines
from npu_conformance.specs.versions import Version

__all__ = ["LoadError", "open_subject"]

Isolation = Literal["process", "inprocess"]


def open_subject(
    spec: str,
    options: Mapping[str, str] | None = None,
    isolation: Isolation = "process",
    transports: tuple[str, ...] = TRANSPORTS,
    version: Version | None = None,
    start_seconds: float = Deadlines().start,
) -> SubjectHandle:
    """Start or reach the implementation that `spec` names, and shake hands.

    spec: an entry point, package.module:name, unix:PATH, tcp:HOST:PORT or exec:COMMAND. options: the plug-in's own;
    `key-file` belongs to unix: and tcp:. transports: those memory may travel by, the preferred first. version: as which
    HAL version to test, null for the plug-in's own. start_seconds: how long it may
    take to come up. Raises LoadError, one line that says what is wrong.
    """
    unknown = [name for name in transports if name not in TRANSPORTS]
    if unknown or not transports:
        raise LoadError(f"memory transports: expected some of {', '.join(TRANSPORTS)}, found {unknown or 'none'}")
    chosen = dict(options or {})
    if isolation == "inprocess":
        return _open_in_process(spec, chosen, version)
    if spec.startswith(("unix:", "tcp:")):
        return _open_listening(spec, StartOptions(transports, chosen, start_seconds=start_seconds), version)
    return _open_spawned(spec, StartOptions(transports, chosen, start_seconds=start_seconds), version)


def _open_in_process(spec: str, options: dict[str, str], version: Version | None) -> SubjectHandle:
    if spec.startswith(("unix:", "tcp:", "exec:")):
        raise LoadError(f"{spec} is another process: it can not run with isolation inprocess")
    from npu_conformance.harness.inprocess import InProcessSubject

    return cast(SubjectHandle, InProcessSubject(spec, options, version))


def _open_listening(spec: str, start: StartOptions, version: Version | None) -> SubjectHandle:
    own = {name: value for name, value in start.options.items() if name != "key-file"}
    key = _read_key(start.options["key-file"]) if "key-file" in start.options else None
    return _open(ListeningEndpoint(spec, FileStore()), replace(start, options=own, key=key), version)


def _open_spawned(spec: str, start: StartOptions, version: Version | None) -> SubjectHandle:
    command = _command(spec) if spec.startswith("exec:") else ()
    store = FileStore()
    wanted = version.value if version else None
    load = Load(spec, command, start.options, wanted, store.directory, tuple(sys.path))
    # A Python plug-in gets its options with Load, before it makes its manifest; a command gets them in the handshake.
    return _open(SpawnedEndpoint(spec, load, store), start if command else replace(start, options={}), version)


def _open(endpoint: Endpoint, options: StartOptions, version: Version | None) -> SubjectHandle:
    return cast(SubjectHandle, RemoteSubject(endpoint, options, version))


def _command(spec: str) -> tuple[str, ...]:
    import shlex
    import shutil

    try:
        command = tuple(shlex.split(spec.removeprefix("exec:")))
    except ValueError as error:
        raise LoadError(f"plug-in {spec}: {error}") from None
    if not command:
        raise LoadError(f"plug-in {spec}: expected a command after exec:")
    if shutil.which(command[0]) is None:
        raise LoadError(f"plug-in {spec}: no command {command[0]}")
    return command


def _read_key(path: str) -> str:
    try:
        with open(path) as file:
            return file.read().strip()
    except OSError as error:
        raise LoadError(f"key file {path}: {error.strerror}") from None
