"""Inputs that are histories: JSON arrays of steps, each an object whose `do` says what happens. One step a line.

What a step does the target says; here steps are put in, left out, moved, doubled and edited, whatever they mean.
"""

from __future__ import annotations

import itertools
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

import msgspec

from npu_conformance.fuzz.lib.choices import Choices
from npu_conformance.fuzz.lib.findings import BEHIND_OTHERS, Found, kind_of, where_of
from npu_conformance.fuzz.lib.inputs import UNREADABLE, fitting
from npu_conformance.fuzz.lib.json_edits import Grammar, edit
from npu_conformance.harness.judge.verdicts import CaseEnded, Crashed, Failed, Hung, NotApplicable, NotSupported
from npu_conformance.harness.subject.handle import SubjectHandle

Step = TypeVar("Step")

MOST_STEPS = 24
_MOST_AT_ONCE = 4
"""Fresh steps of one mutation."""
TIME = "time"
"""The kind of a field that names a time: what happens just before another one, or behind it, matters as well."""
_NEAR = (0, -1, 1)
_TRACE = 3
"""So many latest steps about one thing tell histories apart."""
_TIMES = (1, 1, 2, 3)
"""How often a step is made again."""
_PLAIN = (0, 1)
_PIECES = 400
"""Inputs behind a finding."""


@dataclass(frozen=True)
class Histories(Generic[Step]):
    """The histories of one target. fresh: a step of somebody's choice. grammar: good values of the steps' fields.

    most: steps of a history; those behind them are dropped. names: what kind of thing a field names by a number, or
    several: steps are more often about the same thing than by chance.
    """

    decoder: msgspec.json.Decoder[list[Step]]
    fresh: Callable[[Choices], Step]
    grammar: Grammar
    most: int = MOST_STEPS
    names: Mapping[str, str] = field(default_factory=dict)

    def decoded(self, data: bytes) -> list[Step] | None:
        """The first steps of an input; None where it is none."""
        try:
            return self.decoder.decode(data)[: self.most]
        except UNREADABLE:
            return None

    def mutated(
        self,
        data: bytes,
        choices: Choices,
        seeds: Sequence[bytes],
        max_size: int,
        possible: Callable[[Step], Step] = lambda step: step,
    ) -> bytes:
        """Put steps in, leave one out, move, double or change one, rename a thing, or go on as another history does.

        possible: what takes the place of each step.
        """
        steps = self.decoded(data)
        if steps is None:
            return data
        kind, place = choices.below(11), choices.below(len(steps) + 1)
        if kind < 4 or not steps:
            steps[place:place] = [self._joining(steps, choices) for _ in range(1 + choices.below(_MOST_AT_ONCE))]
        elif kind == 4:
            del steps[place % len(steps)]
        elif kind == 5:
            steps.insert(choices.below(len(steps)), steps.pop(place % len(steps)))
        elif kind == 6:
            again, behind = steps[place % len(steps)], choices.pick((place, choices.below(len(steps))))
            steps[behind:behind] = [self._edited(again, choices) if choices.below(2) else again] * choices.pick(_TIMES)
        elif kind == 7:
            steps[place:] = self.decoded(choices.pick(seeds)) or []
        elif kind == 8:
            steps = self._renamed(steps, steps[place % len(steps)], choices)
        else:
            steps[place % len(steps)] = self._edited(steps[place % len(steps)], choices)
        return fitting([*map(possible, steps[: self.most])], encoded, max_size)

    def with_each(self, data: bytes, changed: Callable[[Step], Step]) -> bytes:
        """The input with each of its steps changed; what it was where that changes nothing."""
        steps = self.decoded(data) or []
        found = [changed(step) for step in steps]
        return data if found == steps else encoded(found)

    def pieces(self, data: bytes) -> Iterator[bytes]:
        """Without many steps, without one, then with a plainer number or without an element of a list."""
        steps = self.decoded(data)
        if steps is None:
            return
        plainer = (
            [*steps[:place], changed, *steps[place + 1 :]]
            for place, step in enumerate(steps)
            for changed in self._plainer(step)
        )
        yield from map(encoded, itertools.chain(_fewer(steps), plainer))

    def _joining(self, steps: Sequence[Step], choices: Choices) -> Step:
        """A fresh step; every other time about the same things as one that is there."""
        step = self.fresh(choices)
        if not (self.names and steps) or choices.below(2):
            return step
        named = _named(choices.pick(steps), self.names)
        changes: dict[str, Any] = {}
        for name, kind in self.names.items():
            before = getattr(step, name, None)
            if isinstance(before, int | list) and kind in named:
                nearby = choices.pick(_NEAR) if kind == TIME else 0
                changes[name] = _with_one(before, choices.pick(named[kind]) + nearby, choices)
        return msgspec.structs.replace(step, **changes)  # type: ignore[type-var]

    def _renamed(self, steps: Sequence[Step], step: Step, choices: Choices) -> list[Step]:
        """One thing that a step is about by another number, in every step: at the end of its range it lives as well."""
        fields = [name for name in self.names if isinstance(getattr(step, name, None), int)]
        known = {name: self.grammar.integers[name] for name in fields if name in self.grammar.integers}
        if not known:
            return [*steps]
        field = choices.pick(list(known))
        kind, before, number = self.names[field], getattr(step, field), choices.pick(known[field])
        return [self._with(one, kind, before, number) for one in steps]

    def _with(self, step: Step, kind: str, before: int, number: int) -> Step:
        """The step with another number for a thing of a kind."""
        changes = {
            name: number if value == before else [number if one == before else one for one in value]
            for name, of in self.names.items()
            if of == kind and ((value := getattr(step, name, None)) == before or isinstance(value, list))
        }
        return msgspec.structs.replace(step, **changes) if changes else step  # type: ignore[type-var]

    def _edited(self, step: Step, choices: Choices) -> Step:
        """The step with one field changed, one that has its default included; as it was where that makes no step."""
        told: dict[str, Any] = msgspec.to_builtins(step)
        fields: dict[str, Any] = msgspec.to_builtins(msgspec.structs.asdict(step))  # type: ignore[arg-type]
        edit(fields, choices, self.grammar)
        return self._step({"do": told["do"], **fields}) or step

    def _plainer(self, step: Step) -> Iterator[Step]:
        fields: dict[str, Any] = msgspec.to_builtins(step)
        for name, value in fields.items():
            for simple in _simpler(value):
                changed = self._step({**fields, name: simple})
                if changed is not None:
                    yield changed

    def _step(self, fields: dict[str, Any]) -> Step | None:
        found = self.decoded(msgspec.json.encode([fields]))
        return found[0] if found else None


class Traces:
    """What tells histories apart: a step with the one before it, and the latest steps about each thing."""

    def __init__(self, names: Mapping[str, str]) -> None:
        """names: as in Histories."""
        self._names = names
        self._latest: dict[tuple[str, int], tuple[str, ...]] = {}
        self._before = ""

    def features(self, step: object, outcome: str) -> Iterator[str]:
        """Note a step with what came of it, its first word being the most important; returns what was seen."""
        word = f"{type(step).__name__} {outcome}"
        yield word
        yield f"{self._before} {word}"
        self._before = word
        brief = f"{type(step).__name__} {outcome.partition(' ')[0]}"
        for kind, numbers in _named(step, self._names).items():
            for thing in dict.fromkeys((kind, number) for number in numbers):
                latest = (*self._latest.get(thing, ())[1 - _TRACE :], brief)
                self._latest[thing] = latest
                yield f"{kind} {' > '.join(latest)}"


def _named(step: object, names: Mapping[str, str]) -> dict[str, list[int]]:
    """What a step is about: numbers by kind."""
    found: dict[str, list[int]] = {}
    for name, kind in names.items():
        value = getattr(step, name, None)
        numbers = [one for one in (value if isinstance(value, list) else [value]) if isinstance(one, int)]
        if numbers:
            found.setdefault(kind, []).extend(numbers)
    return found


class Stage(Generic[Step]):
    """Where histories happen, one after the other, in a subject that remembers: each begins when all is quiet.

    What fails is tried again where nothing was before, since a finding has to fail by itself. For some inputs behind
    it, which are its pieces, each has a subject without past.
    """

    def __init__(self, play: Callable[[list[Step]], tuple[str, ...]], renew: Callable[[], None]) -> None:
        """play: lets a history happen, and judges it. renew: brings a subject without past."""
        self._play = play
        self._renew = renew
        self._has_past = False
        self._pieces = 0

    def run(self, steps: list[Step]) -> tuple[str, ...]:
        """Let a history happen. Raises what is found, or NotApplicable."""
        if self._pieces and self._has_past:
            self._begin_anew()
        self._pieces = max(self._pieces - 1, 0)
        had_past, self._has_past = self._has_past, True
        try:
            return self._play(steps)
        except (Crashed, Hung):
            self._has_past = False
            raise
        except (NotApplicable, NotSupported):
            raise
        except Exception as ended:
            self._pieces = _PIECES
            self._begin_anew()
            raise (self._repeated(steps, ended) if had_past else ended) from None

    def _repeated(self, steps: list[Step], ended: Exception) -> Exception:
        """What a history raises without past; where it raises nothing, what it raised with it."""
        try:
            self._play(steps)
        except Exception as again:
            self._begin_anew()
            return again
        self._has_past = True
        return Found(kind_of(ended), f"{ended} (only after other histories)", f"{where_of(ended)} {BEHIND_OTHERS}")

    def _begin_anew(self) -> None:
        self._renew()
        self._has_past = False


class HistoryTarget(ABC, Generic[Step]):
    """A target whose inputs are histories. See Target."""

    name: str

    def __init__(self, subject: SubjectHandle, histories: Histories[Step], seeds: Sequence[bytes]) -> None:
        self._subject = subject
        self.histories = histories
        self._stage = Stage(self._play, self._renew)
        self.seeds = seeds
        self._is_tried = False
        self._lacking: NotApplicable | NotSupported | None = None

    def mutate(self, data: bytes, choices: Choices, max_size: int) -> bytes:
        """Change steps; what the subject is known to refuse makes room for what it has."""
        return self.histories.mutated(data, choices, self.seeds, max_size, lambda step: self._possible(step, choices))

    def _possible(self, step: Step, choices: Choices) -> Step:
        """The step, or one in its place where the subject is known to refuse what it is about."""
        return step

    def run(self, data: bytes) -> tuple[str, ...]:
        """Let a history happen, and judge it."""
        steps = self.histories.decoded(data)
        if steps is None:
            return ()
        self.ask()
        return self._stage.run(steps)

    def ask(self) -> None:
        """Look once whether the subject has what all histories are about: where it lacks that, none tells anything."""
        if self._lacking is not None:
            raise type(self._lacking)(str(self._lacking))
        if self._is_tried:
            return
        try:
            with suppress(Failed):  # the histories will find it, too
                self._require()
        except (NotApplicable, NotSupported) as error:
            self._lacking = error
            raise
        self._is_tried = True

    def _require(self) -> None:
        """Raise NotApplicable or NotSupported where the subject lacks what all histories are about.

        Asked in the first history, not before: a subject that dies of it is a finding.
        """

    def pieces(self, data: bytes) -> Iterator[bytes]:
        """Fewer steps, or plainer ones."""
        return self.histories.pieces(data)

    def readable(self, data: bytes) -> bytes:
        """Inputs are one step a line already."""
        return data

    @abstractmethod
    def _play(self, steps: list[Step]) -> tuple[str, ...]:
        """Let a history happen; returns what was seen."""

    def forget(self) -> None:
        """Most histories keep nothing of a subject."""

    def _renew(self) -> None:
        """Bring a subject without past."""
        self.forget()
        with suppress(CaseEnded):  # the finding is what came before
            self._subject.restart()


def orders(before: Sequence[Step], events: Sequence[Sequence[Step]], behind: Sequence[Step]) -> Iterator[list[Step]]:
    """Every two events in every order, twice the same included: what one thing can go through in a short life."""
    for chosen in itertools.product(events, repeat=2):
        yield [*before, *itertools.chain.from_iterable(chosen), *behind]


def encoded(steps: Sequence[Any]) -> bytes:
    """An input."""
    return b"[\n" + b",\n".join(map(msgspec.json.encode, steps)) + b"\n]"


def _with_one(before: int | list[Any], number: int, choices: Choices) -> int | list[Any]:
    """The number in place of another, or of one of several numbers."""
    if not isinstance(before, list):
        return number
    if not before or not isinstance(before[0], int):
        return before
    place = choices.below(len(before))
    return [*before[:place], number, *before[place + 1 :]]


def _fewer(steps: list[Step]) -> Iterator[list[Step]]:
    size = len(steps) // 2
    while size:
        for start in range(0, len(steps), size):
            yield steps[:start] + steps[start + size :]
        size //= 2
    if len(steps) == 1:
        yield []


def _simpler(value: Any) -> Iterator[Any]:
    if isinstance(value, list):
        yield from (value[:index] + value[index + 1 :] for index in range(len(value)))
    elif isinstance(value, int) and not isinstance(value, bool):
        yield from (simple for simple in (*_PLAIN, value // 2, value // 10 * 10) if abs(simple) < abs(value))
