"""What RESIZE_BILINEAR and RESIZE_NEAREST_NEIGHBOR share: shapes, forms of the size, flags, rejections.

Sizes are such that float32 coordinates round to the exact ones: where one is a whole number, or halfway between two,
the ratio of the sizes is exact in binary. Quantised data is smooth, so that weights of ten bits come to the same.
"""

from dataclasses import dataclass
from typing import Any

import numpy

from npu_conformance.corpus.generators._rejections import RANK_CLAUSE
from npu_conformance.corpus.generators._windows import Pair
from npu_conformance.corpus.generators._zero_sized import zero_sized
from npu_conformance.corpus.generators.base import Vectors, positive, rejection
from npu_conformance.corpus.generators.data import dyadic, integers
from npu_conformance.corpus.generators.operands import Operands, OperandSpec, boolean, int32, scalar, tensor
from npu_conformance.corpus.generators.types import FLOAT16, FLOAT32, QUANT8, SIGNED
from npu_conformance.corpus.pairwise import pairwise
from npu_conformance.corpus.vectors import Vector
from npu_conformance.specs.documents.vectors import Phase
from npu_conformance.specs.neuralnetworks.enums import OperandType

KINDS = {"float32": FLOAT32, "float16": FLOAT16, "quant8": QUANT8, "quant8_signed": SIGNED}
TRAILING: dict[str, tuple[bool, ...]] = {
    "none": (),
    "nhwc": (False,),
    "nchw": (True,),
    "nhwc_no_align": (False, False),
    "nchw_no_flag": (True, False, False),
    "nchw_align": (True, True),
    "nhwc_align_no_half": (False, True, False),
    "nhwc_half": (False, False, True),
    "nchw_half": (True, False, True),
}
"""Layout (true: NCHW), align_corners and half_pixel_centers, as far as they are in the list."""


@dataclass(frozen=True)
class Sizes:
    """Shapes of a resize. Pairs are (height, width); factors give the output sizes, rounded down."""

    batches: int
    size: Pair
    channels: int
    target: Pair
    factors: tuple[float, float]


SHAPES = {
    "larger": Sizes(1, (3, 2), 2, (5, 4), (1.75, 2.25)),
    "smaller": Sizes(2, (5, 7), 2, (2, 3), (0.5, 0.5)),
    "taller": Sizes(1, (3, 6), 3, (5, 2), (1.75, 0.375)),
    "wider": Sizes(1, (5, 3), 2, (3, 7), (0.625, 2.375)),
    "same": Sizes(2, (3, 5), 1, (3, 5), (1.0, 1.0)),
    "one": Sizes(1, (3, 5), 2, (1, 1), (0.375, 0.25)),
    "from_one": Sizes(1, (1, 1), 3, (3, 2), (3.75, 2.5)),
}
"""No factor is close to giving another size, in float16 either."""


@dataclass(frozen=True)
class Form:
    """How a vector says what it wants: the sizes or factors, and a value of TRAILING."""

    by_factors: bool = False
    flags: tuple[bool, ...] = ()

    @property
    def nchw(self) -> bool:
        """True where channels come before height and width."""
        return self.flags[:1] == (True,)

    def shape(self, batches: int, size: Pair, channels: int) -> tuple[int, ...]:
        """Dimensions of a tensor in this layout."""
        return (batches, channels, *size) if self.nchw else (batches, *size, channels)

    def scalars(self, kind: str, sizes: Sizes) -> Operands:
        """The arguments behind the tensor, width first."""
        height, width = (self._scalar(kind, sizes, axis) for axis in (0, 1))
        names = ("nchw_layout", "align_corners", "half_pixel_centers")
        return {"width": width, "height": height, **dict(zip(names, map(boolean, self.flags), strict=False))}

    def _scalar(self, kind: str, sizes: Sizes, axis: int) -> OperandSpec:
        if not self.by_factors:
            return int32(sizes.target[axis])
        return scalar(OperandType.FLOAT16 if kind == "float16" else OperandType.FLOAT32, sizes.factors[axis])


def operands(kind: str, sizes: Sizes, form: Form, data: Any) -> tuple[Operands, Operands]:
    """Inputs and outputs. data: of an unsigned type; a signed one gets it less 128."""
    shift = 128 if kind == "quant8_signed" else 0
    quantization: dict[str, Any] = {} if kind.startswith("float") else {"scale": 0.05, "zero_point": 100 - shift}
    elements = data - shift if shift and data is not None else data
    source = tensor(KINDS[kind], form.shape(sizes.batches, sizes.size, sizes.channels), elements, **quantization)
    output = tensor(KINDS[kind], form.shape(sizes.batches, sizes.target, sizes.channels), **quantization)
    return {"input": source, **form.scalars(kind, sizes)}, {"output": output}


def seeded(kind: str, sizes: Sizes, form: Form, seed: int) -> Any:
    """Quarters around 0; or bytes that change little from one to the next, in rising and falling channels."""
    shape = form.shape(sizes.batches, sizes.size, sizes.channels)
    if kind.startswith("float"):
        return dyadic(seed, shape, -8.0, 8.0, 0.25)
    rows, columns, channels = numpy.meshgrid(*map(numpy.arange, (*sizes.size, sizes.channels)), indexing="ij")
    image = (-1) ** channels * (11 * rows - 8 * columns)
    images = 128 + image + integers(seed, (sizes.batches, *sizes.size, sizes.channels), -6, 6)
    return images.transpose(0, 3, 1, 2) if form.nchw else images


def vector(operation: str, name: str, kind: str, sizes: Sizes, form: Form, data: Any = 0, **details: Any) -> Vector:
    """A vector that must run. data: elements, or the seed of some."""
    elements = seeded(kind, sizes, form, data) if isinstance(data, int) else data
    inputs, outputs = operands(kind, sizes, form, elements)
    return positive(name, operation, inputs, outputs, **details)


def by_hand(operation: str, name: str, sizes: Sizes, flags: tuple[bool, ...], data: Any, derivation: str) -> Vector:
    """A vector whose expected values anybody can derive, with the derivation."""
    more: dict[str, Any] = {"hazards": ["resize-pixel-centres"], "description": derivation}
    return vector(operation, f"by_hand_{name}", "float32", sizes, Form(flags=flags), data, **more)


def cover(operation: str, *, layout: bool) -> Vectors:
    """Pairwise: type, shape, sizes or factors, layout, flags; every ratio. layout: whether it must be listed."""
    parameters: dict[str, list[Any]] = {
        "kind": list(KINDS),
        "shape": ["larger", "smaller", "taller", "one"],
        "by": ["size", "factor"],
        "trailing": [name for name, flags in TRAILING.items() if flags or not layout],
    }
    for seed, row in enumerate(pairwise(parameters)):
        form = Form(row["by"] == "factor", TRAILING[row["trailing"]])
        name = "_".join(word for word in row.values() if word != "none")
        hazards = ["resize-width-first"]
        hazards += ["resize-pixel-centres"] if any(form.flags[1:]) else []
        hazards += ["nchw-activations-only"] if form.nchw else []
        yield vector(operation, name, row["kind"], SHAPES[row["shape"]], form, seed, hazards=hazards)
    yield from _every_ratio(operation)
    oblong = Sizes(1, (3, 5), 2, (4, 4), (4 / 3, 0.8))
    for word in ("nhwc_align_no_half", "nhwc_half"):
        form, about = Form(flags=TRAILING[word]), "a square of what is none: each axis has a ratio of its own"
        yield vector(operation, f"float32_square_{word}", "float32", oblong, form, 77, description=about)


def _every_ratio(operation: str) -> Vectors:
    """Every flag with every shape, in floats: what a device gets wrong shows in some of the ratios only."""
    for shape, sizes in SHAPES.items():
        for trailing in ("nhwc", "nhwc_align_no_half", "nhwc_half"):
            form = Form(flags=TRAILING[trailing])
            yield vector(
                operation, f"ratios_{shape}_{trailing}", "float32", sizes, form, 77, hazards=["resize-pixel-centres"]
            )


def _found_late(operation: str) -> Vectors:
    """An image whose sizes only the request gives, resized by sizes and by factors."""
    for by_factors in (False, True):
        sizes, form = SHAPES["larger"], Form(by_factors, (False,))
        inputs, outputs = operands("float32", sizes, form, seeded("float32", sizes, form, 5))
        shape, given = inputs["input"].shape, inputs["input"].data
        assert isinstance(given, numpy.ndarray)
        late = tensor(FLOAT32, (0, 0, 0, 2), given, shape=shape)
        name = f"float32_sizes_from_request_by_{'factor' if by_factors else 'size'}"
        yield positive(name, operation, {**inputs, "input": late}, outputs, since="1.2")


def _batch_zero(operation: str) -> Vectors:
    """A batch without images, in both layouts and forms."""
    for kind in KINDS:
        for nchw in (False, True):
            sizes, form = Sizes(0, (2, 3), 2, (4, 2), (2.25, 0.75)), Form(nchw, (nchw,))
            inputs, outputs = operands(kind, sizes, form, None)
            name = f"{kind}_batch_zero_{'nchw_by_factor' if nchw else 'nhwc_by_size'}"
            yield zero_sized(
                name, operation, inputs["input"], {**inputs, "input": None}, outputs, hazards=["resize-width-first"]
            )


def late_sizes_and_rejections(operation: str) -> Vectors:
    """Sizes that only the request gives; no images; what every device must reject, by the same clauses in both."""
    yield from _found_late(operation)
    yield from _batch_zero(operation)
    yield from _rejections(operation)


def _rejections(operation: str) -> Vectors:
    image = tensor(FLOAT32, (3, 2, 2), dyadic(1, (3, 2, 2)))
    yield _rejection(operation, "input_rank_3", RANK_CLAUSE, {"input": image})
    late = {"input": tensor(FLOAT32, (), image.data, shape=image.shape), "output": tensor(FLOAT32, ())}
    yield _rejection(operation, "input_rank_3_at_execution", "C1", late)
    for name in ("width", "height"):
        for value, word in ((0, "0"), (-1, "minus_1")):
            yield _rejection(operation, f"{name}_{word}", "C2", {name: int32(value), "output": tensor(FLOAT32, ())})
        for factor, word in ((0.0, "0"), (-1.5, "minus_1_5"), (0.125, "too_small"), (float("nan"), "nan")):
            wrong = {name: scalar(OperandType.FLOAT32, factor), "output": tensor(FLOAT32, ())}
            yield _rejection(operation, f"{name}_factor_{word}", "C2", wrong, Form(True, (False,)))
    both = {"align_corners": boolean(True), "half_pixel_centers": boolean(True)}
    yield _rejection(operation, "both_flags", "C3", both, Form(flags=(False, True, True)))
    for name, shape in {"swapped": (1, 4, 5, 2), "of_input": (1, 3, 2, 2), "nchw": (1, 2, 5, 4)}.items():
        yield _rejection(operation, f"output_{name}", "C6", {"output": tensor(FLOAT32, shape)})
    for name, scale, point in (("scale", 0.1, 100), ("zero_point", 0.05, 101)):
        output = tensor(QUANT8, (1, 5, 4, 2), scale=scale, zero_point=point)
        yield _rejection(operation, f"quant8_output_{name}", "C7", {"output": output}, kind="quant8")
    yield from _rejected_types(operation)


def _rejected_types(operation: str) -> Vectors:
    """Types that do not go together, and arguments in versions that do not have them."""
    mixed = {"height": scalar(OperandType.FLOAT32, 2.5)}
    yield _rejection(operation, "size_beside_factor", "MODEL.P3", mixed)
    halves = {name: scalar(OperandType.FLOAT16, 2.0) for name in ("width", "height")}
    yield _rejection(operation, "float32_with_float16_factors", "MODEL.P3", halves)
    singles = {name: scalar(OperandType.FLOAT32, 2.0) for name in ("width", "height")}
    yield _rejection(operation, "float16_with_float32_factors", "MODEL.P3", singles, kind="float16")
    flags = Form(flags=(False, True))
    yield _rejection(operation, "align_corners_until_1_2", "MODEL.P3", {}, flags, until="1.2")


def _rejection(
    operation: str,
    name: str,
    clause: str,
    changes: Operands,
    form: Form | None = None,
    *,
    kind: str = "float32",
    until: str = "fl8",
) -> Vector:
    sizes, form = SHAPES["larger"], form or Form(flags=(False,))
    sound = operands(kind, sizes, form, seeded(kind, sizes, form, 1))
    phase: Phase = "model" if clause == "MODEL.P3" else "execution"
    return rejection(operation, name, clause, *sound, "1.2", until, changes=changes, phase=phase)
