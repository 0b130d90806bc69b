"""Running cases by pytest: ids, -k, -m, -x, reports and errors are those that pytest's users know."""

from __future__ import annotations

from collections.abc import Callable
from xml.etree import ElementTree

import pytest
from places import ROOT

from npu_conformance.harness.run import results
from npu_conformance.harness.run.cases import Scope
from npu_conformance.harness.run.selection import Wanted, select_ids

pytest_plugins = ("pytester",)

Run = Callable[..., pytest.RunResult]

VTS = str(ROOT / "vts")
QUERIES = f"{VTS}/queries.py"
PLUGIN = "--npu-plugin=vendor_plugins:first_day"


def test_a_file(run: Run, pytester: pytest.Pytester) -> None:
    result = run(QUERIES)
    assert result.ret == 0
    result.assert_outcomes(passed=7, skipped=10)
    result.stdout.fnmatch_lines(
        [
            "npu-conformance: --npu-plugin=vendor_plugins:first_day --npu-seed=0 --npu-scope=default",
            "*= npu-conformance =*",
            "all *",
            "first-day 1 (HAL 1.0): not shown to be conformant:",
            "  not selected: * cases that may apply",
            "report: .npu-conformance/first-day/*Z-1.0-vts.queries (report.html, *",
        ]
    )
    home = pytester.path / ".npu-conformance" / "first-day"
    assert (home / "latest" / "report.html").exists()
    run(QUERIES, "-k", "ping", "--npu-keep", "2").assert_outcomes(passed=1)
    run(QUERIES, "-k", "ping", "--npu-keep", "2").assert_outcomes(passed=1)
    assert len([path for path in home.iterdir() if not path.is_symlink()]) == 2


def test_a_report_whose_path_is_no_text_costs_no_end_of_a_line(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONIOENCODING", "ascii")
    result = run("vts.validation.RELU.graph_indexes", "--npu-report=bericht ä")
    result.assert_outcomes(failed=1)
    said = ("  npu-conformance replay 'bericht *", "*= npu-conformance =*", "all *", "report: bericht *")
    result.stdout.fnmatch_lines(said)


def test_a_node_id_and_what_is_listed(run: Run) -> None:
    result = run(f"{QUERIES}::vts.queries.status.available")
    result.assert_outcomes(passed=1)
    result = run(QUERIES, "--co", "-q")
    assert result.ret == 0
    result.stdout.fnmatch_lines(["*queries.py::vts.queries.status.available"])


def test_a_subject_is_all_of_its_cases(run: Run) -> None:
    listed = run("vts.generated.RELU6", "--co", "-q").outlines
    named = {line.partition("::")[2] for line in listed if "::" in line}
    assert named == set(select_ids(Wanted(("vts.generated.RELU6",))))
    listed = run("vts.generated.RELU6", "--npu-scope", "smoke", "--co", "-q").outlines
    named = {line.partition("::")[2] for line in listed if "::" in line}
    assert named == set(select_ids(Wanted(("vts.generated.RELU6",), scope=Scope.SMOKE)))


def test_a_case_that_the_scope_leaves_out_is_told_so(run: Run) -> None:
    smoke = set(select_ids(Wanted(("vts.generated.RELU6",), scope=Scope.SMOKE)))
    left_out = min(set(select_ids(Wanted(("vts.generated.RELU6",)))) - smoke)
    result = run(left_out, "--npu-scope", "smoke")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([f"ERROR: {left_out.replace('[', '[[]')}: is not in scope smoke: --npu-scope default"])


@pytest.mark.parametrize(
    ("word", "meant"),
    [
        ("vts.generated.P*", "pytest takes no globs: choose by -k"),
        ("vts.querie", "did you mean vts.queries?"),
        ("cts.runtime", "the areas of cts are npu_manager npu_buffers "),
    ],
)
def test_a_word_that_means_no_case_is_told_what_does(run: Run, word: str, meant: str) -> None:
    result = run(word)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([f"ERROR: {word}: matches no case; {meant}*"])


def test_a_misspelt_word_is_told_where_it_leaves_nothing(run: Run) -> None:
    result = run(VTS, "-k", "ADDD")
    assert result.ret == pytest.ExitCode.NO_TESTS_COLLECTED
    result.stdout.fnmatch_lines(["-k: no case has ADDD (did you mean ADD?)"])


def test_a_selection_by_words_and_by_requirement(run: Run) -> None:
    run(VTS, "-k", "queries and positive").assert_outcomes(passed=1)
    by_requirement = run(QUERIES, "-m", "requirement(id='NNHAL-QUERY-001')")
    assert by_requirement.parseoutcomes()["passed"] == 1
    assert by_requirement.parseoutcomes()["deselected"] > 10


def test_a_failure_is_explained_and_ends_the_run_with_x(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "400")  # the short summary has what fits into a line
    result = run(f"{VTS}/validation.py", "-k", "RELU6", "-x", "-rsf")
    assert result.ret == 1
    assert result.parseoutcomes()["failed"] == 1
    result.stdout.fnmatch_lines(
        [
            "FAIL RELU6 NNHAL-MODEL-*: vts.validation.RELU6.*: *expected INVALID_ARGUMENT*",
            "  case: *",
            "  requirement: * (NNHAL-MODEL-*)",
            "  source: AOSP *",
            "  expected: INVALID_ARGUMENT*",
            "  npu-conformance replay .npu-conformance/first-day/*/failures/vts.validation.RELU6.*.json --plugin *",
            "FAILED *::vts.validation.RELU6.* - *getSupportedOperations*",
        ]
    )


@pytest.mark.parametrize(
    ("words", "about"),
    [
        (("vts.queries.liveness",), "vts.queries.liveness.ping"),
        (("vts.queries.capabilities",), "vts.queries.capabilities"),
        (("vts.queries.liveness", "vts.queries.status"), "vts.queries"),
        (("vts.queries.repeatability.same_answers", "vts.queries.repeatability.after_restart"), "vts.queries"),
        (("vts.queries", "vts.queries.liveness"), "vts.queries"),
    ],
)
def test_the_folder_is_called_as_what_was_asked_for(
    run: Run, pytester: pytest.Pytester, words: tuple[str, ...], about: str
) -> None:
    run(*words)
    assert (pytester.path / ".npu-conformance/first-day/latest").readlink().name.endswith(f"-1.0-{about}")


def test_what_two_words_mean_runs_once(run: Run) -> None:
    run("--pyargs", "npu_conformance.vts", "-k", "ping", "vts.queries.liveness.ping").assert_outcomes(passed=1)


def test_what_is_skipped_is_counted_by_reason(run: Run) -> None:
    run(QUERIES, "-rs").stdout.fnmatch_lines(["SKIPPED [[]*[]] *queries.py:0: not-applicable: since 1.2, *"])


def test_junit_has_a_test_case_for_each_case(run: Run, pytester: pytest.Pytester) -> None:
    run(QUERIES, "--junitxml=junit.xml")
    suite = ElementTree.parse(pytester.path / "junit.xml").getroot()[0]
    assert (suite.get("tests"), suite.get("skipped"), suite.get("failures")) == ("17", "10", "0")
    assert all(case.get("classname", "").endswith("vts.queries") for case in suite)


def test_external_vectors_are_collected(run: Run) -> None:
    vectors = ROOT / "corpus" / "vectors" / "relu6.json"
    result = run(f"{VTS}/external.py", f"--npu-vectors={vectors}", plugin="--npu-plugin=reference")
    assert result.ret == 0
    assert result.parseoutcomes()["passed"] > 10


def test_external_vectors_of_two_places_are_collected(run: Run) -> None:
    places = [f"--npu-vectors={ROOT / 'corpus' / 'vectors' / name}.json" for name in ("relu", "relu6")]
    result = run(f"{VTS}/external.py", *places, "--collect-only", "-q")
    assert {line.split(".")[3] for line in result.outlines if "::vts.external." in line} == {"RELU", "RELU6"}
    result = run(f"{VTS}/external.py", places[0], *places)
    result.stdout.fnmatch_lines(["--npu-vectors: *relu.json: vts.external.RELU.* is in *relu.json, too"])


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (["--npu-plugin=nonsense", QUERIES], "unknown plug-in 'nonsense'"),
        ([PLUGIN, "--npu-hal=9", QUERIES], "--npu-hal: unknown HAL version '9'"),
        ([PLUGIN, "--npu-option=speed", QUERIES], "expected NAME=VALUE, found 'speed'"),
        ([PLUGIN, "--npu-option=sped=1", QUERIES], "has no option 'sped'; it has speed"),
        ([PLUGIN, "--npu-waivers=nowhere", QUERIES], "nowhere: No such file or directory"),
    ],
)
def test_bad_options_are_one_line(run: Run, arguments: list[str], line: str) -> None:
    result = run(*arguments, plugin="")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert [each for each in result.errlines if line in each and each.startswith("ERROR: ")]


def test_vectors_that_are_none_are_one_line(run: Run) -> None:
    result = run(f"{VTS}/external.py", "--npu-vectors=nowhere")
    assert result.ret == pytest.ExitCode.INTERRUPTED
    result.stdout.fnmatch_lines(["--npu-vectors: nowhere: *"])


def test_a_vendors_own_tests_get_the_device(run: Run, pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        """
        def test_device(npu_device):
            assert npu_device.get_status() == 0

        def test_subject(npu_subject):
            assert npu_subject.manifest.name == "first-day"
        """
    )
    run().assert_outcomes(passed=2)
    broken = run(plugin="--npu-plugin=nonsense")
    broken.assert_outcomes(errors=2)
    assert "Traceback" not in broken.stdout.str()


def test_a_vendors_own_test_is_skipped_at_what_its_adapter_cannot_show(run: Run, pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        """
        from npu_conformance.specs.errors import NotVisible

        def test_capabilities(npu_device):
            raise NotVisible("a C API has no capabilities")
        """
    )
    result = run("-rs")
    result.assert_outcomes(skipped=1)
    result.stdout.fnmatch_lines(["*the plug-in cannot show it: a C API has no capabilities"])


def test_a_word_that_pytest_cannot_read_leaves_no_run(run: Run, pytester: pytest.Pytester) -> None:
    result = run("vts.queries", "-k", "ping and")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["ERROR: Wrong expression passed to '-k': ping and: *"])
    assert not (pytester.path / ".npu-conformance").exists()


@pytest.mark.parametrize(
    "words", [("--pyargs", "npu_conformance.vts"), (QUERIES,), (f"{VTS}::vts.queries",), ("vts.generated.ADD",)]
)
def test_a_suite_wants_a_plug_in(run: Run, words: tuple[str, ...]) -> None:
    result = run(*words, plugin="")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([f"ERROR: {words[-1]}: give --npu-plugin=P, the implementation under test"])


@pytest.mark.parametrize("workers", ["0", "1"])
def test_what_verbose_prints_can_be_pasted_back(run: Run, workers: str) -> None:
    shown = run("vts.queries.liveness.ping", "-vv", "-n", workers).outlines
    (node,) = {word for line in shown for word in line.split() if "::" in word}
    run(node).assert_outcomes(passed=1)


@pytest.mark.parametrize("fixture", ["npu_subject", "npu_device"])
def test_a_fixture_without_a_plug_in_says_what_is_missing(pytester: pytest.Pytester, fixture: str) -> None:
    pytester.makepyfile(f"def test_own({fixture}): pass")
    result = pytester.runpytest_inprocess()
    result.stdout.fnmatch_lines(["npu_subject: give --npu-plugin=P, the implementation under test"])
    assert result.parseoutcomes() == {"errors": 1}


def test_the_mistake_of_another_plug_in_loses_no_verdict(run: Run, pytester: pytest.Pytester) -> None:
    pytester.makeconftest(
        """
        def pytest_runtest_logreport(report):
            if report.when == "call":
                raise RuntimeError("another plug-in's mistake")
        """
    )
    found = run("vts.queries", "--npu-report=kept")
    assert found.ret == pytest.ExitCode.INTERNAL_ERROR
    kept = results.read(pytester.path / "kept" / "results.json")
    assert kept.counts["pass"] == 1
    assert kept.counts["not-run"] > 1


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["vts.generated.TANHH"], "vts.generated.TANHH: matches no case; did you mean vts.generated.TANH"),
        (["vts.queries.liveness.pin", "-n", "2"], "matches no case; did you mean vts.queries.liveness.ping"),
        (["vts", "-k", "(ping"], "-k '(ping': the brackets do not match"),
    ],
)
def test_what_means_no_case_is_told_before_anything_is_collected(run: Run, words: list[str], told: str) -> None:
    result = run(*words)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([f"ERROR: *{told.replace('[', '[[]')}*"])


def test_junit_has_the_same_names_wherever_the_suite_is_installed(run: Run, pytester: pytest.Pytester) -> None:
    pytester.makeini("[pytest]")
    result = run("--rootdir", str(pytester.path), "vts.queries.liveness.ping", "--junitxml", "j.xml", "-v")
    result.stdout.fnmatch_lines(["vts.queries::vts.queries.liveness.ping PASSED*"])
    case = next(ElementTree.parse(pytester.path / "j.xml").getroot().iter("testcase"))
    assert (case.get("classname"), case.get("name")) == ("vts.queries", "vts.queries.liveness.ping")
    run("--rootdir", str(pytester.path), "vts.queries::vts.queries.liveness.ping").assert_outcomes(passed=1)


def test_an_expression_that_leaves_nothing_of_what_is_named_deselects_it(run: Run) -> None:
    result = run("vts.generated.TANH", "-k", "ping")
    assert result.ret == pytest.ExitCode.NO_TESTS_COLLECTED
    result.stdout.fnmatch_lines(["*deselected*"])


def test_a_timeout_of_pytest_leaves_cases_alone(run: Run, pytester: pytest.Pytester) -> None:
    """It would raise its own exception in the midst of the engine: a hang was an internal error, and not run."""
    pytester.makepyfile(
        others_plugin="""
        def pytest_addoption(parser):
            parser.addoption("--timeout", type=float)
            parser.addini("timeout", "seconds")
            parser.addoption("--reruns", type=int)

        def pytest_configure(config):
            config.pluginmanager.register(object(), "timeout")
            config.addinivalue_line("markers", "timeout: as pytest-timeout has it")

        def pytest_collection_finish(session):
            print("seconds", [item.get_closest_marker("timeout").args for item in session.items])
    """
    )
    result = run("-p", "others_plugin", QUERIES, "-k", "ping", "--timeout", "1", "--reruns", "2", "-s")
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(
        ["npu-conformance: pytest-timeout leaves*", "npu-conformance: pytest-rerunfailures does not*", "seconds *(0,)*"]
    )
