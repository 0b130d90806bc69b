"""What a resumed run keeps of the one before, what it runs again, and what it refuses to go on with."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest
from logged_runs import logged

from npu_conformance.harness.run import resuming
from npu_conformance.harness.run.cases import Case
from npu_conformance.harness.run.engine import Engine
from npu_conformance.harness.run.events import EventLog, read_log
from npu_conformance.harness.run.results import build
from npu_conformance.specs.documents import DocumentError
from npu_conformance.specs.documents.results import Digests, Selection
from npu_conformance.specs.manifest import Manifest

MakeCase = Callable[..., Case]


def test_a_run_resumes_behind_a_torn_line(make_case: MakeCase, subject: Any, path: Path) -> None:
    ran = []

    def cases(*broken: str) -> list[Case]:
        def body(context: Any) -> None:
            ran.append(context.case.id[-1])
            if context.case.id[-1] in broken:
                raise KeyboardInterrupt

        return [make_case(name, body) for name in "abc"]

    logged(cases("b"), subject, path)
    with path.open("ab") as file:
        file.write(b'{"event":"case-st')
    earlier = resuming.earlier_results(read_log(path))
    sink = EventLog(path, resume=True)
    Engine(cases(), subject, sink, earlier=earlier).run()
    sink.close()
    assert ran == ["a", "b", "b", "c"]
    log = read_log(path)
    outcome = build(log)
    assert (outcome.counts, outcome.problems, log.header.resumed) == ({"pass": 3}, (), True)


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        ({"seed": 5}, "the seed was 0, and is 5 now"),
        ({"shuffled": True}, "the order was not shuffled, and is shuffled now"),
        ({"hal_version": "1.3"}, "the HAL version was 1.2, and is 1.3 now"),
        (
            {"manifest": Manifest(name="fake", vendor="nobody", version="2")},
            "the plug-in was fake 1, and is fake 2 now",
        ),
        ({"plugin_words": "--plugin b"}, "the options of the plug-in were none, and are --plugin b now"),
        ({"plugin_words": "--plugin b --longest-wait 5"}, "the longest wait was none, and is 5 now"),
        ({"plugin_words": "--plugin b --patience 3"}, "the patience was none, and is 3 now"),
        ({"selection": Selection(patterns=("vts.a",))}, "the selection was everything, and is vts.a now"),
        ({"selection": Selection(expression="a b")}, "the selection was everything, and is -k 'a b' now"),
        ({"selection": Selection(scope="full")}, "the selection was everything, and is --scope full now"),
        ({"selection": Selection(last_failed=True)}, "the selection was everything, and is --last-failed now"),
        ({"digests": Digests(suite="2", vectors="1", subject="1")}, "the digest of the suite was 1, and is 2 now"),
        ({"digests": Digests(suite="1", vectors="2", subject="1")}, "the digest of the vectors was 1, and is 2 now"),
        ({"digests": Digests(suite="1", vectors="1", subject="2")}, "the digest of the subject was 1, and is 2 now"),
        (
            {"digests": Digests(suite="1", vectors="1", subject="1", driver="2")},
            "the digest of the plug-in's files was none, and is 2 now",
        ),
        ({"waivers": "3"}, "the digest of the waivers was none, and is 3 now"),
        ({"baseline": "4"}, "the digest of the baseline was none, and is 4 now"),
        ({"cases": ("vts.area.subject.b",)}, r"the cases were 1 \(\w+\), and are 1 \(\w+\) now"),
    ],
)
def test_a_run_of_something_else_is_not_resumed(
    make_case: MakeCase, subject: Any, path: Path, changed: dict[str, Any], told: str
) -> None:
    log = logged([make_case("a")], subject, path, digests=Digests(suite="1", vectors="1", subject="1"))
    resuming.require_same(log.header, msgspec.structs.replace(log.header, time="later"), "kept")
    with pytest.raises(DocumentError, match=f"^kept: cannot be resumed: {told}$"):
        resuming.require_same(log.header, msgspec.structs.replace(log.header, **changed), "kept")


def test_what_says_nothing_of_the_subject_is_run_again(make_case: MakeCase, subject: Any, path: Path) -> None:
    """The memory was full, say."""
    ran = []

    def cases(*, is_full: bool) -> list[Case]:
        def body(context: Any) -> None:
            ran.append(context.case.id[-1])
            if context.case.id[-1] == "b" and is_full:
                raise MemoryError

        return [make_case(name, body) for name in "abc"]

    assert build(logged(cases(is_full=True), subject, path)).counts == {"pass": 2, "suite-error": 1}
    sink = EventLog(path, resume=True)
    Engine(cases(is_full=False), subject, sink, earlier=resuming.earlier_results(read_log(path))).run()
    sink.close()
    outcome = build(read_log(path))
    assert (ran, outcome.counts, outcome.problems) == (list("abcb"), {"pass": 3}, ())
