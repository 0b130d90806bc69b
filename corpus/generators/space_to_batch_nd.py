"""The generator of SPACE_TO_BATCH_ND.

By hand: block [2, 3], 2 batches, one row of padding above; batch 11 of the output is (1*3 + 2)*2 + 1, so that it takes
batch 1 from the second row and third column of each block: row 0 of the output is row 0*2 + 1 - 1 = 0 of the input.
"""

from npu_conformance.corpus.generators._blocks import Blocks, Case, Shape
from npu_conformance.corpus.generators._long_axes import long_axes
from npu_conformance.corpus.generators._moves import late, result, source, unknown
from npu_conformance.corpus.generators._rejections import RANK_CLAUSE
from npu_conformance.corpus.generators.base import Vectors, positive, rejection
from npu_conformance.corpus.generators.operands import Data, constant, int32s
from npu_conformance.corpus.generators.types import INT32

Paddings = tuple[tuple[int, int], tuple[int, int]]
NONE: Paddings = ((0, 0), (0, 0))


def _case(before: Shape, block: tuple[int, ...], paddings: Data, after: Shape) -> Case:
    return Case(before, after, {"block_shape": int32s(*block), "paddings": constant(INT32, (2, 2), paddings)})


BLOCKS = Blocks(
    "SPACE_TO_BATCH_ND",
    "1.1",
    {
        "block_2_3_padded": _case((2, 2, 3, 1), (2, 3), ((1, 1), (0, 3)), (12, 2, 2, 1)),
        "block_2_2": _case((1, 4, 6, 1), (2, 2), NONE, (4, 2, 3, 1)),
        "heads": _case((2, 3, 2, 1), (2, 2), ((1, 0), (2, 0)), (8, 2, 2, 1)),
        "crossed": _case((1, 3, 3, 1), (2, 2), ((1, 0), (0, 1)), (4, 2, 2, 1)),
        "tails": _case((1, 3, 2, 3), (2, 3), ((0, 1), (0, 1)), (6, 2, 1, 3)),
        "block_1_3": _case((2, 2, 5, 2), (1, 3), ((0, 0), (1, 0)), (6, 2, 2, 2)),
        "block_1_1_padded": _case((1, 2, 2, 3), (1, 1), ((1, 2), (0, 1)), (1, 5, 3, 3)),
        "more_padding": _case((1, 1, 2, 1), (2, 2), ((3, 2), (1, 3)), (4, 3, 3, 1)),
    },
    hazards=("pad-raw-zero", "block-order"),
    is_padding=True,
)


def vectors() -> Vectors:
    """Every type; heads and tails different; both layouts; zero points at both ends; open sizes; rejections."""
    yield from BLOCKS.vectors()
    image = _case((1, 4, 4, 2), (2, 2), ((2, 2), (2, 2)), (4, 4, 4, 2))
    yield BLOCKS.vector("float32_dilated", "float32", image, description="what precedes a convolution of dilation 2")
    case = BLOCKS.cases["block_2_3_padded"]
    requested = late(case.arguments["paddings"])
    cases = {"with_the_request": requested, "of_unknown_length": unknown(requested, (0, 0))}
    for name, paddings in {**cases, "of_unknown_rank": unknown(requested, ())}.items():
        inputs = {"input": source("float32", case.before), **case.arguments, "paddings": paddings}
        output = {"output": result("float32", case.after)}
        since = "1.2" if name == "of_unknown_rank" else "1.1"
        yield positive(
            f"float32_paddings_{name}", BLOCKS.operation, inputs, output, since=since, hazards=["block-order"]
        )
    yield from BLOCKS.rejected_shapes(_case((), (1, 1), NONE, ()).arguments)
    for name, block in {"one_element": (2,), "three_elements": (2, 2, 1)}.items():
        yield BLOCKS.rejection(f"block_{name}", "C2", _case((1, 2, 2, 1), block, NONE, (4, 1, 1, 1)))
    for name, block in {"height_0": (0, 2), "width_0": (2, 0), "negative": (-2, -2)}.items():
        yield BLOCKS.rejection(f"block_{name}", "C3", _case((1, 2, 2, 1), block, NONE, (4, 1, 1, 1)))
    yield from _rejected_paddings()
    for name, (height, width) in {"height_3": (3, 4), "width_5": (2, 5)}.items():
        before, after = (1, height, width, 1), (4, height // 2, width // 2, 1)
        yield BLOCKS.rejection(name, "C6", _case(before, (2, 2), NONE, after))
    yield BLOCKS.rejection("padded_height_5", "C6", _case((1, 4, 4, 1), (2, 2), ((0, 1), (1, 1)), (4, 2, 3, 1)))
    bytes_ = {"input": source("quant8", (1, 2, 2, 1), zero_point=1), **_case((), (2, 2), NONE, ()).arguments}
    output = {"output": result("quant8", (4, 1, 1, 1), zero_point=1)}
    yield rejection(BLOCKS.operation, "zero_point_before_1_2", "C7", bytes_, output, "1.1", "1.1")
    yield from BLOCKS.rejected_outputs(_case((1, 2, 4, 1), (2, 2), ((1, 1), (0, 2)), (4, 2, 3, 1)), ("C9", "C10"))
    yield from long_axes("SPACE_TO_BATCH_ND")


def _rejected_paddings() -> Vectors:
    arguments = {"input": source("float32", (1, 2, 2, 1)), "block_shape": int32s(2, 2)}
    output = {"output": result("float32", (4, 1, 1, 1))}
    for name, shape in {"rows": (3, 2), "columns": (2, 3), "in_a_row": (1, 4), "rank_1": (4,)}.items():
        inputs = {**arguments, "paddings": constant(INT32, shape, 0)}
        clause = "C4" if len(shape) == 2 else RANK_CLAUSE
        yield rejection(BLOCKS.operation, f"paddings_{name}", clause, inputs, output, "1.1")
    wrong: dict[str, Paddings] = {
        "top": ((-1, 1), (0, 0)),
        "bottom": ((1, -1), (0, 0)),
        "left": ((0, 0), (-1, 1)),
        "right": ((0, 0), (1, -1)),
    }
    for name, paddings in wrong.items():
        yield BLOCKS.rejection(f"negative_{name}", "C5", _case((1, 2, 2, 1), (2, 2), paddings, (4, 1, 1, 1)))
