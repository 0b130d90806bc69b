"""Accuracy: a model's answers over its data, by golden outputs, labels, and those of another implementation."""

from __future__ import annotations

import functools
import math
from typing import TYPE_CHECKING

from msgspec.structs import replace

from npu_conformance.harness.judge import checks
from npu_conformance.harness.judge.verdicts import NotApplicable
from npu_conformance.harness.run.cases import Scope
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.mlts.lib import non_finite
from npu_conformance.mlts.lib.loaded_model import LoadedModel
from npu_conformance.mlts.lib.streams import Stream
from npu_conformance.mlts.lib.zoo_cases import PerModel, Side, sides
from npu_conformance.specs.documents.zoo import Limit

if TYPE_CHECKING:
    from npu_conformance.corpus.zoo import Samples, ZooModel
    from npu_conformance.mlts.lib.scores import Answers
    from npu_conformance.specs.documents.results import Measurement

_ITEMS = {Scope.SMOKE: 20, Scope.DEFAULT: 60, Scope.FULL: 1500}
"""Items; as many as MLTS's image sets have in the full scope. Recurrent models have a sequence for each ten."""
_MOST_SECONDS = 300.0
"""For the inferences of all items, before time_scale (ML-LAT-003)."""
_NO_LIMIT = Limit()
_MARGIN = 0.05
"""By how much the share of right answers may be below that of the CPU (ML-ACC-001)."""


def answer(context: CaseContext, model: ZooModel) -> None:
    """Execute with all items, measure every metric, and judge those that have a limit."""
    samples = model.samples(_count(context, model))
    golden = _golden(model, samples)
    with sides(context) as implementations:
        found = [side.attempt(functools.partial(_answers, side, model, samples, golden)) for side in implementations]
    device, beside = found[0], found[1] if len(found) > 1 else None
    assert device is not None
    expected = beside if golden is None else golden
    if expected is None and samples.labels is None:
        raise NotApplicable("the model has neither labels nor golden outputs: name an implementation by --beside")
    if expected is not None:
        _check_numbers(device, expected)
        device, beside = device.where_finite(expected), beside and beside.where_finite(expected)
        expected = expected.where_finite(expected)
    _judge_answers(context, device, expected, beside)


def _judge_answers(context: CaseContext, device: Answers, expected: Answers | None, beside: Answers | None) -> None:
    model, samples = device.model, device.samples
    for metric in model.metrics:
        _judge(context, model, metric, _measured(context, metric, device, expected))
        if beside is not None and samples.goldens is not None:
            _measured(context, metric, beside, expected)
    if samples.goldens is not None:
        _judge_spread(context, device, expected, beside)
    if beside is not None and samples.labels is not None:
        _judge_beside(device, beside)


def _count(context: CaseContext, model: ZooModel) -> int:
    wanted = _ITEMS[context.scope] // (10 if model.states else 1)
    return min(wanted, model.entry.items) if model.entry.items else wanted


def _golden(model: ZooModel, samples: Samples) -> Answers | None:
    from npu_conformance.mlts.lib.scores import Answers

    return None if samples.goldens is None else Answers(model, samples, samples.goldens)


def _answers(side: Side, model: ZooModel, samples: Samples, golden: Answers | None) -> Answers:
    from npu_conformance.mlts.lib.scores import Answers, concatenated

    stream = Stream(model, samples, LoadedModel(side.context, model.vector))
    seconds, outputs = 0.0, []
    for item in range(samples.count):
        inference = stream.infer()
        seconds += inference.seconds
        _in_time(side.context, seconds, f"{item + 1} of {samples.count} items")
        outputs.append(inference.outputs)
    answers = Answers(model, samples, concatenated(outputs), side.name)
    if golden is not None:
        _check_numbers(answers, golden)
    return answers


@checks.about("ML-ACC-004")
def _check_numbers(found: Answers, expected: Answers) -> None:
    """Whatever is finite in the golden outputs, or else in the answers of the other implementation, is finite."""
    if (wrong := found.first_without_number(expected)) is not None:
        whose = expected.beside or "the golden output"
        what = f"output {wrong.element} of {found.model.name} for item {wrong.item}"
        checks.fail(what, f"a number, as {whose} has it there", non_finite.spelt(wrong.value))


@checks.about("ML-LAT-003")
def _in_time(context: CaseContext, seconds: float, done: str) -> None:
    most = _MOST_SECONDS * context.manifest.time_scale * max(context.duration_scale, 1.0)
    checks.that(seconds <= most, f"inference of {done}: expected at most {most:g} s for all, found {seconds:.1f} s")


def _measured(context: CaseContext, metric: str, answers: Answers, expected: Answers | None) -> Measurement | None:
    from npu_conformance.mlts.lib.scores import measured

    found = measured(metric, answers, expected)
    if found is not None and math.isfinite(found.value):
        limit = _limit(answers.model, metric)
        context.measurements.append(replace(found, bound=limit.at_most if limit.at_least is None else limit.at_least))
    return found


def _judge(context: CaseContext, model: ZooModel, metric: str, found: Measurement | None) -> None:
    """A metric that the zoo has a limit for has its verdict, as a configuration."""
    limit = _limit(model, metric)
    if found is None or limit == _NO_LIMIT:
        return
    largest, smallest = _extremes(found)
    told = f"{metric} of {model.name} over {found.count} items is {found.value:g}"
    with context.configuration(metric), checks.about(_REQUIREMENTS.get(metric, "ML-ACC-004")):
        if limit.at_least is not None:
            checks.that(largest >= limit.at_least, f"{told}: expected {limit.at_least:g} or more")
        if limit.at_most is not None:
            checks.that(smallest <= limit.at_most, f"{told}: expected {limit.at_most:g} or less")


def _limit(model: ZooModel, metric: str) -> Limit:
    """What the zoo says that a metric has to be."""
    return next((limit for name, limit in model.entry.limits.items() if name == metric), _NO_LIMIT)


def _extremes(found: Measurement) -> tuple[float, float]:
    """The largest and the smallest value that a metric may have, chance considered; itself where it has no interval."""
    high = found.value if found.high is None else found.high
    return high, found.value if found.low is None else found.low


@checks.about("ML-ACC-008")
def _judge_beside(device: Answers, beside: Answers) -> None:
    """The device is right as often as the other implementation, but for the margin and for chance."""
    from npu_conformance.mlts.lib.metrics.baseline import correctness_against

    compared = correctness_against(device.hits(), beside.hits(), _MARGIN)
    interval = compared.interval
    checks.that(
        not compared.is_worse,
        f"right answers less those of {beside.beside}: expected no less than {-_MARGIN:.0%} of {compared.items} items, "
        f"found {compared.difference:+.1%} (95 % interval {interval.low:+.1%} to {interval.high:+.1%})",
    )


def _judge_spread(context: CaseContext, device: Answers, golden: Answers | None, beside: Answers | None) -> None:
    """Warn where the numbers beside the best class are further off than the CPU's, by more than the margin."""
    from npu_conformance.mlts.lib.metrics.spread import spread

    assert golden is not None
    cpu = None if beside is None else beside.real(beside.main)
    operand = device.model.vector.operands[device.main]
    found, wanted = device.real(device.main), golden.real(golden.main)
    told = spread(found, cpu, wanted, float(operand.scale or 0.0), device.samples.sequence_length).told
    if told:
        context.warn_quality(f"answers of {device.model.name} to {device.samples.count} items are {told}")


_REQUIREMENTS = {
    "top_1": "ML-ACC-001",
    "top_5": "ML-ACC-001",
    "phone_error_rate": "ML-ACC-003",
    "mel_cepstral_error": "ML-ACC-002",
    "log_f0_error": "ML-ACC-002",
}
"""What a limit is about, where it is not the comparison with golden outputs."""

cases = PerModel(
    "mlts.accuracy",
    "answers",
    (
        "ML-ACC-004",
        "ML-ACC-001",
        "ML-ACC-002",
        "ML-ACC-003",
        "ML-ACC-005",
        "ML-ACC-006",
        "ML-ACC-008",
        "ML-LAT-003",
        "NNHAL-EXECUTE-001",
    ),
    "Answers of {model} over its data: right as often as they have to be, and as another implementation is.",
    answer,
).cases
