"""What makes two findings the same: kind and place, and of an exception where the implementation has raised it."""

from __future__ import annotations

import textwrap
from collections.abc import Callable
from pathlib import Path

import pytest

from npu_conformance.fuzz.lib.findings import kind_of, raised, signature, where_of
from npu_conformance.harness.judge import checks
from npu_conformance.harness.judge.verdicts import Failed, Refused
from npu_conformance.reference.hal.device import ReferenceDevice

DRIVER = """
    def compute(number):
        if number == 1:
            raise ValueError("tile table")
        if number == 2:
            raise ValueError(f"chain of {number}")
        raise MemoryError
"""


@pytest.fixture
def compute(tmp_path: Path) -> Callable[[int], Exception]:
    """What a driver raises; it is in a file, so that its lines can be told."""
    file = tmp_path / "driver.py"
    file.write_text(textwrap.dedent(DRIVER))
    names: dict[str, Callable[[int], None]] = {}
    exec(compile(file.read_text(), str(file), "exec"), names)

    def error(number: int) -> Exception:
        try:
            names["compute"](number)
        except Exception as found:
            return found
        raise AssertionError

    return error


def test_exceptions_of_one_kind_in_one_call_have_the_place_of_their_cause(compute: Callable[[int], Exception]) -> None:
    one, other, memory = (raised("the execution", compute(number), "which no interface has") for number in (1, 2, 3))
    assert where_of(one) == 'the execution: raised ValueError at driver.py in compute: raise ValueError("tile table")'
    assert where_of(other).endswith('in compute: raise ValueError(f"chain of {number}")')
    assert str(other).startswith("the execution: raised ValueError at driver.py:6 in compute: chain of 2, which")
    assert [kind_of(found) for found in (one, memory)] == ["wrong-status", "memory"]


def _refused(line: int, source: str, message: str = "driver.py:4 in run: ValueError: tile 7") -> Refused:
    traceback = (
        f'Traceback (most recent call last):\n  File "/d/driver.py", line {line}, in run\n    {source}\nValueError'
    )
    return Refused(f"prepareModel: answered with error -32603: {message}", -32603, traceback if source else "")


def test_exceptions_of_another_process_are_told_apart_in_the_same_way() -> None:
    one, moved, other = _refused(4, "one()"), _refused(9, "one()"), _refused(5, "other()")
    assert where_of(one) == "prepareModel: raised ValueError at driver.py in run: one()"
    assert signature(one) == signature(moved) != signature(other)
    named = Refused("prepareModel: raised ValueError at driver.py:4 in run: tile 7", -32603, one.traceback)
    assert where_of(named) == where_of(one)
    assert where_of(_refused(0, "", "a lack of tiles")) == "prepareModel: raised error -32603"


@pytest.mark.parametrize(("status", "where"), [(77, "found status 77"), (2, "found GENERAL_FAILURE")])
def test_statuses_that_no_call_may_have_are_findings_of_their_own(status: int, where: str) -> None:
    with pytest.raises(Failed) as found:
        checks.status(status, {0}, "the execution of a minimal request")
    assert where_of(found.value) == f"the execution of a minimal request: {where}"


def test_a_number_that_is_found_makes_no_finding_of_its_own() -> None:
    places = set()
    for number in (2, 3):
        with pytest.raises(Failed) as found:
            checks.equal(number, 1, "number of output shapes")
        places.add(where_of(found.value))
    assert places == {"number of output shapes"}


class Raising(ReferenceDevice):
    def get_version_string(self) -> str:
        raise IndexError("of a driver")


def test_what_a_plug_in_raises_past_every_check_is_no_mistake_of_the_suite() -> None:
    with pytest.raises(IndexError) as found:
        Raising.get_version_string(object.__new__(Raising))
    assert kind_of(found.value) == "wrong-status"
    assert (
        where_of(found.value) == 'IndexError at test_findings.py in get_version_string: raise IndexError("of a driver")'
    )
    assert kind_of(IndexError("of the fuzzer")) == "harness-defect"
