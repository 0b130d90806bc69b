"""The layout: every file is where ARCHITECTURE says, nothing is loaded twice, every name that is used exists."""

from __future__ import annotations

import gc
import json
import re
import runpy
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import slow_tests
from msgspec.structs import replace

from npu_conformance.adapters import reference
from npu_conformance.corpus import generators, vectors
from npu_conformance.corpus.generators import unreached
from npu_conformance.harness.run import index, suites
from npu_conformance.harness.run.applicability import inapplicable
from npu_conformance.harness.run.cases import Case, Scope
from npu_conformance.specs import documents, ids, requirements
from npu_conformance.specs.neuralnetworks import rules
from npu_conformance.specs.versions import Version

ROOT = Path(__file__).parent.parent
FILES = {
    "specs/neuralnetworks/operations/{}.json",
    "specs/neuralnetworks/rules/{}.py",
    "corpus/oracles/{}.py",
    "corpus/generators/{}.py",
    "corpus/vectors/{}.json",
    "reference/device/kernels/{}.py",
}
_CONTRACTS = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
_LAYERS = [name.strip() for layer in _CONTRACTS[0]["layers"] for name in layer.split("|")]
"""The packages, from the one on top of all down to specs."""


@pytest.fixture(scope="module")
def cases() -> list[Case]:
    """Every case of every suite."""
    return list(suites.cases(suites.present()))


def test_the_index_lists_the_cases_in_order_with_their_scopes(cases: list[Case]) -> None:
    listed = [one for area in index.by_area().values() for one in area.cases()]
    assert listed == [(case.id, case.scope) for case in cases]


def test_the_index_lists_the_cases_of_each_requirement(cases: list[Case]) -> None:
    expected: dict[str, list[str]] = {}
    for case in cases:
        for requirement in sorted(set(case.requirements)):
            expected.setdefault(requirement, []).append(case.id)
    assert index.evidence() == expected


@pytest.mark.parametrize("operation", sorted(vectors.operations()))
def test_an_operation_has_all_its_files(operation: str) -> None:
    missing = [path for path in FILES if not (ROOT / path.format(operation.lower())).exists()]
    assert not missing


def test_operations_with_rules_plans_and_vectors_are_the_same() -> None:
    assert set(rules.operations()) == set(generators.names()) == set(vectors.operations())


def test_every_folder_is_linked_into_the_package() -> None:
    package = ROOT / "src" / "npu_conformance"
    links = {path.name: path.readlink().as_posix() for path in package.iterdir() if path.is_symlink()}
    folders = set(_LAYERS)
    assert links == {name: f"../../{name}" for name in folders}


def test_the_picture_of_the_arrows_is_drawn_from_the_imports() -> None:
    drawing = runpy.run_path(str(ROOT / "docs" / "draw_arrows.py"))
    gc.disable()  # to look for garbage among the trees of all modules takes longer than to make them
    try:
        drawn = drawing["draw"]()
    finally:
        gc.enable()
    assert drawn == drawing["PICTURE"].read_text(), "run python docs/draw_arrows.py"


def test_case_ids_follow_the_grammar_and_are_unique(cases: list[Case]) -> None:
    names = [case.id for case in cases]
    assert [str(ids.parse(name)) for name in names] == names
    assert len(set(names)) == len(names)


def test_every_case_names_requirements_that_exist(cases: list[Case]) -> None:
    named = {requirement for case in cases for requirement in case.requirements}
    assert all(case.requirements for case in cases)
    assert all(requirements.requirement(name).id == name for name in named)


def test_every_requirement_has_a_case_or_a_written_reason(cases: list[Case]) -> None:
    """Those of operations' clauses that no vector breaks have theirs by what the generators say."""
    tried = {name for case in cases for name in case.requirements} | corpus_reasons()
    silent = [entry.id for entry in requirements.all_requirements() if not entry.untested and entry.id not in tried]
    assert silent == []


def corpus_reasons() -> set[str]:
    """The requirements of clauses for which a reason stands where vectors are made."""
    clauses = (clause for operation in rules.operations() for clause in rules.clauses(operation))
    return {requirements.clause_requirement(clause.id) for clause in clauses if unreached.reason(clause)}


def test_every_case_says_what_it_is_about(cases: list[Case]) -> None:
    silent = [case.id for case in cases if not case.headline]
    assert not silent


def test_a_case_is_about_the_requirement_of_its_operation_first(cases: list[Case]) -> None:
    for case in cases:
        own = [name for name in case.requirements for each in case.operations if f"-OPERATION-{each}-" in name]
        assert not own or own[0] == case.requirements[0], case.id


def test_a_run_in_default_scope_can_be_conformant(cases: list[Case]) -> None:
    """The full scope makes cases more thorough; one of its own would be left out of the default scope's verdict."""
    assert [case.id for case in cases if case.scope is Scope.FULL] == []


def test_ids_are_locked(cases: list[Case]) -> None:
    from npu_conformance.harness.run.id_lock import current_ids

    present = current_ids(cases)
    assert ids.unlocked(present) == [], "new ids: run npu-conformance list --update-lock"
    assert ids.vanished(present) == [], "an id must never go: keep it, or say in specs/ids.retired.json why it went"


def test_retired_ids_are_locked_and_never_given_out_again(cases: list[Case]) -> None:
    retired = set(ids.retired())
    assert sum(len(one.ids) for one in documents.read(ids.RETIRED, ids.RetiredIds).retired) == len(retired)
    assert retired <= set(ids.locked())
    assert not retired & {case.id for case in cases}


def test_every_case_applies_to_the_reference_in_some_version(cases: list[Case]) -> None:
    """Of a case that never applies nothing is known. What a family of edits needs is looked at in test_mutations."""
    said = reference.plugin.describe({})
    manifests = {version: replace(said, feature_level=version) for version in Version}
    never = [case.id for case in cases if all(inapplicable(case, manifests[version], version) for version in Version)]
    assert never == []


def test_the_slow_tests_exist() -> None:
    """A function that was renamed would run in every run again."""
    texts = {file: (ROOT / "tests" / file).read_text() for file in slow_tests.SHARES}
    named = [(file, name) for file, functions in slow_tests.SHARES.items() for name in functions]
    assert [(file, name) for file, name in named if f"def {name}(" not in texts[file]] == []


def test_no_module_is_loaded_under_two_names(tmp_path: Path) -> None:
    probe = tmp_path / "probe.py"
    probe.write_text(
        "import os, sys\n"
        "def pytest_sessionfinish():\n"
        "    files = {}\n"
        "    for name, module in list(sys.modules.items()):\n"
        "        path = getattr(module, '__file__', None)\n"
        "        if path and 'npu_conformance' in os.path.realpath(path) + path and name != '__main__':\n"
        "            files.setdefault(os.path.realpath(path), []).append(name)\n"
        "    twice = {path: names for path, names in files.items() if len(names) > 1}\n"
        "    assert not twice, twice\n"
    )
    command = [
        sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "probe", "--npu-plugin=reference",
        "--npu-report", str(tmp_path / "report"), str(ROOT / "vts" / "queries.py"), "-k", "ping",
    ]  # fmt: skip
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, env=_with_path(tmp_path), check=False)
    assert "1 passed" in done.stdout, done.stdout + done.stderr


def test_the_readmes_driver_is_a_plug_in(tmp_path: Path) -> None:
    code = _block("README.md", "python")
    (tmp_path / "readme_driver.py").write_text(code)
    command = [sys.executable, "-m", "npu_conformance", "check", "readme_driver:plugin", "--json"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, env=_with_path(tmp_path), check=False)
    assert json.loads(done.stdout)["grade"]["letter"] == "C", done.stdout + done.stderr


def test_the_documented_waiver_file_is_valid() -> None:
    from npu_conformance.specs.documents.waivers import WaiverFile

    assert documents.decode(_block("docs/waivers.md", "json"), WaiverFile, "docs/waivers.md").waivers


def test_documents_link_to_files_that_exist() -> None:
    pages = [*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")]
    broken = [
        f"{page.name}: {target}"
        for page in pages
        for target in re.findall(r"\]\(([^)#:]+)\)", page.read_text())
        if not (page.parent / target).exists()
    ]
    assert not broken


def test_the_readme_leads_to_every_page() -> None:
    listed = set(re.findall(r"\]\((docs/[\w-]+\.md)[)#]", (ROOT / "README.md").read_text()))
    assert {f"docs/{page.name}" for page in (ROOT / "docs").glob("*.md")} <= listed


def _block(page: str, language: str) -> str:
    found = re.search(rf"```{language}\n(.*?)```", (ROOT / page).read_text(), re.DOTALL)
    assert found is not None
    return found.group(1)


def _with_path(folder: Path) -> dict[str, str]:
    import os

    inherited = os.environ.get("PYTHONPATH")
    return {**os.environ, "PYTHONPATH": os.pathsep.join([str(folder), *([inherited] if inherited else [])])}
