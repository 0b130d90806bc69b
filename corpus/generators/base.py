"""The vectors that generators make: of one operation each, with expected values from its oracle.

The module of an operation has `def vectors() -> Vectors` and yields `positive(...)` and `rejected(...)`.
"""

from collections.abc import Iterator, Sequence

import numpy
from msgspec.structs import replace

from npu_conformance.corpus import oracles, variations
from npu_conformance.corpus.generators.data import Array
from npu_conformance.corpus.generators.operands import Operands, OperandSpec, materialised
from npu_conformance.corpus.variations import allowed
from npu_conformance.corpus.vectors import Example, Graph, Rejected, Vector, VectorOperand, VectorOperation
from npu_conformance.specs.documents.vectors import GeneratorDocument, Phase
from npu_conformance.specs.neuralnetworks.combinations import combination_since
from npu_conformance.specs.neuralnetworks.operand_types import OPERAND_TYPES
from npu_conformance.specs.versions import NEWEST, Version

Vectors = Iterator[Vector]


def graph(
    operands: Operands,
    operations: Sequence[tuple[str, Sequence[str], Sequence[str]]],
    inputs: Sequence[str],
    outputs: Sequence[str],
) -> Graph:
    """A graph for `referenced`. operations: type, names of inputs, names of outputs; in an order of execution."""
    steps = tuple(VectorOperation(kind, tuple(sources), tuple(results)) for kind, sources, results in operations)
    return Graph({name: _with_value(one) for name, one in operands.items()}, steps, tuple(inputs), tuple(outputs))


INTERNAL = "all_inputs_as_internal"
"""The variation with an addition of 0 in front, which may lose the last bits of a float."""


def positive(
    name: str,
    operation: str,
    inputs: Operands,
    outputs: Operands,
    *,
    since: str = "1.0",
    hazards: Sequence[str] = (),
    description: str = "",
    requirements: Sequence[str] = (),
    ignored: Sequence[str] = (),
    excluded: Sequence[str] = (),
    referenced: Sequence[Graph] = (),
) -> Vector:
    """A vector that must run; its expected values come from the oracle. `since` is lifted to that of the types.

    excluded: variations that the data does not allow, such as float16 where values exceed its range. Infinities and
    negative zeros exclude INTERNAL by themselves, since the ADD in front need not keep them.
    Raises ValueError where the oracle finds another output shape than the generator declares.
    """
    if any(spec.operand.is_open for spec in outputs.values()):
        # Before 1.2 neither a model nor a request may leave the shape of an output open (REQUEST.R5).
        since = max(Version(since), Version.V1_2).value
    vector = replace(_one_operation(name, operation, inputs, outputs, since), referenced=tuple(referenced))
    values = {key: materialised(spec) for key, spec in inputs.items() if _is_sent(spec)}
    example = Example(values, oracles.evaluate(vector.main, values, vector.referenced))
    filled = replace(
        vector,
        examples=(example,),
        witnesses=("oracle",),
        hazards=tuple(hazards),
        description=description,
        requirements=tuple(requirements),
        ignored=tuple(ignored),
        excluded=tuple(excluded),
    )
    return replace(filled, excluded=(*excluded, *_impossible(filled)))


def _impossible(vector: Vector) -> tuple[str, ...]:
    """Variations that the model allows and the data does not."""
    possible = allowed.applicable(allowed.header_of(vector))
    special = any(map(_is_special, vector.examples[0].inputs.values()))
    return tuple(name for name in possible if (name == INTERNAL and special) or variations.apply(name, vector) is None)


def _is_special(array: Array) -> bool:
    if array.dtype.kind != "f":
        return False
    negative_zero = (array == 0) & numpy.signbit(array)
    return bool((negative_zero | ~numpy.isfinite(array)).any())


def rejected(
    name: str,
    operation: str,
    inputs: Operands,
    outputs: Operands,
    *,
    clause: str,
    phase: Phase | None = None,
    since: str = "1.0",
    until: str = NEWEST.value,
    hazards: Sequence[str] = (),
    description: str = "",
    requirements: Sequence[str] = (),
    referenced: Sequence[Graph] = (),
) -> Vector:
    """A vector that must be rejected because of one clause, in the versions from `since` to `until`.

    phase: model where the structure is wrong (clause MODEL.*), which is rejected at once; execution where an
    operation's own clause is, which may be detected when it runs, at the latest. By default as the clause is.
    """
    vector = _one_operation(name, operation, inputs, outputs, since, lift=until == NEWEST.value)
    vector = replace(vector, referenced=tuple(referenced))
    values = {key: materialised(spec) for key, spec in inputs.items() if _is_sent(spec)}
    return replace(
        vector,
        examples=(Example(values, {}),),
        rejected=Rejected(clause, phase or ("model" if clause.startswith("MODEL.") else "execution"), Version(until)),
        hazards=tuple(hazards),
        description=description,
        requirements=tuple(requirements),
    )


def rejection(
    operation: str,
    name: str,
    clause: str,
    inputs: Operands,
    outputs: Operands,
    since: str = "1.0",
    until: str = NEWEST.value,
    *,
    changes: Operands | None = None,
    phase: Phase | None = "execution",
) -> Vector:
    """A vector that must be rejected, at the latest when it runs. clause: `C1`, or in full.

    changes: operands that take the places of those with their names.
    """
    full = clause if "." in clause else f"{operation}.{clause}"
    given, results = replaced(inputs, changes or {}), replaced(outputs, changes or {})
    return rejected(f"refused_{name}", operation, given, results, clause=full, phase=phase, since=since, until=until)


def replaced(operands: Operands, changes: Operands) -> Operands:
    """The operands, some of them replaced by others with their names."""
    return {key: changes.get(key, spec) for key, spec in operands.items()}


def _one_operation(
    name: str,
    operation: str,
    inputs: Operands,
    outputs: Operands,
    since: str,
    *,
    lift: bool = True,
) -> Vector:
    """lift: from `since` to the version that brought the combination of types."""
    operands = {key: _with_value(spec) for key, spec in {**inputs, **outputs}.items()}
    kinds = {key: operand.type.name for key, operand in operands.items()}
    legal = combination_since(operation, tuple(kinds[key] for key in inputs), tuple(kinds[key] for key in outputs))
    types = (OPERAND_TYPES[operand.type].since for operand in operands.values())
    lifted = max(Version(since), legal if legal and lift else Version(since), *types)
    arguments = tuple(key for key, spec in inputs.items() if _is_input(spec))
    operations = (VectorOperation(operation, tuple(inputs), tuple(outputs)),)
    generators = {key: spec.data for key, spec in inputs.items() if isinstance(spec.data, GeneratorDocument)}
    return Vector(name, operation, lifted, operands, operations, arguments, tuple(outputs), generators=generators)


def _is_input(spec: OperandSpec) -> bool:
    return spec.left_out or _is_sent(spec)


def _is_sent(spec: OperandSpec) -> bool:
    return spec.data is not None and not spec.constant


def _with_value(spec: OperandSpec) -> VectorOperand:
    return replace(spec.operand, value=materialised(spec)) if spec.constant else spec.operand
