"""Threads for short tasks: each is used for the next task, since to start one costs more than most tasks."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from queue import Empty, SimpleQueue

Task = Callable[[], None]


class Crew:
    """Does tasks side by side, however long one takes. A thread without a task for some seconds ends."""

    def __init__(self, patience_s: float = 0.5) -> None:
        self._patience_s = patience_s
        self.forget()

    def do(self, task: Task) -> None:
        """Begin a task, which raises nothing; returns at once."""
        with self._lock:
            box = self._idle.pop() if self._idle else None
        if box is not None:
            box.put(task)
        else:
            threading.Thread(target=self._work, args=(task,), daemon=True).start()

    def forget(self) -> None:
        """Begin without threads, as the child of a fork does."""
        self._lock = threading.Lock()
        self._idle: list[SimpleQueue[Task]] = []
        """Where each thread that has no task awaits one. A box has one reader: with several, its waits have no end."""

    def _work(self, first: Task) -> None:
        task: Task | None = first
        box: SimpleQueue[Task] = SimpleQueue()
        while task is not None:
            task()
            task = self._next(box)

    def _next(self, box: SimpleQueue[Task]) -> Task | None:
        with self._lock:
            self._idle.append(box)
        try:
            return box.get(timeout=self._patience_s)
        except Empty:
            return None if self._is_over(box) else box.get()

    def _is_over(self, box: SimpleQueue[Task]) -> bool:
        """Take the box away, unless somebody has done so already, who is about to put a task there."""
        with self._lock:
            is_over = box in self._idle
            if is_over:
                self._idle.remove(box)
            return is_over


CREW = Crew()
"""That of this process."""
os.register_at_fork(after_in_child=CREW.forget)
