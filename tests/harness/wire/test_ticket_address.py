"""Where the harness connects as an app: a driver names the address, but may not name every address."""

from __future__ import annotations

import os
import socket
import threading
from pathlib import Path
from typing import Any

import pytest
from wire_client import HOSTILE

from npu_conformance.harness.judge.verdicts import WIRE, Failed
from npu_conformance.harness.subject.endpoints import is_within_reach
from npu_conformance.harness.subject.host import listen_unix
from npu_conformance.harness.subject.loading import open_subject
from npu_conformance.harness.subject.plugin_loading import load_plugin
from npu_conformance.harness.wire import protocol
from npu_conformance.harness.wire.framing import LineSocket
from npu_conformance.harness.wire.session import HostConnection, HostState
from npu_conformance.specs.plugin import Caller


@pytest.mark.parametrize(
    ("spec", "address", "allowed"),
    [
        ("tcp:10.0.0.5:99", "tcp:10.0.0.5:100", True),
        ("tcp:10.0.0.5:99", "tcp:10.0.0.6:99", False),
        ("tcp:10.0.0.5:99", "tcp:127.0.0.1:99", False),
        ("tcp:127.0.0.1:99", "tcp:localhost:100", True),
        ("tcp:[::1]:99", "tcp:127.0.0.1:100", True),
        ("tcp:127.0.0.1:99", "tcp:10.0.0.5:99", False),
        ("tcp:127.0.0.1:99", "unix:/run/docker.sock", False),
        ("unix:/tmp/one", "unix:/tmp/another", True),
        ("exec:driver", "tcp:10.0.0.5:99", True),
    ],
)
def test_where_a_driver_may_send_its_apps(spec: str, address: str, allowed: bool) -> None:
    assert is_within_reach(spec, address) == allowed


class Elsewhere(HostConnection):
    """A driver that sends its apps to a socket of the harness's machine."""

    def _builtins(self) -> dict[str, Any]:
        ticket = protocol.Ticket("t", os.environ["ELSEWHERE"])
        return {**super()._builtins(), "control.ticket": (protocol.TicketRequest, lambda _: ticket)}


def test_a_driver_over_tcp_can_not_send_the_harness_to_a_private_socket(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(HOSTILE)
    private = f"{tmp_path}/private"
    monkeypatch.setenv("ELSEWHERE", f"unix:{private}")
    host = HostState(load_plugin("echo_plugin:plugin"), key="k", address=lambda: None)
    (tmp_path / "key").write_text("k")
    with listen_unix(private) as listener, socket.create_server(("127.0.0.1", 0)) as server:
        listener.settimeout(0.3)
        threading.Thread(target=_serve_one, args=(server, host), daemon=True).start()
        subject = open_subject(f"tcp:127.0.0.1:{server.getsockname()[1]}", {"key-file": str(tmp_path / "key")})
        with pytest.raises(Failed, match=r"control\.ticket: expected null or an address"):
            subject.application(10_009)
        with pytest.raises(TimeoutError):
            listener.accept()
        subject.close()


def test_an_address_where_nobody_listens_is_the_driver_s_mistake(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(HOSTILE)
    monkeypatch.setenv("ELSEWHERE", "tcp:127.0.0.1:1")
    host = HostState(load_plugin("echo_plugin:plugin"), key="k", address=lambda: None)
    (tmp_path / "key").write_text("k")
    with socket.create_server(("127.0.0.1", 0)) as server:
        threading.Thread(target=_serve_one, args=(server, host), daemon=True).start()
        subject = open_subject(f"tcp:127.0.0.1:{server.getsockname()[1]}", {"key-file": str(tmp_path / "key")})
        with pytest.raises(Failed, match="where the driver listens: cannot connect") as caught:
            subject.application(10_009)
        assert caught.value.about == (WIRE,)
        subject.close()


def _serve_one(server: socket.socket, host: HostState) -> None:
    connection, _ = server.accept()
    Elsewhere(LineSocket(connection), host, Caller(0, 0), control=False, open_to_all=False).serve()
