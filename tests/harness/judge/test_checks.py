"""How checks word what they find."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec
import pytest

from npu_conformance.harness.judge import checks
from npu_conformance.harness.judge.classification import classify_exception
from npu_conformance.harness.judge.verdicts import Failed, Hung, NotSupported
from npu_conformance.specs.errors import ServiceError
from npu_conformance.specs.neuralnetworks.enums import Priority
from npu_conformance.specs.neuralnetworks.hal import Buffer, DeviceBuffer
from npu_conformance.specs.npu.manager import Manager
from npu_conformance.specs.outcomes import Outcome


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


def test_of_long_bytes_the_first_that_differ_are_shown() -> None:
    expected = bytes(range(100))
    with pytest.raises(Failed) as failed:
        checks.equal(expected[:90] + b"\xff" * 10, expected, "content")
    assert str(failed.value) == (
        "content: expected 5a 5b 5c 5d 5e 5f 60 61 62 63 from byte 90 of 100, "
        "found ff ff ff ff ff ff ff ff ff ff from byte 90 of 100"
    )
    with pytest.raises(Failed, match="found nothing from byte 99 of 99"):
        checks.equal(expected[:99], expected, "content")


def test_an_object_of_an_interface_is_told_by_the_name_of_that() -> None:
    class RemoteManager(Manager):
        pass

    assert checks.format_value([RemoteManager(), 3]) == "[an object of Manager, 3]"


@pytest.mark.parametrize(
    "value", [[[1] * 3] * 1_000_000, {"name": (2,) * 1_000_000}, "n" * 1_000_000, [Priority.LOW] * 1_000_000]
)
def test_a_value_is_spelled_no_further_than_a_message_needs(value: object, monkeypatch: pytest.MonkeyPatch) -> None:
    spelled = 0
    spell = checks._spelled

    def counted(one: object) -> Iterator[str]:
        nonlocal spelled
        spelled += 1
        return spell(one)

    monkeypatch.setattr(checks, "_spelled", counted)
    text = checks.format_value(value)
    assert text == f"{text[:300]}... (more than 10,000 characters)"
    assert spelled < 11_000


def test_a_value_that_is_not_very_long_says_how_long_it_is() -> None:
    value = [{"a": (1,), "b": ()}, [], b"\n", "x" * 300]
    assert checks.format_value(value[:3]) == "[{'a': (1,), 'b': ()}, [], b'\\n']"
    assert checks.format_value(value) == f"{str(value)[:300]}... ({len(str(value))} characters)"


class _Private(msgspec.Struct, frozen=True):
    priority: int
    has_deadline: bool = False


def test_a_record_is_told_by_its_fields_and_what_is_private_by_no_name() -> None:
    class RemoteBuffer(Buffer):
        pass

    found = DeviceBuffer(RemoteBuffer(), 1)
    assert checks.format_value(found) == "DeviceBuffer(buffer=an object of Buffer, token=1)"
    with pytest.raises(Failed) as failed:
        checks.equal(_Private(1), _Private(Priority.LOW), "what it is told")
    assert str(failed.value) == (
        "what it is told: expected (priority=LOW (0), has_deadline=False), "
        "found (priority=MEDIUM (1), has_deadline=False)"
    )


@pytest.mark.parametrize(
    ("error", "outcome", "message"),
    [
        (Failed("wrong\nSteps:"), Outcome.FAIL, "wrong; ABS, [1, 5]; seed 3\nSteps:"),
        (Failed("wrong for ABS, [1, 5]"), Outcome.FAIL, "wrong for ABS, [1, 5]; seed 3"),
        (Hung("no answer"), Outcome.HANG, "no answer; ABS, [1, 5]; seed 3"),
        (
            ServiceError(5, "busy"),
            Outcome.FAIL,
            "a call failed: ServiceError: MISSED_DEADLINE_TRANSIENT: busy; ABS, [1, 5]; seed 3",
        ),
        (NotSupported("no ABS"), Outcome.NOT_SUPPORTED, "no ABS"),
    ],
)
def test_whatever_fails_says_what_it_was_about(error: Exception, outcome: Outcome, message: str) -> None:
    with (
        pytest.raises(type(error)) as caught,
        checks.telling(lambda: "seed 3"),
        checks.telling(lambda: ""),
        checks.telling(lambda: "ABS, [1, 5]"),
    ):
        raise error
    details = classify_exception(caught.value)
    assert (details.outcome, details.message) == (outcome, message)
