"""Watches the driver while clients load it: it still answers, in the process that it had, and nothing leaks.

Each is a configuration of the case, beside those of the clients: `driver` and `leaks`. What a client saw of the driver
stays that client's verdict. A death that no client noticed is told beside the outcome, as a quality warning
(ML-CRS-014); but the process that is called has to live on (ML-CRS-011).
"""

from __future__ import annotations

import itertools
import re
import socket
import time
from collections.abc import Callable, Sequence

from npu_conformance.harness.judge import checks
from npu_conformance.harness.judge.verdicts import Crashed, Failed, NotApplicable
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.harness.subject.holdings import COUNTS, Holdings, descendants
from npu_conformance.harness.subject.host import peer
from npu_conformance.harness.subject.remote import RemoteSubject
from npu_conformance.mlts.lib import clients
from npu_conformance.mlts.lib.leaks import Process, held_by_family, identity_of, steady_growth, told
from npu_conformance.mlts.lib.reports import Plan
from npu_conformance.mlts.lib.supervision import run_here

_SAMPLES = (0.2, 0.4, 0.6, 0.8)
"""At these parts of the work it is looked what the driver holds: all clients have loaded, and none has gone yet."""
_APART = 0.1
"""The part of the work that lies between two looks at least, where this process comes late to one."""
_VISITS, _STRETCHES, _MOST_STRETCHES = 4, 3, 6
"""Clients that come and go between two looks, and how often; more often where something has grown so far."""
_REPETITIONS = 6
"""Of other work between two looks: more, so that a thread that ends meanwhile hides nothing."""
_MOST_WAVES = 5
_WARM_UP = 2
_SETTLING_SECONDS = 1.0
"""How long the driver may take to clear up behind clients that have gone, before time_scale."""
_LOOK_SECONDS = 0.01
Work = Callable[[], None]
"""Something that is to leave nothing behind; it raises what became of it."""
_CRASH = re.compile(
    r"Fatal signal \d|Fatal Python error: |Segmentation fault$|\(core dumped\)|\*\*\* \*\*\* \*\*\*|backtrace:\s*#00|"
    r"terminate called (?:after throwing|without an active exception|recursively)|"
    r"\*\*\* stack smashing detected \*\*\*|==\d+==ERROR: \w+Sanitizer: |double free or corruption \("
)
"""What processes and Android's crash dump leave in a log when they die; not what others say of such deaths."""


class Watch:
    """One case's look at the driver. Make it before the load; `judge` behind it.

    visitor: the plan of a client that comes, infers once and goes.
    """

    def __init__(self, context: CaseContext, visitor: Plan) -> None:
        self._context = context
        self._visitor = visitor
        self._process = _process_of(context)
        for _ in range(_WARM_UP):
            self._visit()
        self._family = self._identities()
        self._during: list[Holdings] = []
        self._rounds_at: list[int] = []
        self._next = 0.0
        self._total, self._seconds, self._began = 0, 0.0, 0.0
        self._quiet: list[Holdings] = []
        self._killed: list[int] = []

    def expect(self, load: clients.Load) -> None:
        """Say how much work begins now."""
        self._during, self._rounds_at, self._next = [], [], 0.0
        self._total, self._seconds = load.total, load.seconds
        self._began = time.monotonic()

    def expect_plans(self, plans: Sequence[Plan]) -> None:
        """Say what clients begin their work now. Where some are killed, what is held goes up and down by that."""
        load = clients.Load(1, 1, sum(plan.rounds * plan.threads for plan in plans), max(p.seconds for p in plans))
        self.expect(load)
        if any(plan.is_victim for plan in plans):
            self._total = 0

    def observe(self, rounds: int) -> None:
        """Look at the driver where enough of the work is done."""
        taken, done = len(self._during), self._done(rounds) if self._total else 0.0
        if taken < len(_SAMPLES) and done >= max(_SAMPLES[taken], self._next):
            found = self._look()
            self._during += found
            self._rounds_at += [rounds] * len(found)
            self._next = done + _APART

    def _done(self, rounds: int) -> float:
        """The part of the work that is done."""
        return (time.monotonic() - self._began) / self._seconds if self._seconds else rounds / self._total

    def begin_waves(self) -> None:
        """Clients will be killed: look at the driver before the first."""
        self._quiet = self._look()

    def end_wave(self, killed: int) -> bool:
        """Look at the driver after a wave of clients of which some were killed; True where another wave is needed."""
        self._killed.append(killed)
        if self._quiet:
            self._quiet += self._settled(self._quiet[-1], killed)
        few = len(self._killed) < 2
        return few or (len(self._killed) < _MOST_WAVES and bool(self._left_by_the_dead()))

    def judge(self) -> None:
        """Give the driver and its leaks their verdicts; nothing where a client's verdict had it restarted already."""
        if self._context.restarts:
            return
        with self._context.configuration("driver", requirements=("ML-CRS-011", "ML-CRS-014")):
            self._check_driver()
        if self._context.restarts:
            return
        if self._process == 0 or held_by_family(self._process) is None:
            self._context.note("leaks", "not looked for: the driver's process is out of sight")
            return
        with self._context.configuration("leaks", requirements=("ML-CRS-016",)):
            self._check_leaks()

    def _check_driver(self) -> None:
        with checks.about("ML-CRS-011"):
            if not self._context.is_alive():
                raise Crashed("the driver does not answer any more, although no call failed")
            self._visit()
        self._check_family()
        self._warn_of_log()

    def _check_family(self) -> None:
        """The driver's own process is the one that it was; another one that is replaced may have died.

        From outside an orderly end, as of a worker after its tenth model, looks the same as a death.
        """
        now = self._identities()
        gone, new = self._family - now, now - self._family
        replaced = [one for one in gone if any(other.command == one.command for other in new)]
        if any(one.number == self._process for one in gone):
            with checks.about("ML-CRS-011"):
                raise Crashed(f"the driver's process {self._process} is another one now, although no call failed")
        if replaced:
            names = ", ".join(sorted(map(_named, replaced)))
            self._context.warn_quality(
                f"processes of the driver ended under load and were replaced, although no call failed: {names}; "
                "this is harmless where they ended in order, as workers do that are renewed"
            )

    def _warn_of_log(self) -> None:
        account = self._context.subject.account()
        lines = map(str.rstrip, f"{account.stderr}\n{account.stdout}".splitlines())
        line = next((line for line in lines if _CRASH.search(line)), "")
        if line:
            self._context.warn_quality(
                f"the driver's log tells of a crash, although no call failed: {line.strip()[:200]}"
            )

    def _check_leaks(self) -> None:
        rounds = [after - before for before, after in itertools.pairwise(self._rounds_at)]
        growth = steady_growth(self._during, rounds)
        if growth:
            count = sum(rounds)
            raise Failed(f"the driver holds {told(growth)} more after {count} rounds of its clients, in steady steps")
        left = self._left_by_the_dead()
        if left:
            raise Failed(f"clients that were killed ({sum(self._killed)}) have left {told(left)} behind in the driver")
        self._check_repeated(self._visit, "clients that came and went")

    def judge_repeated(self, name: str, work: Work) -> None:
        """Give what the driver holds behind each repetition of some work a verdict of its own.

        NotApplicable where the driver's process is out of sight.
        """
        if self._process == 0 or held_by_family(self._process) is None:
            raise NotApplicable("the driver's process is out of sight")
        with self._context.configuration(name, requirements=("ML-CRS-016",)):
            for _ in range(_REPETITIONS):  # what is set up once is no growth, and what went before is gone by then
                work()
            self._check_repeated(work, f"repetitions of {name}", _REPETITIONS)

    def _left_by_the_dead(self) -> dict[str, int]:
        """What has grown by one or more for each client killed, in every wave."""
        if len(self._quiet) < 3:
            return {}
        steps = {
            name: [getattr(after, name) - getattr(before, name) for before, after in itertools.pairwise(self._quiet)]
            for name in COUNTS
        }
        return {
            name: sum(found)
            for name, found in steps.items()
            if all(step >= max(1, killed) for step, killed in zip(found, self._killed, strict=False))
        }

    def _check_repeated(self, work: Work, what: str, times: int = _VISITS) -> None:
        samples = self._look()
        if not samples:
            raise Crashed("the driver's process is gone, although no call has failed")
        growth: dict[str, int] = {}
        for stretch in range(1, _MOST_STRETCHES + 1):
            for _ in range(times):
                work()
            samples += self._settled(samples[-1], times)
            growth = steady_growth(samples, [times] * (len(samples) - 1))
            if stretch >= _STRETCHES and not growth:
                return
        if growth:
            count = times * (len(samples) - 1)
            raise Failed(f"{count} {what} have left {told(growth)} behind in the driver")

    def _settled(self, before: Holdings, least: int) -> list[Holdings]:
        """Look again, once the driver has had time to give back what has grown."""
        found: list[Holdings] = []

        def is_settled() -> bool:
            found[:] = self._look()
            grown = (getattr(now, name) - getattr(before, name) for now in found for name in COUNTS)
            return not any(growth >= max(1, least) for growth in grown)

        seconds = _SETTLING_SECONDS * self._context.manifest.time_scale
        deadline = time.monotonic() + seconds
        while not is_settled() and time.monotonic() < deadline:
            self._context.subject.wait_until(lambda: False, _LOOK_SECONDS)
        return found

    def _look(self) -> list[Holdings]:
        found = held_by_family(self._process)
        return [] if found is None else [found]

    def _visit(self) -> None:
        """One client comes, prepares, infers once, and goes. Raises what became of it."""
        clients.judge(run_here(self._visitor_plan()), 1)

    def _visitor_plan(self) -> Plan:
        return clients.renewed(self._context, self._visitor)

    def _identities(self) -> frozenset[Process]:
        if not self._process:
            return frozenset()
        numbers = (self._process, *descendants(self._process))
        return frozenset(found for found in map(identity_of, numbers) if found is not None)


def _named(process: Process) -> str:
    """A process as a message names it."""
    command = process.command.replace("\0", " ")
    return f"{process.number} ({command.strip()[:80]})"


def _process_of(context: CaseContext) -> int:
    """The driver's process where it is on this machine: a host of ours, or who listens on a socket of the system's."""
    subject = context.subject
    process = subject.process()
    if process or not isinstance(subject, RemoteSubject):
        return process
    connection = subject.connection.lines.socket
    return peer(connection).pid if connection.family == socket.AF_UNIX else 0
