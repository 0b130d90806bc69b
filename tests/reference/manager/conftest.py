"""Reference managers for tests, each with apps and a HAL, closed when the test ends."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

import pytest
from npu_manager import ReferenceFixture, Start

from npu_conformance.specs.npu.types import Policy, PolicyParameters


@pytest.fixture
def start() -> Iterator[Start]:
    """A function that starts a manager under a policy."""
    with contextlib.ExitStack() as stack:

        def begin(
            policy: Policy = Policy.BUDGET, parameters: PolicyParameters | None = None, **options: str
        ) -> ReferenceFixture:
            return stack.enter_context(contextlib.closing(ReferenceFixture(policy, parameters, options)))

        yield begin


@pytest.fixture
def fixture(start: Start) -> ReferenceFixture:
    """A manager under the budget policy with its defaults."""
    return start()
