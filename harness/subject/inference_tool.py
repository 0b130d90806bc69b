"""Runs a vendor's run-test-inference, as AOSP's VTS does, where somebody whom the harness trusts has named it."""

from __future__ import annotations

from msgspec.structs import replace

from npu_conformance.harness.judge.verdicts import Failed
from npu_conformance.harness.subject.command_words import no_command, words_of
from npu_conformance.harness.subject.plugin_loading import LoadError
from npu_conformance.harness.subject.process_group import end_group, has_ended
from npu_conformance.specs.documents import DocumentError
from npu_conformance.specs.manifest import InferenceTool, Manifest
from npu_conformance.specs.npu.workload import InferenceRun

_OPTION = "--inference-tool"
IGNORED = f"the manifest names an inference_tool, which is not run for a driver on a socket: give it with {_OPTION}"
"""Why cases have no tool. Such a driver may be another user's, or on another machine, and the tool runs as our user."""


def settled(manifest: Manifest, given: InferenceTool | None, *, is_loaded_here: bool) -> Manifest:
    """Return the manifest with the tool that may be run: the given one, or that of a plug-in loaded here, or none.

    Raises LoadError where it could not be started: the first case that needs it may be hours away.
    """
    is_own = given is None and is_loaded_here
    found = manifest.inference_tool if is_own else given
    command = found.command[0] if found is not None else ""
    if command and "{uid}" not in command and (problem := no_command(command)):
        raise LoadError(f"{'the manifest: inference_tool' if is_own else _OPTION}: {problem}")
    return replace(manifest, inference_tool=found)


def given_tool(command: str | None, uid: int | None) -> InferenceTool | None:
    """The tool that a command line names, in words as of a shell; None for none. Raises DocumentError."""
    if command is None:
        if uid is not None:
            raise DocumentError(f"{_OPTION}-uid", "", f"goes with {_OPTION}")
        return None
    words = words_of(_OPTION, command)
    if any("{uid}" in word for word in words) == (uid is not None):
        raise DocumentError(_OPTION, "", f"expected either {{uid}} in the command or {_OPTION}-uid, the one it runs as")
    return InferenceTool(words, uid)


class ToolRun:
    """One run of the tool."""

    def __init__(self, tool: InferenceTool, uid: int, run: InferenceRun) -> None:
        """Start it as this uid. Failed where the command cannot be started."""
        import subprocess  # 10 ms, which most runs do not need

        words = [word.replace("{uid}", str(uid)) for word in tool.command]
        words += ["--job-priority", str(run.job_priority), "--original-uid", str(run.original_uid)]
        try:
            self._process = subprocess.Popen(
                words,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
            )
        except OSError as error:
            raise Failed(f"the inference tool cannot be started: {error}") from None

    @property
    def succeeded(self) -> bool | None:
        """True where it ended with exit code 0, false where it failed, None while it runs."""
        return end_group(self._process) == 0 if has_ended(self._process) else None

    @property
    def ending(self) -> str:
        """How it ended, for failures."""
        if not has_ended(self._process):
            return "no end yet"
        status = end_group(self._process)
        return "success" if status == 0 else f"exit status {status} of the inference tool"

    def kill(self) -> None:
        """End it, if it still runs, and all that it has started."""
        end_group(self._process)
