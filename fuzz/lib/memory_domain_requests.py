"""Requests whose arguments lie in buffers and in shared memory, and what they must compute."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from npu_conformance.fuzz.lib.memory_domain_models import USUAL, BufferModel, Shape, computed
from npu_conformance.fuzz.lib.memory_domain_states import BufferState, Content, agree, result_of
from npu_conformance.fuzz.lib.memory_domain_steps import SHARED, Execute
from npu_conformance.fuzz.lib.minimal_execution import layouts_of
from npu_conformance.fuzz.lib.request_edits import Draft, fields_of
from npu_conformance.fuzz.lib.sendable import are_sendable
from npu_conformance.harness.subject.pools import Pool
from npu_conformance.specs.neuralnetworks.operand_types import OPERAND_TYPES
from npu_conformance.specs.neuralnetworks.types import (
    DataLocation,
    Operand,
    Request,
    RequestArgument,
    RequestMemoryPool,
)
from npu_conformance.specs.versions import Version

if TYPE_CHECKING:
    from npu_conformance.corpus.vectors import Array

Places = Callable[[int], BufferState | int | None]
"""What a place of a step means: a buffer, a token of none, or None for shared memory."""


@dataclass
class LaidOut:
    """A request in the making. states: of each pool; tokens: of those after the first two, which are shared memory.

    results: of the outputs; empty where the inputs have none, or are not all known. is_edited: the request is not as it
    was laid out.
    """

    inputs: tuple[RequestArgument, ...] = ()
    outputs: tuple[RequestArgument, ...] = ()
    sizes: tuple[int, int] = (1, 1)
    input_data: bytes = b""
    results: list[Content] = field(default_factory=list)
    states: list[BufferState | None] = field(default_factory=lambda: [None, None])
    tokens: list[int] = field(default_factory=list)
    is_edited: bool = False

    def request(self, pools: Sequence[Pool]) -> Request:
        """The request over these two pools of shared memory."""
        memories = tuple(RequestMemoryPool(pool=pool.memory) for pool in pools)
        return Request(self.inputs, self.outputs, memories + tuple(RequestMemoryPool(token=one) for one in self.tokens))

    def in_buffer(self, found: BufferState | int, dimensions: Shape) -> RequestArgument:
        """An argument that is a whole buffer; the same one again is the same pool."""
        token = found if isinstance(found, int) else found.token
        if token not in self.tokens:
            self.tokens.append(token)
            self.states.append(None if isinstance(found, int) else found)
        return RequestArgument(location=DataLocation(2 + self.tokens.index(token)), dimensions=dimensions)


def request_of(
    model: BufferModel, step: Execute, places: Places, version: Version, *, is_fenced: bool
) -> LaidOut | None:
    """The request of a step; None where it cannot be sent."""
    laid_out = _Drawing(model, step, places, version, is_fenced).drawn()
    if step.edits:
        sides = (laid_out.inputs, laid_out.outputs)
        inputs, outputs = ([fields_of(argument, version) for argument in side] for side in sides)
        draft = Draft(inputs, outputs)
        for edit in step.edits:
            draft.apply(edit)
        arguments = draft.arguments()
        if arguments is None:
            return None
        laid_out.is_edited |= arguments != sides
        laid_out.inputs, laid_out.outputs = arguments
    return laid_out if are_sendable((*laid_out.inputs, *laid_out.outputs), version) else None


class _Drawing:
    """Draws a request up, argument by argument."""

    def __init__(self, model: BufferModel, step: Execute, places: Places, version: Version, is_fenced: bool) -> None:
        self._model, self._step, self._places, self._is_fenced = model, step, places, is_fenced
        self._shared, self._written = layouts_of(version)
        self._claims = iter([tuple(claim) for claim in step.claims])
        self._found, self._data = LaidOut(), b""

    def drawn(self) -> LaidOut:
        """The request."""
        found, given = self._found, []
        for number, shape in enumerate(self._model.kind.usual_shapes(tuple(self._step.shape))):
            argument, content = self._input(number, shape)
            found.inputs += (argument,)
            given.append(content)
        found.results = self._results(given)
        count = sum(side == "output" for side, _ in self._model.operands)
        found.outputs = tuple(self._output(number) for number in range(count))
        found.sizes, found.input_data = (max(self._shared.size, 1), max(self._written.size, 1)), self._data
        return found

    def _input(self, number: int, shape: Shape) -> tuple[RequestArgument, Content | None]:
        place, operand = self._places(_at(self._step.inputs, number)), self._model.operands["input", number]
        claim = next(self._claims, ())
        if place is None:
            array = self._model.kind.data(number, operand.type, shape, self._step.values)
            self._data = self._data.ljust(self._shared.size, b"\0") + array.tobytes()
            self._shared.append(array.nbytes, claim or _open_shape(operand, array.shape))
            return self._shared.arguments[-1], Content(array)
        content = place.content if isinstance(place, BufferState) else None
        own = shape if content is None else content.array.shape
        return self._found.in_buffer(place, claim or _open_shape(operand, own)), content

    def _results(self, given: Sequence[Content | None]) -> list[Content]:
        """What the outputs are; nothing where the inputs have none, or are claimed to have other shapes."""
        known = [content for content in given if content is not None]
        claimed = [argument.dimensions for argument in self._found.inputs]
        shapes = [content.array.shape for content in known]
        if len(known) < len(given) or not all(
            not claim or claim == shape for claim, shape in zip(claimed, shapes, strict=True)
        ):
            return []
        vector = self._model.kind.with_shapes(shapes)
        arrays = None if vector is None else computed(vector, dict(zip(vector.inputs, _arrays(known), strict=True)))
        if vector is None or arrays is None:
            return []
        is_smooth = self._model.kind.vector is None
        return [
            result_of(vector.operands[name].type, arrays[name], known, is_smooth=is_smooth) for name in vector.outputs
        ]

    def _output(self, number: int) -> RequestArgument:
        place, operand = self._places(_at(self._step.outputs, number)), self._model.operands["output", number]
        claim = next(self._claims, ())
        result = self._found.results[number].array if self._found.results else None
        self._found.is_edited |= result is not None and not agree(claim, result.shape)
        if not claim and self._is_fenced:
            claim = _open_shape(operand, USUAL if result is None else result.shape)
        if place is not None:
            return self._found.in_buffer(place, claim)
        self._written.append(_USUAL_BYTES if result is None else result.nbytes, claim)
        return self._written.arguments[-1]


_USUAL_BYTES = 24
"""Of an output of which nothing is known."""


def _at(places: Sequence[int], number: int) -> int:
    """The place of an argument: those that the step does not name lie in shared memory."""
    return places[number] if number < len(places) else SHARED


def _open_shape(operand: Operand, shape: Shape) -> Shape:
    """The dimensions that a request has to give, since the model does not."""
    is_open = OPERAND_TYPES[operand.type].is_tensor and (not operand.dimensions or 0 in operand.dimensions)
    return shape if is_open else ()


def _arrays(contents: Sequence[Content]) -> list[Array]:
    return [content.array for content in contents]
