"""Case ids: a grammar, a parser that gives the id back."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from npu_conformance.specs import ids

PART = st.from_regex(r"[A-Za-z0-9_]{1,8}", fullmatch=True)
SUITE = st.from_regex(r"[a-z][a-z0-9_]{0,6}", fullmatch=True)
DOTTED = st.lists(PART, min_size=1, max_size=3).map(".".join)
CASE_IDS = st.builds(ids.CaseId, SUITE, PART, PART, DOTTED, st.lists(PART, max_size=3).map(tuple), st.none() | DOTTED)


@given(CASE_IDS)
def test_parsing_gives_the_id_back(case_id: ids.CaseId) -> None:
    assert ids.parse(str(case_id)) == case_id


@pytest.mark.parametrize(
    "text", ["", "vts", "vts.a.b", "vts.a.b.c[", "vts.a.b.c#", "vts.a.b.c d", "VTS.a.b.c", "vts..b.c"]
)
def test_what_is_no_id_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"expected suite\.area\.subject\.case"):
        ids.parse(text)
