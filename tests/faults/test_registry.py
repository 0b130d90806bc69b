"""The registry: every fault is applicable, names what exists, and a sample is really caught."""

from __future__ import annotations

import bisect
import functools
import importlib
import itertools
import json
import pkgutil
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from every_case import every_case
from raising import raised

from npu_conformance import faults
from npu_conformance.cli.main import main
from npu_conformance.faults import fuzz_only, kill_matrix, plugin, queries, registry, source_edits, variants
from npu_conformance.faults.fault import Edited, EditedHarness, Fault, Variant
from npu_conformance.harness.judge.waivers import glob
from npu_conformance.specs import requirements
from npu_conformance.specs.ids import parse
from npu_conformance.specs.neuralnetworks import rules
from npu_conformance.specs.neuralnetworks.validate import structural_rules

ROOT = Path(__file__).parents[2] / "faults"
EDIT_FILES = sorted(path for path in ROOT.rglob("*.json") if '"edits"' in path.read_text())
FAULTS = registry.faults()
VARIANTS = registry.conforming()
SAMPLE = [
    "pad-raw-zero", "same-odd-at-head", "per-channel-scale-of-channel-0", "saturation-wraps", "softmax-beta-ignored",
    "mean-keep-dims-ignored", "drift-of-float16", "tile-remainder-not-written", "validate-zero-point",
    "clause-activation-unchecked", "query-capabilities-unsorted", "support-of-the-invalid", "prepare-notifies-twice",
    "prepare-never-notifies", "execute-notifies-twice", "memory-input-as-scratch", "timing-device-above-driver",
    "request-offset-wraps", "host-segfaults", "host-garbage", "manager-completes-twice", "harness-verdict-lost",
    "harness-waiver-never-expires", "harness-tolerance-not-applied",
    "cache-verified-then-read-again", "restore-by-token", "qos-success-unwritten",
    "mutations-location-wraps", "mutations-order-of-main-alone", "requests-data-in-padding",
    "models-config-without-arguments", "stress-abort-when-two-infer", "stress-helper-lost",
    "stress-leak-descriptor-per-inference",
]  # fmt: skip
FINISHED = [
    "cts.npu_buffers", "cts.npu_manager", "vts.npu_scheduling", "vts.control_flow", "vts.models", "vts.requests",
    "vts.robustness", "mlts.stress", "mlts.early_termination", "mlts.multi_process", "mlts.mapped_load",
    "mlts.random_models", "mlts.degradation", "mlts.npu_apps",
]  # fmt: skip
"""Each case needs a fault that makes it fail."""


def edited() -> list[str]:
    both: dict[str, Fault | Variant] = {**FAULTS, **VARIANTS}
    return [name for name, one in both.items() if isinstance(one.mechanism, Edited | EditedHarness)]


def test_no_table_and_no_file_is_forgotten() -> None:
    names = [module.name for module in pkgutil.walk_packages(faults.__path__, f"{faults.__name__}.")]
    modules = [importlib.import_module(name) for name in names]
    rows = [row for module in modules for table in ("FAULTS", "VARIANTS") for row in getattr(module, table, ())]
    edits = [row for path in EDIT_FILES for row in source_edits.read(path)]
    assert rows
    assert edits
    assert {row.id for row in (*rows, *edits)} - plugin.known().keys() == set()


@pytest.mark.parametrize(
    ("module", "table", "read"),
    [
        (queries, "FAULTS", registry.faults),
        (variants, "VARIANTS", registry.conforming),
        (fuzz_only, "FAULTS", registry.fuzz_only),
    ],
)
def test_an_id_is_given_once(module: ModuleType, table: str, read: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, table, getattr(module, table) * 2)
    with pytest.raises(ValueError, match="two faults or variants are called"):
        read.__wrapped__()


def test_a_variant_has_the_id_of_no_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "conforming", lambda: registry.fuzz_only())
    with pytest.raises(ValueError, match="two faults or variants are called fuzz-"):
        plugin.known.__wrapped__()


@pytest.mark.parametrize("path", EDIT_FILES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_the_edits_of_a_file_find_their_text(path: Path) -> None:
    """Also those of subjects that are made otherwise, whose faults are no edits alone."""
    rows = source_edits.read(path)
    assert rows
    assert [(one.id, error) for one in rows if (error := raised(source_edits.require_text, one.edits))] == []


@pytest.mark.parametrize("name", edited())
def test_every_edit_finds_its_text(name: str) -> None:
    one = FAULTS.get(name) or VARIANTS[name]
    assert isinstance(one.mechanism, Edited | EditedHarness)
    assert source_edits.prepare(one.mechanism.edits)


def test_what_edits_import_exists() -> None:
    """An unknown name would crash the implementation, which cases detect like the fault itself."""
    mechanisms = [fault.mechanism for fault in FAULTS.values()]
    edits = [edit for one in mechanisms if isinstance(one, Edited | EditedHarness) for edit in one.edits]
    lines = {line.strip().partition(";")[0] for edit in edits for line in edit.replace.splitlines()}
    found = [line for line in lines if line.startswith(("from ", "import "))]
    assert found
    for line in found:
        exec(line, {})


def test_every_fault_names_cases_that_exist() -> None:
    ids = sorted(case.id for case in every_case())
    named = [(name, text) for name, fault in FAULTS.items() for text in fault.caught_by]
    assert [(name, text) for name, text in named if not any(map(glob(text).fullmatch, _beginning_as(text, ids)))] == []
    assert all(fault.caught_by for fault in FAULTS.values())


def _beginning_as(pattern: str, ids: Sequence[str]) -> Iterator[str]:
    """Those of the sorted ids that begin as the pattern does, up to its first wildcard."""
    beginning = re.split(r"[*?\[]", pattern, maxsplit=1)[0]
    start = bisect.bisect_left(ids, beginning)
    return itertools.takewhile(lambda one: one.startswith(beginning), itertools.islice(ids, start, None))


@pytest.mark.parametrize("area", FINISHED)
def test_every_case_of_a_finished_area_is_named_by_a_fault(area: str) -> None:
    ids = [case.id for case in every_case() if case.id.startswith(f"{area}.")]
    assert ids
    assert [one for one in ids if one not in named_cases()] == []


@functools.cache
def named_cases() -> frozenset[str]:
    """The ids that the globs of the faults mean."""
    ids = sorted(case.id for case in every_case())
    named = {text for fault in FAULTS.values() for text in fault.caught_by}
    return frozenset(one for text in named for one in filter(glob(text).fullmatch, _beginning_as(text, ids)))


def test_every_fault_breaks_something_that_is_written_down() -> None:
    known = {one.id for one in requirements.all_requirements()} | {rule.id for rule in structural_rules()}
    known |= {clause.id for name in rules.operations() for clause in rules.clauses(name)}
    of_drivers = [fault for fault in FAULTS.values() if not isinstance(fault.mechanism, EditedHarness)]
    unknown = {name: fault.breaks for name, fault in FAULTS.items() if fault in of_drivers}
    assert {name: breaks for name, breaks in unknown.items() if not breaks or not known.issuperset(breaks)} == {}


def test_self_checks_have_ids_and_hold_without_a_fault() -> None:
    checks = [case for case in every_case() if case.id.startswith("self.")]
    assert checks
    for case in checks:
        assert parse(case.id).area == "bookkeeping"
        case.run(None)  # type: ignore[arg-type]


def test_every_self_check_is_named_by_a_fault() -> None:
    named = {text for fault in FAULTS.values() for text in fault.caught_by}
    assert {case.id for case in every_case() if case.id.startswith("self.")} <= named


@pytest.mark.parametrize("name", SAMPLE)
def test_a_sample_of_faults_is_caught(name: str) -> None:
    row = kill_matrix.run_fault(FAULTS[name], every_case())
    assert row.is_caught, row


@pytest.mark.parametrize("name", ["reference", "fixed-point", "sums-in-chunks", "terse", "tiny", "notifies-later"])
def test_a_sample_of_variants_is_green(name: str) -> None:
    few = [case for case in every_case() if case.id.startswith("vts.")][::193]
    row = kill_matrix.run_variant(VARIANTS[name], few)
    assert row.is_green, "\n".join(map(str, (*row.red, row.problem)))


def test_a_fault_that_nobody_notices_is_a_hole(capsys: pytest.CaptureFixture[str]) -> None:
    fault = FAULTS["pad-raw-zero"]
    row = kill_matrix.run_fault(fault, [case for case in every_case() if ".PAD.float32" in case.id], every_case=True)
    assert not row.is_caught
    assert row.missed == fault.caught_by


def test_a_warning_that_is_due_to_no_fault_detects_none() -> None:
    """The reference takes what the text alone forbids, so it is warned there, too."""
    fault = replace(FAULTS["first-output-loses-its-content"], caught_by=("vts.structure.M5.may_refuse_*",))
    row = kill_matrix.run_fault(fault, every_case())
    assert (row.cases > 0, row.noticed, row.missed, row.problem) == (True, (), fault.caught_by, "")


def test_the_command_prints_the_kill_matrix(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["faults", "query-type-*", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert {row["fault"] for row in rows} == {"query-type-unknown", "query-type-fails"}
    assert all(row["noticed"] for row in rows)
    assert main(["faults", "no-such-fault"]) == 2
    assert "no fault is called" in capsys.readouterr().err


def test_rows_of_several_processes_come_in_the_order_of_the_faults(capsys: pytest.CaptureFixture[str]) -> None:
    found = []
    for processes in ("1", "2"):
        assert main(["faults", "query-status-*", "query-type-*", "--json", "-n", processes]) == 0
        found.append([(row["fault"], row["noticed"]) for row in json.loads(capsys.readouterr().out)])
    assert found[0] == found[1]
    assert len(found[0]) == 3


def test_the_command_runs_variants_against_the_cases_that_are_meant(capsys: pytest.CaptureFixture[str]) -> None:
    narrowed = ["faults", "--variants", "reference", "--json", "-k", "queries and not cts", "--isolation", "process"]
    assert main([*narrowed, "--sample-cases", "5"]) == 0
    (row,) = json.loads(capsys.readouterr().out)
    assert (row["cases"], row["red"]) == (5, [])
    assert 0 < row["passed"] <= 5


def test_variants_to_which_no_case_applies_are_not_run(capsys: pytest.CaptureFixture[str]) -> None:
    managers = [name for name, one in VARIANTS.items() if name.startswith("manager-")]
    assert main(["faults", "--variants", managers[0], "reference", "-k", "vts.queries.type.legal"]) == 0
    assert capsys.readouterr().out.splitlines()[-1] == (
        "1 of 1 conforming variants are green; none of the cases applies to 1 other"
    )


@pytest.mark.parametrize(("part", "code"), [(("-k", "queries"), 0), (("--sample-cases", "3"), 0), ((), 1)])
def test_a_variant_that_passes_nothing_is_red_where_all_cases_are_meant(
    part: tuple[str, ...], code: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(
        kill_matrix, "run_variant", lambda variant, cases, _: kill_matrix.VariantRow(variant.id, len(cases))
    )
    assert main(["faults", "--variants", "reference", *part]) == code
    first, last = capsys.readouterr().out.splitlines()
    assert first.startswith("nothing reference: none of ")
    told = "0 of 0 conforming variants are green; none of these cases passes on 1 other"
    assert last == (told if part else "0 of 1 conforming variants are green")


def test_the_first_case_that_catches_a_fault_is_enough(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["faults", "query-status-offline", "--all-cases", "--first", "-k", "queries"]) == 0
    out = capsys.readouterr().out
    assert "caught  query-status-offline" in out, out
    assert ": 1 of " in out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["-k", "queries"], "-k: only with --variants or --all-cases"),
        (["--first"], "--first: only with --all-cases"),
        (["--variants", "--sample-cases", "0"], "--sample-cases: expected a positive number, found 0"),
        (["--variants", "-k", "nothing_of_this_name"], "-k nothing_of_this_name: matches no case"),
    ],
)
def test_a_selection_of_cases_that_makes_no_sense_is_refused(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["faults", *arguments]) == 2
    assert message in capsys.readouterr().err


def test_the_plug_in_can_be_used_by_hand(tmp_path: Path) -> None:
    arguments = [
        "run",
        "vts.queries.type.legal",
        "--plugin",
        kill_matrix.PLUGIN,
        "--plugin-option",
        "fault=query-type-unknown",
    ]
    assert main([*arguments, "--report", str(tmp_path / "report"), "-q"]) == 1
