"""Commands that a user gives in one word of the command line, split as a shell would."""

from __future__ import annotations

from npu_conformance.specs.documents import DocumentError


def words_of(option: str, command: str) -> tuple[str, ...]:
    """The words of a command. Raises DocumentError, with the option that gives it, where there is none to run."""
    import shlex  # only where a command is given

    try:
        words = tuple(shlex.split(command))
    except ValueError as error:
        raise DocumentError(option, "", f"{error}: {command!r}") from None
    if not words:
        raise DocumentError(option, "", "expected a command, found none")
    return words
