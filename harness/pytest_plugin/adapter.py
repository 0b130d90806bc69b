"""Runs cases from pytest through the engine: light items, reports made from verdicts, fixtures, the summary.

Loaded only in runs with --npu-plugin. Cases skip pytest's set-up, call and tear-down machinery: they have no fixtures,
and the engine isolates them already; that keeps an empty item near the cost of its report.
"""

from __future__ import annotations

import importlib.util
import sys
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from npu_conformance.harness.judge.outcome_table import OK, SUITE_FAILED, row
from npu_conformance.harness.report.writing import UnwritableError
from npu_conformance.harness.run import suites
from npu_conformance.harness.run.cases import Case, Scope
from npu_conformance.harness.run.expression import compile_expression
from npu_conformance.harness.run.recording import unexecuted
from npu_conformance.harness.run.selection import Selected, Wanted
from npu_conformance.harness.run.session import Session, Summary
from npu_conformance.harness.run.session_options import SessionOptions
from npu_conformance.harness.subject.loading import LoadError
from npu_conformance.harness.wire import wire_log
from npu_conformance.specs.documents import DocumentError
from npu_conformance.specs.documents.results import CaseResult, Selection
from npu_conformance.specs.outcomes import Outcome

if TYPE_CHECKING:
    from npu_conformance.harness.report.symptoms import Cause
    from npu_conformance.harness.subject.handle import SubjectHandle
    from npu_conformance.specs.neuralnetworks.hal import Device

_SESSION = pytest.StashKey[Session]()
_SUMMARY = pytest.StashKey[Summary]()
# Each worker of xdist would know only a part of the verdicts, and no process the result of the whole run.
_ONE_PROCESS = "the suites run in one process of pytest (-n 0); in several: npu-conformance run -n N --plugin P"
_SEEN = pytest.StashKey[dict[str, list[Case]]]()
"""The cases of each area that was collected, those that -k left out included."""
_FIRST = pytest.StashKey[dict["Cause", str]]()
"""The first red case of each symptom."""


def pytest_configure(config: pytest.Config) -> None:
    """Register the marker and read the options; the subject starts when the first case needs it."""
    config.addinivalue_line("markers", "requirement(id): the test is evidence for this requirement")
    config.stash[_SESSION] = Session(_options(config))
    _register_catalogues(config)
    _log_the_wire(config)
    config.stash[_SEEN] = {}
    config.stash[_FIRST] = {}


def _register_catalogues(config: pytest.Config) -> None:
    """Register the extensions of --npu-catalogue until the run ends."""
    folders = config.getoption("--npu-catalogue")
    if not folders:
        return
    from npu_conformance.corpus import extensions

    registered = ExitStack()
    try:
        registered.enter_context(extensions.registered(map(Path, folders)))
    except DocumentError as error:
        raise pytest.UsageError(f"--npu-catalogue: {error}") from None
    config.add_cleanup(registered.close)


def _log_the_wire(config: pytest.Config) -> None:
    """Log the messages into the file of --npu-wire-log until the run ends."""
    file = config.getoption("--npu-wire-log")
    if not file:
        return
    try:
        wire_log.begin(Path(file))
    except OSError as error:
        raise pytest.UsageError(f"--npu-wire-log: {file}: {error.strerror}") from None
    config.add_cleanup(wire_log.end)


def _options(config: pytest.Config) -> SessionOptions:
    option = config.getoption
    return SessionOptions(
        plugin=option("--npu-plugin"),
        plugin_options=tuple(option("--npu-option")),
        hal=option("--npu-hal"),
        isolation=option("--npu-isolation"),
        transports=tuple(option("--npu-transport")),
        inference_tool=option("--npu-inference-tool"),
        inference_tool_uid=option("--npu-inference-tool-uid"),
        scope=option("--npu-scope"),
        waivers=option("--npu-waivers"),
        vectors=option("--npu-vectors"),
        catalogues=tuple(option("--npu-catalogue")),
        report=option("--npu-report") or "",
        keep=option("--npu-keep"),
        seed=option("--npu-seed"),
    )


def pytest_report_header(config: pytest.Config) -> str:
    """Name the plug-in and the seed, so that a log is enough to repeat the run."""
    options = config.stash[_SESSION].options
    return f"npu-conformance: --npu-plugin={options.plugin} --npu-seed={options.seed} --npu-scope={options.scope}"


@pytest.hookimpl(wrapper=True)
def pytest_collect_file(
    file_path: Path, parent: pytest.Collector
) -> Generator[None, list[pytest.Collector], list[pytest.Collector]]:
    """Collect the cases of an area, once; pytest itself would import a suite's modules under other names."""
    others = yield
    suite = _suite_of(file_path)
    if suite is None:
        return others
    area = _areas(suite).get(file_path.resolve())
    asked = area is not None or parent.session.isinitpath(file_path)
    return [_area_file(file_path, parent, suite, area)] if asked else []


def _area_file(path: Path, parent: pytest.Collector, suite: str, area: str | None) -> AreaFile:
    # For a file outside its root folder pytest would print only the end of the path, which cannot be asked for again.
    nodeid = None if path.is_relative_to(parent.config.rootpath) else str(path)
    return AreaFile.from_parent(parent, path=path, nodeid=nodeid, suite=suite, area=area)


class AreaFile(pytest.File):
    """One area of a suite, a module or package with `cases()`; without an area, a file named as if it were one."""

    def __init__(self, *, suite: str, area: str | None, **arguments: Any) -> None:
        super().__init__(**arguments)
        self.suite = suite
        self.area = area

    def collect(self) -> Iterator[pytest.Item]:
        """Yield an item for each case that -k leaves; headers only."""
        wanted = self._filter()
        session = self.config.stash[_SESSION]
        for case in self._cases():
            if wanted(case.id) and session.in_scope(case):
                yield CaseItem.from_parent(self, name=case.id, case=case)

    def _cases(self) -> list[Case]:
        """The area's own cases, and those over vectors from outside where it can make them."""
        if self.area is None:
            known = " ".join(suites.areas(self.suite))
            raise self.CollectError(f"{self.path}: not an area of {self.suite}, which has {known}")
        area = suites.area(self.suite, self.area)
        vectors = self.config.getoption("--npu-vectors")
        try:
            outside = list(area.cases_from(Path(vectors))) if vectors and hasattr(area, "cases_from") else []
        except DocumentError as error:
            raise self.CollectError(f"--npu-vectors: {error}") from None
        found = self.config.stash[_SEEN][f"{self.suite}.{self.area}"] = [*area.cases(), *outside]
        return found

    def _filter(self) -> Callable[[str], bool]:
        """-k as a function of an id. What pytest's language has beyond ours is left to pytest."""
        try:
            return compile_expression(self.config.getoption("keyword") or "")
        except DocumentError:
            return lambda case_id: True


class CaseItem(pytest.Item):
    """One case."""

    def __init__(self, *, case: Case, **arguments: Any) -> None:
        super().__init__(**arguments)
        self.case = case
        if self.config.getoption("markexpr"):
            for requirement in case.requirements:
                self.add_marker(pytest.mark.requirement(id=requirement))

    def reportinfo(self) -> tuple[Path, int | None, str]:
        """Where the case is from."""
        return self.path, None, self.name

    def runtest(self) -> None:
        """This is never called: `pytest_runtest_protocol` runs cases through the engine."""
        raise NotImplementedError


@pytest.hookimpl(tryfirst=True)
def pytest_collection(session: pytest.Session) -> None:
    """Let the plug-in's import run beside the collection; where xdist has workers, they start their own."""
    config = session.config
    if not config.getoption("collectonly") and not config.pluginmanager.has_plugin("dsession"):
        try:
            config.stash[_SESSION].prepare()
        except (LoadError, DocumentError) as error:
            raise pytest.UsageError(str(error)) from None


@pytest.hookimpl(tryfirst=True)
def pytest_sessionstart(session: pytest.Session) -> None:
    """Refuse to run suites in workers of xdist, before those start."""
    config = session.config
    named = (argument.partition("::")[0] for argument in config.args)
    if config.pluginmanager.has_plugin("dsession") and any(_is_of_suites(config, name) for name in named):
        raise pytest.UsageError(_ONE_PROCESS)


def _is_worker(config: pytest.Config) -> bool:
    """True in a worker of xdist."""
    return hasattr(config, "workerinput")


def _is_of_suites(config: pytest.Config, argument: str) -> bool:
    """True where a word of the command line names a suite, or something in one: as a module or as a path."""
    path = config.invocation_params.dir / argument
    return argument.startswith(f"{suites.PACKAGE}.") or _suite_of(path) is not None


def _suite_of(path: Path) -> str | None:
    """The suite that a path is, or is in."""
    real = path.resolve()
    return next((suite for folder, suite in _folders().items() if real.is_relative_to(folder)), None)


@cache
def _folders() -> dict[Path, str]:
    specs = {suite: importlib.util.find_spec(f"{suites.PACKAGE}.{suite}") for suite in suites.SUITES}
    return {
        Path(folder).resolve(): suite
        for suite, spec in specs.items()
        for folder in (spec.submodule_search_locations if spec else None) or ()
    }


@cache
def _areas(suite: str) -> dict[Path, str]:
    """The area of each file that is imported as one: a module, or the __init__.py of a package."""
    specs = {area: importlib.util.find_spec(f"{suites.PACKAGE}.{suite}.{area}") for area in suites.areas(suite)}
    return {Path(spec.origin).resolve(): area for area, spec in specs.items() if spec and spec.origin}


def pytest_collection_finish(session: pytest.Session) -> None:
    """Start the subject once it is known what will run."""
    cases = [item.case for item in session.items if isinstance(item, CaseItem)]
    if cases and not session.config.getoption("collectonly") and not _is_worker(session.config):
        try:
            with _one_line():
                session.config.stash[_SESSION].start(cases, _selection(session.config, cases))
                session.config.stash[_SESSION].begin()
        except (LoadError, DocumentError) as error:
            raise pytest.UsageError(str(error)) from None


@contextmanager
def _one_line() -> Iterator[None]:
    """End the run in one line where the report cannot be written, as the command does."""
    try:
        yield
    except UnwritableError as error:
        pytest.exit(f"npu-conformance: {error}", SUITE_FAILED)


def _selection(config: pytest.Config, taken: Sequence[Case]) -> Selection:
    """What was asked for, with how much it leaves out."""
    ours, seen, names = config.stash[_SESSION], config.stash[_SEEN], {case.id for case in taken}
    others = [case for cases in seen.values() for case in cases if case.id not in names]
    left = Selected(list(taken), others)
    wanted = Wanted(expression=config.getoption("keyword") or "", scope=Scope(ours.options.scope))
    return wanted.described(left.deselected(ours.subject.manifest, ours.subject.version))


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item, nextitem: pytest.Item | None) -> bool | None:
    """Run a case and report it; leave other items to pytest."""
    if not isinstance(item, CaseItem):
        return None
    started = time.time()
    if _is_worker(item.config):
        result = unexecuted(item.case, Outcome.NOT_RUN, _ONE_PROCESS)
    else:
        with _one_line():
            result = item.config.stash[_SESSION].run_case(item.case)
    hook = item.config.hook
    if item.config.get_verbosity() > 0:
        hook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
    for report in _reports(item, result, started):
        hook.pytest_runtest_logreport(report=report)
    return True


def _reports(item: CaseItem, result: CaseResult, started: float) -> Iterator[pytest.TestReport]:
    word = row(result.outcome, result.dispositions).pytest
    outcome: Any = {"passed": "passed", "skipped": "skipped", "xfailed": "skipped"}.get(word, "failed")
    report = pytest.TestReport(
        nodeid=item.nodeid,
        location=(str(item.path), None, item.name),
        keywords={},
        outcome=outcome,
        longrepr=_explanation(item, result, word),
        when="setup" if word == "error" else "call",
        duration=result.seconds,
        start=started,
        stop=started + result.seconds,
    )
    if word == "xfailed":
        report.wasxfail = "waived"
    yield report
    if item.config.getoption("xmlpath", None):
        # The JUnit writer closes a test case when it sees its tear-down.
        yield pytest.TestReport(item.nodeid, report.location, {}, "passed", None, "teardown")


def _explanation(item: CaseItem, result: CaseResult, word: str) -> Any:
    from npu_conformance.harness.report.lines import explain, first_reason, headline
    from npu_conformance.harness.report.symptoms import cause

    if word == "passed":
        return None
    if word in ("skipped", "xfailed"):
        # Without the id: pytest's summary then counts what was skipped for the same reason.
        return str(item.path), 0, f"{result.outcome.value}: {first_reason(result)}"
    replays = item.config.stash[_SESSION].replays
    whole = explain(result, replay=replays.of(result) if replays else "")
    first = item.config.stash[_FIRST].setdefault(cause(result), result.case)
    return Explanation(whole, whole if first == result.case else f"{headline(result)}\n  as explained at {first}")


class Explanation:
    """Why a case is red: in a line on the terminal where an earlier case of the same symptom is explained there."""

    def __init__(self, whole: str, shown: str) -> None:
        self.whole, self.shown = whole, shown

    def __str__(self) -> str:
        """All of it, for JUnit."""
        return self.whole

    def toterminal(self, tw: Any) -> None:
        """Print what the terminal shows."""
        tw.line(self.shown)


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Close the run: verdicts for what was not run, reports, and the exit status."""
    _silence_hypothesis(session.config)
    ours = session.config.stash[_SESSION]
    if not ours.started:
        return
    if session.exitstatus == SUITE_FAILED:  # what has ended the run cannot be written now either
        return
    with _one_line():
        summary = session.config.stash[_SUMMARY] = ours.finish()
    if session.exitstatus in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED) and summary.exit_code != OK:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def _silence_hypothesis(config: pytest.Config) -> None:
    """Where no test used hypothesis, drop its summary: to say nothing it would import all of it (0.2 to 0.4 s)."""
    plugin = config.pluginmanager.get_plugin("hypothesispytest")
    if plugin is not None and "hypothesis" not in sys.modules:
        config.pluginmanager.unregister(plugin)


def pytest_unconfigure(config: pytest.Config) -> None:
    """Leave nothing behind, also where the run was cut short."""
    config.stash[_SESSION].close()


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> Generator[None]:
    """Print the symptoms before pytest's failures, and the verdict table behind them."""
    summary = config.stash.get(_SUMMARY, None)
    if summary is not None:
        _print_symptoms(terminalreporter, summary)
    yield
    if summary is not None:
        terminalreporter.section("npu-conformance")
        for line in summary.lines(explained=False):
            terminalreporter.write_line(line)


def _print_symptoms(terminalreporter: Any, summary: Summary) -> None:
    from npu_conformance.harness.report import symptoms
    from npu_conformance.harness.report.summary import red_that_ran

    found = symptoms.grouped(red_that_ran(summary.verdicts))
    if found:
        terminalreporter.section("npu-conformance: symptoms")
    for line in symptoms.lines(found):
        terminalreporter.write_line(line)


@pytest.fixture(scope="session")
def npu_subject(request: pytest.FixtureRequest) -> SubjectHandle:
    """The implementation under test, for a vendor's own tests."""
    try:
        return request.config.stash[_SESSION].subject
    except (LoadError, DocumentError) as error:
        problem = str(error)
    pytest.fail(problem, pytrace=False)


@pytest.fixture
def npu_device(npu_subject: SubjectHandle) -> Device:
    """Its NN HAL device; the test is skipped where it has none."""
    device = npu_subject.interfaces.device
    if device is None:
        pytest.skip("the plug-in has no device interface")
    return device
