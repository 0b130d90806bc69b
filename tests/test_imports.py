"""Imports: no package reaches another by a string, none goes in a circle, and no program loads its own module twice."""

from __future__ import annotations

import ast
import gc
import re
import subprocess
import sys
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

import pytest
import warm_python

ROOT = Path(__file__).parent.parent
PACKAGE = "npu_conformance"
FOLDERS = {path.name for path in (ROOT / "src" / PACKAGE).iterdir() if path.is_symlink()}
FINDERS = {"import_module", "__import__", "find_spec", "run_module"}
MAIN = 'if __name__ == "__main__":'

DATACLASSES = {
    *("OracleOperand", "OperandTypeInfo", "RegisteredExtension"),  # keep what they have worked out
    *("Caller", "Context", "Plugin", "Subject"),  # plug-ins of others may use `dataclasses.replace`
    "Conversion",  # is generic
    "Prepared",  # faults hang on it what they remember
}
"""What one case loads that is no msgspec.Struct."""
ONE_CASE = """
import dataclasses, sys
made, make = [], dataclasses._process_class
dataclasses._process_class = lambda kind, *more: made.append(kind.__name__) or make(kind, *more)
from npu_conformance.cli.main import main
code = main(sys.argv[1:])
import npu_conformance.adapters.reference
sys.exit(code or " ".join(sorted(made)))
"""

BY_STRING = {
    "harness/run/suites.py: find_spec(f'{PACKAGE}.{name}')": "a run takes the suites that are there",
    "harness/run/suites.py: import_module(f'{PACKAGE}.{suite}')": "a suite is named by its user",
    "harness/run/suites.py: import_module(f'{PACKAGE}.{suite}.{name}')": "an area is named by its suite",
    "harness/run/suites.py: import_module(package)": "a package of cases names itself",
    "harness/run/suites.py: import_module(f'{package}.{module.name}')": "the modules in that package",
    "harness/pytest_plugin/collecting.py: find_spec(f'{suites.PACKAGE}.{suite}')": "files pytest is not to import",
    "harness/pytest_plugin/collecting.py: find_spec(f'{suites.PACKAGE}.{suite}.{area}')": "the areas of those files",
    "harness/pytest_plugin/collecting.py: find_spec(word)": "a word of the command line, with --pyargs",
    "harness/subject/plugin_loading.py: import_module(module_name)": "a plug-in is named by its user",
    "harness/subject/driver_files.py: find_spec(name)": "where the plug-in is, which is not imported",
    "harness/subject/driver_files.py: PathFinder.find_spec(name, list(folders))": "the same, in the current folder",
    "harness/subject/plugin_loading.py: 'npu_conformance.adapters.'": "the plug-ins that pyproject.toml declares",
    "harness/subject/plugin_loading.py: 'npu_conformance.adapters.nnapi_c.plugin'": "the adapter of any shared library",
    "harness/subject/plugin_loading.py: 'npu_conformance.adapters.stacked.plugin'": "the adapter that stacks a runtime",
    "harness/subject/plugin_loading.py: 'npu_conformance.adapters.runtime_device.shim'": "shows a device of a runtime",
    "harness/subject/plugin_loading.py: 'not a npu_conformance.specs.plugin.Plugin'": "a message",
    "harness/subject/plugin_loading.py: '; npu_conformance.adapters.engine.engine_plugin('": "a message",
    "harness/subject/plugin_loading.py: 'npu_conformance.adapters.engine_interface'": "engines are known by this name",
    "adapters/engine_interface.py: import_module(name)": "the optional package of an engine, none of the project's",
    "cli/commands/_witness.py: import_module(module)": "an engine of the user's own",
    "corpus/importers/aosp/confinement.py: import_module(name)": "loads what a specification may import, before it may",
    "benchmarks/bench_fuzz.py: import_module(module)": "drivers with planted defects",
    "faults/code_swap.py: import_module(module_name)": "a fault names the module that it edits",
    "faults/source_edits.py: import_module(f'{PACKAGE}.{module}')": "a fault names the module that it edits",
    "faults/mutants/targets.py: import_module(f'npu_conformance.{name}')": "a mutant names the module that it edits",
    "faults/mutants/targets.py: 'npu_conformance.'": "a mutant names the module that it edits",
    "reference/extensions/own.py: 'com.npu_conformance.'": "the names of the reference's extensions begin so",
    "harness/judge/origin.py: 'npu_conformance.'": "the packages whose frames are the suite's",
    "harness/judge/origin.py: 'npu_conformance.specs.'": "classes that are no plug-in's",
    "specs/diagnostics/stacks.py: 'npu_conformance.harness.'": "frames that are left out of a traceback",
    "simulation/demo/processes.py: 'npu_conformance.harness.subject.serve'": "the command line of another process",
}
"""What names a module of another package by a string, or one that only the run knows, and why it may."""

SOURCE_TEXTS = {
    "benchmarks.bench_items": "a conftest.py for pytest",
    "cli.commands._operation_skeletons": "the files of a new operation",
    "faults.runtime.flow_variants": "edits of the reference's runtime",
    "fuzz.lib.campaign.round_process": "the script of a fuzzer's process",
}
"""Modules whose strings are source code that they write."""

CIRCLES = {
    "corpus.importers.aosp": "AOSP's specification language: each of its classes makes objects of the others",
}
"""Packages whose modules may import each other in a circle, and why."""


@pytest.fixture(autouse=True)
def _nothing_is_garbage() -> Iterator[None]:
    """To look for some among the trees of all modules takes twice as long as to make the trees."""
    gc.disable()
    yield
    gc.enable()


@cache
def modules() -> dict[str, Path]:
    """Every module of the project by its name below the package; of benchmarks by its whole name."""
    files = [path for folder in sorted(FOLDERS | {"benchmarks"}) for path in sorted((ROOT / folder).rglob("*.py"))]
    parts = {path: path.relative_to(ROOT).with_suffix("").parts for path in files}
    return {".".join(name[:-1] if name[-1] == "__init__" else name): path for path, name in parts.items()}


@cache
def tree(name: str) -> ast.Module:
    """The source of a module."""
    return ast.parse(modules()[name].read_text())


@cache
def imports(name: str) -> frozenset[str]:
    """The modules of the project that a module imports anywhere, for types alone or in functions included."""
    found: set[str] = set()
    for node in ast.walk(tree(name)):
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            inner = {f"{node.module}.{alias.name}" for alias in node.names}
            found |= {below(each) if below(each) in modules() else node.module for each in inner}
    return frozenset(map(below, found)) & modules().keys() - {name}


def below(name: str) -> str:
    return name.removeprefix(f"{PACKAGE}.")


def reached(starts: Iterable[str]) -> set[str]:
    """The modules that are loaded where some are, the packages around each included."""
    found: set[str] = set()
    waiting = list(starts)
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            waiting += [*imports(name), *packages(name)]
    return found


def packages(name: str) -> list[str]:
    """The packages that a module is in, as they are loaded before it."""
    parts = name.split(".")
    return [".".join(parts[:length]) for length in range(1, len(parts))]


def test_no_package_is_reached_by_a_string() -> None:
    found = {f"{path.relative_to(ROOT)}: {text}" for name, path in modules().items() for text in by_string(name)}
    assert found == set(BY_STRING)


def by_string(name: str) -> Iterator[str]:
    """The calls and the strings of a module by which another package can be reached."""
    own = name.partition(".")[0]
    silent = set(map(id, ast.walk(tree(name)) if name in SOURCE_TEXTS else docstrings(tree(name))))
    for node in ast.walk(tree(name)):
        if isinstance(node, ast.Call) and is_import(node) and not is_inside(node.args[0], own):
            yield ast.unparse(node).removeprefix("importlib.").removeprefix("util.")
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in silent:
            named = set(re.findall(rf"\b{PACKAGE}\.(\w*)", node.value)) & {*FOLDERS, ""}
            if named - {own}:
                yield repr(node.value)


def is_import(call: ast.Call) -> bool:
    """True for a call of a function that finds modules by name."""
    function = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
    return bool(call.args) and function in FINDERS


def is_inside(argument: ast.expr, own: str) -> bool:
    """True where the module named is a known one, or lies below the own package, or below one that is imported."""
    first = argument.values[0] if isinstance(argument, ast.JoinedStr) else argument
    if isinstance(first, ast.FormattedValue):
        return ast.unparse(first.value).rpartition(".")[2] == "__name__"
    if not isinstance(first, ast.Constant):
        return False
    return not isinstance(argument, ast.JoinedStr) or str(first.value).startswith(f"{PACKAGE}.{own}.")


def docstrings(module: ast.Module) -> Iterator[ast.AST]:
    """The strings that stand alone as statements."""
    return (node.value for node in ast.walk(module) if isinstance(node, ast.Expr))


def test_imports_go_in_no_circle() -> None:
    arrows = {name: {other for other in imports(name) if not is_known_circle(name, other)} for name in modules()}
    assert not in_circles(arrows)


def is_known_circle(name: str, other: str) -> bool:
    return any(name.startswith(f"{package}.") and other.startswith(f"{package}.") for package in CIRCLES)


def in_circles(arrows: dict[str, set[str]]) -> dict[str, set[str]]:
    """The arrows that are left where modules that nothing is left for, or that are left for nothing, are taken away."""
    while arrows:
        imported = set().union(*arrows.values())
        left = {name: others & arrows.keys() for name, others in arrows.items() if others and name in imported}
        if left == arrows:
            break
        arrows = left
    return arrows


def is_program(module: ast.Module) -> bool:
    """True where the text that ends a program is no part of a string."""
    return any(isinstance(node, ast.If) and ast.unparse(node.test) == "__name__ == '__main__'" for node in module.body)


STARTED_BY_PATH = {"corpus.importers.aosp.confined", "faults.npu_scheduling.tool"}
"""Programs that are no `-m`: the packages around them are not loaded before them."""
PROGRAMS = [name for name, path in modules().items() if f"\n{MAIN}" in path.read_text() and is_program(tree(name))]


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_does_not_load_its_own_module_again(name: str) -> None:
    around = [] if name in STARTED_BY_PATH else packages(name)
    assert name not in reached({*imports(name), *around})


def test_one_case_makes_no_dataclasses(tmp_path: Path) -> None:
    """Python compiles the methods of each when it is imported, about a millisecond, and every start waits for it."""
    words = [
        "run",
        "vts.generated.ADD.float32_none_same",
        "--plugin",
        "reference",
        "-q",
        "--report",
        str(tmp_path / "r"),
    ]
    warm_python.run("-m", "npu_conformance", *words)  # the first start after a change of the suites makes all cases
    command = [sys.executable, "-c", ONE_CASE, *words]
    for _ in range(2):  # the first run after a change of the sources makes what is kept, and imports more
        ran = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert set(ran.stderr.split()) <= DATACLASSES, ran.stderr
