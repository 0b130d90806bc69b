"""Values that are made up from a type hint: extremes, what is near the truth, and what nobody says."""

from __future__ import annotations

import enum
import functools
import random
import types
import typing
from typing import Any

import msgspec

from npu_conformance.specs.interfaces import is_interface
from npu_conformance.specs.wire_types import NonFinite

_INTEGERS = (0, 1, -1, 2, 3, 7, 64, 255, 1000, 65_536, 2**31 - 1, -(2**31), 2**31, 2**32, 2**63 - 1, -(2**63))
_FLOATS = (0.0, -0.0, 1.0, -1.0, 0.5, 1e-30, 1e30, NonFinite("nan"), NonFinite("inf"), NonFinite("-inf"))
_TEXTS = ("", "x", "0", "\0", "\n", "ä" * 40, "a b", "{}", "%s", "com.example.none")
_BYTES = (b"", b"\0", b"\xff" * 3, bytes(32), b"\xff" * 300)
_LENGTHS = (0, 1, 2, 5)


def made_up(source: random.Random, hint: Any, truth: Any) -> Any:
    """A value of a type that is likely not the truth. Objects are kept, or withheld where there may be none."""
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if origin is typing.Annotated:
        return made_up(source, arguments[0], truth)
    if origin in (typing.Union, types.UnionType):
        return _of_union(source, arguments, truth)
    if origin is typing.Literal:
        return source.choice(arguments)
    if origin is tuple:
        return _tuple(source, arguments, truth)
    if origin is dict:
        return dict(truth) if truth and source.random() < 0.5 else {}
    if isinstance(hint, type):
        return _of_class(source, hint, truth)
    return truth


def _of_union(source: random.Random, kinds: tuple[Any, ...], truth: Any) -> Any:
    kind = source.choice(kinds)
    return None if kind is type(None) else made_up(source, kind, truth)


def _tuple(source: random.Random, kinds: tuple[Any, ...], truth: Any) -> tuple[Any, ...]:
    """Fixed: each element made up. Open: shortened, lengthened, one element changed, or all new."""
    if len(kinds) != 2 or kinds[1] is not ...:
        known = truth if isinstance(truth, tuple) and len(truth) == len(kinds) else (None,) * len(kinds)
        return tuple(made_up(source, kind, one) for kind, one in zip(kinds, known, strict=True))
    known = truth if isinstance(truth, tuple) else ()
    if not known or source.random() < 0.25:
        return tuple(
            made_up(source, kinds[0], None) for _ in range(source.choice(_LENGTHS)) if not _is_object(kinds[0])
        )
    at = source.randrange(len(known))
    changed = () if _is_object(kinds[0]) else (made_up(source, kinds[0], known[at]),)
    return source.choice(
        (known[:at], known[:at] + known[at + 1 :], (*known, known[at]), known[:at] + changed + known[at + 1 :])
    )


def _of_class(source: random.Random, kind: type, truth: Any) -> Any:
    if is_interface(kind):
        return truth
    if issubclass(kind, msgspec.Struct):
        return _struct(source, kind, truth)
    if issubclass(kind, bool):
        return source.random() < 0.5
    if issubclass(kind, enum.IntEnum):
        return source.choice((*kind, *_INTEGERS))
    return source.choice(_near(kind, truth))


def _near(kind: type, truth: Any) -> tuple[Any, ...]:
    """Values of a simple type: the extremes, and what lies beside the truth."""
    if kind is int:
        return (*_INTEGERS, truth + 1, truth - 1, 2 * truth) if isinstance(truth, int) else _INTEGERS
    if kind is float:
        return _FLOATS
    if kind is str:
        return (*_TEXTS, truth + "x", truth[1:]) if isinstance(truth, str) else _TEXTS
    if kind is bytes:
        return (*_BYTES, truth + b"\0", truth[1:]) if isinstance(truth, bytes) else _BYTES
    return (truth,)


def _struct(source: random.Random, kind: Any, truth: Any) -> Any:
    """One field made up, or where there is no truth all that are no objects."""
    hints = _hints(kind)
    if isinstance(truth, kind) and hints:
        name = source.choice(sorted(hints))
        return msgspec.structs.replace(truth, **{name: made_up(source, hints[name], getattr(truth, name))})
    return kind(**{name: made_up(source, hint, None) for name, hint in hints.items()})


@functools.cache
def _hints(kind: Any) -> dict[str, Any]:
    return typing.get_type_hints(kind, include_extras=True)


def _is_object(hint: Any) -> bool:
    return is_interface(hint)
