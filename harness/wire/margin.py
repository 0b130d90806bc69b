"""The margin of a pool: what lies behind its end in its file, up to a whole page that belongs to nobody.

Memory is mapped by pages. What is written past the end of a pool lands in the margin, where the harness sees it; a
pool of whole pages would have none, and the write would end the process or hit what is mapped next to it.
"""

from __future__ import annotations

import mmap
import os

PAGE = mmap.PAGESIZE
_ZEROS = bytes(2 * PAGE)


def with_margin(size: int) -> int:
    """The length of a file for a pool of so many bytes."""
    return -(-size // PAGE) * PAGE + PAGE


def take_overrun(file: int, size: int) -> bool:
    """True where somebody has written to the margin after the first `size` bytes, which is cleared then."""
    length = with_margin(size) - size
    if _ZEROS.startswith(os.pread(file, length, size)):
        return False
    os.pwrite(file, bytes(length), size)
    return True
