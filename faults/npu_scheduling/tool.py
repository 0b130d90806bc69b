"""A run-test-inference for the variant that has its work from a tool. It imports nothing of the project."""

from __future__ import annotations

import argparse
import os
import socket
import sys


def address() -> str:
    """The address at which the HAL of this process listens."""
    return f"\0npu-conformance-inference-{os.getpid()}"


def main() -> int:
    """Let the HAL run inferences, and return the exit code of AOSP's tool."""
    parser = argparse.ArgumentParser()
    parser.add_argument("address")
    parser.add_argument("uid", type=int, help="who it acts for: a device would know")
    parser.add_argument("--job-priority", type=int, default=500)
    parser.add_argument("--original-uid", type=int, default=-1)
    options = parser.parse_args()
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
        connection.connect(f"\0{options.address}")
        connection.sendall(f"{options.uid} {options.job_priority} {options.original_uid}\n".encode())
        return 0 if connection.makefile("rb").read() == b"done" else 1


if __name__ == "__main__":
    sys.exit(main())
