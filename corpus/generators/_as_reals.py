"""Integers that an operation finds, made real numbers by a CAST behind it.

The public rule lets integers be off by one (NNHAL-ACCURACY-006), which is much for an index, a label or a count. It
takes a stored 2 for a 1, but not 2.0 for 1.0.
"""

from msgspec.structs import replace

from npu_conformance.corpus import oracles
from npu_conformance.corpus.vectors import Example, Vector, VectorOperand, VectorOperation
from npu_conformance.specs.neuralnetworks.enums import OperandType
from npu_conformance.specs.versions import Version


def as_reals(alone: Vector, *names: str) -> Vector:
    """The vector with float32 in the place of these outputs, from HAL 1.2 on, which is the first with CAST."""
    reals = {name: f"{name}_as_real" for name in names}
    real_operands = {
        real: VectorOperand(OperandType.TENSOR_FLOAT32, alone.operands[name].dimensions) for name, real in reals.items()
    }
    casts = [VectorOperation("CAST", (name,), (real,)) for name, real in reals.items()]
    both = replace(
        alone,
        name=f"{alone.name}_as_reals",
        since=max(alone.since, Version.V1_2),
        operands={**alone.operands, **real_operands},
        operations=(*alone.operations, *casts),
        outputs=tuple(reals.get(name, name) for name in alone.outputs),
    )
    (example,) = alone.examples
    return replace(both, examples=(Example(example.inputs, oracles.evaluate(both.main, example.inputs)),))
