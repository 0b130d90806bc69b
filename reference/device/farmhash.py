"""FarmHash's Fingerprint64, of many keys of the same length at once."""

import numpy

from npu_conformance.reference.device.tensors import Array

_K0, _K1, _K2 = map(numpy.uint64, (0xC3A5C85C97CB3127, 0xB492B66FBE98F273, 0x9AE16A3B2F90404F))
_SEED = 81
_CHUNK = 64

Sums = tuple[Array, Array]


def fingerprints(keys: Array) -> Array:
    """The fingerprint of each row of bytes, as uint64. A key has four bytes or more."""
    length = keys.shape[1]
    factor = _K2 + numpy.uint64(2 * length)
    if length > _CHUNK:
        return _of_chunks(keys)
    if length > 32:
        return _of_33_to_64(keys, factor)
    if length > 16:
        return _of_17_to_32(keys, factor)
    if length >= 8:
        start, end = _load(keys, 0) + _K2, _load(keys, length - 8)
        return _join(_rotate(end, 37) * factor + start, (_rotate(start, 25) + end) * factor, factor)
    start, end = _load(keys, 0, 4), _load(keys, length - 4, 4)
    return _join(numpy.uint64(length) + (start << numpy.uint64(3)), end, factor)


def _of_17_to_32(keys: Array, factor: numpy.uint64) -> Array:
    end = keys.shape[1]
    a, b = _load(keys, 0) * _K1, _load(keys, 8)
    c, d = _load(keys, end - 8) * factor, _load(keys, end - 16) * _K2
    return _join(_rotate(a + b, 43) + _rotate(c, 30) + d, a + _rotate(b + _K2, 18) + c, factor)


def _of_33_to_64(keys: Array, factor: numpy.uint64) -> Array:
    end = keys.shape[1]
    a, b = _load(keys, 0) * _K2, _load(keys, 8)
    c, d = _load(keys, end - 8) * factor, _load(keys, end - 16) * _K2
    y = _rotate(a + b, 43) + _rotate(c, 30) + d
    z = _join(y, a + _rotate(b + _K2, 18) + c, factor)
    e, f = _load(keys, 16) * factor, _load(keys, 24)
    g, h = (y + _load(keys, end - 32)) * factor, (z + _load(keys, end - 24)) * factor
    return _join(_rotate(e + f, 43) + _rotate(g, 30) + h, e + _rotate(f + a, 18) + g, factor)


class _State:
    """The state into which the chunks of long keys are mixed."""

    def __init__(self, keys: Array) -> None:
        zeros = numpy.zeros(len(keys), numpy.uint64)
        seed = numpy.uint64(_SEED) + zeros
        self.x = seed * _K2 + _load(keys, 0)
        self.y = seed * _K1 + numpy.uint64(113)
        self.z = _fold(self.y * _K2 + numpy.uint64(113)) * _K2
        self.v: Sums = zeros, zeros
        self.w: Sums = zeros, zeros

    def mix(self, chunk: Array, factor: Array | numpy.uint64, weight: int) -> None:
        """Mix in 64 bytes of each key."""
        share = numpy.uint64(weight)
        x = _rotate(self.x + self.y + self.v[0] + _load(chunk, 8), 37) * factor ^ self.w[1] * share
        y = _rotate(self.y + self.v[1] + _load(chunk, 48), 42) * factor + self.v[0] * share + _load(chunk, 40)
        z = _rotate(self.z + self.w[0], 33) * factor
        self.v = _weak(chunk[:, :32], self.v[1] * factor, x + self.w[0])
        self.w = _weak(chunk[:, 32:], z + self.w[1], y + _load(chunk, 16))
        self.x, self.y, self.z = z, y, x


def _of_chunks(keys: Array) -> Array:
    state, last = _State(keys), keys.shape[1] - 1
    for start in range(0, last - last % _CHUNK, _CHUNK):
        state.mix(keys[:, start : start + _CHUNK], _K1, 1)
    factor = _K1 + ((state.z & numpy.uint64(0xFF)) << numpy.uint64(1))
    w = state.w[0] + numpy.uint64(last % _CHUNK)
    v = state.v[0] + w
    state.v, state.w = (v, state.v[1]), (w + v, state.w[1])
    state.mix(keys[:, -_CHUNK:], factor, 9)
    first = _join(state.v[0], state.w[0], factor) + _fold(state.y) * _K0 + state.z
    return _join(first, _join(state.v[1], state.w[1], factor) + state.x, factor)


def _weak(chunk: Array, a: Array, b: Array) -> Sums:
    w, x, y, z = (_load(chunk, start) for start in (0, 8, 16, 24))
    a = a + w
    b = _rotate(b + a + z, 21)
    total = a + x + y
    return total + z, b + _rotate(total, 44) + a


def _join(u: Array, v: Array, factor: Array | numpy.uint64) -> Array:
    """Join two numbers into one."""
    return _fold((v ^ _fold((u ^ v) * factor)) * factor) * factor


def _fold(value: Array) -> Array:
    folded: Array = value ^ value >> numpy.uint64(47)
    return folded


def _rotate(value: Array, places: int) -> Array:
    """The bits of each element moved right; those that leave come in on the left."""
    turned: Array = value >> numpy.uint64(places) | value << numpy.uint64(64 - places)
    return turned


def _load(keys: Array, start: int, size: int = 8) -> Array:
    """Bytes of each key from a position as numbers, least significant byte first."""
    part = numpy.ascontiguousarray(keys[:, start : start + size])
    numbers: Array = part.view(f"<u{size}")[:, 0].astype(numpy.uint64)
    return numbers
