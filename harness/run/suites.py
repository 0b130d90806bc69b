"""Finds suites, their areas and cases. Nothing of a suite is imported before something in it is asked for."""

from __future__ import annotations

import gc
import importlib
import importlib.util
import pkgutil
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any

from npu_conformance.harness.run.cases import Case
from npu_conformance.specs import ids
from npu_conformance.specs.documents import DocumentError
from npu_conformance.specs.ids import parse

PACKAGE = "npu_conformance"
_LONGEST_REASON = 300
SUITES = ("vts", "cts", "fuzz", "mlts")
"""The suites, in order of running. Each is a package with AREAS, names of modules that have `cases()`; what the cases
share lies in its folder `lib`. An area may be a package of such modules, whose `cases()` is `collect(__name__)`.

A large area may also have `cases_under(subject)`: the cases whose ids begin with `suite.area.subject.`, found quickly.
"""


class UnknownCaseError(DocumentError):
    """Raised for the id of a case that no suite has."""

    def __init__(self, case_id: str, rule: str) -> None:
        super().__init__(case_id, "", rule)


def present(suites: Iterable[str] = SUITES) -> tuple[str, ...]:
    """The suites that are installed, without importing them."""
    return tuple(name for name in suites if importlib.util.find_spec(f"{PACKAGE}.{name}") is not None)


def areas(suite: str) -> tuple[str, ...]:
    """Names of the areas of a suite; none where it declares none yet. Raises DocumentError for an unknown suite."""
    if suite not in SUITES:
        raise DocumentError(suite, "", f"no such suite; expected one of {' '.join(SUITES)}")
    return tuple(getattr(importlib.import_module(f"{PACKAGE}.{suite}"), "AREAS", ()))


def all_areas() -> Iterator[str]:
    """Yield the areas, `suite.area`, of the suites that are installed, in order of running."""
    return (f"{suite}.{name}" for suite in present() for name in areas(suite))


def area(suite: str, name: str) -> ModuleType:
    """Import one area of a suite."""
    return importlib.import_module(f"{PACKAGE}.{suite}.{name}")


def collect(package: str) -> Iterator[Case]:
    """The cases of every module of an area that is a package, by the alphabet."""
    for module in pkgutil.iter_modules(importlib.import_module(package).__path__):
        yield from importlib.import_module(f"{package}.{module.name}").cases()


def cases(suites: Sequence[str] = SUITES) -> Iterator[Case]:
    """All cases of the suites, in order: headers only, nothing is built."""
    for suite in suites:
        for name in areas(suite):
            yield from area(suite, name).cases()


@contextmanager
def without_collector() -> Iterator[None]:
    """Make many cases meanwhile, all of which stay: the garbage collector would go through them again and again."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def find(case_id: str) -> Case:
    """The case of an id, importing its own area only. Raises UnknownCaseError."""
    suite, name = _area_of(case_id)
    wanted = case_id.partition("#")[0]
    module = area(suite, name)
    known = module.cases_under(parse(case_id).subject) if hasattr(module, "cases_under") else module.cases()
    found: Case | None = next((case for case in known if case.id == wanted), None)
    if found is not None:
        return found
    retirement = ids.retired().get(wanted)
    raise UnknownCaseError(case_id, retirement.told() if retirement else f"{suite}.{name} has no such case")


def rebuild(case_id: str, payload: Any) -> Case:
    """Make a case from the payload of a failure file, by its area's `case_from(payload)`.

    Raises UnknownCaseError, and DocumentError for a payload that no case can be made of.
    """
    suite, name = _area_of(case_id)
    build = getattr(area(suite, name), "case_from", None)
    if build is None:
        raise UnknownCaseError(case_id, f"{suite}.{name} cannot run a case from a failure file")
    try:
        made: Case = build(payload)
    except DocumentError:
        raise
    except Exception as error:  # the payload comes from a file: whatever it makes the area raise is told of the file
        reason = f"no case can be made of it: {type(error).__name__}: {str(error)[:_LONGEST_REASON]}"
        raise DocumentError(f"failure file of {case_id}", "$.payload", reason) from error
    return made


def external(paths: Sequence[Path], suites: Sequence[str] = SUITES) -> Iterator[Case]:
    """Cases over vectors from outside (--vectors), from every area that makes such cases. Raises DocumentError."""
    for suite in suites:
        for name in areas(suite) if paths else ():
            yield from external_of(area(suite, name), paths)


def external_of(area: ModuleType, paths: Sequence[Path]) -> Iterator[Case]:
    """Those of one area, by its `cases_from(path)`. Raises DocumentError, also for an id that two of the paths have."""
    read: Callable[[Path], Iterator[Case]] = getattr(area, "cases_from", lambda path: iter(()))
    found: dict[str, Path] = {}
    for path in paths:
        for case in read(path):
            if (other := found.setdefault(case.id, path)) is not path:
                raise DocumentError(str(path), "", f"{case.id} is in {other}, too")
            yield case


def _area_of(case_id: str) -> tuple[str, str]:
    try:
        parts = parse(case_id)
    except ValueError as error:
        raise UnknownCaseError(case_id, str(error)) from None
    if parts.suite not in SUITES or parts.area not in areas(parts.suite):
        raise UnknownCaseError(case_id, f"no suite has an area {parts.suite}.{parts.area}")
    return parts.suite, parts.area
