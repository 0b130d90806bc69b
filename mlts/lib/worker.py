"""The client program of the stress tests: `python -m npu_conformance.mlts.lib.worker DESCRIPTOR`, its plan on stdin.

It connects to the implementation by itself, prepares one model, waits until all clients are ready, and executes it as
often as the plan says, comparing every output. It reports on the descriptor, and dies when its stdin ends: then whoever
started it is gone.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Callable

from npu_conformance.harness.judge.classification import OutcomeDetails, classify_exception
from npu_conformance.mlts.lib.reports import Line, Plan, Progress, Report, Verdict, encode
from npu_conformance.specs import documents
from npu_conformance.specs.outcomes import Outcome

VERDICTS = {Outcome.CRASH: Verdict.CRASH, Outcome.HANG: Verdict.HANG, Outcome.FAIL: Verdict.FAILURE}


def main() -> None:
    """Carry out the plan and report."""
    plan = documents.decode(sys.stdin.buffer.readline(), Plan, "plan")
    go_event = threading.Event()
    threading.Thread(target=_listen, args=(go_event,), daemon=True).start()
    channel = int(sys.argv[1])

    def say(line: Line) -> None:
        os.write(channel, encode(line))

    say(run(plan, say, go_event))


def run(plan: Plan, say: Callable[[Line], None], go_event: threading.Event) -> Report:
    """Execute as planned, with a sign of life when ready and after each inference; how it ended."""
    done = 0
    try:
        from npu_conformance.mlts.lib import inference

        for done in inference.run(plan):
            say(Progress(done))
            go_event.wait()
            if done and done == plan.die_after:
                os.kill(os.getpid(), signal.SIGKILL)
    except Exception as error:
        return _report(classify_exception(error), done)
    return Report(Verdict.SUCCESS, done)


def _report(details: OutcomeDetails, done: int) -> Report:
    verdict = VERDICTS.get(details.outcome, Verdict.FAILURE)
    if details.outcome is Outcome.SUITE_ERROR:
        return Report(verdict, done, defect=f"{details.message}\n{details.traceback}")
    return Report(verdict, done, f"after {done} inferences: {details.message}")


def _listen(go_event: threading.Event) -> None:
    # Not through sys.stdin: its lock would be held when the interpreter ends.
    while os.read(0, 1):
        go_event.set()
    os.killpg(os.getpgrp(), signal.SIGKILL)


if __name__ == "__main__":
    main()
