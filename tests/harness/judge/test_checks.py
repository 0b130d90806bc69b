"""How checks word what they find."""

from __future__ import annotations

import pytest

from npu_conformance.harness.judge import checks
from npu_conformance.harness.judge.verdicts import Failed


@pytest.mark.parametrize(("allowed", "expected"), [((0,), "0"), ((0, 2), "one of 0, 2")])
def test_one_allowed_value_is_not_one_of_several(allowed: tuple[int, ...], expected: str) -> None:
    with pytest.raises(Failed, match=rf"^number: expected {expected}, found -1$") as caught:
        checks.member(-1, allowed, "number")
    assert caught.value.expected == expected


def test_a_failure_is_reworded_and_stays_what_it_is() -> None:
    with (
        pytest.raises(Failed) as caught,
        checks.reworded(lambda message: f"before: {message}"),
        checks.about("FW-API-004"),
    ):
        checks.fail("handle", "null", "7")
    failure = caught.value
    assert (str(failure), failure.expected, failure.found) == ("before: handle: expected null, found 7", "null", "7")
    assert failure.about == ("FW-API-004",)
