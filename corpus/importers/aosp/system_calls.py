"""A kernel filter of system calls: after it a process computes, writes to descriptors that it has, and ends."""

from __future__ import annotations

import ctypes
import platform
import struct

_PR_SET_SECCOMP, _SECCOMP_MODE_FILTER, _PR_SET_NO_NEW_PRIVS = 22, 2, 38
_LOAD, _JUMP_IF_EQUAL, _RETURN = 0x20, 0x15, 0x06
_NUMBER, _ARCHITECTURE = 0, 4
"""Where the kernel puts them in the data that a filter sees."""
_KILL, _ALLOW, _REFUSE = 0x8000_0000, 0x7FFF_0000, 0x0005_0000 | 1
"""The last one is the error EPERM."""

# name: number on x86_64, on aarch64 (-1 where there is none).
_ALLOWED = {
    "read": (0, 63), "write": (1, 64), "writev": (20, 66), "close": (3, 57), "lseek": (8, 62), "fstat": (5, 80),
    "mmap": (9, 222), "munmap": (11, 215), "mremap": (25, 216), "mprotect": (10, 226), "madvise": (28, 233),
    "brk": (12, 214), "futex": (202, 98), "rt_sigaction": (13, 134), "rt_sigprocmask": (14, 135),
    "rt_sigreturn": (15, 139), "sigaltstack": (131, 132), "restart_syscall": (219, 128), "sched_yield": (24, 124),
    "exit": (60, 93), "exit_group": (231, 94), "getpid": (39, 172), "gettid": (186, 178), "getrandom": (318, 278),
    "clock_gettime": (228, 113), "gettimeofday": (96, 169), "time": (201, -1), "nanosleep": (35, 101),
    "clock_nanosleep": (230, 115),
}  # fmt: skip
_MACHINES = {"x86_64": (0xC000_003E, 0), "aarch64": (0xC000_00B7, 1)}


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("code", ctypes.c_void_p))


_prctl = ctypes.CDLL(None, use_errno=True).prctl
_prctl.argtypes = [ctypes.c_int, *[ctypes.c_ulong] * 4]


def confine() -> bool:
    """Refuse all system calls but the allowed ones, for good; false where this kernel or machine cannot do so."""
    machine = _MACHINES.get(platform.machine())
    if machine is None:
        return False
    code = _code(*machine)
    held = ctypes.create_string_buffer(code, len(code))
    program = _Program(len(code) // 8, ctypes.addressof(held))
    if _prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0:
        return False
    return bool(_prctl(_PR_SET_SECCOMP, _SECCOMP_MODE_FILTER, ctypes.addressof(program), 0, 0) == 0)


def _code(architecture: int, column: int) -> bytes:
    numbers = [row[column] for row in _ALLOWED.values() if row[column] >= 0]
    jumps = [_instruction(_JUMP_IF_EQUAL, number, len(numbers) - place) for place, number in enumerate(numbers)]
    return b"".join((
        _instruction(_LOAD, _ARCHITECTURE), _instruction(_JUMP_IF_EQUAL, architecture, 1), _instruction(_RETURN, _KILL),
        _instruction(_LOAD, _NUMBER), *jumps, _instruction(_RETURN, _REFUSE), _instruction(_RETURN, _ALLOW),
    ))  # fmt: skip


def _instruction(code: int, value: int, jump_if_true: int = 0) -> bytes:
    return struct.pack("=HBBI", code, jump_if_true, 0, value)
