"""How the process of a round died: which places make findings different, and what of its output is told."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest

from npu_conformance.fuzz.lib.campaign import deaths
from npu_conformance.fuzz.lib.worker import STACK

WRAPPER = 'File "/usr/lib/python3.11/ctypes/__init__.py", line 519 in string_at'
FUZZER = 'File "/src/npu_conformance/fuzz/lib/attack.py", line 80 in __call__'


def death(folder: Path, *frames: str, printed: str = "") -> str:
    (folder / deaths.OUTPUT).write_text(printed)
    head = "Fatal Python error: Segmentation fault\n\nCurrent thread 0x00007f (most recent call first):\n"
    (folder / STACK).write_text(head + "".join(f"  {frame}\n" for frame in frames))
    return deaths.sighting(folder, -signal.SIGSEGV, b"", 1, 0).where


@pytest.mark.parametrize("function", ["crash", "other"])
def test_deaths_in_one_function_of_a_library_are_two_by_who_has_called_it(function: str, tmp_path: Path) -> None:
    frames = (WRAPPER, f'File "/srv/ada/chipnpu.py", line 13 in {function}', FUZZER)
    assert death(tmp_path, *frames) == f"SIGSEGV in chipnpu.{function}"


def test_a_death_in_the_fuzzer_alone_has_no_place(tmp_path: Path) -> None:
    assert death(tmp_path, FUZZER) == "SIGSEGV"


def test_what_libfuzzer_says_of_itself_are_no_last_words(tmp_path: Path) -> None:
    (tmp_path / deaths.OUTPUT).write_text(
        'WARNING: Failed to find function "__sanitizer_acquire_crash_state".\n'
        "INFO: Running with entropic power schedule\n#2 INITED\nnpu: tile 3 is on fire\n"
        'WARNING: Failed to find function "__sanitizer_print_stack_trace".\n'
    )
    assert deaths.printed_last(tmp_path) == "npu: tile 3 is on fire"
