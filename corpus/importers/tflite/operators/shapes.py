"""RESHAPE and its relatives, TRANSPOSE, PACK, PAD, TILE and what moves blocks: elements that only change places."""

from __future__ import annotations

from collections.abc import Callable

from msgspec.structs import replace

from npu_conformance.corpus.importers.tflite.errors import Unsupported
from npu_conformance.corpus.importers.tflite.step import Step


def reshape(step: Step) -> None:
    """RESHAPE to the shape that the file says its result has."""
    step.apply("RESHAPE", [step.name(0), step.vector(step.result().dimensions)])


def squeeze(step: Step) -> None:
    """SQUEEZE; without axes, of all whose size is 1."""
    shape = step.tensor(0).shape
    axes = step.operator.numbers("SqueezeDims") or [axis for axis, size in enumerate(shape) if size == 1]
    if not axes or not shape:
        reshape(step)
        return
    step.apply("SQUEEZE", [step.name(0), step.vector([axis + len(shape) if axis < 0 else axis for axis in axes])])


def expand_dims(step: Step) -> None:
    """EXPAND_DIMS; of a tensor of rank 0, which is one of one element here, RESHAPE."""
    if not step.tensor(0).shape:
        reshape(step)
        return
    step.apply("EXPAND_DIMS", [step.name(0), step.int32(step.integer(1))])


def transpose(step: Step) -> None:
    """TRANSPOSE."""
    step.apply("TRANSPOSE", [step.name(0), step.vector(step.integers(1))])


def pack(step: Step) -> None:
    """PACK: a new axis for each part, and CONCATENATION along it."""
    axis = step.operator.option("Axis")
    rank = len(step.output().shape)
    if not -rank <= axis < rank:
        raise Unsupported(f"there is no axis {axis} among {rank}")
    axis %= rank
    dimensions = tuple(1 if at == axis else size for at, size in enumerate(step.result().dimensions))
    parts = []
    for position in range(step.input_count):
        part = replace(step.operand(position), dimensions=dimensions, value=None)
        parts.append(
            step.emit("EXPAND_DIMS", [step.name(position), step.int32(axis)], part)
            if step.tensor(position).shape
            else step.name(position)
        )
    step.apply("CONCATENATION", [*parts, step.int32(axis)])


def unpack(step: Step) -> None:
    """UNPACK: SPLIT, and RESHAPE of each part."""
    source, axis = step.operand(0), step.operator.option("Axis")
    rank, count = len(source.dimensions), len(step.operator.outputs)
    if not -rank <= axis < rank or source.dimensions[axis] != count:
        raise Unsupported(f"axis {axis} of {list(source.dimensions)} has not {count} parts")
    axis %= rank
    sizes = tuple(1 if at == axis else size for at, size in enumerate(source.dimensions))
    part = replace(source, dimensions=sizes, value=None)
    arguments = [step.name(0), step.int32(axis), step.int32(count)]
    for position, name in enumerate(step.translation.emit("SPLIT", arguments, [part] * count)):
        step.apply("RESHAPE", [name, step.vector(step.result(position).dimensions)], position)


def pad(step: Step) -> None:
    """PAD with the real value 0."""
    step.apply("PAD", [step.name(0), _paddings(step)])


def pad_v2(step: Step) -> None:
    """PADV2; the value of a quantised one is a stored integer in NNAPI."""
    source, value = step.operand(0), step.constant(2)
    if value.size != 1:
        raise Unsupported(f"its padding value has {value.size} elements")
    scalar = step.real(value.item(), source) if value.dtype.kind == "f" else step.int32(value.item())
    step.apply("PAD_V2", [step.name(0), _paddings(step), scalar])


def _paddings(step: Step) -> str:
    return step.filled(replace(step.operand(1), value=None), step.integers(1))


def tile(step: Step) -> None:
    """TILE."""
    step.apply("TILE", [step.name(0), step.vector(step.integers(1))])


def broadcast_to(step: Step) -> None:
    """BROADCAST_TO: TILE of the input with axes of size 1 in front."""
    result, source = step.result(), step.operand(0)
    rank = len(result.dimensions)
    sizes = (1,) * (rank - len(source.dimensions)) + source.dimensions
    name = step.name(0)
    if sizes != source.dimensions:
        name = step.emit("RESHAPE", [name, step.vector(sizes)], replace(source, dimensions=sizes, value=None))
    step.apply("TILE", [name, step.vector([to // size for to, size in zip(result.dimensions, sizes, strict=False)])])


def blocks(operation: str) -> Callable[[Step], None]:
    """DEPTH_TO_SPACE and SPACE_TO_DEPTH."""

    def translate(step: Step) -> None:
        step.apply(operation, [step.name(0), step.int32(step.operator.option("BlockSize"))])

    return translate


def batch_to_space_nd(step: Step) -> None:
    """BATCH_TO_SPACE_ND; NNAPI's cuts nothing off, so SLICE does."""
    blocks, source = step.integers(1), step.operand(0)
    crops = step.integers(2)
    if not any(crops):
        step.apply("BATCH_TO_SPACE_ND", [step.name(0), step.vector(blocks)])
        return
    if len(blocks) != 2 or len(crops) != 4 or len(source.dimensions) != 4:
        raise Unsupported("NNAPI's BATCH_TO_SPACE_ND is for images")
    _, height, width, channels = source.dimensions
    batches = step.result().dimensions[0]
    dimensions = (batches, height * blocks[0], width * blocks[1], channels)
    whole = replace(source, dimensions=dimensions, value=None)
    inner = step.emit("BATCH_TO_SPACE_ND", [step.name(0), step.vector(blocks)], whole)
    begin = step.vector([0, crops[0], crops[2], 0])
    step.apply("SLICE", [inner, begin, step.vector(step.result().dimensions)])


def space_to_batch_nd(step: Step) -> None:
    """SPACE_TO_BATCH_ND."""
    paddings = step.filled(replace(step.operand(2), value=None), step.integers(2))
    step.apply("SPACE_TO_BATCH_ND", [step.name(0), step.vector(step.integers(1)), paddings])
