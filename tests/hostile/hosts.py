"""Hosts that misbehave: `python hosts.py MODE`. Answers the handshake and getVersionString, and does MODE at getType.

Modes that begin with `start_` misbehave before the handshake. Plain sockets and json only: nothing of the project.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import sys
import time
from collections.abc import Callable
from typing import Any

FOREVER = 600.0
CONNECTION = socket.socket(fileno=int(os.environ["NPU_CONFORMANCE_FD"]))
MANIFEST = {
    "name": "hostile",
    "vendor": "tests",
    "version": "1",
    "hal_version": "1.2",
}
NEVER_ANSWER = ("hang", "half_a_line", "chatter", "late", "deaf")
"""Modes that end by the deadline; the others end by what they do, and get all the time that a busy machine needs."""


def send(message: dict[str, Any]) -> None:
    """Send one message."""
    CONNECTION.sendall(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")


def kill_self(number: int) -> None:
    """Die by a signal."""
    signal.raise_signal(number)


def hang(request_id: int) -> None:
    """Never answer."""
    time.sleep(FOREVER)


def flood(request_id: int) -> None:
    """Print 20 MB on each of the streams, then answer correctly."""
    for _ in range(320):
        os.write(1, b"o" * (1 << 16))
        os.write(2, b"e" * (1 << 16))
    send({"id": request_id, "result": 1})


def wrong_and_loud(request_id: int) -> None:
    """Print more than anybody keeps on both streams, and answer wrongly."""
    os.write(1, b"o" * 100_000 + b"\nout: the end\n")
    os.write(2, b"e" * 100_000 + b"\nerr: the end\x07\n")
    send({"id": request_id, "result": 77})


def half_a_line(request_id: int) -> None:
    """Send the beginning of an answer and nothing more."""
    CONNECTION.sendall(b'{"jsonrpc": "2.0", "id"')
    time.sleep(FOREVER)


def half_then_exit(request_id: int) -> None:
    """Send the beginning of an answer and end."""
    CONNECTION.sendall(b'{"jsonrpc"')
    os._exit(0)


def huge_line(request_id: int) -> None:
    """Send 100 MB without a newline."""
    for _ in range(100):
        CONNECTION.sendall(b"x" * (1 << 20))


def twice(request_id: int) -> None:
    """Answer twice."""
    send({"id": request_id, "result": 1})
    send({"id": request_id, "result": 1})


def unsolicited(request_id: int) -> None:
    """Call an object that was never given."""
    send({"method": "preparedModelCallback.notify", "params": {"object": -99, "status": 0, "preparedModel": None}})
    send({"id": request_id, "result": 1})


def chatter(request_id: int) -> None:
    """Send legal notifications without end instead of the answer."""
    while True:
        send({"method": "object.release", "params": {"object": -1, "count": 1}})


def deaf(request_id: int) -> None:
    """Ask legal questions without end, and read none of the answers; nor answer."""
    questions = b"".join(
        b'{"jsonrpc": "2.0", "id": %d, "method": "object.release", "params": {"object": -1, "count": 0}}\n' % number
        for number in range(1, 20_001)
    )
    CONNECTION.sendall(questions)
    time.sleep(FOREVER)


def fork_child(request_id: int) -> None:
    """Leave a child in a session of its own that keeps the socket open, and die."""
    if os.fork() == 0:
        os.setsid()
        time.sleep(FOREVER)
    os._exit(5)


def late(request_id: int) -> None:
    """Answer after the deadline."""
    time.sleep(4.0)
    send({"id": request_id, "result": 1})


def close_and_live(request_id: int) -> None:
    """Close the connection but live on."""
    CONNECTION.shutdown(socket.SHUT_RDWR)
    time.sleep(FOREVER)


def last_words(request_id: int) -> None:
    """Say why on stderr, then die."""
    os.write(2, b"assertion failed: tile != 0\n")
    kill_self(signal.SIGABRT)


def sanitized(request_id: int) -> None:
    """Report as AddressSanitizer does, with its legend, and exit."""
    frame = b"    #0 0x55 in match /src/driver.c:459:20\n"
    head = b"==1==ERROR: AddressSanitizer: heap-buffer-overflow on address 0x60\n" + frame
    legend = b"".join(b"  Redzone %d:       f%d\n" % (number, number % 10) for number in range(60))
    os.write(2, head + b"\nSUMMARY: AddressSanitizer: heap-buffer-overflow /src/driver.c:459:20 in match\n" + legend)
    os._exit(1)


def raw(data: bytes) -> Callable[[int], None]:
    """Answer with these bytes."""
    return lambda request_id: CONNECTION.sendall(data.replace(b"ID", str(request_id).encode()))


MODES: dict[str, Callable[[int], None]] = {
    "segv": lambda _: kill_self(signal.SIGSEGV),
    "sigkill": lambda _: kill_self(signal.SIGKILL),
    "exit_0": lambda _: os._exit(0),
    "exit_3": lambda _: os._exit(3),
    "last_words": last_words,
    "sanitized": sanitized,
    "hang": hang,
    "flood": flood,
    "wrong_and_loud": wrong_and_loud,
    "garbage": raw(b"\x00\xff garbage\n"),
    "not_an_object": raw(b"[1, 2]\n"),
    "deep": raw(b'{"x":' * 100_000 + b"\n"),
    "neither": raw(b'{"jsonrpc": "2.0", "id": ID}\n'),
    "wrong_type": raw(b'{"jsonrpc": "2.0", "id": ID, "result": "one"}\n'),
    "wrong_id": raw(b'{"jsonrpc": "2.0", "id": 4711, "result": 1}\n'),
    "no_id": raw(b'{"jsonrpc": "2.0", "result": null}\n'),
    "null_id": raw(b'{"jsonrpc": "2.0", "id": null, "error": {"code": -32700, "message": "what?"}}\n'),
    "half_then_exit": half_then_exit,
    "half_a_line": half_a_line,
    "huge_line": huge_line,
    "twice": twice,
    "unsolicited": unsolicited,
    "unknown_method": raw(b'{"jsonrpc": "2.0", "method": "harness.exec", "params": {}}\n'),
    "chatter": chatter,
    "deaf": deaf,
    "fork_child": fork_child,
    "late": late,
    "close_and_live": close_and_live,
}


def begin(mode: str) -> None:
    """Act before the first message."""
    if mode == "start_exit":
        sys.exit("no such board")
    if mode == "start_segv":
        kill_self(signal.SIGSEGV)
    if mode == "start_garbage":
        CONNECTION.sendall(b"Welcome to my driver\n")
    if mode == "start_silent":
        time.sleep(FOREVER)


def answer(mode: str, request: dict[str, Any]) -> None:
    """Answer one request."""
    method, request_id = request["method"], request.get("id", 0)
    if method == "initialize":
        limit = 1.0 if mode in NEVER_ANSWER else FOREVER
        deadlines = {"prepare": limit, "execute": limit, "call": limit, "start": FOREVER}
        manifest: Any = {**MANIFEST, "deadlines": deadlines}
        if mode == "bad_manifest":
            manifest |= {"colour": "red", "vendor": 3}
        transports = ["message"]
        result = {"protocolVersion": 1, "manifest": manifest, "objects": {"device": 1}, "transports": transports}
        send({"id": request_id, "result": result})
    elif method == "device.getVersionString":
        send({"id": request_id, "result": "fine"})
    elif method == "device.getType":
        MODES[mode](request_id)


def main() -> None:
    """Serve."""
    begin(sys.argv[1])
    with CONNECTION.makefile("rb") as lines:
        for line in lines:
            answer(sys.argv[1], json.loads(line))


main()
