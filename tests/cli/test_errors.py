"""Bad input gets one line on stderr that says what is wrong and where, and exit code 2; a bug of ours gets 3."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from places import HOSTILE, ROOT

from npu_conformance.cli import main as front_door
from npu_conformance.cli.main import main

Outcome = tuple[int, str, str]
Command = Callable[..., Outcome]
RUN = ("run", "vts.queries", "--isolation", "inprocess", "--report", "report", "--plugin")
FIRST_DAY = "vendor_plugins:first_day"
CONSOLE_SCRIPT = "import sys; from npu_conformance.cli.main import main; sys.exit(main())"
"""What pip writes for an entry point."""


@pytest.fixture
def command(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Command:
    """Run a command in an empty folder, where the vendor's plug-ins can be imported."""
    monkeypatch.syspath_prepend(str(HOSTILE))
    monkeypatch.chdir(tmp_path)

    def run(*arguments: str) -> Outcome:
        try:
            code = main(arguments)
        except SystemExit as leaving:
            code = int(str(leaving.code))
        told = capsys.readouterr()
        return code, told.out, told.err

    return run


@pytest.fixture
def files(tmp_path: Path) -> None:
    """Files that are no documents, and one of a wrong type."""
    (tmp_path / "broken.json").write_text("garbage")
    (tmp_path / "typed.json").write_text('{"format": 1, "waivers": [{"id": "x", "requirement": 3}]}')
    (tmp_path / "deep.json").write_text("[" * 100_000)
    (tmp_path / "empty").mkdir()
    (tmp_path / "file").touch()


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        ([], "COMMAND"),
        (["bogus"], "there is no command 'bogus' (see "),
        (["serve", "reference"], "the argument --listen is required (see"),
        (["rn"], "there is no command 'rn' (did you mean run"),
        (["run"], "required: --plugin (see npu-conformance run --help)"),
        (
            ["run", "--plugn", "reference"],
            "unrecognized argument: --plugn: did you mean --plugin? (see npu-conformance run",
        ),
        (["run", "vts", "exec:./driver"], "did you mean --plugin exec:./driver? (see npu-conformance run --help)"),
        (["check", "--plugin", "exec:./driver"], "the plug-in is named without --plugin (see npu-conformance check"),
        (
            ["check", "reference", "--isolatoin=process"],
            "unrecognized argument: --isolatoin: did you mean --isolation?",
        ),
        (["check", "reference", "--frobnicate"], "unrecognized arguments: --frobnicate (see npu-conformance check"),
        (
            ["list", "vts", "-k", "ping", "vts.queries", "--frob"],
            "unrecognized arguments: vts.queries --frob",
        ),
        (
            [*RUN, FIRST_DAY, "vts.generated.RELU.float32_rank1#synchronous.specified.untimed"],
            "a configuration cannot be run alone; vts.generated.RELU.float32_rank1 runs all of them, and replay",
        ),
        (["completion", "tcsh"], "invalid choice: 'tcsh'"),
        ([*RUN, "referense"], "unknown plug-in 'referense' (did you mean reference?)"),
        ([*RUN, "no_such_module:plugin"], "plug-in no_such_module:plugin: no module named no_such_module"),
        (
            [*RUN, "no_such_module:plugin"],
            "it is neither installed nor in the current folder; start in the folder that holds no_such_module",
        ),
        ([*RUN, "vendor_plugins:frist_day"], "did you mean first_day?"),
        ([*RUN, "vendor_plugins:number"], "is an int, not a npu_conformance.specs.plugin.Plugin"),
        ([*RUN, "faulty_plugins:does_not_start"], "faulty_plugins.py:43: RuntimeError: no board"),
        ([*RUN, "wants_variable:plugin"], "wants_variable.py:7: KeyError: 'NPU_BOARD'"),
        (
            ["run", "vts.queries", "--plugin", "faulty_plugins:does_not_start"],
            "initialize: raised RuntimeError at faulty_plugins.py:",
        ),
        (
            [*RUN, "vendor_plugins:FirstDay"],
            "vendor_plugins:FirstDay is the class FirstDay, not a npu_conformance.specs",
        ),
        ([*RUN, "exec:true"], "exec:true is another process"),
        (["run", "--plugin", "exec:", "vts.queries"], "expected a command, found none"),
        (["run", "--plugin", "exec:no-such-command", "vts.queries"], "no command no-such-command"),
        (["run", "--plugin", "exec:true", "vts.queries"], "the host process exited with status 0"),
        (["run", "--plugin", "exec:true", "vts.queries"], "the socket whose number is in NPU_CONFORMANCE_FD"),
        (
            [*RUN, "vendor_plugins:makes_nothing"],
            "its factory returned None: expected a Subject, such as",
        ),
        (
            ["check", "vendor_plugins:takes_nothing"],
            "(vendor_plugins.py:70): a factory is called with a Context",
        ),
        (
            ["check", "vendor_plugins:manifest_of_nothing"],
            "(vendor_plugins.py:71): a function that gives a manifest is called with the options",
        ),
        (["check", "vendor_plugins:makes_a_class"], "its device is the class FirstDay: expected FirstDay(...)"),
        (["check", "vendor_plugins:makes_a_device"], "its factory returned an object of FirstDay: expected"),
        (["check", "tcp:127.0.0.1"], "cannot connect to tcp:127.0.0.1: expected tcp:HOST:PORT, with a number as"),
        (["run", "--plugin", "tcp:127.0.0.1:1", "vts.queries"], "cannot connect to tcp:127.0.0.1:1"),
        (["run", "--plugin", "unix:/no/socket", "vts.queries"], "cannot connect to unix:/no/socket"),
        ([*RUN, FIRST_DAY, "--plugin-option", "speed"], "expected NAME=VALUE, found 'speed'"),
        ([*RUN, FIRST_DAY, "--plugin-option", "sped=1"], "has no option 'sped'; it has speed"),
        (["serve", FIRST_DAY, "--listen", "unix:/no/socket", "--plugin-option", "speed"], "expected NAME=VALUE, found"),
        (["serve", FIRST_DAY, "--listen", "unix:/no/socket", "--plugin-option", "sped=1"], "has no option 'sped'"),
        ([*RUN, FIRST_DAY, "--hal", "1.0", "--hal", "1.1"], "--hal: expected one value, found 1.0 and 1.1"),
        (
            [*RUN, "reference", "--plugin-option", "clock=real", "--plugin-option", "clock=virtual"],
            "plug-in option: clock: expected one value, found real and virtual",
        ),
        ([*RUN, FIRST_DAY, "--hal", "9"], "--hal: unknown HAL version '9'"),
        ([*RUN, FIRST_DAY, "--hal", "1.3"], "asked for HAL 1.3, it implements 1.0"),
        ([*RUN, FIRST_DAY, "-k", "ping", "-k", "status"], "-k: expected one value, found ping and status"),
        ([*RUN, FIRST_DAY, "--baseline", "a", "--baseline", "b"], "--baseline: expected one value, found a and b"),
        ([*RUN, FIRST_DAY, "--shard", "1/2", "--shard", "2/2"], "--shard: expected one value, found 1/2 and 2/2"),
        (["faults", "-k", "a", "-k", "b", "pad-raw-zero"], "-k: expected one value, found a and b"),
        ([*RUN, FIRST_DAY, "-k", "a b"], "-k 'a b': column 3: expected 'and', 'or' or the end, found 'b'"),
        ([*RUN, FIRST_DAY, "-k", "nothing_is_called_this"], "nothing is selected by -k 'nothing_is_called_this': see"),
        (
            ["run", "mlts.accuracy.digits_conv", "--scope", "smoke", "--plugin", FIRST_DAY],
            "nothing is selected in scope smoke: --scope default selects 1 case",
        ),
        (["run", "vts.queries.status", "--shard", "2/2", "--plugin", FIRST_DAY], "--shard 2/2: no case is left for it"),
        (["run", "--plugin", FIRST_DAY, "SOFTMAX"], "SOFTMAX: matches no case; did you mean -k SOFTMAX?"),
        (["run", "--plugin", FIRST_DAY, "vts.querys"], "vts.querys: matches no case; did you mean vts.queries?"),
        (
            ["list", "vts.validation.ABS.constant_size"],
            "vts.validation.ABS.constant_size: retired since 0.1.0: No stored vector of the operation has a constant",
        ),
        (
            ["run", "--plugin", FIRST_DAY, "vts.validation.PACK.number_of_consumers"],
            "retired since 0.1.0: The operation",
        ),
        (
            ["list", "cts.runtime"],
            "cts.runtime: matches no case; the areas of cts are npu_manager npu_buffers generated",
        ),
        (["run", "--plugin", FIRST_DAY, "vst"], "vst: matches no case; did you mean vts"),
        ([*RUN, FIRST_DAY, "--shard", "3/2"], "--shard: expected I/N with 1 <= I <= N, found '3/2'"),
        (
            [*RUN, FIRST_DAY, "--shard", "1/99999999"],
            "--shard: expected I/N with 1 <= I <= N <= 100000, found '1/99999999'",
        ),
        (["report", "a" * 5000], f"{'a' * 80}...: File name too long"),
        ([*RUN, FIRST_DAY, "--report", "a" * 5000], f"{'a' * 80}...: File name too long"),
        ([*RUN, FIRST_DAY, "--report", ""], "argument --report: the value is empty"),
        (["list", ""], "argument SUITE|ID: the value is empty"),
        (["merge", "a", "--report="], "argument --report: the value is empty"),
        ([""], "there is no command ''"),
        ([*RUN, FIRST_DAY, "-n", "0"], "-n: expected a positive number, found 0"),
        ([*RUN, FIRST_DAY, "-x", "0"], "-x: expected a positive number, found 0"),
        ([*RUN, FIRST_DAY, "-n", "2", "--resume"], "report: there is no earlier run here"),
        ([*RUN, FIRST_DAY, "-n", "many"], "argument -n: invalid int value: 'many'"),
        (
            [*RUN, FIRST_DAY, "--budget", "3x"],
            "--budget: expected a time such as 90s, 15m or 2h, found '3x'",
        ),
        (
            [*RUN, FIRST_DAY, "--budget", "5"],
            "--budget: expected a time such as 90s, 15m or 2h, found '5'",
        ),
        ([*RUN, FIRST_DAY, "--report", "file"], "file: cannot keep the report: File exists"),
        ([*RUN, FIRST_DAY, "--report", "file", "-n", "2"], "file: cannot keep the report: File exists"),
        ([*RUN, FIRST_DAY, "--waivers", "nowhere"], "nowhere: No such file or directory"),
        ([*RUN, FIRST_DAY, "--waivers", "typed.json"], "typed.json: $.waivers[0].requirement: Expected `str`"),
        ([*RUN, FIRST_DAY, "--waivers", "broken.json", "-n", "2"], "broken.json: not JSON"),
        ([*RUN, FIRST_DAY, "--baseline", "typed.json"], "typed.json: is no results document: it has none of"),
        ([*RUN, FIRST_DAY, "--vectors", "empty"], "empty: "),
        ([*RUN, FIRST_DAY, "--vectors", "broken.json"], "broken.json: not JSON"),
        (["vectors", "show", "PADD.x"], "no vectors of 'PADD' (did you mean PAD"),
        (
            ["vectors", "show", "NIX"],
            "BIDIRECTIONAL_SEQUENCE_LSTM BIDIRECTIONAL_SEQUENCE_RNN and 96 more",
        ),
        (["requirements", "nnhal-prepare-004"], "'nnhal-prepare-004' (did you mean NNHAL-PREPARE-004"),
        (
            ["mlts", "--plugin", "reference", "--models", "digits_con"],
            "(did you mean digits_conv",
        ),
        (["list", "-k", "zzzz"], "nothing is selected by -k 'zzzz': see"),
        (["list", "-k", "RELUX"], "nothing is selected by -k 'RELUX' (did you mean RELU or RELU6 or RELU1?): see"),
        (["check", "nonsense"], "unknown plug-in 'nonsense'"),
        (["replay", "empty", "--plugin", FIRST_DAY], "empty: no failure file is here"),
        (["replay", "broken.json", "--plugin", FIRST_DAY], "broken.json: not JSON"),
        (["report", "empty"], "empty: there is no report here"),
        (["report", "file"], "file: there is no report here"),
        (["diff", "empty", "empty"], "empty/results.json: No such file or directory"),
        (["requirements", "NO-SUCH-*"], "no requirement matches 'NO-SUCH-*'"),
        (["schemas", "waiver"], "no schema 'waiver'; there are"),
        (["schemas", "waivers", "--check", "nowhere"], "nowhere: No such file or directory"),
        (["schemas", "waivers", "--check", "broken.json"], "broken.json: not JSON"),
        (["schemas", "waivers", "--check", "deep.json"], "deep.json: nested too deeply"),
        (["faults", "--sample", "-1"], "--sample: expected a positive number, found -1"),
        (["faults", "--part", "driver"], "--part: only with --mutants"),
        (["faults", "--operation", "ADD"], "--operation: only with --mutants"),
        (["faults", "--variants", "--all-cases"], "--all-cases: only where faults are run"),
        (["faults", "--list", "no-such-*"], "no fault is called no-such-*"),
        (["faults", "--variants", "npu-narrow", "-k", "vts.burst.slots"], "none of the cases applies to any of these"),
        (["faults", "--mutants", "-5"], "--mutants: expected a number from 0 up, found -5"),
        (
            ["graphs", "--plugin", FIRST_DAY, "--seeds", "1" * 5000],
            "--seeds: expected A:B or A, found '1111111111111111111111111111111111111111'",
        ),
        (["check", FIRST_DAY, "--write-claims", "no/claims.json"], "no/claims.json: cannot be written: No such file"),
        (["schemas", "--check", "broken.json"], "--check needs the NAME of a schema"),
        (["vectors", "table", "--write", "no/table.md"], "no/table.md: cannot be written: No such file or directory"),
        (["serve", "nonsense", "--listen", "tcp:127.0.0.1:0"], "unknown plug-in 'nonsense'"),
        (["serve", "reference", "--listen", "tcp:127.0.0.1", "--key-file", "key"], "expected tcp:HOST:PORT, with a"),
        (["serve", "reference", "--listen", "udp:1"], "expected unix:PATH or tcp:HOST:PORT"),
    ],
)
@pytest.mark.usefixtures("files")
def test_bad_input_is_one_line(command: Command, arguments: list[str], line: str) -> None:
    code, _, told = command(*arguments)
    assert (code, told.count("\n")) == (2, 1), told
    assert line in told
    assert told.startswith("npu-conformance")


def test_list_and_run_refuse_what_selects_nothing_in_the_same_words(command: Command) -> None:
    words = ["-k", "RELUX and zzzz"]
    code, out, told = command("list", *words)
    assert (code, out) == (2, "")
    assert [line.split(" (")[0] for line in told.splitlines()] == [
        "-k: no case has RELUX",
        "-k: no case has zzzz",
        "npu-conformance: nothing is selected by -k 'RELUX and zzzz': see `npu-conformance list`",
    ]
    assert command(*RUN, FIRST_DAY, *words) == (code, out, told)


def test_a_page_that_can_not_be_written(command: Command) -> None:
    assert command(*RUN, FIRST_DAY)[0] == 0
    code, _, told = command("report", "report", "--html", "no/page.html")
    assert (code, told) == (2, "npu-conformance: no/page.html: cannot be written: No such file or directory\n")


def test_a_run_of_something_else_is_not_resumed(command: Command, tmp_path: Path) -> None:
    assert command(*RUN, FIRST_DAY)[0] == 0
    code, _, told = command(*RUN, "reference", "--resume")
    assert (code, told.count("\n")) == (2, 1)
    assert "report: cannot be resumed: the plug-in was first-day 1, and is reference 1 now" in told


def test_reports_of_other_vectors_are_compared_with_a_note(command: Command, tmp_path: Path) -> None:
    assert command(*RUN, FIRST_DAY)[0] == 0
    stored = json.loads((tmp_path / "report" / "results.json").read_text())
    stored["digests"]["vectors"] = "0" * 64
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "results.json").write_text(json.dumps(stored))
    code, out, _ = command("diff", "report", "other")
    assert (code, out.splitlines()[0]) == (0, "note: the runs have different vectors")
    code, out, _ = command(*RUN, FIRST_DAY, "--baseline", "other/results.json")
    assert (code, "compared with the baseline: 0 regressions, 0 known, 0 fixed; it had other vectors\n" in out) == (
        0,
        True,
    )


def test_reports_of_another_hal_version_are_not_compared(command: Command) -> None:
    assert command(*RUN, FIRST_DAY)[0] == 0
    stored = json.loads(Path("report/results.json").read_text()) | {"hal_version": "1.1"}
    Path("other.json").write_text(json.dumps(stored))
    code, _, told = command("diff", "other.json", "report")
    assert (code, told.count("\n")) == (2, 1)
    assert "other.json: $.hal_version: runs as different HAL versions are not compared" in told


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("--beside-option", "x=1"), "--beside-option: goes with --beside"),
        (
            ("--budget", "9s", "--shuffle"),
            "--shuffle: cannot go with --budget, which runs the most worthwhile cases first",
        ),
    ],
)
def test_options_that_do_nothing_beside_each_other_are_refused(
    command: Command, words: tuple[str, ...], told: str
) -> None:
    assert command(*RUN, FIRST_DAY, *words) == (2, "", f"npu-conformance: {told}\n")


def test_a_bug_of_the_suite_is_not_taken_for_a_verdict(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(given: list[str]) -> None:
        raise ZeroDivisionError("a bug")

    monkeypatch.setattr(front_door, "parser_of", broken)
    code, _, told = command("list")
    assert code == 3
    assert "ZeroDivisionError: a bug" in told
    assert told.endswith("this is a bug of the suite, not of the plug-in\n")


@pytest.mark.parametrize("program", [("-m", "npu_conformance"), ("-c", CONSOLE_SCRIPT)])
def test_the_module_ends_as_the_console_script_does(program: tuple[str, str]) -> None:
    done = subprocess.run(
        [sys.executable, *program, "schemas", "nope"], capture_output=True, text=True, cwd=ROOT, check=False
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("npu-conformance: no schema 'nope'; there are ")
    assert done.stderr.count("\n") == 1
