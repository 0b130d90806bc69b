"""`npu-conformance completion`: prints a script that lets a shell complete commands and options."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import dataclass
from shlex import quote

from npu_conformance.cli.parser import COMMANDS, Parser, parser_of
from npu_conformance.harness.judge.outcome_table import OK

_FUNCTION = "_npu-conformance"
"""The name is that of the file in which zsh looks for it."""


@dataclass(frozen=True)
class _Command:
    """What can follow a command: long options, the names of commands below it, and the choices of options."""

    name: str
    summary: str
    words: tuple[str, ...]
    choices: tuple[tuple[str, tuple[str, ...]], ...]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command line."""
    parser.add_argument("shell", choices=("bash", "zsh", "fish"), help="shell to complete for")


def execute(options: argparse.Namespace) -> int:
    """Print the script."""
    writers = {"bash": _bash, "zsh": _zsh, "fish": _fish}
    print("\n".join(writers[options.shell](list(_commands()))))
    return OK


def _commands() -> Iterator[_Command]:
    for name, parser in _parsers_below(parser_of(COMMANDS)).items():
        below = _parsers_below(parser)
        parsers = (parser, *below.values())
        actions = [action for each in parsers for action in each._actions if action.help != argparse.SUPPRESS]
        flags = dict.fromkeys(flag for action in actions for flag in action.option_strings if flag.startswith("--"))
        choices = {
            flag: tuple(map(str, action.choices))
            for action in actions
            for flag in action.option_strings
            if action.choices
        }
        yield _Command(name, COMMANDS[name], (*below, *flags), tuple(choices.items()))


def _parsers_below(parser: argparse.ArgumentParser) -> dict[str, Parser]:
    """The parsers of the commands below a parser, by name; none where it has none. argparse has no public way."""
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            return dict(action.choices)
    return {}


def _arms(commands: list[_Command]) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Patterns of "COMMAND PREVIOUS-WORD", and the words that may follow: values of options, then all of a command."""
    for command in commands:
        for flag, choices in command.choices:
            yield quote(f"{command.name} {flag}"), choices
    for command in commands:
        yield f"{quote(f'{command.name} ')}*", command.words


def _bash(commands: list[_Command]) -> Iterator[str]:
    yield f"{_FUNCTION}() {{"
    yield '  local word="${COMP_WORDS[COMP_CWORD]}" before="${COMP_WORDS[COMP_CWORD-1]}" words='
    yield '  if [ "$COMP_CWORD" = 1 ]; then'
    yield f"    words={quote(' '.join(command.name for command in commands))}"
    yield '  else case "${COMP_WORDS[1]} $before" in'
    for pattern, words in _arms(commands):
        yield f"    {pattern}) words={quote(' '.join(words))} ;;"
    yield "  esac fi"
    yield '  COMPREPLY=($(compgen -W "$words" -- "$word"))'
    yield "}"
    yield f"complete -o default -F {_FUNCTION} npu-conformance"


def _zsh(commands: list[_Command]) -> Iterator[str]:
    yield "#compdef npu-conformance"
    yield f"{_FUNCTION}() {{"
    yield "  if (( CURRENT == 2 )); then"
    yield "    local -a names=("
    yield from (f"      {quote(f'{command.name}:{command.summary}')}" for command in commands)
    yield "    )"
    yield "    _describe command names"
    yield '  else case "$words[2] $words[CURRENT-1]" in'
    for pattern, words in _arms(commands):
        files = "; _files" if pattern.endswith("*") else ""
        yield f"    {pattern}) compadd -- {' '.join(map(quote, words))}{files} ;;"
    yield "  esac fi"
    yield "}"
    # A file that zsh loads by itself is the first call of the function; one that is sourced only defines it.
    yield f'if [ "$funcstack[1]" = {_FUNCTION} ]; then {_FUNCTION} "$@"; else compdef {_FUNCTION} npu-conformance; fi'


def _fish(commands: list[_Command]) -> Iterator[str]:
    start = "complete -c npu-conformance"
    for command in commands:
        yield f"{start} -n __fish_use_subcommand -f -a {command.name} -d {quote(command.summary)}"
        seen = f"{start} -n {quote(f'__fish_seen_subcommand_from {command.name}')}"
        choices = dict(command.choices)
        for word in command.words:
            if word.startswith("--"):
                values = f" -x -a {quote(' '.join(choices[word]))}" if word in choices else ""
                yield f"{seen} -l {word.removeprefix('--')}{values}"
            else:
                yield f"{seen} -a {word}"
