"""A running implementation, as cases see it: its interfaces, its memory, and its process's fate."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

from npu_conformance.harness.subject.concurrency import Result
from npu_conformance.harness.subject.files import Files
from npu_conformance.harness.subject.pools import Pools
from npu_conformance.specs.documents.failures import Account
from npu_conformance.specs.errors import InterfaceError
from npu_conformance.specs.manifest import Manifest
from npu_conformance.specs.plugin import Subject
from npu_conformance.specs.versions import Version


class Application(Protocol):
    """Another app's connection to the subject. Closing it is the app's death."""

    @property
    def interfaces(self) -> Subject:
        """The interfaces, called as this app."""
        ...

    @property
    def memory(self) -> Pools:
        """Creates pools."""
        ...

    @property
    def files(self) -> Files:
        """Hands cache files over."""
        ...

    is_deaf: bool
    """Where this is set, nothing that the subject sends is read outside calls any more: the app hangs."""

    def ping(self) -> None:
        """One empty round trip: its answer comes behind all that was sent to the app before."""
        ...

    def catch_up(self) -> None:
        """Handle what was sent to the app before the newest answer over another connection."""
        ...

    def close(self) -> None:
        """End the connection."""
        ...


class SubjectHandle(Protocol):
    """One running implementation. After Crashed or Hung, `restart` makes it usable again.

    Calls of its interfaces raise what specs.errors names; Crashed where the host process died, Hung where a deadline
    of the manifest (times time_scale) passed, Failed where an answer broke the protocol.

    ignores_tool: whether the manifest named an inference tool that is not run (see inference_tool.IGNORED).
    """

    ignores_tool: bool

    @property
    def manifest(self) -> Manifest:
        """What the plug-in says of itself, with the inference tool that may be run."""
        ...

    @property
    def version(self) -> Version:
        """The HAL version it is tested as."""
        ...

    @property
    def interfaces(self) -> Subject:
        """Its interfaces; new objects after a restart."""
        ...

    @property
    def memory(self) -> Pools:
        """Creates pools."""
        ...

    @property
    def files(self) -> Files:
        """Hands cache files over."""
        ...

    def wait_until(self, predicate: Callable[[], bool], seconds: float) -> bool:
        """Handle incoming callbacks until the predicate holds; return false where the time is over before that."""
        ...

    def serve_pending(self) -> bool:
        """Handle a callback that has arrived; return false at once where there is none."""
        ...

    def ping(self) -> None:
        """One empty round trip that asks no interface: its answer comes behind all that was sent before."""
        ...

    def run_concurrently(self, calls: Sequence[Callable[[], Result]]) -> list[Result | InterfaceError]:
        """Make calls of the subject at once. Raises NotApplicable where it takes one after the other."""
        ...

    def application(self, uid: int, pid: int = 0) -> Application:
        """Connect as the app of a uid. Raises NotApplicable where the subject cannot know who calls."""
        ...

    def begin_case(self, case: str) -> None:
        """A case begins: what the subject prints from here on is the case's."""
        ...

    def account(self) -> Account:
        """What the subject has printed since the case began, and the last calls, as far as that can be known."""
        ...

    def alive(self) -> bool:
        """True where the next call can be expected to be answered."""
        ...

    def process(self) -> int:
        """Number of the process it runs in; 0 where that is not known."""
        ...

    def restart(self, version: Version | None = None) -> None:
        """Replace the host by a new one. Objects and pools of the old one are dead.

        version: the one it serves until the next restart, instead of the one it is tested as. NotApplicable where it
        cannot.
        """
        ...

    def close(self) -> None:
        """End it, with everything it owns."""
        ...
