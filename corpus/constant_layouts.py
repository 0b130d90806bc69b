"""Where the constants of a model lie: copied into the model, in memory pools, or some here and some there.

Frameworks put every large constant into a pool at an offset of their own, and a file of weights is one pool with
everything in it. A device has to find each constant by pool index, offset and length alone (NNHAL-MODEL-031).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from npu_conformance.specs.neuralnetworks.enums import OperandLifeTime
from npu_conformance.specs.neuralnetworks.types import DataLocation

if TYPE_CHECKING:
    from npu_conformance.corpus.vectors import Array

CONSTANT_ALIGNMENT = 4
"""Constants, where their layout does not say otherwise, and HIDL's arguments start at multiples of this many bytes."""

_FOREIGN = b"\xa5"
"""What lies in pools beside the constants: as a float -2.87e-16, as a size too large for any tensor here."""

_PAGE = 4096


class ConstantLayout(msgspec.Struct, frozen=True):
    """How constants are spread.

    pools: they are dealt to so many, the last one first; with none, all are copied into the model. start: bytes of
    something else in front of the first constant of each pool. gap: the same in front of every one. copied_every: of so
    many constants the last stays in the model; 0 for none. unaligned: they start at multiples of their element's size.
    """

    pools: int = 0
    start: int = 0
    gap: int = 0
    copied_every: int = 0
    unaligned: bool = False


COPIED = "copied"
POOLED = "pooled"
BESIDE_INPUTS = "beside_inputs"
LAYOUTS = {
    COPIED: ConstantLayout(),
    POOLED: ConstantLayout(pools=1),
    "unaligned": ConstantLayout(pools=1, gap=1, unaligned=True),
    "three_pools": ConstantLayout(pools=3, start=_PAGE + CONSTANT_ALIGNMENT),
    "some_pooled": ConstantLayout(pools=1, gap=CONSTANT_ALIGNMENT, copied_every=2),
    BESIDE_INPUTS: ConstantLayout(pools=1),
}
"""Every layout by its name. With `beside_inputs` the pool begins with the inputs of a request."""


def possible(constants: int) -> tuple[str, ...]:
    """The names of the layouts that differ for a model with so many constants."""
    return tuple(
        name
        for name, layout in LAYOUTS.items()
        if (constants > 0 or not layout.pools) and (constants >= layout.copied_every)
    )


class Constants:
    """The bytes of constants, collected in the order in which operands are built.

    reserved: bytes at the beginning of each pool that belong to the caller.
    """

    def __init__(self, layout: ConstantLayout, reserved: int = 0) -> None:
        self._layout = layout
        self._seen = 0
        self.values = bytearray()
        self.pools = [bytearray(_FOREIGN * (reserved + layout.start)) for _ in range(layout.pools)]

    def place(self, array: Array) -> tuple[OperandLifeTime, DataLocation]:
        """Store an array; returns the operand's lifetime and location. Constants of no bytes are copied."""
        data, pool = array.tobytes(), self._next_pool(array.nbytes)
        store = self.values if pool is None else self.pools[pool]
        gap, alignment = (0, CONSTANT_ALIGNMENT) if pool is None else self._spacing(array.itemsize)
        filling = b"\0" if pool is None else _FOREIGN
        store.extend(filling * (gap + -(len(store) + gap) % alignment))
        location = DataLocation(pool_index=pool or 0, offset=len(store), length=len(data))
        store.extend(data)
        return (OperandLifeTime.CONSTANT_COPY if pool is None else OperandLifeTime.CONSTANT_POOL), location

    def _spacing(self, element: int) -> tuple[int, int]:
        return self._layout.gap, element if self._layout.unaligned else CONSTANT_ALIGNMENT

    def _next_pool(self, size: int) -> int | None:
        layout = self._layout
        if not layout.pools or size == 0:
            return None
        self._seen += 1
        if layout.copied_every and self._seen % layout.copied_every == 0:
            return None
        return -self._seen % layout.pools
