"""The items of a model's data, as an implementation gets them: in their order, with states that begin anew in time."""

from __future__ import annotations

from typing import TYPE_CHECKING

from npu_conformance.mlts.lib.loaded_model import Inference, LoadedModel
from npu_conformance.mlts.lib.steadiness import Steadiness

if TYPE_CHECKING:
    from npu_conformance.corpus.vectors import Array
    from npu_conformance.corpus.zoo import Samples, ZooModel


class Stream:
    """Items in their order, from the first again after the last. Each implementation has a stream of its own."""

    def __init__(
        self, model: ZooModel, samples: Samples, loaded: LoadedModel, steadiness: Steadiness | None = None
    ) -> None:
        """steadiness: what the answers to each item have to agree with; None where they have not."""
        self._model, self._samples, self._loaded, self._steadiness = model, samples, loaded, steadiness
        self._states: dict[str, Array] = {}
        self.next_item = 0

    def infer(self) -> Inference:
        """Execute with the next item."""
        item, samples = self.next_item, self._samples
        self.next_item = (item + 1) % samples.count
        if item % samples.sequence_length == 0:
            self.reset()
        inference = self._loaded.infer({name: array[item] for name, array in samples.inputs.items()} | self._states)
        self._states = {state.input: inference.outputs[state.output] for state in self._model.states}
        if self._steadiness is not None:
            self._steadiness.check(item, inference.outputs)
        return inference

    def repeat(self, item: int) -> Inference:
        """Execute with one item and states as at the beginning, and leave the order as it was."""
        fresh = {state.input: state.initial for state in self._model.states}
        return self._loaded.infer({name: array[item] for name, array in self._samples.inputs.items()} | fresh)

    def reset(self) -> None:
        """Let the states begin anew (ML-ACC-006)."""
        self._states = {state.input: state.initial for state in self._model.states}
