"""On the wire: bytes that a driver sends instead of its answer, or before it; and what it does not read."""

from __future__ import annotations

import contextlib
import os
import select
import socket
import sys
import time
from collections.abc import Callable, Iterable
from typing import Any

import msgspec

from npu_conformance.specs.errors import InterfaceError
from rooms.kind import LATER, Call, Kind, Verdict, sleep

SOCKET = 3
_VERSION = b'{"jsonrpc": "2.0", '
_MEGABYTE = 1 << 20


def _send(data: bytes) -> None:
    while data:
        with contextlib.suppress(BlockingIOError):  # the host's socket has a timeout, and the harness reads slowly
            data = data[os.write(SOCKET, data) :]


def _read_some() -> None:
    select.select([SOCKET], [], [])  # the host's socket has a timeout, and the harness answers slowly
    os.read(SOCKET, _MEGABYTE)


def _serving() -> dict[str, Any]:
    """The frame of whoever called the driver: its `request`, and `self`, the connection."""
    frame = sys._getframe()
    while "request" not in frame.f_locals:
        assert frame.f_back is not None
        frame = frame.f_back
    return frame.f_locals


def _request() -> Any:
    return _serving()["request"]


def _connection() -> Any:
    return _serving()["self"]


def _numbered(data: bytes) -> bytes:
    return data.replace(b"ID", str(_request().id).encode())


def _says(data: bytes) -> Callable[[Call], object]:
    """Send a line, and then answer as usual. ID in it: the number of the request."""
    return lambda call: _send(_numbered(data) + b"\n")


def _answers_by(data: bytes) -> Callable[[Call], object]:
    """Send a line in the place of the answer."""

    def act(call: Call) -> None:
        call.silent = True
        _says(data)(call)
        msgspec.structs.force_setattr(_request(), "id", None)

    return act


def _only_says(data: bytes, end: bytes = b"\n") -> Callable[[Call], object]:
    """Send bytes, and nothing more."""

    def act(call: Call) -> None:
        _send(_numbered(data) + end)
        sleep()

    return act


def _message(body: str) -> bytes:
    return _VERSION + body.encode() + b"}"


def _asks(method: str, params: str = "{}") -> bytes:
    return _message(f'"id": 900, "method": "{method}", "params": {params}')


def _tells(method: str, params: str = "{}") -> bytes:
    return _message(f'"method": "{method}", "params": {params}')


def _answers(result: str, number: str = "ID") -> bytes:
    return _message(f'"id": {number}, "result": {result}')


def _fails(error: str) -> bytes:
    return _message(f'"id": ID, "error": {error}')


def _half_then_exit(call: Call) -> None:
    _send(_VERSION)
    os._exit(0)


def _drip(call: Call) -> None:
    for byte in _answers('"' + "x" * 4096 + '"'):
        os.write(SOCKET, bytes([byte]))
        time.sleep(0.02)


def _line_without_end(call: Call) -> None:
    while True:
        _send(b"x" * _MEGABYTE)


def _ask_unread(line: bytes, count: int) -> Callable[[Call], object]:
    def act(call: Call) -> None:
        _send((line + b"\n") * count)
        sleep()

    return act


def _chatter(call: Call) -> None:
    while True:
        _send(_tells("object.release", '{"object": -1, "count": 0}') + b"\n")


def _ask_for_file(method: str, more: str = "") -> Callable[[Call], object]:
    """Ask about the file that the harness keeps, many times, and read no answer."""

    def act(call: Call) -> None:
        _send((_asks(method, f'{{"token": {call.file}{more}}}') + b"\n") * 3000)
        sleep()

    return act


def _duplicate_for_ever(call: Call) -> None:
    """Ask for more open files than a process may have; the answers are for nobody."""
    for _ in range(300):
        _send((_asks("file.duplicate", f'{{"token": {call.file}}}') + b"\n") * 100)
        _read_some()
    sleep()


def _file(name: str, does: str, method: str, **params: object) -> Kind:
    """Ask the harness for what is wrong with a file that it keeps: that is refused, and the driver goes on."""

    def act(call: Call) -> None:
        with contextlib.suppress(InterfaceError):
            _connection().call(method, {"token": call.file, **params}, None)
            raise AssertionError("it was not refused")

    return Kind(f"file_{name}", does, "pass", "", act, transport="message")


def _descriptors(messages: int, each: int, line: bytes) -> Callable[[Call], object]:
    def act(call: Call) -> None:
        end = socket.socket(fileno=os.dup(SOCKET))
        for _ in range(messages):
            socket.send_fds(end, [line], [0] * each)

    return act


_RELEASE = _tells("object.release", '{"object": -1, "count": 0}')
_SILENT = f"no answer within {LATER:g} s (host killed)"
_NOT_JSON, _NOT_A_MESSAGE = "not JSON: ", "not a message: "
_UNANSWERABLE, _NOT_OUTSTANDING = "a call that cannot be answered: ", "which is not outstanding"


def _fail(rows: Iterable[tuple[str, str, str, bytes]]) -> tuple[Kind, ...]:
    """Kinds that are a line in the place of the answer: name, in words, the verdict's words, the line."""
    return tuple(Kind(name, does, "fail", says, _answers_by(line)) for name, does, says, line in rows)


def _silent(rows: Iterable[tuple[str, str, Verdict, str, Callable[[Call], object]]]) -> tuple[Kind, ...]:
    """Kinds that end by the deadline."""
    return tuple(Kind(name, does, verdict, says, act, LATER) for name, does, verdict, says, act in rows)


def _ask_of_harness(rows: Iterable[tuple[str, bytes]]) -> tuple[Kind, ...]:
    """Kinds that ask the harness for what only a driver does."""
    return tuple(Kind(name, "asks the harness for it", "fail", "no method", _answers_by(line)) for name, line in rows)


KINDS = (
    *_fail((
        ("garbage", "sends bytes that are nothing", _NOT_JSON, b"\x00\xff garbage"),
        ("zeros", "sends zeros", _NOT_JSON, bytes(1000)),
        ("empty_line", "sends an empty line", _NOT_JSON, b""),
        ("blank_line", "sends a blank line", _NOT_JSON, b"   \t "),
        ("greeting", "greets as a terminal program does", _NOT_JSON, b"Welcome to my driver"),
        ("terminal_codes", "sends what a terminal obeys", "\\x1b[2J", b"\x1b[2J\x1b]0;title\x07"),
        ("half_an_object", "sends a line that is cut off", _NOT_JSON, b'{"jsonrpc": "2.0", "id"'),
        ("single_quotes", "quotes as Python does", _NOT_JSON, b"{'jsonrpc': '2.0'}"),
        ("comment", "comments on its answer", _NOT_JSON, b"/* ok */ " + _answers("null")),
        ("two_on_a_line", "sends two messages in a line", _NOT_JSON, _answers("null") + _answers("null")),
        ("byte_order_mark", "begins with a byte order mark", _NOT_JSON, b"\xef\xbb\xbf" + _answers("null")),
        ("utf_16", "writes in UTF-16", _NOT_JSON, _answers("null").decode().encode("utf-16-le").replace(b"\n", b"")),
        ("bad_utf_8", "writes no UTF-8", _NOT_JSON, _message('"method": "?"').replace(b"?", b"\xff\xfe")),
        ("half_a_surrogate", "names half a character", _NOT_JSON, _message(r'"method": "\ud800"')),
        ("bare_nan", "writes NaN", _NOT_JSON, _message('"id": ID, "result": NaN')),
        ("bare_infinity", "writes Infinity", _NOT_JSON, _message('"id": ID, "result": -Infinity')),
        ("leading_zero", "writes a number with a leading zero", _NOT_JSON, _answers("null", "01")),
        ("trailing_comma", "writes a comma too many", _NOT_JSON, _message('"id": ID, "result": null,')),
        ("deep_array", "nests arrays", "got `array`", b"[" * 100_000),
        ("deep_object", "nests objects", "recursion", b'{"x":' * 100_000),
        ("deep_result", "nests arrays in a result", "recursion", _answers("[" * 100_000 + "]" * 100_000)),
        ("batch", "answers in a batch", "Expected `object`, got `array`", b"[" + _answers("null") + b"]"),
        ("empty_batch", "sends a batch of nothing", "Expected `object`, got `array`", b"[]"),
        ("bare_number", "sends a number", "Expected `object`, got `int`", b"17"),
        ("bare_string", "sends a string", "Expected `object`, got `str`", b'"ok"'),
        ("bare_null", "sends null", "Expected `object`, got `null`", b"null"),
        ("neither", "sends neither result nor error", "neither method, result nor error", _message('"id": ID')),
        ("id_float", "answers with a number that is no integer", _NOT_A_MESSAGE, _answers("null", "1.5")),
        ("id_string", "answers with a string for a number", _NOT_A_MESSAGE, _answers("null", '"ID"')),
        ("id_object", "answers with an object for a number", _NOT_A_MESSAGE, _answers("null", "{}")),
        ("id_true", "answers with true for a number", _NOT_A_MESSAGE, _answers("null", "true")),
        ("id_null", "answers nobody", "an answer without an id", _answers("null", "null")),
        ("id_wrong", "answers a request that nobody made", _NOT_OUTSTANDING, _answers("null", "4711")),
        ("id_negative", "answers a request before the first", _NOT_OUTSTANDING, _answers("null", "-1")),
        ("id_huge", "answers a request of 300 digits", _NOT_OUTSTANDING, _answers("null", "9" * 300)),
        ("id_2_64", "answers a request beyond 64 bits", _NOT_OUTSTANDING, _answers("null", str(1 << 64))),
        ("answer_to_the_first", "answers the handshake again", _NOT_OUTSTANDING, _answers("null", "1")),
        ("result_of_wrong_type", "returns what the method does not", "of the wrong type", _answers('"one"')),
        ("result_list", "returns a list for nothing", "of the wrong type", _answers("[null]")),
        ("error_string", "fails with a string", _NOT_A_MESSAGE, _fails('"no"')),
        ("error_without_code", "fails without a code", _NOT_A_MESSAGE, _fails('{"message": "no"}')),
        ("error_code_string", "fails with words for a code", _NOT_A_MESSAGE, _fails('{"code": "E1"}')),
        ("error_code_unknown", "fails with a code of its own", "error 77: no", _fails('{"code": 77, "message": "no"}')),
        ("error_code_huge", "fails with a code of 300 digits", "error 9999", _fails('{"code": %s}' % ("9" * 300))),
        ("error_message_number", "fails with a number for words", _NOT_A_MESSAGE, _fails('{"code": 1, "message": 2}')),
        ("error_for_terminals", "fails with what a terminal obeys", "\\x1b[2J",
         _fails(r'{"code": 77, "message": "\u001b[2J\u0000\n\u202e"}')),
        ("error_of_32_mb", "fails with 32 MB of words", "characters more",
         _fails('{"code": 77, "message": "%s"}' % ("x" * (32 * _MEGABYTE)))),
        ("error_traceback_of_32_mb", "fails with 32 MB of a traceback", "error 77",
         _fails('{"code": 77, "data": {"traceback": "%s"}}' % ("y\\n" * (8 * _MEGABYTE)))),
        ("error_status_string", "refuses with words for a status", _NOT_A_MESSAGE,
         _fails('{"code": -32001, "data": {"status": "BAD"}}')),
        ("error_without_status", "refuses without a status", "without data.status", _fails('{"code": -32001}')),
        ("parse_error_of_nobody", "did not understand what nobody sent", "what?",
         _message('"id": null, "error": {"code": -32700, "message": "what?"}')),
        ("method_number", "calls a number", _NOT_A_MESSAGE, _message('"method": 5')),
        ("method_empty", "calls nothing", _UNANSWERABLE, _asks("")),
        ("method_of_a_megabyte", "calls a method with a long name", "no method xxxx", _asks("x" * _MEGABYTE)),
        ("params_list", "passes a list", _UNANSWERABLE, _asks("preparedModelCallback.notify", "[1, 2]")),
        ("params_null", "passes null", _UNANSWERABLE, _asks("preparedModelCallback.notify", "null")),
        ("params_missing", "passes nothing", _UNANSWERABLE,
         _message('"id": 5, "method": "preparedModelCallback.notify"')),
        ("params_of_another_type", "passes strings for numbers", _UNANSWERABLE,
         _asks("preparedModelCallback.notify", '{"object": "-1", "status": 0, "preparedModel": null}')),
        ("object_never_given", "calls an object that it was never given", "object -99 was never given",
         _tells("preparedModelCallback.notify", '{"object": -99, "status": 0, "preparedModel": null}')),
        ("object_of_its_own", "calls its own object at the other end", _UNANSWERABLE,
         _tells("preparedModelCallback.notify", '{"object": 1, "status": 0, "preparedModel": null}')),
        ("object_zero", "calls object 0", "object 0 was never given",
         _tells("preparedModelCallback.notify", '{"object": 0, "status": 0, "preparedModel": null}')),
        ("object_huge", "calls an object of 300 digits", _UNANSWERABLE,
         _tells("preparedModelCallback.notify", '{"object": -%s, "status": 0, "preparedModel": null}' % ("9" * 300))),
        ("fence_never_given", "settles a fence that it was never given", "no method fence.signal",
         _tells("fence.signal", '{"object": -99}')),
        ("release_strings", "releases words", _UNANSWERABLE, _asks("object.release", '{"object": "a", "count": "b"}')),
    )),
    *_ask_of_harness((
        ("ask_exec", _asks("harness.exec")),
        ("ask_dunder", _asks("preparedModelCallback.__init__")),
        ("ask_class", _asks("preparedModelCallback.__class__")),
        ("ask_initialize", _asks("initialize")),
        ("ask_memory_read", _asks("memory.read", '{"token": 1, "offset": 0, "length": 1}')),
        ("ask_memory_attach", _asks("memory.attach",
         '{"token": 1, "size": 1, "transport": "path", "path": "/etc/passwd"}')),
        ("ask_file_attach", _asks("file.attach",
         '{"token": 1, "transport": "path", "access": "read", "path": "/etc/passwd"}')),
        ("ask_ticket", _asks("control.ticket", '{"uid": 0}')),
    )),
    Kind("carriage_returns", "ends lines as other systems do", "pass", "", _says(_RELEASE + b"\r")),
    Kind("tabs", "indents its messages", "pass", "", _says(_RELEASE.replace(b" ", b"\t"))),
    Kind("notifications", "tells 10,000 things", "pass", "", _says(b"\n".join([_RELEASE] * 10_000))),
    Kind("unknown_fields", "adds fields", "pass", "", _says(_RELEASE[:-1] + b', "more": [1, {"x": null}]}')),
    _file("unknown", "reads a file that it was not given", "file.read", token=4711, offset=0, length=1),
    _file("before_its_start", "reads before the first byte", "file.read", offset=-1, length=1),
    _file("beyond_64_bits", "reads beyond 64 bits", "file.read", offset=1 << 70, length=1),
    _file("of_a_terabyte", "makes a cache file of a terabyte", "file.truncate", size=1 << 40),
    _file("of_negative_size", "makes a cache file of less than nothing", "file.truncate", size=-1),
    _file("written_far_away", "writes behind all files", "file.write", offset=1 << 62, data="AAAA"),
    _file("duplicated_unknown", "duplicates what it was not given", "file.duplicate", token=-5),
    Kind("descriptors", "sends 16 descriptors unasked", "pass", "", _descriptors(1, 16, _RELEASE + b"\n")),
    Kind("descriptors_without_end", "sends 30,000 descriptors", "fail", "descriptors",
         _descriptors(2000, 15, _RELEASE + b"\n")),
    Kind("line_without_end", "sends a line without an end", "fail", "longer than the limit of 67108864 bytes",
         _line_without_end),
    Kind("half_then_exit", "ends in the middle of a line", "crash", "half a line", _half_then_exit),
    Kind("answer_twice", "answers twice", "fail", _NOT_OUTSTANDING,
         _answers_by(_tells("preparedModelCallback.notify", '{"object": -1, "status": 0, "preparedModel": 9}') + b"\n"
                     + _answers("null") + b"\n" + _answers("null"))),
    Kind("release_never_given", "releases what it was never given", "pass", "",
         _says(_tells("object.release", '{"object": 5, "count": 1}'))),
    *_silent((
        ("half_a_line", "sends half a line", "fail", "half a line, and not its end within", _only_says(_VERSION, b"")),
        ("drip", "sends a byte now and then", "fail", "half a line, and not its end within", _drip),
        ("chatter", "sends what is legal, for ever", "hang", _SILENT, _chatter),
        ("deaf", "asks 20,000 times and reads no answer", "hang", "it did not read what it was sent",
         _ask_unread(_asks("object.release", '{"object": -1, "count": 0}'), 20_000)),
        ("late", "answers late", "hang", _SILENT, lambda call: time.sleep(LATER * 4)),
        ("answer_to_nobody_only", "never answers, but tells", "hang", _SILENT, _only_says(_RELEASE)),
    )),
    Kind("deaf_to_a_file", "asks for a file and hangs", "hang", "it did not read what it was sent",
         _ask_for_file("file.read", ', "offset": 0, "length": 65536'), LATER, "message"),
    Kind("duplicate_for_ever", "opens files at the harness for ever", "hang", "no answer within", _duplicate_for_ever,
         LATER, "message"),
)  # fmt: skip
