"""Chooses which candidates of an operation are run: those that meet pairs and triples of traits not met before.

A kernel is chosen by two or three properties at once, and of what is wrong behind them a model shows something only
where it has all of them. So many more candidates are made than are run, without their expected values, and one after
the other the one is taken that meets most of what was met least. Some more follow, which meet what guards ask for three
at a time (`further`). The choice is stored (`chosen.json`): a run makes the chosen ones alone.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy

from npu_conformance.corpus import strategies
from npu_conformance.corpus.drawn.candidates import numbered, with_results, work
from npu_conformance.corpus.drawn.further import further
from npu_conformance.corpus.drawn.traits import kernel_of, traits, type_of
from npu_conformance.corpus.random_graphs.dice import Dice
from npu_conformance.corpus.strategies.calls import Unfit
from npu_conformance.specs.versions import Version

if TYPE_CHECKING:
    from npu_conformance.corpus.strategies import Form
    from npu_conformance.corpus.vectors import Array

_MODELS = 36
_OTHERS: Mapping[str, int] = {
    **dict.fromkeys((
        "ABS", "CAST", "DEQUANTIZE", "ELU", "EXP", "FLOOR", "HARD_SWISH", "LOG", "LOGICAL_NOT", "LOGISTIC", "NEG",
        "QUANTIZE", "RANK", "RELU", "RELU1", "RELU6", "RSQRT", "SIN", "SQRT", "TANH", "FILL", "IF", "WHILE",
        "EXPAND_DIMS", "RESHAPE", "SQUEEZE", "LOGICAL_AND", "LOGICAL_OR", "SELECT", "LSH_PROJECTION",
    ), 24),
    **dict.fromkeys((
        "LSTM", "UNIDIRECTIONAL_SEQUENCE_LSTM", "BIDIRECTIONAL_SEQUENCE_LSTM", "QUANTIZED_LSTM", "ROI_ALIGN",
        "QUANTIZED_16BIT_LSTM", "RNN", "UNIDIRECTIONAL_SEQUENCE_RNN", "BIDIRECTIONAL_SEQUENCE_RNN", "ROI_POOLING",
        "AXIS_ALIGNED_BBOX_TRANSFORM", "HEATMAP_MAX_KEYPOINT", "INSTANCE_NORMALIZATION",
    ), 12),
    **dict.fromkeys((
        "AVERAGE_POOL_2D", "MAX_POOL_2D", "RESIZE_NEAREST_NEIGHBOR",
        "GROUPED_CONV_2D", "TRANSPOSE_CONV_2D", "CONCATENATION", "PAD", "STRIDED_SLICE",
    ), 52),
    **dict.fromkeys(("SUB", "DIV", "MAXIMUM", "MINIMUM", "PRELU", "GATHER", "SLICE", "SOFTMAX", "MEAN"), 52),
    **dict.fromkeys(("ADD", "MUL", "FULLY_CONNECTED"), 68),
    "DEPTHWISE_CONV_2D": 96, "CONV_2D": 128, "TRANSPOSE": 104,
}  # fmt: skip
"""How many models a seed has: more where there is more to choose by, fewer where there is less or each takes time."""
_CANDIDATES = 10
"""So many times as many candidates are made, at least `_LEAST`."""
_LEAST = 400
_MOST_TRIPLES = 8_000
_ALONE, _WITH_KERNEL, _PAIR, _PAIR_WITH_KERNEL, _TRIPLE = 40_000, 8_000, 1_000, 1_500, 500
"""What a trait counts by itself, with a type or a kind of kernel, what a pair with these, and any three together."""
_MORE_ALONE, _OF_FEW_WINDOWS = 100, ("DEPTHWISE_CONV_2D", "TRANSPOSE_CONV_2D")
"""Operations whose large windows would be met too seldom, and how much more a trait counts there by itself."""
_CHUNK = 4_096
_SHARE = 0.8
"""0: what counts is how much of a model is new, 1: which share of it."""
_COST = 1_500.0
"""A model with so much work counts half as much as a small one with the same traits: two small ones meet more."""
_COST_OF_WINDOWS = 6_000.0
"""The same of operations with windows: large windows are work of themselves."""
_WITH_WINDOWS = (
    "CONV_2D", "DEPTHWISE_CONV_2D", "GROUPED_CONV_2D", "TRANSPOSE_CONV_2D",
    "AVERAGE_POOL_2D", "L2_POOL_2D", "MAX_POOL_2D",
)  # fmt: skip
"""Operations with windows, which `_COST_OF_WINDOWS` is for."""


def choices(operation: str, seeds: int) -> Mapping[str, Sequence[Sequence[int]]]:
    """The numbers of the candidates of each seed, for each version from which on other models are legal.

    The first seed has what meets most, the others the first candidates that it has not.
    """
    found: dict[str, Sequence[Sequence[int]]] = {}
    before: object = None
    for version in Version:
        forms = strategies.forms(version, operation)
        legal = [(form.signature, form.types, form.input_counts(version)) for form in forms], _recipes(version)
        if forms and legal != before:
            found[str(version)] = _choice(operation, forms, version, seeds)
        before = legal
    return found


def _recipes(version: Version) -> tuple[bool, ...]:
    """What recipes ask of a version."""
    return version >= Version.V1_2, version >= Version.V1_3


def _choice(operation: str, forms: Sequence[Form], version: Version, seeds: int) -> list[list[int]]:
    models = _OTHERS.get(operation, _MODELS)
    candidates = list(_candidates(operation, forms, version, max(_LEAST, _CANDIDATES * models)))

    def says_something(number: int) -> bool:
        try:
            with_results(numbered(forms, operation, number, version))
        except Unfit:
            return False
        return True

    taken = list(itertools.islice(in_order(operation, candidates, says_something), models))
    first = set(taken)
    fit = (one.number for one in candidates if one.number not in first and says_something(one.number))
    taken += further(operation, forms, version, taken, says_something)
    return [taken, *(list(itertools.islice(fit, models)) for _ in range(seeds - 1))]


class Candidate(NamedTuple):
    """A candidate by what the choice needs of it."""

    number: int
    type: str
    kernel: str
    traits: Sequence[str]
    work: int


def _candidates(operation: str, forms: Sequence[Form], version: Version, count: int) -> Iterator[Candidate]:
    """So many that are legal and small enough, or fewer where these are rare."""
    left = count
    for number in range(4 * count):
        try:
            vector = numbered(forms, operation, number, version)
        except Unfit:
            continue
        found = traits(vector)
        yield Candidate(number, type_of(vector), kernel_of(found), found, work(vector))
        left -= 1
        if not left:
            return


def in_order(operation: str, candidates: Sequence[Candidate], says_something: Callable[[int], bool]) -> Iterator[int]:
    """The numbers of the candidates that say something, the one that meets most of what was met least first."""
    met, weights = _combinations(operation, candidates)
    chunks = [slice(start, start + _CHUNK) for start in range(0, len(weights), _CHUNK)]
    values = numpy.sum([_worth(met[:, chunk], weights[chunk]) for chunk in chunks], axis=0)
    # Of a model with few traits, such as one of rank 1, less can be new.
    half = _COST_OF_WINDOWS if operation in _WITH_WINDOWS else _COST
    costs = (1 + numpy.array([one.work for one in candidates]) / half) * values**_SHARE
    left, counts = numpy.ones(len(candidates), bool), numpy.zeros(len(weights), int)
    for _ in candidates:
        best = int(numpy.argmax(numpy.where(left, values / costs, -1)))
        left[best] = False
        if not says_something(candidates[best].number):
            continue
        yield candidates[best].number
        its = numpy.flatnonzero(met[best])
        lost = _left_of(weights[its], counts[its]) - _left_of(weights[its], counts[its] + 1)
        counts[its] += 1
        values -= _worth(met[:, its], lost)


def _worth(met: Array, weights: Array) -> Array:
    """What candidates meet: whole numbers, so that the sum is the same on every machine."""
    worth: Array = met.astype(numpy.float64) @ weights
    return worth


def _left_of(weights: Array, counts: Array) -> Array:
    """What a combination counts that was met so often."""
    left: Array = weights // (1 + counts) ** 2
    return left


def _combinations(operation: str, candidates: Sequence[Candidate]) -> tuple[Array, Array]:
    """Which candidate meets which combination of traits, and what each of these counts."""
    names = sorted({one for candidate in candidates for one in candidate.traits})
    index = {name: number for number, name in enumerate(names)}
    has = numpy.zeros((len(candidates), len(names)), bool)
    for row, candidate in enumerate(candidates):
        has[row, [index[one] for one in candidate.traits]] = True
    # What all have, or only one, is nothing to choose by; two names of one thing would count twice.
    shared = has.sum(0)
    has = numpy.unique(has[:, (shared > 1) & (shared < len(candidates))], axis=1)
    first, second = numpy.triu_indices(has.shape[1], 1)
    pairs = has[:, first] & has[:, second]
    pairs = pairs[:, pairs.sum(0) > 1]
    kernels = numpy.concatenate(
        [_columns([one.type for one in candidates]), _columns([one.kernel for one in candidates])], 1
    )
    parts = [
        (has, _ALONE * (_MORE_ALONE if operation in _OF_FEW_WINDOWS else 1)),
        (_crossed(has, kernels), _WITH_KERNEL),
        (pairs, _PAIR),
        (_crossed(pairs, kernels), _PAIR_WITH_KERNEL),
        (_triples(operation, has), _TRIPLE),
    ]
    weights = numpy.concatenate([numpy.full(part.shape[1], weight) for part, weight in parts])
    return numpy.concatenate([part for part, _ in parts], axis=1), weights


def _columns(values: Sequence[str]) -> Array:
    """A column for each value: who has it."""
    return numpy.array([[one == value for value in sorted(set(values))] for one in values])


def _crossed(has: Array, others: Array) -> Array:
    """Each column with each other one, where several candidates have both."""
    both = numpy.concatenate([has & others[:, [column]] for column in range(others.shape[1])], axis=1)
    return both[:, both.sum(0) > 1]


def _triples(operation: str, has: Array) -> Array:
    """Some of the triples that several candidates meet."""
    dice = Dice(f"{operation} triples")
    chosen = dice.integers(0, has.shape[1], (3 * _MOST_TRIPLES, 3)) if has.shape[1] else numpy.zeros((0, 3), int)
    chosen = chosen[(chosen[:, 0] != chosen[:, 1]) & (chosen[:, 1] != chosen[:, 2]) & (chosen[:, 0] != chosen[:, 2])]
    found = has[:, chosen[:, 0]] & has[:, chosen[:, 1]] & has[:, chosen[:, 2]]
    return found[:, found.sum(0) > 1][:, :_MOST_TRIPLES]
