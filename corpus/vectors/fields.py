"""The fields that a header and a whole vector share."""

from __future__ import annotations

from npu_conformance.corpus.vector_types import Rejected
from npu_conformance.specs.documents import DocumentError
from npu_conformance.specs.documents.vectors import RejectedDocument
from npu_conformance.specs.versions import NEWEST, Version, parse


def parse_since(text: str, document: str) -> Version:
    """The version spelled `text`; raises DocumentError."""
    try:
        return parse(text)
    except ValueError as error:
        raise DocumentError(document, "$.since", str(error)) from None


def rejected_of(document: RejectedDocument | None, where: str) -> Rejected | None:
    """What the document of a vector says about its rejection; raises DocumentError."""
    if document is None:
        return None
    until = parse_since(document.until, where) if document.until else NEWEST
    return Rejected(document.clause, document.phase, until)
