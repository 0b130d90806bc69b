"""Serve a Python plug-in to harnesses that connect: `npu-conformance serve PLUGIN --listen ADDRESS`.

ADDRESS is unix:PATH (made with mode 0600) or tcp:HOST:PORT (loopback only; port 0 takes a free one). The address that
was bound is printed as the first line. --key-file F: a client that knows the file's content gets a control connection,
others need a ticket; the file is made, mode 0600, where it does not exist. tcp: needs one, since nothing else keeps
other users of the machine out.
"""

from __future__ import annotations

import argparse
import contextlib
import ipaddress
import os
import secrets
import signal
import socket
import stat
import sys
from collections.abc import Callable, Iterator, Mapping

from npu_conformance.harness.judge.outcome_table import OK, USAGE
from npu_conformance.harness.subject.addresses import host_and_port, within_reach
from npu_conformance.harness.subject.host import limit_memory, listen_unix, serve_connection, serve_in_thread
from npu_conformance.harness.subject.plugin_loading import LoadError, load_plugin, manifest_of, read_key
from npu_conformance.harness.subject.plugin_options import parse_options, require_options
from npu_conformance.harness.wire.framing import LineSocket
from npu_conformance.harness.wire.protocol import SOCKET_VARIABLE
from npu_conformance.harness.wire.session import HostState
from npu_conformance.specs.documents import DocumentError
from npu_conformance.specs.forked import end_with_parent
from npu_conformance.specs.plugin import Plugin


def serve(
    plugin: Plugin,
    address: str,
    options: Mapping[str, str] | None = None,
    key: str | None = None,
    announce: Callable[[str], None] = lambda address: None,
    *,
    own_process: bool = False,
) -> None:
    """Serve until interrupted. announce: gets the bound address. Raises LoadError for an address that cannot be had.

    Without a key, connections over unix: are control connections, since the file's mode keeps others out; over tcp:
    nothing does, and the address cannot be had.
    """
    if key is None and address.startswith("tcp:"):
        raise LoadError(f"cannot listen on {address} without a key: any user may connect there; give --key-file FILE")
    listener, bound = listen(address)
    host = HostState(plugin, dict(options or {}), key=key, address=lambda: None, own_process=own_process)
    try:
        announce(bound)
        while True:
            connection, _ = listener.accept()
            serve_in_thread(LineSocket(connection), host, control=key is None, open_to_all=key is None)
    finally:
        listener.close()
        if bound.startswith("unix:"):
            with contextlib.suppress(FileNotFoundError):
                os.unlink(bound.removeprefix("unix:"))


def listen(address: str) -> tuple[socket.socket, str]:
    """Bind an address; return the listener and the address as bound. Raises LoadError."""
    scheme, _, rest = address.partition(":")
    try:
        if scheme == "unix":
            _remove_deserted(rest)
            return listen_unix(rest), address
        if scheme == "tcp":
            return _listen_tcp(*host_and_port(rest))
    except (OSError, ValueError, OverflowError) as error:
        raise LoadError(f"cannot listen on {address}: {getattr(error, 'strerror', None) or error}") from None
    raise LoadError(f"not an address: {address!r}: expected unix:PATH or tcp:HOST:PORT")


def _remove_deserted(path: str) -> None:
    """Remove the socket file of a server that was killed: nobody listens there any more."""
    if not os.path.exists(path) or not stat.S_ISSOCK(os.lstat(path).st_mode):
        return
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
        probe.setblocking(False)
        try:
            with within_reach(path) as name:
                probe.connect(name)
        except BlockingIOError:
            return  # somebody listens there, and has much to do
        except ConnectionRefusedError:
            os.unlink(path)


def read_or_make_key(path: str) -> str:
    """Return the key in a file; make the file where there is none. Raises LoadError."""
    try:
        if not os.path.exists(path):
            descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            with open(descriptor, "w") as file:
                file.write(secrets.token_hex(32))
    except OSError as error:
        raise LoadError(f"key file {path}: {error.strerror}") from None
    key = read_key(path)
    if not key:  # an empty key is one that everybody knows
        raise LoadError(f"key file {path}: it is empty; without the file a key is drawn")
    return key


def main(arguments: list[str] | None = None) -> int:
    """Run the module as a program; USAGE where the plug-in or the address cannot be had."""
    parser = argparse.ArgumentParser(prog="python -m npu_conformance.harness.subject.serve", description=__doc__)
    add_arguments(parser)
    try:
        return execute(parser.parse_args(arguments))
    except (LoadError, DocumentError) as error:
        print(error, file=sys.stderr)
        return USAGE


def execute(parsed: argparse.Namespace) -> int:
    """Serve until interrupted. Raises LoadError where the plug-in, an option of it or the address cannot be had;
    DocumentError for a word that is no option.
    """
    options = parse_options(parsed.plugin_option)
    if parsed.end_with_parent:
        end_with_parent()
    try:
        if parsed.inherited is not None:
            _serve_inherited(load_plugin(parsed.plugin), options, parsed.inherited)
        else:
            _serve_listening(parsed, options)
    except KeyboardInterrupt:
        pass
    return OK


def _serve_listening(parsed: argparse.Namespace, options: dict[str, str]) -> None:
    with _only_the_address() as announce:
        plugin = load_plugin(parsed.plugin)
        require_options(manifest_of(plugin, parsed.plugin, options), parsed.plugin, options)
        key = read_or_make_key(parsed.key_file) if parsed.key_file else None
        with _interrupted_by_sigterm():  # the socket's file goes with the server
            serve(plugin, parsed.listen, options, key, announce, own_process=True)


@contextlib.contextmanager
def _only_the_address() -> Iterator[Callable[[str], None]]:
    """Gives what prints the address on standard output, where it is the first line: all else goes to standard error."""
    sys.stdout.flush()
    output = os.dup(1)
    os.dup2(2, 1)

    def announce(address: str) -> None:
        os.write(output, os.fsencode(f"{address}\n"))

    try:
        yield announce
    finally:
        sys.stdout.flush()
        os.dup2(output, 1)
        os.close(output)


@contextlib.contextmanager
def _interrupted_by_sigterm() -> Iterator[None]:
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command line."""
    parser.add_argument("plugin", help="entry point or package.module:name")
    where = parser.add_mutually_exclusive_group(required=True)
    where.add_argument("--listen", metavar="ADDRESS", help="unix:PATH or tcp:HOST:PORT")
    where.add_argument("--inherited", metavar="DIRECTORY", help=argparse.SUPPRESS)  # the socket in NPU_CONFORMANCE_FD
    parser.add_argument(
        "--key-file",
        metavar="FILE",
        help="file with the key of the control connection, created if it is missing; tcp needs one",
    )
    parser.add_argument("--plugin-option", metavar="NAME=VALUE", action="append", default=[])
    parser.add_argument("--end-with-parent", action="store_true", help=argparse.SUPPRESS)  # of the demo


def _serve_inherited(plugin: Plugin, options: dict[str, str], directory: str) -> None:
    connection = socket.socket(fileno=int(os.environ[SOCKET_VARIABLE]))
    limit_memory(plugin.describe(options).memory_limit)
    serve_connection(connection, plugin, options, directory)


def _listen_tcp(host: str, port: int) -> tuple[socket.socket, str]:
    if host != "localhost" and not ipaddress.ip_address(host).is_loopback:
        raise ValueError("expected a loopback address")
    listener = socket.create_server((host, port), family=socket.AF_INET6 if ":" in host else socket.AF_INET)
    name = listener.getsockname()
    shown = f"[{name[0]}]" if ":" in host else name[0]
    return listener, f"tcp:{shown}:{name[1]}"


if __name__ == "__main__":
    sys.exit(main())
