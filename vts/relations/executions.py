"""The same operation executed in different ways: in another layout, batch by batch, relaxed, with shapes left open,
in the other 8-bit form, and with constants that come as inputs."""

from __future__ import annotations

import math
from dataclasses import replace

from msgspec import structs

from npu_conformance.corpus import variations
from npu_conformance.corpus.vectors import Vector
from npu_conformance.harness.judge import checks, quantization_coupling
from npu_conformance.specs.neuralnetworks import catalogue
from npu_conformance.specs.neuralnetworks.enums import OperandType
from npu_conformance.specs.neuralnetworks.extension_codes import AnyOperandType
from npu_conformance.specs.neuralnetworks.operand_types import OPERAND_TYPES
from npu_conformance.specs.versions import Version
from npu_conformance.vts.lib.relations.declare import Check, RelationGroup
from npu_conformance.vts.lib.relations.fixture import RelationFixture
from npu_conformance.vts.lib.relations.nets import FLOAT32, SIGNED, UNSIGNED, Tensor
from npu_conformance.vts.lib.relations.samples import SAMPLES, Sample

cases = RelationGroup()
_NCHW, _NHWC = (0, 3, 1, 2), (0, 2, 3, 1)
_SIXTEEN_BITS = 1 << 16
_FIRST_BATCHES = ("STRIDED_SLICE",)
"""Whose sample takes batches by their numbers."""

_HOMOGENEOUS = (
    "ABS", "AVERAGE_POOL_2D", "BATCH_TO_SPACE_ND", "DEPTH_TO_SPACE", "L2_POOL_2D", "MAX_POOL_2D", "MEAN", "NEG", "PAD",
    "REDUCE_MAX", "REDUCE_MIN", "REDUCE_SUM", "RELU", "RESIZE_BILINEAR", "RESIZE_NEAREST_NEIGHBOR", "REVERSE", "SLICE",
    "SPACE_TO_DEPTH", "TILE", "TRANSPOSE",
)  # fmt: skip
"""Operations whose results grow as their input does."""

_LARGE = 2.0**20
"""A power of two, so that nothing is rounded; with it all but the smallest values are beyond float16."""

_JUMPS = ("ARGMAX", "EQUAL", "FLOOR")
"""Where a rounded input makes quite another result: float16 is not to be compared with float32."""


def _vector(fixture: RelationFixture, sample: Sample, given: Tensor, *, nchw: bool = False) -> Vector:
    net = fixture.net()
    return net.vector(sample.build(fixture, net, net.input(given), nchw))


def _again(fixture: RelationFixture) -> RelationFixture:
    """A fixture whose data begin from the start: constants of a second model are those of the first."""
    return RelationFixture(fixture.context, fixture.operand_type)


def _two(fixture: RelationFixture, sample: Sample) -> tuple[RelationFixture, RelationFixture, Tensor]:
    """Two fixtures that have both made the same input."""
    first, second = fixture, _again(fixture)
    sample.data(second)
    return first, second, sample.data(first)


def _output_type(fixture: RelationFixture, vector: Vector) -> AnyOperandType:
    return vector.operands[vector.outputs[0]].type


def _layouts(sample: Sample) -> Check:
    def check(fixture: RelationFixture) -> None:
        """NCHW gives what NHWC gives, transposed."""
        first, second, given = _two(fixture, sample)
        (plain,) = fixture.execute(_vector(first, sample, given))
        (turned,) = fixture.execute(_vector(second, sample, given.of(given.array.transpose(_NCHW)), nchw=True))
        fixture.agree("NCHW against NHWC", [turned.transpose(_NHWC), plain], roundings=2)

    return check


def _split(sample: Sample) -> Check:
    def check(fixture: RelationFixture) -> None:
        """Batches executed apart give what they give together."""
        import numpy

        first, second, given = _two(fixture, sample)
        vector = _vector(first, sample, given)
        (whole,) = fixture.execute(vector)
        third = _two(fixture, sample)[1]
        parts = [(second, given.array[:1]), (third, given.array[1:])]
        apart = [fixture.execute(_vector(one, sample, given.of(array)))[0] for one, array in parts]
        fixture.agree(
            "whole against batches",
            [whole, numpy.concatenate(apart)],
            roundings=2,
            operand_type=_output_type(fixture, vector),
        )

    return check


def _far(sample: Sample) -> Check:
    def check(fixture: RelationFixture) -> None:
        """The last batch of more than 2^16 elements gives what it gives alone."""
        first, second, given = _two(fixture, replace(sample, shape=(_far_batches(sample), *sample.shape[1:])))
        vector = _vector(first, sample, given)
        (whole,) = fixture.execute(vector)
        (alone,) = fixture.execute(_vector(second, sample, given.of(given.array[-1:])))
        fixture.agree(
            "the last batch against itself alone",
            [whole[-len(alone) :], alone],
            roundings=2,
            operand_type=_output_type(fixture, vector),
        )

    return check


def _far_batches(sample: Sample) -> int:
    """So many batches that the last one lies after the first 2^16 elements."""
    return -(-_SIXTEEN_BITS // math.prod(sample.shape[1:])) + 1


def _open(sample: Sample) -> Check:
    def check(fixture: RelationFixture) -> None:
        """With output shapes left open the device finds the same shapes and values."""
        vector = _vector(fixture, sample, sample.data(fixture))
        (known,), (found,) = fixture.execute(vector), fixture.execute(vector, unspecified=True)
        fixture.agree(
            "open against known shapes", [found, known], roundings=2, operand_type=_output_type(fixture, vector)
        )

    return check


def _read_again(sample: Sample) -> Check:
    def check(fixture: RelationFixture) -> None:
        """An input of the model, and a temporary, are what they were for whoever reads them after the operation."""
        given, net = sample.data(fixture), fixture.net()
        name = net.input(given)
        between = net.apply("RESHAPE", name, given.shape)
        results = [sample.build(fixture, net, one, False) for one in (name, between)]
        copies = [net.apply("RESHAPE", one, given.shape) for one in (name, between)]
        *_, of_input, of_temporary = fixture.run(net, *results, *copies)
        fixture.agree("input read again", [of_input, given.array], roundings=1)
        fixture.agree("temporary read again", [of_temporary, given.array], roundings=2)

    return check


def _relaxed(sample: Sample) -> Check:
    def check(fixture: RelationFixture) -> None:
        """Relaxed results lie around those in float32, as far away as float16 may be."""
        vector = _vector(fixture, sample, sample.data(fixture))
        (strict,), (relaxed,) = fixture.execute(vector), fixture.execute(structs.replace(vector, relaxed=True))
        with checks.about("NNHAL-ACCURACY-002"):
            fixture.agree(
                "relaxed against strict",
                [relaxed, strict],
                roundings=2,
                half=True,
                operand_type=_output_type(fixture, vector),
            )

    return check


def _large(sample: Sample) -> Check:
    def check(fixture: RelationFixture) -> None:
        """Values that float16 cannot hold give what small ones give, as many times as large."""
        first, second, given = _two(fixture, sample)
        (small,) = fixture.execute(_vector(first, sample, given))
        (large,) = fixture.execute(_vector(second, sample, given.of(given.array * given.array.dtype.type(_LARGE))))
        fixture.agree("large against small values", [large / large.dtype.type(_LARGE), small], roundings=2)

    return check


def _signed(sample: Sample) -> Check:
    def check(fixture: RelationFixture) -> None:
        """The signed form gives what the unsigned form gives, less 128."""
        vector = _vector(fixture, sample, sample.data(fixture))
        counterpart = variations.unsigned(vector)
        assert counterpart is not None
        (signed,), (unsigned,) = fixture.execute(vector), fixture.execute(counterpart)
        # Each may be a step off, so that they are two apart: of single vectors vts.generated asks for more.
        operand_type = _output_type(fixture, vector)
        expected = (unsigned.astype("int16") - 128).astype("int8") if operand_type is SIGNED else unsigned
        with checks.about("NNHAL-EXECUTE-017"):
            fixture.agree("signed against unsigned form", [signed, expected], roundings=2, operand_type=operand_type)

    return check


def _given(sample: Sample) -> Check:
    def check(fixture: RelationFixture) -> None:
        """Constant tensors that come as inputs of the model change nothing."""
        vector = _vector(fixture, sample, sample.data(fixture))
        varied = variations.apply("all_tensors_as_inputs", vector)
        assert varied is not None
        (constant,), (given,) = fixture.execute(vector), fixture.execute(varied)
        fixture.agree(
            "inputs against constants", [given, constant], roundings=2, operand_type=_output_type(fixture, vector)
        )

    return check


def _element_size(operand_type: OperandType) -> int:
    return OPERAND_TYPES[operand_type].size


def _has_data_constants(sample: Sample) -> bool:
    """True for operations on two or three tensors of data, of which all but the first are constants here."""
    return sample.operation in (
        "CONV_2D", "DEPTHWISE_CONV_2D", "GROUPED_CONV_2D", "TRANSPOSE_CONV_2D", "FULLY_CONNECTED", "ADD", "MUL",
        "PRELU", "CONCATENATION", "BATCH_MATMUL",
    )  # fmt: skip


def _declare(sample: Sample) -> None:
    def relation(name: str, check: Check, types: tuple[OperandType, ...], *requirements: str, since: Version) -> None:
        if types:
            title = f"{name}_{sample.name}"
            cases.relation(title, sample.operation, types, *requirements, since=since)(check)

    oldest = catalogue.operation(sample.operation).since
    if sample.images:
        relation("nchw", _layouts(sample), sample.types, since=Version.V1_2)
    if sample.batches:
        relation("batches", _split(sample), sample.types, since=oldest)
    if sample.batches and sample.operation not in _FIRST_BATCHES:
        # Counts and offsets do not depend on the type: one of the smallest elements is quick.
        relation("far_batch", _far(sample), (min(sample.types, key=_element_size),), since=oldest)
    relation("read_again", _read_again(sample), tuple(set(sample.types) & {FLOAT32}), since=oldest)
    relation("open_shapes", _open(sample), sample.types, "NNHAL-SHAPE-002", "NNHAL-SHAPE-003", since=Version.V1_2)
    relaxed = FLOAT32 in sample.types and catalogue.operation(sample.operation).relaxed
    relaxed = relaxed and sample.operation not in _JUMPS
    relation("relaxed", _relaxed(sample), (FLOAT32,) * relaxed, "NNHAL-ACCURACY-002", since=Version.V1_1)
    if FLOAT32 in sample.types and sample.operation in _HOMOGENEOUS:
        relation("large_values", _large(sample), (FLOAT32,), since=oldest)
    signed = {SIGNED, UNSIGNED} <= set(sample.types)
    relation(
        "unsigned_twin", _signed(sample), (SIGNED,) * signed, *quantization_coupling.REQUIREMENTS, since=Version.V1_3
    )
    if _has_data_constants(sample):
        relation("constants_as_inputs", _given(sample), sample.types, since=oldest)


for _sample in SAMPLES:
    _declare(_sample)
