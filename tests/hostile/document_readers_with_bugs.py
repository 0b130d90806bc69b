"""Readers of documents, each with one bug that shows some fields or bytes away from what is valid."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec

from npu_conformance.specs import documents
from npu_conformance.specs.documents import DocumentError
from npu_conformance.specs.documents.failures import FailureFile
from npu_conformance.specs.documents.summary import Results
from npu_conformance.specs.documents.vectors import VectorFile
from npu_conformance.specs.documents.waivers import WaiverFile
from npu_conformance.specs.manifest import Manifest


def _forgets_flaky(path: Path) -> None:
    """A flaky waiver without an owner's link is looked up."""
    for waiver in documents.read(path, WaiverFile).waivers:
        if waiver.flaky and waiver.tolerance is None:
            {"owner": waiver.owner}[waiver.link]


def _walks_the_payload(path: Path) -> None:
    """A payload is walked by recursion."""

    def walk(value: Any) -> int:
        inside = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
        return 1 + sum(map(walk, inside))

    walk(documents.read(path, FailureFile).payload)


def _quotes_as_it_is(path: Path) -> None:
    """An unknown operation is quoted with its line breaks."""
    document = documents.read(path, VectorFile)
    if not document.operation.isprintable():
        raise Quoted(document.operation)


class Quoted(DocumentError):
    """A message of its own."""

    def __init__(self, text: str) -> None:
        super().__init__("vectors", "$.operation", "unknown")
        self._text = text

    def __str__(self) -> str:
        return f"unknown: {self._text}"


def _quotes_all(path: Path) -> None:
    """A refused list is quoted whole."""
    for vector in documents.read(path, VectorFile).vectors:
        if len(vector.inputs) > 3:
            raise Quoted(" ".join(vector.inputs) * 1000)


def _believes_a_size(path: Path) -> None:
    """Room is made for as many instances as a manifest allows."""
    manifest = documents.read(path, Manifest)
    if manifest.concurrent_calls > 1:
        bytearray(min(manifest.max_instances, 1 << 26))


def _refuses_with_much_memory(path: Path) -> None:
    """A number is found to be too large once there is room for as many."""
    _believes_a_size(path)
    if documents.read(path, Manifest).max_instances > 99:
        raise DocumentError("manifest", "$.max_instances", "too many")


def _counts_to_a_number(path: Path) -> None:
    """Every instance is looked at."""
    seen: list[int] = []
    for number in range(documents.read(path, Manifest).max_instances):
        seen.append(number) if not number % 1000 else abs(number)


def _takes_any_integer_for_a_float(path: Path) -> None:
    """The seed of a result is made a float."""
    float(documents.read(path, FailureFile).result.seed)


def _expects_different_names(path: Path) -> None:
    """Two waivers never have one id."""
    ids = [waiver.id for waiver in documents.read(path, WaiverFile).waivers]
    assert len(set(ids)) == len(ids)


def _warns(path: Path) -> None:
    """A run without selected suites is remarked on."""
    outcome = documents.read(path, Results)
    if not outcome.by_suite and outcome.complete:
        warnings.warn("no suites", stacklevel=1)


def _expects_an_object(path: Path) -> None:
    """A payload, where there is one, has an id."""
    payload = documents.read(path, FailureFile).payload
    if payload is not None:
        payload["id"]


def _decodes_alone(path: Path) -> None:
    """What is read is decoded without documents.decode."""
    msgspec.json.decode(path.read_bytes(), type=Manifest)


def _follows_offsets(path: Path) -> None:
    """The first offset of a flatbuffer is followed without a look."""
    data = path.read_bytes()
    if data[4:8] == b"TFL3":
        data[int.from_bytes(data[:4], "little")]


def _reads_words(path: Path) -> Iterator[str]:
    """A word of an expression is quoted in a line that somebody sees."""
    text = path.read_text(errors="surrogateescape")
    if " and " in text:
        yield f"unknown: {text.split(' and ')[1]}"


BUGS: dict[str, tuple[str, Callable[[Path], object], str]] = {
    "waiver": ("waivers", _forgets_flaky, "KeyError in _forgets_flaky"),
    "nested": ("failure", _walks_the_payload, "RecursionError in walk"),
    "lines": ("vectors", _quotes_as_it_is, "message"),
    "long": ("vectors", _quotes_all, "length"),
    "memory": ("manifest", _believes_a_size, "memory"),
    "refusal": ("manifest", _refuses_with_much_memory, "memory"),
    "steps": ("manifest", _counts_to_a_number, "steps"),
    "float": (
        "failure",
        _takes_any_integer_for_a_float,
        "OverflowError in _takes_any_integer_for_a_float",
    ),
    "names": (
        "waivers",
        _expects_different_names,
        "AssertionError in _expects_different_names",
    ),
    "warning": ("results", _warns, "UserWarning in _warns"),
    "payload": ("failure", _expects_an_object, "Error in document_readers_with_bugs._expects_an_object"),
    "alone": ("manifest", _decodes_alone, "Error in _decodes_alone"),
    "offset": ("tflite", _follows_offsets, "IndexError in _follows_offsets"),
    "words": ("expression", _reads_words, "message"),
}
"""By the name of a bug: the reader in whose place it is, the function, and the place of the finding."""

RARE = {
    "memory": (b'"max_instances":8', b'"max_instances":9999999999'),
    "refusal": (b'"max_instances":8', b'"max_instances":9999999999'),
    "float": (b'"seed":5', b'"seed":' + b"9" * 400),
    "warning": (b'"by_suite":{"mlts":{"pass":1},"vts":{"fail":1}}', b'"by_suite":{}'),
    "steps": (b'"max_instances":8', b'"max_instances":9999999999'),
}
"""What a search of seconds may miss: what to change in a seed, and into what."""
