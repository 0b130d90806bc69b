"""A device that ends the run that tests it: a kill or a Ctrl-C in the middle, at a place that a test knows."""

from __future__ import annotations

import os
import signal
from pathlib import Path

from vendor_plugins import FirstDay

from npu_conformance.specs.manifest import Manifest
from npu_conformance.specs.neuralnetworks import types
from npu_conformance.specs.plugin import Plugin, Subject
from npu_conformance.specs.versions import Version

ORDER = Path("end-the-run")
"""The number of the signal that the parent of this process gets; the first that sees the file takes it away."""


class Ending(FirstDay):
    """Once, when it is asked about its operations, it ends `run -n`, in a shard of which it runs."""

    def get_supported_operations(self, model: types.Model) -> tuple[bool, ...]:
        try:
            number = int(ORDER.read_text())
            ORDER.unlink()
        except FileNotFoundError:
            return super().get_supported_operations(model)
        os.kill(os.getppid(), number)
        signal.pause()  # the signal that ends this process, or interrupts it, comes from the parent or for its end
        return ()


plugin = Plugin(
    Manifest(name="ending", vendor="tests", version="1", hal_version=Version.V1_0),
    lambda context: Subject(device=Ending()),
)
