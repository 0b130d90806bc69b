"""Bytes around outputs: AIDL's padding may be written while a device works in chunks, everything else may not."""

from __future__ import annotations

import pytest
from raising import raised

from npu_conformance.corpus import vectors
from npu_conformance.corpus.wire_model import BuiltRequest, build_request
from npu_conformance.harness.judge import outputs
from npu_conformance.harness.judge.verdicts import Failed
from npu_conformance.specs.versions import Version

FILL = bytes([outputs.FILL])


def _built(version: Version, *, padded: bool = True) -> BuiltRequest:
    header = next(header for header in vectors.headers("RELU") if header.rejected is None and header.since <= version)
    vector = vectors.load("RELU", header.name)
    return build_request(vector, vector.examples[0], version, padded_outputs=padded)


def _written_behind(built: BuiltRequest) -> bytes:
    """The output pool after a device has written one byte too many."""
    (region,) = built.outputs.values()
    content = bytearray(FILL * (built.output_size + 1))
    content[region.offset + region.length] = 0
    return bytes(content)


def test_requests_without_padding_keep_their_places() -> None:
    padded, bare = _built(Version.FL8), _built(Version.FL8, padded=False)
    assert [region.offset for region in padded.outputs.values()] == [region.offset for region in bare.outputs.values()]
    assert padded.output_size == bare.output_size
    assert [region.padding > 0 for region in padded.outputs.values()] == [True]
    assert [region.padding for region in bare.outputs.values()] == [0]


def test_padding_may_be_written() -> None:
    built = _built(Version.FL8)
    assert raised(outputs.untouched_outside, built, _written_behind(built), with_padding=False) is None


def test_padding_behind_an_output_that_does_not_fit_stays_as_it_was() -> None:
    built = _built(Version.FL8)
    with pytest.raises(Failed, match="after the last output"):
        outputs.untouched_outside(built, _written_behind(built), with_padding=True)


@pytest.mark.parametrize("version", [Version.V1_2, Version.FL8])
def test_bytes_that_were_not_offered_stay_as_they_were(version: Version) -> None:
    built = _built(version, padded=False)
    with pytest.raises(Failed, match="after the last output"):
        outputs.untouched_outside(built, _written_behind(built), with_padding=False)
