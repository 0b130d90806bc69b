"""Which answers a conversation must have: one to each request and to each unreadable line, and no others."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence

import msgspec

from npu_conformance.fuzz.lib.findings import Found, Kind
from npu_conformance.harness.judge import checks
from npu_conformance.harness.judge.verdicts import Failed
from npu_conformance.harness.wire import protocol
from npu_conformance.harness.wire.decoding import UNREADABLE
from npu_conformance.harness.wire.framing import truncated
from npu_conformance.specs.diagnostics import stacks


class _Outgoing(msgspec.Struct):
    """Anything a server may send. params, result: any JSON."""

    jsonrpc: str
    id: int | None = None
    method: str | None = None
    params: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET
    result: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET
    error: protocol.ErrorObject | msgspec.UnsetType | None = msgspec.UNSET


_QUOTED = re.compile(r"""'[^']*'|"[^"]*"|\d+""")
_SENT = msgspec.json.Decoder(_Outgoing)
_RECEIVED = msgspec.json.Decoder(protocol.Envelope)


def expected_answers(lines: Iterable[bytes]) -> Counter[int | None]:
    """How many answers each id must have; id null for lines whose id cannot be read, and for stray answers."""
    counts: Counter[int | None] = Counter()
    for line in lines:
        try:
            message = _RECEIVED.decode(line)
        except UNREADABLE:
            counts[None] += 1
            continue
        is_stray = message.result is not msgspec.UNSET or message.error is not None
        if message.method is not None:
            counts.update([message.id] if message.id is not None else [])
        else:
            counts[None if is_stray else message.id] += 1
    return counts


def read_answer(line: bytes) -> _Outgoing:
    """One line from the server. Failed where it is not JSON-RPC 2.0, or reports an exception that nobody planned."""
    try:
        message = _SENT.decode(line)
    except UNREADABLE as error:
        raise Failed(f"the server sent what is not a message: {error}: {truncated(line)}") from None
    if message.jsonrpc != "2.0":
        raise Failed(f"version of the message {truncated(line)}: expected 2.0, found {message.jsonrpc}")
    has_error = isinstance(message.error, protocol.ErrorObject)
    answers, expected = (message.result is not msgspec.UNSET) + has_error, 0 if message.method else 1
    if answers != expected:
        raise Failed(f"results and errors in the message {truncated(line)}: expected {expected}, found {answers}")
    if isinstance(message.error, protocol.ErrorObject) and message.error.code == protocol.INTERNAL_ERROR:
        raise _crossed(message.error)
    return message


def _crossed(error: protocol.ErrorObject) -> Found:
    """The finding that an exception, told as an error of the server's own, has crossed the wire."""
    what = "an exception that nobody planned crosses the wire"
    told = error.data.traceback if error.data else None
    cause = stacks.cause(told) if isinstance(told, str) else ""
    kind: Kind = "memory" if error.message.startswith("MemoryError") else "wrong-status"
    where = f"{what}: {error.message.partition(':')[0]}{f' at {cause}' if cause else ''}"
    return Found(kind, f"{what}: {error.message}", where)


def answers_seen(asked: Sequence[bytes], sent: Sequence[bytes]) -> tuple[str, ...]:
    """What tells one conversation from others: each method with how it was answered."""
    answers = {message.id: _manner(message) for message in map(read_answer, sent)}
    seen = set()
    for line in asked:
        try:
            message = _RECEIVED.decode(line)
        except UNREADABLE as error:
            seen.add(f"unreadable {type(error).__name__} {answers.get(None)}")
        else:
            seen.add(f"{truncated((message.method or '').encode())} {answers.get(message.id)}")
    return tuple(sorted(seen))


def _manner(message: _Outgoing) -> str:
    """Result, the code of the error with its words but without what the caller wrote, or the server's own call."""
    if message.method is not None:
        return message.method
    if not isinstance(message.error, protocol.ErrorObject):
        return "result"
    return f"{message.error.code} {_QUOTED.sub('', message.error.message)[:80]}"


def judge(asked: Sequence[bytes], sent: Sequence[bytes], *, counts_unreadable: bool = True) -> None:
    """Raise Failed unless every line that was asked has its answers and no other.

    counts_unreadable: false where another parser than ours decides which lines can be read.

    Once the server calls the client, lines that follow answer it as they come, so that counting says nothing.
    """
    messages = [read_answer(line) for line in sent]
    if any(message.method is not None and message.id is not None for message in messages):
        return
    found = Counter(message.id for message in messages if message.method is None)
    expected = expected_answers(asked)
    for number in {**expected, **found}:
        if number is None and not counts_unreadable:
            continue
        what = f"number of answers to {'lines without an id' if number is None else f'request {number}'}"
        checks.equal(found[number], expected[number], what)
