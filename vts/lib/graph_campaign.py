"""Runs random graphs of many seeds on one device, shrinks what fails, and keeps it in files.

It is what `npu-conformance graphs` does, without the command line.
"""

from __future__ import annotations

import dataclasses
import functools
import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
from msgspec.structs import replace

from npu_conformance import __version__
from npu_conformance.corpus import random_graphs
from npu_conformance.corpus.random_graphs import aosp_specification, choices, official, recipes
from npu_conformance.corpus.random_graphs.recipes import GraphRecipe
from npu_conformance.corpus.random_graphs.shrinking import TRIALS, shrunk
from npu_conformance.corpus.vectors import writing
from npu_conformance.harness.judge.graphs import QUICKLY, THOROUGHLY, decided
from npu_conformance.harness.judge.outcome_table import is_red
from npu_conformance.harness.report import writing as reports
from npu_conformance.harness.run.digests import digests
from npu_conformance.harness.run.engine import Engine, EngineOptions, OnFailure
from npu_conformance.harness.run.failures import FailureWriter, file_name
from npu_conformance.harness.run.operation_evidence import has_pass
from npu_conformance.harness.run.replay import Discard, run_one
from npu_conformance.specs.documents.results import FAILURE_FILE, NOT_WRITTEN
from npu_conformance.specs.outcomes import Outcome
from npu_conformance.vts.lib.graph_tally import Found, Tally
from npu_conformance.vts.lib.random_graph_cases import case_of

if TYPE_CHECKING:
    from npu_conformance.corpus.vectors import Array, Vector
    from npu_conformance.harness.subject.handle import SubjectHandle
    from npu_conformance.specs.documents.results import CaseResult

AREA = "vts.random_graphs.drawn"
SIZES = {"single": 1, "small": recipes.SMALL, "large": recipes.LARGE}
_SAMPLED = 64
"""Of one graph in so many it is worked out what share of its elements is decided."""
_HANGING_TRIALS = 10
"""How often a graph that hangs is tried while it shrinks: each time costs the deadline."""
_MOST_SHRUNK = 20
"""Findings that are shrunk and kept; those behind them are counted."""


@dataclass(frozen=True)
class Plan:
    """Which graphs are run: the recipes, of which each seed has one in turn."""

    recipes: Sequence[GraphRecipe]

    def graph(self, seed: int) -> Vector:
        """The graph of a seed. Raises LookupError where its recipe leads to none."""
        return random_graphs.graph(seed, self.recipes[seed % len(self.recipes)])


def plan(subject: SubjectHandle, size: str, types: Sequence[str] = (), operations: Sequence[str] = ()) -> Plan:
    """The recipes of a size for a device, narrowed down to types as ids spell them and to operations.

    Raises LookupError where the version of the device has no such operation.
    """
    narrowed = [
        dataclasses.replace(recipe, version=subject.version, operations=recipe.operations or tuple(operations))
        for recipe in _recipes(SIZES[size], types, operations)
        if recipe.version <= subject.version or not recipe.form
    ]
    possible = [recipe for recipe in narrowed if _is_possible(recipe)]
    if not possible:
        raise LookupError(f"HAL {subject.version} has no operation that fits")
    return Plan(possible)


def _recipes(size: int, types: Sequence[str], operations: Sequence[str]) -> list[GraphRecipe]:
    if size > 1:
        named = official.recipes(size)
        return [recipe for name, recipe in named.items() if not types or name.rpartition("_rank")[0] in types]
    forms = [recipe for name in official.operations(operations) for recipe in official.single(name).values()]
    wanted = {official.TYPES[name][0] for name in types}
    fitting = [recipe for recipe in forms if not wanted or official.has_type(recipe, wanted)]
    return [dataclasses.replace(recipe, types=()) for recipe in fitting]


def _is_possible(recipe: GraphRecipe) -> bool:
    try:
        choices.choices(recipe)
    except LookupError:
        return False
    return True


class Campaign:
    """One device, many seeds. is_over: the device could not be restarted, or somebody interrupted the shrinking.

    told: is called with the seed of a graph, and what it came to, before that is shrunk, which may take a minute.
    """

    def __init__(
        self,
        subject: SubjectHandle,
        plan: Plan,
        folder: Path,
        plugin_words: str = "",
        told: Callable[[int, CaseResult], None] = lambda seed, result: None,
    ) -> None:
        self.tally, self.is_over, self.is_interrupted = Tally(), False, False
        self._subject, self._plan, self._folder, self._plugin_words = subject, plan, folder, plugin_words
        self._told = told

    def run(self, seed: int) -> Found | None:
        """Run the graph of a seed; returns what is wrong, shrunk and kept, if anything is.

        Raises KeyboardInterrupt; what was found by then is returned as it was found, with is_interrupted.
        """
        tally = self.tally
        try:
            vector = self._plan.graph(seed)
        except LookupError:
            tally.impossible += 1
            return None
        result = self._verdict(vector)
        self._count(seed, vector, result)
        if not is_red(result.outcome):
            return None
        if len(tally.findings) >= _MOST_SHRUNK:
            tally.unshrunk += 1
            return None
        self._told(seed, result)
        try:
            found = self._kept(seed, replace(vector, name=self._name(vector)), result)
        except KeyboardInterrupt:
            self.is_over = self.is_interrupted = True
            found = Found(seed, result, _types(vector), len(vector.operations), ())
        tally.findings.append(found)
        return found

    def _count(self, seed: int, vector: Vector, result: CaseResult) -> None:
        tally = self.tally
        tally.graphs += 1
        tally.operations += len(vector.operations)
        for name in ("elements", "widened", "undecided"):
            number = result.notes.get(name, 0)
            assert isinstance(number, int)
            setattr(tally, name, getattr(tally, name) + number)
        if has_pass(result):
            tally.passed += 1
            tally.covered.update(result.executed)
        if result.outcome is Outcome.NOT_SUPPORTED:
            tally.not_supported += 1
            tally.count_refused({use.operation for model in result.refused for use in model if not use.supported})
        if tally.graphs % _SAMPLED == 1:
            right, all_elements = decided(vector)
            tally.sampled += all_elements
            tally.sampled_decided += right

    def _verdict(
        self,
        vector: Vector,
        on_failure: OnFailure | None = None,
        seen: dict[str, Array] | None = None,
        rounds: Sequence[int] = THOROUGHLY,
    ) -> CaseResult:
        case = case_of(vector, f"{AREA}.{vector.name}", seen, rounds)
        options = EngineOptions(suite_version=__version__)
        run = run_one(Engine([case], self._subject, Discard(), options, on_failure=on_failure))
        self.is_over = run.ending == "subject-lost"
        return run.results[0]

    def _kept(self, seed: int, vector: Vector, result: CaseResult) -> Found:
        trials = _HANGING_TRIALS if result.outcome is Outcome.HANG else TRIALS
        small = shrunk(vector, self._fails_like(result), trials)
        seen: dict[str, Array] = {}
        again = self._verdict(small, self._writer, seen)
        if not is_red(again.outcome):
            # What fails only now and then is kept as it was found.
            small, again = vector, self._verdict(vector, self._writer, seen)
        with reports.writing(self._folder, "what was found"):
            written = self._write(small, seen, again)
        files = tuple(path.relative_to(self._folder).as_posix() for path in written)
        return Found(seed, again if is_red(again.outcome) else result, _types(small), len(vector.operations), files)

    def _name(self, vector: Vector) -> str:
        """The name of a finding: seeds are the same for graphs of other sizes, types and operations, and plug-ins."""
        graph = msgspec.json.encode((self._subject.manifest.name, writing.document_of(vector)))
        return f"{vector.name}_{hashlib.sha256(graph).hexdigest()[:8]}"

    def _fails_like(self, result: CaseResult) -> Callable[[Vector], bool]:
        def fails(vector: Vector) -> bool:
            return not self.is_over and self._verdict(vector, rounds=QUICKLY).outcome is result.outcome

        return fails

    @functools.cached_property
    def _writer(self) -> FailureWriter:
        found = digests(self._subject.manifest, self._subject.version, {})
        return FailureWriter(self._folder, __version__, found, self._plugin_words)

    def _write(self, vector: Vector, outputs: dict[str, Array], result: CaseResult) -> tuple[Path, ...]:
        """Write the graph as a vector and as a specification beside its failure file; returns all three.

        Raises UnwritableError where there is no failure file for another reason than that the graph is right now.
        """
        replayed = self._folder / file_name(result.case)
        vectors = self._folder / vector.name / f"{vector.operation.lower()}.json"
        vectors.parent.mkdir(parents=True, exist_ok=True)
        vectors.write_text(writing.text(vector.operation, [writing.document_of(vector)]))
        written = [replayed, vectors]
        if not vector.referenced:
            written.append(self._folder / f"{vector.name}.mod.py")
            device = {self._subject.manifest.name: outputs} if outputs else {}
            written[-1].write_text(aosp_specification.specification(vector, device))
        note = str(result.notes.get(FAILURE_FILE, ""))
        if note.startswith(NOT_WRITTEN):
            raise reports.UnwritableError(f"{replayed}: {note}")
        return tuple(path for path in written if path.exists())


def _types(vector: Vector) -> tuple[str, ...]:
    return tuple(operation.type for operation in vector.operations)
