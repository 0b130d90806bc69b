"""Runs the suites from pytest through the engine of the command: the hooks of a run, the fixtures, the summary.

Loaded only in runs with --npu-plugin. Cases skip pytest's set-up, call and tear-down machinery: they have no fixtures,
and the engine isolates them already; that keeps an empty item near the cost of its report.
"""

from __future__ import annotations

import sys
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from npu_conformance.harness.judge.outcome_table import OK, SUITE_FAILED
from npu_conformance.harness.judge.verdicts import NoSharedMemory
from npu_conformance.harness.pytest_plugin import collecting, reporting, workers
from npu_conformance.harness.pytest_plugin.collecting import SEEN, CaseItem
from npu_conformance.harness.pytest_plugin.reporting import Explainer, usage_error
from npu_conformance.harness.pytest_plugin.workers import Controller, Worker, is_controller, is_worker
from npu_conformance.harness.python_processes import wait_for_children
from npu_conformance.harness.report.writing import UnwritableError
from npu_conformance.harness.run.budget import parse_budget
from npu_conformance.harness.run.cases import Case, Scope
from npu_conformance.harness.run.diagnostics import diagnosed
from npu_conformance.harness.run.recording import unexecuted
from npu_conformance.harness.run.selection import Selected, Wanted
from npu_conformance.harness.run.session import Session, Summary
from npu_conformance.harness.run.session_options import SessionOptions
from npu_conformance.harness.subject.loading import LoadError
from npu_conformance.specs.documents import DocumentError
from npu_conformance.specs.documents.results import CaseResult, Selection
from npu_conformance.specs.errors import NotVisible
from npu_conformance.specs.outcomes import Outcome

if TYPE_CHECKING:
    from npu_conformance.harness.subject.handle import SubjectHandle
    from npu_conformance.specs.neuralnetworks.hal import Device

_SESSION = pytest.StashKey[Session]()
_EXPLAINER = pytest.StashKey[Explainer]()
_WORKER = pytest.StashKey[Worker]()
_SUMMARY = pytest.StashKey[Summary]()
_ENDED_IN_ONE_LINE = pytest.StashKey[bool]()
_NOT_STARTED = pytest.StashKey[str]()
"""Why the subject of a worker could not be started."""


def pytest_configure(config: pytest.Config) -> None:
    """Register the marker and read the options; the subject starts when the first case needs it."""
    wait_for_children()
    config.addinivalue_line("markers", "requirement(id): the test is evidence for this requirement")
    try:
        config.stash[_SESSION] = Session(_options(config))
        _enter(config)
    except DocumentError as error:
        raise usage_error(error) from None
    config.stash[_EXPLAINER] = Explainer(config.stash[_SESSION])
    config.stash[_WORKER] = Worker()
    config.stash[SEEN] = {}
    collecting.require_balanced(config)
    collecting.name_by_file(config)


def _enter(config: pytest.Config) -> None:
    """Until the run ends: register the extensions of --npu-catalogue, write logs and a trace. DocumentError."""
    entered = ExitStack()
    config.add_cleanup(entered.close)
    folders = config.getoption("--npu-catalogue")
    if folders:
        from npu_conformance.corpus import extensions
        from npu_conformance.corpus.extensions import guarding

        if not is_worker(config):
            guarding.tried(map(Path, folders))
        entered.enter_context(extensions.registered(map(Path, folders)))
    if is_worker(config):  # workers of pytest-xdist write into the files of the process that starts them
        return
    files = [config.getoption(name) for name in ("--npu-trace", "--npu-log", "--npu-wire-log")]
    if any(files):
        entered.enter_context(diagnosed(*(Path(file) if file else None for file in files)))


def _options(config: pytest.Config) -> SessionOptions:
    option = config.getoption
    budget = option("--npu-budget")
    return SessionOptions(
        plugin=option("--npu-plugin"),
        plugin_options=tuple(option("--npu-option")),
        hal=option("--npu-hal"),
        isolation=option("--npu-isolation"),
        transports=tuple(option("--npu-transport")),
        inference_tool=option("--npu-inference-tool"),
        inference_tool_uid=option("--npu-inference-tool-uid"),
        reset_command=option("--npu-reset-command"),
        reset_seconds=option("--npu-reset-seconds"),
        longest_wait=option("--npu-longest-wait"),
        patience=option("--npu-patience"),
        beside=option("--npu-beside"),
        beside_options=tuple(option("--npu-beside-option")),
        scope=option("--npu-scope"),
        time_scale=option("--npu-time-scale"),
        waivers=tuple(option("--npu-waivers")),
        baseline=option("--npu-baseline"),
        require_conformant=option("--npu-require-conformant"),
        vectors=tuple(option("--npu-vectors")),
        catalogues=tuple(option("--npu-catalogue")),
        report=workers.report_folder(config) if is_worker(config) else option("--npu-report") or "",
        keep=option("--npu-keep"),
        seed=option("--npu-seed"),
        shuffle=option("--npu-shuffle"),
        resume=option("--npu-resume"),
        seconds=parse_budget(budget) if budget else None,
        at_once=workers.count(config) if is_worker(config) else 1,
    )


def pytest_report_header(config: pytest.Config) -> list[str]:
    """Name the plug-in and the seed, so that a log is enough to repeat the run; and what is not done with cases."""
    options = config.stash[_SESSION].options
    return [_words_of(options), *collecting.ignored(config)]


def _words_of(options: SessionOptions) -> str:
    return f"npu-conformance: --npu-plugin={options.plugin} --npu-seed={options.seed} --npu-scope={options.scope}"


@pytest.hookimpl(tryfirst=True)
def pytest_sessionstart(session: pytest.Session) -> None:
    """Take part in a run of pytest-xdist, before its workers start."""
    config = session.config
    if not is_controller(config):
        return
    if config.getoption("--npu-resume"):
        raise pytest.UsageError("--npu-resume works with one process only: leave out -n, or give -n 0")
    if config.getoption("dist") == "each":
        raise pytest.UsageError("--dist=each would run each case several times: choose another way to distribute")
    config.pluginmanager.register(Controller(config.stash[_SESSION], config.stash[_EXPLAINER]))


@pytest.hookimpl(wrapper=True)
def pytest_collect_file(
    file_path: Path, parent: pytest.Collector
) -> Generator[None, list[pytest.Collector], list[pytest.Collector]]:
    """Collect the cases of an area, once; pytest itself would import a suite's modules under other names."""
    others = yield
    if collecting.suite_of(file_path) is None:
        return others
    area = collecting.area_file(file_path, parent)
    return [area] if area is not None else []


@pytest.hookimpl(tryfirst=True)
def pytest_make_collect_report(collector: pytest.Collector) -> pytest.CollectReport | None:
    """Let --lf look into every area: it passes over files by paths, which the ids of areas need not be."""
    if not isinstance(collector, collecting.AreaFile):
        return None
    runner: Any = collector.config.pluginmanager.get_plugin("runner")
    report: pytest.CollectReport = runner.pytest_make_collect_report(collector)
    return report


@pytest.hookimpl(tryfirst=True)
def pytest_collection(session: pytest.Session) -> None:
    """Let the plug-in's import run beside the collection."""
    if collecting.is_to_execute(session.config):
        try:
            session.config.stash[_SESSION].prepare()
        except (LoadError, DocumentError) as error:
            raise usage_error(error) from None


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> Generator[None, object, object]:
    """Choose among the cases as the command does."""
    # What is left of the cases meets -k already: only other tests need pytest's reading of it.
    is_ours = all(isinstance(item, CaseItem) for item in items) and collecting.read_expression(config) is not None
    keyword = config.option.keyword
    config.option.keyword = "" if is_ours else keyword
    try:
        result = yield
    except pytest.UsageError:
        items.clear()  # pytest would go on to start the subject for what nobody has asked for
        raise
    finally:
        config.option.keyword = keyword
    try:
        collecting.arrange(config, items)
    except DocumentError as error:
        items.clear()
        raise usage_error(error) from None
    return result


def pytest_collection_finish(session: pytest.Session) -> None:
    """Start the subject once it is known what will run."""
    config = session.config
    cases = [item.case for item in session.items if isinstance(item, CaseItem)]
    if not cases or not collecting.is_to_execute(config):
        return
    try:
        with _one_line(config):
            _start(config, cases)
    except (LoadError, DocumentError) as error:
        if not is_worker(config):
            raise usage_error(error) from None
        config.stash[_NOT_STARTED] = str(usage_error(error))
    else:
        _deselect_finished(session)


def _start(config: pytest.Config, cases: Sequence[Case]) -> None:
    ours = config.stash[_SESSION]
    ours.start(cases, _selection(config, cases), [config.stash[_WORKER]])
    ours.begin()


def _deselect_finished(session: pytest.Session) -> None:
    """Deselect what has its verdict from the run that is resumed."""
    ours = session.config.stash[_SESSION]
    if ours.options.resume:
        owed = [item for item in session.items if not isinstance(item, CaseItem) or ours.owes(item.case.id)]
        collecting.deselect(session.config, session.items, owed)


@contextmanager
def _one_line(config: pytest.Config) -> Iterator[None]:
    """End the run in one line where the report cannot be written, or no memory be shared, as the command does."""
    try:
        yield
    except (UnwritableError, NoSharedMemory) as error:
        config.stash[_ENDED_IN_ONE_LINE] = True
        pytest.exit(f"npu-conformance: {error}", SUITE_FAILED)


def _selection(config: pytest.Config, taken: Sequence[Case]) -> Selection:
    """What was asked for, with how much it leaves out."""
    ours = config.stash[_SESSION]
    names = config.stash.get(collecting.OF_SHARDS, frozenset(case.id for case in taken))
    seen = [case for cases in config.stash[SEEN].values() for case in cases]
    chosen, others = [case for case in seen if case.id in names], [case for case in seen if case.id not in names]
    wanted = Wanted(
        targets=collecting.targets(config),
        expression=config.getoption("keyword") or "",
        scope=Scope(ours.options.scope),
        shard=config.getoption("--npu-shard"),
    )
    left = Selected(chosen, others)
    return wanted.described(left.deselected(ours.subject.manifest, ours.subject.version))


def pytest_report_collectionfinish(config: pytest.Config, items: Sequence[pytest.Item]) -> list[str]:
    """Say where -k leaves nothing, and a word of it may be misspelt."""
    return [] if items else collecting.idle_words_told(config)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item, nextitem: pytest.Item | None) -> bool | None:
    """Run a case and report it; leave other items to pytest, and all where it only plans."""
    config, hook = item.config, item.config.hook
    if not isinstance(item, CaseItem) or not collecting.is_to_execute(config):
        return None
    result = _verdict(item)
    if result is None:
        return True
    if config.get_verbosity() > 0:
        hook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
    first, *others = reporting.reports(item, result)
    if is_worker(config):
        config.stash[_WORKER].send(first, result)
    else:
        config.stash[_EXPLAINER].explain(first, result)
    for report in (first, *others):
        hook.pytest_runtest_logreport(report=report)
    return True


def _verdict(item: CaseItem) -> CaseResult | None:
    """The verdict of a case; None where the budget is used up."""
    ours = item.config.stash[_SESSION]
    if not ours.started:
        return unexecuted(item.case, Outcome.NOT_RUN, item.config.stash[_NOT_STARTED])
    owes_header = is_worker(item.config) and item.config.stash[_WORKER].owes_header
    with _one_line(item.config):
        return None if not owes_header and ours.is_over() else ours.run_case(item.case)


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Close the run: verdicts for what was not run, reports, and the exit status."""
    _silence_hypothesis(session.config)
    ours = session.config.stash[_SESSION]
    if not ours.started or is_worker(session.config):
        return
    if session.config.stash.get(_ENDED_IN_ONE_LINE, False):  # what has ended the run cannot be written now either
        return
    is_whole = session.exitstatus in (
        pytest.ExitCode.OK,
        pytest.ExitCode.TESTS_FAILED,
        pytest.ExitCode.NO_TESTS_COLLECTED,
    )
    if ours.options.seconds is not None and is_whole and not session.shouldfail:
        ours.leave_out_rest()  # workers of pytest-xdist, too, pass over in silence what the budget does not reach
    with _one_line(session.config):
        summary = session.config.stash[_SUMMARY] = ours.finish()
    if session.exitstatus == pytest.ExitCode.NO_TESTS_COLLECTED:  # of a resumed run nothing was left
        session.exitstatus = pytest.ExitCode.OK
    if session.exitstatus in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED) and summary.exit_code != OK:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def _silence_hypothesis(config: pytest.Config) -> None:
    """Where no test used hypothesis, drop its summary: to say nothing it would import all of it (0.2 to 0.4 s)."""
    plugin = config.pluginmanager.get_plugin("hypothesispytest")
    if plugin is not None and "hypothesis" not in sys.modules:
        config.pluginmanager.unregister(plugin)


def pytest_unconfigure(config: pytest.Config) -> None:
    """Leave nothing behind, also where the run was cut short."""
    if _SESSION in config.stash:
        config.stash[_SESSION].close()


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> Generator[None]:
    """Print the symptoms before pytest's failures, and the verdict table behind them."""
    summary = config.stash.get(_SUMMARY, None)
    if summary is None:
        yield
        return
    if symptoms := reporting.symptoms(summary):
        terminalreporter.section("npu-conformance: symptoms")
        _write(terminalreporter, symptoms)
    yield
    terminalreporter.section("npu-conformance")
    _write(terminalreporter, summary.lines(explained=False))


def _write(terminalreporter: Any, lines: Iterable[str]) -> None:
    """Print lines one by one: of what has a character that the terminal's encoding lacks pytest escapes all ends of
    lines as well.
    """
    for line in lines:
        terminalreporter.write_line(line)


@pytest.hookimpl(wrapper=True)
def pytest_pyfunc_call() -> Generator[None, object, object]:
    """Skip a test of the vendor's own at what its adapter cannot show: the cases of the suites do not apply there."""
    try:
        return (yield)
    except NotVisible as error:
        pytest.skip(f"the plug-in cannot show it: {error}")


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
