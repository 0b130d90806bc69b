"""A board for a reset: `board.py SOCKET LOG` starts its server and ends when that listens; LOG gets the server's pid.

The server has a device that dies when it is asked for its type, as a board does that loses its power, and never answers
when it is asked for its status. It imports nothing of the project, so that it is there within some hundredths of a
second. DEADLINE: the seconds that it allows itself. RESET: what its manifest names as a reset command.
"""

import json
import os
import signal
import socket
import sys
from typing import Any

_MANIFEST = {
    "name": "board",
    "vendor": "tests",
    "version": "1",
    "hal_version": "1.2",
    "deadlines": dict.fromkeys(("start", "call"), float(os.environ.get("DEADLINE", "30"))),
    "reset_command": os.environ.get("RESET", "").split(),
}
_UNKNOWN = {"error": {"code": -32601, "message": "no such method"}}


def answer(method: str) -> dict[str, Any]:
    """What a request is answered with. The type is never told."""
    if method.endswith("getType"):
        os._exit(1)
    if method.endswith("getStatus"):
        signal.pause()
    if method == "initialize":
        return {"result": {"protocolVersion": 1, "manifest": _MANIFEST, "objects": {"device": 1}}}
    if method.endswith("getVersionString"):
        return {"result": "board"}
    return {"result": None} if method == "ping" else _UNKNOWN


def serve(listener: socket.socket) -> None:
    """Serve one connection after the other; nobody for half a minute ends it."""
    listener.settimeout(30.0)
    while True:
        connection, _ = listener.accept()
        with connection, connection.makefile("rw") as lines:
            for line in lines:
                request = json.loads(line)
                if "id" in request:
                    lines.write(json.dumps({"jsonrpc": "2.0", "id": request["id"], **answer(request["method"])}) + "\n")
                    lines.flush()


def main(path: str, log: str) -> None:
    """Start the server behind the back of who calls."""
    if os.path.exists(path):
        os.unlink(path)
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(path)
    listener.listen()
    if os.fork():
        return
    with open(log, "a") as file:
        print(os.getpid(), file=file)
    serve(listener)


if __name__ == "__main__":
    main(*sys.argv[1:])
