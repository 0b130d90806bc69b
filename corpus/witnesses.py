"""Recomputes the expected values of vectors with sources that are independent of the kernels."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy

from npu_conformance.corpus import distributions, oracles
from npu_conformance.specs.neuralnetworks.enums import OperandType
from npu_conformance.specs.neuralnetworks.extension_codes import ExtensionOperandType

if TYPE_CHECKING:
    from npu_conformance.corpus.vectors import Array, Example, Vector

Engine = Callable[["Vector", "Example"], Mapping[str, "Array"] | None]
"""A source of expected values: arrays of the outputs by name, or None where it cannot run the vector."""


@dataclass(frozen=True)
class Disagreement:
    """An output on which a witness and the vector differ. Reads as one line. problem: says whose value is which."""

    vector: str
    witness: str
    output: str
    problem: str

    def __str__(self) -> str:
        return f"{self.vector}: {self.output}: {self.problem}"


def oracle(vector: Vector, example: Example) -> Mapping[str, Array] | None:
    """The engine made of corpus/oracles."""
    known = set(oracles.names())
    if not all(operation.type in known for graph in vector.graphs for operation in graph.operations):
        return None
    return oracles.evaluate(vector.main, example.inputs, vector.referenced)


@dataclass(frozen=True)
class Testimony:
    """What one engine says of one vector. ran: false where it could not run every example, or nothing is compared.

    taken: it executes what has to be refused.
    """

    ran: bool
    disagreements: tuple[Disagreement, ...] = ()
    taken: bool = False

    @property
    def agrees(self) -> bool:
        """True where the engine ran the vector and found every expected value."""
        return self.ran and not self.disagreements


def testify(vector: Vector, name: str, engine: Engine) -> Testimony:
    """Compare the expected values of a vector with what an engine finds.

    The engine `oracle` must agree exactly: stored values are made from it. Any other must agree within the public
    tolerance. Outputs that the vector does not compare are left out, and so are vectors that must be rejected.
    """
    if vector.rejected is not None:
        return Testimony(ran=False)
    results = [(example, engine(vector, example)) for example in vector.examples]
    differences = (
        difference
        for example, actual in results
        if actual is not None
        for difference in _differences(vector, example, name, actual)
    )
    is_compared = not set(vector.outputs) <= set(vector.ignored)
    return Testimony(is_compared and all(actual is not None for _, actual in results), tuple(differences))


def taken(vector: Vector, engine: Engine) -> Testimony:
    """Whether an engine executes any example of a vector that has to be refused."""
    return Testimony(ran=False, taken=any(engine(vector, example) is not None for example in vector.examples))


def witness(vector: Vector, engines: Mapping[str, Engine] | None = None) -> list[Disagreement]:
    """The disagreements of several engines, by name, with a vector; by default of the oracles only. See `testify`."""
    named = engines or {"oracle": oracle}
    return [found for name, engine in named.items() for found in testify(vector, name, engine).disagreements]


def _differences(vector: Vector, example: Example, name: str, actual: Mapping[str, Array]) -> Iterator[Disagreement]:
    report = functools.partial(Disagreement, f"{vector.operation}.{vector.name}", name)
    for output, expected in example.outputs.items():
        if output in vector.ignored:
            continue
        found = actual[output]
        if found.shape != expected.shape:
            told = f"the vector says dimensions {list(expected.shape)}, {name} computes {list(found.shape)}"
            yield report(output, told)
            continue
        if vector.kind == "multinomial" and name != "oracle":
            logits = distributions.logits_of(vector, example)
            problem = distributions.problem(found, logits, vector.multinomial_tolerance)
            if problem:
                yield report(output, f"{name}: {problem}")
            continue
        tolerance = (0.0, 0.0) if name == "oracle" else public_tolerance(vector, output)
        far = _is_far(expected, found, *tolerance)
        if far.any():
            where = tuple(int(position) for position in numpy.argwhere(far)[0])
            told = f"the vector says {expected[where]} at {list(where)}, {name} computes {found[where]}"
            yield report(output, told)


def public_tolerance(vector: Vector, output: str) -> tuple[float, float]:
    """Absolute and relative tolerance of an output by the public rule (FW-GEN-009)."""
    kind = vector.operands[output].type
    if isinstance(kind, ExtensionOperandType):
        return kind.tolerance
    if kind is OperandType.TENSOR_FLOAT16 or (kind is OperandType.TENSOR_FLOAT32 and vector.relaxed):
        return 5 * 2.0**-10, 5 * 2.0**-10
    if kind is OperandType.TENSOR_FLOAT32:
        return 1e-5, 5 * 2.0**-23
    is_exact = kind in (OperandType.TENSOR_BOOL8, OperandType.TENSOR_INT32)
    return (0.0 if is_exact else 1.0), 0.0


def _is_far(expected: Array, found: Array, absolute: float, relative: float) -> numpy.ndarray[Any, Any]:
    wide, other = expected.astype(numpy.float64), found.astype(numpy.float64)
    with numpy.errstate(invalid="ignore"):
        # Beside an infinity every tolerance is infinite.
        near = numpy.isfinite(wide) & (numpy.abs(wide - other) <= absolute + relative * numpy.abs(wide))
    far: numpy.ndarray[Any, Any] = ~(near | (wide == other) | (numpy.isnan(wide) & numpy.isnan(other)))
    return far
