"""The command `npu-conformance`: finds the file of a command and runs it; bad input becomes one line and exit 2."""

from __future__ import annotations

import argparse
import errno
import select
import sys
from collections.abc import Sequence

from npu_conformance.cli.parser import parser_of
from npu_conformance.cli.streams import open_closed_streams, tell, unwritable, write_every_text
from npu_conformance.harness.judge.outcome_table import OK, SUITE_FAILED, USAGE
from npu_conformance.harness.python_processes import wait_for_children
from npu_conformance.harness.systems import refusal

_SHOWN = 80
"""Characters of a name that is too long for the system."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    open_closed_streams()
    write_every_text()
    wait_for_children()
    if refusal():
        tell(refusal())
        return USAGE
    try:
        wanted = next((word for word in given if not word.startswith("-")), "")
        options = parser_of((wanted,)).parse_args(given)
        code = _execute(options)
        sys.stdout.flush()
        return code
    except KeyboardInterrupt:
        tell("interrupted")
        return SUITE_FAILED
    except Exception as error:
        return _code_of(error)


def _execute(options: argparse.Namespace) -> int:
    """Execute the command, with the extensions of `--catalogue` registered."""
    folders = getattr(options, "catalogue", None)
    if not folders:
        return int(options.execute(options))
    from npu_conformance.corpus import extensions
    from npu_conformance.corpus.extensions import guarding

    guarding.tried(folders)
    with extensions.registered(folders):
        return int(options.execute(options))


def _code_of(error: Exception) -> int:
    """Report an error that ended a command: one line for bad input; a traceback only for a bug of ours."""
    if isinstance(error, BrokenPipeError) and _reader_has_gone():
        from npu_conformance.harness.report.console import abandon

        abandon(sys.stdout)
        return OK
    line = unwritable(error)
    if line:
        tell(f"npu-conformance: {line}")
        return SUITE_FAILED
    if _is_bad_input(error):
        tell(f"npu-conformance: {error}")
        return USAGE
    if isinstance(error, OSError) and error.errno == errno.ENAMETOOLONG:
        tell(f"npu-conformance: {str(error.filename)[:_SHOWN]}...: {error.strerror}")
        return USAGE
    import traceback

    tell("".join(traceback.format_exception(error)).rstrip())
    tell("npu-conformance: this is a bug of the suite, not of the plug-in")
    return SUITE_FAILED


def _reader_has_gone() -> bool:
    """True where nobody reads our output any more, as in `list | head`."""
    poll = select.poll()
    poll.register(sys.stdout.fileno(), 0)
    return bool(poll.poll(0))


def _is_bad_input(error: Exception) -> bool:
    from npu_conformance.cli.errors import UsageError
    from npu_conformance.harness.subject.plugin_loading import LoadError
    from npu_conformance.specs.documents import DocumentError

    return isinstance(error, UsageError | LoadError | DocumentError)
