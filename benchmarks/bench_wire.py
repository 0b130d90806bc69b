"""Measures what isolation costs, as ratios within one run.

It compares the bare round trip of a socket with ping and a 30-operand model, and measures a restart, and memory of
4 KiB and 4 MiB by each transport.
"""

from __future__ import annotations

import os
import socket
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from benchmarks.figures import Figure
from npu_conformance.harness.subject.loading import open_subject
from npu_conformance.harness.subject.remote import RemoteSubject
from npu_conformance.specs.neuralnetworks import types
from npu_conformance.specs.neuralnetworks.hal import Device

PLUGINS = Path(__file__).parents[1] / "tests" / "hostile"
MIB = 1 << 20


def microseconds(action: Callable[[], object], repeats: int) -> float:
    """Median time of one call, after a tenth of the repeats to warm up."""
    times = []
    for turn in range(repeats + repeats // 10):
        start = time.perf_counter()
        action()
        times.append(time.perf_counter() - start)
        if turn < repeats // 10:
            times.pop()
    return statistics.median(times) * 1e6


def bare_round_trip(repeats: int) -> float:
    """60 bytes to another Python process and back, over an AF_UNIX stream socket."""
    ours, theirs = socket.socketpair()
    child = os.fork()
    if child == 0:
        ours.close()
        while data := theirs.recv(4096):
            theirs.sendall(data)
        os._exit(0)
    theirs.close()
    message = b"x" * 59 + b"\n"

    def turn() -> None:
        ours.sendall(message)
        ours.recv(4096)

    measured = microseconds(turn, repeats)
    ours.close()
    os.waitpid(child, 0)
    return measured


def model_of_30_operands() -> types.Model:
    """Ten operations over 30 operands."""
    location = types.DataLocation(0, 64, 96)
    operands = tuple(types.Operand(3, (1, 8, 8, 3), 0.5, 128, location=location) for _ in range(30))
    operations = tuple(types.Operation(0, (index, index + 1, 29), (index + 2,)) for index in range(10))
    return types.Model(types.Subgraph(operands, operations, (0, 1), (29,)), operand_values=bytes(64))


def device_of(subject: RemoteSubject) -> Device:
    """The device of the plug-in."""
    assert subject.interfaces.device is not None
    return subject.interfaces.device


def memory_crossing(transport: str, size: int, repeats: int) -> float:
    """Create a pool, write its ends, let the host touch it (ping: attaching has been handled), read its ends, close."""
    subject = open_subject("echo_plugin:plugin", transports=(transport,))
    assert isinstance(subject, RemoteSubject)

    def turn() -> None:
        pool = subject.memory.create("ashmem", size)
        if transport == "message":
            pool.write(0, bytes(size))
        else:
            pool.write(0, b"x")
            pool.write(size - 1, b"x")
        subject.ping()
        pool.read(0, size if transport == "message" else 1)
        pool.close()

    measured = microseconds(turn, repeats)
    subject.close()
    return measured


def measure() -> dict[str, float]:
    """All figures, in microseconds."""
    figures = {"bare round trip": bare_round_trip(5000)}
    subject = open_subject("echo_plugin:plugin")
    assert isinstance(subject, RemoteSubject)
    model, device = model_of_30_operands(), device_of(subject)
    figures["ping"] = microseconds(subject.ping, 5000)
    figures["model of 30 operands"] = microseconds(lambda: device.get_supported_operations(model), 2000)
    figures["restart"] = microseconds(subject.restart, 50)
    subject.close()
    for transport in ("path", "descriptor", "message"):
        for size, name in ((4096, "4 KiB"), (4 * MIB, "4 MiB")):
            figures[f"{name} by {transport}"] = memory_crossing(transport, size, 20 if transport == "message" else 200)
    figures["start"] = microseconds(lambda: open_subject("echo_plugin:plugin").close(), 5)
    return figures


def figures() -> Iterator[Figure]:
    """Microseconds, and ratios between them."""
    sys.path.insert(0, str(PLUGINS))
    found = measure()
    bare = found["bare round trip"]
    yield Figure("ping", found["ping"] / bare, "x", f"{found['ping']:.0f} us; a bare round trip: {bare:.0f} us", 5)
    model = found["model of 30 operands"]
    yield Figure("a model of 30 operands", model, "us", f"{model / bare:.1f} bare round trips", 150)
    restart = found["restart"] / 1000
    yield Figure("restart of a host", restart, "ms", f"first start: {found['start'] / 1000:.0f} ms", 20)
    for transport in ("path", "descriptor"):
        small, large = found[f"4 KiB by {transport}"], found[f"4 MiB by {transport}"]
        compared = f"{large:.0f} us against {small:.0f} us"
        yield Figure(f"4 MiB against 4 KiB by {transport}", large / small, "x", compared, 10)
    message = found["4 MiB by message"] / found["4 KiB by message"]
    yield Figure("4 MiB against 4 KiB by message", message, "x", "the bytes themselves travel")
