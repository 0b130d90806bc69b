"""What a case needs of a manager that others do without: where it is not there, the case is not applicable."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Literal

from npu_conformance.cts.lib.manager_client import GRANT
from npu_conformance.cts.lib.manager_fixture import SMALL, ManagerFixture
from npu_conformance.harness.judge.verdicts import NotApplicable
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.specs.errors import IllegalState
from npu_conformance.specs.npu.types import PolicyParameters

_OF_ONE_APP = 4
"""So many requests any app may have."""
_OTHER_RANKING = {
    "page": "in AOSP's profile undeclared apps are ranked too",
    "aosp": "in the public page's profile only declaring apps are ranked",
}
"""Why a case about the ranking of a profile does not apply under another."""


def need_ranking_of(context: CaseContext, profile: Literal["page", "aosp"]) -> None:
    """NotApplicable under another profile: the public page's ranks declaring apps alone, AOSP's all."""
    if context.manifest.npu_profile != profile:
        raise NotApplicable(_OTHER_RANKING[profile])


def need_room_for(context: CaseContext, number: int) -> None:
    """NotApplicable where fewer models are taken than the budget has room for: a policy may limit other things, too.

    (NPU-POL-030: execution channels, or on-chip memory.)
    """
    fixture = ManagerFixture(context, parameters=PolicyParameters(number))
    apps = [fixture.app() for _ in range(0, number, _OF_ONE_APP)]
    for held in range(number):
        model = apps[held // _OF_ONE_APP].asks(SMALL)
        model.is_answered()
        if GRANT not in model.received:
            raise NotApplicable(f"the policy takes {held} models, though the budget has room for {number}")


@contextmanager
def limited_requests() -> Iterator[None]:
    """NotApplicable where an app may not have as many requests as are submitted inside: how many is free."""
    try:
        yield
    except IllegalState as error:
        raise NotApplicable(f"an app may not have so many requests: {error}") from None
