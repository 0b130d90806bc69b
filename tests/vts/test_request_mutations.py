"""The HAL suite's invalid requests: each is invalid by the contract's validator, the original is not."""

from __future__ import annotations

import pytest

from npu_conformance.corpus import vectors
from npu_conformance.corpus.wire_model import build_model, build_request
from npu_conformance.specs.neuralnetworks.types import Memory, RequestMemoryPool
from npu_conformance.specs.neuralnetworks.validate import validate_request
from npu_conformance.specs.versions import Version
from npu_conformance.vts.request_mutations import mutations

EVERY = 25


@pytest.mark.parametrize("version", Version, ids=lambda version: version.value)
def test_every_invalid_request_is_invalid_by_the_contract(version: Version) -> None:
    kinds, accepted = set(), []
    for header in [one for one in vectors.all_headers() if one.rejected is None and one.since <= version][::EVERY]:
        vector = vectors.load(header.operation, header.name)
        if not vector.examples:
            continue
        model = build_model(vector, version).model
        built = build_request(vector, vector.examples[0], version)
        sizes = (len(built.input_data) or 1, built.output_size)
        pools = [RequestMemoryPool(pool=Memory("ashmem", size, token=7 + at)) for at, size in enumerate(sizes)]
        request = built.request(*pools)
        assert not validate_request(request, model, version), header
        invalid = list(mutations(request, model, version))
        assert len({one.label for one in invalid}) == len(invalid)
        kinds |= {one.kind for one in invalid}
        accepted += [
            f"{header.operation}.{header.name} {one.label}"
            for one in invalid
            if not validate_request(one.request, model, version)
        ]
    assert not accepted
    assert {"input.removed", "output.removed", "input.one_byte_beyond", "output.rank_more", "input.size_0"} <= kinds
