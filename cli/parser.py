"""The command line as a whole: the commands, their help with examples, and errors in one line."""

from __future__ import annotations

import argparse
import importlib
import re
import sys
from collections.abc import Collection, Iterator, Sequence
from typing import Any, NoReturn

from npu_conformance.cli.examples import EXAMPLES, shown
from npu_conformance.harness.judge.outcome_table import OK, USAGE

# Name and one line of help of each command; its file in commands/ is imported only when it is used.
COMMANDS = {
    "plugins": "list the plug-ins that are installed",
    "check": "shake hands with a plug-in and print what it offers: a smoke test for an adapter",
    "list": "list case ids",
    "run": "run the suites against a plug-in",
    "replay": "run the failures of an earlier run again",
    "report": "make an HTML page or a JUnit file from a report folder",
    "merge": "make one report of the shards that several machines ran",
    "diff": "compare two report folders",
    "requirements": "list the requirements, and the cases that are evidence for each",
    "faults": "run the suites against implementations that are wrong on purpose: the kill matrix",
    "vectors": "recompute witnesses, generate and check the stored vectors",
    "new-operation": "lay out the files of an operation, for contributors",
    "catalogue": "check the catalogue of a vendor's own extension",
    "schemas": "print or write the JSON Schemas of documents and messages",
    "kit": "write enumerations, tables and sample models for a driver in another language",
    "fuzz": "run campaigns of fuzzers, and list what they found",
    "graphs": "run random graphs of operations, and shrink those that fail",
    "models": "list the models of the zoo, and fetch those that are in packages",
    "serve": "serve a Python plug-in on a socket",
    "mlts": "run models of the zoo on a plug-in: accuracy, latency, crash tests, implied capabilities",
    "npu": "apps that share an NPU: watch a running manager, talk to it, see a take-over, simulate many",
    "completion": "print a script that lets bash, zsh or fish complete commands and options",
}
_EXIT_CODES = (
    "exit codes: 0 nothing wrong, 1 something is wrong, 2 usage or plug-in not started, 3 suite failed or interrupted"
)
_LONE = re.compile(r"^one of the arguments (\S+) is required$")
"""What argparse says of one argument that is visible of several."""
_NO_COMMAND = re.compile(r"argument COMMAND: invalid choice: '(.*?)'")


class Parser(argparse.ArgumentParser):
    """A parser that reports bad arguments in one line, as all bad input, and keeps the lines of its help."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**{"formatter_class": argparse.RawDescriptionHelpFormatter, **options})
        self._given: Sequence[str] = ()

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> tuple[Any, list[str]]:
        """Parse, and keep the words for a message."""
        self._given = tuple(sys.argv[1:] if args is None else args)
        found, unknown = super().parse_known_args(args, namespace)
        unknown = self._taken_by_last(found, unknown)
        if unknown:
            self.error(f"unrecognized arguments: {' '.join(unknown)}")
        return found, unknown

    def _taken_by_last(self, found: Any, unknown: list[str]) -> list[str]:
        """Give words that stand behind an option to the argument that takes any number of them, as getopt does.

        argparse gives it only those that stand together. Returns what is left.
        """
        takers = [action for action in self._get_positional_actions() if action.nargs in ("*", "+")]
        if not takers or any(word.startswith("-") for word in unknown):
            return unknown
        taken = [self._get_value(takers[0], word) for word in unknown]
        setattr(found, takers[0].dest, [*getattr(found, takers[0].dest), *taken])
        return []

    def _get_values(self, action: argparse.Action, arg_strings: list[str]) -> Any:
        """Refuse an empty word: mostly an unset variable of a shell. Words of a command wait for its own parser."""
        if "" in arg_strings and action.nargs != argparse.PARSER:
            raise argparse.ArgumentError(action, "the value is empty")
        return super()._get_values(action, arg_strings)

    def error(self, message: str) -> NoReturn:
        """Print the line and exit. A misspelt option is the cause where its right spelling is said to be missing."""
        message = _LONE.sub(r"the argument \1 is required", message)
        meant = (
            self._unknown_command(message)
            or next(self._misspelt(), "")
            or (self._misplaced() if "are required: " in message else "")
        )
        self.exit(USAGE, f"{self.prog}: {meant or message} (see {self.prog} --help)\n")

    def _unknown_command(self, message: str) -> str:
        """Say which command may be meant by one that there is not; empty for any other mistake."""
        found = _NO_COMMAND.search(message)
        if found is None:
            return ""
        from npu_conformance.specs.suggestions import did_you_mean

        return f"there is no command {found[1]!r}{did_you_mean(found[1], COMMANDS)}"

    def _misplaced(self) -> str:
        """Say how the plug-in is given here, where it was given as to other commands; empty where it was not given."""
        if "--plugin" not in self._option_string_actions:
            return "the plug-in is named without --plugin" if "--plugin" in self._given else ""
        named = [word for word in self._given if not word.startswith("-") and (":" in word or word.endswith(".so"))]
        return f"did you mean --plugin {named[0]}?" if named and "--plugin" not in self._given else ""

    def _misspelt(self) -> Iterator[str]:
        import difflib

        known = [flag for flag in self._option_string_actions if flag.startswith("--")]
        for word in self._given:
            flag = word.partition("=")[0]
            if flag == "--":
                return
            if flag.startswith("--") and not any(other.startswith(flag) for other in known):
                for near in difflib.get_close_matches(flag, known, n=1):
                    yield f"unrecognized argument: {flag}: did you mean {near}?"


def parser_of(wanted: Collection[str]) -> Parser:
    """Return the parser of all commands, of which the wanted ones have their options."""
    parser = Parser(
        prog="npu-conformance",
        description="Conformance of NPU drivers and managers: NN HAL, NPU scheduling HAL, NPU Manager.",
        epilog=f"{shown(EXAMPLES[''])}\n\n{_EXIT_CODES}",
    )
    parser.add_argument("--version", action=_Version, nargs=0, help="print the version and exit")
    commands = parser.add_subparsers(metavar="COMMAND", required=True)
    for name, summary in COMMANDS.items():
        description = summary[0].upper() + summary[1:] + "."
        command = commands.add_parser(name, help=summary, description=description, epilog=shown(EXAMPLES[name]))
        if name in wanted:
            module = importlib.import_module(f"npu_conformance.cli.commands.{name.replace('-', '_')}")
            module.add_arguments(command)
            command.set_defaults(execute=module.execute)
    return parser


class _Version(argparse.Action):
    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        from npu_conformance import __version__

        print(f"npu-conformance {__version__}")
        parser.exit(OK)
