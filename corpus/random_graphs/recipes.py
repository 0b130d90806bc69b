"""What a random graph is made of, besides its seed."""

from __future__ import annotations

from dataclasses import dataclass

from npu_conformance.specs.versions import Version

SMALL, LARGE = 5, 40
"""Operations of AOSP's small and large graphs (TestRandomGraph.cpp)."""


@dataclass(frozen=True)
class GraphRecipe:
    """A kind of graphs. Equal recipe and equal seed make equal graphs.

    size: number of operations. version: whose rules hold. types: names of types of tensors, of which every operation
    has one; empty for any. ranks: of the tensors that are made anew, where an operation allows them; empty for any.
    operations: names; empty for all that there are. form: the only form, as it prints; for graphs of one operation.
    largest: dimension of a tensor that is made anew. most_elements: of any tensor.
    wide: every eighth seed has a dimension of 11 to so many, and as many elements; 0 for none.
    """

    size: int = SMALL
    version: Version = Version.V1_3
    types: tuple[str, ...] = ()
    ranks: tuple[int, ...] = ()
    operations: tuple[str, ...] = ()
    form: str = ""
    largest: int = 4
    most_elements: int = 256
    wide: int = 0

    def __str__(self) -> str:
        parts = [
            f"{self.size} operations",
            f"HAL {self.version}",
            *self.types,
            *(f"rank {rank}" for rank in self.ranks),
        ]
        parts += [*self.operations, self.form, f"sizes to {self.largest}", f"{self.most_elements} elements"]
        return ", ".join(part for part in parts if part)
