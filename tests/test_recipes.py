"""The recipes of CONTRIBUTING work as written."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from npu_conformance.adapters import reference
from npu_conformance.corpus.vectors import writing
from npu_conformance.faults import registry
from npu_conformance.harness.run.cases import Case
from npu_conformance.harness.run.engine import Engine
from npu_conformance.harness.run.replay import Discard
from npu_conformance.harness.subject.loading import open_subject
from npu_conformance.specs import documents, requirements
from npu_conformance.specs.outcomes import Outcome
from npu_conformance.specs.plugin import Plugin
from npu_conformance.specs.requirements import Requirement

ROOT = Path(__file__).parent.parent
PAGE = (ROOT / "CONTRIBUTING.md").read_text()
CODE = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
"""Of a vector, of a case, of a fault."""


def test_the_operation_recipe_names_every_room() -> None:
    named = set(re.findall(r"`((?:specs|corpus|reference)/[\w/]+/)foo_2d\.\w+`", PAGE))
    assert named == {
        "specs/neuralnetworks/operations/",
        "specs/neuralnetworks/rules/",
        "corpus/oracles/",
        "corpus/generators/",
        "corpus/vectors/",
        "reference/device/kernels/",
    }


def test_the_requirement_recipe_passes_the_reference_and_catches_its_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    _, case_code, fault_code = CODE
    (case,) = _run(case_code)["cases"]()
    fault = _run(fault_code)["fault"]
    assert case.id in fault.caught_by
    assert _outcome(case, reference.plugin, monkeypatch) is Outcome.PASS
    manifest = reference.plugin.describe({})
    faulty = Plugin(manifest, lambda context: fault.mechanism.create(context, manifest.hal_version))
    assert _outcome(case, faulty, monkeypatch) is Outcome.FAIL


def test_the_vector_recipe_makes_a_vector_that_can_be_stored() -> None:
    (vector,) = _run(CODE[0])["vectors"]()
    assert writing.document_of(vector)["name"] == "float32_seventeen"
    assert vector.examples[0].outputs["output"].tolist() == [*range(8, 0, -1), *range(9)]


def test_the_requirement_of_the_recipe_can_be_written_and_blamed_and_is_nobodys() -> None:
    (text,) = re.findall(r"```json\n(.*?)```", PAGE, re.DOTALL)
    requirement = documents.decode(text, Requirement, "CONTRIBUTING.md")
    known = requirements.catalogue("neuralnetworks")
    assert requirement.id not in known
    assert f"{requirement.id[:-3]}{int(requirement.id[-3:]) - 1:03}" in known, "it has the next number"
    assert f'"{requirement.id}"' in CODE[1]
    assert f'"{requirement.id}"' in CODE[2]


def test_every_file_that_is_named_exists() -> None:
    named = set(re.findall(r"`((?:specs|corpus|reference|faults|vts|tests|docs)/[\w/.]+)`", PAGE))
    assert len(named) > 30
    assert not [name for name in named if "foo_2d" not in name and not (ROOT / name).exists()]


def test_every_file_of_source_edits_has_its_place_in_the_table() -> None:
    files = {path.name for path in (ROOT / "faults").glob("*.json")}
    assert not [name for name in files if f"`faults/{name}`" not in PAGE]
    for folder in ("npu_manager", "npu_scheduling", "npu_buffers", "self_checks"):
        rows = "\n".join(row for row in PAGE.splitlines() if row.startswith("|") and f"faults/{folder}/" in row)
        missing = {path.name for path in (ROOT / "faults" / folder).glob("*.json")}
        missing -= set(re.findall(r"`(?:[\w/]+/)?(\w+\.json)`", rows))
        assert not missing, folder


def test_the_fault_to_look_at_exists_and_the_readers_own_does_not() -> None:
    named = set(re.findall(r"npu-conformance faults ([a-z][\w-]+)", PAGE))
    assert named == {"pad-raw-zero", "my-newline"}
    assert "pad-raw-zero" in registry.faults()
    assert "my-newline" not in registry.faults()


def test_the_areas_of_commits_are_folders() -> None:
    subjects = re.findall(r"`([a-z_/]+): [^`]+`", PAGE)
    areas = [*subjects, *re.findall(r"`([a-z_/]+)`", PAGE.partition("| area |")[2].partition("## Recipe")[0])]
    assert {"specs", "corpus", "reference/hal", "harness", "vts/burst", "faults", "cli"} <= set(areas)
    assert not [area for area in areas if area != "area" and not (ROOT / area).is_dir()]


def _run(code: str) -> dict[str, Any]:
    scope: dict[str, Any] = {"__name__": "recipe"}
    exec(compile(code, "CONTRIBUTING.md", "exec", dont_inherit=True), scope)
    return scope


def _outcome(case: Case, plugin: Plugin, monkeypatch: pytest.MonkeyPatch) -> Outcome:
    module = ModuleType("recipe_plugin")
    module.plugin = plugin  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "recipe_plugin", module)
    subject = open_subject("recipe_plugin:plugin", isolation="inprocess")
    try:
        return Engine([case], subject, Discard()).run().results[0].outcome
    finally:
        subject.close()
