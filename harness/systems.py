"""The operating systems that the suite runs on."""

from __future__ import annotations

import sys


def refusal() -> str:
    """Why nothing can be run on this system, in one line; empty on Linux.

    Processes are watched in /proc, memory is shared in /dev/shm, and descriptors are passed as Linux passes them.
    """
    if sys.platform == "linux":
        return ""
    import platform

    system = platform.system() or sys.platform
    return f"npu-conformance runs on Linux, and this is {system}: use a container, a virtual machine or WSL 2"
