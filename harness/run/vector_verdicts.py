"""The verdicts on what a vector's executions gave, whichever interface executed them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from npu_conformance.corpus.vectors import Vector
from npu_conformance.corpus.wire_model import BuiltRequest
from npu_conformance.harness.judge.outputs import ROUNDED, judge
from npu_conformance.harness.judge.verdicts import Failed
from npu_conformance.harness.run.context import CaseContext

if TYPE_CHECKING:
    from npu_conformance.corpus.vectors import Array

Found = tuple[bytes, ...]
"""The bytes of the outputs that are compared; none of an execution without results."""


class Verdicts:
    """The verdicts on one vector's outputs. about: the requirements that a wrong one breaks, as `judge` takes them."""

    def __init__(
        self, context: CaseContext, vector: Vector, about: Callable[[Vector, str], tuple[str, ...]] | None = None
    ) -> None:
        self._context, self._vector, self._about = context, vector, about
        self._flawless: set[tuple[int, Found]] = set()

    def outputs(self, number: int, built: BuiltRequest, content: bytes) -> dict[str, Array]:
        """The stored elements of the outputs of an example, by name."""
        expected = self._vector.examples[number].outputs
        return {name: built.read(name, content, array.shape) for name, array in expected.items()}

    def judge(self, number: int, built: BuiltRequest, content: bytes) -> Found:
        """Judge the outputs. The same bytes get the same verdict: those that were flawless are not looked at again."""
        outputs = self.outputs(number, built, content)
        found = tuple(array.tobytes() for name, array in outputs.items() if name not in self._vector.ignored)
        if (number, found) not in self._flawless:
            example, in_aosp = self._vector.examples[number], self._in_aosp
            judge(self._context, self._vector, example, outputs, about=self._about, in_aosp=in_aosp)
            if self._context.is_flawless:
                self._flawless.add((number, found))
        return found

    @property
    def _in_aosp(self) -> bool:
        """False for vectors that a user has brought, unless they are AOSP's."""
        return ".external." not in self._context.case.id or ROUNDED in self._vector.witnesses

    def same_again(self, results: Sequence[Found]) -> None:
        """Fail where the last execution gave other bytes. Whether samples may, given their seeds, is said nowhere."""
        if results[-1] != results[0] and self._vector.kind != "multinomial":
            raise Failed("executed twice with the same inputs, the second outputs differ from the first ones")
