"""Self-checks of the harness: small runs whose outcomes, counts and exit codes are known beforehand.

They trust nothing of the harness: what they expect is written down here, and compared by `==` alone.
"""

from __future__ import annotations

from collections.abc import Iterator

from npu_conformance.faults.self_checks.fakes import (
    Body,
    FakeDevice,
    FakeSubject,
    Little,
    build_results,
    executing,
    make_case,
    passing,
    raising,
    refusing,
    run,
    stored_model,
)
from npu_conformance.harness.judge.verdicts import Crashed, Failed, Hung, NotApplicable, NotSupported
from npu_conformance.harness.report import table
from npu_conformance.harness.report.lines import explain
from npu_conformance.harness.run import seeds
from npu_conformance.harness.run.baseline import Baseline
from npu_conformance.harness.run.cases import MANDATORY, Case, CaseGroup, Group
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.harness.run.expression import compile_expression
from npu_conformance.harness.run.partition import partition
from npu_conformance.specs.documents.results import RunFinished
from npu_conformance.specs.documents.summary import Counts
from npu_conformance.specs.manifest import Claim, Manifest
from npu_conformance.specs.neuralnetworks.enums import OperationType
from npu_conformance.specs.neuralnetworks.hal import Device
from npu_conformance.specs.neuralnetworks.runtime import Runtime
from npu_conformance.specs.neuralnetworks.runtime.control import ExecutedOperations, RuntimeControl
from npu_conformance.specs.neuralnetworks.runtime.devices import CPU
from npu_conformance.specs.plugin import Subject

_checks = CaseGroup("self.bookkeeping")


class NoticedError(Exception):
    """The harness does not keep its books."""


def cases() -> Iterator[Case]:
    """Every self-check."""
    return iter(_checks())


def expect(found: object, expected: object, what: str) -> None:
    """Raises NoticedError unless both are equal; what: the thing they are, in words."""
    if found != expected:
        raise NoticedError(f"{what}: expected {expected!r}, found {found!r}")


def _mixed() -> Little:
    return run(
        {
            "passes": passing,
            "fails": raising(Failed("wrong")),
            "crashes": raising(Crashed("died", 11)),
            "hangs": raising(Hung("silent")),
            "refuses": raising(NotSupported("no")),
            "does_not_apply": raising(NotApplicable("not here")),
            "is_broken": raising(ZeroDivisionError("bug")),
        }
    )


@_checks.case("verdicts.each_exception")
def each_exception(_: CaseContext) -> None:
    """Each way to end has its outcome."""
    expected = {
        "passes": "pass",
        "fails": "fail",
        "crashes": "crash",
        "hangs": "hang",
        "refuses": "not-supported",
        "does_not_apply": "not-applicable",
        "is_broken": "suite-error",
    }
    expect(_mixed().outcomes(), expected, "outcomes")


class _Raising(Device):
    def get_type(self) -> int:
        raise KeyError("nope")


def _calls_what_raises(context: CaseContext) -> None:
    _Raising().get_type()


@_checks.case("verdicts.whose_bug")
def whose_bug(_: CaseContext) -> None:
    """An exception that a plug-in raises in the harness's own process is the plug-in's failure, and says where."""
    little = run({"of_plugin": _calls_what_raises, "of_suite": raising(KeyError("nope"))})
    expect(little.outcomes(), {"of_plugin": "fail", "of_suite": "suite-error"}, "outcomes")
    expect("in get_type: 'nope'" in little.verdicts[0].message, True, "the message names the place")


@_checks.case("verdicts.one_for_each_case")
def one_for_each_case(_: CaseContext) -> None:
    """Every case has one verdict in the events, none has two, and the footer counts them."""
    little = _mixed()
    expect(len(little.verdicts), 7, "number of verdicts")
    expect(len(set(little.outcomes())), 7, "number of cases with a verdict")
    footer = little.events[-1]
    expect(isinstance(footer, RunFinished) and sum(footer.counts.values()), 7, "verdicts counted by the footer")
    expect(little.results.problems, (), "problems of the record")


@_checks.case("verdicts.interrupted")
def interrupted(_: CaseContext) -> None:
    """Cases that an interrupt keeps from running are recorded as not-run, and are red."""
    little = run({"first": passing, "second": raising(KeyboardInterrupt()), "third": passing})
    expect(little.outcomes(), {"first": "pass", "second": "not-run", "third": "not-run"}, "outcomes")
    expect(little.results.exit_code != 0, True, "an interrupted run is red")
    expect(len(little.results.not_run), 2, "cases listed as not run")


@_checks.case("verdicts.cut_off")
def cut_off(_: CaseContext) -> None:
    """After a run was killed, cases without a verdict count as not run, and are red."""
    events = run({"first": passing, "second": passing}).events
    found = build_results(events[:3])
    expect((found.exit_code, len(found.not_run), found.conformant), (1, 1, False), "exit code, not run, conformant")


@_checks.case("verdicts.configurations")
def configurations(_: CaseContext) -> None:
    """The gravest configuration decides, and the case goes on after it."""

    def body(context: CaseContext) -> None:
        for name, error in (("one", Failed("wrong")), ("two", None), ("three", NotApplicable("no"))):
            with context.configuration(name):
                if error:
                    raise error

    verdict = run({"case": body}).verdicts[0]
    expect(verdict.outcome.value, "fail", "outcome of the case")
    found = {part.name: part.outcome.value for part in verdict.configurations}
    expect(found, {"one": "fail", "two": "pass", "three": "not-applicable"}, "outcomes of configurations")


@_checks.case("verdicts.groups_of_each_interface")
def groups_of_each_interface(_: CaseContext) -> None:
    """A scheduling HAL of whose events nothing could be asked is green and not conformant, and the group is named."""
    offered = FakeSubject(Manifest(name="fake", vendor="nobody", version="1", interfaces=("device", "scheduling")))
    groups = {group.value: group for group in (*MANDATORY["device"], *MANDATORY["scheduling"])}
    bodies: dict[str, Body] = dict.fromkeys(groups, passing)
    expect(run(bodies, offered, groups=groups).results.conformant, True, "conformant with something of each group")
    bodies[Group.SCHEDULING_EVENTS.value] = raising(NotApplicable("no work"))
    found = run(bodies, offered, groups=groups).results
    expect((found.exit_code, found.conformant), (0, False), "exit code and conformant")
    reasons = ("no case of the mandatory group scheduling-events was run: no work",)
    expect(found.reasons, reasons, "reasons")


@_checks.case("verdicts.quality_warning")
def quality_warning(_: CaseContext) -> None:
    """A quality warning is kept and counted; it turns nothing red."""
    little = run({"case": lambda context: context.warn_quality("drift")})
    expect((little.results.quality_warnings, little.results.exit_code), (1, 0), "warnings and exit code")


@_checks.case("verdicts.claims")
def claims(_: CaseContext) -> None:
    """Refusing a model of which the manifest claims every operation is a failure; refusing another model is not."""
    claim = Claim(operations=("ADD",), types=("TENSOR_FLOAT32",))
    for name, variation, outcome in (
        ("ADD", "", "fail"),
        ("ADD", "float16", "not-supported"),
        ("MUL", "", "not-supported"),
    ):
        model = stored_model(name, "float32_none_same", variation)
        found = run({"case": refusing(model)}, FakeSubject(interfaces=Subject(device=FakeDevice())), claims=[claim])
        expect(found.outcomes(), {"case": outcome}, f"outcome of {name} {variation}")


@_checks.case("coverage.refusals")
def refusals_are_no_support(_: CaseContext) -> None:
    """An operation has a passing case where a model of it was executed, not where one was refused."""
    model = stored_model("ADD", "float32_none_same", "")

    def rejects(context: CaseContext) -> None:
        context.supported_operations(model)

    for supported, executes, counts in (
        (False, refusing(model), {"not-supported": 1}),
        (True, executing(model), {"pass": 1}),
    ):
        chosen = FakeSubject(interfaces=Subject(device=FakeDevice(supported=supported)))
        found = run({"rejects": rejects, "executes": executes}, chosen)
        expect(_of_execution(found), counts, f"verdicts on executing ADD in float32, supported: {supported}")


class _Working(RuntimeControl):
    """A runtime whose devices have executed something each time that it is asked, the CPU always in place of MUL."""

    def __init__(self, *answers: tuple[ExecutedOperations, ...]) -> None:
        self._answers = list(answers)

    def executed_operations(self) -> tuple[ExecutedOperations, ...]:
        """The next answer; nothing after the last."""
        return self._answers.pop(0) if self._answers else ()


@_checks.case("coverage.work_of_the_cpu")
def work_of_the_cpu(_: CaseContext) -> None:
    """What the runtime's CPU executed counts for no driver, nor what was executed before the case."""
    add, mul, pad = (int(OperationType[name]) for name in ("ADD", "MUL", "PAD"))
    late = (ExecutedOperations("npu", (pad,)),)
    work = (ExecutedOperations("npu", (add,)), ExecutedOperations(CPU, (add, mul)))
    offered = Manifest(name="fake", vendor="nobody", version="1", interfaces=("runtime", "runtime_control"))
    interfaces = Subject(runtime=Runtime(), runtime_control=_Working(late, work, (), work))
    subject = FakeSubject(offered, interfaces=interfaces)
    little = run({"right": passing, "wrong": raising(Failed("wrong"))}, subject, interface="runtime")
    found = {one.operation: (one.drivers, one.cpu_alone, one.cpu_too) for one in little.results.executed_by}
    verdicts = {"pass": 1, "fail": 1}
    expected = {"ADD": ({"npu": verdicts}, {}, 2), "MUL": ({}, verdicts, 0)}
    expect(found, expected, "who executed what")
    told = "under the runtime: of 2 operations npu executed 1 rightly; the runtime's CPU alone 1: MUL"
    expect([line for line in table.lines(little.results) if "the runtime" in line], [told], "what is said of it")


def _of_execution(little: Little) -> Counts:
    entries = little.results.by_operation
    return next((entry.counts for entry in entries if (entry.operation, entry.type) == ("ADD", "TENSOR_FLOAT32")), {})


@_checks.case("coverage.nothing_executed")
def nothing_executed(_: CaseContext) -> None:
    """A device that answers everything and supports no operation is green and not conformant."""
    groups = {group.value: group for group in MANDATORY["device"]}
    bodies: dict[str, Body] = {**dict.fromkeys(groups, passing), "executes": raising(NotSupported("no"))}
    found = run(bodies, groups=groups).results
    reasons = ("no operation was executed with the right values",)
    expect((found.exit_code, found.reasons), (0, reasons), "exit code and reasons")


@_checks.case("coverage.unasked")
def mostly_unasked(_: CaseContext) -> None:
    """A device of which most cases could not be tested is green and not conformant; other versions' are no such."""
    groups = {group.value: group for group in MANDATORY["device"]}
    for reason, conformant in (("no fence", False), ("since fl5, the subject is 1.2", True)):
        unasked = dict.fromkeys((f"unasked_{number}" for number in range(5)), raising(NotApplicable(reason)))
        found = run({**dict.fromkeys(groups, passing), **unasked}, groups=groups).results
        expect((found.exit_code, found.conformant), (0, conformant), f"exit code and conformant: {reason}")


@_checks.case("report.rule")
def rule_of_a_failure(_: CaseContext) -> None:
    """A failure shows the sentence of the requirement that it violates, and the source of that."""
    bodies = {"case": raising(Failed("wrong", "a version", "nothing"))}
    verdict = run(bodies, requirements=("NNHAL-QUERY-011", "NNHAL-QUERY-013")).verdicts[0]
    found = [line for line in explain(verdict).splitlines() if line.startswith(("  requirement", "  source"))]
    sentence = "The version string is non-empty. (NNHAL-QUERY-011, and 1 more)"
    source = "AOSP neuralnetworks/1.2/IDevice.hal, AOSP neuralnetworks/1.2/vts/functional/BasicTests.cpp (on query)"
    expect(found, [f"  requirement: {sentence}", f"  source: {source}"], "what is said of the rule")


@_checks.case("exit.codes")
def exit_codes(_: CaseContext) -> None:
    """0 for nothing wrong, 1 for something, 3 for a bug of the suite."""
    bodies = {"pass": passing, "refused": raising(NotSupported("no"))}
    expect(run(bodies).results.exit_code, 0, "exit code of a green run")
    for error in (Failed("wrong"), Crashed("died"), Hung("silent")):
        expect(run({"red": raising(error), **bodies}).results.exit_code, 1, f"exit code with {error!r}")
    expect(_mixed().results.exit_code, 3, "exit code with a suite error")


@_checks.case("exit.skip_is_no_pass")
def skip_is_no_pass(_: CaseContext) -> None:
    """Where everything is rejected nothing is conformant, and the run says what was left out."""
    little = run({"case": raising(NotSupported("no"))})
    expect(little.results.conformant, False, "conformant with nothing passed")
    expect(little.results.counts, {"not-supported": 1}, "counts")
    expect(len(little.results.unsupported), 1, "operations listed as not supported")


@_checks.case("exit.budget_leaves_out")
def budget_leaves_out(_: CaseContext) -> None:
    """Cases that the budget does not reach are named, and the run shows nothing."""
    little = run({"one": passing, "two": passing}, seconds=0.0)
    expect(len(little.results.left_out), 2, "cases left out")
    expect(little.results.conformant, False, "conformant with cases left out")


@_checks.case("exit.baseline")
def baseline(_: CaseContext) -> None:
    """Against a baseline only regressions are red, and lost support is a regression."""
    before = run({"one": passing, "two": raising(Failed("wrong")), "three": passing}).results
    worse = {"one": raising(NotSupported("no")), "two": raising(Failed("wrong")), "three": raising(Failed("wrong"))}
    expect(len(run(worse, baseline=Baseline(before)).results.red), 2, "regressions")


@_checks.case("subject.restarts")
def restarts(_: CaseContext) -> None:
    """A crash and a hang restart the subject, a failure does not."""
    subject = FakeSubject()
    run({"a": raising(Crashed("died")), "b": raising(Hung("silent")), "c": raising(Failed("wrong"))}, subject)
    expect(subject.restarts, 2, "restarts")


@_checks.case("subject.quiet_death")
def quiet_death(_: CaseContext) -> None:
    """A death after a case that passed is a crash of that case, and not of the next one."""
    subject = FakeSubject()

    def dies(context: CaseContext) -> None:
        subject.living = False

    expect(run({"dies": dies, "next": passing}, subject).outcomes(), {"dies": "crash", "next": "pass"}, "outcomes")


@_checks.case("subject.pools_closed")
def pools_closed(_: CaseContext) -> None:
    """Pools of a case are closed, even if it failed."""
    subject = FakeSubject()

    def body(context: CaseContext) -> None:
        context.pool(8)
        raise Failed("wrong")

    run({"case": body}, subject)
    expect([pool.closed for pool in subject.pools], [True], "closed pools")


@_checks.case("selection.expression")
def expression(_: CaseContext) -> None:
    """-k understands and, or, not and parentheses."""
    matches = compile_expression("(add or mul) and not quant8")
    found = [matches(name) for name in ("vts.x.ADD.float", "vts.x.ADD.quant8", "vts.x.MUL.float", "vts.x.SUB.float")]
    expect(found, [True, False, True, False], "cases that are selected")


@_checks.case("selection.shards")
def shards(_: CaseContext) -> None:
    """Shards are disjoint and leave nothing out."""
    chosen = [make_case(f"case_{number}") for number in range(20)]
    dealt = [case.id for part in partition(chosen, 3) for case in part]
    expect(sorted(dealt), sorted(case.id for case in chosen), "cases in all shards")


@_checks.case("selection.seeds")
def case_seeds(_: CaseContext) -> None:
    """Each case has a seed of its own, which follows from the run's seed and its id."""
    known = {seeds.case_seed(seed, name) for seed in (0, 1) for name in ("a", "b")}
    expect(len(known), 4, "different seeds")
    expect(seeds.case_seed(0, "a"), seeds.case_seed(0, "a"), "the seed, asked for again")
