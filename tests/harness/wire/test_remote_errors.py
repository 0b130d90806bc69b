"""How errors of the other side are told: exceptions of Python as such, others with their number."""

from __future__ import annotations

import pytest

from npu_conformance.harness.wire.protocol import INTERNAL_ERROR, INVALID_PARAMS, RemoteError

_TRACEBACK = """Traceback (most recent call last):
  File "/d/driver.py", line 4, in run
    one()
my.errors.TileError: tile 7
"""


@pytest.mark.parametrize(
    ("code", "message", "traceback", "told"),
    [
        (INTERNAL_ERROR, "TileError: tile 7", _TRACEBACK, "raised TileError at driver.py:4 in run: tile 7"),
        (INTERNAL_ERROR, "TileError: ", _TRACEBACK, "raised TileError at driver.py:4 in run"),
        (
            INTERNAL_ERROR,
            "no board: tile 7",
            _TRACEBACK,
            "answered with error -32603: driver.py:4 in run: no board: tile 7",
        ),
        (INTERNAL_ERROR, "board: tile 7", "#0 run() at board.cc:4", "answered with error -32603: board: tile 7"),
        (INTERNAL_ERROR, "TileError: tile 7", None, "answered with error -32603: TileError: tile 7"),
        (INVALID_PARAMS, "TileError: tile 7", None, "answered with error -32602: TileError: tile 7"),
    ],
)
def test_an_error_says_what_it_is(code: int, message: str, traceback: object, told: str) -> None:
    assert str(RemoteError(code, message, traceback)) == told
