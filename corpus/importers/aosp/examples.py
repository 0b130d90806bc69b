"""Examples: the values a model is fed with, and the groups of variations whose combinations become tests."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from typing import Any

from npu_conformance.corpus.importers.aosp import naming
from npu_conformance.corpus.importers.aosp.models import Model
from npu_conformance.corpus.importers.aosp.operands import Operand
from npu_conformance.corpus.importers.aosp.variations import (
    ActivationConverter,
    AxisConverter,
    DataLayoutConverter,
    DefaultVariation,
    ModelVariation,
    RelaxedModeConverter,
    implied,
)

Feed = tuple[Mapping[Operand, Any], Mapping[Operand, Any]]
"""Values of inputs, values of outputs."""

SPECIFICATION = "<specification>"
"""The name under which a file's code is compiled, so that its frames are known."""


class Example:
    """One or more feeds of a model. Each is a dictionary of inputs and outputs, or a pair of dictionaries."""

    def __init__(self, *feeds: Any, model: Model | None = None, name: str | None = None) -> None:
        """model: the one made last, unless given. name: a part of the tests' names."""
        declared = naming.current()
        if model is None and not declared.models:
            raise ValueError("an example needs a model")
        self.model = declared.models[-1] if model is None else model
        self.name, self.line = name, _line()
        self.expectedMultinomialDistributionTolerance = 0.0
        self.expectFailure = False
        self.testLifeTimeVariation = True
        self.feeds = [self._feed(feed) for feed in feeds]
        self.variations: list[list[ModelVariation]] = []
        declared.examples.append(self)

    def _feed(self, given: Any) -> Feed:
        return (given[0], given[1]) if type(given) in (tuple, list) else (given, given)

    @staticmethod
    def SetVersion(ver: str | None, *testNames: str) -> None:
        """State the version of tests by their full names, instead of their models'."""
        naming.current().version_overrides.update(dict.fromkeys(testNames, ver))

    def AddVariations(self, *args: Any, includeDefault: bool = True, defaultName: str | None = None) -> Example:
        """Add a group: the unchanged model, unless it is left out, and each of these variations."""
        unchanged = [DefaultVariation(defaultName)] if includeDefault else []
        self.variations.append([*unchanged, *map(implied, args)])
        return self

    def AddNchw(self, *ops: Operand, includeDefault: bool = True, defaultName: str | None = "nhwc") -> Example:
        """Add a group: as it is, and in NCHW."""
        var = DataLayoutConverter("nchw").Identify(ops)
        return self.AddVariations(var, includeDefault=includeDefault, defaultName=defaultName)

    def AddRelaxed(
        self, isRelaxed: bool = True, includeDefault: bool = True, defaultName: str | None = None
    ) -> Example:
        """Add a group: as it is, and relaxed."""
        var = RelaxedModeConverter(isRelaxed)
        return self.AddVariations(var, includeDefault=includeDefault, defaultName=defaultName)

    def AddRelu(self, *ops: Operand, includeDefault: bool = True, defaultName: str | None = None) -> Example:
        """Add a group: as it is, and with a fused RELU."""
        var = ActivationConverter("relu").Identify(ops)
        return self.AddVariations(var, includeDefault=includeDefault, defaultName=defaultName)

    def AddAllActivations(self, *ops: Operand) -> Example:
        """Add a group: each of the four activations."""
        words = ("none", "relu", "relu1", "relu6")
        return self.AddVariations(*(ActivationConverter(word).Identify(ops) for word in words), includeDefault=False)

    def AddAxis(
        self,
        axis: int | Iterable[int],
        *ops: Operand,
        includeDefault: bool = True,
        defaultName: str | None = None,
    ) -> Example:
        """Add a group: as it is, and with its axis moved to each of these."""
        origin, dim = _axis_and_rank(ops)
        axes = [axis] if isinstance(axis, int) else list(axis)
        made = [AxisConverter(origin, target, dim).Identify(ops) for target in axes]
        return self.AddVariations(*made, includeDefault=includeDefault, defaultName=defaultName)

    def AddAllPositiveAxis(self, *ops: Operand) -> Example:
        """Add a group: every axis."""
        return self.AddAxis(range(_axis_and_rank(ops)[1]), *ops, includeDefault=False)

    def AddAllAxis(self, *ops: Operand) -> Example:
        """Add a group: every axis, counted from the end and from the start."""
        dim = _axis_and_rank(ops)[1]
        return self.AddAxis(range(-dim, dim), *ops, includeDefault=False)

    def AddDims(
        self,
        dims: int | Iterable[int],
        *ops: Operand,
        includeDefault: bool = True,
        defaultName: str | None = None,
    ) -> Example:
        """Add a group: as it is, and in each of these ranks; the first axes go, but never the one in question."""
        origin, dim = _axis_and_rank(ops)
        others = [axis for axis in range(dim) if axis != origin]
        ranks = [dims] if isinstance(dims, int) else list(dims)
        made = [AxisConverter(origin, origin, dim, others[: dim - rank]).Identify(ops) for rank in ranks]
        return self.AddVariations(*made, includeDefault=includeDefault, defaultName=defaultName)

    def AddAllDims(self, *ops: Operand) -> Example:
        """Add a group: every rank, from the highest."""
        return self.AddDims(range(_axis_and_rank(ops)[1], 0, -1), *ops, includeDefault=False)

    def AddAllDimsAndPositiveAxis(self, *ops: Operand) -> Example:
        """Add a group: every rank, from the highest, with every axis."""
        return self._add_ranks_and_axes(ops, negative=False)

    def AddAllDimsAndAxis(self, *ops: Operand) -> Example:
        """Add a group: every rank, from the highest, with every axis counted from the start and from the end."""
        return self._add_ranks_and_axes(ops, negative=True)

    def _add_ranks_and_axes(self, ops: tuple[Operand, ...], *, negative: bool) -> Example:
        origin, dim = _axis_and_rank(ops)
        made = [
            AxisConverter(origin, target, dim, range(dropped)).Identify(ops)
            for dropped in range(dim)
            for axis in range(dropped, dim)
            for target in ((axis, axis - dim) if negative else (axis,))
        ]
        return self.AddVariations(*made, includeDefault=False)

    def WithMultinomialDistributionTolerance(self, expectedTolerance: float) -> Example:
        """Compare the frequencies of classes only, within this."""
        self.expectedMultinomialDistributionTolerance = expectedTolerance
        return self

    def ExpectFailure(self) -> Example:
        """State that the model must be rejected, or fail."""
        self.expectFailure = True
        return self

    def DisableLifeTimeVariation(self) -> Example:
        """Leave out the two groups that are added of themselves."""
        self.testLifeTimeVariation = False
        return self


def _axis_and_rank(ops: tuple[Operand, ...]) -> tuple[int, int]:
    """The axis that the INT32 operand names, else the last one, and the rank that all the other operands have."""
    ranks = {len(op.type.dimensions) for op in ops if op.type.type != "INT32"}
    if len(ranks) != 1:
        raise ValueError(f"expected operands of one rank, found {sorted(ranks)}")
    (dim,) = ranks
    axes = [op.value[0] for op in ops if op.type.type == "INT32" and op.value]
    origin = axes[-1] if axes else dim - 1
    return (origin + dim if origin < 0 else origin), dim


def _line() -> int:
    """The line of the file that is being run."""
    frame = sys._getframe()
    while frame is not None:
        if frame.f_code.co_filename == SPECIFICATION:
            return frame.f_lineno
        frame = frame.f_back  # type: ignore[assignment]
    return 1
