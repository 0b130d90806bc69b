"""Models beside each other: a model and its twin, which has other weights, answer as each of them does alone.

Compiled code, scratch memory and caches are shared where two models have one structure. Each answer is compared with
that of the same model to the same item when nothing else was loaded, so that no expected value is needed.
"""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, TypeGuard

from msgspec import structs

from npu_conformance.harness.judge import checks
from npu_conformance.harness.judge.verdicts import NotApplicable
from npu_conformance.harness.run.caching import CacheClient
from npu_conformance.harness.run.cases import Case
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.harness.run.executing.executors import executors
from npu_conformance.harness.run.preparation import model_of
from npu_conformance.mlts.lib.loaded_model import LoadedModel, built
from npu_conformance.mlts.lib.steadiness import Steadiness
from npu_conformance.mlts.lib.streams import Stream
from npu_conformance.mlts.lib.zoo_cases import PerModel
from npu_conformance.specs.versions import Version

if TYPE_CHECKING:
    from npu_conformance.corpus.vectors import Array
    from npu_conformance.corpus.zoo import Samples, ZooModel
    from npu_conformance.specs.neuralnetworks.hal import PreparedModel

_COEXIST, _ALL_WAYS, _RIGHT = "NNHAL-PREPARE-013", "NNHAL-EXECUTE-008", "NNHAL-EXECUTE-001"
_ITEMS, _STEPS = 2, 6
_WEIGHTS = {"float32", "uint8", "int8"}
"""Element types of weights; integers of 32 bits are biases, axes and shapes."""


class Together:
    """A model with some data on one device, and what it answered when it was alone."""

    def __init__(self, context: CaseContext, model: ZooModel, rule: str, seed: int = 0) -> None:
        """rule: the requirement that another answer breaks. seed: of its data."""
        self.context, self.model, self._rule = context, model, rule
        self.samples: Samples = model.samples(_ITEMS, seed) if not model.states else model.samples(1, seed)
        self._steadiness = Steadiness()

    def loaded(
        self, prepared_model: PreparedModel | None = None, executor: str = "", *, is_beside_others: bool = False
    ) -> Stream:
        """The items from the first on, for a newly prepared model or for this one."""
        loaded = LoadedModel(self.context, self.model.vector, prepared_model=prepared_model, executor=executor)
        loaded.is_beside_others = is_beside_others
        return Stream(self.model, self.samples, loaded)

    def infer(self, stream: Stream) -> None:
        """Execute with the next item; the answer is the one that the model gave alone. Raises Failed."""
        item = stream.next_item
        self._steadiness.check(item, stream.infer().outputs, self._rule)

    def infer_all(self, stream: Stream) -> None:
        """Execute with the first items."""
        for _ in range(_ITEMS):
            self.infer(stream)

    def infer_many(self, stream: Stream) -> None:
        """Execute with enough items for states to matter."""
        for _ in range(_STEPS):
            self.infer(stream)


def twin_of(model: ZooModel) -> ZooModel:
    """A model of the same structure, whose largest tensor of weights is in reverse order.

    Weights that are the same in either order do not count. NotApplicable where there are no others.
    """
    operands = dict(model.vector.operands)
    weights = {name: operand.value for name, operand in operands.items() if _has_another_order(operand.value)}
    if not weights:
        raise NotApplicable("the model has no weights that have another order")
    name = max(weights, key=lambda each: weights[each].size)
    operands[name] = structs.replace(operands[name], value=_reversed(weights[name]))
    return replace(model, vector=structs.replace(model.vector, operands=operands))


def _has_another_order(value: Array | None) -> TypeGuard[Array]:
    return value is not None and value.dtype.name in _WEIGHTS and value.tobytes() != _reversed(value).tobytes()


def _reversed(weights: Array) -> Array:
    return weights.reshape(-1)[::-1].reshape(weights.shape).copy()


def beside_a_twin(context: CaseContext, model: ZooModel) -> None:
    """Each alone; both by turns; one after the release of the other; both from their caches."""
    built(context, model.vector)
    both = [Together(context, each, _COEXIST) for each in (twin_of(model), model)]
    for one in both:
        one.infer_all(one.loaded())
    _check_alone(context, both)
    _by_turns(both, [one.loaded() for one in both])
    first, second = both
    stays, goes = first.loaded(), second.loaded()
    second.infer(goes)
    del goes
    first.infer_all(stays)
    if context.version >= Version.V1_2:
        _from_caches(context, both)


def _check_alone(context: CaseContext, both: Sequence[Together]) -> None:
    """Where both answer alike, each answers so in a driver that has seen no other model, too.

    Other weights need not show: in the best class, or at the end of a range. What a driver has kept of the other
    model is gone only when it is started again.
    """
    if not _are_alike(both):
        return
    for one in both:
        context.restart()
        with checks.reworded("a model whose twin gave the same answers, in a driver that was started again: {}".format):
            one.infer_all(one.loaded())


def _are_alike(both: Sequence[Together]) -> bool:
    first, second = (one.loaded() for one in both)
    pairs = [(first.infer().outputs, second.infer().outputs) for _ in range(_ITEMS)]
    return all(
        answer.tobytes() == others[name].tobytes() for outputs, others in pairs for name, answer in outputs.items()
    )


def _by_turns(both: Sequence[Together], streams: Sequence[Stream]) -> None:
    for _ in range(_ITEMS):
        for one, stream in zip(both, streams, strict=True):
            one.infer(stream)


def _from_caches(context: CaseContext, both: Sequence[Together]) -> None:
    """Restore both models while neither is loaded, and let them answer by turns. Nothing, where one is not kept."""
    client = CacheClient(context)
    if not client.caches:
        return
    caches = [client.cache() for _ in both]
    for one, cache in zip(both, caches, strict=True):
        saved = client.save(built(context, one.model.vector).model, cache.handles(), _token(one is both[0]))
        model_of(saved, "prepareModel with cache files")
    restored = [
        client.restore(cache.handles(), _token(place == 0)).prepared_model for place, cache in enumerate(caches)
    ]
    streams = [one.loaded(model) for one, model in zip(both, restored, strict=True) if model is not None]
    if len(streams) == len(both):
        _by_turns(both, streams)


def _token(is_first: bool) -> bytes:
    """The cache token of either model: the two differ in their last byte alone."""
    return bytes(31) + bytes([is_first])


def in_every_way(context: CaseContext, model: ZooModel) -> None:
    """Every way to execute gives the answers of the usual one, item by item."""
    one = Together(context, model, _ALL_WAYS)
    prepared = LoadedModel(context, model.vector).prepared_model
    for executor in executors(context.version):
        with context.configuration(executor):
            one.infer_all(one.loaded(prepared, executor))


def in_two_streams(context: CaseContext, model: ZooModel) -> None:
    """Two streams of data on one prepared model, and on two, by turns and at once: each gets its own answers.

    States of a recurrent model travel as inputs and outputs; what a driver keeps of them shows in the other stream.
    """
    built(context, model.vector)
    both = [Together(context, model, _COEXIST, seed) for seed in (0, 1)]
    for one in both:
        one.infer_many(one.loaded())
    shared = LoadedModel(context, model.vector).prepared_model
    for prepared_model in (shared, None):
        streams = [one.loaded(prepared_model) for one in both]
        for _ in range(_STEPS):
            for one, stream in zip(both, streams, strict=True):
                one.infer(stream)
    if context.manifest.concurrent_calls > 1:
        _at_once(context, both, shared)


def _at_once(context: CaseContext, both: Sequence[Together], shared: PreparedModel) -> None:
    """Let both infer at once; a device that has no room for two executions is asked no more."""
    with contextlib.suppress(NotApplicable):
        _both_at_once(context, both, shared)


def _both_at_once(context: CaseContext, both: Sequence[Together], shared: PreparedModel) -> None:
    for prepared_model in (shared, None):
        streams = [one.loaded(prepared_model, is_beside_others=True) for one in both]
        calls = [functools.partial(one.infer_many, stream) for one, stream in zip(both, streams, strict=True)]
        for found in context.run_concurrently(calls):
            if isinstance(found, BaseException):
                raise found


def with_alike_items(context: CaseContext, model: ZooModel) -> None:
    """Inputs that are alike in part get the answers that they get first, of a model that has seen nothing before."""
    built(context, model.vector)
    samples = alike(model.samples(2))
    steadiness = Steadiness()
    for item in range(samples.count):
        fresh = Stream(model, samples, LoadedModel(context, model.vector))
        steadiness.check(item, fresh.repeat(item).outputs, _RIGHT)
    stream = Stream(model, samples, LoadedModel(context, model.vector))
    for item in (*range(samples.count), *reversed(range(samples.count))):
        steadiness.check(item, stream.repeat(item).outputs, _RIGHT)


def alike(samples: Samples) -> Samples:
    """Four items: the first; its end from the second, its beginning from there; its halves in the other order."""
    import numpy

    def mixed(array: Array) -> Array:
        first, second = (array[item].reshape(-1) for item in (0, 1))
        quarter, half = max(1, first.size // 4), first.size // 2
        rows = (
            first,
            numpy.concatenate([first[:-quarter], second[-quarter:]]),
            numpy.concatenate([second[:quarter], first[quarter:]]),
            numpy.concatenate([first[half:], first[:half]]),
        )
        return numpy.stack(rows).reshape(len(rows), *array.shape[1:])

    inputs = {name: mixed(array) for name, array in samples.inputs.items()}
    return replace(samples, inputs=inputs)


def cases() -> Iterator[Case]:
    """Four cases for each model of the zoo."""
    yield from _TWINS.cases()
    yield from _WAYS.cases()
    yield from _ALIKE.cases()
    yield from _STREAMS.cases()


_TWINS = PerModel(
    "mlts.together",
    "twins",
    (_COEXIST, "ML-LAT-005"),
    "{model} and a twin with other weights answer beside each other, and from caches, as each of them alone.",
    beside_a_twin,
)
_WAYS = PerModel(
    "mlts.together",
    "ways",
    (_ALL_WAYS, _RIGHT),
    "Every way to execute {model} gives the same answers to its data.",
    in_every_way,
)
_ALIKE = PerModel(
    "mlts.together",
    "alike",
    (_RIGHT, "ML-ACC-004"),
    "Inputs of {model} that are alike in part do not get each other's answers.",
    with_alike_items,
)
_STREAMS = PerModel(
    "mlts.together",
    "streams",
    (_COEXIST, "ML-ACC-006"),
    "Two streams of data that {model} gets by turns and at once are answered as each of them alone.",
    in_two_streams,
)
