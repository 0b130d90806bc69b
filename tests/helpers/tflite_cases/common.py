"""What the cases share: the table that they add themselves to, and constants."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from tflite_files import Graph

Make = Callable[[Graph], int | Sequence[int]]
"""Fills a graph; returns its outputs."""

CASES: dict[str, Make] = {}
"""By names that begin with an operator's; behind a dot stands which of its rules."""

F4, F2 = ("FLOAT32", (1, 6, 5, 4)), ("FLOAT32", (3, 4))
Q = (0.05, 3)
"""A quantisation of int8."""


def case(name: str) -> Callable[[Make], Make]:
    def add(make: Make) -> Make:
        assert name not in CASES
        CASES[name] = make
        return make

    return add


def weights(*shape: int, seed: int = 7) -> Any:
    return np.random.default_rng(seed).uniform(-1, 1, shape).astype(np.float32)


def bytes_of(*shape: int, low: int = -127) -> Any:
    return np.random.default_rng(7).integers(low, low + 255, shape)
