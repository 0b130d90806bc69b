"""Strict structs of the operation catalogue: the table of one operation, in JSON."""

from __future__ import annotations

from npu_conformance.specs.documents import Document
from npu_conformance.specs.versions import Version

ANY = "any"
"""The type of an operand of IF and WHILE that may have any type."""


class Argument(Document, frozen=True, omit_defaults=True):
    """One input or output of a signature.

    type: a name of OperandType, or a type variable (one capital letter) that the type combinations bind.
    rank: legal numbers of dimensions of a tensor, None for any. repeat: how often it occurs at least, where it stands
    for a list; 0 for a single operand, -1 for a list that may be empty. optional: may be NO_VALUE, or a model input
    that a request leaves out. trailing_optional: may be left off the end. default: what is meant then.
    since: the version that brought it, where later than its signature. allowed: legal values.
    zero_sized: may have a dimension of 0 at execution. quantization: rule of scale and zero point, in words.
    """

    name: str
    type: str
    rank: tuple[int, ...] | None = None
    repeat: int = 0
    optional: bool = False
    trailing_optional: bool = False
    default: bool | int | None = None
    since: Version | None = None
    allowed: tuple[int, ...] | None = None
    zero_sized: bool = False
    quantization: str = ""


class Signature(Document, frozen=True, omit_defaults=True):
    """One list of arguments. types: combinations of the type variables that each version added.

    input_counts: legal numbers of inputs, None where a repeated one leaves it open. output_counts: legal numbers of
    outputs that each version added, where not simply all of them. activation: position of the fused activation code.
    """

    variant: str
    types: dict[Version, tuple[dict[str, str], ...]]
    inputs: tuple[Argument, ...]
    outputs: tuple[Argument, ...]
    input_counts: tuple[int, ...] | None = None
    output_counts: dict[Version, tuple[int, ...]] | None = None
    activation: int | None = None

    @property
    def since(self) -> Version:
        """The first version that has this list with any types."""
        return min(self.types)

    def combinations(self, version: Version) -> list[dict[str, str]]:
        """The type combinations that are legal in a version."""
        return [combination for since, added in self.types.items() if since <= version for combination in added]

    def position(self, name: str, count: int | None = None) -> int:
        """Position of a named input (of the first one of a list) among `count` inputs; -1 for an unknown name."""
        repeated = next((index for index, argument in enumerate(self.inputs) if argument.repeat), len(self.inputs))
        for index, argument in enumerate(self.inputs):
            if argument.name == name:
                return index if index <= repeated or count is None else count - len(self.inputs) + index
        return -1


class OperationTable(Document, frozen=True, omit_defaults=True):
    """What the catalogue knows of one operation.

    broadcast: whether shapes of inputs 0 and 1 broadcast. zero_sized_since: the version that allowed inputs without
    elements, None where none did. relaxed: whether float32 may be computed with float16 range and precision.
    """

    name: str
    code: int
    since: Version
    signatures: tuple[Signature, ...]
    broadcast: bool = False
    relaxed: bool = False
    zero_sized_since: Version | None = None
