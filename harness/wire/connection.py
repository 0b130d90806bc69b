"""One connection: calls in both directions over lines of JSON-RPC. The same class serves harness and host."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from copy import copy
from typing import Any

import msgspec

from npu_conformance.harness.wire import decoding, protocol
from npu_conformance.harness.wire.answering import Answering
from npu_conformance.harness.wire.binding import wrongly_returned
from npu_conformance.harness.wire.decoding import UNREADABLE
from npu_conformance.harness.wire.framing import (
    NEVER,
    TICK_SECONDS,
    ClosedHereError,
    LineSocket,
    TimedOut,
    Unread,
    Violation,
    WireError,
    is_readable,
    truncated,
)
from npu_conformance.harness.wire.journal import Page
from npu_conformance.harness.wire.outstanding import Outstanding, Waiter
from npu_conformance.specs.diagnostics import trace
from npu_conformance.specs.errors import DeadObject, InterfaceError, LostObject, Unsupported
from npu_conformance.specs.interfaces import NOT_IMPLEMENTED

_TOGETHER = 64
"""Requests that travel together at most: their answers fit into a socket that nobody reads yet."""
_LEAVING_SECONDS = 1.0
"""How long a thread may take to leave a socket that was shut down; one that handles a message may take longer."""
_thread = threading.local()


@contextlib.contextmanager
def marked_concurrent() -> Iterator[None]:
    """Mark the calls that this thread makes meanwhile, on any connection: they may be handled beside others."""
    before = _is_concurrent()
    _thread.is_concurrent = True
    try:
        yield
    finally:
        _thread.is_concurrent = before


class Connection(Answering):
    """Calls out, and answers calls.

    sign: +1 on the driver's side, -1 on the harness's. strict: a breach of the protocol by the other side ends the
    connection (the harness judges a subject); otherwise it is answered with an error and the connection lives on.
    problem: turns what ended the connection into the exception that the caller sees. page: where its messages are kept.
    """

    def __init__(
        self,
        lines: LineSocket,
        sign: int,
        *,
        strict: bool,
        problem: Callable[[WireError | protocol.RemoteError, str], Exception] | None = None,
        deadline_of: Callable[[str], float] | None = None,
        page: Page | None = None,
    ) -> None:
        super().__init__(lines, sign, strict=strict, deadline_of=deadline_of, page=page)
        self.broken: WireError | None = None
        self._untold: WireError | None = None
        """What ended a message that nobody waits for halfway: whoever sends next tells it."""
        self._problem = problem or _dead_object
        self._page = page
        self._reading = threading.Lock()
        self._soaking = threading.Lock()
        """Held while what was read is put away: in between it is neither in the socket nor among the lines."""
        self._breaking = threading.Lock()
        self._followers = 0
        self._follower_turn = threading.Condition()
        self._outstanding = Outstanding()
        self._late: protocol.Envelope | None = None
        """A call that came after a deadline: it is answered when somebody waits again."""

    def call(
        self, method: str, params: object, result: Any, seconds: float | None = None, descriptor: int | None = None
    ) -> Any:
        """Call and wait. result: the type of the answer. Raises what the other side raised, or `problem`'s verdict."""
        deadline = time.monotonic() + (self._deadline_of(method) if seconds is None else seconds)
        waiter = self._outstanding.add(method)
        call = protocol.ConcurrentCall if _is_concurrent() else protocol.Call
        return self._answer_to(waiter, result, deadline, call(waiter.id, method, params), descriptor)

    def call_each(self, calls: Sequence[tuple[str, object, Any]]) -> list[Any]:
        """Make calls (method, params, type of the answer) one after the other; returns their answers, as `call` does.

        The requests travel together, so that both sides are woken less often. Of calls at once, each waits for the one
        before it: the other side would mix those that it has.
        """
        if _is_concurrent():
            return [self.call(*each) for each in calls]
        return [
            answer
            for start in range(0, len(calls), _TOGETHER)
            for answer in self._call_together(calls[start : start + _TOGETHER])
        ]

    def _call_together(self, calls: Sequence[tuple[str, object, Any]]) -> Iterator[Any]:
        """Each has its deadline from when the one before it was answered: the first without an answer is to blame."""
        waiters = [self._outstanding.add(method) for method, _, _ in calls]
        for waiter, (method, params, _) in zip(waiters, calls, strict=True):
            self._outbox.add(protocol.Call(waiter.id, method, params))
        try:
            for waiter, (method, _, result) in zip(waiters, calls, strict=True):
                yield self._answer_to(waiter, result, time.monotonic() + self._deadline_of(method))
        finally:
            for waiter in waiters:
                self._outstanding.leave(waiter)

    def _answer_to(
        self, waiter: Waiter, result: Any, deadline: float, request: object = None, descriptor: int | None = None
    ) -> Any:
        """Wait for an answer. request: sent before, unless that has been done."""
        method = waiter.method
        try:
            with trace.span("call", method):
                if request is not None:
                    self._send(request, deadline, descriptor)
                while waiter.answer is None:
                    self._advance(waiter, deadline)
            return self._value(waiter.answer, result, method)
        except WireError as problem:
            raise self._failed(problem, method) from None
        finally:
            # Where a callback's exception ended the wait, the answer will still come.
            self._outstanding.leave(waiter)

    def notify(self, method: str, params: object) -> None:
        """Send a message that has no answer."""
        try:
            self._send(protocol.Notification(method, params), time.monotonic() + self._deadline_of(method))
        except WireError as problem:
            raise self._failed(problem, method) from None

    def tell(self, method: str, params: object) -> None:
        """Send a message without an answer, from any thread; a connection that has ended shows at the next call."""
        try:
            self._send(protocol.Notification(method, params), time.monotonic() + self._deadline_of(method))
        except Unread as problem:
            self._untold = problem
        except WireError:
            pass  # the next call meets the same end

    def call_later(self, method: str, params: object, descriptor: int | None = None) -> Waiter:
        """Send a request with the next message and look at its answer (null, or an error) when it comes.

        A descriptor travels with the request's first byte, which is then sent at once.
        """
        waiter = self._outstanding.add(method, later=True)
        request = protocol.Call(waiter.id, method, params)
        if descriptor is None:
            self._outbox.add(request)
            return waiter
        try:
            self._outbox.send(request, time.monotonic() + self._deadline_of(method), descriptor)
        except WireError as problem:
            raise self._failed(problem, method) from None
        return waiter

    def notify_later(self, method: str, params: object) -> None:
        """Send a message that has no answer together with the next one."""
        self._outbox.add(protocol.Notification(method, params))

    def dropped(self, number: int, received: int) -> None:
        """A proxy was garbage collected."""
        self.objects.dropped(number, received)

    def serve(self) -> None:
        """Answer calls until the connection ends."""
        try:
            while True:
                self._advance(None, NEVER)
        except WireError as problem:
            self.broken = problem
        finally:
            self.close()

    def serve_until(self, predicate: Callable[[], bool], seconds: float) -> bool:
        """Answer calls until the predicate holds (true) or the time is over (false).

        A message that has begun by then may take as long as a call to arrive in full.
        """
        return self._serve(predicate, seconds, self._deadline_of("wait"))

    def _serve(self, predicate: Callable[[], bool], seconds: float, seconds_to_end: float) -> bool:
        """As `serve_until`. seconds_to_end: for a message of which a part is there when the time is over."""
        deadline = time.monotonic() + seconds
        try:
            return self._holds_by(predicate, deadline, seconds_to_end)
        except Unread as problem:
            raise self._failed(problem, "a message") from None  # what was sent of it ends within a line
        except TimedOut:
            raise self._failed(TimedOut("waiting"), "a callback") from None
        except WireError as problem:
            raise self._failed(problem, "a message") from None

    def _holds_by(self, predicate: Callable[[], bool], deadline: float, seconds_to_end: float) -> bool:
        try:
            self._require_whole()
            self._outbox.flush(self._answer_by())
            while not predicate():
                self._advance(None, deadline)
            return True
        except Unread:
            raise
        except TimedOut:
            if self._strict and self.lines.partial and self._late is None:
                self._advance(None, time.monotonic() + seconds_to_end)
            return predicate()

    def ready(self) -> bool:
        """True where a message, or the beginning of one, can be read without waiting."""
        with self._soaking:
            return self._late is not None or self.lines.buffered() or is_readable(self.lines.socket)

    def soak(self) -> bool:
        """Read what has arrived without handling it, so that the sender can go on; false where there is nothing."""
        if self.broken is not None or not self._reading.acquire(blocking=False):
            return False
        try:
            with self._soaking:
                return self.lines.soak()
        except (WireError, OSError, ValueError):  # ValueError: this side is closing it, in another thread
            return False  # the next reader gets the error again
        finally:
            self._let_go_of_reading()

    def serve_one(self) -> None:
        """Handle one message, after `ready`; one that has begun may take as long as a call to arrive in full."""
        handled = iter((False, True))
        self._serve(lambda: next(handled), self._deadline_of("wait"), 0.0)

    def close(self) -> None:
        """End the connection. Objects given away are let go."""
        if self.broken is None:
            self.broken = ClosedHereError("the connection was closed by this side")
        self.hang_up()
        self.objects.clear()

    def hang_up(self) -> None:
        """Close the socket once no thread is about to read or send with it.

        The kernel gives its descriptor to the next socket at once: such a thread would take the bytes of a stranger.
        """
        self.lines.shut_down()
        is_reading_here = self._reading.acquire(timeout=_LEAVING_SECONDS)
        try:
            with self._outbox.paused(_LEAVING_SECONDS):
                self.lines.close()
        finally:
            if is_reading_here:
                self._let_go_of_reading()

    def _require_whole(self) -> None:
        problem = self.broken or self._untold
        if problem is not None:
            raise copy(problem)  # raised again itself, it would cut the chain of causes that it stands in

    def _send(self, message: object, deadline: float, descriptor: int | None = None) -> None:
        self._require_whole()
        self._outbox.send(message, deadline, descriptor)

    def _advance(self, waiter: Waiter | None, deadline: float) -> None:
        """Read one message, or let another thread read it; answer it where it is a call."""
        if not self._reading.acquire(blocking=False):
            self._follow(waiter, deadline)
            return
        try:
            request = None if waiter is not None and waiter.answer is not None else self._read(deadline)
            if request is not None and request.method in self.builtins:
                # Memory has to be attached before another thread reads the message that first names it.
                self._answer(request)
                request = None
        finally:
            self._let_go_of_reading()
        if request is None:
            return
        if request.concurrent and not self._strict and request.method not in self.builtins:
            threading.Thread(target=self._answer_alone, args=(request,), daemon=True).start()
        else:
            self._answer(request)

    def _answer_alone(self, request: protocol.Envelope) -> None:
        """Answer in a thread of its own. Where the connection ends meanwhile, the thread that reads finds out."""
        with contextlib.suppress(WireError):
            self._answer(request)

    def _let_go_of_reading(self) -> None:
        """Whoever has read, if only to soak: those that wait for their answers meanwhile look again, or read next."""
        self._reading.release()
        if self._followers:
            with self._follower_turn:
                self._follower_turn.notify_all()

    def _follow(self, waiter: Waiter | None, deadline: float) -> None:
        began = time.monotonic()
        with self._follower_turn:
            self._followers += 1
            if self._reading.locked() and (waiter is None or waiter.answer is None):
                self._follower_turn.wait(min(1.0, max(TICK_SECONDS, deadline - time.monotonic())))
            self._followers -= 1
        if self.lines.patience.is_over(deadline, began):
            raise TimedOut("the deadline has passed")

    def _read(self, deadline: float) -> protocol.Envelope | None:
        """Read a message. An answer goes to its waiter; a call is returned."""
        self._require_whole()
        if self._late is not None:
            late, self._late = self._late, None
            return late
        if not self.lines.buffered():
            self._outbox.flush(deadline)
        line = self.lines.receive(deadline)
        if self._page is not None:
            self._page.log("from driver", line)
        try:
            envelope = decoding.message(line)
        except UNREADABLE as error:
            self._refuse_line(line, error)
            return None
        if self._page is not None:
            self._page.received(line, envelope.id, envelope.method)
        if envelope.method is not None:
            if time.monotonic() > deadline:
                self._late = envelope
                raise TimedOut("the deadline has passed")
            return envelope
        self._route(envelope, line)
        return None

    def _route(self, envelope: protocol.Envelope, line: bytes) -> None:
        if envelope.result is msgspec.UNSET and envelope.error is None:
            self._breach(f"a message with neither method, result nor error: {truncated(line)}", envelope.id)
        elif envelope.id is None and envelope.error is None:
            self._breach(f"an answer without an id, as to a notification, which has none: {truncated(line)}", None)
        elif not self._outstanding.give(envelope):
            known = ", ".join(map(str, self._outstanding.numbers()))
            expected = f"; waited for {known}" if known else ""
            earlier = " any more" if self._outstanding.has_been(envelope.id) else ""
            self._breach(
                f"an answer to request {envelope.id}, which is not outstanding{earlier}{expected}: {truncated(line)}",
                None,
            )

    def _value(self, answer: protocol.Envelope, result: Any, method: str) -> Any:
        if answer.error is not None:
            raise self._raised(answer.error, method)
        raw = b"null" if answer.result is msgspec.UNSET else answer.result
        try:
            return self._decoders.decode(result, raw)
        except UNREADABLE as error:
            all_wrong = decoding.all_wrong_types(bytes(raw)) if result is protocol.Initialized else ""
            wrong = all_wrong or decoding.wrong_type(error, result, bytes(raw)) + wrongly_returned(method)
            raise Violation(wrong) from None
        except (DeadObject, ValueError) as error:
            raise Violation(f"a result with a wrong object: {error}") from None

    def _raised(self, error: protocol.ErrorObject, method: str) -> Exception:
        found = protocol.exception(error)
        if type(found) is Unsupported and not str(found).endswith(NOT_IMPLEMENTED):
            found = Unsupported(f"{method} {NOT_IMPLEMENTED}: {found}")  # the driver's own words need not name it
        if self._strict and isinstance(found, protocol.RemoteError):
            return self._problem(found, method)
        if isinstance(found, InterfaceError):
            found.method = method
        return found

    def _failed(self, problem: WireError, method: str) -> Exception:
        with self._breaking:
            if self.broken is None:
                self.broken = problem
                return self._problem(problem, method)
        # The verdict was given when it broke; whoever still holds an object of this connection holds a dead one.
        return LostObject(f"{method}: {problem}")


def _is_concurrent() -> bool:
    return getattr(_thread, "is_concurrent", False)


def _dead_object(problem: WireError | protocol.RemoteError, method: str) -> Exception:
    return DeadObject(f"{method}: {problem}")
