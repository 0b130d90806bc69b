"""FarmHash's Fingerprint64 of five bytes or more, in whole numbers modulo 2^64 (published by its authors as stable)."""

_K0, _K1, _K2 = 0xC3A5C85C97CB3127, 0xB492B66FBE98F273, 0x9AE16A3B2F90404F
_MODULUS = 2**64
_BLOCK = 64


def fingerprint64(data: bytes) -> int:
    """The fingerprint, from 0 to 2^64 - 1. Raises ValueError for fewer than four bytes, which have a rule of their own.

    Each length from 4 to 7, from 8 to 16, to 32, to 64 bytes and beyond is hashed in another way.
    """
    length = len(data)
    if length < 4:
        raise ValueError(f"expected four bytes or more, found {length}")
    if length > _BLOCK:
        return _long(data)
    factor = _K2 + 2 * length
    if length < 8:
        first, last = (int.from_bytes(part, "little") for part in (data[:4], data[-4:]))
        return _mixed(length + 8 * first, last, factor)
    if length <= 16:
        return _short(data, factor)
    return _middle(data, factor) if length <= 32 else _large(data, factor)


def _short(data: bytes, factor: int) -> int:
    first, last = _word(data, 0) + _K2, _word(data, -8)
    return _mixed(_turned(last, 37) * factor + first, (_turned(first, 25) + last) * factor, factor)


def _middle(data: bytes, factor: int) -> int:
    first, second = _word(data, 0) * _K1, _word(data, 8)
    last, other = _word(data, -8) * factor, _word(data, -16) * _K2
    one = _turned(first + second, 43) + _turned(last, 30) + other
    return _mixed(one, first + _turned(second + _K2, 18) + last, factor)


def _large(data: bytes, factor: int) -> int:
    first, second = _word(data, 0) * _K2, _word(data, 8)
    last, other = _word(data, -8) * factor, _word(data, -16) * _K2
    one = _turned(first + second, 43) + _turned(last, 30) + other
    two = _mixed(one, first + _turned(second + _K2, 18) + last, factor)
    third, fourth = _word(data, 16) * factor, _word(data, 24)
    five = (one + _word(data, -32)) * factor
    six = (two + _word(data, -24)) * factor
    return _mixed(
        _turned(third + fourth, 43) + _turned(five, 30) + six, third + _turned(fourth + first, 18) + five, factor
    )


def _long(data: bytes) -> int:
    """Blocks of 64 bytes, then the last 64 bytes with another factor."""
    seed = 81
    x = seed * _K2 + _word(data, 0)
    y = seed * _K1 + 113
    z = _shifted(y * _K2 + 113) * _K2
    v, w = (0, 0), (0, 0)
    for start in range(0, (len(data) - 1) // _BLOCK * _BLOCK, _BLOCK):
        x, y, z, v, w = _round(data[start : start + _BLOCK], x, y, z, v, w, _K1, 1)
    factor = _K1 + 2 * (z & 0xFF)
    rest = (len(data) - 1) % _BLOCK
    sum_w = w[0] + rest
    sum_v = v[0] + sum_w
    x, y, z, v, w = _round(data[-_BLOCK:], x, y, z, (sum_v, v[1]), (sum_w + sum_v, w[1]), factor, 9)
    one = _mixed(v[0], w[0], factor) + _shifted(y) * _K0 + z
    return _mixed(one, _mixed(v[1], w[1], factor) + x, factor)


_Pair = tuple[int, int]


def _round(
    block: bytes, x: int, y: int, z: int, v: _Pair, w: _Pair, factor: int, weight: int
) -> tuple[int, int, int, _Pair, _Pair]:
    x = _turned(x + y + v[0] + _word(block, 8), 37) * factor
    y = _turned(y + v[1] + _word(block, 48), 42) * factor
    x = x % _MODULUS ^ w[1] * weight % _MODULUS
    y += v[0] * weight + _word(block, 40)
    z = _turned(z + w[0], 33) * factor
    new_v = _half(block[:32], v[1] * factor, x + w[0])
    new_w = _half(block[32:], z + w[1], y + _word(block, 16))
    return z % _MODULUS, y % _MODULUS, x, new_v, new_w


def _half(block: bytes, a: int, b: int) -> _Pair:
    """Two sums of 32 bytes."""
    first, second, third, fourth = (_word(block, start) for start in (0, 8, 16, 24))
    a += first
    b = _turned(b + a + fourth, 21)
    whole = a + second + third
    return (whole + fourth) % _MODULUS, (b + _turned(whole, 44) + a) % _MODULUS


def _mixed(one: int, two: int, factor: int) -> int:
    one, two = one % _MODULUS, two % _MODULUS
    mixed = _shifted((one ^ two) * factor)
    return _shifted((two ^ mixed) * factor) * factor % _MODULUS


def _shifted(value: int) -> int:
    value %= _MODULUS
    return value ^ value >> 47


def _turned(value: int, places: int) -> int:
    """The bits turned to the right."""
    value %= _MODULUS
    return (value >> places | value << 64 - places) % _MODULUS


def _word(data: bytes, start: int) -> int:
    """Eight bytes, least significant first; a negative start counts from the end."""
    first = start if start >= 0 else len(data) + start
    return int.from_bytes(data[first : first + 8], "little")
