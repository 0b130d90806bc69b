"""The targets whose inputs are lines: a server of this process, and a second connection to a running subject."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping, Sequence
from typing import Any, cast

import msgspec

from npu_conformance.fuzz.lib import wire_lines
from npu_conformance.fuzz.lib.choices import Choices
from npu_conformance.fuzz.lib.findings import BEHIND_OTHERS, Found, kind_of, raised, where_of
from npu_conformance.fuzz.lib.scripted_socket import ScriptedSocket
from npu_conformance.fuzz.lib.target import Attacked
from npu_conformance.fuzz.lib.wire_judge import answers_seen, judge, read_answer
from npu_conformance.harness.judge import checks
from npu_conformance.harness.judge.verdicts import Failed, Hung, NotApplicable
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.harness.subject.plugin_loading import is_elsewhere, load_plugin, with_version
from npu_conformance.harness.wire.framing import LineSocket, Lost, TimedOut, Violation, WireError
from npu_conformance.harness.wire.session import HostConnection, HostState
from npu_conformance.specs.plugin import Caller, Plugin
from npu_conformance.specs.versions import Version

LINE_LIMIT = 16384
"""Bytes of the longest line that the attacked server takes."""

_PROBE = 2**52 + 77
_PING = msgspec.json.encode({"jsonrpc": "2.0", "id": _PROBE, "method": "ping", "params": {}})
_UID = 10099
_CONNECTIONS = 16
"""To one host, one after the other."""
_MOST_TO_READ = 10_000
_LAST_WORDS_SECONDS = 0.2


class _Lines:
    """What both targets share: inputs are lines. See Target."""

    name = "wire"
    seeds: Sequence[bytes]

    def mutate(self, data: bytes, choices: Choices, max_size: int) -> bytes:
        """Edit, drop, double, nest or borrow lines."""
        return wire_lines.mutate(data, choices, self.seeds, max_size)

    def pieces(self, data: bytes) -> list[bytes]:
        """Without one line; with half of one line."""
        lines = data.split(b"\n")
        without = [b"\n".join(lines[:index] + lines[index + 1 :]) for index in range(len(lines) - 1, -1, -1)]
        cuts = [
            b"\n".join([*lines[:index], part, *lines[index + 1 :]])
            for index, line in enumerate(lines)
            for part in (line[: len(line) // 2], line[len(line) // 2 :])
        ]
        return without + cuts

    def readable(self, data: bytes) -> bytes:
        """Lines are text already."""
        return data

    def forget(self) -> None:
        """Connections are made for each input, and hosts of this process outlive a restart."""


class WireTarget(_Lines):
    """A server of this process, run in this thread: a connection for each input, and a host for some of them.

    To make a plug-in's objects takes more time than a conversation. What fails is tried again on a host of its own.
    """

    def __init__(
        self,
        plugin: Plugin,
        options: Mapping[str, str],
        version: Version,
        session: type[HostConnection] = HostConnection,
    ) -> None:
        self._plugin = plugin
        self._options = dict(options)
        self._session = session
        self._caller = Caller(os.getuid(), os.getpid())
        self._begin_anew()
        self.seeds = wire_lines.seeds(version)

    def run(self, data: bytes) -> tuple[str, ...]:
        """Send the lines, then one request that must be answered whatever came before."""
        lines = [line for line in data.split(b"\n") if not wire_lines.is_greedy(line)]
        if self._connections >= _CONNECTIONS or b'"options"' in data:
            self._begin_anew()
        self._connections += 1
        try:
            return self._converse(lines)
        except Exception as ended:
            has_past = self._connections > 1
            self._begin_anew()
            if not has_past:
                raise
            self._converse(lines)
            where = f"{where_of(ended)} {BEHIND_OTHERS}"
            raise Found(kind_of(ended), f"{ended} (only after other connections)", where) from None

    def _begin_anew(self) -> None:
        self._host, self._connections = HostState(self._plugin, self._options), 0

    def _converse(self, lines: list[bytes]) -> tuple[str, ...]:
        connection = ScriptedSocket(b"\n".join([*lines, wire_lines.HELLO, _PING, b""]), _reaction)
        served = LineSocket(cast(Any, connection), LINE_LIMIT)
        session = self._session(served, self._host, self._caller, control=True, open_to_all=True)
        try:
            session.serve()
        except Exception as error:
            raise raised("the server", error, "which ends it") from error
        sent = bytes(connection.sent).split(b"\n")[:-1]
        if any(len(line) > LINE_LIMIT for line in lines):
            self._judge_limit(session, sent)
        else:
            judge([*lines, wire_lines.HELLO, _PING], sent)
        return answers_seen(lines, sent)

    def _judge_limit(self, session: HostConnection, sent: list[bytes]) -> None:
        if not isinstance(session.broken, Violation):
            raise Failed(f"a line above the limit: expected the connection to end for it, found {session.broken}")
        for line in sent:
            read_answer(line)


def served(attacked: Attacked) -> WireTarget:
    """A server of this process with the attacked plug-in behind it. NotApplicable where that is another process."""
    if is_elsewhere(attacked.plugin):
        raise NotApplicable(f"{attacked.plugin} has a server of its own; broken lines are for what Python loads")
    plugin = load_plugin(attacked.plugin)
    version = attacked.subject.version
    return WireTarget(plugin, with_version(plugin, attacked.plugin, attacked.options, version), version)


def _reaction(line: bytes) -> bytes:
    """Answer the server's own requests with 1, a state of a fence, so that it does not wait for ever."""
    try:
        message = msgspec.json.decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return b""
    if not isinstance(message, dict) or "method" not in message or message.get("id") is None:
        return b""
    return msgspec.json.encode({"jsonrpc": "2.0", "id": message["id"], "result": 1}) + b"\n"


class ConnectionTarget(_Lines):
    """A second connection to a running subject, new for each input."""

    def __init__(self, context: CaseContext) -> None:
        self._context = context
        self.seeds = wire_lines.seeds(context.version)

    def run(self, data: bytes) -> tuple[str, ...]:
        """Send the lines and a request that must be answered; read until that answer."""
        application = self._context.subject.application(_UID)
        try:
            served: LineSocket | None = getattr(getattr(application, "connection", None), "lines", None)
            if served is None:
                raise NotApplicable("the subject's connections do not show their lines")
            lines = [line for line in data.split(b"\n") if not wire_lines.is_greedy(line)]
            return answers_seen(lines, self._converse(served, lines))
        finally:
            application.close()

    def _converse(self, served: LineSocket, lines: list[bytes]) -> list[bytes]:
        asked = [*lines, wire_lines.HELLO, _PING]
        seconds = self._context.manifest.deadlines.call * self._context.manifest.time_scale
        sent: list[bytes] = []
        try:
            served.send(b"".join(line + b"\n" for line in asked), _after(seconds))
            while not sent or read_answer(sent[-1]).id != _PROBE:
                checks.that(len(sent) < _MOST_TO_READ, f"expected an answer to each line, found {len(sent)} lines")
                sent.append(served.receive(_after(seconds)).rstrip(b"\n"))
        except TimedOut:
            raise Hung(f"no answer to a request behind hostile lines within {seconds:g} s") from None
        except Lost:
            # Where the whole host has died, the control connection tells how.
            self._context.subject.wait_until(lambda: False, _LAST_WORDS_SECONDS)
            raise Failed("the connection did not survive hostile lines") from None
        except WireError as problem:
            raise Failed(f"hostile lines were answered with {problem}") from None
        judge(asked, sent, counts_unreadable=False)
        return sent


def _after(seconds: float) -> float:
    return time.monotonic() + seconds
