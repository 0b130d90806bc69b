"""Memory without a name whose size nobody can change: whoever maps it cannot be killed by who shares it."""

from __future__ import annotations

import fcntl
import os


def sealed_file(size: int) -> int:
    """Return the descriptor of a file in memory of `size` zero bytes. Raises OSError, OverflowError."""
    file = os.memfd_create("npu-conformance", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    try:
        os.ftruncate(file, size)
        # SIGBUS is the end of a process that looks at a mapped page past the end of its file.
        fcntl.fcntl(file, fcntl.F_ADD_SEALS, fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW | fcntl.F_SEAL_SEAL)
    except (OSError, OverflowError):
        os.close(file)
        raise
    return file
