"""What a run is asked for, as on a command line, and the subject that it names."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import msgspec

from npu_conformance.harness.run.folders import KEPT
from npu_conformance.harness.subject import patience
from npu_conformance.harness.subject.inference_tool import given_tool
from npu_conformance.harness.subject.loading import (
    Handling,
    Isolation,
    LoadError,
    Starting,
    open_subject,
    start_subject,
)
from npu_conformance.harness.subject.plugin_options import parse_options, require_instances, require_options
from npu_conformance.harness.subject.reset import given_reset
from npu_conformance.harness.systems import raise_limit_of_open_files
from npu_conformance.specs import versions
from npu_conformance.specs.diagnostics import shell
from npu_conformance.specs.documents import DocumentError

if TYPE_CHECKING:
    from npu_conformance.harness.subject.handle import SubjectHandle

TRANSPORTS = ("path", "descriptor", "message")


class SessionOptions(msgspec.Struct, frozen=True):
    """What a run needs to know, as on a command line.

    longest_wait: seconds that no wait for the plug-in exceeds. patience: how many times as long as its manifest says
    the plug-in may take. time_scale: how many times as long as usual stress cases
    work. beside: a second implementation, which figures are compared with. report: empty for a new folder by time, None
    for no report. keep: how many reports are kept. part_of: the report folder of the whole run, where this one is a
    shard of it: failure files go there, and no pages are made. at_once: how many processes test it side by side.
    """

    plugin: str
    plugin_options: tuple[str, ...] = ()
    hal: str | None = None
    isolation: Isolation = "process"
    transports: tuple[str, ...] = ()
    inference_tool: str | None = None
    inference_tool_uid: int | None = None
    reset_command: str | None = None
    reset_seconds: float | None = None
    longest_wait: float | None = None
    patience: float = 1.0
    beside: str | None = None
    beside_options: tuple[str, ...] = ()
    scope: str = "default"
    time_scale: float = 1.0
    waivers: tuple[str, ...] = ()
    baseline: str | None = None
    require_conformant: bool = False
    vectors: tuple[str, ...] = ()
    catalogues: tuple[str, ...] = ()
    report: str | None = ""
    keep: int = KEPT
    part_of: str | None = None
    at_once: int = 1
    seed: int = 0
    shuffle: bool = False
    resume: bool = False
    seconds: float | None = None
    stop_after: int | None = None

    @property
    def plugin_words(self) -> str:
        """The options that name the plug-in, for a command line."""
        return shell.joined(self.plugin_arguments)

    @property
    def plugin_arguments(self) -> list[str]:
        """The options that name the plug-in, word by word."""
        words = ["--plugin", self.plugin]
        for option in self.plugin_options:
            words += ["--plugin-option", option]
        if self.hal:
            words += ["--hal", self.hal]
        if self.isolation != "process":
            words += ["--isolation", self.isolation]
        for transport in self.transports:
            words += ["--transport", transport]
        words += [*self._tool_words, *self._reset_words, *self._wait_words, *self._beside_words]
        for folder in self.catalogues:
            words += ["--catalogue", folder]
        return words

    @property
    def _tool_words(self) -> list[str]:
        """The options that name the inference tool."""
        command = [] if self.inference_tool is None else ["--inference-tool", self.inference_tool]
        uid = [] if self.inference_tool_uid is None else ["--inference-tool-uid", str(self.inference_tool_uid)]
        return [*command, *uid]

    @property
    def _reset_words(self) -> list[str]:
        """The options that bring the device back."""
        command = [] if self.reset_command is None else ["--reset-command", self.reset_command]
        seconds = [] if self.reset_seconds is None else ["--reset-seconds", f"{self.reset_seconds:g}"]
        return [*command, *seconds]

    @property
    def _wait_words(self) -> list[str]:
        """The options that limit all waits and stretch them."""
        limit = [] if self.longest_wait is None else [patience.OPTION, f"{self.longest_wait:g}"]
        return limit + ([] if self.patience == 1 else [patience.FACTOR_OPTION, f"{self.patience:g}"])

    @property
    def _beside_words(self) -> list[str]:
        """The options that name the implementation to compare with."""
        named = [word for option in self.beside_options for word in ("--beside-option", option)]
        return [] if self.beside is None else ["--beside", self.beside, *named]


def open_beside(options: SessionOptions) -> SubjectHandle | None:
    """Open the implementation to compare with, as its own HAL version; None without one. LoadError, DocumentError."""
    if options.beside is None:
        return None
    named = parse_options(options.beside_options)
    handling = Handling(longest_wait=options.longest_wait, patience=options.patience)
    beside = open_subject(options.beside, named, transports=TRANSPORTS, handling=handling)
    try:
        require_options(beside.manifest, options.beside, named)
    except LoadError:
        beside.close()
        raise
    return beside


def start_by_options(options: SessionOptions) -> Starting:
    """Start the subject that a command line names. Raises LoadError and DocumentError."""
    if lack := raise_limit_of_open_files():
        raise LoadError(lack)
    _require_sense(options)
    patience.require_sensible(options.longest_wait, options.patience)
    named = parse_options(options.plugin_options)
    version = None
    if options.hal:
        try:
            version = versions.parse(options.hal)
        except ValueError as error:
            raise DocumentError("--hal", "", str(error)) from None
        # A plug-in that can serve several versions has an option of that name; others ignore it.
        named.setdefault("hal", version.value)
    return start_subject(
        options.plugin,
        named,
        options.isolation,
        options.transports or TRANSPORTS,
        version,
        Handling(
            longest_wait=options.longest_wait,
            patience=options.patience,
            inference_tool=given_tool(options.inference_tool, options.inference_tool_uid),
            reset=given_reset(options.reset_command, options.reset_seconds),
        ),
    )


def _require_sense(options: SessionOptions) -> None:
    """Raise DocumentError for an option that would do nothing, by itself or beside the others."""
    if not 0 < options.time_scale < math.inf:
        raise DocumentError("--time-scale", "", f"expected a positive number, found {options.time_scale:g}")
    if options.beside_options and options.beside is None:
        raise DocumentError("--beside-option", "", "goes with --beside")
    if options.shuffle and options.seconds is not None:
        raise DocumentError("--shuffle", "", "cannot go with --budget, which runs the most worthwhile cases first")


def open_by_options(options: SessionOptions, starting: Starting | None = None) -> SubjectHandle:
    """Open the subject that a command line names.

    Raises LoadError, also for an option that the plug-in does not have and for more processes than it can be used by at
    once; DocumentError for a claim about nothing.

    starting: where it has been started already.
    """
    subject = (starting or start_by_options(options)).open()
    from npu_conformance.harness.judge import claims

    try:
        require_options(subject.manifest, options.plugin, parse_options(options.plugin_options))
        require_instances(subject.manifest, options.plugin, options.at_once)
        claims.check_names(subject.manifest)
    except (LoadError, DocumentError):
        subject.close()
        raise
    return subject
