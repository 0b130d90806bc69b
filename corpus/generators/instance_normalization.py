"""The generator of INSTANCE_NORMALIZATION."""

from npu_conformance.corpus.generators import _rejections
from npu_conformance.corpus.generators._elementwise import SHORT
from npu_conformance.corpus.generators._long_axes import long_axes
from npu_conformance.corpus.generators._normalizations import Shape, real_scalar
from npu_conformance.corpus.generators.base import Vectors, positive, rejected
from npu_conformance.corpus.generators.data import dyadic, uniform
from npu_conformance.corpus.generators.operands import Operands, OperandSpec, boolean, tensor
from npu_conformance.corpus.generators.types import FLOAT16, FLOAT32
from npu_conformance.corpus.pairwise import pairwise
from npu_conformance.corpus.vectors import Vector
from npu_conformance.specs.documents.vectors import GeneratorDocument
from npu_conformance.specs.neuralnetworks.enums import OperandType
from npu_conformance.specs.neuralnetworks.extension_codes import AnyOperandType

_OPERATION = "INSTANCE_NORMALIZATION"
_SHAPES: dict[str, Shape] = {
    "one_channel": (1, 4, 2, 1),
    "channels": (1, 2, 4, 3),
    "batches": (3, 2, 2, 2),
    "row": (2, 1, 4, 2),
    "column": (2, 8, 1, 2),
}
"""In the layout batch, height, width, channels; images of a power of two of elements, whose means are exact."""


def vectors() -> Vectors:
    """Pairwise: type, shape, layout, gamma, beta, epsilon; flat images; sizes of the request; a realistic size.

    The layout: nearly every vector has its like in the other layout as a variation.
    """
    rows = pairwise(
        {
            "type": [FLOAT32, FLOAT16],
            "shape": list(_SHAPES),
            "nchw": [False, True],
            "gamma": [1.0, -0.5, 1.5],
            "beta": [0.0, 2.0, -0.25],
            "epsilon": [0.001, 0.5],
        }
    )
    for seed, row in enumerate(rows):
        kind, shape = row["type"], _layout(_SHAPES[row["shape"]], row["nchw"])
        factors = (row["gamma"], row["beta"], row["epsilon"])
        name = f"{SHORT[kind]}_{row['shape']}_{'nchw' if row['nchw'] else 'nhwc'}_{seed}"
        yield _positive(name, tensor(kind, shape, dyadic(seed, shape, -2.0, 2.0)), factors, row["nchw"])
    yield from _special()
    yield from _open()
    yield from _rejected()
    yield from long_axes(_OPERATION)


def _layout(shape: Shape, nchw: bool) -> Shape:
    batch, height, width, channels = shape
    return (batch, channels, height, width) if nchw else shape


def _factors(kind: AnyOperandType, factors: tuple[float, float, float], nchw: bool) -> Operands:
    names = ("gamma", "beta", "epsilon")
    reals = {name: real_scalar(kind, value) for name, value in zip(names, factors, strict=True)}
    return {**reals, "nchw_layout": boolean(nchw)}


def _positive(
    name: str, source: OperandSpec, factors: tuple[float, float, float], nchw: bool = False, about: str = ""
) -> Vector:
    kind = source.operand.type
    inputs = {"input": source, **_factors(kind, factors, nchw)}
    return positive(name, _OPERATION, inputs, {"output": tensor(kind, source.shape)}, description=about)


def _special() -> Vectors:
    flat = [3.5, 1.0, 3.5, -1.0, 3.5, -1.0, 3.5, 1.0]
    by_hand = [2.0, 0.0, 4.0, 0.0, 4.0, 0.0, 6.0, 0.0]
    for kind in (FLOAT32, FLOAT16):
        about = "the first channel has no variance: it becomes beta"
        yield _positive(f"{SHORT[kind]}_flat_channel", tensor(kind, (1, 2, 2, 2), flat), (2.0, 0.25, 0.5), False, about)
        about = (
            "by hand: 2, 4, 4, 6 have the mean 4 and the variance (4 + 0 + 0 + 4) / 4 = 2; with epsilon 0.25 the root "
            "is 1.5; 3 * (x - 4) / 1.5 + 1 gives -3, 1, 1, 5. Of the second channel, all zeros, 1 is left"
        )
        yield _positive(f"{SHORT[kind]}_by_hand", tensor(kind, (1, 2, 2, 2), by_hand), (3.0, 1.0, 0.25), False, about)
    fine = tensor(FLOAT32, (1, 2, 7, 1), uniform(4, (1, 2, 7, 1)))
    generator = GeneratorDocument(kind="dyadic", seed=9, low=-1.0, high=1.0, step=0.25)
    large = tensor(FLOAT32, (1, 16, 16, 8), generator)
    for name, source in (("all_bits", fine), ("large_image", large)):
        yield positive(
            f"float32_{name}",
            _OPERATION,
            {"input": source, **_factors(FLOAT32, (1.0, 0.0, 1e-5), False)},
            {"output": tensor(FLOAT32, source.shape)},
            description="mean and variance summed up in float16 may be off by more than the tolerance",
            excluded=["relaxed", "float16"],
        )
    far = tensor(FLOAT32, (1, 8, 8, 2), dyadic(10, (1, 8, 8, 2), 1020.0, 1028.0, step=1.0))
    yield positive(
        "float32_large_mean",
        _OPERATION,
        {"input": far, **_factors(FLOAT32, (1.0, 0.0, 0.25), False)},
        {"output": tensor(FLOAT32, far.shape)},
        description="sums, mean and deviations are exact; the mean of squares less the square of the mean is not",
        excluded=["relaxed", "float16"],
    )
    near = tensor(FLOAT32, (1, 4, 4, 2), [2.0**-14 * each for each in dyadic(11, (1, 4, 4, 2), -2.0, 2.0).ravel()])
    yield positive(
        "float32_small_spread",
        _OPERATION,
        {"input": near, **_factors(FLOAT32, (1.0, 0.0, 2.0**-33), False)},
        {"output": tensor(FLOAT32, near.shape)},
        description="a variance and an epsilon near 1e-9 and 1e-10 count as any",
        excluded=["relaxed", "float16"],
    )


def _open() -> Vectors:
    data = dyadic(80, (2, 2, 4, 3), -2.0, 2.0)
    for nchw in (False, True):
        shape = (2, 2, 4, 3) if not nchw else (2, 3, 2, 4)
        layout = "nchw" if nchw else "nhwc"
        for name, declared, output in (("rank", (), ()), ("sizes", (0, *shape[1:3], 0), (0, 0, 0, shape[3]))):
            yield positive(
                f"float32_unknown_{name}_{layout}",
                _OPERATION,
                {"input": tensor(FLOAT32, declared, data, shape=shape), **_factors(FLOAT32, (1.5, -1.0, 0.125), nchw)},
                {"output": tensor(FLOAT32, output)},
            )
        factors = {
            "gamma": tensor(OperandType.FLOAT32, (), [0.5]),
            "beta": tensor(OperandType.FLOAT32, (), [-2.0]),
            "epsilon": tensor(OperandType.FLOAT32, (), [0.25]),
            "nchw_layout": tensor(OperandType.BOOL, (), [int(nchw)]),
        }
        yield positive(
            f"float32_scalars_of_the_request_{layout}",
            _OPERATION,
            {"input": tensor(FLOAT32, shape, data), **factors},
            {"output": tensor(FLOAT32, shape)},
        )


def _rejected() -> Vectors:
    factors = _factors(FLOAT32, (1.0, 0.0, 0.001), False)
    yield from _rejections.ranks_of(_OPERATION, FLOAT32, FLOAT32, f"{_OPERATION}.C1", factors)
    cases: tuple[tuple[str, Shape, Shape, Shape, str], ...] = (
        ("rank3", (2, 2, 3), (2, 2, 3), (2, 2, 3), "MODEL.P3R"),
        ("rank3_at_execution", (2, 2, 3), (), (), f"{_OPERATION}.C1"),
        ("output_declared_in_the_other_layout", (1, 2, 4, 3), (1, 2, 4, 3), (1, 3, 2, 4), f"{_OPERATION}.C3"),
        ("output_declared_too_small", (1, 2, 4, 3), (1, 2, 4, 3), (1, 2, 4, 1), f"{_OPERATION}.C3"),
    )
    for name, shape, declared, output, clause in cases:
        yield rejected(
            name,
            _OPERATION,
            {"input": tensor(FLOAT32, declared, dyadic(1, shape), shape=shape), **factors},
            {"output": tensor(FLOAT32, output)},
            clause=clause,
            phase="execution",
        )
    yield rejected(
        "layout_left_off",
        _OPERATION,
        {
            "input": tensor(FLOAT32, (1, 2, 4, 3), dyadic(1, (1, 2, 4, 3))),
            **{name: operand for name, operand in factors.items() if name != "nchw_layout"},
        },
        {"output": tensor(FLOAT32, (1, 2, 4, 3))},
        clause="MODEL.P3",
        since="1.2",
        description="unlike that of CONV_2D the layout is required",
    )
