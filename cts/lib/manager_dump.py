"""The dump of an NPU Manager, read in any layout.

The contract says what a dump names (NPU-OBS-001), and AOSP's CTS looks for `Policy:`, `Priorities:` and packages in
brackets alone. So lines may be indented and worded otherwise than AOSP's, and may say more.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from npu_conformance.specs.npu.types import Policy

_POLICIES = {Policy.STATUS_QUO: "statusquo", Policy.TURN_TAKING: "turntaking", Policy.BUDGET: "budget"}
"""As AOSP's dump calls them; others may have underscores, spaces or capital letters in them."""

# Python reads no numbers of thousands of digits.
_MAXIMUM = re.compile(r"\bmax\w*\W+(\d{1,18})\b", re.IGNORECASE)
_NUMBER = re.compile(r"-?\b\d{1,18}\b")
_APP = (
    re.compile(r"\[(?P<package>[^][]*)\] ?\((?:uid )?(?P<uid>-?\d{1,18})\)"),
    re.compile(r"(?P<uid>-?\b\d{1,18})[ :=,]*\[(?P<package>[^][]*)\]"),
)
"""A package in brackets, and its uid: in parentheses behind it, or before it, as in AOSP's dump.

A package has no bracket, or each of many that are open would be followed to the end of the line.
"""


class DumpedApp(NamedTuple):
    """A line about an app: of one of its requests, or of its priority."""

    uid: int
    package: str
    rest: str
    """What the line says beside: the state of a request, or the priority."""

    @property
    def priority(self) -> int | None:
        """The last number of the rest."""
        numbers = _NUMBER.findall(self.rest)
        return int(numbers[-1]) if numbers else None


class ManagerDump(NamedTuple):
    """What a dump says."""

    policy: Policy | None
    maximum: int | None
    requests: tuple[DumpedApp, ...]
    priorities: tuple[DumpedApp, ...]

    def states_of(self, uid: int) -> list[str]:
        """The states of the requests of an app, in the manager's words."""
        return [request.rest for request in self.requests if request.uid == uid]


def read(text: str) -> ManagerDump:
    """Read a dump. What it does not say is None, or missing."""
    head, _, table = text.partition("Priorities:")
    named, heading, listed = head.partition("Requests:")
    maximum = _MAXIMUM.search(named.partition("Policy:")[2]) or _MAXIMUM.search(named)
    return ManagerDump(
        policy=_policy(head),
        maximum=int(maximum[1]) if maximum else None,
        requests=tuple(_apps(_behind_the_heading(listed) if heading else head)),
        priorities=tuple(_apps(_behind_the_heading(table))),
    )


def _behind_the_heading(text: str) -> str:
    return text.partition("\n")[2]


def _policy(head: str) -> Policy | None:
    line = head.partition("Policy:")[2].partition("\n")[0]
    spelled = re.sub(r"[^a-z]", "", line.lower())
    return next((policy for policy, name in _POLICIES.items() if spelled.startswith(name)), None)


def _apps(section: str) -> Iterator[DumpedApp]:
    """The lines about apps, up to the first empty one."""
    for line in section.lstrip("\n").partition("\n\n")[0].splitlines():
        app = next(filter(None, (form.search(line) for form in _APP)), None)
        if app:
            rest = line[: app.start()] + line[app.end() :]
            yield DumpedApp(int(app["uid"]), app["package"], rest.strip(" \t:"))
