"""Who may name files of the server's machine: real servers on loopback, asked by callers that are not the harness."""

from __future__ import annotations

import contextlib
import json
import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from patience import SECONDS
from wire_client import HELLO, HOSTILE, SERVE, Client, call, environment, served

from npu_conformance.harness.run.app_connection import ClientSubject, ticket_of
from npu_conformance.harness.subject.endpoints import connect_to
from npu_conformance.harness.subject.loading import open_subject
from npu_conformance.harness.subject.remote import RemoteSubject
from npu_conformance.harness.subject.remote_application import RemoteApplication
from npu_conformance.harness.wire.protocol import MemoryRead

SECRET = b"for the server's eyes only"


@pytest.fixture(params=["unix", "tcp"])
def server(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[tuple[str, dict[str, str]]]:
    with served("echo_plugin:plugin", request.param, tmp_path) as found:
        yield found


@contextlib.contextmanager
def reached(address: str, options: dict[str, str], transports: tuple[str, ...]) -> Iterator[RemoteSubject]:
    subject = open_subject(address, options, transports=transports)
    assert isinstance(subject, RemoteSubject)
    try:
        yield subject
    finally:
        subject.close()


@contextlib.contextmanager
def talking(connection: socket.socket) -> Iterator[Client]:
    client = Client(connection)
    with connection, client.lines:
        yield client


@contextlib.contextmanager
def bearer(address: str, options: dict[str, str], transports: tuple[str, ...]) -> Iterator[tuple[Client, str]]:
    """A client with a ticket, which speaks for itself; and the harness's folder, which its ticket may be for."""
    with reached(address, options, transports) as subject:
        where, ticket = ticket_of(subject, 10_009)
        with talking(connect_to(where)) as client:
            assert "result" in client.ask({**HELLO, "params": {"protocolVersion": 1, "ticket": ticket}})
            yield client, subject.shared_folder or ""


def refusals(client: Client, path: str) -> list[int]:
    """The codes with which a file is refused as memory and as a file; fails where it is not refused."""
    requests = [
        call("memory.attach", token=3, size=len(SECRET), transport="path", path=path),
        *(
            call("file.attach", token=4, transport="path", access=access, path=path)
            for access in ("read", "write", "read_write")
        ),
    ]
    return [client.ask(request).get("error", {}).get("code", 0) for request in requests]


@pytest.fixture
def secret(tmp_path: Path) -> Path:
    path = tmp_path / "secret"
    path.write_bytes(SECRET)
    path.chmod(0o600)
    return path


def test_over_tcp_a_key_is_asked_for() -> None:
    command = [*SERVE, "echo_plugin:plugin", "--listen", "tcp:127.0.0.1:0"]
    found = subprocess.run(
        command,
        capture_output=True,
        text=True,
        timeout=SECONDS,
        env=environment(),
    )
    assert found.returncode == 2
    assert found.stdout == ""
    assert "--key-file" in found.stderr
    assert found.stderr.count("\n") == 1


def test_an_empty_key_is_none(tmp_path: Path) -> None:
    (tmp_path / "key").write_text("\n")
    command = [*SERVE, "reference", "--listen", "tcp:127.0.0.1:0", "--key-file", str(tmp_path / "key")]
    found = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS)
    assert (found.returncode, found.stderr.count("\n")) == (2, 1)
    assert "is empty" in found.stderr


def test_a_ticket_alone_opens_no_file(server: tuple[str, dict[str, str]], secret: Path) -> None:
    with bearer(*server, ("message",)) as (client, _):
        assert refusals(client, str(secret)) == [-32007] * 4
        assert refusals(client, str(secret.parent / "missing")) == [-32007] * 4
        assert client.ask(call("memory.attach", token=5, size=4, transport="message"))["result"] is None
    assert secret.read_bytes() == SECRET


def test_who_may_name_no_files_learns_nothing_of_others(server: tuple[str, dict[str, str]], secret: Path) -> None:
    """A refusal does not tell a file that exists from one that does not."""
    with bearer(*server, ("message",)) as (client, _):
        paths = (str(secret), str(secret.parent / "missing"))
        told = [
            client.ask(call("memory.attach", token=3, size=4, transport="path", path=path))["error"]["message"]
            for path in paths
        ]
        assert told[0].replace(paths[0], "") == told[1].replace(paths[1], "")


def test_a_ticket_for_a_folder_opens_that_folder_alone(server: tuple[str, dict[str, str]], secret: Path) -> None:
    with bearer(*server, ("path",)) as (client, folder):
        (Path(folder) / "link").symlink_to(secret)
        (Path(folder) / "own").write_bytes(SECRET)
        up = os.path.relpath(secret, folder)
        for path in (str(secret), f"{folder}/{up}", f"{folder}/link", f"{folder}/..", up, "secret", f"{folder}/a\0b"):
            assert refusals(client, path) == [-32007] * 4, path
        assert refusals(client, f"{folder}/own") == [0, 0, -32002, -32002]  # the token is taken by then
    assert secret.read_bytes() == SECRET


def test_a_key_opens_any_file(tmp_path: Path, secret: Path) -> None:
    with served("echo_plugin:plugin", "tcp", tmp_path) as (address, options), talking(connect_to(address)) as client:
        client.ask({**HELLO, "params": {"protocolVersion": 1, "key": Path(options["key-file"]).read_text()}})
        assert refusals(client, str(secret))[0] == 0


@pytest.mark.parametrize("transport", ["path", "message"])
def test_the_harness_shares_memory_with_the_apps_it_plays(server: tuple[str, dict[str, str]], transport: str) -> None:
    with reached(*server, (transport,)) as subject:
        _check_sharing(subject, transport)


@pytest.mark.parametrize("plugin", ["echo_plugin:plugin", "exec"])
def test_so_it_does_with_a_host_of_its_own(plugin: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.syspath_prepend(HOSTILE)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(filter(None, sys.path)))
    if plugin == "exec":
        module = "npu_conformance.harness.subject.serve echo_plugin:plugin --inherited"
        plugin = f"exec:{sys.executable} -m {module} {tmp_path}"
    with reached(plugin, {}, ("path",)) as subject:
        _check_sharing(subject, "path")


def test_where_a_path_may_not_be_named_the_next_transport_is_taken(server: tuple[str, dict[str, str]]) -> None:
    """A client with a ticket and a folder of its own, as one of an earlier version of the harness."""
    with reached(*server, ("path", "descriptor", "message")) as subject:
        address, ticket = ticket_of(subject, 10_009)
        client = ClientSubject(address, ticket, ("path", "descriptor", "message"), subject.version)
        expected = ("descriptor", "message") if address.startswith("unix:") else ("message",)
        assert client.memory.transports == expected
        client.close()


def _check_sharing(subject: RemoteSubject, transport: str) -> None:
    """See bytes of an app, and of an app in a process of its own, arrive."""
    application = subject.application(10_009)
    assert isinstance(application, RemoteApplication)
    address, ticket = ticket_of(subject, 10_010)
    visitor = ClientSubject(address, ticket, (transport,), subject.version, subject.shared_folder)
    try:
        for one in (application, visitor._application):
            assert one.memory.transports == (transport,)
            pool = one.memory.create("ashmem", 4)
            pool.write(0, b"seen")
            request = MemoryRead(pool.memory.token, 0, 4)
            found: Any = one.connection.call("memory.read", request, bytes)
            assert found == b"seen"
            pool.close()
    finally:
        visitor.close()


def test_a_descriptor_needs_no_right(tmp_path: Path, secret: Path) -> None:
    """Who can open a file itself may hand it over."""
    request = json.dumps(call("memory.attach", token=3, size=4, transport="descriptor")).encode() + b"\n"
    with (
        served("echo_plugin:plugin", "unix", tmp_path) as found,
        bearer(*found, ("message",)) as (client, _),
        secret.open("r+b") as file,
    ):
        socket.send_fds(client.connection, [request], [file.fileno()])
        assert json.loads(client.lines.readline())["result"] is None
