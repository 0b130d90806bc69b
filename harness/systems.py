"""The operating systems that the suite runs on, and what it needs of them."""

from __future__ import annotations

import sys

_LEAST_DESCRIPTORS, _MANY_DESCRIPTORS = 64, 1 << 16
"""Open files without which nothing runs, and those that are asked for: pools and cache files of a case, beside logs:
mostly below a hundred, and a thousand at most.
"""


def refusal() -> str:
    """Why nothing can be run on this system, in one line; empty on Linux.

    Processes are watched in /proc, memory is shared in /dev/shm, and descriptors are passed as Linux passes them.
    """
    if sys.platform == "linux":
        return ""
    import platform

    system = platform.system() or sys.platform
    return f"npu-conformance runs on Linux, and this is {system}: use a container, a virtual machine or WSL 2"


def raise_limit_of_open_files() -> str:
    """Raise this process's limit of open files, and that of what it starts, as far as it may.

    Returns why that is too few for a run, in one line; empty where it is enough.
    """
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = _MANY_DESCRIPTORS if hard == resource.RLIM_INFINITY else min(hard, _MANY_DESCRIPTORS)
    if most < _LEAST_DESCRIPTORS:
        return f"a run needs at least {_LEAST_DESCRIPTORS} open files, and the limit is {hard} (ulimit -n)"
    if most > soft != resource.RLIM_INFINITY:
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))
    return ""
