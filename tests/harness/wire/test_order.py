"""Messages of one connection that several threads read are handled in the order they were sent."""

from __future__ import annotations

import json
import socket
import threading

import patience

from npu_conformance.harness.wire import protocol
from npu_conformance.harness.wire.connection import Connection
from npu_conformance.harness.wire.framing import LineSocket


def test_memory_is_attached_before_another_thread_sees_the_message_behind() -> None:
    ours, theirs = socket.socketpair()
    host = Connection(LineSocket(theirs), +1, strict=False)
    entered, go_on, answers = threading.Event(), threading.Event(), []

    def attach(_: object) -> None:
        entered.set()
        go_on.wait(patience.SECONDS)

    host.builtins["memory.attach"] = (protocol.Nothing, attach)
    server = threading.Thread(target=host.serve)
    caller = threading.Thread(target=lambda: answers.append(host.call("burstCallback.getMemories", {}, None, 10)))
    server.start()
    caller.start()
    request = json.loads(ours.recv(4096))
    first = {"jsonrpc": "2.0", "id": 1, "method": "memory.attach", "params": {}}
    second = {"jsonrpc": "2.0", "id": request["id"], "result": None}
    ours.sendall("".join(json.dumps(message) + "\n" for message in (first, second)).encode())
    assert entered.wait(patience.SECONDS)
    caller.join(0.05)
    assert answers == []
    go_on.set()
    caller.join(patience.SECONDS)
    assert answers == [None]
    ours.close()
    server.join(patience.SECONDS)
