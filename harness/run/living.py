"""Counts what lives: a device may have no room for one more beside it."""

from __future__ import annotations

import contextlib
import weakref
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from npu_conformance.harness.subject.handle import SubjectHandle


class Living:
    """The objects of one kind that this process has of each subject, until nobody has them any more."""

    def __init__(self) -> None:
        self._of: weakref.WeakKeyDictionary[SubjectHandle, list[weakref.ref[object]]] = weakref.WeakKeyDictionary()

    def add(self, subject: SubjectHandle, made: object | None) -> None:
        """Count an object among those that live. None, and an object that cannot be watched, is not counted."""
        self._of[subject] = [one for one in self._of.get(subject, ()) if one() is not None]
        with contextlib.suppress(TypeError):  # raised for what has no weak references
            self._of[subject].append(weakref.ref(made))

    def count(self, subject: SubjectHandle) -> int:
        """How many of a subject live."""
        return sum(one() is not None for one in self._of.get(subject, ()))


MODELS = Living()
"""Prepared models."""
REUSABLE_EXECUTIONS = Living()
"""Those of createReusableExecution."""
