"""Commands that a user gives in one word of the command line, split as a shell would."""

from __future__ import annotations

from npu_conformance.specs.documents import DocumentError


def words_of(source: str, command: str) -> tuple[str, ...]:
    """The words of a command. source: the option that gives it, for DocumentError where there is none to run."""
    import shlex  # only where a command is given

    try:
        words = tuple(shlex.split(command))
    except ValueError as error:
        raise DocumentError(source, "", f"{error}: {command!r}") from None
    if not words:
        raise DocumentError(source, "", "expected a command, found none")
    return words
