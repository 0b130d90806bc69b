"""Commands that a user gives in one word of the command line, split as a shell would."""

from __future__ import annotations

import os

from npu_conformance.specs.documents import DocumentError


def no_command(word: str) -> str:
    """Why a word is no command: nothing is there, it may not be run, or it is in a folder where none are looked for.

    Empty for one that can be started.
    """
    import shutil

    if shutil.which(word) is not None:
        return ""
    if not os.path.isfile(word):
        return f"no command {word}"
    if not os.access(word, os.X_OK):
        return f"{word} is not executable"
    return f"no command {word} (did you mean ./{word}?)"


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
