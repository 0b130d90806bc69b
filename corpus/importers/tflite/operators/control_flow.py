"""IF and WHILE, whose subgraphs become graphs that the model refers to."""

from __future__ import annotations

from npu_conformance.corpus.importers.tflite.step import Step


def if_(step: Step) -> None:
    """IF."""
    names = step.names()
    step.apply("IF", [*names[:1], *_graphs(step, "ThenSubgraphIndex", "ElseSubgraphIndex"), *names[1:]])


def while_(step: Step) -> None:
    """WHILE, all of whose inputs go from round to round."""
    step.apply("WHILE", [*_graphs(step, "CondSubgraphIndex", "BodySubgraphIndex"), *step.names()])


def _graphs(step: Step, *options: str) -> list[str]:
    builder = step.translation.builder
    numbers = [step.operator.option(option) for option in options]
    return [builder.reference(step.translation.called(number, step.operator)) for number in numbers]
