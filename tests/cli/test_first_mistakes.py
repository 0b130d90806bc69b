"""What the first driver in Python is told of its mistakes: what to write instead, in the first line."""

from __future__ import annotations

import pytest
from vendor_command import Command

ADD = "vts.generated.ADD.float32_one_element"
MISMATCH = "vts.generated.ADD.broadcast_mismatch_last_dimension"
ISOLATIONS = ("process", "inprocess")


def first_line(command: Command, plugin: str, case: str, isolation: str = "process") -> str:
    _, out, _ = command("run", case, "-q", "--plugin", f"first_mistakes:{plugin}", "--isolation", isolation)
    return next(line for line in out.splitlines() if line.startswith("FAIL"))


@pytest.mark.parametrize("isolation", ISOLATIONS)
def test_what_is_returned_belongs_to_the_callback(command: Command, isolation: str) -> None:
    assert "; give it to callback.notify, and return nothing (None)" in first_line(command, "returning", ADD, isolation)


def test_a_class_that_is_of_no_interface_is_told_which(command: Command) -> None:
    told = "cannot cross the wire: let _Stranger inherit from its interface, hal.PreparedModel"
    assert told in first_line(command, "strange", ADD)


def test_an_exception_is_told_as_one(command: Command) -> None:
    line = first_line(command, "raising", ADD)
    assert ": raised ValueError at first_mistakes.py:" in line
    assert " in execute_synchronously: shapes (2,3) (2,)" in line
    assert "-32603" not in line


@pytest.mark.parametrize("isolation", ISOLATIONS)
def test_an_exception_where_a_rejection_belongs_says_so(command: Command, isolation: str) -> None:
    assert "; expected a rejection: any status but NONE" in first_line(command, "raising", MISMATCH, isolation)


def test_interfaces_that_nobody_named_are_one_line(command: Command) -> None:
    code, out, err = command("run", "vts.queries", "--plugin", "first_mistakes:unnamed")
    told = "its Subject has a scheduling, and its manifest names no interfaces: write Manifest(..., interfaces=("
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert f"{told}'device', 'scheduling'))" in err


def test_who_names_the_device_alone_means_it(command: Command) -> None:
    assert command("run", "vts.queries.liveness.ping", "--plugin", "first_mistakes:named")[0] == 0
