"""Which cases of the suites a run takes: suites, globs over ids, -k, scope."""

from __future__ import annotations

import re
from collections.abc import Container, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from npu_conformance.harness.judge.waivers import glob
from npu_conformance.harness.run import suites
from npu_conformance.harness.run.applicability import inapplicable
from npu_conformance.harness.run.cases import Case, Scope
from npu_conformance.harness.run.expression import compile_expression
from npu_conformance.specs import ids
from npu_conformance.specs.documents import DocumentError, results
from npu_conformance.specs.manifest import Manifest
from npu_conformance.specs.versions import Version

_DEPTH = {scope: depth for depth, scope in enumerate(Scope)}
_WILD = re.compile(r"[*?]")


@dataclass(frozen=True)
class Wanted:
    """What was asked for.

    targets: suites, areas and subjects (`vts.generated.PAD`), ids, and globs over ids; empty for every suite.
    expression: of -k. vectors: external ones.
    """

    targets: tuple[str, ...] = ()
    expression: str = ""
    scope: Scope = Scope.DEFAULT
    vectors: Path | None = None
    shard: str = ""

    def described(self, deselected: int = 0) -> results.Selection:
        """Return it as the header of a run records it."""
        return results.Selection(
            suites=tuple(target for target in self.targets if target in suites.SUITES),
            patterns=tuple(target for target in self.targets if target not in suites.SUITES),
            expression=self.expression,
            scope=self.scope.value,
            shard=self.shard,
            deselected=deselected,
        )


@dataclass
class Selected:
    """Cases that were taken, and others that were looked at: areas that cannot be meant are not even imported."""

    cases: list[Case] = field(default_factory=list)
    others: list[Case] = field(default_factory=list)

    def only(self, names: Container[str]) -> Selected:
        """Return a selection that leaves out all other cases."""
        kept = [case for case in self.cases if case.id in names]
        others = [case for case in self.cases if case.id not in names]
        return Selected(kept, [*self.others, *others])

    def deselected(self, manifest: Manifest, version: Version) -> int:
        """How many cases the selection leaves out, but for those known not to apply.

        Of cases that were not looked at only the ids are known, from the lock: each of them may apply.
        """
        seen = {case.id for case in (*self.cases, *self.others)}
        unseen = sum(name not in seen for name in _locked_cases())
        return unseen + sum(not inapplicable(case, manifest, version) for case in self.others)


def select(wanted: Wanted) -> Selected:
    """Return the cases that were asked for, in the order of the suites; only areas that a target can mean are imported.

    Raises DocumentError for an expression that cannot be read and for a target that means no case.
    """
    matches = compile_expression(wanted.expression)
    targets = [_Target(text) for text in wanted.targets]
    chosen = Selected()
    for case in _candidates(wanted, targets):
        meant = [target for target in targets if target.means(case.id)]
        taken = (meant or not targets) and in_scope(case, wanted.scope) and matches(case.id)
        (chosen.cases if taken else chosen.others).append(case)
    for target in targets:
        target.require_meaning()
    return chosen


def in_scope(case: Case, scope: Scope) -> bool:
    """True where a run of this scope includes the case."""
    return _DEPTH[case.scope] <= _DEPTH[scope]


def _locked_cases() -> Iterator[str]:
    """The ids of all cases of the suites that are installed, without importing them."""
    prefixes = tuple(f"{suite}." for suite in suites.present())
    retired = ids.retired()
    return (name for name in ids.locked() if name.startswith(prefixes) and name not in retired)


def _candidates(wanted: Wanted, targets: list[_Target]) -> Iterator[Case]:
    touched = [suite for suite in suites.present() if not targets or any(target.may_mean(suite) for target in targets)]
    for suite in touched:
        for name in suites.areas(suite):
            if not targets or any(target.may_mean(f"{suite}.{name}") for target in targets):
                yield from _cases_of_area(f"{suite}.{name}", targets)
    if wanted.vectors is not None:
        yield from suites.external(wanted.vectors, touched)


def _cases_of_area(prefix: str, targets: list[_Target]) -> Iterator[Case]:
    """The cases of an area; only those of the subjects that are meant where the area can find them by subject."""
    area = suites.area(*prefix.split("."))
    subjects = {target.subject(prefix) for target in targets if target.may_mean(prefix)}
    if not subjects or None in subjects or not hasattr(area, "cases_under"):
        yield from area.cases()
        return
    for subject in sorted(filter(None, subjects)):
        yield from area.cases_under(subject)


class _Target:
    """One word of the request: the beginning of ids, up to a dot or bracket, or a glob over whole ids.

    A dot at its end is left out: `vts.memory.` means what `vts.memory` does.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        self._beginning = text.rstrip(".")
        self._is_glob = _WILD.search(text) is not None
        self._literal = _WILD.split(self._beginning, maxsplit=1)[0]
        self._pattern = glob(text)
        self._has_meaning = False

    def may_mean(self, prefix: str) -> bool:
        """True where ids that begin with the prefix and a dot can be meant; what stands before a wildcard tells."""
        longer = f"{prefix}."
        if longer.startswith(self._literal) and (self._is_glob or longer[len(self._literal)] == "."):
            return True
        return self._literal.startswith(longer)

    def subject(self, prefix: str) -> str | None:
        """The one subject of an area (`ADD` in vts.generated) whose cases can be meant; None where it may be any."""
        if not self._literal.startswith(f"{prefix}."):
            return None
        name, dot, _ = self._literal.removeprefix(f"{prefix}.").partition(".")
        return name if dot or not self._is_glob else None

    def means(self, case_id: str) -> bool:
        """True where the id is meant."""
        if self._is_glob:
            found = self._pattern.fullmatch(case_id) is not None
        else:
            found = case_id == self._beginning or case_id.startswith((f"{self._beginning}.", f"{self._beginning}["))
        self._has_meaning |= found
        return found

    def require_meaning(self) -> None:
        """Refuse a word that means no case: it must be a mistake."""
        if not self._has_meaning and self.text in ids.retired():
            raise DocumentError(self.text, "", ids.retired()[self.text].told())
        if not self._has_meaning:
            expected = " ".join(suites.present())
            near = _near(self.text)
            meant = (
                f"did you mean {' or '.join(near)}?"
                if near
                else f"expected a suite ({expected}), an area, an id or a glob"
            )
            raise DocumentError(self.text, "", f"no case is meant; {meant}")


def _near(text: str) -> list[str]:
    """Return suites, areas, subjects and ids with nearly the spelling of the text, the nearest first."""
    import difflib
    from itertools import accumulate

    known: dict[str, None] = {}
    for case in suites.cases(suites.present()):
        known.update(dict.fromkeys(accumulate(case.id.split("."), "{}.{}".format)))
    return difflib.get_close_matches(text, known, n=3, cutoff=0.8 if "." in text else 0.6)
