"""How checks word what they find."""

from __future__ import annotations

import pytest

from npu_conformance.harness.judge import checks
from npu_conformance.harness.judge.verdicts import Failed
from npu_conformance.specs.npu.manager import Manager


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


def test_an_object_of_an_interface_is_told_by_the_name_of_that() -> None:
    class RemoteManager(Manager):
        pass

    assert checks.format_value([RemoteManager(), 3]) == "[an object of Manager, 3]"
