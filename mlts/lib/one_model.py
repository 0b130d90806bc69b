"""One small model of the zoo with an item of its data, loaded as often as a case about latency wants it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from msgspec.structs import replace

from npu_conformance.corpus import zoo
from npu_conformance.harness.judge import checks
from npu_conformance.harness.judge.verdicts import NotApplicable, NotSupported
from npu_conformance.harness.run.caching import CacheClient
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.harness.run.executing.execution import synchronous
from npu_conformance.harness.run.preparation import model_of
from npu_conformance.mlts.lib import pairs
from npu_conformance.mlts.lib.loaded_model import LoadedModel, built
from npu_conformance.mlts.lib.pairs import Slower, Step
from npu_conformance.mlts.lib.steadiness import Steadiness
from npu_conformance.specs.neuralnetworks.enums import ErrorStatus

if TYPE_CHECKING:
    from npu_conformance.corpus.vectors import Array
    from npu_conformance.corpus.zoo import ZooModel
    from npu_conformance.specs.neuralnetworks.hal import PreparedModel

_MODELS = ("digits_conv", "digits_conv_int8", "digits_conv_uint8", "denoiser_lstm")
"""The first of these that the device supports."""
_LONG = 0.05
"""Seconds of an inference: of one that takes as long there are fewer turns."""


class Loaded:
    """A prepared model and an item: calling it infers once, and gives the seconds. Answers have to stay the same."""

    def __init__(self, loaded: LoadedModel, item: Mapping[str, Array]) -> None:
        self._loaded, self._item, self._steadiness = loaded, item, Steadiness()

    def __call__(self) -> float:
        inference = self._loaded.infer(self._item)
        self._steadiness.check(0, inference.outputs)
        return inference.seconds

    def expect_others(self) -> None:
        """Others execute at the same time: a device may refuse that."""
        self._loaded.is_beside_others = True

    def refuse(self) -> None:
        """Execute a request that names a pool which is not there."""
        request = self._loaded.request
        first, *rest = request.inputs
        wrong = replace(first, location=replace(first.location, pool_index=len(request.pools)))
        status = synchronous(self._loaded.prepared_model, replace(request, inputs=(wrong, *rest)), measure=False).status
        checks.that(status != ErrorStatus.NONE, "execution with a pool that is not there: expected a refusal")


class OneModel:
    """The model, on the device of the case. NotSupported where the device has none of them."""

    def __init__(self, context: CaseContext) -> None:
        self._context = context
        self._model = _supported(context)
        states = {state.input: state.initial for state in self._model.states}
        samples = self._model.samples(1)
        self._item = {name: array[0] for name, array in samples.inputs.items()} | states

    def loaded(
        self,
        change: Callable[[Array], Array] | None = None,
        *,
        executor: str = "",
        prepared_model: PreparedModel | None = None,
    ) -> Loaded:
        """Prepare the model, and infer once. change: of each array of the item."""
        model = LoadedModel(self._context, self._model.vector, executor=executor, prepared_model=prepared_model)
        one = Loaded(model, {name: array if change is None else change(array) for name, array in self._item.items()})
        one()
        return one

    def restored(self) -> Loaded:
        """The model as it comes from a cache. NotApplicable where the device keeps none."""
        client = CacheClient(self._context)
        if not client.caches:
            raise NotApplicable("the device keeps no models")
        cache = client.cache()
        saved = client.save(built(self._context, self._model.vector).model, cache.handles())
        model_of(saved, "prepareModel with cache files")
        found = client.restore(cache.handles()).prepared_model
        if found is None:
            raise NotApplicable("the device has not kept this model")
        return self.loaded(prepared_model=found)

    def slower(
        self,
        usual: Step,
        other: Step,
        *,
        slow: float = pairs.SLOW,
        noticeable: float = pairs.NOTICEABLE,
        turns: int = pairs.TURNS,
        tries: int = pairs.TRIES,
    ) -> Slower | None:
        """As pairs.slower, with fewer turns where an inference takes long."""
        if usual() > _LONG * self._context.manifest.time_scale:
            turns, tries = 4, 1
        return pairs.slower(usual, other, slow=slow, noticeable=noticeable, turns=turns, tries=tries)


def _supported(context: CaseContext) -> ZooModel:
    lacking = ""
    for name in _MODELS:
        model = zoo.load(name)
        try:
            built(context, model.vector)
            return model
        except (NotSupported, NotApplicable) as error:
            lacking = str(error)
    raise NotSupported(f"none of {', '.join(_MODELS)}: {lacking}")
