"""The generator of BOX_WITH_NMS_LIMIT. Every batch index of more than two results has company, see `_spaced_boxes`.

No third party has the operation. By hand: boxes (0, 0, 16, 16), (4, 0, 20, 16) and (8, 0, 24, 16) of class 1 with
scores 3/4, 5/8 and 1/2. The first overlaps the second by 192/320 = 3/5 and the third by 128/384 = 1/3, the second the
third by 3/5. Hard with threshold 2/5: the second goes, the third stays. Linear with threshold 3/10: the second decays
to 5/8 * 2/5 = 1/4, the third to 1/2 * 2/3 = 1/3, which decays the second again, to 1/10. Gaussian with sigma 1/2:
exp(-18/25) and exp(-2/9) leave 0.304 and 0.400; the third then decays the second to 0.148.
"""

from dataclasses import replace
from typing import Any

import numpy

from npu_conformance.corpus.generators._boxes import (
    boxes,
    declared,
    indices,
    number,
    rejections,
    requantized,
    values,
    whole_numbers,
)
from npu_conformance.corpus.generators._many_results import BEHIND_4096
from npu_conformance.corpus.generators._no_boxes import NO_BATCHES, NO_ROIS, without_boxes
from npu_conformance.corpus.generators._rejections import RANK_CLAUSE
from npu_conformance.corpus.generators._spaced_boxes import BOXES, moved, scores
from npu_conformance.corpus.generators.base import Vectors, positive
from npu_conformance.corpus.generators.data import Array
from npu_conformance.corpus.generators.operands import Operands, int32, tensor
from npu_conformance.corpus.pairwise import pairwise
from npu_conformance.corpus.vectors import Vector
from npu_conformance.specs.documents.vectors import GeneratorDocument
from npu_conformance.specs.neuralnetworks.enums import OperandType

OPERATION = "BOX_WITH_NMS_LIMIT"
_KINDS = ("float32", "float16", "quant8", "quant8_signed")
_KERNELS = {"hard": 0, "linear": 1, "gaussian": 2}
_QUANTIZATION: dict[str, Any] = {"scale": 1 / 128, "zero_point": 4}


def vectors() -> Vectors:
    """Pairwise over all parameters; cases by hand; zero results and zero rois; sizes left open; rejections."""
    parameters: dict[str, list[Any]] = {
        "kind": list(_KINDS),
        "kernel": list(_KERNELS),
        "most": [-1, 2, 4],
        "batches": [(0, 0, 0, 0, 1, 1), (2, 2, 5, 5, 5, 5)],
        "lowest": [0.06, 0.3],
    }
    for seed, row in enumerate(pairwise(parameters)):
        words = [row["kind"], row["kernel"], f"batch_of_{row['batches'].count(row['batches'][0])}"]
        words += ["unlimited" if row["most"] < 0 else f"at_most_{row['most']}", f"lowest_{round(row['lowest'] * 100)}"]
        scalars = _scalars(row["kind"], row["kernel"], row["most"], lowest=row["lowest"])
        yield _positive("_".join(words), row["kind"], _scores(seed + 20), _rois(3), row["batches"], scalars)
    yield _many_classes()
    yield _many_results()
    yield from _by_hand()
    yield from _limits()
    yield from _nothing_left()
    yield from _no_rois()
    yield from _unknown_sizes()
    yield from _rejected()


def _many_classes() -> Vector:
    batches = (7, 7, 7, 7, 7, 3)
    return _positive("float32_5_classes", "float32", _scores(60, 5), _rois(5), batches, _scalars("float32", "hard", 6))


def _many_results() -> Vector:
    """Two boxes, each of another image, in each of 515 classes."""
    classes = 516
    rois = numpy.stack([numpy.concatenate([one, *[one + label % 7 for label in range(1, classes)]]) for one in _APART])
    inputs, outputs = _operands("float32", numpy.zeros((2, classes)), rois, (0, 1), _scalars("float32", "hard", -1))
    data = GeneratorDocument(kind="uniform", seed=61, low=0.25, high=1.0)
    inputs["scores"] = tensor(OperandType.TENSOR_FLOAT32, (2, classes), data)
    excluded = ["float16", "relaxed"]
    vector = positive(
        "float32_many_results", OPERATION, inputs, outputs, since="1.2", description=BEHIND_4096, excluded=excluded
    )
    return declared(vector)


_APART = (BOXES[0], BOXES[3])


def _scores(seed: int, classes: int = 3) -> Array:
    return scores(seed, 6 * classes).reshape(6, classes)


def _rois(classes: int) -> Array:
    """The boxes of each class, a little elsewhere; those of the background overlap everything."""
    parts = [moved(BOXES[:6], 3 * label, 5 * label) for label in range(1, classes)]
    return numpy.concatenate([numpy.tile([0, 0, 90, 90], (6, 1)), *parts], axis=1)


def _scalars(
    kind: str, kernel: str, most: int, *, threshold: float = 0.17, overlap: float = 0.45, lowest: float = 0.06
) -> Operands:
    return {
        "score_threshold": number(kind, threshold),
        "max_detections": int32(most),
        "nms_kernel": int32(_KERNELS[kernel]),
        "iou_threshold": number(kind, overlap),
        "sigma": number(kind, 0.5),
        "nms_score_threshold": number(kind, lowest),
    }


def _operands(
    kind: str, given: Any, rois: Any, batches: tuple[int, ...], scalars: Operands
) -> tuple[Operands, Operands]:
    inputs = {
        "scores": values(kind, numpy.shape(given), given, **_QUANTIZATION),
        "rois": boxes(kind, numpy.shape(rois), rois),
        "batch_indices": indices(*batches),
        **scalars,
    }
    return inputs, _outputs(kind, 0)


def _outputs(kind: str, count: int) -> Operands:
    return {
        "scores_out": values(kind, (count,), **_QUANTIZATION),
        "rois_out": boxes(kind, (count, 4)),
        "classes_out": whole_numbers((count,)),
        "batches_out": whole_numbers((count,)),
    }


def _positive(
    name: str, kind: str, given: Any, rois: Any, batches: tuple[int, ...], scalars: Operands, description: str = ""
) -> Vector:
    inputs, outputs = _operands(kind, given, rois, batches, scalars)
    vector = positive(
        name,
        OPERATION,
        inputs,
        outputs,
        since="1.2",
        hazards=["suppression-rules", "sizes-found-late"],
        description=description,
    )
    return declared(vector)


def _by_hand() -> Vectors:
    """The three boxes of the module's text, in two batches that differ in their scores; a class with one score."""
    rois = numpy.concatenate([moved(BOXES[:3], 30, 30), BOXES[:3], BOXES[3:6]], axis=1)
    rois = numpy.concatenate([rois, rois])
    first = [(0.0, 0.75, 0.0), (0.5, 0.625, 0.125), (0.25, 0.5, 0.0)]
    given = [*first, (0.5, 0.5, 0.0), (0.25, 0.75, 0.0), (0.875, 0.625, 0.875)]
    left = {
        "hard": "batch 0 keeps the first and the third box, batch 1 the second",
        "linear": "batch 0: 3/4, 1/3, 1/10; batch 1: 3/4, 1/4, 2/15",
        "gaussian": "batch 0: 3/4, 0.400, 0.148; batch 1: 3/4, 0.304, 0.195",
    }
    for kind in ("float32", "quant8"):
        for kernel, text in left.items():
            scalars = _scalars(kind, kernel, -1, overlap=0.3 if kernel == "linear" else 0.4, lowest=0.05)
            text = f"of class 1 {text}; of class 2 batch 1 keeps one box"
            yield _positive(f"{kind}_{kernel}_by_hand", kind, given, rois, (0, 0, 0, 1, 1, 1), scalars, text)


def _limits() -> Vectors:
    """Few results or none; class 0 never counts, however high its scores; suppressed boxes whose score of 0 counts."""
    rois, batches = _rois(3), (0, 0, 0, 1, 1, 1)
    for kind in ("float32", "quant8"):
        given = _scores(70)
        given[:, 0] = 0.96875
        scalars = _scalars(kind, "hard", 1)
        yield _positive(f"{kind}_at_most_1", kind, given, rois, batches, scalars)
        scalars = _scalars(kind, "hard", 0)
        yield _positive(f"{kind}_at_most_0", kind, given, rois, batches, scalars)
        few = [(0.0, 0.75, 0.125), (0.0, 0.5, 0.25), (0.0, 0.25, 0.875)]
        three = numpy.concatenate([BOXES[:3] * 0, BOXES[:3], BOXES[[0, 3, 5]]], axis=1)
        text = "a suppressed box has score 0, which is not less than the lowest score of 0: it stays, as the last one"
        scalars = _scalars(kind, "hard", -1, threshold=0.3, overlap=0.5, lowest=0.0)
        yield _positive(f"{kind}_hard_keeps_score_0", kind, few, three, (0, 0, 3), scalars, text)


def _nothing_left() -> Vectors:
    """No score is greater than the threshold: the first dimension of all outputs is 0."""
    for kind in ("float32", "quant8"):
        scalars = _scalars(kind, "linear", -1, threshold=1.5)
        yield _positive(f"{kind}_nothing_left", kind, _scores(80), _rois(3), (0,) * 6, scalars)


def _no_rois() -> Vectors:
    """Boxes of three classes without elements are made by AXIS_ALIGNED_BBOX_TRANSFORM."""
    for kind in _KINDS:
        images = replace(boxes(kind, (1, 2), [64, 64]), constant=True)
        transform = ("AXIS_ALIGNED_BBOX_TRANSFORM", (NO_ROIS, "deltas", NO_BATCHES, "images"), boxes(kind, (0, 12)))
        yield without_boxes(
            OPERATION,
            kind,
            {"scores": "scores", "rois": "boxes", "batch_indices": NO_BATCHES, **_scalars(kind, "linear", 3)},
            _outputs(kind, 0),
            sliced={"scores": values(kind, (0, 3), **_QUANTIZATION), "deltas": values(kind, (0, 12))},
            between={"boxes": transform},
            constants={"images": images},
        )


def _unknown_sizes() -> Vectors:
    given, rois, batches = _scores(90), _rois(3), (0, 0, 0, 0, 1, 1)
    for kind in ("float32", "quant8"):
        scalars = _scalars(kind, "hard", -1)
        inputs, outputs = _operands(kind, given, rois, batches, scalars)
        inputs["batch_indices"] = indices(*batches, constant=True)
        yield positive(
            f"{kind}_constant_batch_indices", OPERATION, inputs, outputs, since="1.2", hazards=["sizes-found-late"]
        )
        inputs |= {
            "scores": values(kind, (0, 0), given, shape=given.shape, **_QUANTIZATION),
            "rois": boxes(kind, (0, 0), rois, shape=rois.shape),
            "batch_indices": tensor(OperandType.TENSOR_INT32, (0,), batches, shape=(6,)),
        }
        outputs |= {"rois_out": boxes(kind, ()), "classes_out": whole_numbers(())}
        yield positive(f"{kind}_sizes_unknown", OPERATION, inputs, outputs, since="1.2", hazards=["sizes-found-late"])


def _rejected() -> Vectors:
    given, rois, batches = _scores(90, 2)[:3], _rois(2)[:3], (0, 0, 1)
    sound = {kind: _operands(kind, given, rois, batches, _scalars(kind, "hard", -1)) for kind in ("float32", "quant8")}
    flat = {"scores": values("float32", (3, 1), given[:, 1]), "rois": boxes("float32", (3, 4), rois[:, 4:])}
    inputs, outputs = sound["quant8"]
    cases: dict[str, tuple[str, str, Operands]] = {
        "rank_3": (RANK_CLAUSE, "float32", {"rois": boxes("float32", (3, 2, 4), rois)}),
        "rank_3_at_execution": ("C1", "float32", {"rois": boxes("float32", (), rois, shape=(3, 2, 4))}),
        "fewer_boxes_than_scores": ("C2", "float32", {"rois": boxes("float32", (2, 8), rois[:2])}),
        "boxes_of_other_classes": ("C2", "float32", {"rois": boxes("float32", (3, 12), numpy.zeros(36))}),
        "boxes_of_3": ("C2", "float32", {"rois": boxes("float32", (3, 6), numpy.zeros(18))}),
        "fewer_batch_indices_than_rois": ("C2", "float32", {"batch_indices": indices(0, 1)}),
        "one_class": ("C3", "float32", flat),
        "kernel_3": ("C4", "float32", {"nms_kernel": int32(3)}),
        "kernel_minus_1": ("C4", "float32", {"nms_kernel": int32(-1)}),
        "scores_of_float16": ("MODEL.P3", "float32", {"score_threshold": number("float16", 0.25)}),
        "boxes_of_5": ("C9", "float32", {"rois_out": boxes("float32", (0, 5))}),
        "scores_of_rank_2": (RANK_CLAUSE, "float32", {"scores_out": values("float32", (0, 1))}),
        "output_scores_scale": ("C7", "quant8", {"scores_out": requantized(outputs["scores_out"], 1 / 64, 4)}),
        "output_scores_zero_point": ("C7", "quant8", {"scores_out": requantized(outputs["scores_out"], 1 / 128, 5)}),
    }
    for key, spec in {"rois": inputs["rois"], "rois_out": outputs["rois_out"]}.items():
        cases |= {
            f"{key}_scale": ("C6", "quant8", {key: requantized(spec, 0.25, 0)}),
            f"{key}_zero_point": ("C6", "quant8", {key: requantized(spec, 0.125, 1)}),
        }
    yield from rejections(OPERATION, sound, cases)
