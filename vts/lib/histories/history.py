"""One history of a driver while it goes on: what lives, what is in memory, and what an execution has to give."""

from __future__ import annotations

import dataclasses
import random
from collections.abc import Collection, Sequence

import msgspec

from npu_conformance.harness.judge import checks
from npu_conformance.harness.judge.verdicts import NotSupported
from npu_conformance.harness.run import preparation
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.harness.run.executing.execution import Execution, shape_rules, timing_rules
from npu_conformance.harness.run.random_search import Told
from npu_conformance.specs.neuralnetworks.enums import ErrorStatus
from npu_conformance.specs.neuralnetworks.hal import PreparedModel
from npu_conformance.specs.neuralnetworks.types import (
    Model,
)
from npu_conformance.specs.versions import Version
from npu_conformance.vts.lib import addition
from npu_conformance.vts.lib.addition import SIZE, Addition, Values
from npu_conformance.vts.lib.caching.client import Client
from npu_conformance.vts.lib.deadlines import LATE, deadline
from npu_conformance.vts.lib.histories.memory import ROWS, Memories, Place, rows_of
from npu_conformance.vts.lib.histories.options import drawn_beside
from npu_conformance.vts.lib.histories.recipe_models import model_of
from npu_conformance.vts.lib.histories.recipes import Recipe
from npu_conformance.vts.lib.histories.things import Ask, Bound, Held, Living, OpenBurst, Pending, Root, Saved
from npu_conformance.vts.lib.load import is_too_much

MOST = 6
"""Of each kind that live at once."""


class Known(msgspec.Struct):
    """What all histories of a case share.

    recipes: those that the device supports, each in its type. waits: how often a call has waited for a fence of the
    client. finds_shapes: the numbers of outputs, and the ways to execute, with which the device has found shapes that
    nobody says. declines_shapes: it has declined to with others (NNHAL-SHAPE-009), and is not asked again.
    aborts_loops: it executes a loop without end until its timeout.
    """

    recipes: tuple[Recipe, ...]
    waits: int = 0
    finds_shapes: set[tuple[int, str]] = msgspec.field(default_factory=set)
    declines_shapes: bool = False
    aborts_loops: bool = True


def known(context: CaseContext, recipes: Sequence[Recipe], types: Sequence[Addition] = ()) -> Known:
    """Ask the device what it supports of these models. NotSupported where it is less than two.

    types: in which the models are asked for; the first that the device has if none are given.
    """
    pool = context.pool(SIZE)
    found = []
    for one in (
        dataclasses.replace(recipe, chosen=chosen)
        for chosen in types or (addition.supported(context),)
        for recipe in recipes
    ):
        pools = (pool.memory for _ in (one.constants if one.in_pool else ()))
        if one.since <= context.version and all(context.supported_operations(model_of(one, *pools))):
            found.append(one)
    if len(found) < 2:
        raise NotSupported("no two of the models are supported")
    return Known(tuple(found))


class History(Told):
    """What one client has done so far."""

    def __init__(self, context: CaseContext, subject: Known, chance: random.Random) -> None:
        """chance: says where tensors lie."""
        super().__init__()
        self.context, self.known, self.recipes = context, subject, subject.recipes
        self.version = context.version
        self.memories = Memories(context, chance)
        self.copies = {rows: context.pool(rows * SIZE) for rows in ROWS}
        self.models: list[Living] = []
        self.buffers: list[Held] = []
        self.bursts: list[OpenBurst] = []
        self.bound: list[Bound] = []
        self.saved: list[Saved] = []
        self.cached: set[Recipe] = set()
        """Models that the device has restored: it caches them."""
        self.roots: list[Root] = []
        self.pending: list[Pending] = []
        self.launched: list[Ask] = []
        """Asynchronous executions that have not been looked at."""
        self.asked: dict[int, Ask] = {}
        """The latest execution that was drawn of each model, by its number."""
        self.failing: PreparedModel | None = None
        """Has an activation as its input."""
        self.looping: PreparedModel | None = None
        """Has a loop that ends by its inputs alone."""
        self.allocated = self._prepared = 0

    def cache_client(self) -> Client | None:
        """The client of compilation caching; None where the device does not cache."""
        client = Client(self.context)
        return client if client.caches else None

    def add(self, recipe: Recipe, prepared_model: PreparedModel) -> Living:
        """Keep a prepared model."""
        self._prepared += 1
        living = Living(self._prepared, recipe, prepared_model)
        self.models.append(living)
        return living

    def model(self, recipe: Recipe) -> Model:
        """The model of a recipe, with a pool for each constant that lies in one."""
        constants = recipe.constants if recipe.in_pool else ()
        return model_of(recipe, *(self.context.filled_pool(recipe.chosen.packed(one)) for one in constants))

    def prepare(self, chance: random.Random) -> Living | None:
        """Prepare one more model, which is supported; None where its deadline was missed."""
        living = [one.recipe for one in self.models]
        recipe = chance.choice(living if living and chance.random() < 0.25 else self.recipes)
        model = self.model(recipe)
        if chance.random() < 0.5:
            with checks.about("NNHAL-SUPPORT-004"):
                checks.that(all(self.context.supported_operations(model)), "a supported model is no longer supported")
        name = "short" if self.version >= Version.V1_3 and chance.random() < 0.2 else "none"
        with checks.telling(lambda: str(recipe)):
            answer = self.context.prepare(
                model,
                priority=chance.randrange(3),
                preference=chance.randrange(3),
                deadline=deadline(name, self.version),
                **drawn_beside(self.version, chance),
            )
            if name == "short" and answer.prepared_model is None:
                if answer.status not in LATE:
                    preparation.needs_room(answer)
                checks.member(answer.status, LATE, "status of a preparation with a deadline")
                return None
            return self.add(recipe, preparation.model_of(answer))

    @property
    def busy(self) -> set[Held]:
        """The buffers of executions that are under way."""
        asked = [*(pending.ask for pending in self.pending), *self.launched]
        return {one for ask in asked for one in ask.entries if isinstance(one, Held)}

    @property
    def free_buffers(self) -> list[Held]:
        """The buffers of no execution that is under way."""
        busy = self.busy
        return [one for one in self.buffers if one not in busy]

    def value(self, argument: Place | Held) -> Values:
        """What an input holds."""
        values = argument.values if isinstance(argument, Held) else self.memories.values[argument]
        assert values is not None
        return values

    def judge(self, ask: Ask, execution: Execution, way: str, *, measured: bool, what: str) -> None:
        """See that an execution succeeded, and that its outputs are what its inputs give. way: to execute."""
        if self._is_declined(ask, execution, way) or self.is_refused_for_others(ask, execution):
            return
        timing_rules(self.context, execution, measured=measured)
        shape_rules(execution)
        with checks.about("NNHAL-EXECUTE-001"):
            checks.status(execution.status, {ErrorStatus.NONE}, what)
        self._judge_shapes(ask, execution, what)
        self.take(ask, what)

    def shapes(self, ask: Ask) -> list[tuple[int, ...]]:
        """Dimensions of each output."""
        recipe = ask.living.recipe
        return [recipe.shape(rows, ask.columns) for rows in recipe.rows(list(ask.rows))]

    def _is_declined(self, ask: Ask, execution: Execution, way: str) -> bool:
        """True where the device finds no shapes, which it may decline from the first time on (NNHAL-SHAPE-009)."""
        kind = (len(ask.outputs), way)
        if not ask.hides_shapes or kind in self.known.finds_shapes:
            return False
        if execution.status != ErrorStatus.GENERAL_FAILURE:
            self.known.finds_shapes.add(kind)
            return False
        self.known.declines_shapes = True
        self.leave_outputs(ask)
        return True

    @checks.about("NNHAL-SHAPE-002")
    def _judge_shapes(self, ask: Ask, execution: Execution, what: str) -> None:
        """Shapes need not be told where model and request say all of them."""
        if execution.output_shapes or ask.hides_shapes:
            found = [(shape.dimensions, shape.is_sufficient) for shape in execution.output_shapes]
            checks.equal(found, [(shape, True) for shape in self.shapes(ask)], f"shapes of the outputs, {what}")

    @property
    def may_hide_shapes(self) -> bool:
        """True where an execution may leave the shapes of its outputs open, since HAL 1.2 (NNHAL-REQUEST-010)."""
        return self.version >= Version.V1_2 and not self.known.declines_shapes

    def is_refused_for_others(self, ask: Ask, execution: Execution, expected: Collection[int] = ()) -> bool:
        """True where a device takes no execution beside those that it has; what the outputs hold is not known then.

        expected: the statuses that the execution is to have alone.
        """
        if (
            execution.status in expected
            or not (self.pending or self.launched)
            or not is_too_much(self.context, execution.status)
        ):
            return False
        self.leave_outputs(ask)
        return True

    def leave_outputs(self, ask: Ask) -> None:
        """Whether a refused execution empties the buffers of its outputs is free: they are used no more."""
        self.forget_outputs(ask)
        self.buffers = [one for one in self.buffers if one not in ask.outputs]

    @checks.about("NNHAL-PREPARE-013")
    def take(self, ask: Ask, what: str) -> None:
        """See that the outputs are right, and know them from now on."""
        recipe = ask.living.recipe
        expected = ask.expected([self.value(one) for one in ask.inputs])
        for number, (output, values) in enumerate(zip(ask.outputs, expected, strict=True)):
            if isinstance(output, Held):
                output.values, output.columns = values, ask.columns
                if recipe.chosen.scale:  # it may be off by a step, from which further sums begin
                    output.values = self.read(output, f"output {number}, {what}", recipe.additions)
            else:
                self.memories.take(output, values, recipe.chosen, f"output {number}, {what}", recipe.additions)

    def forget_outputs(self, ask: Ask) -> None:
        """An execution has failed: what its outputs hold is not said, and its buffers are uninitialised."""
        for output in ask.outputs:
            if isinstance(output, Held):
                output.values = None
            else:
                self.memories.clear(output)

    @checks.about("NNHAL-MEMDOMAIN-022")
    def read(self, held: Held, what: str, additions: int = 1) -> Values:
        """See that a buffer holds its values; returns them as they are. additions: that they may be off by."""
        assert held.values is not None
        rows = rows_of(held.values)
        pool = self.copies[rows]
        pool.write(0, b"\xa5" * rows * SIZE)
        checks.works(lambda: held.made.buffer.copy_to(pool.memory), f"copyTo, {what}")
        data = bytes(pool.read(0, rows * SIZE))
        held.chosen.check(data, held.values, f"{held}, {what}", additions)
        return held.chosen.unpacked(data)[: len(held.values)]
