"""What the cases about models of the zoo share: one case for each model, and the implementations that it is run on."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from npu_conformance.corpus import zoo
from npu_conformance.corpus.importers.tflite.errors import TfliteError
from npu_conformance.corpus.zoo import NOT_FETCHED, NotFetched
from npu_conformance.harness.judge.verdicts import CaseEnded, NotApplicable
from npu_conformance.harness.run.cases import Case, Group
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.specs.errors import InterfaceError

if TYPE_CHECKING:
    from npu_conformance.corpus.zoo import ZooModel

BESIDE_FAILED = "beside"
"""The note of a case whose figures have nothing beside them, and why."""

Result = TypeVar("Result")
Run = Callable[[CaseContext, "ZooModel"], None]


@dataclass(frozen=True)
class PerModel:
    """A test that is run with every model of the zoo: `<area>.<model>.<name>`. about: with {model} for its name."""

    area: str
    name: str
    requirements: tuple[str, ...]
    about: str
    run: Run

    def cases(self) -> Iterator[Case]:
        """One case for each model."""
        for model in zoo.names():
            yield Case(
                id=f"{self.area}.{model}.{self.name}",
                run=functools.partial(self._run, model),
                requirements=self.requirements,
                about=self.about.format(model=model),
                group=Group.EXECUTION,
            )

    def _run(self, model: str, context: CaseContext) -> None:
        from npu_conformance.corpus.zoo.data import DataError

        try:
            self.run(context, zoo.load(model))
        except NotFetched:
            raise NotApplicable(f"{NOT_FETCHED}: npu-conformance models fetch {model}") from None
        except (DataError, TfliteError) as error:
            raise NotApplicable(f"the model or its data cannot be read: {error}") from None


class Side:
    """An implementation that a model is run on. name: empty for the one under test.

    The other one is not judged: what it does wrong is noted, and ends its part.
    """

    def __init__(self, context: CaseContext, judged: CaseContext | None = None) -> None:
        self.context = context
        self.name = "" if judged is None else context.manifest.name
        self.is_lost = False
        self._judged = judged

    def attempt(self, step: Callable[[], Result]) -> Result | None:
        """Take a step. None where the implementation that is not judged fails, or has failed before."""
        if self.is_lost:
            return None
        try:
            return step()
        except (CaseEnded, InterfaceError) as error:
            if self._judged is None:
                raise
            self.is_lost = True
            self._judged.note(BESIDE_FAILED, f"{self.name}: {error}")
            return None

    def close(self) -> None:
        """Let go of everything of the implementation that is not judged, also where it is lost."""
        self.is_lost = False
        self.attempt(self.context.close)
        self.context.recover(self.context.own, always=True)


@contextmanager
def sides(context: CaseContext) -> Iterator[tuple[Side, ...]]:
    """The implementation under test, and behind it that of --beside where there is one."""
    if context.beside is None:
        yield (Side(context),)
        return
    theirs = CaseContext(context.case, context.beside, seed=context.seed, scope=context.scope)
    other = Side(theirs, judged=context)
    try:
        yield Side(context), other
    finally:
        other.close()
