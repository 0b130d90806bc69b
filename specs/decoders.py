"""Decoders of JSON, made one at a time.

msgspec completes what it knows of a struct when the first decoder for it is made, and lets other threads look at it
before it is complete: two that make decoders of one struct at once can end the process (SIGSEGV, msgspec 0.22).
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, TypeVar

import msgspec

Kind = TypeVar("Kind")

_making = threading.Lock()


def decoder(kind: type[Kind], special: Callable[[type, Any], Any] | None = None) -> msgspec.json.Decoder[Kind]:
    """A decoder, to use in any thread. special: makes values of types that JSON does not have."""
    with _making:
        return msgspec.json.Decoder(kind, dec_hook=special)
