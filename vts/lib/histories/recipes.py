"""Small models whose outputs are known: additions that differ in what they add, in number, in form, in activation."""

from __future__ import annotations

from dataclasses import dataclass

from npu_conformance.specs.neuralnetworks.enums import OperandType
from npu_conformance.specs.versions import Version
from npu_conformance.vts.lib.addition import ADDITIONS, FLOAT32, Addition, Pair, Values

CONSTANTS: tuple[Pair, ...] = ((0.5, -1.5), (-2.25, 3.0), (1.25, 0.75))
"""What models add that have a constant."""


@dataclass(frozen=True, slots=True)
class Recipe:
    """A model. Every output is the sum of two terms. `recipe_models` makes it.

    inputs: how many the model has. terms: the inputs that each output adds; those beyond the last are the constants.
    is_clipped: the sums are clipped at zero by a fused RELU. in_pool: each constant lies in a pool. is_turned: the
    model names its inputs and outputs from the last operand to the first. branch: the sums are in the branch of an IF
    that its constant condition takes; None for no IF. rounds: how often a WHILE adds the second term; None without one.
    is_open: tensors have two dimensions, of which the first one, the number of rows, is unknown to the model (which a
    WHILE may not leave open, MODEL.P8). is_free: such a model does not know the second one either. asks_activation:
    each request says whether the sums are clipped, in a scalar that is the model's last input. chosen: the type of its
    tensors.
    """

    inputs: int
    terms: tuple[tuple[int, int], ...]
    is_clipped: bool = False
    constants: tuple[Pair, ...] = ()
    in_pool: bool = False
    is_turned: bool = False
    branch: bool | None = None
    rounds: int | None = None
    is_open: bool = False
    is_free: bool = False
    asks_activation: bool = False
    chosen: Addition = FLOAT32

    def __str__(self) -> str:
        times = "" if self.rounds is None else f"{self.rounds} x "
        sums = ", ".join(f"{self._name(one)} + {times}{self._name(other)}" for one, other in self.terms)
        told = f"relu({sums})" if self.is_clipped else sums
        told += " of operands in turned order" if self.is_turned else ""
        told += (" of any shape" if self.is_free else " of any number of rows") if self.is_open else ""
        told += " with any activation" if self.asks_activation else ""
        told += "" if self.chosen is FLOAT32 else f" of {self.chosen}"
        return told if self.branch is None else f"if {str(self.branch).lower()}: {told}"

    @property
    def since(self) -> Version:
        """The first version that has the type, and IF and WHILE for models with one of them."""
        return self.chosen.since if self.branch is None and self.rounds is None else Version.V1_3

    @property
    def has_loops(self) -> bool:
        """True for a model whose sums are in a loop."""
        return self.rounds is not None

    @property
    def additions(self) -> int:
        """How often the second term is added to the first, which gives an output."""
        return 1 if self.rounds is None else self.rounds

    def is_like(self, other: Recipe) -> bool:
        """True for models that differ in nothing but values of constants, activation, condition, rounds or type."""
        return self._form == other._form

    @property
    def _form(self) -> tuple[object, ...]:
        has_branch, has_rounds = self.branch is not None, self.rounds is not None
        shapes = (self.is_open, self.is_free)
        flags = (self.in_pool, self.is_turned, self.asks_activation, has_branch, has_rounds)
        return self.inputs, self.terms, len(self.constants), shapes, flags

    @property
    def declared(self) -> tuple[int, ...]:
        """The dimensions of tensors as the model has them, 0 for any number."""
        if not self.is_open:
            return (self.chosen.elements,)
        return (0, 0 if self.is_free else self.chosen.elements)

    def shape(self, rows: int, columns: int = 0) -> tuple[int, ...]:
        """Dimensions of a tensor with so many rows; in a model that is not open it has one.

        columns: into how many the elements of these rows are arranged instead, 0 for no change.
        """
        elements = self.chosen.elements
        return (rows * elements // (columns or elements), columns or elements) if self.is_open else (elements,)

    @property
    def arguments(self) -> tuple[int, int]:
        """How many inputs and outputs a request has."""
        return self.inputs + self.asks_activation, len(self.terms)

    def expected(self, values: list[Values], *, is_clipped: bool = False) -> list[Values]:
        """The outputs for these inputs. is_clipped: by the request; the model's own activation counts in any case."""
        terms = [*values, *self.constants]
        sums = [self._sum(terms[one], terms[other]) for one, other in self.terms]
        return [tuple(max(value, 0.0) for value in one) for one in sums] if is_clipped or self.is_clipped else sums

    def rows(self, inputs: list[int]) -> list[int]:
        """The number of rows of each output for those of each input."""
        terms = [*inputs, *(1 for _ in self.constants)]
        return [max(terms[one], terms[other]) for one, other in self.terms]

    def _sum(self, one: Values, other: Values) -> Values:
        count = max(len(one), len(other))
        return tuple(one[at % len(one)] + self.additions * other[at % len(other)] for at in range(count))

    def _name(self, term: int) -> str:
        return "abcdefgh"[term] if term < self.inputs else str(self.constants[term - self.inputs])


RECIPES = (
    Recipe(2, ((0, 1),)),
    Recipe(2, ((0, 1),), is_clipped=True),
    Recipe(1, ((0, 0),)),
    Recipe(3, ((0, 1), (2, 1))),
    Recipe(4, ((0, 1), (2, 3))),
    Recipe(8, ((0, 1), (2, 3), (4, 5), (6, 7))),
    *(Recipe(1, ((0, 1),), constants=(constant,)) for constant in CONSTANTS),
    *(Recipe(1, ((0, 1),), constants=(constant,), in_pool=True) for constant in CONSTANTS),
    Recipe(2, ((0, 2), (1, 2)), constants=CONSTANTS[:1]),
    Recipe(2, ((0, 1),), asks_activation=True),
    Recipe(3, ((0, 1), (2, 1)), asks_activation=True),
    *(
        Recipe(1, ((0, 1), (0, 2)), constants=constants, in_pool=True)
        for constants in (CONSTANTS[1:], CONSTANTS[:0:-1])
    ),
)
"""What a history prepares. Some differ in nothing but a constant, the order of two, or an activation."""

_ONE_SUM, _TWO_SUMS, _OTHERWISE = ((0, 1),), ((0, 1), (2, 1)), ((0, 2), (2, 1))
"""What outputs add. The latter two differ in nothing but which operands the first sum is of."""
WITH_GRAPHS = (
    *RECIPES[:2],
    Recipe(3, _TWO_SUMS, is_turned=True),
    Recipe(1, ((0, 1), (0, 2)), constants=CONSTANTS[:2], is_turned=True),
    *(
        Recipe(1, _ONE_SUM, constants=(constant,), in_pool=in_pool, branch=branch)
        for constant in CONSTANTS[:2]
        for in_pool in (False, True)
        for branch in (False, True)
    ),
    *(Recipe(3, _TWO_SUMS, is_turned=is_turned, branch=True) for is_turned in (False, True)),
    *(Recipe(3, _OTHERWISE, branch=branch) for branch in (False, True)),
    Recipe(3, _OTHERWISE, rounds=2),
    *(
        Recipe(1, ((0, 1), (0, 2)), constants=CONSTANTS[:2], in_pool=in_pool, branch=branch)
        for in_pool in (False, True)
        for branch in (False, True)
    ),
    *(Recipe(2, _ONE_SUM, rounds=rounds) for rounds in range(3)),
    *(Recipe(1, _ONE_SUM, constants=(constant,), rounds=2) for constant in CONSTANTS[:2]),
    Recipe(3, _TWO_SUMS, rounds=2),
)
"""The same for histories of graphs in graphs: many differ in the constant of a branch, in the branch, or in rounds."""

OPEN = (
    *RECIPES[:2],
    RECIPES[6],
    *(Recipe(2, _ONE_SUM, is_clipped=is_clipped, is_open=True) for is_clipped in (False, True)),
    Recipe(1, ((0, 0),), is_open=True),
    Recipe(3, _TWO_SUMS, is_open=True),
    Recipe(4, ((0, 1), (2, 3)), is_open=True, is_turned=True),
    *(Recipe(1, _ONE_SUM, constants=(constant,), is_open=True) for constant in CONSTANTS[:2]),
    Recipe(1, _ONE_SUM, constants=CONSTANTS[:1], in_pool=True, is_open=True),
    Recipe(2, _ONE_SUM, branch=True, is_open=True),
)
"""The same for histories of shapes: most leave the number of rows to the requests."""

FREE = (
    *(Recipe(2, _ONE_SUM, is_clipped=is_clipped, is_open=True, is_free=True) for is_clipped in (False, True)),
    Recipe(2, _ONE_SUM, is_open=True, is_free=True, asks_activation=True),
    Recipe(1, ((0, 0),), is_open=True, is_free=True),
    Recipe(3, _TWO_SUMS, is_open=True, is_free=True),
    Recipe(2, _ONE_SUM, branch=True, is_open=True, is_free=True),
)
"""The same for histories of arrangements: as many elements come in a row, in a column, or in between."""

TYPES = (*ADDITIONS, Addition(OperandType.TENSOR_QUANT8_ASYMM, "B", 0.25, 121))
"""Those of models that live beside each other in histories of types; two differ in nothing but the zero point."""
OF_EACH_TYPE = (*RECIPES[:2], RECIPES[3], *RECIPES[6:8], RECIPES[9], OPEN[3])
"""What such a history prepares in each type."""
