"""What somebody may have meant by a name that does not exist."""

from __future__ import annotations

from collections.abc import Iterable

_MOST = 3


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Return ` (did you mean X or Y?)`, for the end of a message; empty where no known name is near.

    Near are names of nearly the same spelling; where there are none, those that the name is a part of.
    """
    import difflib

    names = list(known)
    near = difflib.get_close_matches(name, names, n=_MOST) or [other for other in names if name and name in other]
    return f" (did you mean {' or '.join(near[:_MOST])}?)" if near else ""
