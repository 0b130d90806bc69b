"""Opening a subject from what --plugin says."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping
from typing import Literal

import msgspec
from msgspec.structs import replace

from npu_conformance.harness.subject.command_words import no_command, words_of
from npu_conformance.harness.subject.endpoints import (
    USUAL,
    Endpoint,
    Handling,
    ListeningEndpoint,
    SpawnedEndpoint,
    StartOptions,
)
from npu_conformance.harness.subject.handle import SubjectHandle
from npu_conformance.harness.subject.patience import limited
from npu_conformance.harness.subject.plugin_loading import SHIM, LoadError, is_elsewhere, raised, read_key, shimmed
from npu_conformance.harness.subject.remote import RemoteSubject
from npu_conformance.harness.subject.shared_files import FileStore
from npu_conformance.harness.subject.zygote import Load
from npu_conformance.harness.wire.protocol import TRANSPORTS
from npu_conformance.specs.diagnostics.one_line import one_line
from npu_conformance.specs.documents import DocumentError
from npu_conformance.specs.errors import IllegalState
from npu_conformance.specs.versions import Version

__all__ = ["Handling", "Isolation", "LoadError", "Starting", "open_subject", "start_subject"]

Isolation = Literal["process", "inprocess"]


def require_text(spec: str, options: Mapping[str, str]) -> None:
    """Raise LoadError for words that the locale could not read: no document and no message could hold them."""
    for word in (spec, *options, *options.values()):
        try:
            word.encode()
        except UnicodeEncodeError:
            what = "its name" if word == spec else one_line(word)
            told = (
                f"plug-in {one_line(spec)}: {what} is no text in this locale's encoding, {sys.getfilesystemencoding()}"
            )
            raise LoadError(f"{told}: choose one with UTF-8, such as LC_ALL=C.UTF-8") from None


class Starting(msgspec.Struct, frozen=True):
    """A subject that is starting.

    open: wait for it and shake hands (LoadError); cancel: end it. Call one of them, once.
    """

    open: Callable[[], SubjectHandle]
    cancel: Callable[[], None]


def open_subject(
    spec: str,
    options: Mapping[str, str] | None = None,
    isolation: Isolation = "process",
    transports: tuple[str, ...] = TRANSPORTS,
    version: Version | None = None,
    handling: Handling = USUAL,
) -> SubjectHandle:
    """Start or reach the implementation that `spec` names, and shake hands.

    spec: an entry point, package.module:name, PATH.so, unix:PATH, tcp:HOST:PORT, exec:COMMAND, or stacked: or shim: and
    one of these. options: the plug-in's own; `key-file` belongs to unix: and tcp:. transports: those memory may travel
    by, preferred first. version: as which HAL version to test, None for the plug-in's own.
    Raises LoadError, one line that says what is wrong.
    """
    return start_subject(spec, options, isolation, transports, version, handling).open()


def start_subject(
    spec: str,
    options: Mapping[str, str] | None = None,
    isolation: Isolation = "process",
    transports: tuple[str, ...] = TRANSPORTS,
    version: Version | None = None,
    handling: Handling = USUAL,
) -> Starting:
    """As open_subject, but return at once: the plug-in's import goes on while the caller does something else."""
    unknown = [name for name in transports if name not in TRANSPORTS]
    if unknown or not transports:
        raise LoadError(f"memory transports: expected some of {', '.join(TRANSPORTS)}, found {unknown or 'none'}")
    chosen = dict(options or {})
    require_text(spec, chosen)
    if spec.startswith(SHIM):
        below = spec.removeprefix(SHIM)
        of_runtime = {name: value for name, value in chosen.items() if name != "device"}
        starting = start_subject(below, of_runtime, isolation, transports, handling=handling)
        return Starting(lambda: shimmed(starting.open(), below, chosen, version), starting.cancel)
    if isolation == "inprocess":
        return Starting(lambda: _open_in_process(spec, chosen, version, handling), lambda: None)
    start = StartOptions(transports, chosen, handling=handling)
    endpoint, start = _listening(spec, start) if spec.startswith(("unix:", "tcp:")) else _spawned(spec, start, version)
    if version is not None and not start.is_loaded_here:
        start = replace(start, options={"hal": version.value, **chosen})
    return Starting(lambda: RemoteSubject(endpoint, start, version), endpoint.close)


def _open_in_process(spec: str, options: dict[str, str], version: Version | None, handling: Handling) -> SubjectHandle:
    if is_elsewhere(spec):
        raise LoadError(f"{spec} is another process: it cannot run with isolation inprocess")
    from npu_conformance.harness.subject.inprocess import InProcessSubject

    try:
        subject = InProcessSubject(spec, options, version, handling.inference_tool)
    except LoadError:
        raise
    except IllegalState as error:
        raise LoadError(f"plug-in {spec}: {error}") from None
    except Exception as error:  # whatever the plug-in raises while it is made
        raise raised(spec, error) from None
    subject.manifest = limited(subject.manifest, handling.longest_wait, handling.patience)
    return subject


def _listening(spec: str, start: StartOptions) -> tuple[Endpoint, StartOptions]:
    key_file = start.options.pop("key-file", None)
    key = read_key(key_file) if key_file else None
    return ListeningEndpoint(spec, FileStore()), replace(start, key=key)


def _spawned(spec: str, start: StartOptions, version: Version | None) -> tuple[Endpoint, StartOptions]:
    command = _command(spec) if spec.startswith("exec:") else ()
    store = FileStore()
    wanted = version.value if version else None
    load = Load(spec, command, start.options, wanted, store.directory, tuple(map(os.fsencode, sys.path)))
    # A Python plug-in gets its options with Load, before it makes its manifest; a command gets them in the handshake.
    try:
        endpoint = SpawnedEndpoint(spec, load, store)
    except LoadError:
        store.close()
        raise
    return endpoint, start if command else replace(start, options={}, is_loaded_here=True)


def _command(spec: str) -> tuple[str, ...]:
    try:
        command = words_of(f"plug-in {spec}", spec.removeprefix("exec:"))
    except DocumentError as error:
        raise LoadError(str(error)) from None
    if problem := no_command(command[0]):
        raise LoadError(f"plug-in {spec}: {problem}")
    return command
