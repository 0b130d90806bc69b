"""Cache files that the runtime opens itself, for devices in its own process."""

from __future__ import annotations

import itertools
import os
import threading

from npu_conformance.reference.runtime.planning.pools import FIRST_TOKEN
from npu_conformance.specs.descriptor_file import DescriptorFile
from npu_conformance.specs.plugin import File, Files


class LocalFiles:
    """Files of the runtime's over those of the host. See caching.OpenFiles and plugin.Files."""

    def __init__(self, host: Files) -> None:
        self._host = host
        self._open: dict[int, int] = {}
        self._tokens = itertools.count(FIRST_TOKEN)
        self._lock = threading.Lock()

    def open_path(self, path: str, *, create: bool) -> int:
        """See OpenFiles. Made files are for their owner alone (mode 0600)."""
        descriptor = os.open(path, os.O_RDWR | os.O_CLOEXEC | (os.O_CREAT if create else 0), 0o600)
        with self._lock:
            token = next(self._tokens)
            self._open[token] = descriptor
        return token

    def close(self, token: int) -> None:
        """See OpenFiles."""
        with self._lock:
            os.close(self._open.pop(token))

    def open(self, token: int) -> File:
        """Duplicate the descriptor of a token."""
        with self._lock:
            if token in self._open:
                return DescriptorFile(os.dup(self._open[token]))
        return self._host.open(token)
