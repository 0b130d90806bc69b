"""From the examples of a file to tests: every combination of variations, as a JSON document."""

from __future__ import annotations

import base64
import itertools
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy

from npu_conformance.corpus.importers.aosp.examples import Example, Feed
from npu_conformance.corpus.importers.aosp.lifetimes import AllInputsAsInternalCoverter, AllTensorsAsInputsConverter
from npu_conformance.corpus.importers.aosp.models import Model, Node
from npu_conformance.corpus.importers.aosp.naming import Specification
from npu_conformance.corpus.importers.aosp.operands import IgnoredOutput, Operand
from npu_conformance.corpus.importers.aosp.types import ELEMENTS, SymmPerChannelQuantParams
from npu_conformance.corpus.importers.aosp.variations import DefaultVariation, ModelVariation, SkipError

Document = dict[str, Any]
_STORED = {
    "float32": "<f4", "float16": "<f2", "int32": "<i4", "uint32": "<u4", "uint8": "u1", "int8": "i1", "uint16": "<u2",
    "int16": "<i2", "bool8": "u1",
}  # fmt: skip


class ExampleError(Exception):
    """A test could not be made of an example. line: where the file declares it."""

    def __init__(self, line: int, problem: BaseException) -> None:
        self.line = line
        self.problem = problem
        super().__init__(str(problem))


def tests(specification: Specification) -> Iterator[Document]:
    """Yield a document for each test, in the order of examples, feeds and combinations; the last group varies fastest.

    Raises ExampleError.
    """
    for example in _merged(specification.examples):
        try:
            yield from _tests_of(example, specification)
        except Exception as problem:  # a file can make any line of the language fail
            raise ExampleError(example.line, problem) from problem


def _merged(examples: list[Example]) -> list[Example]:
    """Give the feeds of examples that differ in nothing else to the first of them."""
    found: dict[tuple[Any, ...], Example] = {}
    for example in examples:
        groups = tuple(tuple(map(id, group)) for group in example.variations)
        first = found.setdefault((id(example.model), example.name, groups), example)
        if first is not example:
            first.feeds += example.feeds
    return list(found.values())


def _tests_of(example: Example, specification: Specification) -> Iterator[Document]:
    groups = [*example.variations, *_lifetimes(example)]
    for feed in example.feeds:
        for combination in itertools.product(*groups):
            model = example.model.copied()
            _fill(model, feed)
            try:
                for variation in combination:
                    variation.ApplyTo(model)
            except SkipError:
                continue
            yield _test(example, model, combination, specification)


def _lifetimes(example: Example) -> list[list[ModelVariation]]:
    several = len(example.model.operations) != 1
    if several or not example.testLifeTimeVariation or example.expectedMultinomialDistributionTolerance != 0:
        return []
    return [
        [DefaultVariation(), AllTensorsAsInputsConverter()],
        [DefaultVariation(), AllInputsAsInternalCoverter()],
    ]


def _fill(model: Model, feed: Feed) -> None:
    for operand in model.GetInputs():
        operand.SetValue(_fed(operand, feed[0], "input"))
    for operand in model.GetOutputs():
        operand.SetValue(None if isinstance(operand, IgnoredOutput) else _fed(operand, feed[1], "output"))


def _fed(operand: Operand, values: Mapping[Operand, Any], role: str) -> Any:
    if operand not in values:
        raise ValueError(f"no value for {role} {operand}")
    return values[operand]


def _test(
    example: Example, model: Model, combination: Sequence[ModelVariation], specification: Specification
) -> Document:
    labels = [variation.label() for variation in combination]
    parts = (specification.name, model.name, example.name, *labels)
    name = specification.test_names.unique("_".join(str(part) for part in parts if part not in (None, "")))
    version = specification.version_overrides.get(name, model.version)
    models = [model, *model.referenced()]
    subgraphs = [_subgraph(part, models[1:]) for part in models]
    return {
        "name": name,
        "hal_version": "UNKNOWN" if version is None or model.isRelaxed else version,
        "test_kind": _kind(example, subgraphs[0]),
        "variations": [
            {"class": type(variation).__name__, "name": label}
            for variation, label in zip(combination, labels, strict=True)
        ],
        "is_relaxed": bool(model.isRelaxed),
        "expect_failure": example.expectFailure,
        "expected_multinomial_distribution_tolerance": float(example.expectedMultinomialDistributionTolerance),
        "subgraphs": subgraphs,
        "examples": [_example(model)],
        "zero_sized_output": any(not operand.type.GetNumberOfElements() for operand in model.GetOutputs()),
    }


def _kind(example: Example, main: Document) -> str:
    """Tests that must fail and begin with WHILE are loops without an end."""
    if example.expectFailure:
        return "infinite_loop_timeout" if main["operations"][0]["type"] == "WHILE" else "validation"
    return "multinomial" if example.expectedMultinomialDistributionTolerance else "general"


def _subgraph(model: Model, referenced: list[Model]) -> Document:
    place = {operand.name: index for index, operand in enumerate(model.operands)}
    operations = model.sorted_operations()
    uses = Counter(used.name for operation in operations for used in operation.ins)
    return {
        "name": model.name,
        "operands": [
            _operand(operand, index, uses[operand.name], referenced) for index, operand in enumerate(model.operands)
        ],
        "operations": [_operation(operation, place) for operation in operations],
        "inputs": [place[operand.name] for operand in model.GetInputs()],
        "outputs": [place[operand.name] for operand in model.GetOutputs()],
    }


def _operation(operation: Node, place: dict[str, int]) -> Document:
    return {
        "type": operation.op,
        "inputs": [place[operand.name] for operand in operation.ins],
        "outputs": [place[operand.name] for operand in operation.outs],
    }


def _operand(operand: Operand, index: int, consumers: int, referenced: list[Model]) -> Document:
    kind, extra = operand.type, operand.type.extraParams
    document: Document = {
        "index": index,
        "name": operand.name,
        "type": kind.type,
        "dimensions": list(kind.dimensions),
        "scale": kind.scale,
        "zero_point": kind.zeroPoint,
        "channel_quant": None if extra is None or extra.hide else _channel_quant(extra),
        "lifetime": operand.lifetime,
        "consumers": consumers,
        "is_ignored": isinstance(operand, IgnoredOutput),
        "omitted": operand.lifetime == "NO_VALUE" or _is_omitted_input(operand),
    }
    if operand.lifetime == "SUBGRAPH" and operand.value is not None:
        document["referenced_index"] = [model is operand.value[0] for model in referenced].index(True)
    elif operand.lifetime.startswith("CONSTANT"):
        document["data"] = _data(operand)
    return document


def _channel_quant(extra: SymmPerChannelQuantParams) -> Document:
    return {"channel_dim": int(extra.channelDim), "scales": [float(scale) for scale in extra.scales]}


def _is_omitted_input(operand: Operand) -> bool:
    return operand.lifetime == "SUBGRAPH_INPUT" and operand.value is not None and len(operand.value) == 0


def _example(model: Model) -> Document:
    place = {operand.name: str(index) for index, operand in enumerate(model.operands)}
    return {
        "inputs": {place[operand.name]: _data(operand) for operand in model.GetInputs()},
        "outputs": {place[operand.name]: _data(operand) for operand in model.GetOutputs()},
    }


def _data(operand: Operand) -> Document:
    element = ELEMENTS[operand.type.type]
    values = _elements(operand, element)
    document: Document = {"dtype": element, "shape": list(operand.type.dimensions), "count": values.size}
    if element.startswith("float") or element == "bool8":
        document["b64"] = base64.b64encode(values.tobytes()).decode()
    else:
        document["values"] = values.tolist()
    document["bytes"] = values.nbytes
    if _is_omitted_input(operand):
        document["omitted"] = True
    return document


def _elements(operand: Operand, element: str) -> Any:
    """The value as the type stores it: floats through float32, integers without their fractions."""
    if isinstance(operand, IgnoredOutput):
        return numpy.zeros(operand.type.GetNumberOfElements(), _STORED[element])
    given = numpy.array(operand.value).ravel()
    if element == "bool8":
        return (given != 0).astype("u1")
    if element.startswith("float"):
        with numpy.errstate(over="ignore"):
            return given.astype("<f4").astype(_STORED[element])
    if given.dtype.kind == "f":
        given = numpy.trunc(given)
    limits = numpy.iinfo(_STORED[element])
    if given.size and not (limits.min <= given.min() and given.max() <= limits.max):
        raise ValueError(f"{operand}: a value does not fit {element}")
    return given.astype(_STORED[element])
