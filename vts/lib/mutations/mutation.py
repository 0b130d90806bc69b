"""What a mutation is: an invalid model, made from a valid one by one edit."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from npu_conformance.corpus.vectors import VectorHeader
from npu_conformance.specs.neuralnetworks.types import Model
from npu_conformance.specs.versions import NEWEST, OLDEST, Version

LARGEST_CONSTANT = 32 * 1024
"""Bytes up to which an operand is turned into a constant: AOSP's tests keep their messages below this, too."""


@dataclass(frozen=True, slots=True)
class Mutation:
    """An invalid model, and a label that says what was done to the valid one (letters, digits, underscores, dots).

    The label's last part is the kind of edit, what stands before it the place. in_aosp: whether the VTS of AOSP makes
    this edit, too; false in a family of its own where only the interface text asks for the rejection. breaks: which
    requirements of its family, without their NNHAL-; the first of these where it is empty. text_alone: AOSP's own
    drivers take it.
    """

    label: str
    model: Model
    in_aosp: bool = True
    breaks: tuple[str, ...] = ()
    text_alone: bool = False

    @property
    def kind(self) -> str:
        """What was done, whatever it was done to."""
        return self.label.rpartition(".")[2]


Mutate = Callable[[Model, Version], Iterator[Mutation]]
Needs = Callable[[VectorHeader], bool]


@dataclass(frozen=True, slots=True)
class Family:
    """Mutations of one kind. requirements: ids without their NNHAL-.

    aosp: the names in AOSP's ValidateModel.cpp, empty for what its VTS does not try. since, until: versions in which
    the rule binds. needs: whether the model of a vector offers the edit; a necessary condition that its header tells.
    pooled: wants constants in a memory pool.
    """

    name: str
    mutate: Mutate
    requirements: tuple[str, ...]
    aosp: str = ""
    since: Version = OLDEST
    until: Version = NEWEST
    needs: Needs = lambda header: True
    pooled: bool = False


def spell(value: int) -> str:
    """A number as a label can hold it."""
    return f"minus_{-value}" if value < 0 else str(value)
