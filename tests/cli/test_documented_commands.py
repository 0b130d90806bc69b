"""Every command that a page prints in a line of its own is one: its options exist, and what it selects is there."""

from __future__ import annotations

import re
import shlex

import pytest
from places import ROOT

from npu_conformance.cli.parser import parser_of
from npu_conformance.harness.run.selection import Wanted, select_ids

PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
COMMAND = re.compile(r"^ {4}.*?npu-conformance (.+?)(?:  .*| # .*| [|>&] .*| &| && .*)?$", re.MULTILINE)
TO_COME = "FOO_2D"
"""The operation that CONTRIBUTING adds."""


def printed() -> list[str]:
    """The words of each command, without the program, comments and what a shell does with its output."""
    pages = (page.read_text().replace("\\\n", " ") for page in PAGES)
    return sorted({words for page in pages for words in COMMAND.findall(page) if TO_COME not in words})


@pytest.mark.parametrize("line", printed())
def test_a_printed_command_can_be_given(line: str) -> None:
    words = shlex.split(line)
    asked = vars(parser_of((words[0],)).parse_args(words))
    if words[0] in ("run", "list") and not asked["catalogue"] and not asked["vectors"]:
        assert select_ids(Wanted(tuple(asked["targets"]), asked["expression"]))
