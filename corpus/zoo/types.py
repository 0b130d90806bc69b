"""A model of the zoo and what it is measured with."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from npu_conformance.specs.documents.zoo import ZooEntry

if TYPE_CHECKING:
    from npu_conformance.corpus.vector_types import Array, Vector


class State(NamedTuple):
    """A state of a recurrent model: its input operand, the output that is its next value, its first value."""

    input: str
    output: str
    initial: Array


@dataclass(frozen=True, eq=False)
class Samples:
    """Items to execute a model with, each one execution. Arrays have the items' axis first.

    inputs: stored elements [items, *dimensions] by input operand; states are not among them. sequence_length: states
    begin anew at every item whose index is a multiple of it.

    labels: the class of each item [items], or None. targets: real values [items, *dimensions] that outputs ought to
    have, such as a signal without noise. goldens: stored elements of every output [items, *dimensions], from float64
    arithmetic; None for models that are only compared.
    """

    inputs: Mapping[str, Array]
    sequence_length: int = 1
    labels: Array | None = None
    targets: Mapping[str, Array] | None = None
    goldens: Mapping[str, Array] | None = None

    @property
    def count(self) -> int:
        """The number of items."""
        return len(next(iter(self.inputs.values())))


@dataclass(frozen=True, eq=False)
class ZooModel:
    """A model with its data. states: empty where each execution stands alone."""

    entry: ZooEntry
    vector: Vector
    states: tuple[State, ...]
    make_samples: Callable[[int, int], Samples]

    @property
    def name(self) -> str:
        """Its name in the zoo."""
        return self.entry.name

    @property
    def metrics(self) -> tuple[str, ...]:
        """Names of the metrics that say something about it."""
        return self.entry.metrics

    def samples(self, count: int, seed: int = 0) -> Samples:
        """The same samples for the same seed, none of which the model was fitted to.

        count: of items, and of sequences where the model has states. Raises ValueError for a count below 1, NotFetched
        where the data is not in the cache.
        """
        if count < 1:
            raise ValueError(f"samples of {self.name}: expected a count from 1 up, found {count}")
        if seed < 0:
            raise ValueError(f"samples of {self.name}: expected a seed from 0 up, found {seed}")
        return self.make_samples(count, seed)
