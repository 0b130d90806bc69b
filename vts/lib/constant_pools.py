"""Constants of a model in memory pools."""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from npu_conformance.specs.neuralnetworks.types import Memory


class PooledConstants(msgspec.Struct, frozen=True):
    """layout: one of the corpus's. create: makes a pool of bytes. reserved: the bytes of each pool for inputs."""

    layout: str
    create: Callable[[bytes], Memory]
    reserved: int = 0
