"""Tracebacks and stacks of implementations: where they point, and that their text does no harm."""

from __future__ import annotations

import pytest

from npu_conformance.specs.diagnostics import stacks

FAULT = """\
tile 3 of 7
Fatal Python error: Aborted

Thread 0x00007f1 (most recent call first):
  File "/usr/lib/threading.py", line 359 in wait

Current thread 0x00007f0 (most recent call first):
  File "/opt/vendor/my_driver.py", line 41 in prepare_model
  File "/usr/lib/connection.py", line 300 in perform_call

Extension modules: numpy._core, msgspec._core (total: 2)
"""


def raised() -> Exception:
    try:
        dict[str, int]()["nope"]
    except KeyError as error:
        return error
    raise AssertionError


def test_an_exception_has_its_innermost_frame() -> None:
    text = stacks.of_exception(raised())
    assert text.startswith("Traceback (most recent call last)")
    assert stacks.place(text).startswith("test_stacks.py:")
    assert stacks.place(text).endswith(" in raised")
    assert text.endswith("KeyError: 'nope'\n")


def test_a_cause_is_the_drivers_own_innermost_line_wherever_that_has_moved() -> None:
    lines = [
        'File "/opt/lib/python3.11/site-packages/vendor/driver.py", line {}, in compute',
        "  np.reshape(data, shape)",
        'File "/opt/lib/python3.11/site-packages/numpy/_core/fromnumeric.py", line 324, in reshape',
        "  return _wrapfunc(a)",
        "         ^^^^^^^^^^^^",
    ]
    text = "\n".join(["Traceback (most recent call last):", *(f"  {line}" for line in lines), "ValueError: 3"])
    assert stacks.place(text.format(7)) == "fromnumeric.py:324 in reshape"
    for line in (7, 8):
        assert stacks.cause(text.format(line)) == "driver.py in compute: np.reshape(data, shape)"
    assert stacks.cause(text.replace("/opt/lib/python3.11/site-packages/vendor", "/src").format(7)).startswith(
        "driver.py in compute"
    )
    assert stacks.cause("ValueError: 3") == ""


@pytest.mark.parametrize("suite", ["/opt/lib/python3.11/site-packages", "/src"])
@pytest.mark.parametrize("vendor", ["/opt/lib/python3.11/site-packages/vendor", "/srv/vendor"])
def test_the_function_of_a_death_is_the_drivers_own(suite: str, vendor: str) -> None:
    """Neither that of the C function's wrapper, nor one of the suite: its adapter has called the driver."""
    frames = [
        f"{vendor}/numpy.py", "/usr/lib/python3.11/ctypes/__init__.py", f"{vendor}/chip.py",
        f"{suite}/npu_conformance/adapters/engine.py", f"{suite}/npu_conformance/fuzz/lib/attack.py",
    ]  # fmt: skip
    lines = [f'  File "{file}", line 7 in {function}' for file, function in zip(frames, "abcde", strict=True)]
    head = "Fatal Python error: Segmentation fault\n\nCurrent thread 0x1 (most recent call first):"
    assert stacks.function("\n".join([head, *lines[1:]])) == "chip.c"
    assert stacks.function("\n".join([head, *lines])) == "numpy.a"
    assert stacks.function("\n".join([head, lines[1]])) == "__init__.b"
    assert stacks.function(f"{head}\n") == ""


def test_a_fault_has_its_words_and_its_stack() -> None:
    words, stack = stacks.split(FAULT)
    assert words == "tile 3 of 7\n"
    assert stack.startswith("Fatal Python error: Aborted")
    assert "Extension modules" not in stack
    assert stacks.place(stack) == "my_driver.py:41 in prepare_model"


def test_words_without_a_fault_are_words() -> None:
    assert stacks.split("Thread 0xyz was late\n") == ("Thread 0xyz was late\n", "")
    assert stacks.place("at Object.<anonymous> (driver.js:3:7)") == ""


def test_a_traceback_is_bounded_and_obeyed_by_no_terminal() -> None:
    assert stacks.printable("red \x1b[31m\r\nline\ttwo \u202e") == "red \\x1b[31m\\r\nline\ttwo \\u202e"
    assert len(stacks.bounded("x" * 100_000)) == stacks.LIMIT + 4
