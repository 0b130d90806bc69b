"""Why a clause has no vector that breaks it."""

from npu_conformance.specs.neuralnetworks.rules.clause import Clause
from npu_conformance.specs.neuralnetworks.rules.common.boxes import ONLY_ROWS
from npu_conformance.specs.neuralnetworks.rules.common.general import EMPTY

_BY_TEXT = {
    EMPTY: (
        "In a request a size of 0 means unknown, so that a tensor without elements can only come from inside the "
        "model; where an operation does not allow one, no document says that it must be rejected."
    ),
    "Height, width and channels of the input are not 0.": (
        "In a request a size of 0 means unknown, and operations inside a model make only batches without elements."
    ),
}
_BY_TEXT[ONLY_ROWS] = _BY_TEXT[EMPTY]
_BY_ID: dict[str, str] = {
    "DEPTHWISE_CONV_2D.C4": "A multiplier of 0 or less breaks C3 too, whose vectors have such ones.",
}
_BY_BASIS = {
    "text": "Only the documents ask for it; Android's own implementation computes something.",
    "reference": "Only Android's own implementation refuses it; the documents do not forbid it.",
}


def reason(clause: Clause) -> str:
    """Why no rejection vector is generated for a clause; empty where one has to be."""
    return _BY_ID.get(clause.id) or _BY_TEXT.get(clause.text) or _BY_BASIS.get(clause.basis, "")
