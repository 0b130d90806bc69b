"""Runs the command that brings a device back after a crash or a hang, where somebody whom the harness trusts names it.

A driver in a process of the harness's own is started anew. A board, a phone or a server elsewhere is not: a power
switch, `adb reboot`, a service manager brings it back, and this command knows how.
"""

from __future__ import annotations

import math
import tempfile
from typing import TYPE_CHECKING

import msgspec

from npu_conformance.harness.subject.command_words import no_command, words_of
from npu_conformance.harness.subject.plugin_loading import LoadError
from npu_conformance.harness.subject.process_group import end_group
from npu_conformance.specs.documents import DocumentError
from npu_conformance.specs.manifest import RESET_SECONDS, Manifest

if TYPE_CHECKING:
    import subprocess

OPTION = "--reset-command"
_SECONDS = f"{OPTION.removesuffix('command')}seconds"
_IGNORED = f"the manifest names a reset_command, which is not run for a driver on a socket: give it with {OPTION}"
"""Such a driver may be another user's, and the command runs as our user."""


class Reset(msgspec.Struct, frozen=True):
    """A command, as words, and the seconds that it may take."""

    command: tuple[str, ...]
    seconds: float

    def run(self) -> None:
        """Run the command to its end. Raises LoadError where it fails or takes too long; it is then ended."""
        import subprocess  # 10 ms, which most runs do not need

        # A file, since a pipe would be open for as long as a server that the command leaves behind.
        with tempfile.TemporaryFile() as said:
            try:
                status = self._status(
                    subprocess.Popen(
                        self.command, stdin=subprocess.DEVNULL, stdout=said, stderr=said, start_new_session=True
                    )
                )
            except OSError as error:
                raise LoadError(f"the reset command cannot be started: {error}") from None
            except subprocess.TimeoutExpired:
                raise LoadError(f"the reset command has not ended within {self.seconds:g} s") from None
            if status:
                said.seek(0)
                last = said.read().decode(errors="replace").strip().rpartition("\n")[2]
                raise LoadError(f"the reset command ended with status {status}: {last or 'no message'}")

    def _status(self, process: subprocess.Popen[bytes]) -> int:
        """The exit status; whatever keeps us from waiting for it ends the command and what it has started."""
        try:
            return process.wait(self.seconds)
        except BaseException:
            end_group(process)
            raise


def reset_of(manifest: Manifest, given: Reset | None, *, is_loaded_here: bool) -> Reset | None:
    """The command that may be run: the given one, or that of a plug-in loaded here; None for none.

    Raises LoadError where it could not be started: it is wanted after the first crash, which may be hours away.
    """
    is_own = given is None and is_loaded_here and manifest.reset_command
    found = Reset(manifest.reset_command, manifest.reset_seconds) if is_own else given
    if found is not None and (problem := no_command(found.command[0])):
        raise LoadError(f"{'the manifest: reset_command' if is_own else OPTION}: {problem}")
    return found


def hint(manifest: Manifest, reset: Reset | None) -> str:
    """What could bring a driver elsewhere back, for whom it is lost; empty where a command has been run."""
    if reset is not None:
        return ""
    return _IGNORED if manifest.reset_command else f"where a command can bring it back, give it with {OPTION}"


def given_reset(command: str | None, seconds: float | None) -> Reset | None:
    """The command that a command line names, in words as of a shell; None for none. Raises DocumentError."""
    if seconds is not None and not 0 < seconds < math.inf:
        raise DocumentError(_SECONDS, "", f"expected a positive number of seconds, found {seconds:g}")
    if command is None:
        if seconds is not None:
            raise DocumentError(_SECONDS, "", f"goes with {OPTION}")
        return None
    return Reset(words_of(OPTION, command), RESET_SECONDS if seconds is None else seconds)
