"""What can be wrong with a .tflite file, or with the wish to have it as a model of NN HAL."""

from __future__ import annotations

from collections.abc import Sequence

from npu_conformance.specs.diagnostics.one_line import one_line
from npu_conformance.specs.documents import DocumentError


class TfliteError(DocumentError):
    """A file is no sound .tflite model, or none that can be read here. Reads `file: where: what`."""


class UnsupportedModelError(TfliteError):
    """A sound model that NN HAL cannot express. lines: all reasons, each with its operator or tensor."""

    def __init__(self, document: str, lines: Sequence[str]) -> None:
        super().__init__(document, "", "\n".join(lines))
        self.lines = tuple(lines)

    def __str__(self) -> str:
        return "\n".join(f"{self.document}: {one_line(line)}" for line in self.lines)


class Unsupported(Exception):
    """Why one operator cannot be expressed; becomes a line of UnsupportedModelError."""
