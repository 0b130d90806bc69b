"""The words that a specification file sees."""

from __future__ import annotations

from npu_conformance.corpus.importers.aosp import examples, lifetimes, models, operands, types, variations

_WORDS = (
    variations.ActivationConverter, lifetimes.AllInputsAsInternalCoverter, lifetimes.AllOutputsAsInternalCoverter,
    lifetimes.AllTensorsAsInputsConverter, operands.BoolScalar, operands.Configuration, variations.DataLayoutConverter,
    variations.DataTypeConverter, examples.Example, operands.Float16Scalar, operands.Float32Scalar,
    operands.Float32Vector, operands.IgnoredOutput, operands.Input, operands.Int32Scalar, operands.Int32Vector,
    operands.Internal, models.Model, operands.Operand, operands.Output, operands.Parameter,
    variations.RelaxedModeConverter, operands.SubgraphReference, types.SymmPerChannelQuantParams,
)  # fmt: skip


def namespace() -> dict[str, object]:
    """A fresh scope for one file."""
    return {word.__name__: word for word in _WORDS}
