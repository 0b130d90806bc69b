"""Models of the reference's own extensions whose results are known."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator, Sequence

from npu_conformance.corpus.constant_layouts import COPIED
from npu_conformance.harness.judge import checks
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.specs.neuralnetworks.types import Model
from npu_conformance.vts.lib.extensions import models
from npu_conformance.vts.lib.operation_histories.known_models import CreatePool, KnownExample, KnownModel, Value

_PREFIXES = (2, 3)
_LENGTH = 9
_QUANTISATIONS = ((1.0, 0), (2.0, 7), (0.5, -1000))
_LENGTHS = (2, 5, 9)
_FACTOR, _SUMMAND = 0.5, -3.0
_CONTENTS = (bytes(range(200)), bytes(199) + b"\1", bytes(199), b"abc", b"")
_BYTES = (b"\1\2", b"\7\0")


def of_extensions(listed: set[str]) -> Iterator[KnownModel]:
    """Models of those extensions that a device lists; some differ in their data, or in their prefix, alone."""
    if models.FIBONACCI in listed:
        for number, (scale, zero_point) in enumerate(_QUANTISATIONS):
            prefix = _PREFIXES[number % len(_PREFIXES)]
            yield _sequence(prefix, scale, zero_point)
            yield _real(prefix, scale, zero_point, (_LENGTH,))
            yield _scaled(prefix, scale, zero_point)
        yield _real(_PREFIXES[0], *_QUANTISATIONS[0], _LENGTHS)
    if models.ECHO in listed:
        yield from map(_echo, _CONTENTS)


def _exact(examples: Sequence[KnownExample]) -> Callable[[CaseContext, int, Sequence[bytes]], None]:
    """A check that takes no other bytes."""

    def check(context: CaseContext, number: int, outputs: Sequence[bytes]) -> None:
        for position, (found, expected) in enumerate(zip(outputs, examples[number].outputs, strict=True)):
            checks.equal(found.hex(), expected.data.hex(), f"bytes of output {position}")

    return check


def _known(name: str, build: Callable[[CreatePool], Model], *examples: KnownExample) -> KnownModel:
    made = lambda create_pool, _: build(create_pool)  # noqa: E731
    return KnownModel(name, "extensions", made, (COPIED,), examples, _exact(examples))


def _sequence(prefix: int, scale: float, zero_point: int) -> KnownModel:
    numbers = models.packed_numbers(models.stored(_LENGTH, scale, zero_point))
    example = KnownExample((Value((), models.packed_count(_LENGTH)),), (Value((_LENGTH,), numbers),))
    data = struct.pack("<dq", scale, zero_point)
    return _known(
        f"FIBONACCI {prefix} of {scale}, {zero_point}", lambda _: models.fibonacci(prefix, _LENGTH, data), example
    )


def _real(prefix: int, scale: float, zero_point: int, lengths: Sequence[int]) -> KnownModel:
    """Numbers as they are meant. lengths: that come with the requests, where there are several."""
    data, declared = struct.pack("<dq", scale, zero_point), lengths[0] if len(lengths) == 1 else 0
    examples = [
        _dequantized(range(first, first + length), scale, zero_point) for length in lengths for first in (-3, 40)
    ]
    name = f"FIBONACCI_DEQUANTIZE {prefix} of {declared or 'any number of'} elements of {scale}, {zero_point}"
    return _known(name, lambda _: models.dequantize(prefix, declared, data), *examples)


def _scaled(prefix: int, scale: float, zero_point: int) -> KnownModel:
    """The same beside a factor and a summand, each in a pool."""

    def build(create_pool: CreatePool) -> Model:
        pools = [create_pool(_floats([one] * _LENGTH)) for one in (_FACTOR, _SUMMAND)]
        return models.dequantized_and_scaled(prefix, _LENGTH, struct.pack("<dq", scale, zero_point), pools)

    examples = [_dequantized(range(first, first + _LENGTH), scale, zero_point, _FACTOR, _SUMMAND) for first in (-3, 40)]
    name = f"FIBONACCI_DEQUANTIZE {prefix} of {scale}, {zero_point}, times {_FACTOR} plus {_SUMMAND}"
    return _known(name, build, *examples)


def _dequantized(
    numbers: Sequence[int], scale: float, zero_point: int, factor: float = 1.0, summand: float = 0.0
) -> KnownExample:
    reals = [(one - zero_point) * scale * factor + summand for one in numbers]
    shape = (len(numbers),)
    return KnownExample((Value(shape, models.packed_numbers(numbers)),), (Value(shape, _floats(reals)),))


def _floats(values: Sequence[float]) -> bytes:
    return struct.pack(f"<{len(values)}f", *values)


def _echo(content: bytes) -> KnownModel:
    result = (Value((2,), models.packed_echo(content)),)
    examples = [KnownExample((Value((2,), one),), result) for one in _BYTES]
    name = f"ECHO_PARAMETERS of {len(content)} bytes, {result[0].data.hex()}"
    return _known(name, lambda _: models.echo(_PREFIXES[0], content), *examples)
