"""Runs a vendor's run-test-inference, as AOSP's VTS does."""

from __future__ import annotations

import subprocess

from npu_conformance.harness.verdicts import Failed
from npu_conformance.specs.manifest import InferenceTool
from npu_conformance.specs.npu.workload import InferenceRun


class ToolRun:
    """One run of the tool."""

    def __init__(self, tool: InferenceTool, uid: int, run: InferenceRun) -> None:
        """Start it as this uid. Failed where the command can not be started."""
        words = [word.replace("{uid}", str(uid)) for word in tool.command]
        words += ["--job-priority", str(run.job_priority), "--original-uid", str(run.original_uid)]
        try:
            self._process = subprocess.Popen(
                words, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
            )
        except OSError as error:
            raise Failed(f"the inference tool can not be started: {error}") from None

    @property
    def succeeded(self) -> bool | None:
        """Whether it ended with exit code 0; null while it runs."""
        code = self._process.poll()
        return None if code is None else code == 0

    def kill(self) -> None:
        """End it, if it still runs."""
        if self._process.poll() is None:
            self._process.kill()
            self._process.wait()
