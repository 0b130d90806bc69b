"""The input of a finding in words: the model that it is, or has. What crashed, hung or raised says nothing of it."""

from __future__ import annotations

import msgspec

from npu_conformance.fuzz.lib.differential_models import decoded
from npu_conformance.fuzz.lib.inputs import UNREADABLE
from npu_conformance.fuzz.lib.request_target import RequestInput
from npu_conformance.harness.run.vector_cases import in_a_word
from npu_conformance.specs.diagnostics.one_line import one_line
from npu_conformance.specs.neuralnetworks import model_text
from npu_conformance.specs.neuralnetworks.types import Model

_LONGEST = 300


def in_words(fuzzer: str, data: bytes) -> str:
    """One line of an input; empty where its fuzzer has no models, or it is none."""
    words = {"models": _model, "requests": _request, "differential": _vector}.get(fuzzer)
    try:
        line = one_line(words(data)) if words else ""
    except UNREADABLE:
        return ""
    return line if len(line) <= _LONGEST else f"{line[: _LONGEST - 4]} ..."


def model_of(data: bytes) -> Model:
    """The model that an input of the fuzzer of models is. Raises what UNREADABLE has."""
    return msgspec.json.decode(data, type=Model)


def _model(data: bytes) -> str:
    model = model_of(data)
    lines = [line.strip() for line in model_text.text(model).splitlines()]
    return f"model: {', '.join(lines if model.referenced else lines[2:])}"


def _request(data: bytes) -> str:
    given = msgspec.json.decode(data, type=RequestInput)
    edits = ", ".join(" ".join(map(str, edit)) for edit in given.edits)
    return f"the request of {given.vector}" + (f", edited: {edits}" if edits else "")


def _vector(data: bytes) -> str:
    vector = decoded(data)
    return "" if vector is None else in_a_word(vector)
