"""The serving side against malformed requests: each gets a clear error, and the connection lives on."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import patience
import pytest
from places import HOSTILE
from wire_client import HELLO, Client, call

from npu_conformance.harness.subject import endpoints
from npu_conformance.harness.subject.host import serve_in_thread
from npu_conformance.harness.subject.loading import LoadError, open_subject
from npu_conformance.harness.subject.plugin_loading import load_plugin
from npu_conformance.harness.subject.serve import listen, main, read_or_make_key, serve
from npu_conformance.harness.wire.framing import LineSocket
from npu_conformance.harness.wire.session import HostState
from npu_conformance.specs.manifest import Manifest
from npu_conformance.specs.plugin import Caller, Context, Plugin, Subject
from npu_conformance.specs.versions import Version


@pytest.fixture(autouse=True)
def plugin_path(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(HOSTILE))


@pytest.fixture
def client() -> Iterator[Client]:
    ours, theirs = socket.socketpair()
    host = HostState(load_plugin("echo_plugin:plugin"))
    thread = serve_in_thread(LineSocket(theirs), host, control=True, open_to_all=True)
    with ours:
        client = Client(ours)
        yield client
        client.lines.close()
    thread.join(patience.SECONDS)
    assert not thread.is_alive()


def test_handshake(client: Client) -> None:
    result = client.ask({**HELLO, "unknown": 1, "params": {"protocolVersion": 1, "colour": "red"}})["result"]
    assert result["objects"] == {"device": 1}
    assert result["manifest"]["name"] == "simple"
    assert result["transports"] == ["path", "descriptor", "message"]


def test_nothing_before_initialize(client: Client) -> None:
    assert client.ask(call("device.getType", object=1))["error"]["message"] == "initialize comes first"
    assert client.ask(call("ping"))["error"]["code"] == -32601


@pytest.mark.parametrize(
    ("line", "code", "text"),
    [
        (b"nonsense", -32700, "not JSON"),
        (b"\xff\xfe", -32700, "not JSON"),
        (b'{"x":' * 10_000, -32700, ""),
        (b"[]", -32600, "$: Expected `object`, got `array`"),
        (b'{"jsonrpc": "2.0", "id": 5}', -32600, "neither method, result nor error"),
        (b'{"jsonrpc": "2.0", "id": "five", "method": "ping"}', -32600, "$.id: Expected `int | null`, got `str`"),
        (b'{"jsonrpc": "2.0", "id": 77, "result": 1}', -32600, "answer to request 77, which is not outstanding"),
        (json.dumps(call("device.explode", object=1)).encode(), -32601, "no method device.explode"),
        (json.dumps(call("device.__init__", object=1)).encode(), -32601, "no method device.__init__"),
        (json.dumps(call("device.getType")).encode(), -32602, "missing required field `object`"),
        (json.dumps(call("device.getType", object=9)).encode(), -32602, "$.object: object 9 was never given"),
        (json.dumps(call("buffer.copyTo", object=1, dst={})).encode(), -32602, "$.dst"),
        (json.dumps(call("preparedModel.execute", object=1)).encode(), -32602, "missing required field `request`"),
        (json.dumps(call("memory.attach", token=-1, size=4, transport="message")).encode(), -32002, "positive"),
        (json.dumps(call("memory.attach", token=3, size=4, transport="pigeon")).encode(), -32007, "pigeon"),
        (
            json.dumps(call("memory.attach", token=3, size=4, transport="path", path="/nowhere")).encode(),
            -32007,
            "/now",
        ),
        (json.dumps(call("memory.read", token=3, offset=0, length=4)).encode(), -32002, "token 3 is not known"),
        (json.dumps(call("control.ticket", uid=1)).encode(), -32003, "gives no tickets"),
    ],
)
def test_malformed_requests(client: Client, line: bytes, code: int, text: str) -> None:
    client.ask(HELLO)
    error = client.ask(line)["error"]
    assert error["code"] == code
    assert text in error["message"]
    assert client.ask(call("device.getType", object=1))["result"] == 77


def test_wrong_parameter_names_its_path(client: Client) -> None:
    client.ask(HELLO)
    graph = {"operands": [], "operations": [{"type": 0, "inputs": "abc", "outputs": []}]}
    model = {"main": {**graph, "inputIndexes": [], "outputIndexes": []}}
    error = client.ask(call("device.getSupportedOperations", object=1, model=model))["error"]
    assert error["message"].startswith("device.getSupportedOperations: $.model.main.operations[0].inputs: Expected")


def test_notifications_have_no_answer(client: Client) -> None:
    client.ask(HELLO)
    client.connection.sendall(b'{"jsonrpc": "2.0", "method": "device.explode", "params": {}}\n')
    assert client.ask(call("device.getType", object=1))["result"] == 77


def test_memory_by_message(client: Client) -> None:
    client.ask(HELLO)
    client.ask(call("memory.attach", token=3, size=8, transport="message"))
    client.ask(call("memory.write", token=3, offset=2, data="AAEC/w=="))
    assert client.ask(call("memory.read", token=3, offset=0, length=8))["result"] == "AAAAAQL/AAA="
    assert (
        "no bytes 6 to 10" in client.ask(call("memory.write", token=3, offset=6, data="AAEC/w=="))["error"]["message"]
    )
    assert "taken" in client.ask(call("memory.attach", token=3, size=8, transport="message"))["error"]["message"]


def start_server(address: str, key: str | None) -> str:
    """Serve in a daemon thread; return the bound address."""
    bound: list[str] = []
    ready = threading.Event()

    def announce(where: str) -> None:
        bound.append(where)
        ready.set()

    plugin = load_plugin("echo_plugin:plugin")
    threading.Thread(target=serve, args=(plugin, address, None, key, announce), daemon=True).start()
    assert ready.wait(patience.SECONDS)
    return bound[0]


def test_tcp_with_key(tmp_path: Path) -> None:
    key_file = tmp_path / "key"
    address = start_server("tcp:127.0.0.1:0", read_or_make_key(str(key_file)))
    assert key_file.stat().st_mode & 0o777 == 0o600
    with pytest.raises(LoadError, match=r"needs a key or a ticket \(it is given with --plugin-option key-file=FILE\)$"):
        open_subject(address)
    (tmp_path / "wrong").write_text("wrong")
    with pytest.raises(LoadError, match="the key is wrong"):
        open_subject(address, {"key-file": str(tmp_path / "wrong")})
    subject = open_subject(address, {"key-file": str(key_file)})
    assert subject.memory.transports == ("path", "message")
    application = subject.application(10009, 3)
    assert application.interfaces.device is not None
    assert application.interfaces.device.get_version_string().startswith("10009 3 ")
    subject.close()


def test_tcp_without_key_is_not_served() -> None:
    with pytest.raises(LoadError, match=r"^cannot listen on tcp:127\.0\.0\.1:0 without a key: .*--key-file"):
        serve(load_plugin("echo_plugin:plugin"), "tcp:127.0.0.1:0")


def test_version_is_chosen_by_the_first_to_connect(tmp_path: Path) -> None:
    address = start_server(f"unix:{tmp_path}/socket", None)
    subject = open_subject(address, version=Version.V1_2)
    assert subject.manifest.hal_version == Version.V1_2
    subject.close()
    with pytest.raises(LoadError, match=r"asked for HAL fl5, it implements 1\.2"):
        open_subject(address, version=Version.FL5)


def test_unix_socket_is_private(tmp_path: Path) -> None:
    path = tmp_path / "socket"
    address = start_server(f"unix:{path}", None)
    assert path.stat().st_mode & 0o777 == 0o600
    subject = open_subject(address)
    assert subject.application(10009).interfaces.device is not None
    subject.restart()
    assert subject.alive()
    subject.close()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGKILL])
def test_the_file_of_a_server_that_has_ended_is_in_nobodys_way(tmp_path: Path, number: signal.Signals) -> None:
    path = tmp_path / "socket"
    command = [sys.executable, "-m", "npu_conformance", "serve", "reference", "--listen", f"unix:{path}"]
    for _ in range(2):
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
            assert server.stdout is not None
            assert server.stdout.readline().strip() == f"unix:{path}"
            server.send_signal(number)
        assert path.exists() == (number == signal.SIGKILL)


def test_a_server_that_lives_keeps_its_address_and_a_file_that_is_no_socket_stays(tmp_path: Path) -> None:
    path = tmp_path / "socket"
    start_server(f"unix:{path}", None)
    (tmp_path / "file").write_text("precious")
    for taken in (path, tmp_path / "file"):
        with pytest.raises(LoadError, match="Address already in use"):
            listen(f"unix:{taken}")
    assert (tmp_path / "file").read_text() == "precious"


@contextlib.contextmanager
def full_queue(path: Path) -> Iterator[None]:
    """Somebody listens there, and accepts nobody; no further connection finds room."""
    with contextlib.ExitStack() as sockets:
        listener = sockets.enter_context(socket.socket(socket.AF_UNIX))
        listener.bind(str(path))
        listener.listen(0)
        with contextlib.suppress(BlockingIOError):
            while True:
                waiting = sockets.enter_context(socket.socket(socket.AF_UNIX))
                waiting.setblocking(False)
                waiting.connect(str(path))
        yield


def test_who_never_accepts_a_connection_is_not_waited_for_for_ever(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(endpoints, "_CONNECT_SECONDS", 0.01)
    with full_queue(tmp_path / "socket"):
        with pytest.raises(LoadError, match=r"nobody accepts the connection within 0\.01 s$"):
            endpoints.connect_to(f"unix:{tmp_path}/socket")
        with pytest.raises(LoadError, match="Address already in use"):
            listen(f"unix:{tmp_path}/socket")


def test_a_key_that_cannot_be_read_leaves_nothing_open(tmp_path: Path) -> None:
    before = len(os.listdir("/proc/self/fd"))
    for _ in range(3):
        with pytest.raises(LoadError, match=r"key file .*none: No such file"):
            open_subject(f"unix:{tmp_path}/socket", {"key-file": str(tmp_path / "none")})
    assert len(os.listdir("/proc/self/fd")) == before


def test_every_listener_hears_of_a_connection_that_has_ended() -> None:
    heard: list[str] = []

    def create(context: Context) -> Subject:
        def raises(caller: Caller) -> None:
            heard.append("first")
            raise ValueError("a mistake")

        context.on_hang_up(raises)
        context.on_hang_up(lambda caller: heard.append("second"))
        return Subject()

    host = HostState(Plugin(Manifest(name="x", vendor="v", version="1"), create))
    host.subject({})
    with pytest.raises(ValueError, match="a mistake"):
        host.hung_up(Caller(0, 0))
    assert heard == ["first", "second"]


@pytest.mark.parametrize(
    ("address", "text"),
    [
        ("tcp:0.0.0.0:0", "expected a loopback address"),
        ("tcp:127.0.0.1:x", "with a number as the port"),
        ("udp:127.0.0.1:1", "expected unix:PATH or tcp:HOST:PORT"),
        ("unix:/nowhere/socket", "No such file or directory"),
    ],
)
def test_addresses_that_can_not_be_had(address: str, text: str) -> None:
    with pytest.raises(LoadError, match=text):
        listen(address)


def test_serve_command_reports_errors(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["nonsense", "--listen", "tcp:127.0.0.1:0"]) == 2
    assert capsys.readouterr().err.startswith("unknown plug-in 'nonsense'")
    with pytest.raises(SystemExit):
        main(["echo_plugin:plugin"])
    assert sys.path
