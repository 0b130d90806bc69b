"""The slice of a fuzzer that every run includes: a fixed number of inputs that follow from the case's seed."""

from __future__ import annotations

import functools
import os
import random
import re
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
from msgspec.structs import replace

from npu_conformance.fuzz.lib.choices import SIZE, Choices
from npu_conformance.fuzz.lib.inputs import Lines, lines_of
from npu_conformance.fuzz.lib.leaks import LeakWatch
from npu_conformance.fuzz.lib.memory_limit import MEMORY_LIMIT, limited_to
from npu_conformance.fuzz.lib.target import LARGEST_INPUT, Target
from npu_conformance.harness.judge import checks
from npu_conformance.harness.judge.verdicts import NotApplicable, NotSupported
from npu_conformance.harness.run import failures, suites
from npu_conformance.harness.run.cases import Case, Scope
from npu_conformance.harness.run.context import CaseContext
from npu_conformance.specs.diagnostics.one_line import one_line
from npu_conformance.specs.documents.failures import PROMOTED
from npu_conformance.specs.manifest import InterfaceName

RUNS = 200
"""Inputs of a short case that takes the usual time for each."""


@dataclass(frozen=True)
class ShortCase:
    """The short case of a fuzzer, and the case of one of its findings. target: what a running case attacks.

    about: of the short case, with {runs} in it; about_one: of a finding's. interface: that is attacked. runs: inputs of
    the short case.
    """

    fuzzer: str
    requirements: tuple[str, ...]
    about: str
    about_one: str
    target: Callable[[CaseContext], Target]
    interface: InterfaceName = "device"
    runs: int = RUNS

    def cases(self) -> Iterator[Case]:
        """One case of a fixed number of inputs."""
        yield self._case(self._run, self.about.format(runs=self.runs))

    def case_from(self, payload: Any) -> Case:
        """The case of a failure file: its input alone, in a fuzzer's memory, and what it leaves behind."""
        data = msgspec.convert(payload, Lines).data

        def run(context: CaseContext) -> None:
            context.attach(lambda: payload)
            with self._telling(data):
                target = self.target(context)
                with limited_to(MEMORY_LIMIT, context.subject.process() or os.getpid()):
                    target.run(data)
                leak = LeakWatch(lambda: context.subject.process() or os.getpid()).leak(target.run, data)
                if leak is not None:
                    raise leak

        return self._case(run, self.about_one)

    def cases_from(self, path: Path) -> Iterator[Case]:
        """A case for each promoted finding of this fuzzer: of a file, or of a folder's. Raises DocumentError."""
        for file in sorted(path.glob(f"[!.]*{PROMOTED}")) if path.is_dir() else [path]:
            if not file.name.endswith(PROMOTED):
                continue
            failure = failures.load(file)
            if failure.case == self._id:
                name = re.sub(r"[^A-Za-z0-9_]", "_", file.name.removesuffix(PROMOTED))
                about = f"{self.about_one} It was found as: {one_line(failure.result.message)}"
                made = suites.rebuild(failure.case, failure.payload)
                yield replace(made, id=f"fuzz.{self.fuzzer}.promoted.{name}", about=about, scope=Scope.SMOKE)

    @property
    def _id(self) -> str:
        return f"fuzz.{self.fuzzer}.short.runs"

    def _case(self, run: Callable[[CaseContext], None], about: str) -> Case:
        return Case(self._id, run, self.requirements, about, self.interface)

    def _telling(self, data: bytes) -> AbstractContextManager[None]:
        """Inside, what fails says which model it was, where the fuzzer has models."""
        from npu_conformance.fuzz.lib.in_words import in_words

        return checks.telling(lambda: in_words(self.fuzzer, data))

    def _run(self, context: CaseContext) -> None:
        """Run the target with its inputs; the one that fails goes into the failure file.

        Raises NotApplicable where no input could be put to the subject, NotSupported where it lacks what is called.
        """
        target, source = self.target(context), random.Random(context.seed)
        inapplicable: list[NotApplicable] = []
        missing: list[NotSupported] = []
        for number in range(self.runs):
            data = target.seeds[source.randrange(len(target.seeds))]
            for _ in range(1 + number % 3):
                data = target.mutate(data, Choices(source.randbytes(SIZE)), LARGEST_INPUT)
            context.attach(functools.partial(_payload, target, data))
            try:
                with self._telling(data):
                    target.run(data)
            except NotApplicable as ended:
                inapplicable.append(ended)
            except NotSupported as ended:
                missing.append(ended)
        if missing:
            raise missing[0]
        if len(inapplicable) == self.runs:
            raise inapplicable[0]


def _payload(target: Target, data: bytes) -> Lines:
    return lines_of(target.readable(data))
