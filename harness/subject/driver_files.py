"""The files that hold the code of a plug-in, found without importing it: they tell one build from another.

What a module imports from elsewhere, what a library is linked with, and who listens at an address are not known here.
"""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Iterable, Iterator
from importlib import util
from importlib.machinery import ModuleSpec, PathFinder
from pathlib import Path

from npu_conformance.harness.kept import ROOT
from npu_conformance.harness.subject.command_words import words_of
from npu_conformance.harness.subject.plugin_loading import SHIM, STACKED, LoadError, is_library, target_of
from npu_conformance.specs.documents import DocumentError

NamedFile = tuple[str, Path]
"""A file with the name under which it counts: the same wherever the plug-in is installed."""

_OURS = "npu_conformance"
"""The suite's own package, in which the plug-ins are that are bundled."""
_BUNDLED = ("adapters", "reference")
"""The folders that hold the code of these. Those of the suites count as the suite."""
_OF_SYSTEM = ("/usr/bin/", "/bin/", "/usr/sbin/", "/sbin/")
"""Where programs are that belong to the machine."""


def code_of(spec: str) -> list[NamedFile]:
    """The files of the plug-in that `spec` names, sorted; none where that is not known.

    Of a module its package, or its file alone; of a shared library that file; of a command the program and each other
    word that is a file.
    """
    for prefix in (STACKED, SHIM):
        if spec.startswith(prefix):
            return code_of(spec.removeprefix(prefix))
    if spec.startswith("exec:"):
        return list(_of_command(spec.removeprefix("exec:")))
    if spec.startswith(("unix:", "tcp:")):
        return []
    if is_library(spec):
        return [(Path(spec).name, Path(spec))]
    try:
        return sorted(_of_module(target_of(spec).partition(":")[0]))
    except LoadError:  # no such plug-in: whoever starts it says so
        return []


def _of_command(command: str) -> Iterator[NamedFile]:
    try:
        program, *others = words_of("exec", command)
    except DocumentError:  # whoever starts it says so
        return
    files = [Path(word) for word in others if os.path.isfile(word)]
    found = shutil.which(program)
    if found is not None and not (files and found.startswith(_OF_SYSTEM)):  # such as node in "node driver.js"
        yield Path(found).name, Path(found)
    yield from ((file.name, file) for file in files)


def _of_module(name: str) -> Iterable[NamedFile]:
    """The code of the package that a module belongs to, below the last namespace; of a module without one, its file."""
    words = name.split(".")
    if words[0] == _OURS:
        folders = dict.fromkeys((*_BUNDLED, *words[1:2]))
        return [file for folder in folders for file in _of_package(ROOT / folder)]
    found = _found(words[0])
    for depth in range(2, len(words) + 1):
        if found is None or found.origin is not None:
            break
        found = _in(found.submodule_search_locations or (), ".".join(words[:depth]))
    if found is None or found.origin is None:
        return []
    file = Path(found.origin)
    return _of_package(file.parent) if found.submodule_search_locations is not None else [(file.name, file)]


def _found(name: str) -> ModuleSpec | None:
    """Where a module is that stands in no package: in the current folder first, as the plug-in's process looks."""
    with contextlib.suppress(ImportError, ValueError, OSError):
        return _in([os.getcwd()], name) or util.find_spec(name)
    return None


def _in(folders: Iterable[str], name: str) -> ModuleSpec | None:
    return PathFinder.find_spec(name, list(folders))


def _of_package(folder: Path) -> Iterator[NamedFile]:
    for path, folders, files in os.walk(folder):
        folders[:] = [inner for inner in folders if inner != "__pycache__" and not inner.startswith(".")]
        for name in files:
            if name.endswith(".py") or is_library(name):
                file = Path(path, name)
                yield file.relative_to(folder.parent).as_posix(), file
