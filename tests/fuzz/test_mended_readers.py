"""What the fuzzer of documents has found in the readers: each was a traceback, an unreadable message or worse."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from npu_conformance.fuzz.lib import document_seeds as seeds
from npu_conformance.fuzz.lib.document_target import DocumentTarget
from npu_conformance.fuzz.lib.json_edits import places

LONG = "y" * 3000


def with_values(seed: bytes, *changes: tuple[str, Any]) -> bytes:
    """A document in which the first field of each name has another value."""
    document = msgspec.json.decode(seed)
    for name, value in changes:
        next(place for place in places(document) if place.key == name).put(value)
    return msgspec.json.encode(document)


VECTOR, REFUSED, *_, GENERATED = seeds.vector_files()
LINE, LINES = seeds.collections()
(EXTENSION,), (RESULTS,), (WAIVERS,) = seeds.extensions(), seeds.result_files(), seeds.waivers()
RUN = seeds.events()[0].split(b"\n")


def generated(**fields: Any) -> bytes:
    """The vector of generated values with other parameters of its generator."""
    return with_values(GENERATED, *fields.items())


REFUSALS = {
    "a line of text": ("manifest", with_values(seeds.manifests()[0], ("name", LONG))),
    "unknown fields are quoted": ("manifest", b'{"a\xe2\x80\xa8b":1}'),
    "long unknown fields are quoted": ("manifest", b'{"' + LONG.encode() + b'":1}'),
    "a scalar is a list": ("vectors", VECTOR.replace(b'"dimensions":[2,3]', b'"value":[1,2]', 1)),
    "no step": ("vectors", generated(step=0.0)),
    "an infinite number of steps": ("vectors", generated(step=1e-300, high=1e300)),
    "nothing between low and high": ("vectors", generated(low=2.0, high=1.0)),
    "bounds of no integer": ("vectors", generated(kind="integers", high=1e300)),
    "an integer that is no float": (
        "vectors",
        GENERATED.replace(b'"value":[0.5', b'"value":[' + b"9" * 400, 1),
    ),
    "no float32": ("vectors", with_values(VECTOR, ("output", {"type": "TENSOR_FLOAT32", "scale": 1e300}))),
    "the oracle finds another shape": ("vectors", generated(output={"type": "TENSOR_BOOL8", "dimensions": [3]})),
    "the oracle cannot go on": ("vectors", GENERATED.replace(b'"GREATER"', b'"CONV_2D"')),
    "too much for the oracle": ("vectors", GENERATED.replace(b"[1,1,1,16]", b"[1024,16,64,16]")),
    "the name of a clause": ("vectors", with_values(REFUSED, ("rejected", {"clause": "\u202e", "phase": "model"}))),
    "another operation": ("vectors", with_values(VECTOR, ("operation", "\u202e" + LONG))),
    "a name of capitals": ("collection", with_values(LINE, ("name", "Two Words"))),
    "a scalar of two": ("collection", LINE.replace(b'"type":"INT32"', b'"type":"INT32","dimensions":[2]')),
    "a negative index": ("collection", with_values(LINE, ("outputs", [-99]))),
    "a tolerance over 1": ("collection", with_values(LINE, ("expected_multinomial_distribution_tolerance", 7.0))),
    "a scale of no float32": ("collection", with_values(LINE, ("scale", 1e300))),
    "a value of no float32": (
        "collection",
        with_values(LINE.replace(b'"type":"INT32"', b'"type":"TENSOR_FLOAT32"'), ("values", [2**128 - 2**103])),
    ),
    "more seconds than there are": ("rounds", with_values(seeds.rounds()[0].split(b"\n")[0], ("at", 1e308))),
    "more runs than there are": ("rounds", with_values(seeds.rounds()[0].split(b"\n")[0], ("executions", 9**99))),
    "a type of many words": ("collection", with_values(LINE, ("type", LONG))),
    "a clause of an extension": ("extension", EXTENSION.replace(b"EXAMPLE_CLAMP.C1", b"\\u0000" + LONG.encode())),
    "an owner of two lines": ("waivers", with_values(WAIVERS, ("owner", "\u2028"), ("expires", "2020-01-01"))),
    "a version of two lines": ("results", with_values(RESULTS, ("hal_version", "a\nb"), ("conformant", False))),
    "a reason of two lines": ("results", with_values(RESULTS, ("reasons", ["a\nb", LONG]), ("conformant", False))),
    "an outcome of two lines": ("results", with_values(RESULTS, ("by_suite", {"a\nb": {}, LONG: {}}))),
    "an event of two lines": ("events", b'{"event":"\\u0000"}\n'),
    "an event in the middle": ("events", b"\n".join([RUN[0], b'{"event":"' + LONG.encode() + b'"}', b""])),
    "an id of two lines": ("failure", with_values(seeds.failures()[0], ("case", "vts.external\x7f" + LONG))),
    "a message of two lines": ("promoted", with_values(seeds.promoted()[0], ("message", "a\nb" + LONG))),
    "a shard of many digits": ("shard", b"1/" + b"9" * 5000),
    "a long shard": ("shard", LONG.encode()),
    "many parentheses": ("expression", b"(" * 3000 + b"a" + b")" * 3000),
    "many negations": ("expression", b"not " * 3000 + b"a"),
    "a long expression": ("expression", LONG.encode() + b" )"),
    "a long budget": ("budget", LONG.encode()),
    "a long command": ("tool", b"'" + LONG.encode()),
}


@pytest.mark.parametrize(("reader", "document"), REFUSALS.values(), ids=list(REFUSALS))
def test_a_reader_says_it_in_one_line(reader: str, document: bytes) -> None:
    assert DocumentTarget().run(reader.encode() + b"\n" + document)


def test_a_packed_file_costs_no_more_memory_than_it_holds() -> None:
    assert DocumentTarget().run(b"collection\n" + LINES)[0] == "collection: read"
