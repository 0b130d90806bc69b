"""Vectors that REDUCE_ALL and REDUCE_ANY share."""

import math

import numpy

from npu_conformance.corpus.generators._long_axes import BEHIND_255, LONG
from npu_conformance.corpus.generators._reductions import Shape, cases, reduction, rejections
from npu_conformance.corpus.generators.base import Vectors
from npu_conformance.corpus.generators.data import integers
from npu_conformance.corpus.generators.operands import OperandSpec, tensor
from npu_conformance.corpus.generators.types import BOOL8
from npu_conformance.specs.documents.vectors import GeneratorDocument
from npu_conformance.specs.neuralnetworks.enums import OperandType


def vectors(operation: str) -> Vectors:
    """What all reductions have, with slices that come out either way; rows of every kind; bytes other than 1."""

    def truths(kind: OperandType, shape: Shape, seed: int) -> OperandSpec:
        # One or two elements decide their slices; with more of them all slices would come out alike.
        usual = int(operation == "REDUCE_ALL")
        data = numpy.full(math.prod(shape), usual)
        data[integers(seed, (2,), 0, data.size - 1)] = 1 - usual
        return tensor(kind, shape, data)

    yield from cases(operation, (BOOL8,), truths)
    rows = [0, 0, 0, 0, 0, 1, 1, 0, 0, 1, 0, 1, 0, 1, 1, 1, 1, 1]
    yield reduction("bool8_rows", operation, tensor(BOOL8, (6, 3), rows), (1,), False)
    bytes_ = [2, 254, 128, 0, 0, 0, 64, 0, 0, 3, 1, 254]
    about = "every byte but 0 is true; a bitwise operation would see no common bit"
    yield reduction("bool8_other_bytes", operation, tensor(BOOL8, (4, 3), bytes_), (1,), True, about)
    far = numpy.full((2, 261), int(operation == "REDUCE_ALL"))
    far[0, 259] = 1 - far[0, 259]
    about = "one element behind the 256th decides the first row"
    yield reduction("bool8_261_columns", operation, tensor(BOOL8, (2, 261), far), (1,), False, about)
    many = GeneratorDocument(kind="integers", seed=76, low=0, high=1)
    yield reduction("bool8_other_axis_of_300", operation, tensor(BOOL8, (LONG, 2), many), (1,), False, BEHIND_255)
    yield from rejections(operation, BOOL8, truths)
