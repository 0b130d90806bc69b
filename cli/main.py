"""The command `npu-conformance`: finds the file of a command and runs it; bad input becomes one line and exit 2."""

from __future__ import annotations

import argparse
import importlib
import select
import sys
from collections.abc import Sequence
from typing import NoReturn

from npu_conformance.harness.judge.outcome_table import OK, SUITE_FAILED, USAGE

# Name and one line of help of each command; its file in commands/ is imported only when it is used.
COMMANDS = {
    "plugins": "list the plug-ins that are installed",
    "check": "shake hands with a plug-in and say what it has: an adapter's own smoke test",
    "list": "list case ids",
    "run": "run the suites against a plug-in",
    "replay": "run the failure file of an earlier run again",
    "report": "make an HTML page or a JUnit file from a report folder",
    "diff": "compare two report folders",
    "requirements": "the requirements, and the cases that are evidence for each",
    "faults": "run the suites against implementations wrong on purpose: the kill matrix",
    "vectors": "recompute witnesses, generate and check the stored vectors",
    "new-operation": "lay out the files of an operation, for contributors",
    "catalogue": "check the catalogue of a vendor's own extension",
    "schemas": "print or write the JSON Schemas of documents and messages",
    "kit": "write enumerations, tables and sample models for a driver in another language",
    "fuzz": "run a fuzzer",
    "serve": "serve a Python plug-in on a socket",
    "npu": "apps that share an NPU: watch a running manager, talk to it, see a take-over, simulate many",
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    try:
        options = _parser(given).parse_args(given)
        code = _execute(options)
        sys.stdout.flush()
        return code
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return SUITE_FAILED
    except Exception as error:
        return _code_of(error)


def _execute(options: argparse.Namespace) -> int:
    """Execute the command, with the extensions of `--catalogue` registered."""
    folders = getattr(options, "catalogue", None)
    if not folders:
        return int(options.execute(options))
    from npu_conformance.corpus import extensions

    with extensions.registered(folders):
        return int(options.execute(options))


def _code_of(error: Exception) -> int:
    """Report an error that ended a command: one line for bad input; a traceback only for a bug of ours."""
    if isinstance(error, BrokenPipeError) and _reader_has_gone():
        from npu_conformance.harness.report.console import abandon

        abandon(sys.stdout)
        return OK
    if _is_bad_input(error):
        print(f"npu-conformance: {error}", file=sys.stderr)
        return USAGE
    import traceback

    traceback.print_exception(error)
    print("npu-conformance: this is a bug of the suite, not of the plug-in", file=sys.stderr)
    return SUITE_FAILED


def _reader_has_gone() -> bool:
    """True where nobody reads our output any more, as in `list | head`."""
    poll = select.poll()
    poll.register(sys.stdout.fileno(), 0)
    return bool(poll.poll(0))


class _Parser(argparse.ArgumentParser):
    """A parser that reports bad arguments in one line, as all bad input."""

    def error(self, message: str) -> NoReturn:
        """Print the line and exit."""
        self.exit(USAGE, f"{self.prog}: {message} (see {self.prog} --help)\n")


def _parser(given: list[str]) -> argparse.ArgumentParser:
    parser = _Parser(
        prog="npu-conformance",
        description="Conformance of NPU drivers and managers: NN HAL, NPU scheduling HAL, NPU Manager.",
        epilog="exit codes: 0 nothing wrong, 1 something is wrong, 2 usage or plug-in not started, 3 the suite failed",
    )
    parser.add_argument("--version", action=_Version, nargs=0, help="print the version and exit")
    commands = parser.add_subparsers(metavar="COMMAND", required=True)
    wanted = next((word for word in given if not word.startswith("-")), None)
    for name, summary in COMMANDS.items():
        command = commands.add_parser(name, help=summary, description=summary[0].upper() + summary[1:] + ".")
        if name == wanted:
            module = importlib.import_module(f"npu_conformance.cli.commands.{name.replace('-', '_')}")
            module.add_arguments(command)
            command.set_defaults(execute=module.execute)
    return parser


def _is_bad_input(error: Exception) -> bool:
    from npu_conformance.cli.errors import UsageError
    from npu_conformance.harness.subject.plugin_loading import LoadError
    from npu_conformance.specs.documents import DocumentError

    return isinstance(error, UsageError | LoadError | DocumentError)


class _Version(argparse.Action):
    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        from npu_conformance import __version__

        print(f"npu-conformance {__version__}")
        parser.exit(OK)
