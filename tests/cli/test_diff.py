"""`npu-conformance diff`: what changed between two runs, of verdicts and of figures."""

from __future__ import annotations

import json
from pathlib import Path

from vendor_command import Command

PLUGIN = ("--plugin", "vendor_plugins:first_day", "--isolation", "inprocess")


def test_what_got_worse_is_told(command: Command, tmp_path: Path) -> None:
    assert command("run", "vts.validation.RELU.graph_indexes", *PLUGIN, "--report", "worse")[0] == 1
    reference = ("--plugin", "reference", "--isolation", "inprocess", "--hal", "1.0")
    assert command("run", "vts.validation.RELU.graph_indexes", *reference, "--report", "better")[0] == 0
    code, out, _ = command("diff", "better", "worse")
    assert code == 1
    assert out == ("worse vts.validation.RELU.graph_indexes: pass -> fail\n1 verdict changed, 1 for the worse\n")
    slow = json.loads((tmp_path / "worse" / "results.json").read_text())
    slow["cases"][0]["seconds"] += 60
    slow["plugin_words"] += " --plugin-option slow=60"
    (tmp_path / "slow.json").write_text(json.dumps(slow))
    _, out, _ = command("diff", "better", "slow.json")
    assert out.startswith("note: the runs have different plug-in options: none, then slow=60\nworse vts.")
    assert "\nthe same cases took 6" in out
    code, out, _ = command("diff", "worse", "better", "--json")
    row = {"case": "vts.validation.RELU.graph_indexes", "before": "fail", "after": "pass", "worse": False}
    assert (code, json.loads(out)) == (0, [row])


def test_a_figure_that_moved_is_told(command: Command, tmp_path: Path) -> None:
    """A driver that became slow has the same verdicts."""
    assert command("run", "vts.queries.liveness.ping", *PLUGIN, "--report", "before")[0] == 0
    stored = json.loads((tmp_path / "before" / "results.json").read_text())
    for name, milliseconds in (("quick", 0.15), ("slow", 3.6)):
        figure = {"subject": "digits", "name": "inference", "unit": "ms", "value": milliseconds, "count": 9}
        stored["cases"][0]["measurements"] = [figure]
        (tmp_path / f"{name}.json").write_text(json.dumps(stored))
    code, out, _ = command("diff", "quick.json", "slow.json")
    title = "figures that moved, the furthest first, run by run:\n"
    told = f"{title}  inference of digits, ms: 0.15 -> 3.6 (x24)\n0 verdicts changed, 0 for the worse\n"
    assert (code, out) == (0, told)


def test_a_configuration_that_got_worse_in_a_case_that_passes_is_told(command: Command, tmp_path: Path) -> None:
    name = "vts.generated.RELU.float32_rank1"
    assert command("run", name, "--plugin", "reference", "--isolation", "inprocess", "--report", "before")[0] == 0
    stored = json.loads((tmp_path / "before" / "results.json").read_text())
    part = next(iter(stored["cases"][0]["configurations"]))
    stored["cases"][0]["configurations"][part] = "not-supported"
    (tmp_path / "after.json").write_text(json.dumps(stored))
    code, out, _ = command("diff", "before", "after.json")
    told = f"worse {name}#{part}: pass -> not-supported\n1 verdict changed, 1 for the worse\n"
    assert (code, out) == (1, told)


def test_cases_of_one_run_alone_are_counted(command: Command) -> None:
    assert command("run", "vts.queries.liveness.ping", *PLUGIN, "--report", "few")[0] == 0
    assert command("run", "vts.queries", *PLUGIN, "--report", "many")[0] == 0
    code, out, _ = command("diff", "few", "many")
    note = "note: the runs have different selections of cases\n"
    assert (code, out) == (0, f"{note}16 cases only in many\n0 verdicts changed, 0 for the worse\n")


def test_what_a_stopped_run_had_not_come_to_has_not_got_worse(command: Command) -> None:
    cases = ("vts.validation.RELU.graph_indexes", "vts.validation.RELU6.graph_indexes")
    assert command("run", *cases, *PLUGIN, "--report", "stopped", "-x", "1")[0] == 1
    assert command("run", *cases, *PLUGIN, "--report", "whole")[0] == 1
    change = "vts.validation.RELU6.graph_indexes: not-run -> fail"
    code, out, _ = command("diff", "stopped", "whole")
    assert (code, out.splitlines()[1:]) == (0, [change, "1 verdict changed, 0 for the worse"])
    _, out, _ = command("report", "stopped", "whole")
    assert f"\n  {change}\n" in out
    assert out.endswith("1 verdict changed, 0 for the worse in the last run\n")
