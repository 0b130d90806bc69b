"""The catalogue of hostile kinds: each gets its verdict in one line, and the case before and the case after are green.

A driver that is wrong has every right of who runs the suite. The kinds stand in tables, one for each room of
`tests/hostile/rooms`; here each meets a harness, between two innocent cases.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hostile_harness import all_kinds
from hostile_process import HarnessProcess
from rooms.kind import Kind, Start

_KINDS = all_kinds()
_LONGEST_LINE = 9000


@pytest.fixture(scope="module")
def harness(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HarnessProcess]:
    """A warm harness, which has to end in order when it has met all kinds."""
    process = HarnessProcess(tmp_path_factory.mktemp("hostile"))
    yield process
    assert process.close() == 0


def expected(kind: Kind | Start) -> list[str]:
    """The verdicts of the cases that meet a kind."""
    if isinstance(kind, Kind):
        return ["pass", kind.verdict, kind.after]
    return [kind.verdict] if kind.verdict == "refused" else [kind.verdict] * 3


@pytest.mark.parametrize("name", _KINDS)
def test_a_kind_gets_its_verdict_and_hurts_nobody_else(name: str, harness: HarnessProcess) -> None:
    kind = _KINDS[name]
    if kind.apart and not harness.is_apart:
        pytest.skip("the kernel gives no name spaces here, and this kind could hurt others on the machine")
    told = harness.tell(name)
    line = told.messages[len(told.messages) // 2]
    assert told.outcomes == expected(kind), told.messages
    assert told.exit_code == kind.exit_code
    assert kind.says in line
    assert line.isprintable()
    assert len(line) < _LONGEST_LINE
    assert told.left == []


def test_the_catalogue_is_large_and_each_kind_is_told() -> None:
    assert len(_KINDS) > 300
    assert {name.partition(".")[0] for name in _KINDS} == {
        "calls", "callbacks", "wire", "shared", "import", "make", "handshake", "manifest", "neighbours",
    }  # fmt: skip
    assert all(kind.does and (kind.says or kind.verdict == "pass") for kind in _KINDS.values())
