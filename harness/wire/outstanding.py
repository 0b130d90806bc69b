"""Requests of one side whose answers are outstanding."""

from __future__ import annotations

import itertools
from collections import deque

from npu_conformance.harness.wire import protocol
from npu_conformance.harness.wire.framing import Violation


class Waiter:
    """A request whose answer is outstanding.

    is_void: what it asked for has been taken back, and may have failed. is_left: nobody waits for its answer any more.
    """

    __slots__ = ("answer", "id", "is_left", "is_void", "method")

    def __init__(self, request_id: int, method: str) -> None:
        self.id = request_id
        self.method = method
        self.answer: protocol.Envelope | None = None
        self.is_void = False
        self.is_left = False


class Outstanding:
    """The outstanding requests of a connection. Any thread may add one; the thread that reads gives the answers out."""

    def __init__(self) -> None:
        self._ids = itertools.count(1)
        self._last = 0
        self._waiters: dict[int, Waiter] = {}
        self._later: deque[Waiter] = deque()

    def add(self, method: str, *, later: bool = False) -> Waiter:
        """Add a request. later: nobody waits for its answer, which has to be null whenever it comes."""
        waiter = Waiter(next(self._ids), method)
        self._last = waiter.id
        self._waiters[waiter.id] = waiter
        if later:
            self._later.append(waiter)
        return waiter

    def forget(self, waiter: Waiter) -> None:
        """Let go of a request that has had its answer, or will have none."""
        self._waiters.pop(waiter.id, None)

    def leave(self, waiter: Waiter) -> None:
        """Nobody waits for the answer any more: where it is still to come, it will be passed over."""
        waiter.is_left = True
        if waiter.answer is not None:
            self.forget(waiter)

    def give(self, answer: protocol.Envelope) -> bool:
        """Give an answer to its waiter; false where it is no longer outstanding. Raises Violation for a late error."""
        waiter = self._waiters.get(answer.id) if answer.id is not None else None
        if waiter is None or waiter.answer is not None:
            return False
        waiter.answer = answer
        if waiter.is_left:
            self.forget(waiter)
        self._settle_later()
        return True

    def has_been(self, number: int | None) -> bool:
        """True where there was such a request: it has had its answer, or nobody waits for it any more."""
        return number is not None and 1 <= number <= self._last

    def numbers(self) -> list[int]:
        """The numbers of the requests that have no answer yet."""
        return [number for number, waiter in self._waiters.items() if waiter.answer is None]

    def _settle_later(self) -> None:
        """Look at answers that nobody waits for and that have come; the first error raises."""
        while self._later and (answer := self._later[0].answer) is not None:
            waiter = self._later.popleft()
            self.forget(waiter)
            if answer.error is not None and not waiter.is_void:
                raise Violation(f"{waiter.method} was refused: {answer.error.message}")
