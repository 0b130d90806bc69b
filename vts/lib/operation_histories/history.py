"""One history while it goes on: what lives, what is in memory, and how each execution is judged."""

from __future__ import annotations

import random
from collections.abc import Sequence
from contextlib import closing

import msgspec

from npu_conformance.corpus.constant_layouts import COPIED, LAYOUTS
from npu_conformance.harness.judge import checks
from npu_conformance.harness.run import preparation
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.harness.run.executing.execution import Execution, shape_rules, timing_rules
from npu_conformance.harness.run.random_search import Told
from npu_conformance.specs.neuralnetworks.enums import ErrorStatus
from npu_conformance.specs.neuralnetworks.hal import PreparedModel
from npu_conformance.specs.neuralnetworks.types import Model
from npu_conformance.vts.lib.histories.options import drawn_beside
from npu_conformance.vts.lib.histories.things import Root
from npu_conformance.vts.lib.load import is_too_much
from npu_conformance.vts.lib.operation_histories.known_models import KnownModel, Value, arguments_of
from npu_conformance.vts.lib.operation_histories.memory import Memory, Region
from npu_conformance.vts.lib.operation_histories.things import Ask, Bound, Held, Living, OpenBurst, Pending, Saved
from npu_conformance.vts.lib.support import support

MOST = 7
"""Of each kind that live at once."""
_WEIGHT = 3
"""How often a model of as many examples or more is drawn in place of one that has one."""


class Subject(msgspec.Struct):
    """What all histories of a case share: models that the device supports, and how often a call waited for a fence.

    layouts: in which else a model's constants may lie, as far as the device was asked.
    """

    models: list[KnownModel]
    waits: int = 0
    layouts: dict[tuple[KnownModel, str], bool] = msgspec.field(default_factory=dict)


class History(Told):
    """What one client has done so far with some models of a subject."""

    def __init__(
        self, context: CaseContext, subject: Subject, kinds: Sequence[KnownModel], chance: random.Random
    ) -> None:
        """kinds: the models that it prepares. chance: says where constants mostly lie."""
        super().__init__()
        self.kinds = kinds
        self.computed: set[tuple[KnownModel, str, bool]] = set()
        """Models with the ways by which the device has executed them, and whether a request hid shapes then."""
        self._layout = chance.choice((COPIED, *LAYOUTS))
        self.context, self.subject, self.version = context, subject, context.version
        self.memory = Memory(context, max(one.size for known in kinds for one in known.examples))
        self.models: list[Living] = []
        self.buffers: list[Held] = []
        self.bursts: list[OpenBurst] = []
        self.bound: list[Bound] = []
        self.saved: list[Saved] = []
        self.cached: set[KnownModel] = set()
        """Models that the device has restored: it caches them."""
        self.roots: list[Root] = []
        self.pending: list[Pending] = []
        self.asked: dict[int, Ask] = {}
        """The latest execution that was drawn of each model, by its number."""
        self.launched: list[Ask] = []
        """Asynchronous executions that have not been looked at."""
        self._prepared = self.allocated = 0

    def build(self, known: KnownModel, chance: random.Random) -> Model:
        """A model, with its constants in any layout that the device supports."""
        layout = chance.choice(known.layouts) if chance.random() < 0.3 else self._layout
        model = known.build(self.context.filled_pool, layout if layout in known.layouts else known.layouts[0])
        if not self._is_supported(known, layout, model):
            model = known.build(self.context.filled_pool, known.layouts[0])
        return model

    def _is_supported(self, known: KnownModel, layout: str, model: Model) -> bool:
        """Whether the device supports a model with its constants there; in the first layout it is known to."""
        if layout in known.layouts[1:] and (known, layout) not in self.subject.layouts:
            self.subject.layouts[known, layout] = all(support(self.context, model) or [False])
        return self.subject.layouts.get((known, layout), True)

    def add(self, known: KnownModel, prepared_model: PreparedModel, model: Model) -> Living:
        """Keep a prepared model."""
        self._prepared += 1
        living = Living(self._prepared, known, prepared_model, *arguments_of(model))
        self.models.append(living)
        return living

    def prepare(self, chance: random.Random) -> Living:
        """Prepare one more model, which is supported."""
        known = self.drawn(chance)
        model = self.build(known, chance)
        with checks.telling(lambda: str(known)):
            answer = self.context.prepare(
                model,
                priority=chance.randrange(3),
                preference=chance.randrange(3),
                **drawn_beside(self.version, chance),
            )
            return self.add(known, preparation.model_of(answer), model)

    def drawn(self, chance: random.Random) -> KnownModel:
        """A model: often of the family of one that lives, and rather one of several examples."""
        families = {one.known.family for one in self.models}
        near = [one for one in self.kinds if one.family in families]
        models = near if near and chance.random() < 0.6 else self.kinds
        return chance.choices(models, [min(len(one.examples), _WEIGHT) for one in models])[0]

    def any_model(self, chance: random.Random) -> Living:
        """A model that lives: often one for which there are buffers, and rather one of several examples."""
        known = {number for held in self.free_buffers for number, _, _ in held.roles}
        mine = [one for one in self.models if one.number in known]
        models = mine if mine and chance.random() < 0.5 else self.models
        return chance.choices(models, [min(len(one.known.examples), _WEIGHT) for one in models])[0]

    @property
    def under_way(self) -> list[Ask]:
        """Executions that have not ended."""
        return [*(one.ask for one in self.pending), *self.launched]

    @property
    def taken(self) -> list[Region]:
        """What executions that have not ended name of the memory."""
        return [region for ask in self.under_way for region in ask.regions]

    @property
    def free_buffers(self) -> list[Held]:
        """The buffers of no execution that is under way."""
        busy = {held for ask in self.under_way for held in ask.buffers}
        return [one for one in self.buffers if one not in busy]

    def is_free(self, ask: Ask) -> bool:
        """True where nothing that an execution names is in use, and its buffers live."""
        free, taken = self.free_buffers, self.taken
        return all(one in free for one in ask.buffers) and not any(
            mine.overlaps(other) for mine in ask.regions for other in taken
        )

    def judge(self, ask: Ask, execution: Execution, way: str, *, measured: bool) -> None:
        """See that an execution succeeded, and that its outputs are what its inputs give. way: to execute."""
        what = f"{way} execution of {ask}"
        if self._is_declined(ask, execution, way) or self.is_refused(ask, execution):
            return
        timing_rules(self.context, execution, measured=measured)
        shape_rules(execution)
        with checks.about("NNHAL-EXECUTE-001"):
            checks.status(execution.status, {ErrorStatus.NONE}, what)
        if execution.output_shapes or ask.hides_shapes:
            expected = [(one.dimensions, True) for one in ask.living.known.examples[ask.example].outputs]
            with checks.about("NNHAL-SHAPE-002"):
                found = [(shape.dimensions, shape.is_sufficient) for shape in execution.output_shapes]
                checks.equal(found, expected, f"shapes of the outputs, {what}")
        self.computed.add((ask.living.known, way, ask.hides_shapes))
        self.take(ask, what)

    def is_refused(self, ask: Ask, execution: Execution) -> bool:
        """True where a device takes no execution beside those that it has."""
        if not self.under_way or not is_too_much(self.context, execution.status):
            return False
        self.leave_outputs(ask)
        return True

    def _is_declined(self, ask: Ask, execution: Execution, way: str) -> bool:
        """True where the device takes no sizes from requests, or finds none, which it may (NNHAL-SHAPE-009).

        What it has taken once by this way it takes again.
        """
        if execution.status != ErrorStatus.GENERAL_FAILURE:
            return False
        is_new = (ask.living.known, way, ask.hides_shapes) not in self.computed
        if not is_new or not (ask.living.is_open or ask.hides_shapes):
            return False
        self.leave_outputs(ask)
        return True

    @checks.about("NNHAL-PREPARE-013")
    def take(self, ask: Ask, what: str) -> None:
        """See that the outputs are right, and know what buffers hold from now on."""
        known = ask.living.known
        expected = known.examples[ask.example].outputs
        found = [self._data(place, value, what) for place, value in zip(ask.outputs, expected, strict=True)]
        with checks.reworded(lambda message: f"{message}, {what}"):
            known.check(self.context, ask.example, found)
        for place, value, data in zip(ask.outputs, expected, found, strict=True):
            if isinstance(place, Held):
                place.value = Value(value.dimensions, data)

    def _data(self, place: Region | Held, value: Value, what: str) -> bytes:
        if isinstance(place, Region):
            return self.memory.take(place)[: len(value.data)]
        return self.read(place, len(value.data), what)

    @checks.about("NNHAL-MEMDOMAIN-022")
    def read(self, held: Held, size: int, what: str) -> bytes:
        """The bytes of a buffer with content."""
        with closing(self.context.pool(size)) as pool:
            memory = pool.memory
            checks.works(lambda: held.made.buffer.copy_to(memory), f"copyTo of {held}, {what}")
            return bytes(pool.read(0, size))

    def leave_outputs(self, ask: Ask) -> None:
        """An execution has not succeeded: its outputs are not known, and buffers are used no more."""
        for one in ask.outputs:
            if isinstance(one, Region):
                self.memory.take(one)
        self.buffers = [one for one in self.buffers if one not in ask.outputs]
