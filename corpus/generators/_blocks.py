"""What generators of operations that move blocks of pixels share. Shapes are written batch, height, width, channels."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from npu_conformance.corpus.generators._moves import (
    FOUR,
    late,
    rejected_outputs,
    rejected_ranks,
    result,
    source,
    special_floats,
    unknown,
)
from npu_conformance.corpus.generators._rejections import RANK_CLAUSE
from npu_conformance.corpus.generators.base import Vectors, positive, rejection
from npu_conformance.corpus.generators.operands import Operands, boolean, int32, tensor
from npu_conformance.corpus.vectors import Vector

Shape = tuple[int, ...]


@dataclass(frozen=True)
class Case:
    """The image before and after, and the inputs between the image and the layout flag."""

    before: Shape
    after: Shape
    arguments: Operands


def square(before: Shape, block: int, after: Shape) -> Case:
    """A case of DEPTH_TO_SPACE or SPACE_TO_DEPTH: of a square block."""
    return Case(before, after, {"block_size": int32(block)})


@dataclass(frozen=True)
class Blocks:
    """One operation. padded: it writes zero points, of which some need 1.2. hazards: of all its vectors."""

    operation: str
    since: str
    cases: Mapping[str, Case]
    hazards: tuple[str, ...] = ("block-order",)
    is_padding: bool = False

    def vectors(self) -> Vectors:
        """Every type and shape; both layouts, the flag given and left off; open sizes; zero points; signed zeros."""
        for kind in FOUR:
            for name, case in self.cases.items():
                yield self.vector(f"{kind}_{name}", kind, case)
        layouts = [(kind, name) for kind in FOUR for name in list(self.cases)[:3]]
        for position, (kind, name) in enumerate(layouts):
            nchw = position % 3 != 2
            yield self.vector(f"{kind}_{name}_{'nchw' if nchw else 'nhwc'}", kind, self.cases[name], nchw=nchw)
        first = next(iter(self.cases.values()))
        for kind in ("quant8", "quant8_signed"):
            for zero_point in (0, 255):
                yield self.vector(f"{kind}_zero_point_{zero_point}", kind, first, zero_point=zero_point)
        for kind in ("float32", "float16"):
            inputs = {"input": special_floats(kind, first.before), **first.arguments}
            outputs = {"output": result(kind, first.after)}
            yield positive(f"{kind}_special_values", self.operation, inputs, outputs, since=self.since)
        yield from self._open(first)

    def vector(
        self, name: str, kind: str, case: Case, nchw: bool | None = None, zero_point: int = 3, description: str = ""
    ) -> Vector:
        """nchw: the layout flag; None where it is left off."""
        flag = {} if nchw is None else {"nchw_layout": boolean(nchw)}
        before, after = ((channels_first(shape) if nchw else shape) for shape in (case.before, case.after))
        needs_zero_point = self.is_padding and kind == "quant8" and zero_point != 0
        return positive(
            name,
            self.operation,
            {"input": source(kind, before, zero_point=zero_point), **case.arguments, **flag},
            {"output": result(kind, after, zero_point=zero_point)},
            since="1.2" if needs_zero_point or flag else self.since,
            hazards=self.hazards,
            description=description,
        )

    def _open(self, case: Case) -> Vectors:
        """Sizes, or the rank, that the model leaves to the request."""
        for name, dimensions, output in (
            ("batch_and_height", (0, 0, *case.before[2:]), case.after),
            ("sizes", (0, 0, 0, 0), case.after),
            ("rank", (), case.after),
            ("everything", (), ()),
        ):
            inputs = {"input": unknown(source("float32", case.before), dimensions), **case.arguments}
            outputs = {"output": result("float32", output)}
            since = self.since if dimensions else "1.2"
            yield positive(
                f"float32_unknown_{name}", self.operation, inputs, outputs, since=since, hazards=self.hazards
            )

    def late_squares(self, case: Case) -> Vectors:
        """The block of a case, and a block of 1, that come with the request."""
        same = (1, 2, 3, 4)
        for name, given in {"block": case, "block_1": square(same, 1, same)}.items():
            arguments = {key: late(spec) for key, spec in given.arguments.items()}
            yield self.vector(f"float32_{name}_with_the_request", "float32", replace(given, arguments=arguments))

    def rejected_squares(self, before: Shape, after: Shape) -> Vectors:
        """Images that have not four dimensions, and blocks that are not positive."""
        yield from self.rejected_shapes({"block_size": int32(1)})
        for name, size in {"0": 0, "minus_1": -1, "minus_2": -2}.items():
            yield self.rejection(f"block_{name}", "C2", square(before, size, after))

    def rejected_shapes(self, arguments: Operands) -> Vectors:
        """Images that have not four dimensions. arguments: those for a block of 1."""
        yield from rejected_ranks(self.operation, arguments, self.since)
        flat = {"input": source("float32", (4, 4, 4)), **arguments}
        outputs = {"output": tensor(flat["input"].operand.type, (4, 4, 4))}
        yield rejection(self.operation, "rank3", RANK_CLAUSE, flat, outputs, self.since)

    def rejected_outputs(self, case: Case, clauses: tuple[str, str]) -> Vectors:
        """Outputs declared otherwise than they are. clauses: about dimensions and quantisation."""
        shapes = case.before, case.after
        yield from rejected_outputs(self.operation, case.arguments, *shapes, clauses, self.since, has_rank=True)

    def rejection(self, name: str, clause: str, case: Case) -> Vector:
        """A call whose arguments break a clause."""
        inputs = {"input": source("float32", case.before), **case.arguments}
        return rejection(self.operation, name, clause, inputs, {"output": result("float32", case.after)}, self.since)


def channels_first(shape: Shape) -> Shape:
    """The shape of an image in the other layout."""
    batch, height, width, channels = shape
    return batch, channels, height, width
