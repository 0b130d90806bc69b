"""An app that does not read blocks who sends to it: the harness must not read for it."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest

from npu_conformance.harness.subject.remote import RemoteSubject


class Soaked:
    """A connection with one message; counts the looks for it."""

    def __init__(self) -> None:
        self.looks, self._messages = 0, [b"{}"]

    def soak(self) -> bool:
        """True once."""
        self.looks += 1
        return bool(self._messages and self._messages.pop())

    def ready(self) -> bool:
        """False: the control connection has nothing."""
        return False


@pytest.mark.parametrize(("is_listening", "looks"), [(True, 2), (False, 0)])
def test_messages_of_an_app_that_does_not_read_stay_where_they_are(is_listening: bool, looks: int) -> None:
    connection = Soaked()
    application = SimpleNamespace(connection=connection, is_listening=is_listening)
    subject: Any = SimpleNamespace(_applications=[application], _main=SimpleNamespace(connection=connection))
    RemoteSubject._soak(cast(RemoteSubject, subject))
    assert connection.looks == looks
